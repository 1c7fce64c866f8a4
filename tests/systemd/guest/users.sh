# shellcheck shell=bash disable=SC2154,SC2034 # lib.sh has them
# SPDX-License-Identifier: GPL-2.0
#
# Users who are not root, and the module: mts-users.service is its door. ada, who is user 1000 of
# user.sh, is a member of the group mts or not, as it is started.

scopes=user.slice/user-1000.slice/user@1000.service/app.slice

ada_as() { # GROUP COMMAND...: in no cgroup of hers, as a login has it
	setpriv --reuid=1000 --regid=1000 --groups="$1" env -u XDG_RUNTIME_DIR "${@:2}"
}

refused() { # TEXT GROUP COMMAND...: it fails, and says this
	local text=$1 said status=0

	said=$(ada_as "${@:2}" 2>&1) || status=$?
	((status)) || fail "${*:2}: it is not refused: $said"
	[[ $said == *"$text"* ]] || fail "${*:2}: it does not say why: $said"
	note "${*:3}: $said"
}

may() { # GROUP COMMAND...
	ada_as "$@" || fail "$*: status $?"
}

user_of() { # JOB: whose share it is of
	mtsctl stats --prometheus --per-job |
		sed -n "s/^mts_job_info{.*name=\"$1\",user=\"\([0-9]*\)\".*/\1/p"
}

test_members_of_the_group() {
	local group none=1000 hog

	systemd-sysusers || fail "systemd-sysusers: status $?"
	group=$(getent group mts) || fail "there is no group mts"
	IFS=: read -r _ _ group _ <<<"$group"
	systemctl start mts-users.service || fail "mts-users.service does not start"
	loginctl enable-linger ada || fail "no lingering"
	until_true 60 is_active user@1000.service || fail "no user manager"

	may $none mtsctl status
	may $none mtsctl stats >/dev/null
	refused "only root may do this" $none mtsctl run --name sim /lab/programs/hog 10
	refused "only root may do this" $none mtsctl thaw

	ada_as "$group" mtsctl run --name sim /lab/programs/hog 10 &
	until_true 60 in_memory $scopes/sim.scope 9 || fail "no job: $(mtsctl status --all)"
	[[ -n $(state_of $scopes/sim.scope) ]] || fail "sim.scope is no job"
	hog=$(<"$cgroups/$scopes/sim.scope/cgroup.procs")
	[[ $(stat -c %u "/proc/$hog") == 1000 ]] || fail "it is not hers"
	[[ $(user_of sim.scope) == 1000 ]] || fail "it counts for user '$(user_of sim.scope)'"
	may "$group" mtsctl pin sim.scope
	[[ $(state_of $scopes/sim.scope) == resident ]] || fail "it is $(state_of $scopes/sim.scope)"
	refused "only root may do this" $none mtsctl unpin sim.scope
	may "$group" mtsctl unpin sim.scope
	may "$group" mtsctl pause sim.scope 20s
	refused "max_pause=" "$group" mtsctl pause sim.scope 2s

	# Others' cgroups and jobs, and what is root's.
	systemctl start hog@a || fail "hog@a does not start"
	refused "not yours" "$group" mtsctl add test.slice/hog@a.service
	refused "not yours" "$group" mtsctl add user.slice/user-1000.slice
	add_jobs test.slice/hog@a.service
	[[ $(user_of hog@a.service) == 0 ]] || fail "hog@a counts for '$(user_of hog@a.service)'"
	# A scope of root's in her slice, as that of a login.
	systemd-run --quiet --slice=user-1000.slice --scope --unit=like-a-login \
		-p MemoryAccounting=yes /lab/programs/hog 5 &
	until_true 60 in_memory user.slice/user-1000.slice/like-a-login.scope 4 ||
		fail "there is no scope"
	add_jobs user.slice/user-1000.slice/like-a-login.scope
	[[ $(user_of like-a-login.scope) == 1000 ]] ||
		fail "the login counts for user '$(user_of like-a-login.scope)'"
	systemctl stop like-a-login.scope
	refused "not yours" "$group" mtsctl remove hog@a.service
	refused "only root may do this" "$group" mtsctl set mode=off
	refused "only root may do this" "$group" mtsctl thaw
	[[ -n $(state_of test.slice/hog@a.service) ]] || fail "hog@a is no job any more"

	# Its jobs are still hers when it is started anew.
	systemctl restart mts-users.service || fail "mts-users.service does not start again"
	may "$group" mtsctl remove sim.scope
	[[ -z $(state_of $scopes/sim.scope) ]] || fail "sim.scope is still a job"
	kill -0 "$hog" || fail "it does not run on"
	may "$group" mtsctl add $scopes/sim.scope
	kill -KILL "$hog"
	wait || true

	systemctl stop mts-users.service
	refused "mts-users.service" "$group" mtsctl status
	loginctl disable-linger ada
	systemctl stop user@1000.service
	rm -f /var/lib/systemd/linger/ada
}

