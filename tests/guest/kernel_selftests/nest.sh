#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# nest.sh CGROUP TIMES PROGRAM
#
# Runs a selftest so many times in CGROUP, or where it is if that is empty, as if that was the root
# of the hierarchy: its cgroups become children of it. Processes have to be in a child then, "leaf".

set -e
if [ "$1" != inside ]; then
	[ -z "$1" ] || echo $$ >"$1/cgroup.procs"
	shift
	exec /usr/bin/unshare --cgroup --mount "$0" inside "$@"
fi
umount /sys/fs/cgroup
mount -t cgroup2 cgroup /sys/fs/cgroup
mkdir /sys/fs/cgroup/leaf
echo $$ >/sys/fs/cgroup/leaf/cgroup.procs
echo "+memory +cpu +pids" >/sys/fs/cgroup/cgroup.subtree_control
export CG_LEAF=leaf
status=0
/lab/selftests/repeat.sh "$2" "$3" || status=$?
if [ -e /dev/mts ]; then
	echo "selftests: jobs $(mtsctl status --json | tr -d '\n')"
fi
exit $status
