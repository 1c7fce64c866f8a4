# SPDX-License-Identifier: GPL-2.0
"""bench/bench-host: its figures, what it refuses, and small runs on this host."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.lab import ROOT
from bench.lab.experiment import Job
from bench.native import NativeError, course, figures, host, policies
from tests.bench.on_host import WHY_NOT, alone_on_host, nothing_is_left, on_host  # noqa: F401

COMMAND = (sys.executable, str(ROOT / "bench" / "bench-host"))
SMALL = (
    *("--memory", "48M", "--jobs", "3", "--size", "24M", "--seconds", "0.5"),
    *("--pairs", "1", "--swap-size", "128M"),
)


def outcome(**more: object) -> dict:
    """Of the driver."""
    job = {"ended": 9.0, "status": 0, "longest_pause": 2.5}
    return {
        "work": 1.0,
        "elapsed": 10.0,
        "finished": True,
        "jain": 0.9,
        "jobs": [job],
        "without_memory": 0.0,
        "vmstat": {"pswpin": 3, "pswpout": 4},
        **more,
    }


def test_a_run_that_is_done():
    found = figures.of_run(outcome())
    assert (found.rate, found.seconds, found.pause, found.moved) == (0.1, 10.0, 2.5, 7)
    assert not found.killed


def test_a_run_that_was_cut_off_has_a_rate_and_no_time():
    found = figures.of_run(outcome(finished=False, work=0.2))
    assert found.seconds is None
    assert found.rate == pytest.approx(0.02)


def test_a_killed_job_counts():
    job = {"ended": 1.0, "status": None, "signal": 9, "longest_pause": None}
    assert figures.of_run(outcome(jobs=[job])).killed == 1


def test_the_interval_holds_the_median_about_as_often_as_it_says():
    rng = random.Random(7)
    held = 0
    for _ in range(100):
        found = figures.interval([rng.lognormvariate(0, 0.3) for _ in range(9)])
        held += found.low <= 1 <= found.high
    # 95 % by design; of nine values a bootstrap of the median gives somewhat less
    assert 82 <= held <= 99


def test_equal_values_have_no_interval():
    assert str(figures.interval([2.0, 2.0])) == "2"


def test_a_pair_with_a_run_that_hurt_has_no_ratio():
    good, bad = figures.of_run(outcome()), figures.of_run({"hurt": "late"})
    assert figures.ratios([good, good], [good, bad]) == [1.0]


def test_no_such_policy():
    with pytest.raises(NativeError, match="no policy lru: stock, "):
        policies.chosen(["lru"])


@pytest.mark.skipif(Path("/dev/mts").exists(), reason="the module is loaded")
def test_the_module_is_not_loaded():
    with pytest.raises(NativeError, match="policy module: the module is not loaded: insmod"):
        policies.chosen(["module"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--memory", "much"], "'much' is no size, as 4G or 300M are"),
        (["--memory", "1G", "--size", "2G"], "a job is larger than --memory"),
        (["--pairs", "0"], "--pairs: less than 1"),
        (["--limit", "0"], "--limit: not more than 0"),
        (["--zram", "--swap-on", "/"], "--zram and --swap-on: one of them"),
    ],
)
def test_usage(words: list[str], said: str):
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert said in done.stderr


@on_host
def test_a_small_run(tmp_path: Path):
    words = ["--limit", "6", "--swap-on", str(tmp_path), "--output", str(tmp_path / "out")]
    done = subprocess.run(
        [*COMMAND, *SMALL, *words, "--policies", "stock", "engine"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr
    assert "| stock | 1 of 1 |" in done.stdout
    lines = (tmp_path / "out" / "runs.jsonl").read_text("utf-8").splitlines()
    stock, engine = (json.loads(line)["outcome"] for line in lines)
    # Three jobs of 24 MiB do not fit in 48: they have swapped.
    assert stock["vmstat"]["pswpout"] > 1000
    assert engine["policy"]["stats"]["jobs_created"] == 3
    assert (tmp_path / "out" / "ten.svg").stat().st_size
    assert nothing_is_left()


@on_host
def test_builds(tmp_path: Path):
    words = ["--suite", "builds", "--memory", "128M", "--swap-size", "700M", "--limit", "30"]
    out = tmp_path / "out"
    done = subprocess.run(
        [*COMMAND, *SMALL, *words, "--swap-on", str(tmp_path), "--output", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr
    outcome = json.loads((out / "runs.jsonl").read_text("utf-8"))["outcome"]
    assert not [job for job in outcome["jobs"] if job["status"] or job["signal"]]
    # Eight trees of a file, main.c and a program, or as much as fits in half a minute.
    assert len(outcome["jobs"]) == 8
    assert outcome["work"] > 0.2
    assert outcome["vmstat"]["pswpout"] > 1000


@on_host
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("policy", ["stock", "engine"])
def test_a_signal_leaves_the_host_as_it_was(tmp_path: Path, number: signal.Signals, policy: str):
    """As from a terminal: the whole group of processes gets it."""
    words = ["--limit", "60", "--swap-on", str(tmp_path), "--output", str(tmp_path / "out")]
    bench = subprocess.Popen(
        [*COMMAND, *SMALL, "--seconds", "1000", "--policies", policy, *words],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    root, version = host._place()
    procs = host.Limit(root / host.NAME, version, None).jobs / "cgroup.procs"
    until = time.monotonic() + 60
    while not (procs.exists() and len(procs.read_text("ascii").split()) >= 3):
        if time.monotonic() > until:
            break
        time.sleep(0.05)
    os.killpg(bench.pid, number)
    bench.communicate(timeout=60)
    assert time.monotonic() < until, "no jobs"
    assert bench.returncode in (130, 128 + number)
    assert nothing_is_left()
    assert not list(tmp_path.glob("*.swap"))


MIB = 1 << 20
# Writes so many MiB, then says so, and sleeps.
TAKE = """
import sys, time
memory = bytearray(int(sys.argv[1]) << 20)
memory[::4096] = b"x" * len(memory[::4096])
print("has it", flush=True)
time.sleep(60)
"""


def taking(group: host.Limit, mib: int) -> subprocess.Popen:
    """A task under the limit."""
    return subprocess.Popen(
        [*course._enter(group.jobs), sys.executable, "-c", TAKE, str(mib)],
        stdout=subprocess.PIPE,
        text=True,
    )


def waits(group: host.Limit) -> bool:
    """A task of the group waits for memory."""
    return "under_oom 1" in (group.limited / "memory.oom_control").read_text("ascii")


def holds(condition: Callable[[], bool], seconds: float = 10) -> bool:
    """At last."""
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)
    return condition()


@on_host
@pytest.mark.skipif(not WHY_NOT and host._place()[1] != 1, reason="only v1 can wait")
def test_a_limit_kills_no_task(tmp_path: Path):
    """What reclaim does not find now it may find later: 2 of 12 runs had lost a job."""
    with host.limit(24 * MIB) as group, taking(group, 40) as task:
        try:
            # There is no swap for it: nothing can be reclaimed.
            assert holds(lambda: waits(group) or task.poll() is not None)
            assert task.poll() is None, "the kernel has killed it"
            with host.swap_file(tmp_path, 128 * MIB):
                # Now there is. But nothing is given back, so the kernel wakes nobody.
                time.sleep(0.5)
                assert waits(group)
                assert group.wake()
                assert task.stdout
                assert task.stdout.readline() == "has it\n"
                assert not waits(group)
                task.kill()
                task.wait()
        finally:
            task.kill()
            task.wait()


@on_host
def test_a_run_wakes_its_jobs(tmp_path: Path):
    """Memory that nobody gives back, because all wait for it, is found all the same."""
    words = ["--memory", "16M", "--jobs", "12", "--size", "12M", "--swap-size", "400M"]
    out = tmp_path / "out"
    done = subprocess.run(
        [
            *COMMAND,
            *SMALL,
            *words,
            "--limit",
            "8",
            "--swap-on",
            str(tmp_path),
            "--output",
            str(out),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr
    for line in (out / "runs.jsonl").read_text("utf-8").splitlines():
        outcome = json.loads(line)["outcome"]
        assert not [job for job in outcome["jobs"] if job["status"] or job["signal"]]
        # Some of the second half of the run, too.
        half = [entry["pswpin"] for entry in outcome["series"]][4:]
        assert sum(half) > 100


@on_host
def test_a_daemon_finds_only_processes_of_the_run(tmp_path: Path):
    """One that stops or kills what it finds does not stop the host's programs."""
    seen = tmp_path / "seen"
    policy = policies.Policy(
        name="looks", title="", daemon=f"ls /proc >{seen}; exec sleep 60", alone=True
    )
    job = Job(name="job", command=("/bin/sleep", "1"), demand_mib=1)
    with host.limit(48 * MIB) as group:
        outcome = course.run([job], policy, course.Scarcity(group, 48 * MIB, 0), 20)
    assert outcome["finished"], outcome
    pids = {int(name) for name in seen.read_text("ascii").split() if name.isdigit()}
    # The driver, the daemon's shell and ls; neither us nor any of the host.
    assert 1 in pids
    assert len(pids) <= 6
    assert os.getpid() not in pids


@on_host
def test_a_swap_that_does_not_fit(tmp_path: Path):
    words = ["--swap-on", str(tmp_path), "--swap-size", "900T", "--output", str(tmp_path / "out")]
    done = subprocess.run([*COMMAND, *SMALL, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "does not fit" in done.stderr
    assert nothing_is_left()
