# SPDX-License-Identifier: GPL-2.0
"""Made-up results with the shape of measured ones, for tests of the report.

Their figures follow a simple rule (FACTORS times how far the demand exceeds the memory), so that
a test knows what a report must say of them.
"""

import dataclasses
import math
from pathlib import Path

from bench.lab import results, sweep
from bench.lab.experiment import Setting
from bench.policies import POLICIES
from bench.suites import SUITES, consumers, protection, scanners, syn8

# seconds for all work at an overcommit of 2, over those of the ideal
FACTORS = {"ideal": 1.0, "mts": 1.6, "userspace": 2.1, "stock": 40.0, "mglru": 25.0}
BASE = 10.0  # s


def time_for_all(setting: Setting) -> float:
    """What a made-up run takes; mts loses where the demand is small."""
    if setting.policy == "mts" and setting.overcommit < 1.5:
        return BASE * 2
    excess = max(0.0, setting.overcommit - 1)
    factor = FACTORS.get(setting.policy, 15.0)
    spread = 1 + 0.05 * ((setting.seed * 7) % 3 - 1)
    return BASE * setting.overcommit / 2 * (1 + (factor - 1) * excess) * spread


def with_policy(setting: Setting, policy: str) -> Setting:
    """The same under another policy."""
    return dataclasses.replace(setting, policy=policy)


def result(setting: Setting) -> dict:
    """One result."""
    wanted = time_for_all(setting)
    elapsed = min(wanted, setting.limit)
    work = elapsed / wanted
    swapped = 0 if setting.overcommit <= 1 else 40 * FACTORS.get(setting.policy, 15) * elapsed
    count = max(1, math.ceil(elapsed))
    figures = {
        "elapsed_s": elapsed,
        "finished": work >= 1,
        "work": work,
        "lost_work": 0.0,
        "killed_jobs": 0,
        "killed_work": 0.0,
        "time_for_all_s": wanted,
        "swapin_mib": swapped,
        "swapout_mib": 1.1 * swapped,
        "swap_reads": int(swapped),
        "swap_writes": int(swapped),
        "sectors_per_read": 8.0,
        "sectors_per_write": 22.0,
        "major_faults": int(swapped * 200),
        "minor_faults": 1000,
        "switch_share": 0.14 if setting.policy == "mts" else None,
        "jain": 0.9,
        "longest_pause_s": 2.5,
        "reclaim_cpu_s": 0.3,
        "oom_kills": 0,
    }
    series = [
        {"t": min(elapsed, n + 1.0), "work": work * min(1, (n + 1) / count) ** 1.3}
        for n in range(count)
    ]
    return {
        "schema": results.SCHEMA,
        "setting": results.setting_json(setting),
        "kernel": "6.1.0-1-amd64",
        "qemu": "7.2.22",
        "commit": "0123456789abcdef0123456789abcdef01234567",
        "dirty": False,
        "figures": {**figures, "suite": OWN[setting.suite](setting, work, elapsed)},
        "jobs": [],
        "series": series,
        "real_seconds": 30.0,
    }


def _syn8(setting: Setting, _work: float, elapsed: float) -> dict:
    total = syn8.processes(setting) * syn8.PROCESS_MIB
    many = FACTORS.get(setting.policy, 15) / setting.param("slice", 1)
    return {
        "total_mib": total,
        "swaps_pages": int(many * elapsed * 1000) if setting.overcommit > 1 else 0,
    }


def _hump(count: int, height: float, width: float = 0.2) -> list[list[float]]:
    return [[n, height * math.exp(-(((n / count - 0.5) / width) ** 2))] for n in range(count)]


def _consumers(setting: Setting, work: float, _elapsed: float) -> dict:
    figures = {
        "scale": consumers.factor(setting),
        "write_goal_share": 0.3 * work,
        "writes_per_s": 1e6 / FACTORS.get(setting.policy, 15),
        "late_median_s": 0.1,
        "late_max_s": 0.5,
        "demand_falls_s": consumers.Plan(setting).falls,
    }
    if setting.policy != "ideal":
        high = FACTORS.get(setting.policy, 15)
        curves = {name: _hump(60, high * 10**n / 10) for n, name in enumerate(consumers.CURVES)}
        figures |= {"curves": curves, "raw": curves, "recovery_s": 0.2}
    return figures


