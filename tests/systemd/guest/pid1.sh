# shellcheck shell=bash disable=SC2154 # lib.sh has them
# SPDX-License-Identifier: GPL-2.0
#
# PID 1 and logins beside jobs that take turns.

# PID 1 sleeps in vfork() until what it starts runs, which is born frozen.
test_unit_started_below_a_frozen_slice() {
	local ms

	systemctl start hog@a || fail "hog@a does not start"
	take_turns test.slice
	trace_begin test.slice
	watch_pid1
	took systemd-run -q -G --slice=test.slice --wait true || fail "systemd-run: status $?"
	note "the unit took $ms ms"
	expect_pid1_answered
	expect_thawed_for 'systemd-1 .* task_newtask: .*clone_flags=[23]0000' # CLONE_INTO_CGROUP
	((ms < 10000)) || fail "the unit took $ms ms"
	expect_turns_again test.slice
}

# Each job's turn is another's freeze: nothing of that must hold up PID 1.
test_pid1_answers_during_turns() {
	local ms

	systemctl start hog@a || fail "hog@a does not start"
	add_jobs "$other" test.slice/hog@a.service
	turns 2s
	until_true 60 is_frozen test.slice/hog@a.service || fail "no turns: $(mtsctl status)"
	watch_pid1
	for _ in 1 2 3; do
		took systemctl is-system-running || true
		note "systemctl is-system-running: $ms ms"
		((ms < 10000)) || fail "systemctl is-system-running took $ms ms"
		nap 3
	done
	expect_pid1_answered
}

# A second login of a user whose slice is a job. It is in a scope of its own below that slice.
test_second_login() {
	local ms slice=user.slice/user-1000.slice

	setsid su -l ada -c 'exec /lab/programs/hog 100' </dev/null &
	until_true 60 in_memory $slice 90 || fail "no first login"
	take_turns $slice
	watch_pid1
	took su -l ada -c true || fail "su: status $?"
	note "the login took $ms ms"
	expect_pid1_answered
	((ms < 8000)) || fail "the login took $ms ms"
	expect_turns_again $slice
}

# A process that a shell moves into the job stops there. It is thawed as a child of PID 1 would be.
test_process_moved_into_a_frozen_job() {
	local pid job=test.slice/hog@a.service

	systemctl start hog@a || fail "hog@a does not start"
	setsid /lab/programs/hog 1 &
	pid=$!
	take_turns $job
	trace_begin $job
	echo $pid >"$cgroups/$job/cgroup.procs" || fail "it cannot be moved"
	nap 2
	kill -KILL $pid
	expect_thawed_for cgroup_attach_task:
	expect_turns_again $job
}
