# SPDX-License-Identifier: GPL-2.0
"""Jobs take turns under mtsd, on this host: they freeze, leave memory, come back and run on."""

import json
import os
import signal
import time

import pytest

from tests.engine.engine import MIB, is_asked, until

JOBS = [f"job{i}" for i in range(4)]


@pytest.fixture
def turns(engine, swap):
    """Four jobs of 64 MiB that take turns in 150 MiB: two bins of two."""
    engine.start("mode=off")
    for name in JOBS:
        engine.touch(name, 64)
    assert until(lambda: all(engine.is_full(name) for name in JOBS), 60), engine.report()
    words = ("mode=always", "step=bin", "bin=150M", "slice=300ms", "overhead=off")
    engine.mtsctl("set", *words, check=True)
    assert until(engine.frozen, 30), engine.report()
    return engine


def show(engine, what):
    return json.loads(engine.mtsctl(what, "--json", check=True).stdout)


def test_all_jobs_progress_and_none_is_frozen_for_long(turns):
    with turns.client() as client:
        before = {name: turns.pages(name) for name in JOBS}
        seen = set()

        def has_turned():
            seen.add(client.state()[0])
            return all(turns.pages(name) > before[name] + 1000 for name in JOBS)

        assert until(has_turned, 60), turns.report()
        # Several times.
        assert until(lambda: has_turned() and show(turns, "stats")["switches"] > 3, 60)
        after = {name: turns.pages(name) for name in JOBS}
    assert "running" in seen
    assert seen <= {"running", "switching"}
    assert all(after[name] > before[name] for name in JOBS), (before, after)
    stats = show(turns, "stats")
    assert stats["freezes"] > 4
    assert stats["freeze_timeouts"] == 0
    for job in show(turns, "status")["jobs"]:
        assert job["frozen_longest_ns"] < 31e9


def test_a_frozen_job_does_not_run_and_leaves_memory(turns):
    turns.mtsctl("set", "evict=full", "slice=2s", check=True)

    def gone():
        jobs = show(turns, "status")["jobs"]
        return [j["name"] for j in jobs if j["state"] == "frozen" and j["swapped"] > 48 * MIB]

    assert until(gone, 60)
    stats = show(turns, "stats")
    assert stats["evict_got"] > 64 * MIB
    name = gone()[0]
    if is_asked(turns.base / name):
        before = turns.pages(name)
        time.sleep(0.1)
        assert turns.pages(name) == before or not is_asked(turns.base / name)
    assert until(lambda: show(turns, "stats")["brought_back"] > 10000, 60)


def test_a_job_of_very_many_cgroups_takes_no_turns(turns):
    """Fault: mtsd walked over all that a user made below a job, in each switch."""

    def untouchable():
        return [j["name"] for j in show(turns, "status")["jobs"] if j["state"] == "untouchable"]

    cgroups = [turns.base / f"job0/{i}" for i in range(1024)]
    for cgroup in cgroups:
        cgroup.mkdir()
    try:
        assert until(lambda: untouchable() == ["job0"] and "job0" not in turns.frozen(), 30)
        for _ in range(50):
            assert "job0" not in turns.frozen()
            time.sleep(0.02)
    finally:
        for cgroup in cgroups:
            cgroup.rmdir()
    assert until(lambda: not untouchable(), 30)
    assert until(lambda: "job0" in turns.frozen(), 30)


def test_a_sparse_mapping_does_not_keep_the_rotor(engine, swap):
    """Fault: every page of 64 TiB was looked up, and all jobs ran after ten seconds."""
    names = ("sparse", "dense")
    engine.touch_outside("sparse", 64, "nap", "sparse")
    engine.touch_outside("dense", 64, "nap")
    assert until(lambda: all(map(engine.is_full, names)), 60)
    engine.start("mode=off")
    for name in names:
        engine.mtsctl("add", engine.outside / name, check=True)
    words = ("mode=always", "step=bin", "bin=100M", "slice=300ms", "overhead=off", "evict=full")
    engine.mtsctl("set", *words, check=True)
    assert until(lambda: show(engine, "stats")["switches"] > 10, 60), engine.report()
    assert show(engine, "stats")["brought_back"] > 10000
    assert "stopped" not in engine.log.read_text()
    assert engine.mtsctl("remove", engine.outside / "sparse").returncode == 0


