# SPDX-License-Identifier: GPL-2.0
"""What the rotor thinks in its thread alone, in instructions, counted by callgrind.

The module's sources, compiled as the kernel compiles them (-O2) but for user space. Planning a
round of as many jobs as there can be: at 1 ns an instruction five million are 5 ms, which is what
the rotor may think before each round. Ordering the pages of a bin by their places in swap.
"""

import functools
import itertools
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.build import make

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("MTS_UNIT_BUILD", HERE.parent.parent / "build" / "unit"))

BUDGET = 5_000_000
MAX_JOBS = "4096"
FEW_JOBS = "512"  # of more their ties are not packed, as MTS_PLAN_MANY says
SIZES = ("constant:256M", "uniform:1M..512M", "lognormal:128M,1")
PACKERS = ("ffd", "bfd", "rw")
BINS = ("4", "200", "1000", "2000", "3000")  # about; 3000: few jobs fit together
FEW_BINS = ("4", "25", "250")
TIES = ("pairs", "chains", "stars", "random")


def cases(jobs, bins, rounds, ties, rest):
    """The rest: residents, threads and STEP; without STEP bins do not overlap."""
    rest = rest if rest.count(" ") > 1 else f"{rest} bin"
    words = itertools.product([jobs], SIZES, PACKERS, bins, rounds, ties, [rest])
    return [" ".join(case) for case in words]


# Where all jobs have pause limits of their own they are planned up to five times (PASSES in
# policy/limits.c): 25 ms.
LIMITS_BUDGET = 5 * BUDGET

# With step=auto jobs are planned as bins and as groups. To sort the jobs and to place them is the
# same each time: 10 ms. A tenth more: what bins carry for weights is copied and looked at, too.
AUTO_BUDGET = 2 * BUDGET + BUDGET // 5

# The rest: one of so many jobs is resident (0: none; claims: all ask for it), and so many threads
# a job has at most. Of the most jobs ties are not packed, so a shape of theirs costs as much as
# another; "random" draws other jobs as well. All shapes are counted of fewer jobs.
CASES = [
    *cases(MAX_JOBS, BINS, ["0"], ["none"], "0 1"),
    *cases(MAX_JOBS, BINS, ["2"], ["chains", "random"], "0 4"),
    *cases(MAX_JOBS, BINS, ["2"], ["none", "random"], "8 4"),
    *cases(MAX_JOBS, BINS, ["2"], ["stars"], "claims 4"),
    *cases(FEW_JOBS, FEW_BINS, ["2"], TIES, "0 4"),
]
LIMITS_CASES = [
    *cases(MAX_JOBS, BINS, ["0"], ["none"], "limits 4"),
    *cases(MAX_JOBS, BINS, ["0"], ["none"], "limits 4 auto2"),
]
# What a MiB takes is not known, or it is 2 ms: as the disks that are.
AUTO_CASES = [
    *cases(MAX_JOBS, BINS, ["0"], ["none"], "0 1 auto0"),
    *cases(MAX_JOBS, BINS, ["0"], ["none"], "0 4 auto2"),
    *cases(MAX_JOBS, BINS, ["2"], ["random"], "8 4 auto0"),
    *cases(MAX_JOBS, BINS, ["2"], ["random"], "8 4 auto2"),
    *cases(FEW_JOBS, FEW_BINS, ["2"], ["random"], "0 4 auto0"),
]


# Pages, and in runs of how many they lie in swap. A page takes more than 20000 instructions to be
# evicted and brought back (docs/performance.md).
ORDERS = ["262144 1", "262144 64", "262144 262144"]
ORDER_BUDGET = 400  # a page

# A storm of births: half of all jobs come while the other half is there. Their parents, the bins,
# and which bins have room. A job takes as much of few as of many: 2048 of them a millisecond, which
# is what the rotor may keep the lock in a tick.
STORMS = [
    f"{jobs} {families} {bins} {room}"
    for jobs, families, bins in (
        (256, 1, 4), (2048, 1, 4), (2048, 1, 2048), (2048, 2048, 4), (2048, 2048, 2048)
    )
    for room in ("none", "last", "each", "beside")
]  # fmt: skip
STORM_BUDGET = 500  # a job


def count(program, words):
    """Instructions by case."""
    assert shutil.which("valgrind"), "valgrind counts the instructions: tools/setup test"
    make(HERE, "cost", f"BUILD={BUILD}")
    out = BUILD / f"{program}.callgrind"
    for old in BUILD.glob(f"{out.name}*"):
        old.unlink()
    subprocess.run(
        [
            "valgrind",
            "--tool=callgrind",
            "--instr-atstart=no",
            f"--callgrind-out-file={out}",
            BUILD / program,
            *words,
        ],
        check=True,
        capture_output=True,
        timeout=600,
    )
    found = {}
    for dump in BUILD.glob(f"{out.name}.*"):
        text = dump.read_text()
        label = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.M)
        total = re.search(r"^totals: (\d+)", text, re.M)
        if label:
            found[label[1]] = int(total[1])
    return found


@functools.cache
def counted():
    words = [word for case in [*CASES, *LIMITS_CASES] for word in case.split()]
    return count("plan_cost", words)


@functools.cache
def counted_both_ways():
    return count("plan_cost", [word for case in AUTO_CASES for word in case.split()])


@functools.cache
def counted_orders():
    return count("order_cost", [word for case in ORDERS for word in case.split()])


@functools.cache
def counted_storms():
    return count("newcomers_cost", [word for case in STORMS for word in case.split()])


@pytest.mark.parametrize("case", CASES)
def test_planning_is_within_its_budget(case):
    instructions = counted()[case]
    assert instructions < BUDGET, f"{instructions} instructions"
    # That something was counted at all: each job is looked at a few times.
    assert instructions > int(case.split()[0]) * 20


@pytest.mark.parametrize("case", AUTO_CASES)
def test_planning_both_ways_is_within_its_budget(case):
    instructions = counted_both_ways()[case]
    assert instructions < AUTO_BUDGET, f"{instructions} instructions"
    assert instructions > int(case.split()[0]) * 40


@pytest.mark.parametrize("case", LIMITS_CASES)
def test_planning_with_limits_is_within_its_budget(case):
    instructions = counted()[case]
    assert instructions < LIMITS_BUDGET, f"{instructions} instructions"


@pytest.mark.parametrize("case", ORDERS)
def test_ordering_a_bin_is_within_its_budget(case):
    a_page = counted_orders()[case] / int(case.split()[0])
    assert 5 < a_page < ORDER_BUDGET, f"{a_page:.0f} instructions a page"


@pytest.mark.parametrize("case", STORMS)
def test_placing_newcomers_is_within_its_budget(case):
    a_job = counted_storms()[case] / int(case.split()[0])
    assert 20 < a_job < STORM_BUDGET, f"{a_job:.0f} instructions a job"
