#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs the tests in the guest that boots systemd, as lab.service: all functions test_* of the files
# /lab/tests/*.sh, or those that /lab/only names. TAP goes to the second serial port, the report;
# what else they say goes to the console. The tests run one after the other, each in a shell of its
# own, and leave nothing behind: cleanup() sees to that. One that ends with status $reboots goes on
# after a reboot, as after_reboot_NAME.
#
# The last one is test_shutdown, whose jobs are frozen when the guest is powered off. /lab/verdict.sh,
# which systemd runs when nothing else is left, says how that went, and writes the verdict.

# shellcheck source-path=SCRIPTDIR disable=SC1090,SC1091,SC2154 # lib.sh has them

exec 3>/dev/ttyS1 >/dev/ttyS0 2>&1
export TERM=dumb HOME=/root
state=/lab/state     # what is to be known after a reboot
declare -A limits # of tests that take longer, by name

. /lab/lib.sh

finish() { # [REASON]: after this only /lab/verdict has something to say
	[[ $# == 0 ]] || echo "lab: failed $*" >&3
	systemctl poweroff --no-block
	exit
}

run_test() { # NUMBER NAME FUNCTION: the reason why it fails is what is in $why
	local begin limit=${limits[$3]:-150} status=0 result="ok $1 - ${2#test_}"

	begin=$(now)
	: >"$why"
	: >"$notes"
	echo "--- $3"
	(
		set -m # a process group for the test, which can be ended as one
		"$3" 3>&- &
		test=$!
		while kill -0 $test 2>/dev/null; do
			(($(now) - begin < limit * 1000)) || {
				echo "no end after $limit s" >"$why"
				kill -KILL -- -$test
			}
			nap 0.2
		done
		wait $test
	) || status=$?
	if ((status == reboots)); then
		echo "$1 $2" >$state/resume
		sed 's/^/# /' "$notes" >&3
		systemctl reboot --no-block
		exit
	fi
	if ((status == skipped)); then
		result+=" # SKIP $(<"$why")"
		: >"$why"
	elif ((status)) && [[ ! -s $why ]]; then
		echo "exit status $status" >"$why"
	fi
	cleanup || result="not $result # $(head -n 1 "$why" | tr '#' ' ')"
	sed 's/^/# /' "$notes" >&3
	echo "# took $((($(now) - begin + 500) / 1000)) s" >&3
	echo "$result" >&3
}

mapfile -t tests < <(sed -n 's/^\(test_[a-z0-9_]*\)() {.*/\1/p' /lab/tests/*.sh)
if [[ -e /lab/only ]]; then
	mapfile -t tests </lab/only
fi
[[ ${tests[*]} != test_none ]] || exit 0 # the guest is there for its shell
for file in /lab/tests/*.sh; do
	. "$file"
done

mkdir -p $state
number=0
if [[ -e $state/resume ]]; then
	read -r number test <$state/resume
	rm $state/resume
elif [[ -e $state/began ]]; then
	finish "the guest has rebooted by itself"
else
	: >$state/began
	echo "lab: ready" >&3
	echo "1..${#tests[@]}" >&3
fi
prepare || finish "the guest could not be made ready: $(<"$why")"
((!number)) || run_test "$number" "$test" "after_reboot_${test#test_}"
for test in "${tests[@]:number}"; do
	[[ $test != test_shutdown ]] || continue
	run_test $((++number)) "$test" "$test"
done
[[ " ${tests[*]} " != *" test_shutdown "* ]] || {
	echo "$((++number))" >/run/shutdown-test
	test_shutdown
}
finish
