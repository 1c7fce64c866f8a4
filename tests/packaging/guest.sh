# shellcheck shell=bash disable=SC2034,SC2154 # tests/systemd/guest/lib.sh and run.sh have them
# SPDX-License-Identifier: GPL-2.0
#
# A host with the packages, booted: the module is loaded; jobs take turns while the packages are
# upgraded, by themselves, and removed. The tests are steps: each begins with what the last one left.

limit=900 # s, for a step: depmod and dpkg are slow in such a guest
jobs=(test.slice/hog@a.service "$other")
debs=(/lab/debs/mts-dkms_*.deb /lab/debs/mts-tools_*.deb)

prepare() {
	: >"$notes"
	echo "no swap" >"$why"
	swapon /dev/vdb || return
	echo "systemd is not up" >"$why"
	until_true 60 is_active other.service || return
	# Building it takes an hour here. root.sh has seen that.
	touch /etc/dkms/no-autoinstall
}

cleanup() { [[ ! -s $why ]]; } # between the steps jobs go on

begin_turns() {
	local job

	systemctl start hog@a || fail "hog@a does not start"
	for job in "${jobs[@]}"; do
		[[ -n $(state_of "$job") ]] || add_jobs "$job"
	done
	turns 3s
	until_true 100 any_frozen || fail "no turns: $(mtsctl status)"
}

any_frozen() { asked_to_freeze "${jobs[0]}" || asked_to_freeze "${jobs[1]}"; }

expect_turns_go_on() {
	local job

	for job in "${jobs[@]}"; do
		until_true 100 is_frozen "$job" || fail "$job takes no turns any more: $(mtsctl status)"
	done
}

expect_all_run() {
	local frozen

	frozen=$(frozen_cgroups)
	[[ -z $frozen ]] || fail "still frozen: ${frozen//$'\n'/ }"
}

apt_says() { # COMMAND...: what it says is in the log of the guest, and the reason if it fails
	local said

	said=$("$@" 2>&1) || fail "$*: ${said//$'\n'/; }"
	echo "$said"
}

test_module_is_loaded_at_boot() {
	[[ -c /dev/mts ]] || fail "there is no /dev/mts: $(systemctl status systemd-modules-load)"
	[[ $(</sys/module/mts/version) == "$(mtsctl --version | cut -d ' ' -f 2)" ]] ||
		fail "the module is $(</sys/module/mts/version), and the tool $(mtsctl --version)"
}

test_mtsd_is_off() {
	! is_active mtsd || fail "mtsd runs"
	[[ $(systemctl is-enabled mtsd) == disabled ]] || fail "mtsd is $(systemctl is-enabled mtsd)"
}

# The new module is not there until the next boot. The old one goes on.
test_upgrade_with_jobs_keeps_the_module() {
	local loaded

	begin_turns
	loaded=$(stat -c %i /sys/module/mts)
	apt_says dpkg -i "${debs[@]}"
	[[ $(stat -c %i /sys/module/mts) == "$loaded" ]] || fail "the module has been loaded again"
	expect_turns_go_on
}

test_removal_of_the_module_in_use() {
	exec 9<>/dev/mts
	begin_turns
	apt_says dpkg --remove mts-dkms
	exec 9<&-
	[[ -d /sys/module/mts ]] || fail "the module has been unloaded"
	expect_all_run
	nap 8 # two slices
	expect_all_run
	apt_says dpkg -i "${debs[0]}"
}

test_purge_of_the_module_with_jobs() {
	begin_turns
	apt_says dpkg --purge mts-dkms
	expect_all_run
	[[ ! -d /sys/module/mts ]] || fail "the module is still loaded"
	! compgen -G '/lib/modules/*/updates/dkms/*' || fail "dkms has left something"
}

# Without the module. An upgrade does not restart it, as it would forget its jobs.
test_upgrade_with_jobs_keeps_mtsd() {
	local pid

	apt_says systemctl enable --now mtsd mts-hooks
	pid=$(systemctl show -P MainPID mtsd)
	begin_turns
	apt_says dpkg -i "${debs[1]}"
	[[ $(systemctl show -P MainPID mtsd) == "$pid" ]] || fail "mtsd has been restarted"
	is_active mts-hooks || fail "mts-hooks has been stopped"
	expect_turns_go_on
}

test_purge_of_the_tools_with_jobs() {
	is_active mts-hooks || fail "mts-hooks does not run"
	apt_says dpkg --purge mts-tools
	expect_all_run
	! is_active mtsd || fail "mtsd still runs"
	! is_active mts-hooks || fail "mts-hooks still runs"
	[[ -z $(systemctl list-unit-files --no-legend 'mtsd*') ]] || fail "systemd still knows mtsd"
	! compgen -G '/etc/systemd/system/*/mtsd.service' || fail "mtsd is still enabled"
	systemctl -q is-active hog@a || fail "a job has been ended"
	rm /etc/dkms/no-autoinstall
}
