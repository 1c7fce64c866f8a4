# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What the tests in the guest have in common. The guest is slow: a systemctl takes 1.5 to 5 s, a
# fork 20 ms. What watches is built in, or a program of programs/. Times are the guest's, ms since
# its boot.

why=/run/why     # why a test fails, one line
notes=/run/notes # what it has measured: lines of diagnosis in the report
trace=/sys/kernel/tracing
cgroups=/sys/fs/cgroup
skipped=77       # exit status of a test
# shellcheck disable=SC2034 # the tests'
reboots=78       # likewise: after the reboot, after_reboot_NAME goes on
bin=150M         # of the turns: of two jobs of 100 MiB one runs

exec {nothing}<> <(:)

nap() { # SECONDS, without a process
	read -r -t "$1" -u "$nothing" || true
}

now() {
	local up rest

	read -r up rest </proc/uptime
	echo $((10#${up/./} * 10))
}

note() { echo "$*" | tee -a "$notes"; }

fail() {
	echo "$*" >"$why"
	echo "FAILED: $*"
	exit 1
}

skip() {
	echo "$*" >"$why"
	exit $skipped
}

# took COMMAND...: the ms that it takes, in $ms; its status
took() {
	local begin status=0

	begin=$(now)
	"$@" || status=$?
	# shellcheck disable=SC2034 # the caller's
	ms=$(($(now) - begin))
	return $status
}

# until_true SECONDS COMMAND...: false if that is not so in time
until_true() {
	local end

	end=$(($(now) + $1 * 1000))
	shift
	until "$@"; do
		(($(now) < end)) || return 1
		nap 0.05
	done
}

# ---- cgroups: named from the root on ---------------------------------------------

asked_to_freeze() {
	local value

	read -r value 2>/dev/null <"$cgroups/$1/cgroup.freeze" && [[ $value == 1 ]]
}

runs() { ! asked_to_freeze "$1"; }

is_frozen() {
	local events

	events=$(<"$cgroups/$1/cgroup.events")
	[[ $events == *"frozen 1"* ]]
}

used_ms() { # processor time of a cgroup
	local name value

	while read -r name value; do
		[[ $name != usage_usec ]] || echo $((value / 1000))
	done <"$cgroups/$1/cpu.stat"
}

in_memory() { # CGROUP MIB: it has that much, and no swap is needed for it
	local bytes

	read -r bytes 2>/dev/null <"$cgroups/$1/memory.current" && ((bytes >= $2 << 20))
}

# ---- jobs ------------------------------------------------------------------------

add_jobs() { # CGROUP...
	local cgroup

	for cgroup; do
		mtsctl add "$cgroup" || fail "mtsctl add $cgroup: status $?"
	done
}

turns() { # SLICE [KEY=VALUE...]: jobs take them, whatever the host has
	mtsctl set mode=always bin="$bin" slice="$1" min_slice=1s overhead=off \
		demand=allocated max_pause=60s "${@:2}" || fail "mtsctl set"
}

# A job beside which the one of the test is frozen: it always wants to run.
other=other.slice/other.service

# take_turns CGROUP: jobs are this one and the other; returns when it is frozen while the other
# one's slice has just begun
take_turns() {
	add_jobs "$other"
	[[ -n $(state_of "$1") ]] || add_jobs "$1"
	turns 20s
	wait_turn_over "$1"
}

wait_turn_over() { # CGROUP: until its turn has come and ended, or is over
	until_true 100 is_frozen "$1" || fail "$1 is never frozen: $(mtsctl status)"
	if ! runs "$other"; then # both are: a switch, to or from it
		until_true 100 runs "$other" || fail "$other never runs: $(mtsctl status)"
		until_true 100 is_frozen "$1" || fail "$1 is never frozen: $(mtsctl status)"
	fi
}

expect_turns_again() { # CGROUP: it has been thawed; it is frozen again in its time
	until_true 60 is_frozen "$1" || fail "$1 takes no turns any more: $(mtsctl status)"
}

state_of() { # CGROUP: the state that mtsctl status says it has as a job; nothing if it is none
	mtsctl status --json | awk -v "id=$(stat -c %i "$cgroups/$1")," '
		$1 == "\"state\":" { state = $2 }
		$1 == "\"cgroup_id\":" && $2 == id { gsub(/[",]/, "", state); print state }'
}

# expect_kept JOB: its turn comes, and it has nothing of it
expect_kept() {
	local before

	until_true 5 is_frozen "$1" || fail "$1 is not frozen any more"
	before=$(used_ms "$1")
	mtsctl set slice=3s || fail "mtsctl set" # its turn comes soon: slices of 2 s
	nap 12
	is_frozen "$1" || fail "$1 has been thawed: $(state_of "$1")"
	(($(used_ms "$1") == before)) || fail "$1 has run: $(state_of "$1")"
	[[ $(state_of "$1") == foreign ]] || fail "$1 is $(state_of "$1"), not foreign"
}

expect_runs() { # JOB
	until_true 60 runs "$1" || fail "$1 is not thawed: $(mtsctl status --all)"
}

# expect_handled NAME: hog NAME was not killed before it had written its line. Took $ms.
expect_handled() {
	grep -q "^$1 TERM" /run/term || fail "$1 was killed: its handler has not run"
	note "the handler ran, and the stop took $ms ms"
}

# ---- trace events ----------------------------------------------------------------

trace_begin() { # CGROUP: of the job whose thaw is looked for
	local event

	traced=$(stat -c %i "$cgroups/$1")
	echo 0 >$trace/tracing_on
	: >$trace/trace
	echo boot >$trace/trace_clock
	for event in mts task/task_newtask signal/signal_generate cgroup/cgroup_attach_task; do
		echo 1 >$trace/events/$event/enable
	done
	echo 1 >$trace/tracing_on
}

trace_end() {
	echo 0 >$trace/tracing_on
	echo 0 >$trace/events/enable
}

# us_to_thaw PATTERN: from the first event that matches to the job's next thaw; -1: there was none
us_to_thaw() {
	awk -v job="cgroup_id=$traced " -v pattern="$1" '
		function us() {
			match($0, /[0-9]+\.[0-9]+: /)
			return substr($0, RSTART, RLENGTH - 2) * 1000000
		}
		/^#/ { next }
		!seen && $0 ~ pattern { seen = us() }
		seen && / mts_thaw: / && index($0, job) { print us() - seen; found = 1; exit }
		END { if (!found) print -1 }' $trace/trace
}

# expect_thawed_for PATTERN: the job is thawed within 100 ms of the event. The guest's host may take
# its processor away meanwhile, so five times that is still good.
expect_thawed_for() {
	local us

	trace_end
	us=$(us_to_thaw "$1")
	note "from the event to the thaw: $us us"
	((us >= 0)) || fail "there is no thaw of the job, or no event: $1"
	((us <= 500000)) || fail "the job was thawed $((us / 1000)) ms after the event"
}

# ---- PID 1 -----------------------------------------------------------------------

watch_pid1() {
	/lab/programs/watch1 >/run/watch1 &
	watcher=$!
}

# expect_pid1_answered: sets slowest_ms and blocked_ms
expect_pid1_answered() {
	kill "$watcher"
	wait "$watcher" || fail "PID 1 could not be asked"
	note "PID 1: $(</run/watch1)"
	slowest_ms=$(sed -n 's/.*slowest_ms=\([0-9]*\).*/\1/p' /run/watch1)
	blocked_ms=$(sed -n 's/.*blocked_ms=\([0-9]*\).*/\1/p' /run/watch1)
	((blocked_ms < 1000)) || fail "PID 1 stood still: $(</run/watch1)"
	# what it does by itself takes up to 2 s here
	((slowest_ms < 5000)) || fail "PID 1 did not answer: $(</run/watch1)"
}

# ---- before and after ------------------------------------------------------------

prepare() {
	: >"$notes"
	echo "the module is not loaded" >"$why"
	[[ -c /dev/mts ]] || return
	echo "no swap" >"$why"
	swapon /dev/vdb || return
	echo "systemd is not up" >"$why"
	until_true 60 is_active other.service
}

is_active() { systemctl -q is-active "$1"; }

# What a test has left. False, with the reason in $why, if mts leaves something frozen behind.
cleanup() {
	local frozen freeze

	trace_end
	! is_active mts-users.service || systemctl stop mts-users.service
	if [[ -e /etc/mts ]]; then # before the module: they open its device
		systemctl stop mts.service mtsd.service mts-hooks.service mts-metrics.socket
		rm -rf /etc/mts
	fi
	unload || echo "mts cannot be unloaded" >"$why"
	frozen=$(frozen_cgroups)
	for freeze in $frozen; do
		echo 0 >"$cgroups/$freeze/cgroup.freeze"
	done
	[[ -z $frozen || -s $why ]] || echo "frozen, without mts: ${frozen//$'\n'/ }" >"$why"
	if [[ -e /etc/systemd/system/multi-user.target.wants/mts.service ]]; then
		systemctl -q disable mts.service mts-users.service
	fi
	[[ ! -e $cgroups/machine.slice ]] || podman rm -f -t 0 -a >/dev/null
	systemctl stop test.slice user-1000.slice earlyoom systemd-oomd.socket systemd-oomd.service
	if compgen -G '/run/systemd/system/*.d' >/dev/null; then # what tests have set for units
		rm -rf /run/systemd/system/*.d
		systemctl daemon-reload
	fi
	modprobe mts || echo "mts cannot be loaded again" >>"$why"
	[[ ! -s $why ]]
}

unload() { [[ ! -d /sys/module/mts ]] || rmmod mts; }

frozen_cgroups() {
	grep -lx 1 -r $cgroups --include=cgroup.freeze | sed "s|^$cgroups/||; s|/cgroup.freeze\$||"
}
