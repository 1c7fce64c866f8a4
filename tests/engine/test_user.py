# SPDX-License-Identifier: GPL-2.0
"""`mtsd --user`: without root, in cgroups that are delegated to a user, as systemd does."""

import ctypes
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.engine import engine as host
from tests.engine.engine import MIB, MTSCTL, MTSD, until

NOBODY = 65534
PAGEOUT = 21
WORDS = ("mode=always", f"bin_bytes={150 * MIB}", "slice_ms=300")
JOBS = [f"job{i}" for i in range(4)]


class UserEngine(host.Engine):
    """A mtsd of nobody. `top` is what user@UID.service is: the user's, with cgroups below."""

    def __init__(self):
        super().__init__()
        self.top = self.outside
        self.base = self.top / "mts"
        os.chown(self.dir, NOBODY, NOBODY)
        for cgroup in (self.top / "daemon", self.top / "shell"):
            cgroup.mkdir()
        for cgroup in (self.top, self.top / "daemon", self.top / "shell"):
            for path in (cgroup, *(cgroup / f"cgroup.{n}" for n in ("procs", "subtree_control"))):
                os.chown(path, NOBODY, NOBODY)
        self.socket = self.dir / "mts" / "socket"

    def command(self, cgroup, *words, caps=""):
        """A command of the user in a cgroup; None: in this one."""
        enter = f"echo 0 >{cgroup}/cgroup.procs && " if cgroup else ""
        rights = f"--inh-caps={caps} --ambient-caps={caps}" if caps else ""
        who = f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups {rights}"
        what = " ".join(map(str, words))
        return ["/bin/sh", "-c", f"{enter}XDG_RUNTIME_DIR={self.dir} exec {who} {what}"]

    def start(self, *words, caps="", program=MTSD):
        command = self.command(self.top / "daemon", program, "--user", *words, caps=caps)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stderr=log)
        until(lambda: self.answers() or self.process.poll() is not None, 10)
        assert self.process.poll() is None, self.log.read_text()

    def client(self):
        return host.Client(self.socket)

    def thaw_left(self):
        command = self.command(None, MTSD, "--user", "--thaw")
        return subprocess.run(command, capture_output=True, text=True)

    def mtsctl(self, *words, check=False, cgroup=None):
        command = self.command(cgroup, MTSCTL, "--user", *words)
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert not check or not done.returncode, f"{done.stderr}{self.log.read_text()}"
        return done

    def run(self, *words):
        command = self.command(self.top / "shell", MTSCTL, "--user", "run", *words)
        self.jobs.append(subprocess.Popen(command, stderr=subprocess.PIPE))
        return self.jobs[-1]

    def cgroups(self):
        return [Path(path) for path, _, _ in os.walk(self.top, topdown=False)]

    def show(self, what):
        return json.loads(self.mtsctl(what, "--json", check=True).stdout)


@pytest.fixture
def user(swap):
    it = UserEngine()
    yield it
    it.close()


def start_jobs(user):
    for name in JOBS:
        user.touch(name, 64)
    assert until(lambda: all(user.is_full(name) for name in JOBS), 60), user.report()
    user.mtsctl("set", "mode=always", check=True)
    assert until(user.frozen, 30), user.report()


def expect_progress(user):
    before = {name: user.pages(name) for name in JOBS}
    assert until(lambda: all(user.pages(n) > before[n] + 1000 for n in JOBS), 60), user.report()


def test_jobs_of_a_user_take_turns(user):
    user.start(*WORDS)
    assert os.stat(f"/proc/{user.process.pid}").st_uid == NOBODY
    start_jobs(user)
    expect_progress(user)
    assert until(lambda: user.show("stats")["switches"] > 3, 60)
    assert user.show("stats")["freeze_timeouts"] == 0
    state = user.show("status")
    assert len(state["bins"]) == 2
    assert all(60 * MIB < job["demand"] < 70 * MIB for job in state["jobs"])
    assert user.stop(signal.SIGTERM) == 0
    assert not user.frozen()


def test_it_locks_no_memory_within_a_limit(user):
    """Else it would be at its limit, and no thread could be made."""
    user.start("mode=off", caps="")
    status = Path(f"/proc/{user.process.pid}/status").read_text()
    assert "VmLck:\t       0 kB" in status


@pytest.mark.parametrize("run", range(6))
def test_whatever_is_killed_nothing_stays_frozen(user, run):
    user.start(*WORDS)
    start_jobs(user)
    guardian = user.guardian()
    if run % 2:
        os.kill(guardian, signal.SIGKILL)
        assert until(lambda: user.guardian() not in (guardian, 0), 5)
        assert until(user.frozen, 30), user.report()
    user.stop(signal.SIGKILL)
    assert until(lambda: not user.frozen(), 1, 0.001), user.frozen()
    expect_progress(user)


