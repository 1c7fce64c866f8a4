# shellcheck shell=bash disable=SC2154,SC2034 # lib.sh, user.sh and podman.sh have them
# SPDX-License-Identifier: GPL-2.0
#
# Containers of a user who is not root: podman without root, in ada's own cgroups. Root's podman does
# not know them; a rule enrols them by their names, and root's mts.service has ada's podman asked for
# their health checks.

shared=/run/rootless # what the container and the test see

ada_podman() {
	as_ada env HOME=/home/ada USER=ada LOGNAME=ada \
		DBUS_SESSION_BUS_ADDRESS=unix:path="/run/user/$ada/bus" podman "$@"
}

# start_rootless NAME [OPTION...]: it holds 100 MiB; $scope is its cgroup
start_rootless() {
	ada_podman run -d --name "$1" --network=none --log-driver=none -e HOG="$1" \
		-v $shared:/host "${@:2}" hog /bin/hog -t /host/term 100 >/dev/null ||
		fail "podman run: status $?"
	scope=user.slice/user-$ada.slice/user@$ada.service
	scope+=/user.slice/libpod-$(ada_podman inspect -f '{{.Id}}' "$1").scope
	until_true 60 in_memory "$scope" 90 || fail "the container does not fill its memory"
}

has_pause() { mtsctl status --json | grep -q "\"max_pause_ns\": $1"; }

is_rootless_job() { [[ -n $(state_of "$scope") ]]; }

said_of_check() { journalctl -n 20 --no-pager -u 'mts-container@*' -u mts; }

limits[test_rootless_container_by_rule]=900
test_rootless_container_by_rule() {
	local ms scope said

	mkdir -p $shared
	chown "$ada" "$shared"
	chmod 755 /run/image 2>/dev/null
	make_image_files
	loginctl enable-linger ada || fail "no lingering"
	systemctl start "user@$ada.service"
	until_true 60 is_active "user@$ada.service" || fail "no user manager"
	tar -C /run/image -c . | ada_podman import -q - hog >/dev/null || fail "podman import: status $?"
	mkdir -p /etc/mts
	printf '[rule web]\ncontainer=web*\n' >/etc/mts/mts.conf
	systemctl start mts.service || fail "mts.service does not start"
	start_rootless web-1 --health-cmd=/bin/true --health-interval=20s --health-timeout=8s
	until_true 20 is_rootless_job || fail "web-1 is no job: $(said_of_check)"
	said=$(mtsctl status --all)
	[[ $said == *' web-1 '* ]] || fail "status does not show the name: $said"
	until_true 90 has_pause 4000000000 || fail "its check is not heeded: $(said_of_check)"
	said=$(said_of_check)
	[[ $said == *'container web-1: podman calls a health check'* ]] || fail "no word: $said"

	mtsctl pause web-1 off
	take_turns "$scope"
	took ada_podman exec web-1 true || fail "podman exec: status $?"
	note "podman exec took $ms ms"
	((ms < 12000)) || fail "podman exec took $ms ms"
	expect_turns_again "$scope"
	wait_turn_over "$scope"
	took ada_podman healthcheck run web-1 || fail "unhealthy, after $ms ms"
	note "the health check took $ms ms"
	expect_turns_again "$scope"
	took ada_podman stop -t 8 web-1 || fail "podman stop: status $?"
	grep -q "^web-1 TERM" $shared/term || fail "it was killed: its handler has not run"
	note "the handler ran, and the stop took $ms ms"
	until_true 20 is_no_job || fail "it is a job still"
	ada_podman rm -f -t 0 -a >/dev/null
	loginctl disable-linger ada
	systemctl stop "user@$ada.service"
	rm -f /var/lib/systemd/linger/ada
}

is_no_job() { ! mtsctl status --all | grep -q ' web-1 '; }
