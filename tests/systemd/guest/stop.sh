# shellcheck shell=bash disable=SC2154,SC2034 # lib.sh has them
# SPDX-License-Identifier: GPL-2.0
#
# Signals that are to end a job that is frozen. It has to handle them before the sender's time is
# over, as SIGKILL follows. A slice of the other job is 13 s, and the time 5 s.

term='signal_generate: sig=15 .* comm=hog '

test_stop_of_a_frozen_service() {
	local ms

	rm -f /run/term
	systemctl start hog@a || fail "hog@a does not start"
	take_turns test.slice/hog@a.service
	trace_begin test.slice/hog@a.service
	took systemctl stop hog@a || fail "systemctl stop: status $?"
	expect_handled a
	expect_thawed_for "$term"
}

# timeout(1) is outside of the job: mtsctl run enters it, and becomes the command.
test_timeout_of_a_frozen_job() {
	local pid ms

	rm -f /run/term
	HOG=a timeout -k 5 60 mtsctl run --name=a /lab/programs/hog -t /run/term 100 &
	pid=$!
	until_true 30 in_memory mts/a 90 || fail "no job"
	take_turns mts/a
	trace_begin mts/a
	kill -ALRM $pid # its time is over
	took wait $pid || true
	expect_handled a
	expect_thawed_for "$term"
}

# Of all the units: those of a user who is logged out, of a target that is isolated.
test_stop_of_a_frozen_slice() {
	local ms

	rm -f /run/term
	systemctl start hog@a hog@b || fail "hog@a does not start"
	take_turns test.slice
	took systemctl stop test.slice || fail "systemctl stop: status $?"
	expect_handled a
	expect_handled b
}
