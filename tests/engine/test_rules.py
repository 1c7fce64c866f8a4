# SPDX-License-Identifier: GPL-2.0
"""`mtsctl rules watch` on the kernel's own cgroups: its inotify tells of what comes."""

import json
import subprocess
import time

import pytest

from tests.engine.engine import MTSCTL, until


@pytest.fixture
def watch(engine, tmp_path):
    """Each cgroup directly in the one of the test."""
    conf = tmp_path / "mts.conf"
    conf.write_text(f"[rule r]\ncgroup = {engine.outside.name}/*\nmax-pause = 5s\n")
    engine.start()
    words = ["rules", "watch", "--file", conf]
    with subprocess.Popen(
        [MTSCTL, "--engine", engine.dir / "socket", *words], stdout=subprocess.PIPE, text=True
    ) as process:
        assert "watching" in process.stdout.readline()
        yield process
        process.terminate()
        assert process.wait(20) == 0


def jobs(engine):
    state = engine.mtsctl("status", "--json", check=True).stdout
    return {job["name"]: job for job in json.loads(state)["jobs"]}


def populate(engine, name):
    """A process in the cgroup of that name."""
    cgroup = engine.outside / name
    cgroup.mkdir(exist_ok=True)
    command = f"echo 0 >{cgroup}/cgroup.procs && exec sleep 600"
    engine.jobs.append(subprocess.Popen(["/bin/sh", "-c", command]))


def test_what_comes_is_a_job_within_a_second(engine, watch):
    (engine.outside / "late").mkdir()
    time.sleep(1.2)
    assert jobs(engine) == {}
    for name in ("new", "late"):
        populate(engine, name)
        assert until(lambda name=name: name in jobs(engine), 1)
    assert jobs(engine)["late"]["max_pause_ns"] == 5 * 10**9


def test_what_is_removed_comes_back_when_it_was_empty(engine, watch):
    populate(engine, "a")
    assert until(lambda: "a" in jobs(engine), 5)
    engine.mtsctl("remove", "a", check=True)
    populate(engine, "b")
    assert until(lambda: "b" in jobs(engine), 5)
    time.sleep(1)
    assert list(jobs(engine)) == ["b"]
    engine.jobs[0].kill()
    engine.jobs[0].wait()
    time.sleep(1)
    populate(engine, "a")
    assert until(lambda: "a" in jobs(engine), 5)
