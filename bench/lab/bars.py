# SPDX-License-Identifier: GPL-2.0
"""The bars: what mts must reach in the laboratory, and whether results reach it.

A bar compares mts with one other policy at one point, seed by seed, and takes the median; or it
takes a figure of mts alone. Where something must never happen it takes the worst seed. Each run of
SYN8 has work for six rounds or more at the slices that mts comes to there, so that the rotation is
measured, and not the luck of a bin that ends in its first slice; that it was so is a bar, too.
"""

import dataclasses
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.lab import compare, results, sweep
from bench.lab.experiment import TIME, Json, Score, Setting, Suite
from bench.lab.score import values as values_of

MTS, STOCK, IDEAL = "mts", compare.STOCK, compare.IDEAL
# Stock Linux may need hours for all of it: its rate is taken, as in a full sweep.
STOCK_LIMIT = sweep.CUT["full"]
LONG = 2000.0  # virtual s, in which the others end
SYN8_FREE_MIB = 96
# Overcommits at which turns gain nothing; mts must not lose there.
MILD = (0.5, 0.75, 1.0, 1.25)
MILD_DISKS = ("ssd", "nvme", "paper", "zram")
DENSE = (1.5, 2.0)
DENSE_SUITES = ("builds", "spec", "stress-ng")
THRASHES = 2.0  # times its unloaded time
# Starts of hackbench without the module and with it: twice so many of each.
TURNS = 12
TURN_MESSAGES = 100_000
# Latencies for a person at the host, while other jobs thrash.
KEYS = Score("suite.keys.p99_ms", "key to echo, p99", "ms")
KEYS_MOST = Score("suite.keys.max_ms", "key to echo, most", "ms")
MONITOR_MOST = Score("suite.jitter.max_ms", "monitor's jitter, most", "ms")
REALTIME_MOST = Score("suite.realtime.max_ms", "real-time task late by, most", "ms")
# What the rotation is measured by means something only of so many rounds, and so short pauses.
ROUNDS = Score("policy.stats.rounds", "rounds", "", lower=False)
PAUSE_MOST = Score("longest_pause_s", "longest pause", "s")
# Each key is the first one after a pause, for an editor that is a job as any other by then.
PAUSES = {"key": 20.0, "duration": 160.0}
# Progress over goal: of whole rounds, as each run has several.
JAIN = Score("jain", "Jain's index", "", lower=False)
# The papers' experiments long enough for that: suite -> params, seconds that they take.
FAIR = {
    "swappers": ({"experiment": "rounds", "count": 5, "duration": 120.0}, 120.0),
    "scanners": ({"duration": 3600.0}, 3600.0 * 48 / 512),
}


@dataclass(frozen=True)
class Bar:
    """One line."""

    point: Setting  # of any policy
    other: str  # policy: stock or ideal; none: a figure of one policy alone
    limit: float
    # Only where stock takes so many times its unloaded time (ideal's); 0: always.
    where_stock_over: float = 0.0
    timed: bool = False  # as Suite.timed: stock is not cut short
    score: Score | None = None  # what counts; None: as the suite has it
    added: bool = False  # how much more than the other's, not how many times
    never: bool = False  # in no seed
    alone: str = MTS  # without `other`: the policy of the figure
    grid: bool = False  # one of a point at several overcommits: the cell of a table, for people

    @property
    def at_least(self) -> bool:
        """Is the limit a lower one? Against stock it is a gain, against ideal a loss."""
        if not self.other:
            return self.score is not None and not self.score.lower
        return self.other == STOCK

    @property
    def name(self) -> str:
        """For a line."""
        params = " ".join(f"{k}={v}" for k, v in self.point.params)
        what = "stock / mts" if self.at_least else "mts / ideal"
        if self.added:
            what = f"mts - {self.other}"
        if not self.other:
            what = MTS
        where = f"x{self.point.overcommit:g} {self.point.disk} {2**self.point.shift} ns"
        counts = f", {self.score.heading}".removesuffix(", ") if self.score else ""
        return f"{what}: {self.point.suite} {where} {params}".rstrip() + counts

    def settings(self, seeds: Sequence[int]) -> list[Setting]:
        """What must be run for it."""
        names = {MTS, self.other} if self.other else {self.alone}
        names |= {IDEAL} if self.where_stock_over else set()
        return [self._setting(name, seed) for name in sorted(names) for seed in seeds]

    def _setting(self, policy: str, seed: int) -> Setting:
        point = self.point
        limit = point.limit
        if policy == STOCK and not self.timed:
            limit = min(limit, STOCK_LIMIT * 2**point.shift)
        return dataclasses.replace(point, policy=policy, seed=seed, limit=limit)


