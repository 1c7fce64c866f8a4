# SPDX-License-Identifier: GPL-2.0
"""The figures that every run has, taken out of what the driver reports (Outcome.data).

elapsed_s           virtual time from the first job's start to the end of measuring
finished            all jobs that end did so by themselves, with status 0
work                fraction of the work done, 0 to 1
lost_work           fraction that was done in vain: of jobs that a signal ended (the OOM killer,
                    earlyoom), and of processes whose job failed before they were through
time_for_all_s      virtual time for all of the work; null if no work was done to reckon it by
swapin_mib swapout_mib, swap_reads swap_writes, sectors_per_read sectors_per_write
                    what went to the swap disk and came from it: MiB, requests, sectors of 512
                    bytes in a request (null without requests)
major_faults minor_faults
switch_share        share of the time that went into switches: freeze_share, evict_share and
                    bring_back_share together; null for policies that do not rotate
jain                Jain's index of fairness between the jobs' processes, when the first is done
longest_pause_s     the longest time that any one process made no progress
reclaim_cpu_s       processor time of kswapd, and of the module's threads or the daemon
memory_stall_s      pressure: time in which somebody waited for memory (PSI, memory, some)
user_s system_s     processor time of the whole guest (as fine as /proc/stat: 10 ms)
oom_kills           by the kernel

time_for_all_s of a run that was cut off at the limit is reckoned from the rate of the run's
second half, as the first has the filling of the memory in it. Of a run that ended by itself
without all its work (somebody was killed) it is what the whole would take at the rate of the
work that was not lost.
"""

from collections.abc import Sequence
from typing import Any

from bench.lab.experiment import Json

_PAGES_PER_MIB = 256


def common(data: Json) -> Json:
    """The figures of a run."""
    vmstat, disk, cpu = data["vmstat"], data["disk"], data["cpu"]
    elapsed = data["elapsed"]
    lost = lost_work(data["jobs"])
    return {
        "elapsed_s": elapsed,
        "finished": data["finished"],
        "work": data["work"],
        "lost_work": lost,
        "time_for_all_s": time_for_all(data, lost),
        "swapin_mib": vmstat.get("pswpin", 0) / _PAGES_PER_MIB,
        "swapout_mib": vmstat.get("pswpout", 0) / _PAGES_PER_MIB,
        "swap_reads": disk["reads"],
        "swap_writes": disk["writes"],
        "sectors_per_read": _ratio(disk["read_sectors"], disk["reads"]),
        "sectors_per_write": _ratio(disk["write_sectors"], disk["writes"]),
        "major_faults": vmstat.get("pgmajfault", 0),
        "minor_faults": vmstat.get("pgfault", 0) - vmstat.get("pgmajfault", 0),
        **switch_shares(data.get("policy"), elapsed),
        "jain": data["jain"],
        "longest_pause_s": max(
            (job["longest_pause"] for job in data["jobs"] if job["longest_pause"] is not None),
            default=None,
        ),
        "reclaim_cpu_s": sum(data["threads"].values()),
        "memory_stall_s": data["psi"]["memory_some"],
        "user_s": cpu["user"] + cpu["nice"],
        "system_s": cpu["system"] + cpu["irq"] + cpu["softirq"],
        "oom_kills": vmstat.get("oom_kill", 0),
    }


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def lost_work(jobs: Sequence[Json]) -> float:
    """The fraction of all work that was done in vain.

    As in the driver's "work", every slot that has a goal counts as one, and so does a job that
    has none and is to end.
    """
    lost, count = 0.0, 0
    for job in jobs:
        slots = [slot for slot in job["slots"] if slot["goal"]]
        count += len(slots) or (0 if job.get("endless") else 1)
        if job["ended"] is None:
            continue  # cut off: what it did counts
        if job["signal"] is not None:
            lost += sum(min(1.0, slot["done"] / slot["goal"]) for slot in slots)
        elif job["status"]:
            open_slots = (slot for slot in slots if slot["done"] < slot["goal"])
            lost += sum(slot["done"] / slot["goal"] for slot in open_slots)
    return lost / count if count else 0.0


def time_for_all(data: Json, lost: float = 0.0) -> float | None:
    """Seconds for all of the work; see above."""
    elapsed, useful = data["elapsed"], data["work"] - lost
    if data["finished"]:
        return elapsed
    cut_off = any(job["ended"] is None for job in data["jobs"] if not job.get("endless"))
    if not cut_off:
        return elapsed / useful if useful > 0 else None
    early = [entry for entry in data["series"] if entry["t"] <= elapsed / 2]
    since, work = (early[-1]["t"], early[-1]["work"]) if early else (0.0, 0.0)
    made = data["work"] - work
    if made <= 0:
        return None
    return elapsed + max(0.0, 1 - useful) * (elapsed - since) / made


def switch_shares(policy: Any, elapsed: float) -> Json:
    """How much of the time went into switches, by the counters of whoever rotates.

    These are the keys freeze_ns, evict_ns and bring_back_ns of the policy's "stats"; one who
    has no bulk bring-back lacks the last.
    """
    stats = policy.get("stats") if isinstance(policy, dict) else None
    parts = ("freeze", "evict", "bring_back")
    if not isinstance(stats, dict) or "freeze_ns" not in stats or not elapsed:
        return dict.fromkeys(("switch_share", *(f"{part}_share" for part in parts)))
    shares = {f"{part}_share": stats.get(f"{part}_ns", 0) / 1e9 / elapsed for part in parts}
    return {"switch_share": sum(shares.values()), **shares}
