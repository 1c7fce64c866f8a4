# SPDX-License-Identifier: GPL-2.0
"""Every suite's smoke point, in guests: all under mts, one under stock and ideal too, one twice.

All guests run at the beginning, as many side by side as there are processors, if no other tests
run beside these; the tests look at what came out.
"""

import dataclasses
import functools
import os
import subprocess

import pytest

from bench.lab import BUILD, ROOT, pool, results, sweep
from bench.policies import POLICIES
from bench.suites import SUITES
from tests.build import alone

COMPARED = "syn8"  # the suite that runs under stock and ideal, and twice under mts
CASES = [
    *((name, "mts") for name in SUITES),
    *((COMPARED, policy) for policy in ("stock", "ideal")),
]


def settings():
    """Of all runs; the last is one of the first once more."""
    found = []
    for name, policy in CASES:
        choice = sweep.Choice(effort="smoke", policies=(policy,))
        found += sweep.settings([SUITES[name]], POLICIES, choice)[:1]
    return [*found, found[CASES.index((COMPARED, "mts"))]]


@functools.cache
def everything():
    """All items, run."""
    build = ["make", "-s", "-C", ROOT, "guest-module", "static"]
    with alone():
        built = subprocess.run(build, text=True, capture_output=True, check=False)
    if built.returncode:
        pytest.fail(f"{' '.join(map(str, build))}: {built.stdout}{built.stderr}", pytrace=False)
    runs = pool.Pool(
        settings=settings(),
        suites=SUITES,
        policies=POLICIES,
        where=results.origin(),
        parallel=max(1, pool.processors() // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))),
        logs=BUILD / "smoke",
    )
    runs.run()
    return runs.items


def result_of(index):
    item = everything()[index]
    if item.error:
        # it failed, or its kernel complained: WARNING, stall, ... (guest.Verdict)
        pytest.fail(item.error, pytrace=False)
    return item.result


@pytest.mark.parametrize(
    "index", range(len(CASES)), ids=[f"{suite}-{policy}" for suite, policy in CASES]
)
def test_smoke_point(index):
    result = result_of(index)
    figures = result["figures"]
    assert figures["elapsed_s"] > 0
    assert figures["work"] > 0
    assert figures["oom_kills"] == 0
    assert figures["lost_work"] == 0
    if result["setting"]["policy"] == "stock":  # which thrashes: cut off, and made some of it
        assert figures["swapin_mib"] > 0
    else:
        assert figures["finished"], result["jobs"]
        assert figures["time_for_all_s"] == figures["elapsed_s"]
        assert all(job["status"] == 0 for job in result["jobs"] if not job["endless"])
    assert not result["warnings"]
    # what was asked for, within a page table or two of a MiB
    assert abs(result["guest"]["free_mib"] - result["setting"]["free_mib"]) <= 1
    assert result["series"]


@pytest.mark.parametrize("suite", SUITES.values(), ids=lambda suite: suite.name)
def test_suite_makes_tables_of_its_figures(suite):
    found = [
        item.result for item in everything() if item.result and item.setting.suite == suite.name
    ]
    for table in suite.tables(results.in_order(found)):
        assert table.title
        assert table.header
        assert all(len(row) == len(table.header) for row in table.rows), table


def test_module_had_jobs_of_its_own_under_mts():
    stats = result_of(CASES.index((COMPARED, "mts")))["policy"]["stats"]
    setting = everything()[CASES.index((COMPARED, "mts"))].setting
    processes = round(setting.demand_mib / 8)
    assert stats["jobs_each"] == processes
    assert stats["switches"] > 0


def test_ideal_is_ideal():
    mts, stock, ideal = (
        result_of(CASES.index((COMPARED, policy)))["figures"]
        for policy in ("mts", "stock", "ideal")
    )
    assert ideal["time_for_all_s"] < mts["time_for_all_s"]
    assert ideal["suite"]["swaps_pages"] < mts["suite"]["swaps_pages"]
    # all of its batches together have not swapped as much as stock in its few seconds
    assert ideal["suite"]["swaps_pages"] < stock["suite"]["swaps_pages"]


def assert_same(first: object, again: object) -> None:
    """To the digit; times within 1e-4: on a busy host 14 us of 3.4 s were seen, more than once.

    All counts of the series move with them, by a sample or a page: those are not compared.
    """
    if isinstance(first, dict):
        assert first.keys() == again.keys()
        for key in first:
            assert_same(first[key], again[key])
    elif isinstance(first, list):
        assert len(first) == len(again)
        for one, other in zip(first, again, strict=True):
            assert_same(one, other)
    elif isinstance(first, float):
        assert again == pytest.approx(first, rel=1e-4)
    else:
        assert first == again


def test_same_setting_same_figures():
    first, again = result_of(CASES.index((COMPARED, "mts"))), result_of(len(CASES))
    assert first is not again
    assert_same(first["figures"], again["figures"])
    assert first["setting"] == again["setting"]
    assert first.keys() == again.keys()


def test_other_seed_is_another_setting():
    setting = everything()[0].setting
    assert results.file_name(setting) != results.file_name(dataclasses.replace(setting, seed=2))
