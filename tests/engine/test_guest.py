# SPDX-License-Identifier: GPL-2.0
"""`mtsd` where cgroup v2 has the memory controller, in a guest: of a user, and a process alone."""

import json
import subprocess

import pytest

from bench.lab import LabError, guest, kernel
from tests.build import make
from tests.engine import engine as host

MIB = host.MIB
STATIC = host.BUILD / "static"
PASSWD = "root:x:0:0::/root:/bin/sh\nada:x:1000:1000::/tmp:/bin/sh\n"
FUNCTIONS = """
say() { echo "mtsd: $1 $(eval "$2" | tr '\\n' ' ')" >/dev/ttyS1; }
start_in() { # CGROUP COMMAND...: as it is, in the background
	echo "echo 0 >/sys/fs/cgroup/$1/cgroup.procs; shift; exec \\"\\$@\\"" >/tmp/start
	sh /tmp/start "$@" &
}
as_ada() { su -s /bin/sh ada -c "XDG_RUNTIME_DIR=/tmp/run exec $*"; }
until_true() { # SECONDS COMMAND
	tries=$(($1 * 10))
	until eval "$2" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || { say timeout "echo $2"; return 1; }
		sleep 0.1
	done
}
word() { od -An -t u8 -j $1 -N 8 /tmp/$2.count; }
counts() { for name; do word 0 $name; done; }
frozen() { grep -l 1 /sys/fs/cgroup/$1/*/cgroup.freeze; }
mount -t tmpfs tmp /tmp || exit 1
chmod 1777 /tmp
cd /sys/fs/cgroup || exit 1
"""

USER = """
mkdir -p /tmp/run user/daemon user/shell || exit 1
echo "+memory" >user/cgroup.subtree_control || exit 1
chown 1000 /tmp/run
for cgroup in user user/daemon user/shell; do
	chown 1000 $cgroup $cgroup/cgroup.procs $cgroup/cgroup.subtree_control
done
start_in user/daemon su -s /bin/sh ada -c \\
	"XDG_RUNTIME_DIR=/tmp/run exec mtsd --user bin_bytes=62914560 slice_ms=300"
mtsd=$!
until_true 10 "as_ada mtsctl --user status" || exit 1
for name in a b c d; do
	start_in user/shell su -s /bin/sh ada -c \\
		"XDG_RUNTIME_DIR=/tmp/run exec mtsctl --user run --name $name toucher 24 /tmp/$name.count"
done
for name in a b c d; do until_true 30 "word 8 $name | grep 1" || exit 1; done
as_ada mtsctl --user set mode=always evict=full overhead=off || exit 1
until_true 30 "frozen user/mts" || exit 1
say before "counts a b c d"
sleep 10
say after "counts a b c d"
say stats "as_ada mtsctl --user stats --json"
say status "as_ada mtsctl --user status --json"
say uid "stat -c %u /proc/$mtsd"
until_true 30 "frozen user/mts" || exit 1
kill -KILL $mtsd
sleep 1
say frozen "frozen user/mts"
say killed "counts a b c d"
sleep 2
say runs "counts a b c d"
killall -KILL toucher
"""

TAKEN = """
mkdir unit && echo 200M >unit/memory.max || exit 1
mtsd bin_bytes=62914560 slice_ms=300 &
until_true 10 "mtsctl status" || exit 1
pids=
for name in a b c d; do
	start_in unit toucher 24 /tmp/$name.count
	pids="$pids $!"
done
for name in a b c d; do until_true 30 "word 8 $name | grep 1" || exit 1; done
for pid in $pids; do mtsctl add --pid $pid || exit 1; done
mtsctl set mode=always evict=full overhead=off || exit 1
until_true 30 "frozen unit" || exit 1
say before "counts a b c d"
sleep 10
say after "counts a b c d"
say stats "mtsctl stats --json"
say status "mtsctl status --json"
say swap "cat unit/memory.swap.current"
killall mtsd
sleep 1
say frozen "frozen unit"
say left "ls -d unit/*/"
say procs "cat unit/cgroup.procs"
say pids "echo $pids"
killall -KILL toucher
"""


def run(main):
    """What the guest says: {word: text}."""
    try:
        release = kernel.obtain()
    except LabError as error:
        pytest.skip(str(error))
    for folder in ("mtsctl", "mtsd"):
        make(host.ROOT / "userspace" / folder, f"BUILD={STATIC}", "STATIC=1")
    toucher = STATIC / "toucher"
    source = host.HERE / "toucher.c"
    subprocess.run(["gcc", "-O2", "-static", "-o", toucher, source], check=True)
    said = []
    verdict = guest.run(
        guest.Spec(
            kernel=release,
            main=FUNCTIONS + main,
            profile=guest.icount(2),
            memory_mib=460,
            swap=guest.Swap("ssd", 200),
            files={
                **{f"bin/{word}": STATIC / word for word in ("mtsctl", "mtsd", "toucher")},
                "etc/passwd": PASSWD,
            },
        ),
        on_report=said.append,
    )
    assert verdict.good, f"{verdict}\n" + "\n".join(said)
    lines = (line.removeprefix("mtsd: ").split(" ", 1) for line in said if "mtsd: " in line)
    return {word: text.strip() for word, text in lines}


def counts(said, word):
    return [int(number) for number in said[word].split()]


def expect_turns(said):
    before, after = counts(said, "before"), counts(said, "after")
    assert len(before) == 4
    assert all(b + 1000 < a for b, a in zip(before, after, strict=True)), (before, after)
    stats = json.loads(said["stats"])
    assert stats["switches"] > 4
    assert stats["freeze_timeouts"] == 0
    assert stats["evict_got"] > 100 * MIB
    assert stats["brought_back"] * 4096 > 50 * MIB


def test_a_user_without_rights():
    """memory.reclaim and process_vm_readv() need none."""
    said = run(USER)
    assert said["uid"] == "1000"
    expect_turns(said)
    state = json.loads(said["status"])
    assert {job["name"] for job in state["jobs"]} == {"a", "b", "c", "d"}
    assert len(state["bins"]) == (4 if state["overlaps"] else 2)
    assert said["frozen"] == ""
    killed, runs = counts(said, "killed"), counts(said, "runs")
    assert all(k < r for k, r in zip(killed, runs, strict=True)), (killed, runs)


def test_processes_of_a_unit_alone():
    """Their memory stays charged to the unit, whose limit holds."""
    said = run(TAKEN)
    expect_turns(said)
    state = json.loads(said["status"])
    assert len(state["bins"]) == (4 if state["overlaps"] else 2)
    assert all(job["name"].startswith("toucher-") for job in state["jobs"])
    assert int(said["swap"]) > 24 * MIB
    assert (said["frozen"], said["left"]) == ("", "")
    assert sorted(said["procs"].split()) == sorted(said["pids"].split())
