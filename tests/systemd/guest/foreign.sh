# shellcheck shell=bash disable=SC2154 # lib.sh has them
# SPDX-License-Identifier: GPL-2.0
#
# A freeze that somebody else has asked for is kept, before and while mts has the job frozen.

job=test.slice/hog@a.service

begin_turns() {
	systemctl start hog@a || fail "hog@a does not start"
	take_turns $job
}

test_write_to_a_frozen_job() {
	begin_turns
	echo 1 >"$cgroups/$job/cgroup.freeze"
	expect_kept $job
	echo 0 >"$cgroups/$job/cgroup.freeze"
	expect_runs $job
}

test_write_before_the_freeze() {
	systemctl start hog@a || fail "hog@a does not start"
	add_jobs $job
	echo 1 >"$cgroups/$job/cgroup.freeze"
	add_jobs "$other"
	turns 20s
	expect_kept $job
	echo 0 >"$cgroups/$job/cgroup.freeze"
	expect_runs $job
}

test_write_above_a_frozen_job() {
	begin_turns
	echo 1 >"$cgroups/test.slice/cgroup.freeze"
	expect_kept $job
	echo 0 >"$cgroups/test.slice/cgroup.freeze"
	expect_runs $job
}

freezes_kept() { mtsctl stats --json | awk '$1 == "\"foreign_freezes\":" { print $2 + 0 }'; }

# systemd 257 reads cgroup.events first, and writes nothing where the unit is frozen already: there is
# nothing that mts could see.
test_systemctl_freeze_of_a_frozen_job() {
	local before

	begin_turns
	before=$(freezes_kept)
	systemctl freeze hog@a || fail "systemctl freeze: status $?"
	if [[ $(freezes_kept) == "$before" ]] && is_frozen $job; then
		systemctl thaw hog@a || fail "systemctl thaw: status $?"
		expect_runs $job
		skip "systemd writes nothing to the cgroup of a unit that is frozen already"
	fi
	expect_kept $job
	[[ $(systemctl show -P FreezerState hog@a) == frozen ]] || fail "systemd takes it to run"
	systemctl thaw hog@a || fail "systemctl thaw: status $?"
	expect_runs $job
}

test_systemctl_freeze_before_the_freeze() {
	systemctl start hog@a || fail "hog@a does not start"
	systemctl freeze hog@a || fail "systemctl freeze: status $?"
	add_jobs $job "$other"
	turns 20s
	expect_kept $job
	systemctl thaw hog@a || fail "systemctl thaw: status $?"
	expect_runs $job
}

# One of a slice that is above the job: systemd 257 has all units below it frozen, too.
test_systemctl_freeze_of_a_slice_above() {
	begin_turns
	systemctl freeze test.slice || fail "systemctl freeze: status $?"
	expect_kept $job
	systemctl thaw test.slice || fail "systemctl thaw: status $?"
	expect_runs $job
}

test_rmmod_leaves_foreign_freezes() {
	local ended=

	begin_turns
	echo 1 >"$cgroups/$job/cgroup.freeze"
	rmmod mts || fail "rmmod: status $?"
	nap 1
	is_frozen $job || ended="the job is thawed by rmmod, though somebody else has frozen it"
	echo 0 >"$cgroups/$job/cgroup.freeze"
	[[ -z $ended ]] || fail "$ended"
}
