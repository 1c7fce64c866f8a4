# SPDX-License-Identifier: GPL-2.0
"""Builds mtsctl with ASan and UBSan, and runs it against a fake of the module."""

import contextlib
import os
import pty
import re
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.build import alone

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Of fake_ipc.c: what everything that shows the state is shown.
SCENARIOS = ["idle", "empty", "off", "switching", "ending", "oom", "many", "newer"]
SOURCES = ROOT / "userspace" / "mtsctl"
BUILD = Path(os.environ.get("BUILD", ROOT / "build")).resolve()
SANITIZED = BUILD / "mtsctl-asan"


@dataclass
class Result:
    status: int
    out: str
    err: str


def fill_output(process):
    """A full pipe, as a reader that does not read leaves it."""
    pipe = os.open(f"/proc/{process.pid}/fd/1", os.O_WRONLY | os.O_NONBLOCK)
    try:
        while True:
            os.write(pipe, b"\n" * 4096)
    except BlockingIOError:
        pass
    os.close(pipe)


class Mtsctl:
    """mtsctl with a fake module; keyword arguments become MTS_FAKE_* variables."""

    def __init__(self, program, tmp_path):
        self.program = program
        self.log_path = tmp_path / "calls"

    def environment(self, scenario="idle", **fake):
        env = {k: v for k, v in os.environ.items() if not k.startswith("MTS_FAKE")}
        env.update(
            ASAN_OPTIONS="detect_leaks=1:exitcode=99",
            UBSAN_OPTIONS="exitcode=99",
            MTS_FAKE=scenario,
            MTS_FAKE_LOG=str(self.log_path),
        )
        env.update({f"MTS_FAKE_{k.upper()}": str(v) for k, v in fake.items()})
        return env

    def __call__(self, *args, text=None, **fake):
        done = subprocess.run(
            [self.program, *args],
            env=self.environment(**fake),
            input=text,
            capture_output=True,
            timeout=60,
            encoding="utf-8",
            errors="surrogateescape",
        )
        assert "Sanitizer" not in done.stderr, done.stderr
        assert "runtime error" not in done.stderr, done.stderr
        return Result(done.returncode, done.stdout, done.stderr)

    def at_terminal(self, *args, **fake):
        """Run it at a terminal with a user. Return: what it says."""
        child, terminal = pty.fork()
        if not child:
            os.execve(self.program, [str(self.program), *args], self.environment(**fake))
        said = b""
        with contextlib.suppress(OSError):
            while part := os.read(terminal, 4096):
                said += part
        os.waitpid(child, 0)
        os.close(terminal)
        return said.decode()

    def to_full_disk(self, *args):
        """Run it with a standard output that takes nothing."""
        with open("/dev/full", "w") as full:
            return subprocess.run(
                [self.program, *args],
                env=self.environment(),
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
            )

    @property
    def calls(self):
        return self.log_path.read_text().splitlines() if self.log_path.exists() else []


@pytest.fixture(scope="session")
def built():
    """The directory with the sanitized programs."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    with alone():
        done = subprocess.run(
            ["make", "-C", str(HERE), "-j4", f"BUILD={BUILD}"],
            env=env,
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return SANITIZED


@pytest.fixture(scope="session")
def sources():
    return SOURCES


@pytest.fixture
def mtsctl(built, tmp_path):
    return Mtsctl(built / "mtsctl-fake", tmp_path)


def prometheus(name):
    """promtool, or prometheus: installed, or what tools/setup has unpacked; None: neither."""
    unpacked = BUILD / "prometheus" / "usr" / "bin" / name
    return shutil.which(name) or (unpacked if unpacked.exists() else None)


NO_PROMETHEUS = (
    "{} is missing: `tools/setup test` unpacks it from Debian's package prometheus, "
    "19 MB to download, 96 MB on the disk"
)


@pytest.fixture(scope="session")
def promtool():
    program = prometheus("promtool")
    if not program:
        pytest.skip(NO_PROMETHEUS.format("promtool"))

    def call(*words, text=None):
        return subprocess.run(
            [program, *words], input=text, capture_output=True, text=True, timeout=120
        )

    return call


@pytest.fixture(scope="session")
def systemd():
    """Its tools; it need not run."""
    for name in ("systemd-analyze", "systemd-socket-activate"):
        if not shutil.which(name):
            pytest.skip(f"{name} is missing: it is in Debian's package systemd")


class MetricsPort:
    """What mts-metrics.socket does, with the command of its service, and a fake module."""

    def __init__(self, mtsctl, units, *options, scenario="rotating"):
        text = (units / "mts-metrics@.service").read_text()
        (words,) = re.findall(r"^ExecStart=\S+/mtsctl (.*)$", text, re.MULTILINE)
        words = words.replace("$MTS_METRICS_OPTIONS", " ".join(options)).split()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.number = free.getsockname()[1]
        self.scenario = mtsctl.log_path.parent / "scenario"
        self.play(scenario)
        # What it starts gets no environment but this.
        program = mtsctl.log_path.parent / "metrics"
        program.write_text(
            f'#!/bin/sh\nMTS_FAKE=$(cat {self.scenario}) exec {mtsctl.program} "$@"\n'
        )
        program.chmod(0o755)
        listen = ["--listen", f"127.0.0.1:{self.number}", "--accept", "--inetd"]
        self.process = subprocess.Popen(
            ["systemd-socket-activate", *listen, program, *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        until(self.listens, 30)

    def play(self, scenario):
        """From the next request on."""
        self.scenario.write_text(scenario)

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.number)).close()
        except ConnectionRefusedError:
            return False
        return True

    def close(self):
        self.process.terminate()
        self.process.wait(30)


def until(condition, seconds):
    """Wait for it, and say what it was."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it does not come true"
        time.sleep(0.1)
    return found


