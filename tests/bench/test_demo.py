# SPDX-License-Identifier: GPL-2.0
"""bench/demo without guests: when stock Linux is cut off, and what is said of it."""

import importlib.machinery
import importlib.util
import json
import sys

import pytest

from bench.lab import ROOT, LabError

MIB = 256  # pages
DEMAND, FREE = 256, 136
FILLED = 2 * (DEMAND - FREE) * MIB  # pages out


@pytest.fixture(scope="module")
def demo():
    """The script as a module."""
    loader = importlib.machinery.SourceFileLoader("demo", str(ROOT / "bench/demo"))
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader("demo", loader))
    sys.modules["demo"] = made  # its dataclasses look there
    loader.exec_module(made)
    yield made
    del sys.modules["demo"]


class Guest:
    """Runs until it is closed."""

    verdict = None
    closed = False

    def poll(self):
        return False

    def close(self):
        self.closed = True


@pytest.fixture
def stock(demo):
    """One whose guest runs."""
    side = demo.Side("stock", DEMAND, Guest())
    side.line("lab: ready")
    side.line(f"demo: free {FREE * 1024}")
    return side


def report(side, seconds, work, pages_out=FILLED):
    side.line(
        f"syn8: seconds={seconds:.3f} work={work:.6f} accesses=1 running=32 pswpin={seconds:.0f}"
        f" pswpout={pages_out}"
    )


def run(side, works, pages_out=FILLED):
    """A report each second. Return: the work done."""
    work = 0.0
    for second, more in enumerate(works, 1):
        work += more
        report(side, second, work, pages_out)
    return work


def end(side, **values):
    result = {"elapsed": 14.0, "work_done": 0.1, "pswpin": 1, "pswpout": 2, **values}
    for line in json.dumps(result, indent=1).splitlines():
        side.line(line)
    side.line("demo: end")


def test_it_is_cut_off_when_its_rate_is_known(stock):
    run(stock, [0.001, 0.001, 0.0011, 0.001, 0.0009])
    assert not stock.poll()
    report(stock, 6, 0.006)
    assert stock.poll()
    assert stock.guest.closed
    assert stock.estimate.rate == pytest.approx(0.001)
    stock.check()
    time, least, most = stock.times_for_all()
    assert time == pytest.approx(1000, rel=0.01)
    assert least < time < most


def test_what_comes_after_the_cut_does_not_count(stock):
    """So the figures do not depend on when this host has looked."""
    run(stock, [0.001] * 6)
    before = stock.result()
    report(stock, 7, 0.5)
    end(stock)
    assert stock.result() == before


def test_the_filling_of_the_memory_does_not_count(stock):
    run(stock, [0.5 / 6] * 6, FILLED - 1)
    assert stock.estimate is None
    for second in range(7, 13):
        report(stock, second, 0.5 + 0.001 * (second - 6))
    assert stock.is_cut
    assert stock.estimate.rate == pytest.approx(0.001)


def test_a_rate_that_varies_is_not_cut_off(stock):
    work = run(stock, [0.001, 0.02] * 7)
    assert not stock.poll()
    end(stock, work_done=work)
    stock.check()
    assert "after 14 virtual s (its limit)." in explain(stock)
    assert "(+-43 %, 13 windows)" in explain(stock)


def explain(side):
    return sys.modules["demo"].explain_cut(side)


def test_the_interval_is_said(stock):
    run(stock, [0.001] * 6)
    assert explain(stock) == (
        "stock was cut off after 6 virtual s. Its rate was 0.1 % of the work a second,\n"
        "90 % interval 0.1 to 0.1 (+-0 %, 5 windows): 1000 to 1000 s for all the work."
    )


def test_mts_is_never_cut_off(demo):
    side = demo.Side("mts", DEMAND, Guest())
    side.line(f"demo: free {FREE * 1024}")
    run(side, [0.001] * 20)
    assert not side.is_cut
    end(side, work_done=1.0, elapsed=32.0)
    assert side.times_for_all() == (32.0, 32.0, 32.0)


def test_too_little_before_the_limit_is_an_error(stock):
    run(stock, [0.0] * 4)
    end(stock, work_done=0.0)
    with pytest.raises(LabError, match="raise it"):
        stock.check()


def test_no_result_is_an_error(stock):
    run(stock, [0.001] * 3)
    with pytest.raises(LabError, match="ended without a result"):
        stock.check()
