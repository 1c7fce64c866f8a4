# SPDX-License-Identifier: GPL-2.0
"""The bars of the papers' tables: what results of two policies come to."""

import math

import pytest

from bench.lab import bars_papers

PAIR = ("p1-gcc", "p2-bit-r")


def program(seconds, faults, *, cut=False):
    return {
        "time_s": None if cut else seconds,
        "expected_s": seconds,
        "major_faults": faults,
    }


def found(what, seed=1, **programs):
    """A result for each policy that is named; the others' pieces are missing."""
    pieces = what.pieces(seed)
    of = dict.fromkeys(pieces)
    for piece in pieces:
        if piece.setting.policy in programs and piece.setting.disk == "ssd":
            setting = {
                **{key: getattr(piece.setting, key) for key in ("seed", "free_mib", "disk")},
                **{key: getattr(piece.setting, key) for key in ("shift", "kernel", "overcommit")},
                "policy": piece.setting.policy,
                "params": dict(piece.setting.params),
            }
            of[piece] = {
                "setting": setting,
                "figures": {"suite": {"programs": programs[piece.setting.policy]}},
            }
    return of


def runs(names=PAIR):
    """With the token gcc takes 18 s and bit-r 40 s; alone 10 and 20 s."""
    one, other = names
    return {
        "ideal": {one: program(10.0, 0), other: program(20.0, 0)},
        "stock": {one: program(30.0, 1000), other: program(60.0, 2000, cut=True)},
        "token": {one: program(18.0, 43), other: program(40.0, 502)},
    }


def test_slowdown_is_over_the_time_alone():
    what = bars_papers.MeanSlowdown("gcc+bit-r")
    lacking, case = what.cases(found(what, **runs()), 1)
    assert (lacking.label, lacking.value) == ("paper: gcc+bit-r", None)
    assert case.value == pytest.approx(math.sqrt(1.8 * 2.0))
    assert case.shown == {"stock": pytest.approx(3.0)}
    what = bars_papers.EachSlowdown("gcc+bit-r")
    one, other = what.cases(found(what, **runs()), 1)[2:]
    assert (one.label, one.value, other.value) == ("ssd: p1-gcc", 1.8, 2.0)


def test_faults_are_what_is_left_of_stocks():
    """Over what the paper left: 4.3 and 50.2 %."""
    what = bars_papers.FaultsOverPaper("gcc+bit-r")
    one, other = what.cases(found(what, **runs()), 1)[2:]
    assert one.value == pytest.approx(0.043 / 0.043)
    assert other.value == pytest.approx(0.251 / 0.502)


def test_of_two_of_one_program_the_faster_is_compared_with_the_faster():
    """Here the second one is."""
    names = ("p1-lu", "p2-lu")
    mine = runs(names)
    mine["token"] = {names[0]: program(21.8, 900), names[1]: program(32.6, 5)}
    what = bars_papers.OverPaper("lu+lu")
    faster, slower = what.cases(found(what, **mine), 1)[2:]
    assert faster.shown["slowdown"] == pytest.approx(1.63)
    assert (faster.value, slower.value) == (pytest.approx(1.0), pytest.approx(1.0))
    what = bars_papers.FewestFaults("lu+lu")
    _, case = what.cases(found(what, **mine), 1)
    assert case.value == pytest.approx(0.0025)


@pytest.mark.parametrize("lacking", ["ideal", "stock", "token"])
def test_a_piece_is_missing(lacking):
    mine = {name: programs for name, programs in runs().items() if name != lacking}
    for kind in (bars_papers.MeanSlowdown, bars_papers.EachSlowdown, bars_papers.FaultsOverPaper):
        what = kind("gcc+bit-r")
        assert {case.value for case in what.cases(found(what, **mine), 1)} == {None}


def test_a_program_that_did_nothing_is_infinitely_slow():
    mine = runs()
    mine["token"]["p1-gcc"] = program(None, 0, cut=True)
    what = bars_papers.EachSlowdown("gcc+bit-r")
    assert what.cases(found(what, **mine), 1)[2].value == math.inf


def test_rounds():
    of = {
        "fair": {"mean_round_s": [1.0, 3.0], "rounds_done": [5, 4]},
        "stock": {"mean_round_s": [4.0, None], "rounds_done": [4, None]},
    }
    of["fair"]["jain_of_round"] = [0.2, 0.2, 0.2, 0.98, 1.0]
    of["stock"]["jain_of_round"] = [0.2, 0.2, 0.2, 0.4]

    def value(figure):
        what = bars_papers.Rounds(figure)
        results = {
            piece: {"figures": {"suite": of[piece.setting.policy]}} for piece in what.pieces(1)
        }
        return what.cases(results, 1)[0].value

    assert value("mean") == pytest.approx(0.5)
    assert value("best") == pytest.approx(1.25)
    assert value("jain") == pytest.approx(0.99)
    of["fair"]["jain_of_round"] = [1.0, 1.0, 1.0]  # no fourth round
    assert value("jain") == 0


def test_dispersion_of_twenty_runs():
    """Seed 2 is runs 21 to 40."""

    def case(figure, fair, stock):
        what = bars_papers.Mix(figure, ("gcc-166",))
        of = {"fair": fair, "stock": stock}
        pieces = what.pieces(2)
        assert {piece.setting.seed for piece in pieces} == set(range(21, 41))
        return what.cases(
            {
                piece: {
                    "figures": {"suite": {"program_s": of[piece.setting.policy](piece.seed % 2)}}
                }
                for piece in pieces
            },
            2,
        )[0]

    assert case("sd", lambda odd: 10 + odd, lambda odd: 20 + 2 * odd).value == pytest.approx(0.5)
    assert case("mean", lambda odd: 10 + odd, lambda odd: 21).value == pytest.approx(0.5)
    assert case("sd", lambda odd: None if odd else 9, lambda odd: odd).value == math.inf
    assert "does not end" in case("sd", lambda odd: 9, lambda odd: None if odd else 9).spared
