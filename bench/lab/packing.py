# SPDX-License-Identifier: GPL-2.0
"""The batches of the policy `ideal`: which jobs run together, each batch alone in memory.

The order of jobs of one size is kept, so the same jobs always make the same batches.
"""

from collections.abc import Sequence

from bench.lab.experiment import Job

# Of what is free at the start, this share stays out of a batch: the kernel keeps its watermarks,
# and every process has page tables and a kernel stack that no demand counts. Where 96 MiB were
# free, 80 MiB of SYN8 did not swap, and 88 MiB did (a little).
RESERVE = 0.1


def capacity_mib(free_mib: float) -> float:
    """What the jobs of one batch may need together."""
    return free_mib * (1 - RESERVE)


def batches(jobs: Sequence[Job], free_mib: float) -> tuple[tuple[Job, ...], ...]:
    """The jobs that end, packed first-fit decreasing by their demand.

    Resident and endless jobs run beside all batches: they are in none, and what they need is
    taken off the capacity. A job that is larger than the capacity has a batch of its own.
    """
    beside = sum(job.demand_mib for job in jobs if job.resident or job.endless)
    capacity = capacity_mib(free_mib) - beside
    packed: list[list[Job]] = []
    room: list[float] = []
    ending = [job for job in jobs if not (job.resident or job.endless)]
    for job in sorted(ending, key=lambda job: -job.demand_mib):
        for index, left in enumerate(room):
            if job.demand_mib <= left:
                packed[index].append(job)
                room[index] -= job.demand_mib
                break
        else:
            packed.append([job])
            room.append(capacity - job.demand_mib)
    return tuple(tuple(batch) for batch in packed)