class FakeHost:
    """A /proc, a cgroup tree and an /etc/mts of plain files."""

    def __init__(self, path):
        self.proc = path / "proc"
        self.cgroups = path / "cgroups"
        self.etc = path / "etc"
        self.proc.mkdir()
        self.cgroups.mkdir()
        self.meminfo(total_kib=1000 * 1024, available_kib=800 * 1024)

    @property
    def fake(self):
        return {"proc": self.proc, "cgroups": self.cgroups, "etc": self.etc}

    def conf(self, text, name="mts.conf"):
        file = self.etc / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        # Whatever the umask of the tests is: what others can write is refused.
        for path, mode in ((file, 0o644), (file.parent, 0o755), (self.etc, 0o755)):
            path.chmod(mode)
        return file

    def meminfo(self, total_kib, available_kib, slab_kib=0):
        (self.proc / "meminfo").write_text(
            f"MemTotal: {total_kib:>12} kB\nMemFree:  1 kB\nMemAvailable: {available_kib:>9} kB\n"
            f"SReclaimable: {slab_kib:>9} kB\n"
        )

    def vitals(self, swap_free_kib=0, load="0.50", swap_total_kib=0, **vmstat):
        """The rest of what tells whether the host suffers."""
        self.meminfo(total_kib=1000 * 1024, available_kib=800 * 1024)
        with open(self.proc / "meminfo", "a") as file:
            file.write(f"SwapTotal: {swap_total_kib:>11} kB\nSwapFree: {swap_free_kib:>12} kB\n")
        lines = [f"{key} {value}\n" for key, value in vmstat.items()]
        (self.proc / "vmstat").write_text("nr_free_pages 1\n" + "".join(lines))
        (self.proc / "loadavg").write_text(f"{load} 0.40 0.30 1/200 4711\n")

    def cgroup(self, path, current=None, swap=0, frozen=0, **stat):
        directory = self.cgroups / path
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "cgroup.procs").write_text("")
        (directory / "cgroup.events").write_text(f"populated 1\nfrozen {frozen}\n")
        if current is not None:
            (directory / "memory.current").write_text(f"{current}\n")
            (directory / "memory.swap.current").write_text(f"{swap}\n")
            lines = [f"{key} {value}\n" for key, value in stat.items()]
            (directory / "memory.stat").write_text("anon 1\n" + "".join(lines))
        return directory

    def process(self, pid, cgroup, comm="worker", flags=0, environ=None, *, uid=1000, groups=()):
        directory = self.proc / str(pid)
        directory.mkdir()
        (directory / "status").write_text(
            f"Name:\t{comm}\nPPid:\t1\nUid:\t9\t{uid}\t9\t9\nGid:\t9\t{uid}\t9\t9\n"
            f"Groups:\t{' '.join(map(str, groups))} \n"
        )
        (directory / "comm").write_text(comm + "\n")
        (directory / "cgroup").write_text(f"4:memory:/v1\n1:name=systemd:/\n0::{cgroup}\n")
        (directory / "stat").write_text(f"{pid} ({comm}) S 1 1 1 0 -1 {flags} 0 0 0\n")
        if environ is not None:
            (directory / "environ").write_bytes(b"".join(e.encode() + b"\0" for e in environ))
        procs = self.cgroups / cgroup.lstrip("/") / "cgroup.procs"
        if procs.exists():
            procs.write_text(procs.read_text() + f"{pid}\n")


@pytest.fixture
def host(tmp_path):
    return FakeHost(tmp_path)