@dataclass(frozen=True)
class Verdict:
    """What a bar came to."""

    bar: Bar
    value: float | None  # None: no run to tell
    spared: bool = False  # stock does not thrash there, or kills: the bar does not apply
    killed: bool = False  # jobs were
    measured: bool = True  # all that it asks for
    told: tuple[str, str] | None = None  # what is shown, and the word: by an earlier measurement

    @property
    def word(self) -> str:
        """Ok, short, or none of them."""
        if self.told:
            return self.told[1]
        if not self.measured:
            return "?"
        if self.spared:
            return "-"
        if self.value is None:
            return "short"
        good = self.value >= self.bar.limit if self.bar.at_least else self.value <= self.bar.limit
        return "ok" if good else "short"

    @property
    def shown(self) -> str:
        """The value, or why there is none."""
        if self.told:
            return self.told[0]
        if not self.measured:
            return "unmeasured"
        nothing = "killed" if self.killed else "no result"
        return nothing if self.value is None else f"{self.value:.3f}"

    @property
    def limit(self) -> str:
        """The limit, and of which kind it is."""
        return f"{'>=' if self.bar.at_least else '<='} {self.bar.limit:g}"

    @property
    def line(self) -> str:
        """Name, value, limit, word."""
        return f"{self.bar.name:<70} {self.shown:>10}  {self.limit:<9} {self.word}"


def _syn8(overcommit: float, disk: str, shift: int, accesses: float) -> Setting:
    return Setting(
        suite="syn8",
        policy=STOCK,
        disk=disk,
        shift=shift,
        free_mib=SYN8_FREE_MIB,
        overcommit=overcommit,
        limit=LONG,
        params=(("accesses", accesses),),
    )


def bars(suites: Mapping[str, Suite]) -> list[Bar]:
    """All bars."""
    rotation = (
        # overcommit, disk, shift, accesses (million), stock / mts, mts / ideal
        (1.7, "ssd", 0, 260.0, 35.0, 1.1),
        (1.7, "ssd", 2, 150.0, 500.0, 1.3),
        (1.7, "nvme", 0, 260.0, 15.0, 1.1),
        (1.7, "paper", 2, 150.0, 25.0, 1.5),
        (3.0, "ssd", 0, 220.0, 35.0, 1.2),
    )
    found = []
    for overcommit, disk, shift, accesses, gain, loss in rotation:
        point = _syn8(overcommit, disk, shift, accesses)
        found += [
            Bar(point, STOCK, gain),
            Bar(point, IDEAL, loss),
            Bar(point, "", 6.0, score=ROUNDS, never=True),
            Bar(point, "", 30.0, score=PAUSE_MOST, never=True),
        ]
    for suite in suites.values():
        points = _points(suite)
        if suite.name == "idle":
            found += [_idle(suite, point) for point in points]
            continue
        if suite.name == "latency":
            found += _latency(suite)
            continue
        if suite.name in FAIR:
            found.append(_fair(suite, points))
        found += [
            Bar(point, STOCK, 0.98, timed=suite.timed, grid=True)
            for overcommit in MILD
            for disk in MILD_DISKS
            for point in _distinct(suite, points, overcommit, disk)
        ]
        if suite.name in DENSE_SUITES:
            found += [
                Bar(point, STOCK, 1.5, THRASHES, timed=suite.timed, grid=True)
                for overcommit in DENSE
                for point in _distinct(suite, points, overcommit, "ssd")
            ]
    return found


def _with(point: Setting, params: Mapping[str, Any]) -> Setting:
    """The point with other parameters; its time limit may be too short for them."""
    duration = params.get("duration", 0.0)
    return dataclasses.replace(
        point,
        limit=max(point.limit, 1.5 * duration),
        params=tuple(sorted({**dict(point.params), **params}.items())),
    )


def _idle(suite: Suite, point: Setting) -> Bar:
    """What the module costs while there is nothing to do."""
    if point.param("program") != "hackbench":
        return Bar(point, STOCK, 0.995, timed=True)
    # Its own course of events differs by more than that from boot to boot: in one guest, by turns.
    point = _with(point, {"messages": TURN_MESSAGES, "turns": TURNS})
    return Bar(point, "", 1.005, score=suite.score(point), alone=STOCK, timed=True)


