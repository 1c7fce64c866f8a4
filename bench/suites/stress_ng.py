# SPDX-License-Identifier: GPL-2.0
"""stress-ng: its memory stressors in mixes, bogo-operations per virtual second.

Every job is one stress-ng (Debian's package) with one stressor, for a set time. stress-ng counts
bogo-operations; the suite's figure is how many of them all jobs together did per virtual second
from the start to the end of the run. Operations of different stressors are different things, so
a mix also has the rate of each kind, and rates are only compared with those of the same mix.

Stressors, all on anonymous memory:

vm        maps memory, writes and checks it, unmaps it, again and again
vm-keep   the same without unmapping: the memory stays
bigheap   a heap that grows by realloc() up to a limit, then starts again
pageswap  maps single pages, as many as the kernel allows, and has it swap them out, again and
          again
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.lab import LabError, programs
from bench.lab.calibrate import Trial, demand
from bench.lab.experiment import Job, Json, Outcome, Score, Setting, Suite, Table, Workload

NOMINAL_MIB = 24  # a stressor's --vm-bytes or limit, about; and that of the trials
METHOD = "write64"  # sequential writes of the whole memory, which are then checked
# bigheap takes what `ulimit -d` leaves it; buffers of stress-ng's own count for that too.
HEAP_MARGIN_MIB = 10
MIXES = {
    "vm": ("vm",),
    "vm-keep": ("vm-keep",),
    "bigheap": ("bigheap",),
    "pageswap": ("vm-keep", "pageswap"),
    "mixed": ("vm-keep", "vm", "bigheap", "pageswap"),
}
# pageswap's memory cannot be chosen: it takes as many mappings as the kernel allows a process.
FIXED = ("pageswap",)

# stress-job NAME SECONDS DATA_KIB STRESSOR...: one job. Its last lines are the YAML metrics.
JOB = """#!/bin/sh
name=$1 seconds=$2 seed=$3 data=$4
shift 4
ulimit -d "$data" || exit 1
/usr/bin/stress-ng "$@" --timeout "$seconds" --seed "$seed" --oomable --temp-path /dev/shm \\
	--log-brief --metrics-brief --yaml "/dev/shm/$name.yaml" || exit 1
