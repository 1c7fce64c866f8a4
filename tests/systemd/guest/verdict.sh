#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Writes the verdict on the guest that boots systemd: systemd runs it, in system-shutdown/, when all
# services are gone: on a reboot, only what the log has. Like /init of the laboratory's guests it says
#
#     lab: log MESSAGE   a message of the kernel that it must not have
#     lab: exit STATUS   the last line

# shellcheck disable=SC1091

exec 3>/dev/ttyS1
export PATH=/usr/sbin:/usr/bin

. /lab/lib.sh
. /lab/settings # BAD_LOG

say_log() {
	dmesg | grep -E "$BAD_LOG" | sed 's/^/lab: log /' >&3
}

if [[ $1 == reboot ]]; then
	say_log
	exit
fi
if [[ -e /run/shutdown-test ]]; then
	. /lab/tests/shutdown.sh
	number=$(</run/shutdown-test)
	if reason=$(after_shutdown 2>&1); then
		echo "ok $number - shutdown" >&3
	else
		echo "not ok $number - shutdown # ${reason##*$'\n'}" >&3
	fi
fi
said=$(unload 2>&1) || echo "lab: failed mts cannot be unloaded: $said" >&3
frozen=$(frozen_cgroups)
[[ -z $frozen ]] || echo "lab: failed frozen, without mts: ${frozen//$'\n'/ }" >&3
say_log
echo "lab: exit 0" >&3
