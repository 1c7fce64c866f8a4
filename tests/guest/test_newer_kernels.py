# SPDX-License-Identifier: GPL-2.0
"""Newer kernels, as far as tools/newer-kernels has made systems of them (make newer).

Not all of `make test-newer`: that the module builds as it is now, that it is loaded and unloaded,
and that shared memory, huge pages and several swap disks come back as they should.
"""

import re
import subprocess
from pathlib import Path

import pytest

from bench.lab import ROOT, kernel
from tests.guest import harness

SUITES = ("trixie", "sid")
# On the others the module is only built: CI's time.
RUN_ON = ("trixie",)
PROGRAM = "test_kinds"


def call(*command: str | Path) -> subprocess.CompletedProcess:
    """Its status, and what it says."""
    return subprocess.run(
        command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900
    )


@pytest.fixture(scope="module", params=SUITES)
def suite(request: pytest.FixtureRequest) -> str:
    """One whose kernel has the module as it is now."""
    if request.param not in [its.tree.name for its in kernel.newer()]:
        pytest.skip(f"no system of {request.param}: make newer")
    made = call(ROOT / "tools/newer-kernels", request.param)
    if made.returncode == 2:
        pytest.skip(made.stdout)
    assert made.returncode == 0, made.stdout
    assert re.match(rf"{request.param}: .*: built$", made.stdout.splitlines()[-1]), made.stdout
    return request.param


def test_guest_program(suite: str) -> None:
    """The module builds; all of the program's tests pass, and the kernel has no complaint."""
    if suite not in RUN_ON:
        return
    harness.build("static", "guest-tests")
    done = call(ROOT / "tests/guest/on_kernel.py", suite, PROGRAM)
    assert done.returncode == 0, done.stdout
    assert f"{PROGRAM}: " in done.stdout
