# SPDX-License-Identifier: GPL-2.0
"""What runs for the bars of two papers' tables: token (Jiang & Zhang 2001) and fair (Goichon,
Salagnac & Frénot 2013), on the memory that the papers had, on their disk and on an SSD.

The papers' limits are told relative to stock Linux or to the program alone, as their machines were
not ours.
"""

import dataclasses
import math
import statistics
from abc import abstractmethod
from dataclasses import dataclass

from bench.lab.bars_points import IDEAL, MTS, STOCK, Case, Found, What, guest
from bench.lab.experiment import Json
from bench.lab.pieces import Piece
from bench.suites import paperlib, protection, swappers

TOKEN, FAIR, AUTO = "token", "fair", "auto"
DISKS = paperlib.DISKS

# ---- token ----------------------------------------------------------------------------------

# How long a program takes alone, about. On the paper's disk a program's memory takes a minute to
# come back: there a shorter one would be over before.
ALONE_S = {"paper": protection.PAPER_SECONDS, "ssd": 20.0}


@dataclass(frozen=True)
class Pair(What):
    """What a pair's programs come to with the token."""

    pair: str
    lower = True

    def _runs(self, seed: int, disk: str) -> dict[str, Piece]:
        point = protection.SUITE.pair_point(self.pair, protection.PAPER_MIB, disk, ALONE_S[disk])
        runs = {name: guest(name, seed, point) for name in (TOKEN, IDEAL, MTS, AUTO)}
        # It may thrash for hours. Its rate shows before.
        cut = dataclasses.replace(point, limit=3 * ALONE_S[disk])
        return runs | {STOCK: guest(STOCK, seed, cut)}

    def pieces(self, seed: int) -> list[Piece]:
        """With each program alone (ideal), stock Linux, turns and auto, which are shown."""
        return [piece for disk in DISKS for piece in self._runs(seed, disk).values()]

    def cases(self, found: Found, seed: int) -> list[Case]:
        """Of each disk, where the pieces that it needs are there."""
        programs = [name for name, *_ in protection.PAIRS[self.pair][1]]
        cases = []
        for disk in DISKS:
            pieces = self._runs(seed, disk)
            runs = {name: result for name, p in pieces.items() if (result := found[p])}
            whole = {TOKEN, IDEAL, STOCK} <= runs.keys()
            cases += [
                dataclasses.replace(case, label=f"{disk}: {case.label}")
                for case in self.of(programs, runs if whole else {})
            ]
        return cases

    @abstractmethod
    def of(self, labels: list[str], runs: dict[str, Json]) -> list[Case]:
        """The cases; of no runs without values."""


def slowdowns(runs: dict[str, Json], policy: str) -> list[float]:
    """Of each program, over its time alone; where it was cut off, at the rate that it had."""
    programs = paperlib.own(runs[policy])["programs"] if policy in runs else {}
    found = []
    for name, figures in programs.items():
        alone = protection.alone_time([runs[IDEAL]], runs[policy], name)
        time = figures["expected_s"]
        found.append(time / alone if time and alone else math.inf)
    return found


def _beside(runs: dict[str, Json], one: int | None = None) -> dict[str, float]:
    """What others come to: of one program, or the mean of both."""
    shown = {}
    for policy in (STOCK, MTS, AUTO):
        slow = slowdowns(runs, policy)
        if slow:
            shown[policy] = slow[one] if one is not None else statistics.geometric_mean(slow)
    return shown


class MeanSlowdown(Pair):
    """The geometric mean of both."""

    def of(self, labels: list[str], runs: dict[str, Json]) -> list[Case]:
        """One."""
        if not runs:
            return [Case(self.pair)]
        value = statistics.geometric_mean(slowdowns(runs, TOKEN))
        return [Case(self.pair, value, shown=_beside(runs))]


class EachSlowdown(Pair):
    """Each program's own."""

    def of(self, labels: list[str], runs: dict[str, Json]) -> list[Case]:
        """One for each program."""
        if not runs:
            return [Case(label) for label in labels]
        return [
            Case(label, value, shown=_beside(runs, at))
            for at, (label, value) in enumerate(zip(labels, slowdowns(runs, TOKEN), strict=True))
        ]


class OverPaper(Pair):
    """The slowdown over that of the paper's kernel with protection.

    The two are the same program, so the faster one is compared with the faster one.
    """

    def of(self, labels: list[str], runs: dict[str, Json]) -> list[Case]:
        """The faster, and the slower."""
        names = ["faster", "slower"]
        if not runs:
            return [Case(name) for name in names]
        papers = sorted(row[4] for row in protection.PAIRS[self.pair][1])
        mine, stock = sorted(slowdowns(runs, TOKEN)), sorted(slowdowns(runs, STOCK))
        return [
            Case(name, ours / theirs, shown={"slowdown": ours, "paper": theirs, STOCK: usual})
            for name, ours, theirs, usual in zip(names, mine, papers, stock, strict=True)
        ]


def faults_left(runs: dict[str, Json]) -> list[float]:
    """Major faults of each program over those under stock Linux."""
    both = [paperlib.own(runs[policy])["programs"].values() for policy in (TOKEN, STOCK)]
    counts = [[program["major_faults"] for program in programs] for programs in both]
    return [mine / usual if usual else math.inf for mine, usual in zip(*counts, strict=True)]


