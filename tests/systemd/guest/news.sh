# shellcheck shell=bash disable=SC2154,SC2034 # lib.sh has them
# SPDX-License-Identifier: GPL-2.0
#
# mts-hooks.service and mts-metrics.socket, hardened as their units say. cleanup() ends them.

job=test.slice/hog@a.service
seen=/run/seen # what a hook has got: EVENT.NUMBER.env and EVENT.NUMBER.json

# start_hooks KEY=VALUE...: of [hooks]
start_hooks() {
	rm -rf $seen
	mkdir -p /etc/mts/hooks.d $seen
	printf '%s\n' '[hooks]' "$@" >/etc/mts/mts.conf
	echo LAB_SETTING=from-hooks.env >/etc/mts/hooks.env
	cat >/etc/mts/hooks.d/keep <<-END
		#!/bin/bash
		number=\$(ls $seen | grep -c "^\$MTS_EVENT.*env")
		file=$seen/\$MTS_EVENT.\$number
		cat >\$file.json
		env >\$file.part
		mv \$file.part \$file.env
	END
	chmod 755 /etc/mts/hooks.d/keep
	systemctl start mts-hooks.service || fail "mts-hooks does not start: $(hooks_said)"
}

hooks_said() { journalctl -n 30 --no-pager -o cat -u mts-hooks.service; }

runs_of() { compgen -G "$seen/$1.*.env" | wc -l; } # EVENT

has_runs() { (($(runs_of "$1") >= $2)); }

expect_hook() { # EVENT [NUMBER]: it has run that often
	until_true 30 has_runs "$1" "${2:-1}" ||
		fail "hook: $(runs_of "$1") runs for $1: $(hooks_said)"
}

# expect_variable FILE NAME PATTERN
expect_variable() {
	local value

	value=$(sed -n "s/^$2=//p" "$seen/$1.env")
	# shellcheck disable=SC2053 # a pattern
	[[ $value == $3 ]] || fail "$1: $2='$value', not '$3': $(<"$seen/$1.env")"
}

expect_json() { # FILE NAME PATTERN: without quotes
	local value

	value=$(sed -n "s/.*\"$2\":\"*\([^\",}]*\).*/\1/p" "$seen/$1.json")
	# shellcheck disable=SC2053 # a pattern
	[[ $value == $3 ]] || fail "$1: $2 is '$value', not '$3': $(<"$seen/$1.json")"
}

entries() { # EVENT: in the journal, of this run of the service
	journalctl -q --no-pager -o json "_SYSTEMD_INVOCATION_ID=$invocation" "MTS_EVENT=$1"
}

has_entries() { (($(entries "$1" | wc -l) >= $2)); }

test_hooks_of_the_service() {
	local invocation pid entry

	journalctl --update-catalog || fail "journalctl --update-catalog: status $?"
	systemctl start hog@a || fail "hog@a does not start"
	start_hooks every=40s wait=3s
	invocation=$(systemctl show -P InvocationID mts-hooks)
	pid=$(systemctl show -P MainPID mts-hooks)
	take_turns $job

	# What mtsctl(8) says that a hook gets.
	expect_hook begin
	expect_variable begin.0 MTS_EVENT begin
	expect_variable begin.0 MTS_MESSAGE 'turns begin: *'
	expect_variable begin.0 MTS_FROM module
	expect_variable begin.0 MTS_REASON '?*'
	expect_variable begin.0 MTS_JOBS 2
	expect_variable begin.0 MTS_CAPACITY $((150 << 20))
	expect_variable begin.0 MTS_TIME_NS '1?????????????????*'
	expect_variable begin.0 LAB_SETTING from-hooks.env
	expect_json begin.0 event begin
	expect_json begin.0 jobs 2
	expect_json begin.0 from module
	expect_json begin.0 message 'turns begin: *'
	expect_hook wait
	expect_variable wait.0 MTS_JOB '?*.service'
	expect_json wait.0 waited_ns '?????????*' # a second at least

	# The journal has each beginning; hooks run for the first one, and once for the others.
	for _ in 1 2; do
		mtsctl set mode=off || fail "mtsctl set"
		nap 3
		mtsctl set mode=always || fail "mtsctl set"
		nap 3
	done
	until_true 20 has_entries begin 3 || fail "journal: $(entries begin)"
	(($(runs_of begin) == 1)) || fail "every=40s: $(runs_of begin) runs for begin"
	expect_hook end
	expect_variable end.0 MTS_REASON '?*'

	entry=$(entries begin | head -n 1)
	note "$entry"
	[[ $entry == *'"MESSAGE_ID":"47f8654ca136489680d9987e7c856c04"'* ]] || fail "no MESSAGE_ID: $entry"
	[[ $entry == *'"MTS_REASON":"'* && $entry == *'"MTS_CAPACITY":"'$((150 << 20))'"'* ]] ||
		fail "fields are missing: $entry"
	journalctl -x -q --no-pager "_SYSTEMD_INVOCATION_ID=$invocation" MTS_EVENT=begin >/run/explained
	grep -q 'Subject: Turns have begun: ' /run/explained || fail "no catalog: $(</run/explained)"
	grep -q 'Defined-By: mts' /run/explained || fail "no catalog: $(</run/explained)"
	mtsctl log | tee -a "$notes" | grep -q 'overcommit; not ended' || fail "mtsctl log: $(mtsctl log)"

	# What was merged comes when the time is over.
	expect_hook begin 2
	expect_variable begin.1 MTS_MERGED 2
	[[ $(systemctl show -P MainPID -P NRestarts mts-hooks) == "$pid"*0 ]] ||
		fail "it was restarted: $(hooks_said)"
	! hooks_said | grep -i 'refused\|denied\|read-only\|failed\|cannot' || fail "$(hooks_said)"
}

