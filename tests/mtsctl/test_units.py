# SPDX-License-Identifier: GPL-2.0
"""The C tests: parsers (tables, round trips, random bytes), ipc.c and the model of top."""

import subprocess

import pytest


@pytest.mark.parametrize("program", ["test_parse", "test_watch", "test_ipc", "test_top"])
def test_c_program(built, program):
    done = subprocess.run([built / program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
