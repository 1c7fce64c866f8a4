# SPDX-License-Identifier: GPL-2.0
"""make install: all that docs/howto.md starts after it."""

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