def test_what_both_leave_frozen_the_unit_thaws(user):
    user.start(*WORDS)
    start_jobs(user)
    assert until(user.frozen)
    for pid in (user.guardian(), user.process.pid):
        os.kill(pid, signal.SIGKILL)
    user.process.wait()
    done = user.thaw_left()
    assert not done.returncode, done.stderr
    assert not user.frozen()
    expect_progress(user)


def test_with_sys_nice_jobs_leave_memory_and_come_back_in_bulk(user):
    user.start(*WORDS, caps="+sys_nice")
    start_jobs(user)
    user.mtsctl("set", "evict=full", check=True)
    assert until(lambda: user.show("stats")["evict_got"] > 128 * MIB, 60), user.report()
    assert until(lambda: user.show("stats")["brought_back"] > 10000, 60), user.report()
    expect_progress(user)


def page_out(pid):
    """As the kernel would, if memory were short."""
    libc = ctypes.CDLL(None, use_errno=True)
    fd = os.pidfd_open(pid)
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        start, end = (int(word, 16) for word in line.split()[0].split("-"))
        if line.split()[1].startswith("rw") and end - start > MIB:
            vector = (ctypes.c_size_t * 2)(start, end - start)
            libc.syscall(440, fd, vector, ctypes.c_size_t(1), PAGEOUT, 0)
    os.close(fd)


def test_without_rights_they_come_back_by_faults(user):
    """There is no memory controller here: what cannot be evicted is not brought back."""
    user.start(*WORDS)
    start_jobs(user)

    def switches():
        for name in user.frozen():
            procs = user.base / name / "cgroup.procs"
            if procs.exists():
                page_out(int(procs.read_text().split()[0]))
        return user.show("stats")["switches"] > 20

    assert until(switches, 60), user.report()
    assert "no CAP_SYS_NICE" in user.log.read_text()
    stats = user.show("stats")
    assert (stats["evict_got"], stats["brought_back"]) == (0, 0)
    expect_progress(user)


# ---- what is refused ---------------------------------------------------------------------


def test_a_process_of_a_login_session_is_told_what_to_do(user):
    """It is in a cgroup that is not the user's."""
    user.start("mode=off")
    done = user.mtsctl("run", "true")
    assert done.returncode == 125
    assert "systemd-run --user --scope" in done.stderr
    assert not user.show("status")["jobs"]


def test_a_process_alone(user):
    user.start("mode=off")
    command = user.command(user.top / "shell", "sleep", "60")
    user.jobs.append(subprocess.Popen(command))
    user.jobs.append(subprocess.Popen(command))
    procs = user.top / "shell" / "cgroup.procs"
    assert until(lambda: len(procs.read_text().split()) == 2)
    pid = user.jobs[-1].pid
    assert until(lambda: Path(f"/proc/{pid}/comm").read_text() == "sleep\n")
    user.mtsctl("add", "--pid", pid, check=True)
    assert (user.top / "shell" / f"sleep-{pid}").is_dir()
    user.mtsctl("remove", f"sleep-{pid}", check=True)
    assert len(procs.read_text().split()) == 2
    # One of root, in root's cgroup.
    other = subprocess.Popen(["sleep", "60"])
    user.jobs.append(other)
    done = user.mtsctl("add", "--pid", other.pid)
    assert done.returncode == 4
    assert "delegated" in done.stderr
    assert not user.show("status")["jobs"]


def test_outside_of_what_is_delegated_it_does_not_start(user):
    command = user.command(None, MTSD, "--user", f"cgroup_base={host.mount()}/mts-of-nobody")
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "systemctl --user start mtsd" in done.stderr
    assert "Permission denied" in done.stderr


@pytest.mark.parametrize(("program", "status"), [(MTSD, 2), (MTSCTL, 3)])
def test_without_a_runtime_directory(built, program, status):
    words = [program, "--user"] + ["status"] * (program == MTSCTL)
    environment = {k: v for k, v in os.environ.items() if k != "XDG_RUNTIME_DIR"}
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert done.returncode == status
    assert "XDG_RUNTIME_DIR is not set" in done.stderr


def test_the_environment_names_the_users_mtsd(user):
    user.start("mode=off")
    words = f"env MTS_ENGINE=user {MTSCTL} status".split()
    done = subprocess.run(user.command(None, *words), capture_output=True, text=True)
    assert not done.returncode, done.stderr
    assert "mtsd, in user space" in done.stdout


def test_a_file_capability_is_enough(user):
    """As an administrator gives it."""
    if not shutil.which("setcap"):
        pytest.skip("no setcap here")
    program = user.dir / "mtsd"
    shutil.copy(MTSD, program)
    subprocess.run(["setcap", "cap_sys_nice+ep", program], check=True)
    user.start(*WORDS, program=program)
    start_jobs(user)
    user.mtsctl("set", "evict=full", check=True)
    assert until(lambda: user.show("stats")["evict_got"] > 128 * MIB, 60), user.report()
    assert until(lambda: user.show("stats")["brought_back"] > 10000, 60), user.report()
    user.stop(signal.SIGKILL)
    assert until(lambda: not user.frozen(), 1, 0.001), user.frozen()