def test_two_bins_are_shown(turns):
    state = show(turns, "status")
    assert len(state["bins"]) == 2
    assert sorted(j["bin"] for j in state["jobs"]) == [0, 0, 1, 1]
    assert all(60 * MIB < j["demand"] < 70 * MIB for j in state["jobs"])


def test_thaw_ends_all_turns(turns):
    assert "thawed" in turns.mtsctl("thaw", check=True).stdout
    assert not turns.frozen()
    time.sleep(0.5)
    assert not turns.frozen()
    state = show(turns, "status")
    assert state["state"] == "stopped"
    assert "mtsctl" in state["detail"]
    turns.mtsctl("set", "mode=always", check=True)
    assert until(turns.frozen)


def test_mode_off_thaws_at_once(turns):
    turns.mtsctl("set", "mode=off", check=True)
    assert not turns.frozen()


def test_the_end_of_mtsd_thaws(turns):
    assert turns.stop(signal.SIGTERM) == 0
    assert not turns.frozen()
    before = [turns.pages(name) for name in JOBS]
    time.sleep(1)
    assert all(turns.pages(name) > b for name, b in zip(JOBS, before, strict=True))


def test_remove_thaws_a_frozen_job(turns):
    assert until(lambda: is_asked(turns.base / "job0"))
    turns.mtsctl("remove", "job0", check=True)
    time.sleep(0.1)
    assert not is_asked(turns.base / "job0")


def test_a_pinned_job_is_never_frozen(turns):
    turns.mtsctl("pin", "job1", check=True)
    assert until(lambda: not is_asked(turns.base / "job1"))
    time.sleep(0.5)
    for _ in range(200):
        assert not is_asked(turns.base / "job1")
        time.sleep(0.005)


def test_what_another_process_froze_first_stays_so(turns):
    turns.mtsctl("set", "mode=off", check=True)
    freeze = turns.base / "job2" / "cgroup.freeze"
    freeze.write_text("1")
    turns.mtsctl("set", "mode=always", check=True)
    assert until(lambda: any(is_asked(turns.base / name) for name in ("job0", "job1", "job3")))
    for _ in range(100):
        assert is_asked(turns.base / "job2")
        time.sleep(0.01)
    turns.mtsctl("thaw", check=True)
    assert is_asked(turns.base / "job2")
    jobs = {j["name"]: j["state"] for j in show(turns, "status")["jobs"]}
    assert jobs["job2"] == "foreign"
    freeze.write_text("0")


def test_a_killed_job_ends_while_it_is_frozen(turns):
    assert until(lambda: is_asked(turns.base / "job3"))
    job = turns.jobs[3]
    job.kill()
    assert job.wait(2) == -signal.SIGKILL
    assert until(lambda: "job3" not in {j["name"] for j in show(turns, "status")["jobs"]}, 3)
    assert until(lambda: not (turns.base / "job3").exists(), 3)


def test_a_job_that_comes_takes_part(turns):
    turns.touch("late", 64)
    assert until(lambda: turns.is_full("late"), 60)
    before = turns.pages("late")
    assert until(lambda: turns.pages("late") > before + 10000, 60)
    assert until(lambda: is_asked(turns.base / "late"), 60)


def test_a_realtime_job_is_never_frozen(turns):
    turns.mtsctl("set", "mode=off", check=True)
    try:
        os.sched_setscheduler(turns.jobs[0].pid, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        pytest.skip("no real-time priority here")
    turns.mtsctl("set", "mode=always", "bin=100M", check=True)
    assert until(turns.frozen)
    for _ in range(100):
        assert not is_asked(turns.base / "job0")
        time.sleep(0.01)
    os.sched_setscheduler(turns.jobs[0].pid, os.SCHED_OTHER, os.sched_param(0))


def test_a_job_that_is_added_again_still_takes_turns(turns):
    for name in JOBS:
        assert "job already" in turns.mtsctl("add", turns.base / name).stderr
    for name in JOBS:
        assert until(lambda n=name: not is_asked(turns.base / n), 20), turns.report()
        assert until(lambda n=name: is_asked(turns.base / n), 20), turns.report()
