#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# PID 1 of a laboratory guest: makes it ready, runs /lab/main, and reports.
#
# /lab/settings (written by image.py) says what to do:
#   LAB_MODULES       modules in /lab/modules, in order of loading
#   LAB_SWAP_MIB      size of the swap disk; 0: none
#   LAB_ZRAM          algorithm of compression, if the swap disk is a zram; empty: it is a null_blk
#   LAB_COMPLETION_NSEC LAB_QUEUE_DEPTH LAB_ROTATIONAL LAB_MBPS
#                     the model of the disk
#   LAB_INSMOD        arguments of an insmod that is done before /lab/main, and undone
#                     after it; empty: none
#   LAB_BAD_LOG       extended regular expression of kernel messages that must not be
#
# The report goes to the second serial port, apart from the console, in lines that begin
# with "lab: ". Others may write to it too (progress, results). The verdict is its last line:
#   lab: ready               /lab/main begins
#   lab: log MESSAGE         a kernel message that matches LAB_BAD_LOG
#   lab: failed REASON       the guest could not be made ready, or not be cleaned up
#   lab: exit STATUS         of /lab/main; always the last line; 1 after "failed"

# shellcheck disable=SC2154 # the settings come from the file
PATH=/bin
export PATH HOME=/root TERM=dumb

mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
stty -F /dev/ttyS1 raw -echo
exec 3>/dev/ttyS1

finish() {
	echo "lab: exit $1" >&3
	exec 3>&-
	sleep 0.1 # the port may still be sending
	poweroff -f
}

fail() {
	echo "lab: failed $*" >&3
	echo "lab: failed $*"
	finish 1
}

# shellcheck source=/dev/null
. /lab/settings

mkdir -p /dev/pts /dev/shm
mount -t devpts dev /dev/pts || fail "no /dev/pts"
mount -t tmpfs tmp /dev/shm || fail "no /dev/shm"
# The options of systemd, without nsdelegate. With memory_recursiveprot, memory.low of a cgroup also
# protects the cgroups below it.
mount -t cgroup2 -o memory_recursiveprot cgroup /sys/fs/cgroup || fail "no cgroup2"
case $(cat /proc/cmdline) in
*cgroup_disable=memory*) controllers="+cpu +pids" ;; # a policy wants it so
*) controllers="+memory +cpu +pids" ;;
esac
echo "$controllers" >/sys/fs/cgroup/cgroup.subtree_control || fail "no memory controller"
mount -t debugfs debug /sys/kernel/debug || fail "no debugfs"
mount -t tracefs trace /sys/kernel/tracing || fail "no tracefs"
ln -s /proc/self/fd /dev/fd
ip link set lo up

for module in $LAB_MODULES; do
	options=
	case $module in
	null_blk) options="nr_devices=0" ;;
	zram) options="num_devices=1" ;;
	esac
	# shellcheck disable=SC2086 # none is no argument
	insmod "/lab/modules/$module.ko" $options || fail "cannot load $module"
done

# Pages that are swapped out to it take memory then, as much as they are compressed to.
make_zram() {
	echo "$LAB_ZRAM" >/sys/block/zram0/comp_algorithm || return 1
	echo "${LAB_SWAP_MIB}M" >/sys/block/zram0/disksize || return 1
	mkswap /dev/zram0 >/dev/null && swapon /dev/zram0 || return 1
}

# Written to the end once: from then on its pages are taken out of the guest's memory.
make_disk() {
	[ -d /sys/kernel/config/nullb ] || mount -t configfs config /sys/kernel/config || return 1
	disk=/sys/kernel/config/nullb/nullb0
	mkdir "$disk" || return 1
	while read -r name value; do
		echo "$value" >"$disk/$name" || return 1
	done <<-END
		size $LAB_SWAP_MIB
		memory_backed 1
		blocksize 4096
		submit_queues 1
		hw_queue_depth $LAB_QUEUE_DEPTH
		irqmode 2
		completion_nsec $LAB_COMPLETION_NSEC
		mbps $LAB_MBPS
		power 1
	END
	echo "$LAB_ROTATIONAL" >/sys/block/nullb0/queue/rotational || return 1
	dd if=/dev/zero of=/dev/nullb0 bs=1M count="$LAB_SWAP_MIB" oflag=direct 2>/dev/null || return 1
	mkswap /dev/nullb0 >/dev/null && swapon /dev/nullb0 || return 1
	echo 3 >/proc/sys/vm/drop_caches
}

if [ "$LAB_SWAP_MIB" -gt 0 ]; then
	if [ -n "$LAB_ZRAM" ]; then
		make_zram || fail "cannot make the zram with $LAB_ZRAM"
	else
		make_disk || fail "cannot make the swap disk"
	fi
fi

if [ -n "$LAB_INSMOD" ]; then
	# shellcheck disable=SC2086 # they are several arguments
	insmod $LAB_INSMOD || fail "insmod $LAB_INSMOD"
fi

echo "lab: ready" >&3
cd /root || fail "no /root"
/lab/main 3>&-
status=$?

if [ -n "$LAB_INSMOD" ]; then
	module=${LAB_INSMOD%% *}
	module=${module##*/}
	module=${module%.ko}
	if [ -d "/sys/module/$module" ]; then
		rmmod "$module" || bad="cannot unload $module"
	fi
fi

dmesg | grep -E "$LAB_BAD_LOG" | while read -r line; do
	echo "lab: log $line" >&3
done
[ -z "$bad" ] || fail "$bad"
finish $status
