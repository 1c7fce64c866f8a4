# SPDX-License-Identifier: GPL-2.0
"""What no scheduler that pauses jobs can exceed, and what disjoint bins reach.

D is what the jobs need together, M what memory holds, P the longest pause. A job runs only while
all of its memory is there, so at any time D - M of it is out. A byte that is out belongs to a job
that stands still, so it is out for P at most: (D - M) / P bytes a second go out, and as many come
in (Little's law). Bins that overlap can come close to that; disjoint bins move more.

Units: bytes, seconds, processors' worth of work (seconds of work a second). A page costs processor
time on its way out and in, and the disk moves so many bytes a second, both ways together. No limit
of the disk is `math.inf`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

EVERY = 8  # threads that move memory in a switch of disjoint bins, at most, as the module's


@dataclass(frozen=True)
class Host:
    """What the bound depends on, beside the jobs and their pauses."""

    memory: float
    processors: int
    out: float  # processor seconds for a byte on its way out
    back: float  # and in
    disk: float = math.inf  # bytes a second


def shortest_pause(demand: float, host: Host) -> float:
    """That the disk allows: everything that is out goes and comes once in it."""
    return 2 * max(0.0, demand - host.memory) / host.disk


def moving(demand: float, host: Host, pause: float) -> float:
    """Processors that move memory, on average: no less."""
    return max(0.0, demand - host.memory) / pause * (host.out + host.back)


def overlapped(sizes: Sequence[float], host: Host, pause: float) -> float | None:
    """The most work of jobs of one thread that all get the same time; None: no such pause.

    What moves takes from the processors. A job that has all of its memory for a share x of the
    time takes x times its size of memory, on average: with M for D, x is M / D.
    """
    demand = sum(sizes)
    if shortest_pause(demand, host) > pause:
        return None
    there = len(sizes) * min(1.0, host.memory / demand)
    return max(0.0, min(host.processors - moving(demand, host, pause), there))


def loss(demand: float, host: Host, pause: float) -> float:
    """How much longer than with memory for all one processor takes, all else overlapped."""
    busy = moving(demand, host, pause)
    return busy / (1 - busy) if busy < 1 else math.inf


def first_fit(sizes: Sequence[float], room: float) -> list[list[float]]:
    """First-fit decreasing; what is larger than the room has a bin of its own."""
    bins: list[list[float]] = []
    for size in sorted(sizes, reverse=True):
        fits = next((each for each in bins if sum(each) + size <= room), None)
        if fits is None:
            bins.append([size])
        else:
            fits.append(size)
    return bins


def disjoint(sizes: Sequence[float], host: Host, pause: float) -> float:
    """The work of disjoint bins: each runs once a round, and nothing runs in a switch.

    Slices are in proportion to what the bins hold, and as long as the pause allows. 0: the switches
    alone take longer than that.
    """
    bins = first_fit(sizes, host.memory)
    held = [sum(each) for each in bins]
    if len(bins) < 2:
        return float(min(host.processors, len(sizes)))
    threads = min(host.processors, EVERY)
    switches = sum(
        max(
            (held[at - 1] * host.out + held[at] * host.back) / threads,
            (held[at - 1] + held[at]) / host.disk,
        )
        for at in range(len(bins))
    )
    # The bin that holds least waits for all the others' slices.
    slice_s = (pause - switches) / (sum(held) - min(held))  # for a byte
    if slice_s <= 0:
        return 0.0
    done = sum(
        slice_s * size * min(host.processors, len(each))
        for size, each in zip(held, bins, strict=True)
    )
    return done / (switches + slice_s * sum(held))