cat "/dev/shm/$name.yaml"
"""


def stressor(kind: str, size_mib: float) -> tuple[int, tuple[str, ...]]:
    """The limit of data in KiB, and the arguments of a stressor that holds size_mib."""
    kib = round(size_mib * 1024)
    roomy = kib + 1024 * 1024
    keep = ("--vm-keep",) if kind == "vm-keep" else ()
    if kind in ("vm", "vm-keep"):
        memory = ("--vm-bytes", f"{kib}k", "--vm-method", METHOD)
        return roomy, ("--vm", "1", *memory, *keep)
    if kind == "bigheap":
        return kib + HEAP_MARGIN_MIB * 1024, ("--bigheap", "1")
    if kind == "pageswap":
        return roomy, ("--pageswap", "1")
    raise LabError(f"no stressor {kind}: vm, vm-keep, bigheap, pageswap")


def command(name: str, kind: str, size_mib: float, seconds: float, seed: int) -> tuple[str, ...]:
    """The command of one job."""
    data, arguments = stressor(kind, size_mib)
    return ("/bin/stress-job", name, f"{seconds:g}", str(seed), str(data), *arguments)


def metrics(output: str) -> Mapping[str, int]:
    """Stressor -> bogo-operations, from the metrics in a stress-ng's YAML; empty if cut off.

    The file is the one kind that stress-ng writes: `- stressor: vm`, then `bogo-ops: 12`.
    """
    found = {}
    name = ""
    for line in output.splitlines():
        match = re.fullmatch(r"\s*(?:- )?(stressor|bogo-ops): (\S+)", line)
        if match and match[1] == "stressor":
            name = match[2]
        elif match and name:
            found[name] = int(match[2])
    return found


def files() -> dict[str, Path | str]:
    """What the jobs need in the guest."""
    return {**programs.closure("stress-ng"), "bin/stress-job": JOB}


def trials() -> dict[str, Trial]:
    """Every stressor alone, for a second: its memory is full by then."""
    return {
        kind: Trial(command(kind, kind, NOMINAL_MIB, 1, seed=1), files())
        for kind in ("vm", "vm-keep", "bigheap", "pageswap")
    }


class StressNg(Suite):
    """stress-ng's memory stressors."""

    name = "stress-ng"
    title = "stress-ng: bogo-operations per virtual second"
    source = "stress-ng(1), Debian's package"
    timed = True  # every job runs for `seconds`, whatever the policy

    def points(self, effort: str) -> list[Setting]:
        """Parameters: mix (see MIXES) and seconds, the time that every stress-ng runs."""
        if effort == "smoke":
            return [self._point("vm-keep", 1.5, seconds=2, free_mib=64)]
        if effort == "quick":
            # 112 MiB: the largest stressor of the mix, pageswap, fits
            return [
                self._point("vm-keep", 2.5, seconds=6, free_mib=64),
                self._point("mixed", 2.2, seconds=6, free_mib=112),
                self._point("mixed", 1.25, seconds=6, free_mib=112),
            ]
        return [
            self._point(mix, overcommit, disk=disk)
            for mix in MIXES
            for overcommit in (0.8, 1.2, 1.7, 2.5)
            for disk in ("ssd", "nvme")
        ]

    def _point(
        self, mix: str, overcommit: float, disk: str = "ssd", seconds: int = 10, free_mib: int = 148
    ) -> Setting:
        limit = 5.0 * seconds
        return self.point(
            overcommit, disk=disk, free_mib=free_mib, limit=limit, mix=mix, seconds=seconds
        )

    def workload(self, setting: Setting) -> Workload:
        """As many jobs as make about NOMINAL_MIB each; their sizes make up the demand exactly."""
        mix = setting.param("mix", "vm-keep")
        if mix not in MIXES:
            raise LabError(f"stress-ng has no mix {mix}: {', '.join(MIXES)}")
        kinds = _apportion(mix, setting.demand_mib)
        spare = setting.demand_mib - sum(_overhead(kind) for kind in kinds)
        each = spare / sum(kind not in FIXED for kind in kinds)
        if each < 1:
            raise LabError(f"{setting.demand_mib:.0f} MiB are too little for a mix of {mix}")
        seconds = setting.param("seconds", 10)
        jobs = []
        for index, kind in enumerate(kinds):
            name = f"{kind}-{index}"
            # different seeds, so that the jobs do not march in step
            size = 0 if kind in FIXED else each
            arguments = command(name, kind, size, seconds, setting.seed * 1000 + index)
            jobs.append(Job(name, arguments, round(size + _overhead(kind), 2)))
        return Workload(tuple(jobs), files())

    def score(self, setting: Setting) -> Score:
        """A stress-ng ends at its time, however little it did."""
        return Score("suite.bogo_ops_per_s", "bogo-operations", "per virtual s", lower=False)

    def figures(self, setting: Setting, outcome: Outcome) -> Json:
        """Rates over the whole time of the run, of all jobs and of each kind.

        A job that was cut off before it could print its metrics counts as nothing done; how
        many there were is in jobs_silent.
        """
        elapsed = outcome.data["elapsed"]
        totals: dict[str, int] = {}
        silent = 0
        for job in outcome.data["jobs"]:
            kind = job["name"].rpartition("-")[0]
            done = metrics(job["output"])
            silent += not done
            totals[kind] = totals.get(kind, 0) + sum(done.values())
        return {
            "bogo_ops": sum(totals.values()),
            "bogo_ops_per_s": sum(totals.values()) / elapsed,
            "kinds_bogo_ops_per_s": {kind: done / elapsed for kind, done in totals.items()},
            "jobs_silent": silent,
        }

    def tables(self, results: Sequence[Json]) -> list[Table]:
        """Rates per mix and policy."""
        rows = []
        for result in results:
            setting, own = result["setting"], result["figures"]["suite"]
            kinds = own["kinds_bogo_ops_per_s"]
            rows.append(
                (
                    setting["params"]["mix"],
                    setting["disk"],
                    f"{setting['overcommit']:g}",
                    setting["policy"],
                    str(setting["seed"]),
                    f"{own['bogo_ops_per_s']:.0f}",
                    " ".join(f"{kind} {rate:.0f}" for kind, rate in sorted(kinds.items())),
                    str(own["jobs_silent"]),
                )
            )
        return [
            Table(
                "stress-ng: bogo-operations per virtual second",
                ("mix", "disk", "overcommit", "policy", "seed", "all", "each kind", "cut off"),
                tuple(sorted(rows)),
                "From the first job's start to the end of the last. Under `ideal` the batches run "
                "one after the other, each for the whole time.",
            )
        ]


def _overhead(kind: str) -> float:
    """The demand of a job beside its given size; the whole demand if it has no size."""
    peak = demand(StressNg.name, kind).peak_mib
    return peak if kind in FIXED else peak - NOMINAL_MIB


def _apportion(mix: str, demand_mib: float) -> list[str]:
    """The kinds of a mix in turns until they demand as much."""
    kinds: list[str] = []
    total = 0.0
    while True:
        kind = MIXES[mix][len(kinds) % len(MIXES[mix])]
        peak = demand(StressNg.name, kind).peak_mib
        if kinds and total + peak / 2 > demand_mib:
            return kinds
        kinds.append(kind)
        total += peak


SUITE = StressNg()
