# SPDX-License-Identifier: GPL-2.0
"""What all packages are made of."""

import subprocess
from pathlib import Path

import pytest

from bench.lab import ROOT
from tests.build import alone

# Debian's.
LIBDIR = "usr/lib/x86_64-linux-gnu"


@pytest.fixture(scope="session")
def installed(tmp_path_factory) -> Path:
    """What packages install, before it is divided."""
    root = tmp_path_factory.mktemp("root")
    with alone():
        done = subprocess.run(
            [
                *("make", "-s", "-C", ROOT, "install-mtsd", "install-libmts", "install-dkms"),
                *("install-python", f"LIBDIR=/{LIBDIR}"),
                *(f"DESTDIR={root}", "PREFIX=/usr", "PYTHONDIR=/usr/lib/python3/dist-packages"),
            ],
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    return root
