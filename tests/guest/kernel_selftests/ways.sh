#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# ways.sh without|with
#
# In a guest: the kernel's selftests of cgroup v2 in each way that can be had without the module, or
# with it. On the second serial port, beside their TAP (test_kernel_selftests.py reads it):
#
#   selftests: way NAME
#   selftests: begin PROGRAM
#   selftests: end PROGRAM STATUS
#   selftests: jobs JSON        mtsctl status, at the end of a program
#   selftests: stats JSON       mtsctl stats: at the end of a program, and before the first of a way

ROOT=/sys/fs/cgroup
OTHERS="other1 other2 other3"

exec >/dev/ttyS1 2>&1

# As systemd mounts it: test_cgcore_lesser_ns_open needs nsdelegate.
mount -o remount,nsdelegate,memory_recursiveprot "$ROOT" || exit 1
# test_memcontrol wants page cache that can be reclaimed: the guest's own ramfs has none. It reads
# holes of files without names, so that a small disk will do.
dd if=/dev/zero of=/disk bs=1M count=16 && mke2fs -F /disk && mkdir /mnt || exit 1
mount -t ext4 -o loop /disk /mnt && cd /mnt || exit 1
ip link set lo up

say() {
	echo "selftests: $*"
}

say_stats() {
	say stats "$(mtsctl stats --json | tr -d '\n')"
}

# Several times each, as a turn meets them somewhere else each time. test_memcontrol takes long enough
# to be met once in each of its tests.
each_program() {
	"$@" test_freezer 5
	"$@" test_kill 6
	"$@" test_core 3
	"$@" test_memcontrol 1
}

run() {
	say begin "$1"
	timeout -s KILL 900 /lab/selftests/repeat.sh "$2" "/lab/selftests/$1"
	say end "$1" "$?"
}

# The same in a cgroup that looks like the root to it.
run_nested() {
	say begin "$1"
	mkdir "$ROOT/nest"
	timeout -s KILL 900 /lab/selftests/nest.sh "$ROOT/nest" "$2" "/lab/selftests/$1"
	say end "$1" "$?"
	rmdir "$ROOT/nest/leaf" "$ROOT/nest"
}

# The same, and all that mts would do to it is done by hand: "frozen", or "evicted" as well.
run_by_hand() {
	how=$1
	shift
	say begin "$1"
	mkdir "$ROOT/nest"
	while [ -d "$ROOT/nest" ]; do
		echo 1 >"$ROOT/nest/cgroup.freeze"
		# More than there is: it ends with EAGAIN.
		[ "$how" = frozen ] || echo 1G >"$ROOT/nest/memory.reclaim"
		sleep 0.15
		echo 0 >"$ROOT/nest/cgroup.freeze"
		sleep 0.05
	done 2>/dev/null &
	timeout -s KILL 900 /lab/selftests/nest.sh "$ROOT/nest" "$2" "/lab/selftests/$1"
	say end "$1" "$?"
	echo 0 >"$ROOT/nest/cgroup.freeze"
	rmdir "$ROOT/nest/leaf" "$ROOT/nest"
	wait
}

run_beside() {
	run "$@"
	say jobs "$(mtsctl status --json | tr -d '\n')"
	say_stats
}

# A job's cgroup stays if there is a cgroup in it, so each job has a name of its own.
run_as_job() {
	job=$1-$(cut -d ' ' -f 1 /proc/uptime)
	say begin "$1"
	timeout -s KILL 900 mtsctl run --name "$job" -- \
		/lab/selftests/nest.sh "" "$2" "/lab/selftests/$1"
	say end "$1" "$?"
	say_stats
	rmdir "$ROOT/mts/$job/leaf"
}

rotate() {
	mtsctl set mode=always bin=8M slice=50ms min_slice=50ms overhead=off "$@" || exit 1
}

# Fails if it is not within 30 s.
wait_for_state() {
	for _ in $(seq 300); do
		case $(mtsctl status --json | tr -d ' \n') in
		*"\"state\":\"$1\",\"reason\""*) return ;;
		esac
		sleep 0.1
	done
	say "not $1 but: $(mtsctl status)"
	exit 1
}

without() {
	say way without
	each_program run
	say way nested
	each_program run_nested
	say way frozen-by-hand
	each_program run_by_hand frozen
	say way evicted-by-hand
	each_program run_by_hand evicted
}

with() {
	# Jobs have the controllers that the root's children have.
	echo "+cpu +pids" >"$ROOT/mts/cgroup.subtree_control" || exit 1
	for name in $OTHERS; do
		mtsctl run --name "$name" -- consumers consume --size 6M --writes 100 --sleep 0.01 \
			--lead 0 --active 100000 >/dev/null &
	done
	say_stats
	say way idle
	each_program run_beside
	say way rotating
	rotate evict=full
	wait_for_state running
	say_stats
	each_program run_beside
	rotate evict=off
	say way job-frozen
	each_program run_as_job
	rotate evict=full
	say way job-evicted
	each_program run_as_job
	mtsctl set mode=off
	for name in $OTHERS; do
		echo 1 >"$ROOT/mts/$name/cgroup.kill"
	done
	wait
}

case $1 in
without) without ;;
with) with ;;
esac
