# SPDX-License-Identifier: GPL-2.0
"""What the simulator runs for a bar: hosts up to a tebibyte. See bars_points.py."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from bench.lab import bound
from bench.lab.bars_points import GIB, MIB, PAGE, Case, Found, What
from bench.lab.experiment import Json
from bench.lab.pieces import Piece, Simulated

# An EPYC's pages by bench/pagecost, docs/simulation.md; fault and freeze are a fifth of a guest's.
EPYC = "touch=2us,evict=2700ns,back=2400ns,fault=6us,freeze=70us"
EPYC_COST = (2.7e-6 / PAGE, 2.4e-6 / PAGE, 3000 * MIB)
# GiB: how many jobs, and the deviation of their sizes' logarithm: those of the model on which the
# design stands (22 and 256 GiB), sizes from a tenth to ten times the median.
GRID = {22: (40, 0.8), 256: (200, 1.0), 1024: (800, 1.0)}
# s before what is counted: jobs fill the memory, and what does not fit goes out in a storm.
# After 20 minutes that was not yet over on 1024 GiB.
GRID_STARTS = {22: 600, 256: 600, 1024: 2400}
GRID_PROCESSORS = (8, 32, 64)
GRID_OVERCOMMITS = (1.33, 2.2)
GRID_PAUSES = {"60s": 60, "10m": 600, "1h": 3600}
LARGEST = 1 / 3  # of the memory: larger jobs have it for themselves, whatever the scheduler


@lru_cache
def mixed_sizes(jobs: int, memory: int, overcommit: float, sigma: float, seed: int) -> list[int]:
    """Bytes of each job: lognormal, together just so many times the memory."""
    draw = random.Random(seed)
    sizes = [draw.lognormvariate(0, sigma) for _ in range(jobs)]
    for _ in range(50):  # what is cut off the largest goes to all
        scale = memory * overcommit / sum(sizes)
        sizes = [min(size * scale, memory * LARGEST) for size in sizes]
    return [int(size) // PAGE * PAGE for size in sizes]


@dataclass(frozen=True)
class GridPoint:
    """One host with its jobs and the longest pause that is allowed."""

    memory_gib: int
    processors: int
    overcommit: float
    pause: str

    @property
    def label(self) -> str:
        """For a row."""
        return f"{self.memory_gib} GiB x{self.overcommit:g}, {self.processors} cpu, {self.pause}"

    def sizes(self, seed: int) -> list[int]:
        """Of the jobs."""
        jobs, sigma = GRID[self.memory_gib]
        return mixed_sizes(jobs, self.memory_gib * GIB, self.overcommit, sigma, seed)

    def host(self) -> bound.Host:
        """For the bound."""
        return bound.Host(self.memory_gib * GIB, self.processors, *EPYC_COST)

    def cannot_be_kept(self, sizes: Sequence[int]) -> str:
        """Why no scheduler keeps such pauses; empty: one may."""
        least = bound.shortest_pause(sum(sizes), self.host())
        if least <= GRID_PAUSES[self.pause]:
            return ""
        return f"the disk allows no pauses below {least:.0f} s"

    def piece(self, step: str, seed: int) -> Simulated:
        """No job comes to its end. All have been out and in again when what is counted begins."""
        pause = GRID_PAUSES[self.pause]
        start = max(2 * pause, GRID_STARTS[self.memory_gib])
        end = start + max(4 * pause, 600)
        return Simulated(
            f"grid {self.memory_gib}G x{self.overcommit:g} {self.processors}cpu {self.pause} "
            f"{step}",
            seed,
            (
                *("--memory", f"{self.memory_gib}G", "--processors", str(self.processors)),
                *("--work", f"{end}s", "--limit", f"{end}s", "--count-from", f"{start}s"),
                *("--disk", "33us,64,3000", "--costs", EPYC),
                *(f"max_pause={self.pause}", f"step={step}"),
            ),
            tuple(self.sizes(seed)),
        )


def grid(memories: Sequence[int]) -> list[GridPoint]:
    """All points."""
    return [
        GridPoint(memory, processors, overcommit, pause)
        for memory in memories
        for overcommit in GRID_OVERCOMMITS
        for pause in GRID_PAUSES
        for processors in GRID_PROCESSORS
    ]


def _worth(result: Json) -> float:
    """Processors' worth of work."""
    return float(result["counted_work_ns"] / result["counted_ns"])