def _scanners(setting: Setting, _work: float, _elapsed: float) -> dict:
    names = [f"scanner{n}" for n in range(3)]
    windows = {"first launch": 7, "second launch": 122, "dominance": 190, "third launch": 237}

    def column(start: int) -> dict:
        at = list(range(start, start + 30))
        line = {name: [100 * (n + 1) + t % 7 for t in at] for n, name in enumerate(names)}
        whole = {key: [t % 5 * 100 for t in at] for key in scanners.GLOBALS}
        return {"paper_s": at, **whole, **dict.fromkeys(scanners.SERIES, line)}

    return {
        "scale": scanners.factor(setting),
        "passes": [5.0, 2.0, 1.0],
        "pages_per_s": 1e4 / FACTORS.get(setting.policy, 15),
        "columns": {name: column(start) for name, start in windows.items()},
        "steady": None,
    }


def _swappers(setting: Setting, work: float, elapsed: float) -> dict:
    if setting.param("experiment") == "mix":
        return {
            "program_s": elapsed if work >= 1 else None,
            "program_work": work,
            "nominal_alone_s": 6.2,
        }
    rounds = [[0.5 + 0.1 * ((n * k) % 4) for n in range(30)] for k in range(1, 6)]
    return {
        "rounds_done": [30] * 5,
        "mean_round_s": [0.6] * 5,
        "round_s": rounds,
        "jain_of_round": [0.8 + 0.19 * ((n * 7) % 5) / 5 for n in range(30)],
        "jain_of_rounds_mean": 0.9,
        "jain_of_pages": 0.95,
        "pages_per_s": 5e5 / FACTORS.get(setting.policy, 15),
    }


def _protection(setting: Setting, work: float, elapsed: float) -> dict:
    names = [row[0] for row in protection.PAIRS[setting.param("pair")][1]]
    at = [elapsed * n / 100 for n in range(100)]
    return {
        "programs": {
            name: {
                "time_s": elapsed if work >= 1 else None,
                "expected_s": elapsed / work,
                "work": work,
                "user_s": 1.0,
                "major_faults": 1000,
                "check": 1,
            }
            for name in names
        },
        "resident": {
            name: {
                "t": at,
                "rss_mib": [20 + 10 * math.sin(t + n) for t in at],
                "demand_mib": [min(37, 400 * t / elapsed) for t in at],
            }
            for n, name in enumerate(names)
        },
    }


def _idle(setting: Setting, _work: float, _elapsed: float) -> dict:
    return {
        "messages": 1000,
        "instructions_per_message": 5010.0 if setting.policy == "mts" else 5000.0,
    }


def _latency(setting: Setting, _work: float, _elapsed: float) -> dict:
    slow = FACTORS.get(setting.policy, 15.0)
    times = {"first_ms": slow, "p50_ms": slow, "p99_ms": 2 * slow, "max_ms": 3 * slow}
    probe = {"count": 100, "missing": 0, **times}
    names = ("keys", "requests", "monitor", "jitter", "periodic", "realtime")
    return {**dict.fromkeys(names, probe), "load_accesses_per_s": 1e6}


def _stress(setting: Setting, _work: float, _elapsed: float) -> dict:
    rate = 1e5 / FACTORS.get(setting.policy, 15)
    return {"bogo_ops_per_s": rate, "kinds_bogo_ops_per_s": {"vm-keep": rate}, "jobs_silent": 0}


def _builds(_setting: Setting, _work: float, _elapsed: float) -> dict:
    return {"trees": 3, "steps_per_minute": 12.0, "first_tree_s": 4.0, "failed_trees": 0}


def _spec(_setting: Setting, _work: float, _elapsed: float) -> dict:
    return {"programs": {"gzip": 3, "gcc": 2}, "failed": 0}


OWN = {
    "builds": _builds,
    "consumers": _consumers,
    "idle": _idle,
    "latency": _latency,
    "protection": _protection,
    "scanners": _scanners,
    "spec": _spec,
    "stress-ng": _stress,
    "swappers": _swappers,
    "syn8": _syn8,
}


def write(folder: Path, choice: sweep.Choice, suites: tuple[str, ...] = ()) -> list[dict]:
    """A folder as bench/run leaves it."""
    chosen = [SUITES[name] for name in suites or SUITES]
    made = [result(setting) for setting in sweep.settings(chosen, POLICIES, choice)]
    for each in made:
        results.write(each, folder / results.file_name(results.setting_of(each)))
    return made
