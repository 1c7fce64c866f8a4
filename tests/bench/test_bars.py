# SPDX-License-Identifier: GPL-2.0
"""The bars: what is run for them, what results are said to reach, and that a command goes on."""

import dataclasses
import math
import subprocess
import sys
from pathlib import Path

import pytest

from bench.lab import (
    ROOT,
    bars,
    bars_markdown,
    bars_papers,
    bars_points,
    bars_simulated,
    pieces,
    report_markdown,
    results,
    runner,
)
from bench.lab.bars import Bar
from bench.lab.bars_points import Case, What
from bench.policies import POLICIES
from bench.suites import SUITES

GIB = 1 << 30
WHERE = {"kernel": "6.1.0-1-amd64", "qemu": "7.2.22", "commit": "0123456789abcdef", "dirty": False}
HOUR = 3600


@dataclasses.dataclass(frozen=True)
class Toy(pieces.Piece):
    """A piece whose file the test writes."""

    name: str
    seed: int

    @property
    def path(self):
        return Path(f"{self.name}-{self.seed}.json")

    @property
    def words(self):
        return self.name


class Points(What):
    """A value is what the file says; `spared` what it says instead."""

    def __init__(self, *names, lower=False, worst_seed=False):
        self.names, self.lower, self.worst_seed = names, lower, worst_seed

    def pieces(self, seed):
        return [Toy(name, seed) for name in self.names]

    def cases(self, found, seed):
        return [self._case(name, found[Toy(name, seed)]) for name in self.names]

    def _case(self, name, result):
        if not result:
            return Case(name)
        if isinstance(result["value"], str):
            return Case(name, spared=result["value"])
        return Case(name, result["value"], shown={"pause, s": 2 * result["value"]})


def verdict(folder, what, limit, **values):
    """Of values for each point, one for each seed; None: not measured."""
    for name, of in values.items():
        for seed, value in enumerate(of, 1):
            if value is not None:
                results.write({"value": value, **WHERE}, folder / f"{name}-{seed}.json")
    return bars.judge(Bar("toy", what, limit, "so"), folder, (1, 2, 3))


# ---- the table ----


def test_there_are_forty_bars_at_most():
    """Each with a name, a reason, and three seeds."""
    assert len(bars.BARS) <= 40
    assert len({bar.name for bar in bars.BARS}) == len(bars.BARS)
    for bar in bars.BARS:
        assert bar.why.endswith("."), bar.name
        assert (bar.limit is None) == bar.why.startswith("Shown only")
        if not isinstance(bar.what, bars_papers.Mix):  # a seed is 20 runs
            assert {piece.seed for piece in bar.pieces(bars.SEEDS)} == set(bars.SEEDS)


def _all():
    return list(dict.fromkeys(piece for bar in bars.BARS for piece in bar.pieces((1, 2))))


def test_every_piece_has_a_file_of_its_own():
    assert len({piece.path for piece in _all()}) == len(_all())


def test_every_guest_can_be_run():
    """It makes sense to its suite, and has at least 320 MiB free."""
    for setting in {p.setting for p in _all() if isinstance(p, pieces.Guest) and p.seed == 1}:
        if setting.policy == "mts":
            assert SUITES[setting.suite].workload(setting).jobs
        dispersion = dict(setting.params).get("experiment") == "mix"
        assert setting.free_mib >= 320 or dispersion
        assert setting.policy in POLICIES
        assert runner.memory_mib(setting) < (12 << 10)


def test_all_suites_are_compared_where_memory_nearly_suffices():
    """But those that measure something else; at the overcommits that the names say."""
    assert set(bars_points.MILD) == set(SUITES) - {"idle", "latency"}
    for suite in bars_points.MILD:
        for overcommit in bars_points.OVERCOMMITS:
            point = bars_points.mild_point(suite, overcommit, "ssd")
            jobs = SUITES[suite].workload(point).jobs
            demand = sum(job.demand_mib for job in jobs if not job.endless)
            assert demand / point.free_mib == pytest.approx(overcommit, rel=0.05), point
    disks = {disk for bar in bars.BARS for disk in getattr(bar.what, "disks", ())}
    assert disks == {"ssd", "nvme", "zram", "paper"}


