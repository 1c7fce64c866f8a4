# SPDX-License-Identifier: GPL-2.0
"""What runs for a bar, and what its results come to.

A `What` names the pieces of a seed, and makes cases of their results: a value for each point. Of a
case that has no value either a piece is missing, or `spared` says why the bar does not apply.
"""

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from bench.lab import bound, compare, sweep
from bench.lab.experiment import TIME, Json, Score, Setting
from bench.lab.pieces import Guest, Piece
from bench.lab.pieces import Native as NativePiece
from bench.native import figures as native_figures
from bench.native.policies import BIN_PART
from bench.suites import SUITES
from bench.suites.syn8 import PROCESS_MIB, processes

MIB, GIB, PAGE = 1 << 20, 1 << 30, 4096
MTS, OFF, STOCK, IDEAL = "mts", "off", compare.STOCK, compare.IDEAL
FREE_MIB = 320  # the kernel's fixed costs are some 15 MiB: a twentieth

Found = Mapping[Piece, Json | None]


@dataclass(frozen=True)
class Case:
    """A point with one seed."""

    label: str
    value: float | None = None
    spared: str = ""
    shown: Mapping[str, float] = field(default_factory=dict)  # beside it


class What(ABC):
    """What a bar measures."""

    lower = False  # is better
    worst_seed = False  # what must never happen is judged by it; else by the median

    @abstractmethod
    def pieces(self, seed: int) -> list[Piece]:
        """What has to run."""

    @abstractmethod
    def cases(self, found: Found, seed: int) -> list[Case]:
        """Of what is there of it."""


# ---- guests ---------------------------------------------------------------------------------


def guest(policy: str, seed: int, point: Setting) -> Guest:
    """The point under a policy."""
    return Guest(dataclasses.replace(point, policy=policy, seed=seed))


def _shift(disk: str) -> int:
    """The paper's disk has a processor of its time."""
    return 2 if disk == "paper" else 0


@dataclass(frozen=True)
class Rotation(What):
    """SYN8's loss over the least that there can be with the pauses that it had."""

    overcommit: float
    disk: str
    accesses: float  # million, of each process
    lower = True
    # Of a page at 1 ns an instruction: docs/performance.md, "The price of a switch".
    OUT, BACK = 13.1e-6 / PAGE, 11.3e-6 / PAGE

    @property
    def point(self) -> Setting:
        """Without a policy."""
        shift = _shift(self.disk)
        return Setting(
            suite="syn8",
            policy="",
            disk=self.disk,
            shift=shift,
            free_mib=FREE_MIB,
            overcommit=self.overcommit,
            limit=1500.0 * 2**shift,
            params=(("accesses", self.accesses),),
        )

    def pieces(self, seed: int) -> list[Piece]:
        """Beside the same work in batches that fit."""
        return [guest(policy, seed, self.point) for policy in (MTS, IDEAL)]

    def cases(self, found: Found, seed: int) -> list[Case]:
        """One."""
        label = f"x{self.overcommit:g} {self.disk}"
        mine, ideal = (found[piece] for piece in self.pieces(seed))
        if not mine or not ideal:
            return [Case(label)]
        if compare.killed([mine]):
            return [Case(label, math.inf)]
        gains = compare.gains([ideal], [mine], TIME)
        pause = compare.figure(mine, "longest_pause_s")
        if not gains or not pause:
            return [Case(label, math.inf)]
        times = 2**self.point.shift
        host = bound.Host(FREE_MIB * MIB, 1, self.OUT * times, self.BACK * times)
        least = bound.loss(processes(self.point) * PROCESS_MIB * MIB, host, pause)
        shown = {
            "mts / ideal": gains[0],
            "bound": 1 + least,
            "longest pause, s": pause,
            "rounds": compare.figure(mine, "policy.stats.rounds") or 0,
        }
        return [Case(label, (gains[0] - 1) / least, shown=shown)]


# A workload of each suite that takes 15 s or more of 320 MiB; its parameters, and a limit in s.
MILD: Mapping[str, tuple[Mapping[str, object], float]] = {
    "syn8": ({"accesses": 30.0}, 300.0),
    "spec": ({"mix": "2bzip2+3paths", "size": "test"}, 120.0),
    "stress-ng": ({"mix": "mixed", "seconds": 30}, 150.0),
    "builds": ({"kind": "debug", "trees": 0}, 300.0),
    "consumers": ({"experiment": "e4", "processes": 25}, 60.0),
    "scanners": ({"delay": 115.0, "duration": 300.0, "nice": 0}, 282.0),
    "protection": ({"alone": "no", "pair": "gcc+bit-r", "seconds": 20.0}, 244.0),
    "swappers": ({"experiment": "rounds", "count": 5, "duration": 60.0}, 120.0),
}
OVERCOMMITS = (0.5, 1.0, 1.25)
# Programs whose sizes are their own make up the demand only roughly: then more than FREE_MIB is
# asked for, so that no less is free when the memory is made to fit them.
WHOLE_MIB = 360


