# shellcheck shell=bash disable=SC2154,SC2034 # lib.sh has them
# SPDX-License-Identifier: GPL-2.0
#
# mtsd of a user who is not root, as his service manager starts it: in cgroups that systemd has
# delegated to him. There is no module meanwhile.

ada=1000
apps=user.slice/user-$ada.slice/user@$ada.service/app.slice

as_ada() {
	setpriv --reuid=$ada --regid=$ada --init-groups env XDG_RUNTIME_DIR=/run/user/$ada "$@"
}

ada_mtsctl() { as_ada mtsctl --user "$@"; }

counter() { # NAME: of mtsctl stats
	ada_mtsctl stats --json | sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p"
}

exceeds() { # NAME NUMBER
	(($(counter "$1") > $2))
}

start_user_mtsd() {
	unload || fail "mts cannot be unloaded"
	loginctl enable-linger ada || fail "no lingering"
	until_true 60 is_active user@$ada.service || fail "no user manager"
	as_ada systemctl --user start mtsd || fail "mtsd of the user: $(journalctl -n 20 --no-pager)"
}

start_user_jobs() {
	local name

	start_user_mtsd
	for name in a b; do
		as_ada systemd-run --user --quiet --unit=job-$name \
			mtsctl --user run --name $name /lab/programs/hog 100 || fail "no job $name"
		until_true 60 in_memory $apps/mts/$name 90 || fail "$name: $(ada_mtsctl status --all)"
	done
	ada_mtsctl set mode=always bin="$bin" slice=2s min_slice=1s overhead=off \
		demand=allocated evict=full max_pause=60s || fail "mtsctl --user set"
}

end_user_jobs() {
	as_ada systemctl --user stop mtsd 'job-*'
	loginctl disable-linger ada
	systemctl stop user@$ada.service
	rm -f /var/lib/systemd/linger/ada
}

test_mtsd_of_a_user() {
	local name pid frozen

	start_user_jobs
	for name in a b a b; do
		until_true 60 is_frozen $apps/mts/$name || fail "$name: $(ada_mtsctl status --all)"
	done
	pid=$(as_ada systemctl --user show -P MainPID mtsd)
	[[ $(stat -c %u /proc/"$pid") == "$ada" ]] || fail "mtsd is not the user's"
	# memory.reclaim evicts, process_vm_readv(2) brings back: both without rights
	until_true 60 exceeds evict_got $((100 << 20)) || fail "nothing leaves: $(counter evict_got)"
	until_true 60 exceeds brought_back 10000 || fail "nothing comes: $(counter brought_back)"
	note "switches $(counter switches), evicted $(counter evict_got), pages $(counter brought_back)"

	until_true 60 is_frozen $apps/mts/a || fail "a: $(ada_mtsctl status --all)"
	kill -KILL "$pid"
	# The guardian does that within a second, of this slow guest's time.
	until_true 5 nothing_is_frozen || fail "frozen: $(frozen_cgroups)"
	# systemd starts it again. The jobs run on, and are none any more.
	until_true 60 ada_mtsctl status >/run/ada-status 2>&1 || fail "mtsd is not started again"
	[[ $(used_ms $apps/mts/a) -gt 0 ]] || fail "a is gone"
	end_user_jobs
}

nothing_is_frozen() { [[ -z $(frozen_cgroups) ]]; }

# A session's processes are in a cgroup of root, and so are these. The user's manager asks PID 1 to
# move them.
test_mtsd_of_a_user_and_a_session() {
	local said status=0

	start_user_mtsd
	said=$(ada_mtsctl run --name=c /lab/programs/hog 10 2>&1) || status=$?
	((status == 125)) || fail "mtsctl --user run: status $status"
	[[ $said == *"systemd-run --user --scope"* ]] || fail "it does not say what to do: $said"
	as_ada systemd-run --user --scope --quiet mtsctl --user run --name=c /lab/programs/hog 10 &
	until_true 60 in_memory $apps/mts/c 9 || fail "no job c: $(ada_mtsctl status --all)"
	echo 1 >"$cgroups/$apps/mts/c/cgroup.kill"
	wait $! || true
	end_user_jobs
}
