# SPDX-License-Identifier: GPL-2.0
"""Builds the programs."""

import os
import subprocess

import pytest

from tests.build import alone
from tests.rotor.program import HERE


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    """Build both programs."""
    with alone():
        done = subprocess.run(
            ["make", "-s", "-C", HERE, f"-j{os.cpu_count()}"],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
