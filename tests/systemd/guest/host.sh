# shellcheck shell=bash disable=SC2154,SC2034 # lib.sh has them
# SPDX-License-Identifier: GPL-2.0
#
# A host of two users, as docs/howto.md sets it up: ada's builds in panes of tmux, ben's in the
# shell of his login, and a container, together half as much again as memory has room for. Each user
# types on meanwhile.

limits[test_two_users_and_a_container]=1500
work=/run/work

# As short as a host's first one.
host_conf() {
	mkdir -p /etc/mts
	cat >/etc/mts/mts.conf <<-EOF
		[mts]
		max_pause = 20s

		[rule users]
		cgroup = user.slice/user-*.slice/**/*.scope
		each-process = leaf

		[rule containers]
		cgroup = machine.slice/*.scope
	EOF
}

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

done_units() { wc -l <$work/done; }

look() { # what the host does, each 10 s, in the log
	while nap 10; do
		echo "$(now) ms: $(done_units) units; $(mtsctl status | head -n 3 | tr '\n' ' ')"
	done
}

run_work() { # $seconds: how long all of it takes
	local begin pane typists=() watcher

	pane=$(build pane 4 2)
	begin=$(now)
	podman run -d --name c --network=none --log-driver=none hog \
		/bin/unit 200 150 >/dev/null || fail "podman run: status $?"
	# The login has to be a job first: what is there before stays together.
	/lab/programs/typist ada 100 $work/ada 'sleep 5' \
		"tmux new-session -d '$pane'" "tmux split-window '$pane'" "tmux split-window '$pane'" \
		>$work/ada.times 2>&1 &
	typists+=($!)
	/lab/programs/typist ben 100 $work/ben 'sleep 5' "$(build ben 8 4) &" >$work/ben.times 2>&1 &
	typists+=($!)
	look &
	watcher=$!
	until_true 1200 all_done || fail "$(done_units) of 20 units: $(mtsctl status --all)"
	seconds=$((($(now) - begin) / 1000))
	kill $watcher
	wait "${typists[0]}" || fail "ada: $(<$work/ada.times)"
	wait "${typists[1]}" || fail "ben: $(<$work/ben.times)"
	note "all done after $seconds s; ada: $(<$work/ada.times); ben: $(<$work/ben.times)"
	expect_answers ada
	expect_answers ben
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

test_two_users_and_a_container() {
	local seconds

	make_image
	make_work
	host_conf
	systemctl start mts.service || fail "mts.service: $(journalctl -n 20 --no-pager -u mts)"
	run_work
	mtsctl stats >/run/work/stats
	note "$(grep -E 'switches|thaws' /run/work/stats | tr -s ' \n' ' ')"
	[[ $(podman inspect -f '{{.State.ExitCode}}' c) == 0 ]] || fail "the container failed"
}
