# SPDX-License-Identifier: GPL-2.0
"""Jobs for a real host. How much work each does is measured on this host before: --seconds of
processor time with all of its memory there.

ten        jobs of a quarter of the memory each, random accesses (SYN8): README's promise
syn8       Reuven and Wiseman's benchmark: one parent, whose children are jobs of their own;
           1.7 times the memory in 32 children
swappers   Goichon's: jobs that go through their memory in sequence, again and again;
           1.7 times the memory in four jobs
builds     eight trees of a generated C project, `make` each; 3.4 times the memory by the compilers'
           peaks, so about 1.7 times on average: a compiler's memory grows up to its end
"""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.builds import project
from bench.lab import BUILD
from bench.lab.experiment import Job
from bench.native import NativeError

OVERCOMMIT = 1.7  # of syn8, swappers and builds: a point of the laboratory's suites
SYN8_CHILDREN = 32
SWAPPERS = 4
TREES = 8
# A compiler's memory and time grow with the constant data of its file: words of the two trials.
_TRIED = (100_000, 400_000)
# In a small process: a child's peak is not below that of the process that forks it.
_MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime)
"""
_PROJECT = project.Shape(files=1, functions=8, flags="-O1")
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


def _make(directory: Path, out: Path) -> list[str]:
    return ["make", "-s", "-C", str(directory), f"OUT={out}"]


def _written(name: str, shape: project.Shape, seed: int) -> Path:
    """Where the sources are."""
    directory = BUILD / "host-builds" / name
    directory.mkdir(parents=True, exist_ok=True)
    for file, text in project.texts(shape, seed).items():
        (directory / file).write_text(text, "ascii")
    return directory


def _compiler(words: int, seed: int) -> tuple[float, float]:
    """Peak in bytes and processor seconds for a file that has so much data."""
    directory = _written("trial", replace(_PROJECT, data=words), seed)
    out = directory / "out"
    out.mkdir(exist_ok=True)
    make = [*_make(directory, out), "--always-make"]
    measure = [sys.executable, "-S", "-c", _MEASURE, *make]
    done = subprocess.run(measure, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NativeError(f"{shlex.join(make)}: {done.stderr.strip()}")
    peak, seconds = done.stdout.split()
    return float(peak), float(seconds)


def builds(shape: Shape) -> list[Job]:
    """Each tree a job. Peak and time of a compiler lie on the line through two trials."""
    size = shape.memory * 2 * OVERCOMMIT / TREES
    (low, low_s), (high, high_s) = (_compiler(words, shape.seed) for words in _TRIED)
    words = _TRIED[0] + round((size - low) / (high - low) * (_TRIED[1] - _TRIED[0]))
    if words < _TRIED[0] / 2:
        raise NativeError(f"builds: a compiler needs {int(low) >> 20} MiB: --memory is too small")
    file_s = low_s + (high_s - low_s) * (size - low) / (high - low)
    files = max(1, round(shape.seconds / file_s))
    directory = _written("tree", replace(_PROJECT, data=words, files=files), shape.seed)
    jobs = []
    for name in (f"tree{i}" for i in range(TREES)):
        out = directory / name
        build = [
            *(program("repeat"), "--name", name, "--steps", str(files + 2)),  # main.c, and linking
            *("--", *_make(directory, out), "STEP=echo >&9"),
        ]
        place = shlex.quote(str(out))
        clean = f"rm -rf {place} && mkdir {place} && TMPDIR={place} exec {shlex.join(build)}"
        jobs.append(_job(name, ["/bin/sh", "-c", clean], int(size)))
    return jobs


SUITES: dict[str, Callable[[Shape], list[Job]]] = {
    "ten": ten,
    "syn8": syn8,
    "swappers": swappers,
    "builds": builds,
}


def demand(jobs: Sequence[Job]) -> int:
    """Bytes of all jobs together."""
    return int(sum(job.demand_mib for job in jobs)) << 20
