# shellcheck shell=bash disable=SC2154 # lib.sh has them
# SPDX-License-Identifier: GPL-2.0
#
# Containers as jobs: podman with crun, each in a scope of its own, /machine.slice/libpod-ID.scope.
# Their image is busybox and the hog: there is no network.

make_image() {
	local files=/run/image

	! podman image exists hog || return 0
	mkdir -p $files/bin $files/tmp
	cp /lab/programs/{busybox,hog,unit} $files/bin
	ln -s busybox $files/bin/sh # of the health check
	ln -s busybox $files/bin/true
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
