# SPDX-License-Identifier: GPL-2.0
"""mtsctl rules watch: what comes becomes a job, too."""

import signal
import socket
import subprocess
import time

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
