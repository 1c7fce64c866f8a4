# SPDX-License-Identifier: GPL-2.0
"""make install: all that docs/howto.md starts after it."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def commands() -> str:
    """What it would do, without a kernel to build for."""
    built = [word for name in ("kdir", "install-kdir", "module") for word in ("-o", name)]
    return subprocess.run(
        ["make", "-n", "-C", ROOT, *built, "install", "DESTDIR=/to"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout


@pytest.mark.parametrize(
    "file",
    [
        "sbin/mtsctl",
        "sbin/mtsd",
        "lib/systemd/system/mts.service",
        "lib/systemd/system/mts-users.service",
        "lib/sysusers.d/mts.conf",
    ],
)
def test_file(commands: str, file: str) -> None:
    """Fault: users had no door to the module, as mtsd was not installed."""
    assert re.search(rf"/to/usr/local/{re.escape(file)}\s", commands)


def test_module(commands: str) -> None:
    """The module as well."""
    assert " modules_install\n" in commands


@pytest.fixture
def systemctl(tmp_path, monkeypatch) -> Path:
    """One that writes down what it is asked for."""
    log = tmp_path / "log"
    fake = tmp_path / "bin/systemctl"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\necho "$@" >>{log}\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    return log


def test_uninstall_stops_services_first(systemctl, tmp_path, monkeypatch) -> None:
    """Fault: they ran on from files that were gone, and were enabled for the next boot."""
    units = tmp_path / "lib/systemd/system"
    units.mkdir(parents=True)
    for name in ("mts.service", "mts-users.service", "mts-container@.service", "other.service"):
        (units / name).touch()
    command = ["make", "-n", "-C", str(ROOT), "uninstall", f"PREFIX={tmp_path}"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    steps = [line for line in said.splitlines() if not line.startswith("make")]
    assert steps[0] == f"tools/stop-services {units}"
    monkeypatch.setenv("SYSTEMD_RUNS", str(tmp_path))
    subprocess.run(steps[0].split(), check=True, cwd=ROOT)
    assert systemctl.read_text().splitlines() == [
        "stop mts-container@*.service",
        "--quiet disable --now mts-users.service",
        "--quiet disable --now mts.service",
    ]


def test_uninstall_below_another_root_stops_nothing(systemctl, tmp_path, monkeypatch) -> None:
    """Packages and images; nor where systemd does not run."""
    command = ["make", "-n", "-C", str(ROOT), "uninstall", f"DESTDIR={tmp_path}"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "stop-services" not in said
    (tmp_path / "mts.service").touch()
    monkeypatch.setenv("SYSTEMD_RUNS", str(tmp_path / "none"))
    subprocess.run([ROOT / "tools/stop-services", tmp_path], check=True)
    assert not systemctl.exists()
