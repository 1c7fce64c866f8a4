# SPDX-License-Identifier: GPL-2.0
"""`with mts.job():` of the Python package, with real cgroups and mtsd."""

import contextlib
import json
import os
import subprocess
import sys

import pytest

from tests.engine import engine as host
from tests.engine.engine import BUILD, ROOT, is_asked, until
from tests.engine.test_taken import cgroup_of, jobs

# Each line that it reads is run.
PROGRAM = """
import sys, mts
client = mts.Client(sys.argv[1])
for line in sys.stdin:
    try:
        exec(line)
    except mts.MtsError as error:
        print(repr(type(error).__name__), error, flush=True)
    else:
        print("done", flush=True)
"""


class Script:
    """A Python program in a cgroup of its own."""

    def __init__(self, engine):
        self.home = engine.outside / "home"
        self.home.mkdir()
        path = f"{BUILD}:{os.environ['PATH']}"
        script = f'echo 0 >{self.home}/cgroup.procs && exec "$@"'
        python = [sys.executable, "-c", PROGRAM, engine.dir / "socket"]
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", script, "sh", *python],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "userspace/python")},
        )
        engine.jobs.append(self.process)

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self):
        return self.process.stdout.readline().strip()

    def __call__(self, line):
        self.say(line)
        return self.answer()

    @property
    def cgroup(self):
        return cgroup_of(self.process.pid)

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def script(engine):
    engine.start("mode=off")
    it = Script(engine)
    yield it
    it.close()


def test_it_is_a_job_for_a_while(engine, script):
    assert script("context = client.job('mine', size='64M', max_pause=2)") == "done"
    assert script.cgroup == script.home
    for _ in range(2):
        assert script("context = client.job('mine', size='64M', max_pause=2)") == "done"
        assert script("job = context.__enter__()") == "done"
        assert script.cgroup == engine.base / "mine"
        # It alone: the helper has gone. What keeps its place is where it was.
        assert (engine.base / "mine/cgroup.procs").read_text().split() == [str(script.process.pid)]
        assert len((script.home / "cgroup.procs").read_text().split()) == 1
        mine = jobs(engine)["mine"]
        assert (mine["size"], mine["max_pause_ns"]) == (64 << 20, 2 * 10**9)
        assert script("assert job.name == 'mine', job") == "done"
        assert script("assert [j.cgroup for j in client.jobs()] == [job.cgroup]") == "done"
        assert script("context.__exit__(None, None, None)") == "done"
        assert script.cgroup == script.home
        assert until(lambda: not jobs(engine))
        assert until(lambda: not (engine.base / "mine").exists())
        assert (script.home / "cgroup.procs").read_text().split() == [str(script.process.pid)]


def test_what_it_starts_stays_in_the_job(engine, script):
    script("context = client.job('mine'); context.__enter__()")
    script("import subprocess; child = subprocess.Popen(['sleep', '60'])")
    script("context.__exit__(None, None, None)")
    assert script.cgroup == script.home
    (child,) = (engine.base / "mine/cgroup.procs").read_text().split()
    assert set(jobs(engine)) == {"mine"}
    script("child.kill(); child.wait()")
    assert until(lambda: not jobs(engine)), child


def test_it_is_frozen_and_goes_on(engine, script):
    """A turn of mtsd does that; here it is done by hand."""
    script("context = client.job('mine'); context.__enter__()")
    freeze = engine.base / "mine/cgroup.freeze"
    freeze.write_text("1")
    events = engine.base / "mine/cgroup.events"
    assert until(lambda: "frozen 1" in events.read_text())
    script.say("context.__exit__(None, None, None)")
    assert script.cgroup == engine.base / "mine"
    freeze.write_text("0")
    assert script.answer() == "done"
    assert script.cgroup == script.home
    assert not is_asked(script.home)


def test_a_name_that_is_taken(engine, script):
    engine.run("--name", "mine", "sleep", "60")
    assert until(lambda: "mine" in jobs(engine))
    said = script("client.job('mine').__enter__()")
    assert "NotStartedError" in said
    assert "choose another" in said
    assert script.cgroup == script.home
    assert len((script.home / "cgroup.procs").read_text().split()) == 1


def test_when_it_is_killed_nothing_is_left(engine, script):
    script("context = client.job('mine'); context.__enter__()")
    script.process.kill()
    script.process.wait()
    assert until(lambda: not jobs(engine))
    assert until(lambda: not (script.home / "cgroup.procs").read_text().split())


def test_the_state_is_that_of_mtsctl(engine, script):
    assert script("status = client.status(); assert status.engine == 'userspace'") == "done"
    printed = json.loads(engine.mtsctl("get", "--json", check=True).stdout)
    assert script(f"assert client.config().mode == {printed['mode']!r}") == "done"
    assert host.mount()
