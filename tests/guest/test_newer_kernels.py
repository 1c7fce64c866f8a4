# SPDX-License-Identifier: GPL-2.0
"""Newer kernels, as far as tools/newer-kernels has made systems of them (.ci/run does).

Not all of `make test-newer`: that the module builds as it is now, that it is loaded and unloaded,
and what hangs on the kernel's own structures most, bringing bins back.
"""

import re
import subprocess
from pathlib import Path

import pytest

from bench.lab import ROOT, kernel

SUITES = sorted(its.tree.name for its in kernel.newer())
PROGRAMS = ("test_load", "test_bring_back")

pytestmark = pytest.mark.skipif(not SUITES, reason="no newer kernels: make newer")


def succeeds(*command: str | Path) -> str:
    """What it says."""
    done = subprocess.run(
        command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module", params=SUITES or ("none",))
def suite(request: pytest.FixtureRequest) -> str:
    """One whose kernel has the module as it is now."""
    said = succeeds(ROOT / "tools/newer-kernels", request.param)
    assert re.match(rf"{request.param}: .*: built$", said.splitlines()[-1]), said
    return request.param


@pytest.mark.parametrize("program", PROGRAMS)
def test_guest_program(suite: str, program: str) -> None:
    """All of its tests pass there, and the kernel has no complaint."""
    said = succeeds(ROOT / "tests/guest/on_kernel.py", suite, program)
    assert f"{program}: " in said
