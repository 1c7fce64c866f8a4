# shellcheck shell=bash disable=SC2154 # lib.sh has them
# SPDX-License-Identifier: GPL-2.0
#
# mts.service: settings and rules of /etc/mts, started by systemd alone. cleanup() ends it.

conf=/etc/mts/mts.conf
job=test.slice/hog@a.service

write_conf() { # KEY=VALUE of [mts], and a rule for the hogs
	mkdir -p /etc/mts
	printf '[mts]\n%s\n[rule hogs]\nunit=hog@*.service\nmax-pause=40s\n' "$1" >$conf
}

start_service() { # KEY=VALUE
	write_conf "$1"
	systemctl start mts.service || fail "mts.service does not start: $(said)"
}

said() { journalctl -n 30 --no-pager -o cat -u "${1:-mts.service}"; }

has() { [[ $(mtsctl get) == *"$1"* ]]; }

is_job() { [[ -n $(state_of "$1") ]]; }

test_rules_of_the_service() {
	systemctl start hog@a || fail "hog@a does not start"
	start_service slice=7s
	has slice=7s || fail "the setting is not there: $(mtsctl get)"
	# Type=notify: what was there before is enrolled when it has started.
	is_job $job || fail "hog@a is no job: $(said) $(mtsctl status --all)"
	systemctl start hog@b || fail "hog@b does not start"
	until_true 10 is_job test.slice/hog@b.service || fail "a new unit is no job"
	! is_job "$other" || fail "no rule names the other one"

	write_conf slice=8s
	systemctl reload mts.service || fail "reload: $(said)"
	has slice=8s || fail "reload does not set: $(mtsctl get)"
	echo 'nonsense' >>$conf
	! systemctl reload mts.service || fail "a bad file is accepted"
	is_active mts.service || fail "a bad file ends the service"
	has slice=8s || fail "a bad file changes settings: $(mtsctl get)"
	is_job $job || fail "a bad file ends jobs"

	# A restart and a stop lose no job.
	write_conf slice=9s
	systemctl restart mts.service || fail "it does not start again"
	has slice=9s || fail "a restart does not set: $(mtsctl get)"
	is_job $job || fail "a restart loses a job"
	systemctl stop mts.service
	is_job $job || fail "a stop loses a job"
}

expect_turns() {
	local name

	for name in a b a; do
		until_true 60 is_frozen test.slice/hog@$name.service ||
			fail "hog@$name is not frozen: $(mtsctl status --all)"
	done
}

hogs_by_rules() {
	systemctl start hog@a hog@b || fail "the hogs do not start"
	start_service "mode=always
bin=$bin
slice=2s
min_slice=1s
overhead=off
demand=allocated
evict=full"
	expect_turns
}

test_jobs_of_rules_take_turns() {
	hogs_by_rules
	# The death of what enrols jobs is nothing to them.
	systemctl kill -s KILL mts.service
	expect_turns
}

# The same without a module.
test_jobs_of_rules_take_turns_by_mtsd() {
	unload || fail "mts cannot be unloaded"
	systemctl start mtsd.service || fail "mtsd does not start: $(said mtsd.service)"
	hogs_by_rules
	# Nothing stays frozen when it ends, and mts.service goes with it.
	systemctl stop mtsd.service || fail "mtsd does not end"
	[[ -z $(frozen_cgroups) ]] || fail "frozen: $(frozen_cgroups)"
	! is_active mts.service || fail "mts.service has not ended"
}

test_service_waits_for_the_module() {
	local since

	since=$(date +%s)
	unload || fail "mts cannot be unloaded"
	write_conf slice=7s
	! systemctl start mts.service || fail "it starts, and there is no engine"
	journalctl --no-pager --since "@$since" -u mts.service | grep -q 'is the module loaded' ||
		fail "it does not say why: $(said)"
	modprobe mts || fail "mts cannot be loaded"
	# RestartSec=30
	until_true 60 is_active mts.service || fail "it does not try again"
	has slice=7s || fail "the setting is not there: $(mtsctl get)"
}
