# SPDX-License-Identifier: GPL-2.0
"""bench/lab/rate.py: rates whose spread is known, and how often the interval holds them."""

import random
from collections.abc import Iterator
from itertools import islice

import pytest

from bench.lab.rate import WINDOWS, WITHIN, Estimate, Rate, t_quantile

RUNS = 1000
TRUE = 3.0


def made(seed: int, spread: float, alike: float = 0.0) -> Iterator[float]:
    """Work of one window after the other: normal, neighbours correlated as said."""
    rng = random.Random(seed)
    x = rng.gauss(0, 1)
    while True:
        yield max(0.0, TRUE * (1 + spread * x))
        x = alike * x + (1 - alike**2) ** 0.5 * rng.gauss(0, 1)


def estimate(works: Iterator[float], windows: int | None = None) -> Estimate:
    """After so many windows, or as soon as the interval is good enough."""
    rate = Rate()
    rate.add(7.0, 100.0)
    done = 100.0
    for n, work in enumerate(works, 1):
        done += work
        rate.add(7.0 + n, done)
        found = rate.estimate()
        if found and (n == windows or (windows is None and found.is_good)):
            return found
    raise AssertionError


def share_that_holds(spread: float, windows: int | None, alike: float = 0.0) -> float:
    """Of the intervals of many runs."""
    found = [estimate(made(seed, spread, alike), windows) for seed in range(RUNS)]
    return sum(each.low <= TRUE <= each.high for each in found) / RUNS


@pytest.mark.parametrize(
    ("freedom", "t"), [(4, 2.1318), (5, 2.0150), (9, 1.8331), (29, 1.6991), (1000, 1.6464)]
)
def test_quantiles_are_those_of_the_tables(freedom, t):
    assert t_quantile(0.95, freedom) == pytest.approx(t, abs=0.003)


@pytest.mark.parametrize("windows", [WINDOWS, 10, 40])
def test_nine_of_ten_intervals_hold_the_rate(windows):
    """Neither less nor much more: 0.9, of which a thousand runs say 0.87 to 0.93."""
    assert 0.87 <= share_that_holds(0.3, windows) <= 0.93


@pytest.mark.parametrize("spread", [0.1, 0.3, 0.5])
def test_stopping_early_costs_little(spread):
    """Who stops as soon as the interval is narrow stops more often where it is so by luck."""
    assert 0.85 <= share_that_holds(spread, None) <= 0.95


def test_neighbours_that_resemble_each_other_widen_it():
    """Without that six of ten hold the rate."""
    assert share_that_holds(0.3, 40, alike=0.6) >= 0.8


def test_a_steady_rate_is_known_after_the_fewest_windows():
    found = estimate(made(1, 0.01))
    assert found.windows == WINDOWS
    assert found.rate == pytest.approx(TRUE, rel=0.01)


def test_a_wild_rate_takes_more_windows():
    found = [estimate(made(seed, 0.8)) for seed in range(50)]
    assert all(each.half_width <= WITHIN * each.rate for each in found)
    assert sum(each.windows for each in found) / len(found) > 20


def test_too_few_windows_are_no_estimate():
    rate = Rate()
    for n in range(WINDOWS):  # the first begins a window
        rate.add(n, n)
        assert rate.estimate() is None
    rate.add(WINDOWS, WINDOWS)
    assert rate.estimate() == Estimate(1.0, 0.0, WINDOWS)


def test_a_late_report_makes_a_longer_window():
    """The rate is the same, whatever the windows."""
    rate = Rate()
    for seconds in (0, 1, 2, 2.5, 5, 6, 9):
        rate.add(seconds, 2 * seconds)
    found = rate.estimate()
    assert found
    assert found.rate == pytest.approx(2)
    assert found.half_width == pytest.approx(0, abs=1e-9)


def test_no_work_is_never_good_enough():
    rate = Rate()
    for n in range(20):
        rate.add(n, 5.0)
    found = rate.estimate()
    assert found
    assert not found.is_good
    assert found.times(1.0)[0] == float("inf")


def test_times_are_those_of_the_ends():
    time, least, most = Estimate(2.0, 0.5, 9).times(10)
    assert (time, least, most) == (5.0, 4.0, pytest.approx(10 / 1.5))
    assert Estimate(1.0, 2.0, 9).times(1)[2] == float("inf")


def test_what_came_before_the_first_report_does_not_count():
    """So the filling of the memory is left out."""
    assert estimate(islice(made(2, 0.05), 20), 20).rate == pytest.approx(TRUE, rel=0.05)
