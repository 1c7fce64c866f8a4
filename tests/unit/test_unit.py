# SPDX-License-Identifier: GPL-2.0
"""The unit tests of the pure code: one case here for each cmocka test.

The names are read from the sources, so a test that did not run is a failure,
and so is a program that ran another number of tests than it has.
"""

import functools
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.build import alone

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("MTS_UNIT_BUILD", HERE.parent.parent / "build" / "unit"))
TIMEOUT = 600

SOURCES = sorted(HERE.glob("test_*.c"))
CASES = [
    (source.stem, name)
    for source in SOURCES
    for name in re.findall(r"cmocka_unit_test\((\w+)\)", source.read_text())
]


@functools.cache
def build():
    with alone():
        return subprocess.run(
            ["make", "-C", str(HERE), f"-j{os.cpu_count()}", f"BUILD={BUILD}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT,
        )


@functools.cache
def run(program):
    made = build()
    assert made.returncode == 0, made.stdout
    done = subprocess.run(
        [str(BUILD / program)],
        env={**os.environ, "CMOCKA_MESSAGE_OUTPUT": "TAP"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    verdicts = {
        name: verdict == "ok"
        for verdict, name in re.findall(r"^(ok|not ok) \d+ - (\w+)$", done.stdout, re.M)
    }
    return done.returncode, verdicts, done.stdout + done.stderr


@pytest.mark.parametrize(("program", "name"), CASES, ids=[f"{p}-{n}" for p, n in CASES])
def test_case(program, name):
    _, verdicts, output = run(program)
    assert name in verdicts, f"did not run:\n{output}"
    assert verdicts[name], output


@pytest.mark.parametrize("program", [source.stem for source in SOURCES])
def test_program(program):
    status, verdicts, output = run(program)
    assert status == 0, f"exit status {status}:\n{output}"
    assert verdicts, f"no test was run:\n{output}"
    assert set(verdicts) == {name for p, name in CASES if p == program}, output


def test_there_are_tests():
    assert len(SOURCES) >= 4
    assert CASES
