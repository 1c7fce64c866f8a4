# SPDX-License-Identifier: GPL-2.0
"""Every suite's smoke point, in a guest, under mts."""

import functools

import pytest

from bench.lab import pool
from bench.suites import SUITES
from tests.bench import smoke

pytestmark = pytest.mark.slow("a guest for each suite; test_smoke.py has one suite's")


@functools.cache
def items() -> dict[str, pool.Item]:
    """All, run at the beginning."""
    return dict(
        zip(SUITES, smoke.run([smoke.setting(name, "mts") for name in SUITES]), strict=True)
    )


@pytest.mark.parametrize("suite", SUITES)
def test_smoke_point(suite: str) -> None:
    """The jobs end well, and the figures are there."""
    smoke.check(smoke.result_of(items()[suite]))


@pytest.mark.parametrize("suite", SUITES)
def test_suite_makes_tables_of_its_figures(suite: str) -> None:
    """As bench/report has them."""
    smoke.check_tables(suite, [smoke.result_of(items()[suite])])
