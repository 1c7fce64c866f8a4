# shellcheck shell=bash disable=SC2154,SC2034 # lib.sh has them
# SPDX-License-Identifier: GPL-2.0
#
# Daemons that kill when memory is short. mts keeps memory full and moves whole jobs to swap, which
# must not look to them as if the host were at its end. Memory has room for 3 to 4 of the 5 hogs.

hogs=(hog@1 hog@2 hog@3 hog@4 hog@5)

start_hogs() { # MIB of each
	local unit

	mkdir -p /run/systemd/system/hog@.service.d
	printf '[Service]\nExecStart=\nExecStart=/lab/programs/hog %s\n' "$1" \
		>/run/systemd/system/hog@.service.d/size.conf
	systemctl daemon-reload
	mtsctl set mode=always bin=auto slice=5s min_slice=1s demand=allocated || fail "mtsctl set"
	for unit in "${hogs[@]}"; do
		systemctl start "$unit" || fail "$unit does not start"
		add_jobs "test.slice/$unit.service"
	done
}

processes() { # which live: of the hogs, and of those that are no jobs
	cat "$cgroups"/{test,other,system}.slice/*/cgroup.procs | sort -n | tr '\n' ' '
}

# expect_no_kill SECONDS: of turns, with all memory in use
expect_no_kill() {
	local end name value rest before
	local -A memory

	before=$(processes)
	end=$(($(now) + $1 * 1000))
	while (($(now) < end)); do
		while read -r name value rest; do
			memory[${name%:}]=$((value / 1024))
		done </proc/meminfo
		note "$(now) ms: MiB available: ${memory[MemAvailable]} of ${memory[MemTotal]}," \
			"swap free: ${memory[SwapFree]} of ${memory[SwapTotal]}"
		nap 10
	done
	note "$(switches) switches; pressure: $(grep -h full "$cgroups/test.slice/memory.pressure")"
	[[ $(processes) == "$before" ]] || {
		journalctl -q --no-pager -b -o cat -u earlyoom -u systemd-oomd | tail -n 20
		systemctl --no-pager --no-legend list-units --failed
		fail "killed: before: $before, now: $(processes)"
	}
	(($(switches) >= 4)) || fail "there were no turns: $(mtsctl status)"
}

switches() { mtsctl stats --json | awk '$1 == "\"switches\":" { print $2 + 0 }'; }

swap_of() { # MIB: there is that much
	swapoff -a
	mkswap -q /dev/vdb $(($1 << 10))
	swapon /dev/vdb || fail "no swap of $1 MiB"
}

test_earlyoom_with_its_defaults() {
	swap_of 1000
	systemctl start earlyoom || fail "earlyoom does not start"
	start_hogs 200
	expect_no_kill 50
}

# What is brought back keeps its place in swap: with little swap that is full while memory is.
test_earlyoom_with_little_swap() {
	swap_of 560
	systemctl start earlyoom || fail "earlyoom does not start"
	start_hogs 200
	expect_no_kill 50
}

# Debian's units ask it for nothing; these are what Fedora's ask for.
test_oomd_with_its_defaults() {
	swap_of 1000
	mkdir -p /run/systemd/system/{-,test}.slice.d
	printf '[Slice]\nManagedOOMSwap=kill\n' >/run/systemd/system/-.slice.d/oomd.conf
	printf '[Slice]\nManagedOOMMemoryPressure=kill\nManagedOOMMemoryPressureLimit=50%%\n' \
		>/run/systemd/system/test.slice.d/oomd.conf
	start_hogs 200
	systemctl start systemd-oomd || fail "systemd-oomd does not start"
	oomctl | grep -A 3 Monitored
	expect_no_kill 50
}
