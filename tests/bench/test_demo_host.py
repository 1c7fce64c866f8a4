# SPDX-License-Identifier: GPL-2.0
"""bench/demo-host: what it says, what it refuses, and that Ctrl-C leaves nothing behind."""

import importlib.machinery
import importlib.util
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from bench.lab import ROOT
from bench.native import NativeError, host, live
from tests.bench.on_host import alone_on_host, nothing_is_left, on_host  # noqa: F401

SCRIPT = ROOT / "bench" / "demo-host"
pytest.importorskip("rich", reason="tools/setup host installs it")


@pytest.fixture(scope="module")
def demo():
    """The script as a module."""
    loader = importlib.machinery.SourceFileLoader("demo_host", str(SCRIPT))
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader("demo_host", loader))
    sys.modules["demo_host"] = made  # its dataclasses look there
    loader.exec_module(made)
    yield made
    del sys.modules["demo_host"]


def outcome(finished: bool, work: float, series: list[tuple[float, float, int]]) -> dict:
    """Of the driver. @series: time, work, pages out in that second."""
    return {
        "finished": finished,
        "elapsed": series[-1][0],
        "work": work,
        "series": [dict(zip(("t", "work", "pswpout"), entry, strict=True)) for entry in series],
        "jobs": [{"longest_pause": 2.0}],
    }


def test_the_time_of_a_run_that_is_done(demo):
    assert demo.seconds_for_all(outcome(True, 1.0, [(44.0, 1.0, 0)])) == 44


def test_the_rate_counts_from_when_memory_is_full(demo):
    full = (demo.JOBS * demo.SIZE - demo.MEMORY) // host.PAGE
    # A tenth of the work while memory was not full yet, then a hundredth in ten seconds.
    found = demo.seconds_for_all(
        outcome(False, 0.11, [(10.0, 0.1, full), (15.0, 0.105, 9), (20.0, 0.11, 9)])
    )
    assert found == pytest.approx(20 + 0.89 / 0.001)


def test_no_work_has_no_rate(demo):
    full = (demo.JOBS * demo.SIZE - demo.MEMORY) // host.PAGE
    assert demo.seconds_for_all(outcome(False, 0.0, [(10.0, 0.0, full), (20.0, 0.0, 9)])) is None


def test_the_work_of_a_job():
    head = struct.pack("=II56x", 0x574F524B, 3)
    slots = [struct.pack("=QQ48x", *slot) for slot in ((5, 10), (20, 10), (7, 0))]
    assert live.work_of(head + b"".join(slots) + bytes(64)) == 0.75
    assert live.work_of(b"") == 0


def test_as_somebody_else_than_root():
    if os.geteuid():
        command = [sys.executable, SCRIPT]
    else:
        # Its source is read as root.
        script = (
            "import os, sys; sys.argv = ['demo-host']; source = open('bench/demo-host').read();"
            "sys.path.insert(0, ''); import bench.native.suites, rich.live, rich.table;"
            "os.setresuid(65534, 65534, 65534);"
            "exec(compile(source, 'bench/demo-host', 'exec'), {'__name__': '__main__',"
            " '__file__': 'bench/demo-host'})"
        )
        command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "demo-host: it makes cgroups and swap: run it as root (sudo make demo-host)\n"
    )


def test_too_little_memory(demo, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(host, "meminfo", lambda name: 1 << 30)
    monkeypatch.setattr(sys, "argv", ["demo-host"])
    with pytest.raises(NativeError, match="it needs 1536 MiB of free memory"):
        demo.run(demo.parse(), demo.Console(quiet=True))


@on_host
def test_too_little_disk(demo, monkeypatch, capsys, tmp_path: Path):
    monkeypatch.setattr(demo.suites, "ten", lambda shape: [])
    free = SimpleNamespace(free=1 << 30)
    monkeypatch.setattr(host.shutil, "disk_usage", lambda path: free)
    monkeypatch.setattr(sys, "argv", ["demo-host", "--swap-on", str(tmp_path)])
    assert demo.main() == 1
    assert "does not fit" in capsys.readouterr().err
    assert nothing_is_left()


@on_host
def test_ctrl_c_leaves_the_host_as_it_was(tmp_path: Path):
    shown = subprocess.Popen(
        [sys.executable, SCRIPT, "--swap-on", tmp_path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    root, version = host._place()
    procs = host.Limit(root / host.NAME, version, None).jobs / "cgroup.procs"
    until = time.monotonic() + 60
    while not (procs.exists() and len(procs.read_text("ascii").split()) >= 5):
        if time.monotonic() > until or shown.poll() is not None:
            break
        time.sleep(0.05)
    os.killpg(shown.pid, signal.SIGINT)
    _, errors = shown.communicate(timeout=60)
    assert shown.returncode == 130, errors
    assert "all is undone" in errors
    assert nothing_is_left()
    assert not list(tmp_path.iterdir())
