# SPDX-License-Identifier: GPL-2.0
"""The figures that every run has, from the driver's report (Outcome.data).

elapsed_s           virtual time from the first job's start to the end of measuring
finished            all jobs that end did so by themselves, with status 0
work                fraction of the work done, 0 to 1
lost_work           fraction that was done in vain: by jobs that a signal ended (the OOM killer,
                    earlyoom), and by processes whose job failed before they finished
killed_jobs         how many jobs a signal ended, or ended with another status than 0. Endless jobs
                    count, because killing them may help the others
killed_work         the part of all work, done or not, of these jobs' processes that did not finish
time_for_all_s      virtual time for all of the work; null if no work was done, or if jobs were
                    killed, as their work was not finished
swapin_mib swapout_mib, swap_reads swap_writes, sectors_per_read sectors_per_write
                    traffic from and to the swap disk: MiB, requests, sectors of 512
                    bytes in a request (null without requests)
major_faults minor_faults
switch_share        share of the time that went into switches: freeze_share, evict_share and
                    bring_back_share together; null for policies that do not rotate
jain                Jain's index of fairness between the jobs' processes, when the first is done
longest_pause_s     the longest time that any one process made no progress
reclaim_cpu_s       processor time of kswapd, and of the module's threads or the daemon
memory_stall_s      pressure: time in which some task waited for memory (PSI, memory, some)
user_s system_s     processor time of the whole guest (as fine as /proc/stat: 10 ms)
oom_kills           by the kernel

For a run that was cut off at the limit, time_for_all_s follows from the rate of its second half,
because memory fills up in the first half.
"""

from collections.abc import Sequence
from typing import Any

from bench.lab.experiment import Json

_PAGES_PER_MIB = 256


def common(data: Json) -> Json:
    """The figures of a run."""
    vmstat, disk, cpu = data["vmstat"], data["disk"], data["cpu"]
    elapsed = data["elapsed"]
    jobs = data["jobs"]
    return {
        "elapsed_s": elapsed,
        "finished": data["finished"],
        "work": data["work"],
        "lost_work": lost_work(jobs),
        "killed_jobs": sum(map(_was_killed, jobs)),
        "killed_work": killed_work(jobs),
        "time_for_all_s": time_for_all(data),
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
            (job["longest_pause"] for job in jobs if job["longest_pause"] is not None),
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


def _was_killed(job: Json) -> bool:
    """One that failed counts as well; not one that the driver has ended."""
    return job["ended"] is not None and (job["signal"] is not None or bool(job["status"]))


def _unfinished(job: Json) -> list[Json]:
    """The slots with a goal of a killed job that were not through, or that ended with it."""
    slots = [slot for slot in job["slots"] if slot["goal"]]
    if job["signal"] is not None:
        return slots
    return [slot for slot in slots if slot["done"] < slot["goal"]]


def _parts(job: Json) -> int:
    """As in the driver's "work": slots that have a goal; or one, of a job that is to end."""
    return sum(bool(slot["goal"]) for slot in job["slots"]) or int(not job.get("endless"))


def lost_work(jobs: Sequence[Json]) -> float:
    """The fraction of all work that was done in vain."""
    count = sum(map(_parts, jobs))
    lost = sum(
        min(1.0, slot["done"] / slot["goal"])
        for job in jobs
        if _was_killed(job)
        for slot in _unfinished(job)
    )
    return lost / count if count else 0.0


def killed_work(jobs: Sequence[Json]) -> float:
    """The fraction of all work that killed jobs were to do and did not finish."""
    count = sum(map(_parts, jobs))
    killed = 0
    for job in filter(_was_killed, jobs):
        has_goals = any(slot["goal"] for slot in job["slots"])
        killed += len(_unfinished(job)) if has_goals else _parts(job)
    return killed / count if count else 0.0


def time_for_all(data: Json) -> float | None:
    """Seconds for all of the work; see above."""
    elapsed, work = data["elapsed"], data["work"]
    if any(map(_was_killed, data["jobs"])):
        return None
    if data["finished"]:
        return elapsed
    early = [entry for entry in data["series"] if entry["t"] <= elapsed / 2]
    since, before = (early[-1]["t"], early[-1]["work"]) if early else (0.0, 0.0)
    made = work - before
    if made <= 0:
        return None
    return elapsed + max(0.0, 1 - work) * (elapsed - since) / made


def switch_shares(policy: Any, elapsed: float) -> Json:
    """The share of the time in switches, by the counters of the policy.

    These are the keys freeze_ns, evict_ns and bring_back_ns of the policy's "stats"; the last is
    missing if the policy has no bulk bring-back.
    """
    stats = policy.get("stats") if isinstance(policy, dict) else None
    parts = ("freeze", "evict", "bring_back")
    if not isinstance(stats, dict) or "freeze_ns" not in stats or not elapsed:
        return dict.fromkeys(("switch_share", *(f"{part}_share" for part in parts)))
    shares = {f"{part}_share": stats.get(f"{part}_ns", 0) / 1e9 / elapsed for part in parts}
    return {"switch_share": sum(shares.values()), **shares}