class FaultsOverPaper(Pair):
    """The part of the faults that is left, over the part that the paper's protection left."""

    def of(self, labels: list[str], runs: dict[str, Json]) -> list[Case]:
        """One for each program."""
        if not runs:
            return [Case(label) for label in labels]
        papers = [1 - row[5] / 100 for row in protection.PAIRS[self.pair][1]]
        return [
            Case(label, left / theirs, shown={"left": left, "paper": theirs})
            for label, left, theirs in zip(labels, faults_left(runs), papers, strict=True)
        ]


class FewestFaults(Pair):
    """The part of the faults that is left to the program that the protection is for."""

    def of(self, labels: list[str], runs: dict[str, Json]) -> list[Case]:
        """One."""
        if not runs:
            return [Case(self.pair)]
        left = sorted(faults_left(runs))
        return [Case(self.pair, left[0], shown={"of the other": left[1]})]


# ---- fair -----------------------------------------------------------------------------------

ROUNDS_S = {"paper": swappers.PAPER_DURATION, "ssd": 240.0}
FIRST_ROUND = 3  # of which Jain's index counts: the fourth


@dataclass(frozen=True)
class Rounds(What):
    """Five timed swappers with fair, beside stock Linux."""

    figure: str  # mean, best, jain

    @property
    def lower(self) -> bool:  # type: ignore[override]
        """Of durations."""
        return self.figure == "mean"

    def pieces(self, seed: int) -> list[Piece]:
        """Both, on each disk."""
        return [piece for disk in DISKS for piece in self._runs(seed, disk)]

    def _runs(self, seed: int, disk: str) -> list[Piece]:
        duration = ROUNDS_S[disk]
        point = swappers.SUITE.rounds_point(swappers.PAPER_MIB, disk, duration, limit=2 * duration)
        return [guest(policy, seed, point) for policy in (FAIR, STOCK)]

    def cases(self, found: Found, seed: int) -> list[Case]:
        """One for each disk."""
        return [
            self._case(disk, *(found[piece] for piece in self._runs(seed, disk))) for disk in DISKS
        ]

    def _case(self, disk: str, mine: Json | None, stock: Json | None) -> Case:
        if not mine or not stock:
            return Case(disk)
        ours, theirs = (self._value(paperlib.own(result)) for result in (mine, stock))
        if ours is None or theirs is None:
            return Case(disk, math.inf if self.lower else 0.0)
        value = ours if self.figure == "jain" else ours / theirs
        return Case(disk, value, shown={FAIR: ours, STOCK: theirs})

    def _value(self, own: Json) -> float | None:
        if self.figure == "mean":
            known = [time for time in own["mean_round_s"] if time is not None]
            return paperlib.mean(known)
        if self.figure == "best":
            return max((n for n in own["rounds_done"] if n is not None), default=None)
        return paperlib.mean(own["jain_of_round"][FIRST_ROUND:])


# 20 runs of each program under each policy, so they are on an eighth of the paper's memory, and
# take an eighth of its time: at the full size that is a week.
MIX_MIB = swappers.PAPER_MIB // 8
MIX_RUNS = 20


@dataclass(frozen=True)
class Mix(What):
    """The time of a program beside an endless swapper with fair, over stock Linux's.

    A seed is 20 runs: its standard deviation, or its mean.
    """

    figure: str  # sd, mean
    programs: tuple[str, ...]
    lower = True

    def _runs(self, seed: int, program: str, disk: str, policy: str) -> list[Piece]:
        runs = range(MIX_RUNS * (seed - 1) + 1, MIX_RUNS * seed + 1)
        limit = 12.0 * swappers.PAPER_MIX[program][1] * MIX_MIB / swappers.PAPER_MIB
        point = swappers.SUITE.mix_point(program, MIX_MIB, disk, limit)
        return [guest(policy, run, point) for run in runs]

    def pieces(self, seed: int) -> list[Piece]:
        """20 of each program under both."""
        return [
            piece
            for program in self.programs
            for disk in DISKS
            for policy in (FAIR, STOCK)
            for piece in self._runs(seed, program, disk, policy)
        ]

    def cases(self, found: Found, seed: int) -> list[Case]:
        """One for each program and disk."""
        return [
            self._case(found, seed, program, disk) for program in self.programs for disk in DISKS
        ]

    def _case(self, found: Found, seed: int, program: str, disk: str) -> Case:
        label = f"{disk}: {program}"
        took = {
            policy: [_program_s(found[p]) for p in self._runs(seed, program, disk, policy)]
            for policy in (FAIR, STOCK)
        }
        if any(None in times for times in took.values()):
            return Case(label)
        mine, usual = (
            [time for time in took[policy] if time is not None] for policy in (FAIR, STOCK)
        )
        if math.inf in usual:
            return Case(label, spared="stock Linux does not end it in twelve times its time")
        if math.inf in mine:
            return Case(label, math.inf)
        of = statistics.stdev if self.figure == "sd" else statistics.fmean
        shown = {f"{FAIR}, s": of(mine), f"{STOCK}, s": of(usual)}
        return Case(label, of(mine) / of(usual), shown=shown)


def _program_s(result: Json | None) -> float | None:
    """inf: it was cut off."""
    if not result:
        return None
    took: float | None = paperlib.own(result)["program_s"]
    return math.inf if took is None else took
