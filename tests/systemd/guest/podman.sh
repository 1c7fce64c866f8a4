# shellcheck shell=bash disable=SC2154,SC2034 # lib.sh has them
# SPDX-License-Identifier: GPL-2.0
#
# Containers as jobs: podman with crun, each in a scope of its own, /machine.slice/libpod-ID.scope.
# Their image is busybox and the hog: there is no network.

make_image_files() {
	local files=/run/image

	[[ ! -e $files ]] || return 0
	mkdir -p $files/bin $files/tmp
	cp /lab/programs/{busybox,hog,unit} $files/bin
	ln -s busybox $files/bin/sh # of the health check
	ln -s busybox $files/bin/true
}

make_image() {
	local files=/run/image

	! podman image exists hog || return 0
	make_image_files
	tar -C $files -c . | podman import -q - hog >/dev/null || fail "podman import: status $?"
}

# start_container NAME [OPTION...]: it holds 100 MiB; $scope is its cgroup
start_container() {
	make_image
	podman run -d --name "$1" --network=none --log-driver=none -e HOG="$1" -v /run:/host "${@:2}" \
		hog /bin/hog -t /host/term 100 >/dev/null || fail "podman run: status $?"
	scope=machine.slice/libpod-$(podman inspect -f '{{.Id}}' "$1").scope
	until_true 30 in_memory "$scope" 90 || fail "the container does not fill its memory"
}

test_podman_exec_into_a_frozen_container() {
	local ms scope

	start_container c
	take_turns "$scope"
	watch_pid1
	took podman exec c true || fail "podman exec: status $?"
	note "podman exec took $ms ms"
	expect_pid1_answered
	((ms < 8000)) || fail "podman exec took $ms ms"
	expect_turns_again "$scope"
}

# The container's own check, which podman's timer would call.
test_podman_healthcheck_of_a_frozen_container() {
	local ms scope

	start_container c --health-cmd=/bin/true --health-interval=disable --health-timeout=6s
	take_turns "$scope"
	took podman healthcheck run c || fail "unhealthy, after $ms ms"
	note "the health check took $ms ms"
	((ms < 8000)) || fail "the health check took $ms ms"
}

test_podman_stop_of_a_frozen_container() {
	local ms scope

	rm -f /run/term
	start_container c
	take_turns "$scope"
	took podman stop -t 5 c || fail "podman stop: status $?"
	expect_handled c
}

# crun freezes a cgroup below the scope: the job takes its turns, and nothing in it runs.
expect_paused() {
	local before

	before=$(used_ms "$scope")
	mtsctl set slice=3s || fail "mtsctl set"
	nap 12
	(($(used_ms "$scope") == before)) || fail "the container has run"
	[[ $(podman inspect -f '{{.State.Status}}' c) == paused ]] || fail "podman takes it to run"
	podman unpause c || fail "podman unpause: status $?"
	until_true 60 has_run "$before" || fail "the container does not run again"
}

has_run() { (($(used_ms "$scope") > $1)); }

test_podman_pause_of_a_frozen_container() {
	local scope

	start_container c
	take_turns "$scope"
	podman pause c || fail "podman pause: status $?"
	expect_paused
}

test_podman_pause_before_the_freeze() {
	local scope

	start_container c
	podman pause c || fail "podman pause: status $?"
	add_jobs "$scope" "$other"
	turns 20s
	expect_paused
}

# ---- by name ---------------------------------------------------------------------

health() { podman inspect -f '{{.State.Health.Status}} {{.State.Health.FailingStreak}}' "$@"; }

frozen_longest() { # NAME: of the container, in s
	mtsctl status --json | awk -v "name=\"$1\"," '
		$1 == "\"container\":" { its = $2 == name }
		its && $1 == "\"frozen_longest_ns\":" { print int($2 / 1e9) }'
}