def _pause(result: Json) -> float:
    return float(result["longest_pause_ns"] / 1e9)


@dataclass(frozen=True)
class Grid(What):
    """Work of mixed sizes over the most that there can be at such pauses."""

    memory_gib: int

    def pieces(self, seed: int) -> list[Piece]:
        """step=auto."""
        return [point.piece("auto", seed) for point in grid([self.memory_gib])]

    def cases(self, found: Found, seed: int) -> list[Case]:
        """One for each point."""
        return [
            self._case(point, found[point.piece("auto", seed)], point.sizes(seed))
            for point in grid([self.memory_gib])
        ]

    def _case(self, point: GridPoint, result: Json | None, sizes: Sequence[int]) -> Case:
        if not result:
            return Case(point.label)
        host = point.host()
        worth, pause = _worth(result), _pause(result)
        shown = {"worth": worth, "longest pause, s": pause, "Jain": result["jain"]}
        least = bound.shortest_pause(sum(sizes), host)
        allowed = GRID_PAUSES[point.pause]
        most = bound.overlapped(sizes, host, max(allowed, pause))
        if why := point.cannot_be_kept(sizes) or ("" if most else "the bound keeps no such pause"):
            return Case(point.label, spared=why, shown=shown)
        # Of the disk, at least: near 100 no real scheduler keeps such pauses.
        shown = {"bound": most, **shown, "disk, %": 100 * least / allowed}
        return Case(point.label, worth / most, shown=shown)


@dataclass(frozen=True)
class GridOverBin(What):
    """The same over step=bin.

    Where no scheduler keeps such pauses, jobs thrash under both, and what they get done then is a
    guess of the simulator's.
    """

    def pieces(self, seed: int) -> list[Piece]:
        """Both."""
        return [p.piece(step, seed) for p in grid(list(GRID)) for step in ("auto", "bin")]

    def cases(self, found: Found, seed: int) -> list[Case]:
        """One for each point."""
        cases = []
        for point in grid(list(GRID)):
            auto, bins = (found[point.piece(step, seed)] for step in ("auto", "bin"))
            if not auto or not bins:
                cases.append(Case(point.label))
                continue
            shown = {
                "step=auto": _worth(auto),
                "step=bin": _worth(bins),
                "pause, s": _pause(auto),
                "of step=bin, s": _pause(bins),
            }
            value = _worth(auto) / _worth(bins) if _worth(bins) else math.inf
            if why := point.cannot_be_kept(point.sizes(seed)):
                cases.append(Case(point.label, spared=why, shown=shown))
            else:
                cases.append(Case(point.label, value, shown=shown))
        return cases


@dataclass(frozen=True)
class Crowd(What):
    """256 jobs at 1.33 times the memory on 16 processors, to their end: over the ideal."""

    memory: str
    pause: str
    lower = True

    def pieces(self, seed: int) -> list[Piece]:
        """step=auto."""
        memory = int(self.memory[:-1]) * {"G": GIB, "T": 1 << 40}[self.memory[-1]]
        asked = (
            *("--memory", self.memory, "--processors", "16", "--seed", str(seed)),
            *("--work", "lognormal:600s,0.5", "--disk", "20us,64,3000", "--costs", EPYC),
            f"max_pause={self.pause}",
        )
        sizes = tuple(mixed_sizes(256, memory, 1.33, 1.0, seed))
        return [Simulated(f"crowd {self.memory} {self.pause}", seed, asked, sizes)]

    def cases(self, found: Found, seed: int) -> list[Case]:
        """One."""
        label = f"{self.memory}, pauses of {self.pause}"
        result = found[self.pieces(seed)[0]]
        if not result:
            return [Case(label)]
        if not result["finished"]:
            return [Case(label, math.inf)]
        shown = {
            "time, s": result["time_ns"] / 1e9,
            "in switches": result["switch_share"],
            "longest pause, s": _pause(result),
            "Jain": result["jain"],
        }
        return [Case(label, result["over_ideal"], shown=shown)]
