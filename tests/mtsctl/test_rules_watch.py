# SPDX-License-Identifier: GPL-2.0
"""mtsctl rules watch: what comes becomes a job, too."""

import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

FIRST = 4_190_000  # not the number of mtsctl, which is never a job
PATIENCE = 20  # seconds, on a busy host


class Watch:
    def __init__(self, mtsctl, host, *args, **fake):
        self.mtsctl = mtsctl
        self.host = host
        self.process = subprocess.Popen(
            [mtsctl.program, "rules", "watch", *args],
            env=mtsctl.environment(**host.fake, **fake),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines = []
        self.read_to("watching")

    def read_to(self, text):
        """The next line that has the text, and the time at which it came."""
        for line in self.process.stdout:
            self.lines.append(line)
            assert "Sanitizer" not in line, line + self.process.stdout.read()
            if text in line:
                return time.monotonic()
        raise AssertionError(f"no '{text}' in {self.lines}")

    def watches(self):
        fds = Path(f"/proc/{self.process.pid}/fdinfo").iterdir()
        return sum(fd.read_text().count("inotify wd:") for fd in fds)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        rest = self.process.communicate(timeout=PATIENCE)[0]
        assert "Sanitizer" not in rest, rest
        return self.process.returncode, rest


@pytest.fixture
def watch(mtsctl, host):
    begun = []
    host.cgroup("")

    def begin(*args, **fake):
        begun.append(Watch(mtsctl, host, *args, **fake))
        return begun[-1]

    yield begin
    for one in begun:
        one.process.kill()
        one.process.wait()
        one.process.stdout.close()


def populate(host, path, populated=1, frozen=0):
    (host.cgroups / path / "cgroup.events").write_text(f"populated {populated}\nfrozen {frozen}\n")


def test_what_exists_and_what_comes(watch, host, mtsctl):
    host.cgroup("a/1")
    host.process(FIRST + 0, "/a/1")
    host.conf("[rule as]\ncgroup=a/*\n[rule deep]\ncgroup=b/**\neach=leaf\n")
    it = watch()
    assert [line for line in it.lines if "is job" in line] == [f"{host.cgroups}/a/1 is job 7\n"]
    # Made empty; then a process comes into it.
    host.cgroup("a/2")
    populate(host, "a/2", populated=0)
    time.sleep(1.2)
    assert len(mtsctl.calls) == 1
    host.process(FIRST + 1, "/a/2")
    populate(host, "a/2")
    began = time.monotonic()
    assert it.read_to(f"{host.cgroups}/a/2 is job") - began < 1
    # Several levels at once.
    host.cgroup("b/c/d/e")
    host.process(FIRST + 2, "/b/c/d/e")
    it.read_to("b/c/d/e is job")
    # And below what has come.
    host.cgroup("b/c/d/f")
    host.process(FIRST + 3, "/b/c/d/f")
    it.read_to("b/c/d/f is job")
    assert it.end() == (0, "")


def test_the_command_comes_after_the_cgroup(watch, host):
    """What systemd starts has systemd's name at first."""
    host.conf("[rule r]\ncommand=work*\n")
    it = watch()
    host.cgroup("a")
    host.process(FIRST + 0, "/a", comm="(worker)")
    time.sleep(0.3)
    (host.proc / f"{FIRST}/comm").write_text("worker\n")
    it.read_to("/a is job")


def test_freezing_is_no_news(watch, host, mtsctl):
    """Jobs are frozen all the time: that makes no look, which would see the cgroup c."""
    host.cgroup("a")
    host.process(FIRST + 0, "/a")
    host.cgroup("c")
    populate(host, "c", populated=0)
    host.conf("[rule r]\ncgroup=*\n")
    it = watch()
    time.sleep(1.2)
    host.process(FIRST + 1, "/c")
    for i in range(5):
        populate(host, "a", frozen=i % 2)
    time.sleep(1.2)
    assert len(mtsctl.calls) == 1
    populate(host, "c")
    it.read_to("/c is job")


def test_what_a_user_removes_stays_removed(watch, host, mtsctl):
    host.cgroup("a")
    host.process(FIRST + 0, "/a")
    host.conf("[rule r]\ncgroup=*\n")
    it = watch()
    host.cgroup("b")
    host.process(FIRST + 1, "/b")
    it.read_to("/b is job")
    # The fake module has no job a: so it is as if it was removed. There was another look for b.
    assert len(mtsctl.calls) == 2
    # Empty meanwhile: it is another job.
    (host.cgroups / "a/cgroup.procs").write_text("")
    populate(host, "a", populated=0)
    time.sleep(1.2)
    (host.cgroups / "a/cgroup.procs").write_text(f"{FIRST}\n")
    populate(host, "a")
    it.read_to("/a is job")


def test_a_failure_is_said_once(watch, host):
    host.cgroup("a")
    host.process(FIRST + 0, "/a")
    host.conf("[rule r]\ncgroup=*\n")
    it = watch(fail="job_add=95")
    host.cgroup("b")
    host.process(FIRST + 1, "/b")
    it.read_to("/b: the memory controller is not enabled")
    status, rest = it.end(signal.SIGINT)
    assert status == 0
    assert "".join(it.lines).count("/a: the memory controller") == 1
    assert "/a:" not in rest


def test_reload(watch, host):
    host.cgroup("a")
    host.process(FIRST + 0, "/a")
    host.cgroup("b")
    host.process(FIRST + 1, "/b")
    file = host.conf("[rule r]\ncgroup=a\n")
    it = watch()
    file.write_text("[rule r]\ncgroup=b\nusr=0\n")
    it.process.send_signal(signal.SIGHUP)
    it.read_to("mts.conf:3: unknown key 'usr'")
    it.read_to("the rules stay as they were")
    file.write_text("[rule r]\ncgroup=b\n")
    it.process.send_signal(signal.SIGHUP)
    it.read_to("read again")
    it.read_to("/b is job")


def test_it_tells_systemd(watch, host, tmp_path, monkeypatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.bind(str(tmp_path / "notify"))
        told.settimeout(PATIENCE)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        host.conf("[rule r]\ncgroup=a\n")
        it = watch()
        assert told.recv(100) == b"READY=1"
        it.process.send_signal(signal.SIGHUP)
        assert told.recv(100) == b"RELOADING=1"
        assert told.recv(100) == b"READY=1"
        it.end()
        assert told.recv(100) == b"STOPPING=1"


@pytest.mark.parametrize(
    ("fake", "status", "message"),
    [
        ({"scenario": "absent"}, 3, "is the module loaded?"),
        ({"scenario": "forbidden"}, 4, "run as root"),
        ({"fail": "jobs=1"}, 4, "not permitted"),
    ],
)
def test_it_does_not_begin_without_the_module(mtsctl, host, fake, status, message):
    host.cgroup("")
    host.conf("[rule r]\ncgroup=a\n")
    shown = mtsctl("rules", "watch", **host.fake, **fake)
    assert shown.status == status
    assert message in shown.err


def test_an_error_at_the_beginning(mtsctl, host):
    host.cgroup("")
    host.conf("[rule r]\ncgrop=a\n")
    shown = mtsctl("rules", "watch", **host.fake)
    assert (shown.status, shown.out) == (2, "")


def test_a_user_who_makes_cgroups_all_the_time(watch, host):
    """The looks are neither put off for ever nor one for each."""
    host.conf("[rule r]\ncgroup=a\n")
    it = watch()
    host.cgroup("b")
    for i in range(300):
        host.cgroup(f"b/{i}").joinpath("cgroup.procs").unlink()
        if i == 100:
            host.cgroup("a")
            host.process(FIRST + 0, "/a")
        time.sleep(0.005)
    began = time.monotonic()
    assert it.read_to("/a is job") - began < 1


def test_a_user_who_makes_more_cgroups_than_can_be_watched(watch, host):
    """It ended, and took all of root's watches before: of udev, systemd and others, too."""
    limit = host.proc / "sys/fs/inotify/max_user_watches"
    limit.parent.mkdir(parents=True)
    limit.write_text("24\n")
    host.conf("[rule r]\ncgroup=z\n")
    for i in range(30):
        host.cgroup(f"b/{i}")
    it = watch()
    host.cgroup("z")
    host.process(FIRST + 0, "/z")
    began = time.monotonic()
    assert it.read_to("/z is job") - began < 8
    assert sum("fs.inotify.max_user_watches" in line for line in it.lines) == 1
    assert it.watches() in (11, 12)
    assert it.end() == (0, "")


def test_what_comes_while_there_are_too_many_jobs(watch, host):
    """A user who filled the list of jobs kept what came meanwhile from being one for ever."""
    host.conf("[rule r]\ncgroup=*\n")
    it = watch(fail="job_add=28*1")
    host.cgroup("a")
    host.process(FIRST + 0, "/a")
    it.read_to("there are 4096 jobs already")
    it.read_to("/a is job")
    assert it.end() == (0, "")


FLOOD = """
import os, sys, time
files = [os.open(path, os.O_WRONLY) for path in sys.argv[1:]]
end = time.monotonic() + 12
while time.monotonic() < end:
    for file in files:
        os.pwrite(file, b"populated 1\\nfrozen 1\\n", 0)
"""


def test_a_user_who_freezes_and_thaws_all_the_time(watch, host):
    """Each of these events was read by itself, and all else waited until there were none."""
    host.conf("[rule r]\ncgroup=z\n")
    files = [host.cgroup(f"b/{i}") / "cgroup.events" for i in range(50)]
    it = watch()
    with subprocess.Popen([sys.executable, "-c", FLOOD, *files]) as flood:
        time.sleep(1)
        host.cgroup("z")
        host.process(FIRST + 0, "/z")
        it.read_to("/z is job")
        assert it.end() == (0, "")
        assert flood.poll() is None
        flood.kill()


def test_many_cgroups_come_and_go(watch, host):
    host.conf("[rule r]\ncgroup=z\n")
    it = watch()
    for _ in range(3):
        for i in range(200):
            host.cgroup(f"b{i}")
        time.sleep(0.5)
        for i in range(200):
            shutil.rmtree(host.cgroups / f"b{i}")
    host.cgroup("z")
    host.process(FIRST + 0, "/z")
    it.read_to("/z is job")
    # Nothing of what has gone is kept, and what is there is watched.
    populate(host, "z", populated=0)
    (host.cgroups / "z/cgroup.procs").write_text("")
    time.sleep(1.2)
    (host.cgroups / "z/cgroup.procs").write_text(f"{FIRST}\n")
    populate(host, "z")
    it.read_to("/z is job")
    assert it.end() == (0, "")


def test_more_events_than_the_queue_holds(watch, host):
    """What has come is found, and of what has gone nothing is kept."""
    host.conf("[rule r]\ncgroup=z\n")
    for i in range(100):
        host.cgroup(f"b{i}")
    # The limit is reached if the 202 watches of before count, too.
    limit = host.proc / "sys/fs/inotify/max_user_watches"
    limit.parent.mkdir(parents=True)
    limit.write_text("404\n")
    it = watch()
    assert it.watches() == 202
    it.process.send_signal(signal.SIGSTOP)
    # In turns: an event like the one before is not queued.
    with (
        (host.cgroups / "b1/cgroup.events").open("r+b", 0) as one,
        (host.cgroups / "b2/cgroup.events").open("r+b", 0) as two,
    ):
        for _ in range(int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())):
            one.write(b"p")
            two.write(b"p")
    for i in range(100):
        shutil.rmtree(host.cgroups / f"b{i}")
    host.cgroup("z")
    host.process(FIRST + 0, "/z")
    it.process.send_signal(signal.SIGCONT)
    it.read_to("/z is job")
    assert it.watches() == 4
    for i in range(95):
        host.cgroup(f"c{i}")
    (host.cgroups / "z/cgroup.procs").write_text("")
    populate(host, "z", populated=0)
    time.sleep(1.2)
    (host.cgroups / "z/cgroup.procs").write_text(f"{FIRST}\n")
    populate(host, "z")
    it.read_to("/z is job")
    assert it.watches() == 194
    assert not any("max_user_watches" in line for line in it.lines)
    assert it.end() == (0, "")


def test_a_container_that_is_started_again(watch, host, mtsctl):
    """The same name, and another id: another cgroup."""
    host.conf("[rule web]\ncontainer=web\n")
    it = watch()
    for turn, letter in enumerate("abc"):
        number = letter * 64
        scope, pid = f"machine.slice/libpod-{number}.scope", FIRST + 10 * turn
        host.cgroup("machine.slice/x")
        host.process(pid + 1, "/machine.slice/x", comm="conmon")
        line = f"conmon\0-c\0{number}\0-n\0web\0"
        (host.proc / f"{pid + 1}/cmdline").write_text(line)
        host.cgroup(scope)
        host.process(pid, f"/{scope}")
        status = host.proc / f"{pid}/status"
        status.write_text(status.read_text().replace("PPid:\t1\n", f"PPid:\t{pid + 1}\n"))
        populate(host, scope)
        began = time.monotonic()
        assert it.read_to(f"{scope} is job") - began < 2
        shutil.rmtree(host.cgroups / scope)
    assert len(mtsctl.calls) == 3
