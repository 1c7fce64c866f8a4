#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# autopkgtest.sh ROOT PACKAGES OUT [OPTION...]
#
# Installs the packages of the folder PACKAGES in the Debian system ROOT, and runs their tests,
# packaging/debian/tests, there, in a container: namespaces of its own, a cgroup of its own, no network.
# ROOT is left as it is: what is written goes to memory, and is gone in the end. OUT/autopkgtest, which
# must not exist, then has summary, log, and what each test says. OPTIONs are autopkgtest's.
#
# exit status: that of autopkgtest: 0: all tests pass; 2: some were skipped; 4: some failed; ...

set -euo pipefail

# In the container. autopkgtest runs the tests where it is itself: null. That this is a container newer
# versions do not believe.
run_inside() { # ROOT PACKAGES OUT [OPTION...]
	local place=/mnt

	mount -t tmpfs -o mode=0755 tmpfs /media
	mkdir /media/{upper,work}
	mount -t overlay -o "lowerdir=$1,upperdir=/media/upper,workdir=/media/work" overlay $place
	mkdir -p $place/debs $place/out
	mount -t proc proc $place/proc
	mount -t devpts devpts $place/dev/pts
	mount -t sysfs -o ro sysfs $place/sys
	mount -t cgroup2 cgroup2 $place/sys/fs/cgroup || true
	mount --bind "$2" $place/debs
	mkdir -p "$3"
	mount --bind "$3" $place/out
	# shellcheck disable=SC2016 # the shell in the container expands it
	exec chroot $place /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive HOME=/root USER=root \
		sh -c 'exec autopkgtest --no-built-binaries --ignore-restrictions=isolation-container \
			--output-dir /out/autopkgtest "$@" /debs/*.deb /debs/mts_*.dsc -- null' \
		autopkgtest "${@:4}"
}

if [[ $1 == --inside ]]; then
	run_inside "${@:2}"
fi

# The processes of the container see this cgroup as the topmost one.
top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
own=$top/mts-packages-$$
clean() {
	echo 1 >"$own/cgroup.kill"
	for _ in {1..100}; do
		! find "$own" -depth -type d -exec rmdir {} + 2>/dev/null || break
		sleep 0.1
	done
}
enter=()
if [[ -n $top ]] && mkdir "$own" 2>/dev/null; then
	trap clean EXIT
	# shellcheck disable=SC2016 # the inner shell expands it
	enter=(sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$own")
fi
"${enter[@]}" unshare --mount --pid --net --cgroup --fork --kill-child bash "$0" --inside "$@"
