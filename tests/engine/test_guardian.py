# SPDX-License-Identifier: GPL-2.0
"""Whatever kills mtsd or its guardian: nothing stays frozen.

MTSD_KILLS=1000 makes the whole series; `make test` kills 48 times.
"""

import os
import random
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest

from tests.engine.engine import JOB_CREATE, JOB_REMOVE, MTSD, until

KILLS = int(os.environ.get("MTSD_KILLS", "48"))
SEED = int(os.environ.get("MTSD_SEED", "1"))
WORDS = ("mode=always", f"bin_bytes={40 << 20}", "slice_ms=40")
LIMIT = 1.0


def start(engine, jobs):
    engine.start(*WORDS)
    for job in jobs:
        engine.mtsctl("add", job, check=True)
    assert until(engine.frozen, 30), engine.report()


def wait(engine, draw, in_switch):
    """Until a random moment, or the beginning of a switch and a random part of it."""
    time.sleep(draw.random() * 0.2)
    if in_switch:
        with engine.client() as client:
            until(lambda: client.state()[0] == "switching", 5, 0)
        time.sleep(draw.random() * 0.02)


def thawed(engine):
    """How long it takes until nothing is frozen, s."""
    began = time.monotonic()
    until(lambda: not engine.frozen(), 5, 0.001)
    assert not engine.frozen()
    return time.monotonic() - began


def kill_mtsd(engine):
    engine.stop(signal.SIGKILL)
    assert thawed(engine) < LIMIT


def kill_guardian(engine):
    """Mtsd thaws everything and starts another one, which then does its work."""
    old = engine.guardian()
    os.kill(old, signal.SIGKILL)
    with engine.client() as client:
        assert until(lambda: client.state()[0] == "stopped" or engine.guardian() not in (old, 0))
        assert until(lambda: engine.guardian() not in (old, 0), 3)
    kill_mtsd(engine)


def kill_both(engine):
    """Then `mtsd --thaw`, the service's ExecStopPost, does it."""
    pids = [engine.guardian(), engine.process.pid]
    random.shuffle(pids)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    engine.process.wait()
    done = engine.thaw_left()
    assert not done.returncode, done.stderr
    assert not engine.frozen()