door_for_ada() { # $group: of the members
	systemd-sysusers || fail "systemd-sysusers: status $?"
	IFS=: read -r _ _ group _ < <(getent group mts)
	[[ -n $group ]] || fail "there is no group mts"
	systemctl start mts-users.service || fail "mts-users.service does not start"
	loginctl enable-linger ada || fail "no lingering"
	systemctl start user@1000.service
	until_true 60 is_active user@1000.service || fail "no user manager"
}

close_door() {
	systemctl stop mts-users.service
	loginctl disable-linger ada
	systemctl stop user@1000.service
	rm -f /var/lib/systemd/linger/ada
}

has_child() { # NUMBER: of the scope's processes that are jobs in it
	[[ -d $cgroups/$scopes/tree.scope/tree.$1 && -n $(state_of "$scopes/tree.scope/tree.$1") ]]
}

are_no_jobs() { [[ $(mtsctl status) == *" 0 jobs"* || $(mtsctl status --json) != *'"cgroup_id"'* ]]; }

limits[test_members_have_jobs_of_children_and_the_queue]=400
test_members_have_jobs_of_children_and_the_queue() {
	local group child watcher

	door_for_ada
	ada_as "$group" timeout 200 mtsctl watch --json >/run/watched &
	watcher=$!
	ada_as "$group" mtsctl run --each --name tree \
		/bin/sh -c '/lab/programs/hog 20 & /lab/programs/hog 20 & wait' &
	until_true 90 has_child 1 || fail "no first child: $(mtsctl status --all)"
	until_true 30 has_child 2 || fail "no second child: $(mtsctl status --all)"
	for child in 1 2; do
		child=$cgroups/$scopes/tree.scope/tree.$child
		[[ $(stat -c %U "$child" "$child/cgroup.freeze" | sort -u) == ada ]] ||
			fail "it is not hers: $(ls -ld "$child" "$child/cgroup.freeze")"
	done
	! compgen -G "$cgroups/mts/*/" >/dev/null || fail "jobs in the module's own cgroup"
	note "$(mtsctl status | grep tree | tr -s ' ' | tr '\n' ';')"
	may "$group" mtsctl pause "$scopes/tree.scope/tree.1" 20s
	# It ends with its unit, as systemd knows it.
	as_ada systemctl --user stop tree.scope || fail "the scope does not stop: status $?"
	until_true 30 are_no_jobs || fail "jobs are left: $(mtsctl status --all)"
	[[ ! -e $cgroups/$scopes/tree.scope ]] || fail "the scope's cgroup is left"

	systemctl start hog@a || fail "hog@a does not start"
	until_true 60 in_memory test.slice/hog@a.service 90 || fail "hog@a does not fill its memory"
	add_jobs test.slice/hog@a.service
	mtsctl set mode=auto bin="$bin" || fail "mtsctl set"
	ada_as "$group" mtsctl run --queue --size 100M --name held /lab/programs/hog 10 &
	until_true 60 is_held || fail "it is not held: $(mtsctl status --all)"
	nap 5
	is_held || fail "it begins: $(mtsctl status --all)"
	refused "half of the host's memory" "$group" mtsctl run --queue --size 2G --name big true
	systemctl stop hog@a
	until_true 60 in_memory "$scopes/held.scope" 9 || fail "it does not begin: $(mtsctl status --all)"

	kill "$watcher"
	wait "$watcher" || true
	has_seen forgotten tree.1
	has_seen enrolled held.scope
	close_door
}

has_seen() { # WHAT JOB
	grep -q "\"event\":\"mts_job\".*\"what\":\"$1\".*\"name\":\"$2\"" /run/watched ||
		fail "watch has not seen that $2 was $1: $(tail -n 5 /run/watched)"
}

is_held() { [[ $(state_of $scopes/held.scope) == queued ]]; }
