# SPDX-License-Identifier: GPL-2.0
"""SPEC-like mixes: Reuven & Wiseman, figures 2 and 3, with stand-ins for SPEC's programs.

A mix such as 3gzip+2gcc is scaled: programs are added in its proportion until they demand what
the setting says, by what each was measured to need (bench.lab.calibrate). Every program of it is
a job. bench/spec_wrappers/run runs the same mixes with SPEC's own programs, on a host.
"""

from collections.abc import Sequence
from pathlib import Path

from bench.lab import LabError, calibrate
from bench.lab.calibrate import Trial
from bench.lab.experiment import Job, Json, Outcome, Setting, Suite, Table, Workload
from bench.spec_wrappers import mix, standins
from bench.suites import paperlib

# Each kind alone, pairs of like and unlike, and all together.
MIXES = (
    *("gzip", "gcc", "lu", "paths", "perl"),
    *("3gzip+2gcc", "2bzip2+3paths", "2gcc+lu+2perl", "gzip+bzip2+xz+gcc+lu+paths+perl"),
)
SLICES_MS = (1000, 2000, 5000, 10000)  # figure 3: the effect of the slice


def trials() -> dict[str, Trial]:
    """One unit of work of each stand-in."""
    return {
        name: Trial(each.command(f"trial-{name}", 1, 1), each.files(1))
        for name, each in standins.SET.items()
    }


def demand_mib(program: str) -> float:
    """What one of a stand-in demands."""
    return calibrate.demand(Spec.name, standins.find(program).name).peak_mib