# Podman's timers call the checks, of three that take turns with pauses of 20 s. It waits 8 s.
test_podman_health_checks_during_turns() {
	local name ms said checks end
	local -a scopes

	rm -f /run/term
	for name in a b c; do
		start_container $name --health-cmd=/bin/true --health-interval=20s \
			--health-timeout=8s --health-retries=1
		scopes+=("$scope")
	done
	said=$(mtsctl add --container a 2>&1) || fail "mtsctl add: $said"
	note "$said"
	[[ $said == *'never frozen for longer than 4.0 s'* ]] || fail "add says nothing: $said"
	mtsctl status --json | grep -q '"max_pause_ns": 4000000000' || fail "the limit is not 4 s"
	mtsctl pause a 20s || fail "a is not known by its name"
	for name in b c; do
		said=$(mtsctl add --max-pause 20s --container "$name" 2>&1) || fail "mtsctl add: $said"
		[[ $said == *"container $name: a pause may take 20.0 s"*'; --max-pause 4s avoids it'* ]] ||
			fail "add says nothing: $said"
	done
	turns 9s
	for scope in "${scopes[@]}"; do
		until_true 40 is_frozen "$scope" || fail "$scope is never frozen: $(mtsctl status)"
	done
	end=$(($(now) + 50000))
	while (($(now) < end)); do
		said=$(health a b c)
		[[ $said != *unhealthy* ]] || fail "unhealthy: $said $(mtsctl status)"
		nap 5
	done
	note "${said//$'\n'/, }; $(mtsctl status | grep -A 9 ' JOB ')"
	for name in a b c; do
		checks=$(podman inspect -f '{{len .State.Health.Log}}' $name)
		note "$name: $checks checks, frozen for up to $(frozen_longest $name) s"
		((checks >= 2)) || fail "podman has called the check of $name $checks times"
		(($(frozen_longest $name) >= 5)) || fail "$name had no pauses"
	done

	until_true 40 is_frozen "${scopes[1]}" || fail "b is not frozen: $(mtsctl status)"
	took podman exec b true || fail "podman exec: status $?"
	note "podman exec took $ms ms"
	((ms < 8000)) || fail "podman exec took $ms ms"
	took podman stop -t 5 a b c || fail "podman stop: status $?"
	for name in a b c; do
		expect_handled $name
	done
}

is_container_job() { # NAME
	scope=machine.slice/libpod-$(podman inspect -f '{{.Id}}' "$1").scope
	[[ -n $(state_of "$scope") ]]
}

# mts.service finds them by the names that their monitors have, though it may not ask podman.
# Another service asks it for the health check.
limits[test_podman_containers_by_rule]=400
test_podman_containers_by_rule() {
	local scope first said

	mkdir -p /etc/mts
	printf '[rule web]\ncontainer=web*\nmax-pause=7s\n[rule api]\ncontainer=api\n' \
		>/etc/mts/mts.conf
	systemctl start mts.service || fail "mts.service does not start: $(said)"
	start_container web-1
	first=$scope
	until_true 10 is_container_job web-1 || fail "web-1 is no job: $(said)"
	start_container db
	[[ -z $(state_of "$scope") ]] || fail "no rule names db"
	said=$(mtsctl status --all)
	note "$said"
	[[ $said == *' web-1 '* ]] || fail "status does not show the name: $said"
	said=$(mtsctl why "$(podman inspect -f '{{.State.Pid}}' web-1)")
	[[ $said == *'container  web-1'* ]] || fail "why does not show the name: $said"

	# Another id, and the same one in another cgroup.
	podman rm -f -t 0 web-1 >/dev/null || fail "podman rm: status $?"
	start_container web-1
	[[ $scope != "$first" ]] || fail "it has the same id"
	until_true 10 is_container_job web-1 || fail "a new web-1 is no job: $(said)"
	podman restart -t 0 web-1 >/dev/null || fail "podman restart: status $?"
	until_true 10 is_container_job web-1 || fail "web-1 is no job, restarted: $(said)"
	mtsctl remove web-1 || fail "remove does not know the name"
	[[ -z $(state_of "$scope") ]] || fail "it is a job still"
	! mtsctl add --container nosuch 2>/run/complaint || fail "there is no such container"
	grep -q 'podman: .*no such container' /run/complaint || fail "$(</run/complaint)"

	# Of the one with a limit only that it is too long is said.
	start_container api --health-cmd=/bin/true --health-interval=60s --health-timeout=8s
	until_true 60 has_pause 4000000000 || fail "its check is not heeded: $(said_of_check)"
	start_container web-2 --health-cmd=/bin/true --health-interval=60s --health-timeout=8s
	until_true 60 says_too_long || fail "no word of the limit: $(said_of_check)"
	has_pause 7000000000 || fail "the limit of the rule does not hold: $(mtsctl status --all)"
}

says_too_long() { [[ $(said_of_check) == *'container web-2: a pause may take 7.0 s'* ]]; }
