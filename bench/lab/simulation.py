# SPDX-License-Identifier: GPL-2.0
"""The simulator (bench/simulator), and its predictions for runs that a guest has made.

The check uses SYN8 under the policy mts, because its jobs are known exactly: all have 8 MiB and the
same work. The time of a job's work does not come from the run that is predicted. It comes from
processes of SYN8 that fitted in memory (WORK).
"""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from bench.lab import BUILD, ROOT, LabError, disks, packing
from bench.lab.experiment import Json, Setting
from bench.lab.results import setting_of
from bench.suites import syn8

PROGRAM = BUILD / "simulator"

# Of a SYN8 process, in instructions: of 8 that fit in 96 MiB, with 10 million accesses each, and
# of 20 with 20 million each (`bench/run -s syn8 --overcommit 0.67`, 1.7; utime and stime).
ACCESS = 27.5
PAGE_WRITTEN = 9000  # the fault 5900, random words for all of it 3100
VERIFIED = 3_000_000
JOB_KIB = 8 * 1024 + 32  # what the module measures of one: with page tables and stack


def build() -> None:
    """Make sure that the program is there, and up to date."""
    made = subprocess.run(
        ["make", "-s", "-C", ROOT / "bench" / "simulator", f"BUILD={BUILD}"],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if made.returncode:
        raise LabError(f"the simulator cannot be built:\n{made.stdout}")


def disk_words(name: str) -> str:
    """A disk model of the laboratory, as the program takes it; other words as they are."""
    disk = disks.DISKS.get(name)
    if not disk:
        return name
    return f"{disk.completion_nsec}ns,{disk.hw_queue_depth},{disk.mbps}"


def arguments(setting: Setting) -> list[str]:
    """What the program is asked, of a setting of SYN8."""
    accesses = float(setting.param("accesses", syn8.ACCESSES["quick"])) * 1e6
    work = round((accesses * ACCESS + VERIFIED) * 2**setting.shift)
    words = syn8.SUITE.workload(setting).mts_settings.split()
    words += str(setting.param("mts", "")).split(",") if setting.param("mts") else []
    return [
        *("--memory", f"{setting.free_mib}M"),
        *("--usable", f"{packing.capacity_mib(setting.free_mib):.3f}M"),
        *("--jobs", str(syn8.processes(setting))),
        *("--sizes", f"{JOB_KIB}K"),
        *("--work", f"{work}ns"),
        *("--disk", disk_words(setting.disk)),
        *("--costs", f"touch={PAGE_WRITTEN}ns"),
        *("--ns", str(2**setting.shift)),
        "--json",
        *words,
    ]


def run(words: Sequence[str]) -> Json:
    """What the program foretells."""
    done = subprocess.run([PROGRAM, *words], text=True, capture_output=True)
    if done.returncode:
        raise LabError(f"the simulator ended with {done.returncode}: {done.stderr.strip()}")
    found: Json = json.loads(done.stdout)
    return found


@dataclass(frozen=True)
class Comparison:
    """What was measured and what is foretold of it."""

    setting: Setting
    measured: Json
    foretold: Json

    @property
    def ratio(self) -> float:
        """Of the times: foretold over measured."""
        return float(self.foretold["time_s"] / self.measured["time_s"])

    @property
    def swap_ratio(self) -> float | None:
        """Of what was swapped, in and out together; None where nothing was."""
        measured = self.measured["swapped_mib"]
        return float(self.foretold["swapped_mib"] / measured) if measured else None


def why_not(result: Json) -> str | None:
    """Why a result cannot be compared; None if it can."""
    setting = setting_of(result)
    policy = result.get("policy") or {}
    reasons = (
        (setting.suite != "syn8" or setting.policy != "mts", "not syn8 under mts"),
        (setting.param("module"), "the module had parameters of its own"),
        (setting.disk not in disks.DISKS, f"disk {setting.disk} is not simulated"),
        ("stats" not in policy, "the module said nothing"),
        (policy.get("stats", {}).get("failsafe_thaws"), "the module has stopped"),
        (not result["figures"]["finished"], "cut off before the end"),
    )
    return next((text for wrong, text in reasons if wrong), None)


def compare(result: Json) -> Comparison:
    """One result that why_not() has nothing against."""
    setting = setting_of(result)
    figures, stats = result["figures"], result["policy"]["stats"]
    foretold = run(arguments(setting))
    swapped = foretold["swapped_in"] + foretold["swapped_out"]
    return Comparison(
        setting,
        {
            "time_s": figures["time_for_all_s"],
            "switches": stats["switches"],
            "switch_share": figures["switch_share"],
            "swapped_mib": figures["swapin_mib"] + figures["swapout_mib"],
            "pause_s": figures["longest_pause_s"],
        },
        {
            "time_s": foretold["time_ns"] / 1e9,
            "switches": foretold["switches"],
            "switch_share": foretold["switch_share"],
            "swapped_mib": swapped / 2**20,
            "pause_s": foretold["longest_pause_ns"] / 1e9,
        },
    )
