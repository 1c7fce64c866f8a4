# shellcheck shell=bash disable=SC2154 # lib.sh has them
# SPDX-License-Identifier: GPL-2.0
#
# The guest is powered off while jobs are frozen: the last test. The one that runs takes 25 s to end,
# as a virtual machine may, and the others' units are killed after 5: they cannot wait for their turn.

units=(hog@s1 hog@s2)

test_shutdown() {
	systemctl start slow "${units[@]}" || fail "they do not start"
	add_jobs slow.slice/slow.service test.slice/hog@s{1,2}.service
	turns 60s # the one that runs: 40
	until_true 130 all_frozen || fail "they are never frozen: $(mtsctl status)"
	rm -f /run/term
	now >/run/shutdown-began
}

all_frozen() {
	is_frozen test.slice/hog@s1.service && is_frozen test.slice/hog@s2.service
}

# By verdict.sh, when all units are gone: each has written its line, and nothing has been waited for.
after_shutdown() {
	local ms unit

	ms=$(($(now) - $(</run/shutdown-began)))
	echo "# the shutdown took $ms ms" >&3
	sed 's/^/# /' /run/term >&3
	for unit in "${units[@]}"; do
		grep -q "^${unit#hog@} TERM" /run/term || fail "$unit was killed: its handler has not run"
	done
	((ms < 60000)) || fail "it took $ms ms"
}
