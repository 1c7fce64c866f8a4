# shellcheck shell=bash disable=SC2154,SC2034 # lib.sh has them
# SPDX-License-Identifier: GPL-2.0
#
# A host of two users, as docs/howto.md sets it up: ada's builds in panes of tmux, ben's in the
# shell of his login, and a container, together half as much again as memory has room for. Each user
# types on meanwhile. /lab/mts.conf and /lab/howto.sh are the how-to's own lines. With mode=off among
# them (tests/systemd/run mode=off) there are no turns: what comes of that is told, and not judged.

limits[test_two_users_and_a_container]=300
limits[after_reboot_two_users_and_a_container]=1500
work=/run/work
tool=/usr/local/sbin/mtsctl # not in the PATH of users

make_work() { # a build for each user: units of 100 MiB
	mkdir -p $work
	chmod 1777 $work
	cat >$work/build.mk <<-'EOF'
		all: $(addprefix unit-,$(shell seq $(UNITS)))
		unit-%: ; @/lab/programs/unit 100 $(PASSES) && echo $(WHO) $@ >>/run/work/done
	EOF
	: >$work/done
	chmod 666 $work/done
}

build() { # WHO UNITS AT-A-TIME: its command
	echo "make -s -f $work/build.mk -j$3 WHO=$1 UNITS=$2 PASSES=100"
}

is_off() { grep -qx 'mode=off' /etc/mts/mts.conf; }

done_units() { wc -l <$work/done; }

look() { # what the host does, each 10 s, in the log
	local status

	while nap 10; do
		status=$(mtsctl status)
		echo "$(now) ms: $(done_units) units; $(head -n 3 <<<"$status" | tr '\n' ' ')"
		[[ $status != *"state      running"* || -e $work/by_container ]] || sum_up
	done
}

sum_up() { # while jobs take turns
	local by

	for by in user unit container; do
		mtsctl top --batch --count 1 --by $by >$work/by_$by
	done
}

# What ben, who is no more than a member of the group mts, does with a job of his own.
bens_job() {
	echo "$tool run --name sim -- /lab/programs/unit 20 100 && echo sim >>$work/own &"
	echo "until $tool status | grep sim.scope; do sleep 0.5; done"
	echo "$tool pause sim.scope 20s && echo paused >>$work/own"
	echo "$tool top --batch --count 1 --by unit >$work/bens"
}

run_work() { # $seconds: how long all of it takes
	local begin own pane typists=() watcher

	mapfile -t own < <(bens_job)
	pane=$(build pane 4 2)
	begin=$(now)
	podman run -d --name c --network=none --log-driver=none hog \
		/bin/unit 200 150 >/dev/null || fail "podman run: status $?"
	# The login has to be a job first: what is there before stays together. Who logs out takes what
	# runs in tmux along, so both type on until all is done.
	/lab/programs/typist ada 1300 $work/ada 'sleep 5' \
		"tmux new-session -d '$pane'" "tmux split-window '$pane'" "tmux split-window '$pane'" \
		>$work/ada.times 2>&1 &
	typists+=($!)
	/lab/programs/typist ben 1300 $work/ben 'sleep 5' "${own[@]}" "$(build ben 8 4) &" \
		>$work/ben.times 2>&1 &
	typists+=($!)
	look &
	watcher=$!
	until_true 1200 all_done || {
		tail -n 20 $work/ada $work/ben # their terminals
		fail "$(done_units) of 20 units: $(mtsctl status --all)"
	}
	seconds=$((($(now) - begin) / 1000))
	kill $watcher "${typists[@]}"
	wait "${typists[0]}" || fail "ada: $(<$work/ada.times)"
	wait "${typists[1]}" || fail "ben: $(<$work/ben.times)"
	note "all done after $seconds s; ada: $(<$work/ada.times); ben: $(<$work/ben.times)"
	note "pages swapped in: $(counter_of pswpin), out: $(counter_of pswpout);" \
		"killed for memory: $(counter_of oom_kill)"
}

counter_of() { awk -v name="$1" '$1 == name { print $2 }' /proc/vmstat; } # NAME: of the host

expect_none_killed() {
	(($(counter_of oom_kill) == 0)) || fail "out of memory: $(dmesg | grep -i 'killed process')"
}

expect_answers() { # WHO: was answered within 0.1 s, but for one line in a hundred
	local p99

	p99=$(sed -n 's/.* p99_ms=\([0-9]*\).*/\1/p' "$work/$1.times")
	((p99 < 100)) || fail "the shell of $1: $(<"$work/$1.times")"
}

all_done() {
	nap 1
	(($(done_units) == 20)) && [[ $(podman inspect -f '{{.State.Status}}' c) == exited ]]
}

# expect_row FILE PATTERN: of what top shows: NAME USER JOBS
expect_row() {
	grep -Eq "^$2 " "$work/$1" || fail "mtsctl top has no row '$2': $(<"$work/$1")"
}

expect_seen() { # by root while jobs took turns; by ben what is his
	[[ -e $work/by_container ]] || fail "no turns were seen"
	sed -sn '/ JOBS FROZEN /,$p' "$work"/by_* "$work/bens" | tee -a "$notes"
	expect_row by_user 'ada +[0-9]+'
	expect_row by_user 'ben +[0-9]+'
	expect_row by_user 'root +1'
	expect_row by_unit 'session-[0-9c]+\.scope +ada +[0-9]+'
	expect_row by_unit 'session-[0-9c]+\.scope +ben +[0-9]+'
	expect_row by_unit 'libpod[^ ]+ +root +1'
	expect_row by_container 'c +root +1'
	expect_row bens 'sim\.scope +ben +1'
	expect_row bens 'libpod[^ ]+ +root +1'
	until_true 120 own_is_done || fail "ben's own job: $(<"$work/own")"
}

own_is_done() { [[ $(sort "$work/own") == $'paused\nsim' ]]; }

test_two_users_and_a_container() {
	make_image
	mkdir -p /etc/mts
	cp /lab/mts.conf /etc/mts
	(
		set -e
		# shellcheck disable=SC2317 # the how-to's
		sudo() { "$@"; }
		# shellcheck disable=SC1091
		. /lab/howto.sh
	) || fail "the commands of the how-to: status $?"
	exit "$reboots"
}

after_reboot_two_users_and_a_container() {
	local seconds

	is_active mts.service || fail "mts.service: $(journalctl -n 20 --no-pager -u mts)"
	is_active mts-users.service || fail "mts-users.service is not started"
	make_work
	run_work
	mtsctl stats >/run/work/stats
	note "$(grep -E 'switches|thaws' /run/work/stats | tr -s ' \n' ' ')"
	[[ $(podman inspect -f '{{.State.ExitCode}}' c) == 0 ]] || fail "the container failed"
	! is_off || return 0
	expect_none_killed
	expect_answers ada
	expect_answers ben
	expect_seen
}
