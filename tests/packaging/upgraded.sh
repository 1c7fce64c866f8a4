# shellcheck shell=bash disable=SC2034,SC2154 # guest.sh, tests/systemd/guest/lib.sh and run.sh have them
# SPDX-License-Identifier: GPL-2.0
#
# The same host after an upgrade of its kernel: DKMS has built the module for that one, too. It gets the
# lines of docs/howto.md for a host of several users, boots, works, and is rid of the packages.

job_scopes=(user.slice/user-1000.slice/work-{a,b}.scope)

test_module_is_there_for_the_new_kernel() {
	[[ $(uname -r) == *cloud* ]] || fail "this is the old kernel: $(uname -r)"
	test_module_is_loaded_at_boot
}

test_ten_lines_and_a_reboot() {
	useradd --create-home --shell /bin/bash --uid 1000 ada || fail "useradd: status $?"
	useradd --create-home --shell /bin/bash --uid 1001 ben || fail "useradd: status $?"
	mkdir -p /etc/mts
	cp /lab/mts.conf /etc/mts
	(
		set -e
		# shellcheck disable=SC2317 # the how-to's
		sudo() { "$@"; }
		# The package has done the others.
		# shellcheck disable=SC1090
		. <(grep -E 'usermod|systemctl enable' /lab/howto.sh)
	) || fail "the commands of the how-to: status $?"
	exit "$reboots"
}

after_reboot_ten_lines_and_a_reboot() {
	local name

	is_active mts.service || fail "mts.service: $(journalctl -n 20 --no-pager -u mts)"
	is_active mts-users.service || fail "mts-users.service is not started"
	id -nG ada | grep -qw mts || fail "ada is no member of the group mts"
	# each-process needs processes that grow in a scope: jobs of their own
	for name in a b; do
		systemd-run --quiet --scope --slice=user-1000.slice --unit=work-$name \
			/bin/sh -c '/lab/programs/hog 100 & wait' &
	done
	until_true 100 has_hogs || fail "the rule makes no jobs: $(mtsctl status --all)"
	turns 3s
	until_true 100 has_switched || fail "no turns: $(mtsctl status)"
	note "$(mtsctl status | tr -s ' ' | tr '\n' ';')"
}

has_hogs() { (($(mtsctl status --all | grep -c 'work-[ab]') >= 2)); }

has_switched() {
	local switches

	switches=$(mtsctl stats --json | awk '$1 == "\"switches\":" { print $2 + 0 }')
	((switches >= 4))
}

test_purge_leaves_a_host_as_before() {
	apt_says dpkg --purge mts-dkms mts-tools
	expect_all_run
	[[ ! -d /sys/module/mts ]] || fail "the module is still loaded"
	! compgen -G '/lib/modules/*/updates/dkms/*' || fail "dkms has left something"
	[[ -z $(systemctl list-unit-files --no-legend 'mts*') ]] || fail "systemd still knows units"
	pgrep -x hog >/dev/null || fail "jobs have been ended"
}