@pytest.mark.parametrize("kill", [kill_mtsd, kill_guardian, kill_both], ids=lambda f: f.__name__)
@pytest.mark.parametrize("in_switch", [False, True], ids=["any-time", "in-a-switch"])
def test_nothing_stays_frozen(engine, swap, kill, in_switch):
    draw = random.Random(f"{SEED} {kill.__name__} {in_switch}")
    jobs = [engine.touch_outside(f"job{i}", 16, "nap") for i in range(4)]
    assert until(lambda: all(engine.is_full(job.name) for job in jobs), 60)
    for _ in range(max(KILLS // 6, 1)):
        start(engine, jobs)
        wait(engine, draw, in_switch)
        kill(engine)


def test_a_stopped_mtsd_freezes_nothing_for_long(engine, swap):
    jobs = [engine.touch_outside(f"job{i}", 16, "nap") for i in range(4)]
    start(engine, jobs)
    os.kill(engine.process.pid, signal.SIGSTOP)
    assert until(lambda: not engine.frozen(), 3)
    os.kill(engine.process.pid, signal.SIGCONT)
    # It goes on with the turns.
    assert until(engine.frozen, 10)


STOPS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static ssize_t put(const char *name, int fd, const void *buf, size_t n, off_t at)
{
	ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, name);
	const char *flag = getenv("STOPS"), *after = getenv("STOPS_AFTER");
	int stops = n == 1 && *(const char *)buf == '1' && !unlink(flag);
	ssize_t done;

	if (stops)
		raise(SIGSTOP);
	done = real(fd, buf, n, at);
	if (stops && *after == '1')
		raise(SIGSTOP);
	return done;
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t at)
{
	return put("pwrite", fd, buf, n, at);
}

ssize_t pwrite64(int fd, const void *buf, size_t n, off_t at)
{
	return put("pwrite64", fd, buf, n, at);
}
"""


def freeze_late(engine, after):
    """Mtsd stands still before it freezes a job: the guardian thaws. Then the job is frozen."""
    library, flag = engine.dir / "stops.so", engine.dir / "stops"
    compile_it = ["gcc", "-shared", "-fPIC", "-Wall", "-o", library, "-xc", "-", "-ldl"]
    subprocess.run(compile_it, input=STOPS, text=True, check=True)
    variables = (f"LD_PRELOAD={library}", f"STOPS={flag}", f"STOPS_AFTER={int(after)}")
    engine.before = ("env", *variables)
    jobs = [engine.touch_outside(f"job{i}", 16, "nap") for i in range(4)]
    engine.start("mode=always", f"bin_bytes={40 << 20}", "slice_ms=1500")
    for job in jobs:
        engine.mtsctl("add", job, check=True)
    assert until(engine.frozen, 30), engine.report()
    flag.touch()
    assert until(lambda: is_stopped(engine.process.pid) and not flag.exists(), 30)
    assert until(lambda: not engine.frozen(), 3)
    assert "stands still" in engine.log.read_text()
    os.kill(engine.process.pid, signal.SIGCONT)
    assert until(engine.frozen, 3, 0)


def is_stopped(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def test_a_freeze_after_the_guardians_thaw_does_not_stay(engine, swap):
    """Fault: the job was taken out of the record, and stayed frozen when mtsd was killed."""
    freeze_late(engine, after=True)
    assert until(lambda: is_stopped(engine.process.pid), 3)
    kill_mtsd(engine)


def test_a_freeze_after_the_guardians_thaw_counts(engine, swap):
    """Fault: if mtsd stood still once more, the job stayed frozen."""
    freeze_late(engine, after=False)
    time.sleep(0.05)
    os.kill(engine.process.pid, signal.SIGSTOP)
    assert until(lambda: not engine.frozen(), 4)


def test_the_next_start_thaws_what_was_left(engine, swap):
    jobs = [engine.touch_outside(f"job{i}", 16, "nap") for i in range(4)]
    start(engine, jobs)
    engine.halt_guardian()
    engine.stop(signal.SIGKILL)
    assert engine.frozen()
    engine.start("mode=off")
    assert not engine.frozen()
    assert "thawed that a killed mtsd had left frozen" in engine.log.read_text()


def test_what_cannot_be_thawed_stays_in_the_record(engine, swap):
    """Fault: the next start forgot it, and named a file that was empty then."""
    start(engine, [engine.touch_outside(f"job{i}", 16, "nap") for i in range(4)])
    engine.halt_guardian()
    engine.stop(signal.SIGKILL)
    cgroup = engine.outside / engine.frozen()[0]
    script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
    there = ("unshare", "--mount", "sh", "-c", script, cgroup)
    words = ("--run-dir", engine.dir, f"cgroup_base={engine.base}", "mode=off")
    for command in ((MTSD, *words), (MTSD, *words), (MTSD, "--thaw", *words[:2])):
        done = subprocess.run([*there, *command], capture_output=True, text=True, timeout=30)
        assert done.returncode == 1
        assert f"echo 0 >{cgroup}/cgroup.freeze" in done.stderr
        assert engine.frozen() == [cgroup.name]
    (cgroup / "cgroup.freeze").write_text("0")
    engine.before = there
    engine.start("mode=off")
    assert not engine.stop()
    (cgroup / "cgroup.freeze").write_text("1")
    engine.before = ()
    engine.start("mode=off")
    assert engine.frozen() == [cgroup.name], "not mtsd's any more"
    (cgroup / "cgroup.freeze").write_text("0")


def test_thaw_says_when_a_mtsd_runs(engine):
    engine.start()
    done = engine.thaw_left()
    assert done.returncode == 1
    assert "a mtsd runs" in done.stderr


def test_thaw_without_any_mtsd_does_nothing(engine):
    assert not engine.thaw_left().returncode


def test_a_guardian_that_reads_nothing_delays_nothing(engine, swap):
    """What mtsd tells it fills the socket. Then mtsd replaces it."""
    jobs = [engine.touch_outside(f"job{i}", 8) for i in range(6)]
    engine.start("mode=off")
    engine.halt_guardian()
    (halted,) = engine.halted
    slowest = 0.0
    with engine.client() as client:
        for _ in range(1000):
            began = time.monotonic()
            error, reply = client.call(JOB_CREATE, struct.pack("=64sIIQQQ", b"", *[0] * 5))
            assert not error
            job = struct.unpack_from("=I", reply, 68)[0]
            assert not client.call(JOB_REMOVE, struct.pack("II", job, 0))[0]
            slowest = max(slowest, time.monotonic() - began)
            if engine.guardian() not in (halted, 0):
                break
    assert engine.guardian() not in (halted, 0), engine.report()
    assert slowest < 2, slowest
    engine.halted.clear()
    for job in jobs:
        engine.mtsctl("add", job, check=True)
    engine.mtsctl("set", "mode=always", "bin=40M", "slice=40ms", "min_slice=10ms", check=True)
    assert until(engine.frozen, 30), engine.report()
    kill_mtsd(engine)


def test_a_stopped_guardian_does_not_keep_mtsd_from_its_end(engine):
    engine.start()
    engine.halt_guardian()
    began = time.monotonic()
    assert engine.stop(signal.SIGTERM) == 0
    assert time.monotonic() - began < 5
    engine.halted.clear()