def test_what_may_thrash_is_cut_off():
    """mode=off and stock Linux; but not where jobs take a time of their own."""
    limits = {
        p.setting.policy: p.setting.limit
        for p in bars_points.Mild("syn8", ("ssd",)).pieces(1)
        if isinstance(p, pieces.Guest)
    }
    assert limits == {"mts": 300.0, "off": 20.0, "stock": 20.0}
    limits = {p.setting.limit for p in bars_points.Mild("consumers", ("ssd",)).pieces(1)}
    assert limits == {60.0}


# ---- what counts ----


def test_the_worst_point_by_the_median_of_its_seeds(tmp_path):
    found = verdict(tmp_path, Points("a", "b"), 0.9, a=[1, 3, 2], b=[0.5, 1.5, 1.4])
    assert (found.worst.label, found.worst.value, found.worst.spread) == ("b", 1.4, "0.500..1.500")
    assert (found.median, found.word, found.missing) == (1.7, "ok", 0)
    assert found.line.split()[-1] == "ok"


def test_less_may_be_better(tmp_path):
    found = verdict(tmp_path, Points("a", "b", lower=True), 2.0, a=[1, 1, 1], b=[2.5, 2.5, 2])
    assert (found.worst.label, found.word) == ("b", "short")
    assert "<= 2" in found.line


def test_what_must_never_be_is_judged_by_the_worst_seed(tmp_path):
    what = Points("a", lower=True, worst_seed=True)
    found = verdict(tmp_path, what, 20.0, a=[10, 30, 12])
    assert (found.worst.value, found.word) == (30, "short")


@pytest.mark.parametrize(
    ("values", "word"), [([1, None, None], "?"), ([0.5, None, None], "short"), ([None], "?")]
)
def test_a_piece_that_is_missing_is_said(tmp_path, values, word):
    """What there is may be short already."""
    found = verdict(tmp_path, Points("a"), 0.9, a=values)
    assert found.word == word
    assert f"{3 - sum(v is not None for v in values)} of 3 pieces missing" in found.line


def test_a_bar_may_not_apply(tmp_path):
    found = verdict(tmp_path, Points("a", "b"), 0.9, a=["why"] * 3, b=[1, 1, 1])
    assert (found.word, found.worst.label) == ("ok", "b")
    found = verdict(tmp_path, Points("a"), 0.9, a=["why"] * 3)
    assert (found.word, found.worst) == ("-", None)


def test_a_bar_without_a_limit_is_shown(tmp_path):
    assert verdict(tmp_path, Points("a"), None, a=[1, 1, 1]).word == "shown"


def test_no_work_is_infinitely_worse(tmp_path):
    found = verdict(tmp_path, Points("a"), 0.98, a=[math.inf, math.inf, 0.5])
    assert (found.worst.value, found.word) == (math.inf, "ok")


# ---- what results come to ----


def guest(piece, **figures):
    """A result, as far as a bar looks at it."""
    rounds = figures.pop("rounds", 8)
    return {
        "setting": results.setting_json(piece.setting),
        "figures": {"killed_jobs": 0, "finished": True, "work": 1.0, **figures},
        "policy": {"stats": {"rounds": rounds}},
    }


def test_the_loss_of_the_rotation():
    """544 MiB in 320, pauses of 28 s: 224 x 256 pages of 24.4 us in 28 s are 5 %."""
    what = bars_points.Rotation(1.7, "ssd", 150.0)
    mine, ideal = what.pieces(1)
    busy = 224 * 256 * 24.4e-6 / 28
    found = {
        mine: guest(mine, time_for_all_s=110.0, longest_pause_s=28.0),
        ideal: guest(ideal, time_for_all_s=100.0),
    }
    (case,) = what.cases(found, 1)
    assert case.value == pytest.approx(0.1 / (busy / (1 - busy)))
    assert case.shown["rounds"] == 8
    found[mine] = guest(mine, time_for_all_s=None, killed_jobs=1)
    assert what.cases(found, 1)[0].value == math.inf
    assert what.cases({mine: None, ideal: None}, 1) == [Case("x1.7 ssd")]


def mild(mts, off, stock):
    """The first case of SYN8's."""
    what = bars_points.Mild("syn8", ("ssd",))
    found = dict.fromkeys(what.pieces(1))
    for piece, figures in zip(list(found)[:3], (mts, off, stock), strict=True):
        found[piece] = figures and guest(piece, **figures)
    return what.cases(found, 1)[0]


