# SPDX-License-Identifier: GPL-2.0
"""The suite syn8: its points, and its tables from made-up results."""

import pytest

from bench.lab.results import setting_json
from bench.suites import syn8
from bench.suites.syn8 import SUITE


def result(policy, total, seconds, swaps, *, slice_s=None, finished=True, seed=1):
    params = {"accesses": 1.0} | ({"slice": slice_s} if slice_s else {})
    point = syn8._point(total, 1.0, 1.0, "ssd", 0, limit=60)
    return {
        "setting": {**setting_json(point), "policy": policy, "seed": seed, "params": params},
        "figures": {
            "finished": finished,
            "time_for_all_s": seconds,
            "suite": {"total_mib": total, "swaps_pages": swaps},
        },
    }


def cells(table, row):
    return dict(zip(table.header, table.rows[row], strict=True))


def test_figure_1():
    found = [
        result("stock", 144, 100.0, 5000, finished=False),
        result("stock", 64, 1.0, 0),
        result("mts", 144, 4.0, 300, slice_s=2.0),
        result("mts", 144, 6.0, 500, slice_s=2.0, seed=2),
        result("mts", 144, 9.0, 900, slice_s=1.0),
        result("ideal", 144, 2.0, 100),
    ]
    figure_1, figure_4 = SUITE.tables(found)
    assert [row[:2] for row in figure_1.rows] == [("64", "-"), ("144", "1"), ("144", "2")]
    small, shorter, large = (cells(figure_1, row) for row in range(3))
    assert (small["s stock"], small["swaps stock"], small["s mts"]) == ("1.00", "0", "-")
    assert large["s stock"] == ">100.00"
    assert large["s mts"] == "5.00 (4.00..6.00)"  # of slice 2 s alone
    assert (shorter["s mts"], shorter["s stock"]) == ("9.00", ">100.00")
    assert large["swaps mts"] == "400 (300..500)"
    assert large["s ideal"] == "2.00"
    assert "7 days" in large["the paper says"]
    assert "noteworthy" in small["the paper says"]
    assert [row[:2] for row in figure_4.rows] == [("144", "mts")]
    got = cells(figure_4, 0)
    assert (got["s, slice 1 s"], got["s, slice 8 s"]) == ("9.00", "-")
    assert got["swaps 1 s / 2 s"] == "2.25"


def test_without_slices_there_is_no_figure_4():
    tables = SUITE.tables([result("stock", 64, 1.0, 0)])
    assert [table.title.split(":")[0] for table in tables] == ["SYN8, figure 1"]


def test_places_have_tables_of_their_own():
    one, other = result("stock", 64, 1.0, 0), result("stock", 64, 2.0, 0)
    other["setting"]["disk"] = "paper"
    tables = SUITE.tables([one, other])
    assert len(tables) == 2
    assert {table.rows[0][3] for table in tables} == {"1.00", "2.00"}


@pytest.mark.parametrize(("total", "text"), [(16, "no diff"), (136, "cannot"), (288, "not tried")])
def test_what_the_paper_says(total, text):
    assert text in syn8.said(total)


def test_full_is_the_papers_range_and_on_to_three_times_the_memory():
    points = SUITE.points("full")
    totals = {round(point.demand_mib) for point in points}
    assert min(totals) == 16
    assert {128, 136, 144} <= totals
    assert max(totals) == 3 * syn8.FREE_MIB
    assert {point.param("slice") for point in points} == {1.0, 2.0, 4.0, 8.0}
    assert {(point.disk, point.shift) for point in points} == {("ssd", 0), ("paper", 2)}
