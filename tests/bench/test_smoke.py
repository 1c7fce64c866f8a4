# SPDX-License-Identifier: GPL-2.0
"""One suite's smoke point, in guests: under mts, stock and ideal.

All guests run at the beginning; the tests look at what came out. test_smoke_suites.py has the
other suites, and runs this one once more.
"""

import dataclasses
import functools

import pytest

from bench.lab import pool, results
from tests.bench import smoke

SUITE = "syn8"
RUNS = ("mts", "stock", "ideal")


@functools.cache
def items() -> list[pool.Item]:
    """Of each of RUNS."""
    return smoke.run([smoke.setting(SUITE, policy) for policy in RUNS])


def result_of(policy):
    return smoke.result_of(items()[RUNS.index(policy)])


@pytest.mark.parametrize("policy", RUNS)
def test_smoke_point(policy):
    smoke.check(result_of(policy))


def test_suite_makes_tables_of_its_figures():
    smoke.check_tables(SUITE, [smoke.result_of(item) for item in items()])


def test_module_had_jobs_of_its_own_under_mts():
    stats = result_of("mts")["policy"]["stats"]
    processes = round(items()[RUNS.index("mts")].setting.demand_mib / 8)
    assert stats["jobs_each"] == processes
    assert stats["switches"] > 0


def test_ideal_is_ideal():
    mts, stock, ideal = (result_of(policy)["figures"] for policy in ("mts", "stock", "ideal"))
    assert ideal["time_for_all_s"] < mts["time_for_all_s"]
    assert ideal["suite"]["swaps_pages"] < mts["suite"]["swaps_pages"]
    # all of its batches together have not swapped as much as stock in its few seconds
    assert ideal["suite"]["swaps_pages"] < stock["suite"]["swaps_pages"]


def test_other_seed_is_another_setting():
    setting = smoke.setting(SUITE, "mts")
    assert results.file_name(setting) != results.file_name(dataclasses.replace(setting, seed=2))
