#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# root.sh ROOT PACKAGES OUT: installs the packages of the folder PACKAGES in the Debian system ROOT, then
# its newer kernel, and purges the packages. For test_apt.py, in namespaces of its own (unshare --mount
# --pid). ROOT is left as it is: what is written goes to memory, and is gone in the end. OUT has then
#
#   host.ext4       the system with the packages, as a disk, without what only builds
#   kernel/         the newer kernel and its modules, where they are in the system
#   before, after   each file: its kind, mode, owner, link, and a sum of its contents
#   said            what apt has said
#   status, upgraded   of dkms: the packages are installed; with the newer kernel, too
#   installed       what modinfo and the programs say of their versions; NAME: their programs run
#   mts.ko[.xz]     the module, as DKMS has signed it; dkms.der: the certificate of its key
#   unsigned.ko, other.ko   the module without a signature, and with that of another key; other.der

set -euo pipefail

root=$1 packages=$2 out=$3
place=/mnt
# What apt, dpkg and ldconfig keep for themselves; DKMS's key, which signs other modules, too; and the
# group mts: nothing removes groups, as files may be theirs.
own=(./var/log ./var/lib/dpkg ./var/lib/apt ./var/cache ./etc/ld.so.cache ./root ./tmp ./proc ./debs
	'./var/lib/dkms/mok.*' './etc/group*' './etc/gshadow*')
# What comes with the newer kernel, which is not purged.
upgrade=('./boot' './vmlinuz*' './initrd.img*' './usr/src/linux-*' './usr/lib/modules/*cloud*'
	'./usr/lib/linux-kbuild-*' './usr/share/*/linux-*' './usr/share/lintian/overrides/linux-*'
	'./var/lib/initramfs-tools')

inside() { chroot $place /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
	DEBIAN_FRONTEND=noninteractive "$@"; }

# What is left of the kernel's modules is a fifth: depmod is slow in a guest.
make_disk() {
	local copy=/media/copy

	mkdir $copy
	tar -C $place --exclude=./proc --exclude=./debs --exclude='./usr/src/linux-*' --exclude=./boot \
		--exclude='./var/lib/apt/lists/*' --exclude='./var/cache/*/*' --exclude=./usr/lib/gcc \
		--exclude='./usr/lib/linux-kbuild-*' --exclude='./usr/share/doc/*' -c . | tar -C $copy -x
	mkdir $copy/proc
	rm -r $copy/usr/lib/modules/*/kernel/sound
	find $copy/usr/lib/modules/*/kernel/drivers -mindepth 1 -maxdepth 1 \
		! -name block ! -name char ! -name virtio -exec rm -r {} +
	for folder in "$copy"/usr/lib/modules/*; do
		depmod -b $copy "${folder##*/}"
	done
	truncate -s 2G "$out/host.ext4"
	mkfs.ext4 -q -O ^has_journal -d $copy "$out/host.ext4"
	rm -r $copy
}

# Nothing is said to DKMS.
upgrade_kernel() {
	local newer

	inside sh -c 'apt-get -q -y install /var/cache/kernels/*.deb' >>"$out/said" 2>&1
	inside dkms status >"$out/upgraded"
	newer=$(cd $place/usr/lib/modules && echo *cloud*)
	mkdir -p "$out/kernel/boot" "$out/kernel/usr/lib/modules"
	cp "$place/boot/vmlinuz-$newer" "$out/kernel/boot"
	cp -a "$place/usr/lib/modules/$newer" "$out/kernel/usr/lib/modules"
}

# Each as the kernel gets it: not packed.
keep_modules() {
	local module size

	module=$(inside modinfo -F filename -k "$release" mts)
	cp "$place$module" "$place/var/lib/dkms/mok.pub" "$out"
	mv "$out/mok.pub" "$out/dkms.der"
	if [[ $module == *.xz ]]; then
		xz -dc "$place$module"
	else
		cat "$place$module"
	fi >"$out/unsigned.ko"
	# struct module_signature ends with the size of what comes before it; a mark of 28 bytes follows.
	[[ $(tail -c 28 "$out/unsigned.ko") == "~Module signature appended~" ]]
	size=$(tail -c 32 "$out/unsigned.ko" | head -c 4 | od -An -tu4 --endian=big)
	truncate -s "-$((size + 12 + 28))" "$out/unsigned.ko"
	cp "$out/unsigned.ko" $place/tmp/other.ko
	# As DKMS makes its own.
	inside openssl req -new -x509 -nodes -days 36500 -subj "/CN=DKMS module signing key" \
		-newkey rsa:2048 -keyout /tmp/other.key -outform DER -out /tmp/other.der 2>/dev/null
	inside "/lib/modules/$release/build/scripts/sign-file" sha256 /tmp/other.key /tmp/other.der \
		/tmp/other.ko
	cp $place/tmp/other.{ko,der} "$out"
	rm $place/tmp/other.{ko,key,der}
}

list() {
	local prune=()

	for folder in "${own[@]}" "${upgrade[@]}"; do
		prune+=(-path "$folder" -prune -o)
	done
	cd $place
	find . "${prune[@]}" -printf '%p %y %m %U:%G %l\n' | sort
	find . "${prune[@]}" -type f -print0 | sort -z | xargs -0 sha256sum
	find ./usr/lib/modules -name 'mts.ko*'
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
keep_modules
# shellcheck disable=SC2016 # dpkg-query expands it
inside python3 -B -c 'import mts, subprocess
version = subprocess.check_output(["dpkg-query", "-Wf", "${Version}", "python3-mts"], text=True)
try:
    mts.status()
except mts.MtsError as error:
    print(f"{version} and no module: {type(error).__name__}")' >>"$out/installed"
# The guest removes mts-tools, which this one needs.
inside apt-get -q -y purge python3-mts >>"$out/said" 2>&1
upgrade_kernel
make_disk
inside apt-get -q -y purge mts-dkms mts-tools libmts-dev libmts0 >>"$out/said" 2>&1
list >"$out/after"
