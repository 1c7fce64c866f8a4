#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# root.sh ROOT PACKAGES OUT: installs the packages of the folder PACKAGES in the Debian system ROOT, and
# purges them. For test_apt.py, in namespaces of its own (unshare --mount --pid). ROOT is left as it
# is: what is written goes to memory, and is gone in the end. OUT has then
#
#   host.ext4       the system with the packages, as a disk, without what only builds
#   before, after   each file: its kind, mode, owner, link, and a sum of its contents
#   said            what apt has said; status: of dkms, while the packages are installed
#   installed       what modinfo and the programs say of their versions; NAME: their programs run

set -euo pipefail

root=$1 packages=$2 out=$3
place=/mnt
# What apt, dpkg and ldconfig keep for themselves.
own=(./var/log ./var/lib/dpkg ./var/lib/apt ./var/cache ./etc/ld.so.cache ./root ./tmp ./proc ./debs)

inside() { chroot $place /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
	DEBIAN_FRONTEND=noninteractive "$@"; }

# What is left of the kernel's modules is a fifth: depmod is slow in a guest.
make_disk() {
	local copy=/media/copy

	mkdir $copy
	tar -C $place --exclude=./proc --exclude=./debs --exclude='./usr/src/linux-*' --exclude=./boot \
		--exclude='./var/lib/apt/lists/*' --exclude='./var/cache/apt/*' --exclude=./usr/lib/gcc \
		--exclude='./usr/lib/linux-kbuild-*' --exclude='./usr/share/doc/*' -c . | tar -C $copy -x
	mkdir $copy/proc
	rm -r $copy/usr/lib/modules/*/kernel/sound
	find $copy/usr/lib/modules/*/kernel/drivers -mindepth 1 -maxdepth 1 \
		! -name block ! -name char ! -name virtio -exec rm -r {} +
	depmod -b $copy "$release"
	truncate -s 2G "$out/host.ext4"
	mkfs.ext4 -q -O ^has_journal -d $copy "$out/host.ext4"
	rm -r $copy
}

list() {
	local prune=()

	for folder in "${own[@]}"; do
		prune+=(-path "$folder" -prune -o)
	done
	cd $place
	find . "${prune[@]}" -printf '%p %y %m %U:%G %l\n' | sort
	find . "${prune[@]}" -type f -print0 | sort -z | xargs -0 sha256sum
	cd /
}

mount -t tmpfs -o mode=0755 tmpfs /media
mkdir /media/{upper,work}
mount -t overlay -o "lowerdir=$root,upperdir=/media/upper,workdir=/media/work" overlay $place
mkdir -p $place/debs
mount -t proc proc $place/proc
mount --bind "$packages" $place/debs

release=$(cd $place/usr/lib/modules && echo *)

list >"$out/before"
inside sh -c 'apt-get -q -y install /debs/*.deb' >"$out/said" 2>&1
inside dkms status >"$out/status"
inside modinfo -F version -k "$release" mts >"$out/installed"
inside sh -c 'mtsctl --version; mtsd --version' >>"$out/installed"
# shellcheck disable=SC2016 # dpkg-query expands it
inside python3 -B -c 'import mts, subprocess
version = subprocess.check_output(["dpkg-query", "-Wf", "${Version}", "python3-mts"], text=True)
try:
    mts.status()
except mts.MtsError as error:
    print(f"{version} and no module: {type(error).__name__}")' >>"$out/installed"
# The guest removes mts-tools, which this one needs.
inside apt-get -q -y purge python3-mts >>"$out/said" 2>&1
make_disk
inside apt-get -q -y purge mts-dkms mts-tools >>"$out/said" 2>&1
list >"$out/after"