def test_mts_over_mode_off():
    case = mild({"time_for_all_s": 10.0}, {"time_for_all_s": 9.0}, {"time_for_all_s": 8.0})
    assert (case.value, case.shown) == (0.9, {"mts / stock": 0.8})
    assert mild({"time_for_all_s": 10.0}, {"time_for_all_s": 9.0}, None).value == 0.9
    assert mild({"time_for_all_s": 10.0}, None, None).value is None
    nothing = {"time_for_all_s": None, "finished": False, "work": 0.0}
    assert mild({"time_for_all_s": 10.0}, nothing, None).value == math.inf
    killed = {"time_for_all_s": None, "killed_jobs": 1}
    assert mild(killed, {"time_for_all_s": 9.0}, None).value == 0
    assert "killed" in mild(killed, killed, None).spared


def test_latency_over_the_unloaded_host():
    keys = bars_points.Latency("ssd", bars.KEYS, over="times")
    more = bars_points.Latency("ssd", bars.REALTIME, over="more")
    mine, ideal = keys.pieces(1)
    assert more.pieces(1) == [mine, ideal]
    found = {
        mine: guest(mine, suite={"keys": {"p99_ms": 3.0}, "realtime": {"max_ms": 0.9}}),
        ideal: guest(ideal, suite={"keys": {"p99_ms": 2.0}, "realtime": {"max_ms": 0.4}}),
    }
    assert keys.cases(found, 1)[0].value == 1.5
    assert more.cases(found, 1)[0].value == pytest.approx(0.5)
    assert (keys.worst_seed, more.worst_seed) == (False, True)


def test_mixed_sizes_are_what_the_point_says():
    sizes = bars_simulated.mixed_sizes(40, 22 * GIB, 2.2, 0.8, 1)
    assert sum(sizes) == pytest.approx(2.2 * 22 * GIB, rel=1e-4)
    assert max(sizes) <= 22 * GIB / 3
    assert sizes != bars_simulated.mixed_sizes(40, 22 * GIB, 2.2, 0.8, 2)


def simulated(worth, pause):
    """A result of the simulator."""
    return {
        **{"counted_ns": 1e9, "counted_work_ns": worth * 1e9, "jain": 1.0, "overdue": 0},
        "longest_pause_ns": pause * 1e9,
    }


def grid(memory, processors, overcommit, pause, **of):
    """The cases of a point over the bound, and over step=bin."""
    point = bars_simulated.GridPoint(memory, processors, overcommit, pause)
    both = bars_simulated.Grid(memory), bars_simulated.GridOverBin()
    found = dict.fromkeys(piece for what in both for piece in what.pieces(1))
    found |= {point.piece(step, 1): simulated(*value) for step, value in of.items()}
    return [next(c for c in w.cases(found, 1) if c.label == point.label) for w in both]


def test_the_grid_over_its_bounds():
    """22 GiB at 2.2: 26.4 GiB x 262144 pages x 5.1 us / 60 s is 0.588 of 8 processors."""
    over, bins = grid(22, 8, 2.2, "60s", auto=(7.0, 59), bin=(3.5, 59))
    assert over.value == pytest.approx(7.0 / (8 - 26.4 * 262144 * 5.1e-6 / 60), rel=1e-3)
    assert bins.value == 2.0
    over, bins = grid(22, 8, 2.2, "60s", auto=(7.0, 59))
    assert (over.value is None, bins.value) == (False, None)


def test_no_scheduler_keeps_such_pauses():
    """1024 GiB at 2.2: 1229 GiB out and in take 839 s of the disk."""
    over, bins = grid(1024, 32, 2.2, "10m", auto=(20, 590), bin=(10, 590))
    assert (over.value, bins.value) == (None, None)
    assert "below 839 s" in over.spared
    assert bins.spared == over.spared
    assert bins.shown["step=bin"] == 10