def _latency(suite: Suite) -> list[Bar]:
    """What is felt at 1.7 times the memory, against the same host without SYN8."""
    found = []
    for point in suite.points("full"):
        if point.overcommit != 1.7:
            continue
        found += [
            Bar(point, IDEAL, 2.0, score=KEYS),
            Bar(point, "", 100.0, score=KEYS_MOST, never=True),
            Bar(point, "", 20.0, score=MONITOR_MOST, never=True),
            Bar(_with(point, PAUSES), "", 100.0, score=KEYS_MOST, never=True),
        ]
        if point.disk == "ssd":
            found.append(Bar(point, IDEAL, 1.0, score=REALTIME_MOST, added=True, never=True))
    return found


def _fair(suite: Suite, points: Sequence[Setting]) -> Bar:
    """Jobs with equal demands get equal shares."""
    params, seconds = FAIR[suite.name]
    # a job that is frozen at the end of its time ends later
    point = dataclasses.replace(_with(points[0], params), limit=float(round(1.5 * seconds)))
    return Bar(point, "", 0.98, score=JAIN)


def _points(suite: Suite) -> list[Setting]:
    """What is measured of a suite at any overcommit; mts is left to its own settings."""
    if suite.name == "builds":  # as many trees as the demand asks for
        return [suite.point(1.0, limit=120, kind="debug", trees=0)]
    return [
        dataclasses.replace(
            point, params=tuple(p for p in point.params if p[0] not in suite.rotation_params)
        )
        for point in suite.points("quick")
    ]


def _distinct(
    suite: Suite, points: Sequence[Setting], overcommit: float, disk: str
) -> list[Setting]:
    """The points of a suite at one overcommit and on one disk, each once."""
    shift = 2 if disk == "paper" else 0
    return list(
        dict.fromkeys(
            _fitted(
                suite,
                dataclasses.replace(
                    point,
                    overcommit=overcommit,
                    disk=disk,
                    shift=shift,
                    limit=point.limit * 2**shift / 2**point.shift,
                ),
            )
            for point in points
        )
    )


def _fitted(suite: Suite, point: Setting) -> Setting:
    """With the free memory at which the jobs' demand has the point's overcommit."""
    if not suite.whole:
        return point
    demand = sum(job.demand_mib for job in suite.workload(point).jobs)
    return dataclasses.replace(point, free_mib=round(demand / point.overcommit))


def _did_nothing(result: Json, score: Score) -> bool:
    """Whether a run did no work, so that it has no ratio."""
    value = compare.figure(result, score.figure)
    if score == TIME:
        return value is None and not result["figures"]["finished"]
    return value == 0 and not score.lower


def _without_ratio(these: Sequence[Json], base: Sequence[Json], score: Score) -> list[float]:
    """If no run of the base did any work, each run that did some is infinitely better."""
    if compare.killed([*these, *base]) or not base:
        return []
    if not all(_did_nothing(result, score) for result in base):
        return []
    return [0.0 if _did_nothing(result, score) else math.inf for result in these]


def judge(bar: Bar, found: Sequence[Json], suite: Suite) -> Verdict:
    """The verdict of the results on a bar; results of other settings are ignored."""
    score = bar.score or suite.score(bar.point)
    point = compare.point_of(results.setting_json(bar.point))
    mine = [result for result in found if compare.point_of(result["setting"]) == point]
    of = {n: [r for r in mine if r["setting"]["policy"] == n] for n in (MTS, STOCK, IDEAL)}
    if not bar.other:
        values = [] if compare.killed(of[bar.alone]) else values_of(of[bar.alone], score)
    elif bar.added:
        values = compare.excess(of[MTS], of[bar.other], score)
    elif bar.at_least:
        sides = of[MTS], of[STOCK], score
        values = compare.gains(*sides) or _without_ratio(*sides)
    else:
        values = compare.gains(of[IDEAL], of[MTS], score)
    if not values:
        mine, other = of[bar.alone], of.get(bar.other, [])
        kills = bool(mine) and bar.other == STOCK and compare.killed(other)
        return Verdict(bar, None, kills, compare.killed([*mine, *other]))
    spared = False
    if bar.where_stock_over:
        slower = compare.gains(of[IDEAL], of[STOCK], score)
        spared = bool(slower) and statistics.median(slower) <= bar.where_stock_over
    if bar.never:
        return Verdict(bar, min(values) if bar.at_least else max(values))
    median = statistics.median_low if math.inf in values else statistics.median
    return Verdict(bar, median(values), spared)
