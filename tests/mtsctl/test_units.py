# SPDX-License-Identifier: GPL-2.0
"""The C tests: parsers (tables, round trips, random bytes) and ipc.c."""

import subprocess

import pytest


@pytest.mark.parametrize("program", ["test_parse", "test_ipc"])
def test_c_program(built, program):
    done = subprocess.run([built / program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