def test_native_over_what_is_foretold():
    """Ten jobs of a quarter on two processors: bins get 1.6, overlapping ones at most 1.9."""
    what = bars_points.Native("engine-bin")
    pieces = what.pieces(1)

    def run(policy, work, pause):
        outcome = {
            **{"work": work, "elapsed": 100.0, "finished": True, "jain": 1.0},
            **{"without_memory": 0.0, "vmstat": {"pswpin": 1, "pswpout": 1}},
            "jobs": [{"longest_pause": pause, "ended": 1.0, "status": 0}],
        }
        shape = {"size": GIB // 4, "jobs": 10}
        host = {"processors": 2}
        return {"policy": policy, "outcome": outcome, "memory": GIB, "shape": shape, "host": host}

    runs = [run("stock", 0.001, 1.0), run("engine-bin", 0.8, 28.0), run("engine", 0.9, 28.0)]
    found = dict.fromkeys(pieces) | {pieces[0]: {"runs": runs}}
    case, lacking = what.cases(found, 1)
    assert lacking.value is None
    assert case.shown["ratio"] == pytest.approx(1.125)
    assert 1.0 < case.shown["foretold"] < 1.2
    assert case.value == pytest.approx(1.125 / case.shown["foretold"])
    case, _ = bars_points.Native("stock").cases(found, 1)
    assert case.value == pytest.approx(900)


# ---- the command ----


def command(*words):
    """bench/bars."""
    done = [sys.executable, ROOT / "bench" / "bars", *words]
    return subprocess.run(done, text=True, capture_output=True, check=False)


def test_it_goes_on_where_it_was(tmp_path):
    """What has a result is kept; what has none is measured; the page says what is missing."""
    page = tmp_path / "bars.md"
    page.write_text(f"# Bars\n\n{report_markdown.BEGIN}\n{report_markdown.END}\n")
    words = ("--only", "256 jobs 16 GiB", "-o", tmp_path)
    done = command("--found", *words)
    assert (done.returncode, done.stdout.split()[-5:]) == (1, ["3", "of", "3", "pieces", "missing"])
    done = command("--seeds", "1", *words)
    assert (done.returncode, done.stderr) == (0, "")
    (kept,) = (tmp_path / "simulator").glob("crowd-16G-60s-seed1-*.json")
    before = kept.read_text()
    kept.write_text(before.replace('"over_ideal": 1', '"over_ideal": 7'))
    done = command("--keep", "--seeds", "1..2", *words, "--markdown", page)
    assert "1/1 simulator crowd 16G 60s, seed 2: kept in" in done.stdout
    assert done.returncode == 1  # by the seed that was kept
    assert "| simulator 256 jobs 16 GiB | " in page.read_text()
    assert "- seeds: 1, 2\n- pieces measured: 2 of " in page.read_text()
    assert "not measured" in page.read_text()


def test_list():
    done = command("--list", "--only", "realtime", "--seeds", "2")
    assert done.returncode == 0
    assert "guest latency realtime ssd: <= 1. A switch may not" in done.stdout
    assert done.stdout.count("seed 2") == 2
    assert command("--only", "nothing of the kind").returncode == 2


def test_bars_with_one_reason_are_named_by_what_they_share(tmp_path):
    text = bars_markdown.text(
        [bars.judge(bar, tmp_path, (1,)) for bar in bars.BARS], (1,), tmp_path, "bench/bars"
    )
    assert "\n- *guest rotation …*: No scheduler" in text
    assert "\n- *native auto over bin*: Measured" in text
    assert "\n- *guest latency realtime ssd*: A switch" in text


def test_the_page_shows_losses(tmp_path):
    found = [
        verdict(tmp_path, Points("a", "b"), 0.9, a=[1, 1, 1], b=[0.5, 0.6, 0.5]),
        verdict(tmp_path, Points("c", "d"), 0.9, c=["why"] * 3),
    ]
    text = bars_markdown.text(found, (1, 2, 3), tmp_path, "bench/bars --found")
    assert "made by bench/bars --found:" in text
    assert "- bars: 2: 1 short, 1 not measured, or not all of it\n" in text
    assert "- pieces measured: 9 of 12\n" in text
    assert "| toy | 0.500 | 0.500..0.600 | 0.750 | \\>= 0.9 | short | 6 of 6 |\n" in text
    assert "### Where mts is short\n\n| bar | point |" in text
    assert "| toy | b | 0.500 | 0.500..0.600 | \\>= 0.9 |" in text
    assert "| a | 1.000 |" in text
    assert "commits: 0123456789ab\n" in text
