# SPDX-License-Identifier: GPL-2.0
"""Jobs for a real host. How much work each does is measured on this host before: --seconds of
processor time with all of its memory there.

ten        jobs of a quarter of the memory each, random accesses (SYN8): README's promise
syn8       Reuven and Wiseman's benchmark: one parent, whose children are jobs of their own;
           1.7 times the memory in 32 children
swappers   Goichon's: jobs that go through their memory in sequence, again and again;
           1.7 times the memory in four jobs
"""

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.lab import BUILD
from bench.lab.experiment import Job
from bench.native import NativeError

OVERCOMMIT = 1.7  # of syn8 and swappers: a point of the laboratory's suites
SYN8_CHILDREN = 32
SWAPPERS = 4
# Two sizes of work, in seconds at most: their difference has no start, filling and end in it.
_TRIAL = 4.0


@dataclass(frozen=True)
class Shape:
    """What a suite is made for."""

    memory: int  # for the jobs
    jobs: int  # of `ten`
    size: int  # of each of them
    seconds: float  # of work of each job
    seed: int


def program(name: str) -> str:
    """A program of ours."""
    path = BUILD / "static" / name
    if not path.exists():
        raise NativeError(f"{path.relative_to(BUILD.parent)} is not built: make static")
    return str(path)


def _took(command: Sequence[str]) -> float:
    """Processor seconds of a command alone."""
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = os.times()
    if done.returncode:
        raise NativeError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return (
        after.children_user - before.children_user + after.children_system - before.children_system
    )


def _amount(command: Callable[[int], Sequence[str]], start: int, seconds: float) -> int:
    """How much work takes so many processor seconds. @command: with an amount of work."""
    amount, began = start, time.monotonic()
    base = _took(command(start))
    while True:
        amount *= 4
        more = _took(command(amount))
        # The difference is to be a multiple of the clock's tick of 10 ms.
        if more - base > 0.5:
            return max(1, round((amount - start) / (more - base) * seconds))
        if time.monotonic() - began > _TRIAL * 30:
            raise NativeError(f"{command(amount)[0]}: {amount} units of work take no time")


def _syn8(size: int, count: int, seed: int, accesses: int) -> list[str]:
    return [
        *(program("syn8"), "--processes", str(count), "--size", str(size)),
        *("--accesses", str(accesses), "--seed", str(seed), "--json"),
    ]


def _swapper(size: int, seed: int, rounds: int) -> list[str]:
    return [
        *(program("swappers"), "--size", str(size), "--rounds", str(rounds)),
        *("--seed", str(seed)),
    ]


def _job(name: str, command: Sequence[str], size: int, *, each: bool = False) -> Job:
    return Job(name=name, command=tuple(command), demand_mib=size / (1 << 20), each=each)


def _whole(size: float) -> int:
    """Whole MiB."""
    return max(1, int(size) >> 20) << 20


def ten(shape: Shape) -> list[Job]:
    """Of the same size; each is a job."""
    accesses = _amount(lambda n: _syn8(shape.size, 1, shape.seed, n), 1_000_000, shape.seconds)
    return [
        _job(f"job{i}", _syn8(shape.size, 1, shape.seed + i, accesses), shape.size)
        for i in range(shape.jobs)
    ]


def syn8(shape: Shape) -> list[Job]:
    """One command, of which each child is a job."""
    size = _whole(shape.memory * OVERCOMMIT / SYN8_CHILDREN)
    accesses = _amount(lambda n: _syn8(size, 1, shape.seed, n), 1_000_000, shape.seconds)
    command = _syn8(size, SYN8_CHILDREN, shape.seed, accesses)
    return [_job("syn8", command, size * SYN8_CHILDREN, each=True)]


def swappers(shape: Shape) -> list[Job]:
    """In sequence: each page is used once a round."""
    size = _whole(shape.memory * OVERCOMMIT / SWAPPERS)
    rounds = _amount(lambda n: _swapper(size, shape.seed, n), 2, shape.seconds)
    return [
        _job(f"swapper{i}", _swapper(size, shape.seed + i, rounds), size) for i in range(SWAPPERS)
    ]


SUITES: dict[str, Callable[[Shape], list[Job]]] = {
    "ten": ten,
    "syn8": syn8,
    "swappers": swappers,
}


def demand(jobs: Sequence[Job]) -> int:
    """Bytes of all jobs together."""
    return int(sum(job.demand_mib for job in jobs)) << 20
