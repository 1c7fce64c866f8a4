# SPDX-License-Identifier: GPL-2.0
"""Builds: several compilations of one generated C project at the same time.

Every job is one tree: `make -j2` with Debian's make, gcc, as and ld, of the project that
bench/builds/project.py generates from the seed. The trees share the sources, which are part of
the guest's image; what they make goes to a tmpfs, and is memory of the job that made it.

A tree's demand grows with the constant data of a file (generated tables are what makes files
of real projects large). It was measured for two sizes, and the size between them is taken with
which a whole number of trees demands what the setting says.

A compiler's memory grows while it works on a file and is gone with it, so a tree demands what
was measured of it, its peak, only at times. The overcommit is one of peaks: at 1 the trees fit
whatever happens, and at 1.3 they may well fit all the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.builds import project
from bench.lab import LabError, calibrate, programs
from bench.lab.calibrate import Trial
from bench.lab.experiment import Job, Json, Outcome, Setting, Suite, Table, Workload
from bench.spec_wrappers.standins import in_scratch
from bench.suites import paperlib

PARALLEL = 2  # make's -j


@dataclass(frozen=True)
class Kind:
    """A kind of build; the words of data in a file are chosen by the demand."""

    shape: project.Shape
    tried: tuple[int, int]  # words of data in a file of the two trials, the smaller first


KINDS = {
    "debug": Kind(project.Shape(files=4, functions=8, flags="-O0 -g"), (20_000, 80_000)),
    "release": Kind(project.Shape(files=4, functions=8, flags="-O1"), (20_000, 80_000)),
}


def tools() -> dict[str, Path]:
    """make, gcc and what gcc runs, with their libraries: place in the guest -> file here."""
    parts = [programs.gcc_part(name) for name in ("cc1", "collect2")]
    return programs.closure("make", "gcc", "as", "ld", *parts)


def sources(shape: project.Shape, seed: int) -> tuple[str, dict[str, str]]:
    """The directory of the project in the guest, and its files there."""
    directory = f"src/{shape.data}{shape.flags}".replace(" ", "")
    texts = project.texts(shape, seed)
    return f"/{directory}", {f"{directory}/{name}": text for name, text in texts.items()}


def command(name: str, directory: str, shape: project.Shape) -> tuple[str, ...]:
    """The command that builds one tree in /tmp/NAME, counts each file, and cleans up."""
    steps = shape.files + 2  # main.c, and linking
    build = (
        *("/bin/repeat", "--name", name, "--steps", str(steps)),
        *("--", "/usr/bin/make", "-s", f"-j{PARALLEL}", "-C", directory),
        *(f"OUT=/tmp/{name}", "STEP=echo >&9"),
    )
    return in_scratch(name, "true", build)


def trials() -> dict[str, Trial]:
    """One tree of each kind in both sizes, and in one between them, to see what that is worth."""
    found = {}
    for name, kind in KINDS.items():
        low, high = kind.tried
        for words in (low, (low + high) // 2, high):
            shape = replace(kind.shape, data=words)
            directory, texts = sources(shape, seed=1)
            trial = f"{name}-{words}"
            found[trial] = Trial(command(trial, directory, shape), {**tools(), **texts})
    return found


def demand_mib(kind: str, words: float) -> float:
    """What a tree with so much data in a file demands, on the line through the trials."""
    low, high = KINDS[kind].tried
    at_low, at_high = (
        calibrate.demand(Builds.name, f"{kind}-{tried}").peak_mib for tried in (low, high)
    )
    return at_low + (at_high - at_low) * (words - low) / (high - low)


def words_for(kind: str, mib: float) -> int:
    """How much data in a file makes a tree demand so much; LabError if that was not tried."""
    low, high = KINDS[kind].tried
    base, slope = demand_mib(kind, 0), demand_mib(kind, 1) - demand_mib(kind, 0)
    words = round((mib - base) / slope)
    if not 0.5 * low <= words <= 1.25 * high:
        raise LabError(
            f"builds: a tree of {mib:.0f} MiB is too far from the measured ones "
            f"({demand_mib(kind, low):.0f} to {demand_mib(kind, high):.0f} MiB)"
        )
    return words


class Builds(Suite):
    """Parallel compilations."""

    name = "builds"
    title = "Builds: several compilations at the same time"
    source = "make, gcc and binutils as Debian has them; the project is generated"
    programs = ("repeat",)
    # Work shows file by file only: a run that a sweep cuts off early would tell nothing.
    timed = True

    def points(self, effort: str) -> list[Setting]:
        """Parameters: kind (of KINDS), trees (0: as many as the demand asks for)."""
        if effort == "smoke":
            return [self._point("debug", 1.2, free_mib=64, trees=2, limit=20)]
        if effort == "quick":
            # a peak is short: with 4 trees at 3.0 stock took hardly longer than alone
            return [self._point("debug", 4.8, free_mib=30, trees=6, limit=30)]
        return [
            self._point(kind, overcommit, disk=disk, limit=120)
            for kind in KINDS
            for overcommit in (1.0, 1.3, 1.7, 2.1, 2.5)
            for disk in ("ssd", "nvme")
        ]

    def _point(
        self,
        kind: str,
        overcommit: float,
        *,
        disk: str = "ssd",
        free_mib: int = 148,
        trees: int = 0,
        limit: float,
    ) -> Setting:
        return self.point(
            overcommit, disk=disk, free_mib=free_mib, limit=limit, kind=kind, trees=trees
        )

    def workload(self, setting: Setting) -> Workload:
        """So many trees, of a size with which they demand what the setting says."""
        kind = setting.param("kind", "debug")
        if kind not in KINDS:
            raise LabError(f"builds: no kind {kind}: {', '.join(KINDS)}")
        usual = demand_mib(kind, sum(KINDS[kind].tried) / 2)
        trees = setting.param("trees", 0) or max(1, round(setting.demand_mib / usual))
        words = words_for(kind, setting.demand_mib / trees)
        shape = replace(KINDS[kind].shape, data=words)
        directory, texts = sources(shape, setting.seed)
        needs = round(demand_mib(kind, words), 2)
        jobs = tuple(
            Job(f"tree-{index}", command(f"tree-{index}", directory, shape), needs)
            for index in range(trees)
        )
        return Workload(jobs, {**tools(), **texts})

    def figures(self, setting: Setting, outcome: Outcome) -> Json:
        """Files compiled or linked, and how many a virtual minute; errors of compilers."""
        jobs = outcome.data["jobs"]
        steps = sum(job["done"] for job in jobs)
        return {
            "trees": len(jobs),
            "steps": steps,
            "steps_per_minute": 60 * steps / outcome.data["elapsed"],
            "first_tree_s": min((job["ended"] for job in jobs if job["ended"]), default=None),
            "failed_trees": sum(bool(job["status"]) or bool(job["signal"]) for job in jobs),
        }

    def tables(self, results: Sequence[Json]) -> list[Table]:
        """Time and rate for each point and policy."""
        rows = []
        for key, policies in paperlib.by_point(results).items():
            for policy, runs in policies.items():
                own = [paperlib.own(run) for run in runs]
                rows.append(
                    (
                        runs[0]["setting"]["params"]["kind"],
                        paperlib.where(key),
                        str(own[0]["trees"]),
                        policy,
                        paperlib.number(run["figures"]["time_for_all_s"] for run in runs),
                        paperlib.number(each["steps_per_minute"] for each in own),
                        paperlib.number(each["first_tree_s"] for each in own),
                        paperlib.number((each["failed_trees"] for each in own), 0),
                    )
                )
        return [
            Table(
                "Parallel compilations of one generated C project",
                (
                    *("kind", "where", "trees", "policy", "all done in s"),
                    *("files per minute", "first tree in s", "failed trees"),
                ),
                tuple(rows),
                "Virtual seconds. A compiler demands its peak only at times: see the suite.",
            )
        ]


SUITE = Builds()