# A hook that does not end, and what it has left behind, end with the service.
test_stop_of_the_hooks() {
	start_hooks every=1s timeout=60s
	cat >/etc/mts/hooks.d/stay <<-'END'
		#!/bin/bash
		setsid sleep 1000 </dev/null >/dev/null 2>&1 &
		sleep 1001
	END
	chmod 755 /etc/mts/hooks.d/stay
	systemctl start hog@a || fail "hog@a does not start"
	take_turns $job
	until_true 30 sleeps || fail "the hook does not run: $(hooks_said)"
	systemctl restart mts-hooks || fail "restart: $(hooks_said)"
	! sleeps || fail "a restart leaves processes: $(ps -e)"
	is_active mts-hooks || fail "it does not run any more: $(hooks_said)"
	systemctl stop mts-hooks || fail "stop: $(hooks_said)"
	[[ $(systemctl show -P Result mts-hooks) == success ]] || fail "a stop is a failure"
	[[ ! -e $cgroups/system.slice/mts-hooks.service ]] || fail "a stop leaves its cgroup"
}

sleeps() { pgrep -f 'sleep 100[01]' >/dev/null; }

# ---- metrics ---------------------------------------------------------------------

# ask PATH: what the socket answers, in $answer
ask() {
	local connection

	exec {connection}<>/dev/tcp/127.0.0.1/9843 || return
	printf 'GET %s HTTP/1.1\r\nHost: lab\r\n\r\n' "$1" >&"$connection"
	answer=$(cat <&"$connection")
	exec {connection}>&-
}

expect_answer() { # PATTERN
	# shellcheck disable=SC2053 # a pattern
	[[ $answer == $1 ]] || fail "not '$1': ${answer:0:2000} $(journalctl -n 20 --no-pager -o cat)"
}

answers_of_units() { systemctl list-units --all --no-legend 'mts-metrics@*' | wc -l; }

no_answers() { (($(answers_of_units) == 0)); }

expect_metrics() { # ENGINE
	ask /metrics
	expect_answer 'HTTP/1.1 200 OK*'
	expect_answer "*mts_info{*\"$1\"*"
	expect_answer $'*\nmts_up 1\n*'
	expect_answer $'*\nmts_jobs 2\n*'
}

test_metrics_of_the_socket() {
	mkdir -p /etc/mts /run/systemd/system/mts-metrics@.service.d
	printf '[Service]\nEnvironment=MTS_METRICS_OPTIONS=--per-job=100\n' \
		>/run/systemd/system/mts-metrics@.service.d/jobs.conf
	systemctl daemon-reload
	systemctl start mts-metrics.socket || fail "the socket does not start"
	ask /metrics
	expect_answer $'*\nmts_up 1\n*'
	expect_answer $'*\nmts_jobs 0\n*'
	systemctl start hog@a || fail "hog@a does not start"
	take_turns $job
	expect_metrics module
	expect_answer '*mts_job_*{id="*name="hog@a.service"*'
	ask /else
	expect_answer 'HTTP/1.1 404 *'
	for _ in {1..10}; do
		ask /metrics
		expect_answer 'HTTP/1.1 200 OK*'
	done

	# The module is gone: that is told, and is no failure. Its device does not stay open.
	unload || fail "mts cannot be unloaded"
	ask /metrics
	expect_answer 'HTTP/1.1 200 OK*'
	expect_answer $'*\nmts_up 0\n*'
	systemctl start mtsd.service || fail "mtsd does not start"
	add_jobs $job "$other"
	expect_metrics userspace

	until_true 30 no_answers || fail "units are left: $(systemctl list-units --all 'mts-metrics@*')"
	systemctl stop mts-metrics.socket || fail "the socket does not stop"
	! ask /metrics || fail "it answers, stopped: $answer"
	[[ -z $(systemctl list-units --failed --no-legend 'mts-*') ]] ||
		fail "failed: $(systemctl list-units --failed --no-legend 'mts-*')"
}