@lru_cache
def mild_point(suite: str, overcommit: float, disk: str) -> Setting:
    """Without a policy."""
    params, limit = MILD[suite]
    shift = _shift(disk)
    point = Setting(
        suite=suite,
        policy="",
        disk=disk,
        shift=shift,
        free_mib=WHOLE_MIB if SUITES[suite].whole else FREE_MIB,
        overcommit=overcommit,
        limit=limit * 2**shift,
        params=tuple(sorted(params.items())),
    )
    if not SUITES[suite].whole:
        return point
    demand = sum(job.demand_mib for job in SUITES[suite].workload(point).jobs)
    return dataclasses.replace(point, free_mib=round(demand / overcommit))


@dataclass(frozen=True)
class Mild(What):
    """How much more work than with mode=off, where memory nearly suffices."""

    suite: str
    disks: tuple[str, ...]

    def _runs(self, seed: int, disk: str, overcommit: float) -> tuple[Piece, ...]:
        point = mild_point(self.suite, overcommit, disk)
        # These may thrash for hours. Their rate shows before.
        cut = point.limit
        if not SUITES[self.suite].timed:
            cut = min(cut, sweep.CUT["full"] * 2**point.shift)
        short = dataclasses.replace(point, limit=cut)
        return guest(MTS, seed, point), guest(OFF, seed, short), guest(STOCK, seed, short)

    def pieces(self, seed: int) -> list[Piece]:
        """With stock Linux, which is shown."""
        return [p for d in self.disks for x in OVERCOMMITS for p in self._runs(seed, d, x)]

    def cases(self, found: Found, seed: int) -> list[Case]:
        """One for each disk and overcommit."""
        return [
            self._case(f"{disk} x{overcommit:g}", *(found[p] for p in runs))
            for disk in self.disks
            for overcommit in OVERCOMMITS
            for runs in (self._runs(seed, disk, overcommit),)
        ]

    def _case(self, label: str, mine: Json | None, off: Json | None, stock: Json | None) -> Case:
        if not mine or not off:
            return Case(label)
        score = SUITES[self.suite].score(mild_point(self.suite, 1.0, self.disks[0]))
        beside = _times(mine, stock, score) if stock else None
        shown = {"mts / stock": beside} if beside is not None else {}
        if compare.killed([off]):
            return Case(label, spared="jobs are killed with mode=off, too", shown=shown)
        return Case(label, _times(mine, off, score), shown=shown)


def _did_nothing(result: Json, score: Score) -> bool:
    value = compare.figure(result, score.figure)
    if score == TIME:
        return value is None and not result["figures"]["finished"]
    return value == 0 and not score.lower


def _times(mine: Json, other: Json, score: Score) -> float:
    """How many times better mine is: 0 if its jobs were killed, inf if the other did nothing."""
    if compare.killed([mine]) or _did_nothing(mine, score):
        return 0.0
    if compare.killed([other]) or _did_nothing(other, score):
        return math.inf
    return next(iter(compare.gains([mine], [other], score)), 0.0)


@dataclass(frozen=True)
class Latency(What):
    """A latency while SYN8 rotates; or over the unloaded host's."""

    disk: str
    score: Score
    over: str = ""  # times, more: than the unloaded host's
    lower = True

    @property
    def worst_seed(self) -> bool:  # type: ignore[override]
        """What is a most of a run must not be in any."""
        return self.over != "times"

    @property
    def point(self) -> Setting:
        """Of the suite, with more memory."""
        points = SUITES["latency"].points("full")
        mine = next(p for p in points if p.overcommit == 1.7 and p.disk == self.disk)
        return dataclasses.replace(mine, free_mib=FREE_MIB)

    def pieces(self, seed: int) -> list[Piece]:
        """With the unloaded host's, if it is compared with that."""
        policies = (MTS, IDEAL) if self.over else (MTS,)
        return [guest(policy, seed, self.point) for policy in policies]

    def cases(self, found: Found, seed: int) -> list[Case]:
        """One."""
        label = f"x1.7 {self.disk}"
        results = [found[piece] for piece in self.pieces(seed)]
        if not all(results):
            return [Case(label)]
        values = [compare.figure(result, self.score.figure) for result in results if result]
        if None in values:
            return [Case(label, math.inf)]
        value = values[0]
        if self.over:
            value = values[0] / values[1] if self.over == "times" else values[0] - values[1]
        names = (f"mts, {self.score.unit}", f"unloaded, {self.score.unit}")
        return [Case(label, value, shown=dict(zip(names, values, strict=False)))]


