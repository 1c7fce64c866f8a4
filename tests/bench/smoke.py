# SPDX-License-Identifier: GPL-2.0
"""Smoke points of suites: as many guests side by side as there are processors.

If other tests run beside these, it is fewer.
"""

import os
from collections.abc import Sequence

import pytest

from bench.lab import BUILD, pool, results, sweep
from bench.lab.experiment import Json, Setting
from bench.policies import POLICIES
from bench.suites import SUITES
from tests.guest import harness


def setting(suite: str, policy: str) -> Setting:
    """The first of its smoke points."""
    choice = sweep.Choice(effort="smoke", policies=(policy,))
    return sweep.settings([SUITES[suite]], POLICIES, choice)[0]


def run(settings: Sequence[Setting]) -> list[pool.Item]:
    """All of them, run."""
    harness.build("guest-module", "static")
    runs = pool.Pool(
        settings=settings,
        suites=SUITES,
        policies=POLICIES,
        where=results.origin(),
        parallel=max(1, pool.processors() // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))),
        logs=BUILD / "smoke",
    )
    runs.run()
    return runs.items


def result_of(item: pool.Item) -> Json:
    """What came out; a run that failed, or of which its kernel complained, fails the test."""
    if item.error:
        pytest.fail(item.error, pytrace=False)  # WARNING, stall, ... (guest.Verdict)
    return item.result


def check(result: Json) -> None:
    """What is so in every suite and under every policy."""
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


def check_tables(suite: str, found: list[Json]) -> None:
    """The suite makes tables of such results."""
    for table in SUITES[suite].tables(results.in_order(found)):
        assert table.title
        assert table.header
        assert all(len(row) == len(table.header) for row in table.rows), table