class Spec(Suite):
    """Mixes of the stand-ins."""

    name = "spec"
    title = "SPEC-like mixes of programs"
    source = "Reuven & Wiseman, section 5.2, figures 2 and 3"
    programs = ("repeat", "textgen", "lu", "paths")
    slice_param = "slice_ms"
    # Compilers show their work file by file, and compressors need their memory only after a
    # while: a run that a sweep cuts off early would tell nothing.
    timed = True
    whole = True

    def points(self, effort: str) -> list[Setting]:
        """Parameters: mix; size of the work (test, train, ref); slice_ms of mts (0: its own).

        quick: mixes and sizes with which stock Linux thrashes, and one with which it does not.
        gzip and gcc go through most of their memory once (3gzip+2gcc at 2.5 took stock no longer
        than it takes them alone).
        """
        if effort == "smoke":
            return [self._point("2perl", 1.2, free_mib=40, size="test", limit=20)]
        if effort == "quick":
            return [
                self._point("2bzip2+3paths", 2.75, free_mib=36, limit=20),
                self._point("lu+paths+perl", 2.5, free_mib=36, limit=25),
                self._point("3gzip+2gcc", 1.25, free_mib=56, limit=25),
            ]
        mixes = [
            self._point(name, overcommit, size="train", limit=120)
            for name in MIXES
            for overcommit in (1.3, 1.7, 2.5)
        ]
        slices = [
            self._point("3gzip+2gcc", 1.7, size="train", limit=120, slice_ms=slice_ms)
            for slice_ms in SLICES_MS
        ]
        return mixes + slices

    def _point(
        self,
        name: str,
        overcommit: float,
        *,
        free_mib: int = 148,
        size: str = "test",
        limit: float,
        slice_ms: int = 0,
    ) -> Setting:
        return self.point(
            overcommit, free_mib=free_mib, limit=limit, mix=name, size=size, slice_ms=slice_ms
        )

    def workload(self, setting: Setting) -> Workload:
        """The mix, scaled to the demand."""
        size = setting.param("size", "test")
        if size not in standins.SIZES:
            raise LabError(f"spec: no size {size}: {', '.join(standins.SIZES)}")
        parts = mix.parse(setting.param("mix", "3gzip+2gcc"))
        demands = {part.program: demand_mib(part.program) for part in parts}
        parts = mix.scale(parts, demands, setting.demand_mib)
        jobs = []
        files: dict[str, Path | str] = {}
        for index, program in enumerate(mix.programs(parts)):
            each = standins.find(program)
            name = f"{each.name}-{index}"
            command = each.command(name, setting.seed * 1000 + index, standins.SIZES[size])
            jobs.append(Job(name, command, demands[program]))
            files |= each.files(setting.seed)
        slice_ms = setting.param("slice_ms", 0)
        # The paper's slices do not grow.
        settings = f"slice={slice_ms}ms overhead=off" if slice_ms else ""
        return Workload(tuple(jobs), files, mts_settings=settings)

    def figures(self, setting: Setting, outcome: Outcome) -> Json:
        """What ran, and how long each kind of program took."""
        jobs = outcome.data["jobs"]
        kinds: dict[str, list[Json]] = {}
        for job in jobs:
            kinds.setdefault(job["name"].rpartition("-")[0], []).append(job)
        demand = sum(demand_mib(kind) * len(group) for kind, group in kinds.items())
        return {
            "programs": {kind: len(group) for kind, group in kinds.items()},
            "demand_mib": demand,
            "overcommit_reached": demand / setting.free_mib,
            "kinds_mean_s": {
                kind: paperlib.mean(job["ended"] for job in group)
                if all(job["ended"] for job in group)
                else None
                for kind, group in kinds.items()
            },
            "kinds_work": {
                kind: paperlib.mean(job["work"] for job in group) for kind, group in kinds.items()
            },
            "failed": sum(bool(job["status"]) for job in jobs),
        }

    def tables(self, results: Sequence[Json]) -> list[Table]:
        """Figure 2, swaps and time of each mix; figure 3, the same over the slice."""
        mixes, slices = [], []
        for key, policies in paperlib.by_point(results).items():
            for policy, runs in policies.items():
                params = runs[0]["setting"]["params"]
                row = self._row(key, policy, runs)
                if params.get("slice_ms"):
                    slices.append((f"{params['slice_ms'] / 1000:g}", *row))
                else:
                    mixes.append(row)
        header = (
            *("mix", "programs", "where", "policy", "swapped in and out, MiB", "all done in s"),
            *("work at the limit", "failed"),
        )
        tables = []
        if mixes:
            tables.append(
                Table("Mixes, as figures 2a (swaps) and 2b (time)", header, tuple(mixes), PAPER)
            )
        if slices:
            tables.append(
                Table(
                    "Time slices of mts, as figures 3a and 3b",
                    ("slice, s", *header),
                    tuple(sorted(slices, key=lambda row: float(row[0]))),
                    PAPER_SLICES,
                )
            )
        return tables

    def _row(self, key: str, policy: str, runs: Sequence[Json]) -> tuple[str, ...]:
        own = [paperlib.own(run) for run in runs]
        figures = [run["figures"] for run in runs]
        programs = "+".join(f"{count}{kind}" for kind, count in sorted(own[0]["programs"].items()))
        return (
            runs[0]["setting"]["params"]["mix"],
            programs,
            paperlib.where(key),
            policy,
            paperlib.number((each["swapin_mib"] + each["swapout_mib"] for each in figures), 0),
            paperlib.number(each["time_for_all_s"] for each in figures),
            paperlib.number(each["work"] for each in figures),
            paperlib.number((each["failed"] for each in own), 0),
        )


PAPER = (
    "The paper gives figure 2 as curves only; its text has no numbers for the mixes. It says: the "
    "medium-term scheduler outperformed Linux in all of them, by less than with SYN8, because a "
    "bin of few large programs leaves the processor idle while they wait. Its machine: 128 MiB, "
    "bins of 96 MiB."
)
PAPER_SLICES = (
    "The paper gives figure 3 as curves only, for slices of 1 and 2 s. It says: beyond a certain "
    "slice the time suffers from idling, and the rate of page faults at 1 s is less than twice "
    "that at 2 s."
)

SUITE = Spec()