@dataclass(frozen=True)
class TwoProcessors(What):
    """Ten jobs at 2.5 times 2 GiB, with processors that really run side by side."""

    POINT = Setting(
        suite="swappers",
        policy="",
        processors=2,
        free_mib=2048,
        swap_mib=7000,
        overcommit=2.5,
        limit=320.0,
        params=(("count", 10), ("duration", 300.0), ("experiment", "rounds")),
    )

    def pieces(self, seed: int) -> list[Piece]:
        """With step=bin, and with stock Linux."""
        return [guest(policy, seed, self.POINT) for policy in (MTS, "bin", STOCK)]

    def cases(self, found: Found, seed: int) -> list[Case]:
        """One: over step=bin."""
        mine, bins, stock = (found[piece] for piece in self.pieces(seed))
        if not mine or not bins:
            return [Case("step=auto / step=bin")]
        score = SUITES["swappers"].score(self.POINT)
        shown = {
            "step=auto, pages/s": compare.figure(mine, score.figure),
            "step=bin, pages/s": compare.figure(bins, score.figure),
            "longest pause, s": compare.figure(mine, "longest_pause_s"),
            "of step=bin, s": compare.figure(bins, "longest_pause_s"),
        }
        if stock:
            shown["stock, pages/s"] = compare.figure(stock, score.figure)
        known = {name: value for name, value in shown.items() if value is not None}
        return [Case("step=auto / step=bin", _times(mine, bins, score), shown=known)]


# ---- this host ------------------------------------------------------------------------------

# Work of each job, and when a run is cut off, s: three policies are below half an hour.
NATIVE = {"1G": ("20", "220"), "4G": ("10", "500")}
# What bench/pagecost --random says of the host of docs/performance.md, s for a byte; bytes/s.
NATIVE_COST = (4.95e-6 / PAGE, 3.06e-6 / PAGE, 2200 * MIB)
_BESIDE = MIB  # a process of SYN8 has page tables and a stack, too


@dataclass(frozen=True)
class Native(What):
    """Ten jobs of a quarter of the memory on this host: step=auto over another policy.

    Over step=bin it is the ratio that is measured over the one that is foretold, for the pauses
    that either had.
    """

    other: str

    def pieces(self, seed: int) -> list[Piece]:
        """One run of each policy, in turn, for each size of memory."""
        return [self._piece(memory, seed) for memory in NATIVE]

    def _piece(self, memory: str, seed: int) -> Piece:
        seconds, limit = NATIVE[memory]
        asked = (
            *("--memory", memory, "--suite", "ten", "--seconds", seconds, "--limit", limit),
            *("--pairs", "1", "--seed", str(seed), "--policies", "stock", "engine-bin", "engine"),
        )
        return NativePiece(memory, seed, asked)

    def cases(self, found: Found, seed: int) -> list[Case]:
        """One for each size."""
        return [self._case(memory, found[self._piece(memory, seed)]) for memory in NATIVE]

    def _case(self, memory: str, result: Json | None) -> Case:
        if not result:
            return Case(memory)
        runs = {run["policy"]: run for run in result["runs"]}
        of = {name: native_figures.of_run(run["outcome"]) for name, run in runs.items()}
        mine, other = of["engine"], of[self.other]
        if mine.hurt or mine.killed or not other.rate:
            why = "" if mine.hurt or mine.killed else f"{self.other} did no work"
            return Case(memory, None if why else 0.0, spared=why)
        ratio = mine.rate / other.rate
        shown = {
            "ratio": ratio,
            "longest pause, s": mine.pause,
            f"of {self.other}, s": other.pause,
        }
        if self.other != "engine-bin":
            return Case(memory, ratio, shown=shown)
        host = bound.Host(
            runs["engine"]["memory"] * BIN_PART, runs["engine"]["host"]["processors"], *NATIVE_COST
        )
        shape = runs["engine"]["shape"]
        sizes = [shape["size"] + _BESIDE] * shape["jobs"]
        most = bound.overlapped(sizes, host, mine.pause)
        bins = bound.disjoint(sizes, host, other.pause)
        if not most or not bins:
            return Case(memory, spared="the bound keeps no such pause", shown=shown)
        return Case(memory, ratio * bins / most, shown={**shown, "foretold": most / bins})
