# SPDX-License-Identifier: GPL-2.0
"""`mtsctl add --pid`: a running process becomes a job alone, and goes back where it was."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.engine import engine as host
from tests.engine.engine import MIB, TOUCHER, is_asked, until

WORDS = ("mode=always", f"bin_bytes={100 * MIB}", "slice_ms=300")


def start_in(engine, cgroup, name, *words):
    """A process of a cgroup that has others."""
    command = " ".join(map(str, (TOUCHER, *words, engine.counter(name))))
    engine.jobs.append(
        subprocess.Popen(["/bin/sh", "-c", f"echo 0 >{cgroup}/cgroup.procs && exec {command}"])
    )
    return engine.jobs[-1].pid


def cgroup_of(pid):
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        if line.startswith("0::"):
            return host.mount() / line[3:].strip().lstrip("/")
    return None


def jobs(engine):
    state = engine.mtsctl("status", "--json", check=True).stdout
    return {job["name"]: job for job in json.loads(state)["jobs"]}


def stats(engine):
    return json.loads(engine.mtsctl("stats", "--json", check=True).stdout)


@pytest.fixture
def crowd(engine):
    """A session: two processes of 64 MiB, and one that must not stop."""
    engine.session = engine.outside / "session"
    engine.session.mkdir()
    engine.pids = [start_in(engine, engine.session, f"big{i}", 64) for i in range(2)]
    engine.bystander = start_in(engine, engine.session, "bystander", 1)
    names = ("big0", "big1", "bystander")
    assert until(lambda: all(engine.is_full(name) for name in names), 30)
    return engine


@pytest.fixture
def turns(crowd, swap):
    crowd.start(*WORDS)
    for pid in crowd.pids:
        done = crowd.mtsctl("add", "--pid", pid, check=True)
        assert f"process {pid} is job" in done.stdout
    crowd.own = [crowd.session / f"toucher-{pid}" for pid in crowd.pids]
    return crowd


def test_processes_of_one_session_take_turns(turns):
    assert set(jobs(turns)) == {cgroup.name for cgroup in turns.own}
    assert [cgroup_of(pid) for pid in turns.pids] == turns.own
    for _ in range(2):
        for cgroup in turns.own:
            assert until(lambda c=cgroup: is_asked(c), 30), turns.report()
    for name in ("big0", "big1", "bystander"):
        before = turns.pages(name)
        assert until(lambda n=name, b=before: turns.pages(n) > b + 1000, 30), turns.report()
    assert not is_asked(turns.session)
    # Both cannot be in memory: they leave it, and come back in bulk.
    assert until(lambda: stats(turns)["evict_got"] > 64 * MIB, 30)
    assert until(lambda: stats(turns)["brought_back"] > 10000, 30)


def test_remove_gives_back(turns):
    assert until(lambda: is_asked(turns.own[0]), 30), turns.report()
    turns.mtsctl("remove", turns.own[0].name, check=True)
    assert cgroup_of(turns.pids[0]) == turns.session
    assert not turns.own[0].exists()
    before = turns.pages("big0")
    assert until(lambda: turns.pages("big0") > before + 1000)
    # It can be taken again.
    turns.mtsctl("add", "--pid", turns.pids[0], check=True)
    assert until(lambda: is_asked(turns.own[0]), 30), turns.report()


def test_the_end_of_mtsd_gives_back(turns):
    assert until(lambda: any(map(is_asked, turns.own)), 30)
    assert turns.stop(signal.SIGTERM) == 0
    assert [cgroup_of(pid) for pid in turns.pids] == [turns.session] * 2
    assert not any(cgroup.exists() for cgroup in turns.own)


def test_a_killed_mtsd_leaves_it_thawed_and_the_next_one_takes_it(turns):
    assert until(lambda: any(map(is_asked, turns.own)), 30)
    turns.stop(signal.SIGKILL)
    assert until(lambda: not any(map(is_asked, turns.own)), 3)
    turns.start(*WORDS)
    for pid in turns.pids:
        turns.mtsctl("add", "--pid", pid, check=True)
    assert until(lambda: any(map(is_asked, turns.own)), 30)
    # Of cgroups that are added whole: they stay, and are removed by hand.
    turns.stop(signal.SIGTERM)
    for pid, cgroup in zip(turns.pids, turns.own, strict=True):
        (turns.session / "cgroup.procs").write_text(str(pid))
        cgroup.rmdir()


def test_a_process_that_ends_leaves_no_cgroup(crowd):
    crowd.start("mode=off")
    crowd.mtsctl("add", "--pid", crowd.pids[0], check=True)
    crowd.jobs[0].kill()
    crowd.jobs[0].wait()
    assert until(lambda: not jobs(crowd), 5)
    assert until(lambda: [p.name for p in crowd.session.iterdir() if p.is_dir()] == [], 5)


def test_later_children_belong_to_it(engine):
    """Those that it has stay outside. Both go back with it."""
    engine.start("mode=off")
    session = engine.outside / "session"
    session.mkdir()
    script = f"echo 0 >{session}/cgroup.procs; sleep 98 & read x; sleep 99 & wait"
    shell = subprocess.Popen(["/bin/sh", "-c", script], stdin=subprocess.PIPE)
    engine.jobs.append(shell)
    procs = session / "cgroup.procs"
    assert until(lambda: len(procs.read_text().split()) == 2)
    engine.mtsctl("add", "--pid", shell.pid, check=True)
    own = session / f"sh-{shell.pid}"
    assert len(procs.read_text().split()) == 1
    shell.stdin.write(b"\n")
    shell.stdin.close()
    assert until(lambda: len((own / "cgroup.procs").read_text().split()) == 2)
    engine.mtsctl("remove", own.name, check=True)
    assert len(procs.read_text().split()) == 3
    assert not own.exists()


def test_a_process_of_the_root_cgroup_goes_below_the_base(engine):
    engine.start("mode=off")
    job = subprocess.Popen(["sleep", "60"])
    engine.jobs.append(job)
    if cgroup_of(job.pid) != host.mount():
        (host.mount() / "cgroup.procs").write_text(str(job.pid))
    engine.mtsctl("add", "--pid", job.pid, check=True)
    assert cgroup_of(job.pid) == engine.base / f"sleep-{job.pid}"
    engine.mtsctl("remove", f"sleep-{job.pid}", check=True)
    assert cgroup_of(job.pid) == host.mount()


def test_what_is_refused(crowd):
    crowd.start("mode=off")
    for pid in (1, 2, os.getpid(), crowd.process.pid, crowd.guardian()):
        with crowd.client() as client:
            error, _ = client.call(host.JOB_TAKE, host.take_request(pid))
        assert error == 16, pid
    gone = subprocess.Popen(["true"])
    gone.wait()
    with crowd.client() as client:
        assert client.call(host.JOB_TAKE, host.take_request(gone.pid))[0] == 3
        assert client.call(host.JOB_TAKE, host.take_request(-1))[0] == 3
        for words in ({"flags": 1}, {"flags": 8}, {"pad": 1}, {"user": 1}):
            request = host.take_request(crowd.pids[0], **words)
            assert client.call(host.JOB_TAKE, request)[0] == 22, words
        assert client.call(host.JOB_TAKE, host.take_request(crowd.pids[0], pause=1))[0] == 34
    # Nothing has moved.
    assert cgroup_of(crowd.pids[0]) == crowd.session
    assert [p.name for p in crowd.session.iterdir() if p.is_dir()] == []
    assert not jobs(crowd)


def test_a_process_of_a_job_is_refused(crowd):
    crowd.start("mode=off")
    crowd.mtsctl("add", crowd.session, check=True)
    done = crowd.mtsctl("add", "--pid", crowd.pids[0])
    assert (done.returncode, "is a job, or lies below one" in done.stderr) == (1, True)
    assert cgroup_of(crowd.pids[0]) == crowd.session
    crowd.mtsctl("remove", "session", check=True)
    # And the other way round.
    crowd.mtsctl("add", "--pid", crowd.pids[0], check=True)
    assert "above or below" in crowd.mtsctl("add", crowd.session).stderr
    crowd.mtsctl("remove", f"toucher-{crowd.pids[0]}", check=True)


def test_a_threaded_cgroup_is_refused(crowd):
    inner = crowd.session / "threads"
    inner.mkdir()
    (inner / "cgroup.type").write_text("threaded")
    pid = start_in(crowd, inner, "threaded", 1)
    assert until(lambda: crowd.is_full("threaded"))
    crowd.start("mode=off")
    with crowd.client() as client:
        assert client.call(host.JOB_TAKE, host.take_request(pid))[0] == 95
    assert cgroup_of(pid) == inner
    assert [p for p in inner.iterdir() if p.is_dir()] == []
    crowd.jobs[-1].kill()
    crowd.jobs[-1].wait()
    assert until(lambda: host.remove(inner))
