# shellcheck shell=bash disable=SC2154 # lib.sh has them
# SPDX-License-Identifier: GPL-2.0
#
# A service that must give a sign of life: WatchdogSec=10s.

# mtsctl add takes half of that as the job's limit of a pause, and says so. Without it the pauses are
# as long as the other job's slice, 13 s, and the service is killed in the first one.
test_watchdog_of_a_service() {
	local said

	mkdir -p /run/systemd/system/hog@w.service.d
	printf '[Service]\nWatchdogSec=10s\n' >/run/systemd/system/hog@w.service.d/watchdog.conf
	systemctl daemon-reload
	systemctl start hog@w || fail "hog@w does not start"
	said=$(mtsctl add test.slice/hog@w.service 2>&1) || fail "mtsctl add: status $?"
	note "$said"
	take_turns test.slice/hog@w.service
	until_true 40 watchdog_ended && fail "the watchdog has killed it: $(systemctl show -P Result hog@w)"
	is_active hog@w || fail "it does not run any more: $(systemctl show -P Result hog@w)"
	[[ $said == *watchdog* ]] || fail "mtsctl add does not say that there is a limit: $said"
	mtsctl status --json | grep -q '"max_pause_ns": 5000000000' || fail "the limit is not 5 s"
}

watchdog_ended() { [[ ! -e $cgroups/test.slice/hog@w.service/cgroup.procs ]]; }
