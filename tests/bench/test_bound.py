# SPDX-License-Identifier: GPL-2.0
"""The bounds of bench/lab/bound.py, beside figures that were worked out by hand."""

import math
from dataclasses import replace

import pytest

from bench.lab import bound

GIB = 1 << 30
# 1.31 s of a processor for a GiB out and in, 3 GiB/s both ways together
HOST = bound.Host(22 * GIB, 8, 0.70 / GIB, 0.61 / GIB, 3 * GIB)
FORTY = [1.5 * GIB] * 40


def test_what_moves_takes_processors():
    """60 GiB in 22, pauses of 60 s: 38 GiB / 60 s is 0.633 GiB/s, times 1.31 s is 0.830."""
    assert bound.moving(60 * GIB, HOST, 60) == pytest.approx(0.8297, abs=1e-4)
    assert bound.overlapped(FORTY, HOST, 60) == pytest.approx(8 - 0.8297, abs=1e-4)
    # ten times as long: a tenth of it
    assert bound.overlapped(FORTY, HOST, 600) == pytest.approx(8 - 0.08297, abs=1e-5)


def test_no_more_jobs_run_than_have_their_memory():
    """22 of 60 GiB: 40 x 22 / 60 jobs, on however many processors."""
    assert bound.overlapped(FORTY, replace(HOST, processors=32), 60) == pytest.approx(14.667, 1e-4)
    # 44 GiB in 22: each of the ten has its memory for half of the time
    mixed = [20 * GIB] + [24 / 9 * GIB] * 9
    assert bound.overlapped(mixed, replace(HOST, processors=32), 60) == pytest.approx(5.0)


def test_what_fits_loses_nothing():
    assert bound.overlapped([GIB] * 10, HOST, 60) == 8
    assert bound.overlapped([GIB] * 4, HOST, 60) == 4
    assert bound.loss(20 * GIB, HOST, 60) == 0


def test_a_pause_that_the_disk_cannot_keep():
    """38 GiB out and in are 76, 25.3 s of the disk."""
    assert bound.shortest_pause(60 * GIB, HOST) == pytest.approx(25.333, abs=1e-3)
    assert bound.overlapped(FORTY, HOST, 25.3) is None
    assert bound.overlapped(FORTY, HOST, 25.4) is not None
    assert bound.overlapped(FORTY, replace(HOST, disk=math.inf), 5) == 0  # 9.96 of 8 processors


def test_the_loss_of_one_processor():
    """SYN8, 163 MiB in 96, 24.4 us a page, 13.4 s: 67 x 256 x 24.4e-6 / 13.4 = 0.0312."""
    host = bound.Host(96 << 20, 1, 13.1e-6 / 4096, 11.3e-6 / 4096)
    assert bound.moving(163 << 20, host, 13.4) == pytest.approx(0.03123, abs=1e-5)
    assert bound.loss(163 << 20, host, 13.4) == pytest.approx(0.03224, abs=1e-5)
    assert bound.loss(163 << 20, host, 0.4) == math.inf  # more than the processor


def test_first_fit_decreasing():
    assert bound.first_fit([2, 5, 4, 3, 6, 12], 10) == [[12], [6, 4], [5, 3, 2]]


def test_disjoint_bins():
    """Two jobs of 10 in 10, 1 s of a processor a unit: switches of 10 s, twice.

    Pauses of 30 s leave 10 s for the other's slice: a round is 10 + 10 + 10 + 10 s, and one job at
    a time runs for 20 of these.
    """
    host = bound.Host(10, 1, 0.5, 0.5)
    assert bound.disjoint([10, 10], host, 30) == pytest.approx(0.5)
    assert bound.disjoint([10, 10], host, 20) == 0
    # the disk takes 20 s for each instead: 40 of 60 s, or 10 of 50
    assert bound.disjoint([10, 10], replace(host, disk=1), 60) == pytest.approx(40 / 80)
    # two threads halve them: two switches of 5 s, slices of 20 s, one processor of two in use
    assert bound.disjoint([10, 10], replace(host, processors=2), 30) == pytest.approx(40 / 50)
    assert bound.disjoint([4, 4], host, 30) == 1


def test_disjoint_bins_of_different_sizes():
    """10 | 4+4: switches of (10 x 0.5 + 8 x 0.5) = 9 s each; 48 s leave 30 for 10 units.

    So 3 s a unit: slices of 30 and 24 s in a round of 72 s, on two processors.
    """
    host = bound.Host(10, 2, 1.0, 1.0)
    assert bound.disjoint([4, 10, 4], host, 48) == pytest.approx((30 * 1 + 24 * 2) / 72)


def test_disjoint_bins_never_exceed_the_bound():
    for pause in (30, 60, 600, 3600):
        for processors in (1, 2, 8, 32):
            host = replace(HOST, processors=processors)
            most = bound.overlapped(FORTY, host, pause)
            assert bound.disjoint(FORTY, host, pause) <= most
