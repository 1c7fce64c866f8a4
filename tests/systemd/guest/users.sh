# shellcheck shell=bash disable=SC2154 # lib.sh has them
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
