# SPDX-License-Identifier: GPL-2.0
"""What bench/simulate foretells of runs of bench/bench-host, suite `ten`.

The simulator is told what bench-host was asked, and what the host's pages and disk cost
(bench/pagecost). Of the run itself nothing goes in, but for what other programs took of the
processors meanwhile: all that takes processor time takes so much longer. Both are cut off at the
same time: the time for all work is then that at the rate of the run.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.lab import LabError, simulation
from bench.lab.experiment import Json
from bench.lab.figures import switch_shares
from bench.native.policies import under_limit

MTS = ("engine", "module")
# Beside its memory a process of SYN8 has page tables, its stack and its parent.
_BESIDE = 1 << 20
_NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


@dataclass(frozen=True)
class Comparison:
    """A run, and what is foretold of it: both with the same keys."""

    name: str
    measured: Json
    foretold: Json

    @property
    def ratio(self) -> float:
        """Of the times: foretold over measured."""
        return float(self.foretold["time_s"] / self.measured["time_s"])


def why_not(run: Json) -> str | None:
    """Why a run cannot be compared; None if it can."""
    outcome = run["outcome"]
    if "hurt" in outcome:
        return f"ended: {outcome['hurt']}"
    if any(job["status"] or job["signal"] for job in outcome["jobs"]):
        return "a job failed"
    if not outcome["policy"]:
        return "mts said nothing"
    if run["scarce"] != "limit":
        return "under a balloon the size of a bin is not known beforehand"
    return None


def share(outcome: Json) -> float:
    """What other programs left of the processors, 0 to 1."""
    own = sum(job["utime"] + job["stime"] for job in outcome["jobs"])
    own += sum(outcome["threads"].values())
    cpu = outcome["cpu"]
    used = sum(cpu.values()) - cpu["idle"] - cpu["iowait"]
    return min(1.0, 1 - (used - own) / sum(cpu.values()))


def slower(costs: str, times: float) -> str:
    """As of --costs: KEY=TIME,..."""
    return re.sub(
        r"=(\d+(?:\.\d+)?)(ns|us|ms|s)\b",
        lambda found: f"={round(float(found[1]) * _NS[found[2]] * times)}ns",
        costs,
    )


def arguments(run: Json, words: Sequence[str]) -> list[str]:
    """What the simulator is asked. @words: --costs and --disk of the host."""
    shape = run["shape"]
    times = 1 / share(run["outcome"])
    before = ["", *words]
    given = [
        slower(word, times) if before[at] == "--costs" else word for at, word in enumerate(words)
    ]
    return [
        *("--memory", str(run["memory"])),
        *("--processors", str(run["host"]["processors"])),
        *("--jobs", str(shape["jobs"])),
        *("--sizes", str(shape["size"] + _BESIDE)),
        *("--work", f"{round(shape['seconds'] * times * 1e9)}ns"),
        *("--limit", f"{round(run['limit'] * 1e9)}ns"),
        "--json",
        *under_limit(run["memory"]),
        *given,
    ]


def compare(run: Json, words: Sequence[str]) -> Comparison:
    """One that why_not() has nothing against."""
    outcome = run["outcome"]
    stats, vmstat = outcome["policy"]["stats"], outcome["vmstat"]
    foretold = simulation.run(arguments(run, words))
    pages = (vmstat["pswpin"] + vmstat["pswpout"]) * 4096
    return Comparison(
        f"{run['suite']} {run['memory'] / 2**30:g} GiB, {run['policy']}, pair {run['pair'] + 1}",
        {
            "time_s": outcome["elapsed"] / outcome["work"],
            "switches": stats["switches"],
            "switch_share": switch_shares(outcome["policy"], outcome["elapsed"])["switch_share"],
            "swapped_mib": pages / 2**20,
            "pause_s": max(job["longest_pause"] or 0 for job in outcome["jobs"]),
        },
        {
            "time_s": foretold["time_ns"] / 1e9 / foretold["work_done"],
            "switches": foretold["switches"],
            "switch_share": foretold["switch_share"],
            "swapped_mib": (foretold["swapped_in"] + foretold["swapped_out"]) / 2**20,
            "pause_s": foretold["longest_pause_ns"] / 1e9,
        },
    )


def runs(path: Path) -> list[Json]:
    """Of suite `ten` under mts."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from None
    found = [json.loads(line) for line in lines]
    return [run for run in found if run["suite"] == "ten" and run["policy"] in MTS]
