# SPDX-License-Identifier: GPL-2.0
"""The bars: what mts must reach, a line each, and whether results reach it.

A bar is of one point, or of several that have one reason: then the worst of them counts, and all
are shown. A point's value is the median over the seeds. BARS is the whole table: name, what runs,
limit, why that limit. bars_points.py, bars_papers.py and bars_simulated.py say what runs, and what
its results come to.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.lab import bars_papers as papers
from bench.lab import bars_points as points
from bench.lab import bars_simulated as simulated
from bench.lab.bars_points import What
from bench.lab.experiment import Score
from bench.lab.pieces import Piece

SEEDS = (1, 2, 3)

KEYS = Score("suite.keys.p99_ms", "key to echo, p99", "ms")
JITTER = Score("suite.jitter.max_ms", "monitor's jitter, most", "ms")
REALTIME = Score("suite.realtime.max_ms", "real-time task late by, most", "ms")

# Why a limit is what it is; a line of the table names one of them.
LOSS = (
    "No scheduler loses less than the bound at these pauses. Half as much again is for what the "
    "bound has not: the start, freezing, and slices that are not all of one length."
)
MILD = (
    "Little or nothing can be gained there, so nothing may be lost. 2 % is what an extrapolated "
    "rate and the moment of a look differ by. What a cgroup for each job costs is the kernel's, "
    "and mode=off pays it, too."
)
OVERLAP = (
    "A tenth of the bound, in which switches cost nothing but their pages, is for what jobs of "
    "whole sizes leave free, and for the time until a job's last page has come."
)
NEVER_LESS = "step=bin is one of the choices that step=auto has."
IDEAL = (
    "The bound is 1.01 to 1.03 there. Twice the loss of that on a small host, and what a switch of "
    "seconds takes on a large one."
)
TWICE = "A person hardly notices a key that takes twice as long."
JITTER_MS = "A sample that is taken each second may be late by a fiftieth of that."
REALTIME_MS = "A switch may not delay a real-time task: 1 ms above the unloaded host's."
RATIO = "Measured over foretold for that host; 15 % is what its runs differ by."
STOCK = "Stock Linux thrashes there: 95 times was the least of five runs on a busy host."
TOKEN = "The geometric mean of the paper's two slowdowns with protection, 1.97 and 1.81."
TOKEN_EACH = "Equal sharing of one processor without any fault is 2.0; the rest is for the start."
PAPERS_LU = "The paper's slowdowns with protection, 1.63 and 2.18: 1 is as slow as there."
PAPERS_FAULTS = (
    "The paper's protection left 4.3 and 50.2 % of the faults: 1 is as much of them as there."
)
PAPERS_FEWEST = "The paper's protection left one of the two 0.6 % of its faults."
PAPERS_ROUND = "The paper's mean round fell from 328 to 193 s, by 41 %."
PAPERS_BEST = "The paper's best swapper made 50 rounds for 35."
PAPERS_JAIN = "The paper's index comes to 1.0 with the fourth round."
PAPERS_SD = "The paper's dispersion of the least that gained, bzip2-chicken: 3.61 for 5.00 s."
PAPERS_SD_MOST = "The paper's dispersion of its largest programs: 5.92 for 46.38 s."
PAPERS_MEAN = "Fairness may not cost the program time; in the paper it did, at times."
SHOWN = "Shown only: a processor of such a guest is a thread of this host, and no speed is known."


@dataclass(frozen=True)
class Bar:
    """One line. `limit` None: it is shown, and there is nothing to reach."""

    name: str
    what: What
    limit: float | None
    why: str

    @property
    def limit_text(self) -> str:
        """As in a table."""
        if self.limit is None:
            return ""
        return f"{'<=' if self.what.lower else '>='} {self.limit:g}"

    def pieces(self, seeds: Sequence[int]) -> list[Piece]:
        """All that it needs."""
        return list(dict.fromkeys(p for seed in seeds for p in self.what.pieces(seed)))


def _rotation(overcommit: float, disk: str, accesses: float) -> Bar:
    return Bar(
        f"guest rotation x{overcommit:g} {disk}",
        points.Rotation(overcommit, disk, accesses),
        1.5,
        LOSS,
    )


def _mild(suite: str) -> Bar:
    return Bar(f"guest mild {suite}", points.Mild(suite, DISKS), 0.98, MILD)


DISKS = ("ssd", "nvme", "zram", "paper")
PAIR, SAME = "gcc+bit-r", "lu+lu"
BZIP2, GCC = ("bzip2-combined",), ("gcc-166", "gcc-c-typeck")

BARS = (
    # The overcommit, the disk, million accesses of each process: work for six rounds or more.
    _rotation(1.7, "ssd", 150.0),
    _rotation(1.7, "nvme", 150.0),
    _rotation(1.7, "paper", 80.0),
    _rotation(3.0, "ssd", 80.0),
    _rotation(3.0, "nvme", 80.0),
    _rotation(3.0, "paper", 60.0),
    *(_mild(suite) for suite in points.MILD),
    Bar("guest latency keys ssd", points.Latency("ssd", KEYS, over="times"), 2.0, TWICE),
    Bar("guest latency keys paper", points.Latency("paper", KEYS, over="times"), 2.0, TWICE),
    Bar("guest latency jitter ssd", points.Latency("ssd", JITTER), 20.0, JITTER_MS),
    Bar("guest latency jitter paper", points.Latency("paper", JITTER), 20.0, JITTER_MS),
    Bar(
        "guest latency realtime ssd", points.Latency("ssd", REALTIME, over="more"), 1.0, REALTIME_MS
    ),
    Bar("two processors 2 GiB x2.5", points.TwoProcessors(), None, SHOWN),
    Bar("native auto over bin", points.Native("engine-bin"), 0.85, RATIO),
    Bar("native auto over stock", points.Native("stock"), 50.0, STOCK),
    Bar("simulator grid 22 GiB over the bound", simulated.Grid(22), 0.9, OVERLAP),
    Bar("simulator grid 256 GiB over the bound", simulated.Grid(256), 0.9, OVERLAP),
    Bar("simulator grid 1024 GiB over the bound", simulated.Grid(1024), 0.9, OVERLAP),
    Bar("simulator grid auto over bin", simulated.GridOverBin(), 1.0, NEVER_LESS),
    Bar("simulator 256 jobs 16 GiB", simulated.Crowd("16G", "60s"), 1.06, IDEAL),
    Bar("simulator 256 jobs 64 GiB", simulated.Crowd("64G", "60s"), 1.10, IDEAL),
    Bar("simulator 256 jobs 1 TiB", simulated.Crowd("1T", "1h"), 1.10, IDEAL),
    Bar("papers token gcc+bit-r slowdown", papers.MeanSlowdown(PAIR), 1.89, TOKEN),
    Bar("papers token gcc+bit-r each", papers.EachSlowdown(PAIR), 2.05, TOKEN_EACH),
    Bar("papers token gcc+bit-r faults", papers.FaultsOverPaper(PAIR), 1.0, PAPERS_FAULTS),
    Bar("papers token lu+lu slowdown", papers.OverPaper(SAME), 1.0, PAPERS_LU),
    Bar("papers token lu+lu faults", papers.FewestFaults(SAME), 0.01, PAPERS_FEWEST),
    Bar("papers fair rounds mean", papers.Rounds("mean"), 0.59, PAPERS_ROUND),
    Bar("papers fair rounds best", papers.Rounds("best"), 1.43, PAPERS_BEST),
    Bar("papers fair rounds Jain", papers.Rounds("jain"), 0.98, PAPERS_JAIN),
    Bar("papers fair mix dispersion", papers.Mix("sd", BZIP2 + GCC), 0.72, PAPERS_SD),
    Bar("papers fair mix dispersion, most", papers.Mix("sd", BZIP2), 0.13, PAPERS_SD_MOST),
    Bar("papers fair mix mean", papers.Mix("mean", GCC), 1.0, PAPERS_MEAN),
)


@dataclass(frozen=True)
class Point:
    """What became of one point: a value for each seed that has all of its pieces."""

    label: str
    values: tuple[float, ...]
    lacking: int  # seeds that have not
    spared: str  # why the bar does not apply to it; else empty
    columns: tuple[tuple[str, str], ...]  # what is shown beside it
    worst: float | None = None  # instead of the median

    @property
    def value(self) -> float | None:
        """The median; None: there is none."""
        known = sorted(self.values)
        if not known or self.spared:
            return None
        if self.worst is not None:
            return self.worst
        middle = statistics.median if math.isfinite(known[-1]) else statistics.median_low
        return middle(known)

    @property
    def spread(self) -> str:
        """From the least to the most of the seeds."""
        return between(self.values)


def number(value: float) -> str:
    """For people: three places, as a bar is often near 1."""
    return f"{value:.3f}" if value < 100 else f"{value:.4g}"


def between(values: Sequence[float]) -> str:
    """The range of values that differ."""
    if len(set(map(number, values))) < 2:
        return ""
    return f"{number(min(values))}..{number(max(values))}"


@dataclass(frozen=True)
class Verdict:
    """What a bar came to."""

    bar: Bar
    points: tuple[Point, ...]
    missing: int  # pieces
    pieces: int

    @property
    def worst(self) -> Point | None:
        """The point that counts."""
        known = [point for point in self.points if point.value is not None]
        if not known:
            return None
        choose = max if self.bar.what.lower else min
        return choose(known, key=lambda point: point.value or 0.0)

    @property
    def median(self) -> float | None:
        """Of all points."""
        known = [point.value for point in self.points if point.value is not None]
        return statistics.median(known) if known else None

    @property
    def short(self) -> list[Point]:
        """The points that do not reach the limit."""
        limit, lower = self.bar.limit, self.bar.what.lower
        if limit is None:
            return []
        return [
            point
            for point in self.points
            if point.value is not None and (point.value > limit if lower else point.value < limit)
        ]

    @property
    def word(self) -> str:
        """Short, if a point is by what there is; `?` if a piece is missing; - if none applies."""
        if self.short:
            return "short"
        if self.missing:
            return "?"
        if not self.worst:
            return "-"
        return "ok" if self.bar.limit is not None else "shown"

    @property
    def line(self) -> str:
        """For a terminal."""
        worst = self.worst
        value = number(worst.value) if worst and worst.value is not None else "-"
        said = f" ({worst.spread})" if worst and worst.spread else ""
        lacks = f"  {self.missing} of {self.pieces} pieces missing" if self.missing else ""
        limit = self.bar.limit_text
        return f"{self.bar.name:<44} {value + said:>24}  {limit:<8} {self.word}{lacks}"


def judge(bar: Bar, folder: Path, seeds: Sequence[int]) -> Verdict:
    """By the results that the folder has."""
    pieces = bar.pieces(seeds)
    missing = sum(not (folder / piece.path).exists() for piece in pieces)
    cases: dict[str, list[points.Case]] = {}
    for seed in seeds:
        found = {p: p.read(folder) for p in bar.what.pieces(seed)}
        for case in bar.what.cases(found, seed):
            cases.setdefault(case.label, []).append(case)
    made = tuple(_point(of, bar.what) for of in cases.values())
    return Verdict(bar, made, missing, len(pieces))


def _point(cases: Sequence[points.Case], what: What) -> Point:
    known = [case for case in cases if case.value is not None]
    spared = next((case.spared for case in cases if case.spared), "")
    names = list(dict.fromkeys(name for case in cases for name in case.shown))
    columns = []
    for name in names:
        values = [case.shown[name] for case in cases if name in case.shown]
        columns.append((name, f"{statistics.median(values):.4g}"))
    values = tuple(case.value for case in known if case.value is not None)
    worst = max if what.lower else min
    return Point(
        cases[0].label,
        values,
        len(cases) - len(known) if not spared else 0,
        spared,
        tuple(columns),
        worst(values) if what.worst_seed and values else None,
    )
