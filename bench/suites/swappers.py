# SPDX-License-Identifier: GPL-2.0
"""Goichon, Salagnac & Frénot, "Swap Fairness for Thrashing Mitigation" (2013), section 4.2.

`rounds`: five timed swappers of 200 MB on a machine of 512 MB, for 10,000 s; the duration of each
round of each (figure 3) and Jain's index over the durations of the same round (figure 5).
`mix`: one program of SPEC CPU2006 beside one infinite swapper of 400 MB, 20 runs; the dispersion
of its execution time (table 2). SPEC's programs are replaced by programs of their character
(bench/protection): `blocks` for bzip2, which scans all its data multiple times, `gcc` for gcc,
which does successive computations on localized areas. A run is a seed.

The one factor of scale is free_mib / 512: it makes the paper's 512 MB of memory what is free in
the guest. Sizes and times are the paper's times this factor. A shorter `duration` (a parameter)
measures fewer rounds of the same length.

Under `ideal` the swappers do not compete: two run at a time, as many as fit, each pair for its part
of the duration. In the mix the program runs alone.
"""

import statistics
from collections.abc import Sequence

from bench.lab import LabError
from bench.lab.experiment import (
    TIME,
    Job,
    Json,
    Outcome,
    Score,
    Setting,
    Suite,
    Table,
    Workload,
)
from bench.suites import paperlib as lib

PAPER_MIB = 512
PAPER_SWAPPERS = 5
PAPER_SWAPPER_MIB = 200
PAPER_INFINITE_MIB = 400
PAPER_DURATION = 10000.0

# Table 1: duration alone in s, memory in MB. Table 2: standard deviation in s, without and with
# swap accounting.
PAPER_MIX = {
    "bzip2-chicken": ("blocks", 53, 100, 5.00, 3.61),
    "bzip2-liberty": ("blocks", 66, 100, 4.00, 2.65),
    "bzip2-combined": ("blocks", 106, 610, 46.38, 5.92),
    "gcc-166": ("gcc", 66, 200, 28.74, 11.96),
    "gcc-c-typeck": ("gcc", 85, 430, 121.68, 29.80),
    "gcc-g23": ("gcc", 287, 840, 474.08, 57.43),
}
# Instructions of a unit of work, measured in a guest with memory to spare, where an
# instruction takes 1 ns: they set how long the programs take alone, and what is all work.
UNIT_INSTRUCTIONS = {"blocks": 50500, "gcc": 10000}
VISIT_INSTRUCTIONS = 2080  # of a swapper, a page
SHOWN_ROUNDS = 100
COMPARED_ROUNDS = 28  # figure 5


def mix_overcommit(program: str) -> float:
    """What the program and the infinite swapper want together, over the memory."""
    return (PAPER_MIX[program][2] + PAPER_INFINITE_MIB) / PAPER_MIB


class Swappers(Suite):
    """Swappers against each other, and against others."""

    name = "swappers"
    title = "Swap fairness: timed and infinite swappers"
    source = "Goichon, Salagnac & Frénot 2013, section 4.2, figures 3 and 5, table 2"
    programs = ("swappers", "patterns")
    timed = True

    def points(self, effort: str) -> list[Setting]:
        """Full: the paper's durations and programs; quick: fewer rounds, and one program."""
        if effort == "smoke":
            return [self.rounds_point(48, "ssd", 2.0, limit=8.0, count=3, overcommit=1.3)]
        if effort == "quick":
            return [
                self.rounds_point(48, "ssd", 16.0, limit=32.0),
                self.mix_point("gcc-166", 48, "ssd", limit=30.0),
            ]
        duration = PAPER_DURATION * 148 / PAPER_MIB
        return [
            self.rounds_point(148, "paper", duration, limit=2 * duration),
            self.rounds_point(148, "ssd", 120.0, limit=240.0),
            *(self.mix_point(program, 148, "paper", limit=1200.0) for program in PAPER_MIX),
            *(self.mix_point(program, 148, "ssd", limit=400.0) for program in PAPER_MIX),
        ]

    def rounds_point(
        self,
        free_mib: int,
        disk: str,
        duration: float,
        *,
        limit: float,
        count: int = PAPER_SWAPPERS,
        overcommit: float = PAPER_SWAPPERS * PAPER_SWAPPER_MIB / PAPER_MIB,
    ) -> Setting:
        """Timed swappers."""
        return self.point(
            overcommit,
            disk=disk,
            free_mib=free_mib,
            limit=limit,
            experiment="rounds",
            count=count,
            duration=duration,
        )

    def mix_point(self, program: str, free_mib: int, disk: str, limit: float) -> Setting:
        """A program beside the infinite swapper."""
        return self.point(
            mix_overcommit(program),
            disk=disk,
            free_mib=free_mib,
            limit=limit,
            experiment="mix",
            program=program,
        )

    def workload(self, setting: Setting) -> Workload:
        """The swappers, or the program and its infinite neighbour."""
        experiment = setting.param("experiment", "rounds")
        if experiment == "rounds":
            return self._rounds_workload(setting)
        if experiment == "mix":
            return self._mix_workload(setting)
        raise LabError(f"swappers: no experiment {experiment!r}: rounds or mix")

    def _rounds_workload(self, setting: Setting) -> Workload:
        count = int(lib.positive(setting, "count", setting.param("count", PAPER_SWAPPERS)))
        duration = float(setting.param("duration", PAPER_DURATION * setting.free_mib / PAPER_MIB))
        lib.positive(setting, "duration", duration)
        size_mib = setting.demand_mib / count
        fits = max(1, min(count, int(setting.free_mib // (size_mib + lib.PROGRAM_MIB))))
        bins = -(-count // fits)
        if setting.policy == "ideal":
            duration /= bins
        pages = lib.page_size(size_mib) // lib.PAGE
        # All work: what the processor can do in this time, if no page is ever missing.
        goal = duration * 1e9 / 2**setting.shift / VISIT_INSTRUCTIONS / pages / count
        if setting.policy == "ideal":
            goal *= bins
        jobs = tuple(
            Job(
                name=f"swapper{index}",
                command=(
                    *("/bin/swappers", "--name", f"swapper{index}", "--index", str(index)),
                    *("--size", str(pages * lib.PAGE), "--seed", str(setting.seed)),
                    *("--duration", lib.seconds(duration), "--goal", str(max(1, round(goal)))),
                ),
                demand_mib=size_mib + lib.PROGRAM_MIB,
            )
            for index in range(count)
        )
        batches = tuple(jobs[at : at + fits] for at in range(0, count, fits))
        return Workload(jobs=jobs, batches=batches)

    def _mix_workload(self, setting: Setting) -> Workload:
        name = setting.param("program")
        if name not in PAPER_MIX:
            raise LabError(f"swappers: no program {name!r}: one of {', '.join(PAPER_MIX)}")
        pattern, alone, paper_mib, _, _ = PAPER_MIX[name]
        factor = setting.free_mib / PAPER_MIB
        # another overcommit than the paper's makes both larger or smaller
        sizes = factor * setting.overcommit / mix_overcommit(name)
        work = alone * factor * 1e9 / 2**setting.shift / UNIT_INSTRUCTIONS[pattern]
        program = Job(
            name=name,
            command=(
                *("/bin/patterns", pattern, "--name", name, "--seed", str(setting.seed)),
                *("--size", str(lib.page_size(paper_mib * sizes)), "--work", str(round(work))),
            ),
            demand_mib=paper_mib * sizes + lib.PROGRAM_MIB,
        )
        if setting.policy == "ideal":
            return Workload(jobs=(program,), batches=((program,),))
        infinite = Job(
            name="infinite",
            command=(
                *("/bin/swappers", "--name", "infinite", "--seed", str(setting.seed)),
                *("--size", str(lib.page_size(PAPER_INFINITE_MIB * sizes))),
            ),
            demand_mib=PAPER_INFINITE_MIB * sizes + lib.PROGRAM_MIB,
            endless=True,
        )
        return Workload(jobs=(infinite, program))

    def score(self, setting: Setting) -> Score:
        """Timed swappers end at their time; in the mix a program has work to do."""
        if setting.param("experiment", "rounds") == "mix":
            return TIME
        return Score("suite.pages_per_s", "pages visited", "per virtual s", lower=False)

    def figures(self, setting: Setting, outcome: Outcome) -> Json:
        """Rounds and their fairness; or how long the program took."""
        if setting.param("experiment", "rounds") == "rounds":
            return rounds_figures(outcome)
        job = outcome.job(setting.param("program"))
        took = job["ended"] - job["started"] if job["status"] == 0 else None
        return {
            "program_s": took,
            "program_work": job["work"],
            "program_major_faults": job["majflt"],
            "nominal_alone_s": PAPER_MIX[job["name"]][1] * setting.free_mib / PAPER_MIB,
        }

    def tables(self, results: Sequence[Json]) -> list[Table]:
        """Figures 3 and 5, and table 2."""
        rounds = [r for r in results if r["setting"]["params"].get("experiment") != "mix"]
        mix = [r for r in results if r["setting"]["params"].get("experiment") == "mix"]
        tables = [rounds_table(key, point) for key, point in lib.by_point(rounds).items()]
        return tables + [mix_table(key, point) for key, point in lib.by_point(mix).items()]


def rounds_figures(outcome: Outcome) -> Json:
    """From the swappers' reports; for a swapper that was cut off, from its work counter.

    A round is compared if every swapper has made it. Where the whole run is about as short as
    a slice (the smoke point) one may never have run, and no round is: jain_of_pages has it then.
    """
    jobs = outcome.data["jobs"]
    reports = [lib.report(job) for job in jobs]
    rounds = [report["round_seconds"] if report else [] for report in reports]
    touched = [r["touched"] if r else job["done"] for r, job in zip(reports, jobs, strict=True)]
    compared = [lib.jain(times) for times in zip(*rounds, strict=False)]
    elapsed = outcome.data["elapsed"]
    return {
        "rounds_done": [report["rounds"] if report else None for report in reports],
        "mean_round_s": [
            (r["elapsed"] - r["fill"]) / r["rounds"] if r and r["rounds"] else None for r in reports
        ],
        "longest_round_s": max((max(times) for times in rounds if times), default=None),
        "round_s": [times[:SHOWN_ROUNDS] for times in rounds],
        "jain_of_round": compared[:SHOWN_ROUNDS],
        "jain_of_rounds_mean": lib.mean(compared[:COMPARED_ROUNDS]),
        "jain_of_pages": lib.jain(touched),
        "pages_per_s": sum(touched) / elapsed if elapsed else None,
    }


def rounds_table(key: str, point: dict[str, list[Json]]) -> Table:
    """Figure 3 and its text, figure 5."""
    rows = [
        ("paper: kernel 3.2.5", "35", "328", "-", "-", "-"),
        ("paper: swap accounting", "50", "193", "-", "-", "-"),
    ]
    for policy, results in point.items():
        figures = [lib.own(result) for result in results]
        done = [[n for n in figure["rounds_done"] if n is not None] for figure in figures]
        times = [[t for t in figure["mean_round_s"] if t is not None] for figure in figures]
        rows.append(
            (
                policy,
                lib.number((max(n, default=None) for n in done), 0),
                lib.number((lib.mean(t) for t in times), 3),
                lib.number((figure["jain_of_rounds_mean"] for figure in figures), 3),
                lib.number((figure["jain_of_pages"] for figure in figures), 3),
                lib.number((figure["pages_per_s"] for figure in figures), 0),
            )
        )
    return Table(
        title=f"Timed swappers ({lib.where(key)})",
        header=(
            *("policy", "rounds of the best", "mean round (s)"),
            *(f"Jain's index, first {COMPARED_ROUNDS} rounds", "Jain's index, pages", "pages/s"),
        ),
        rows=tuple(rows),
        note="Goichon et al., section 4.2, text on figure 3; figure 5 has no printed numbers. "
        "The paper's rounds are of 200 MB on 512 MB. The index is of rounds that every swapper has "
        "made: in a short run one may be frozen from its beginning to its end, and there is none.",
    )


def mix_table(key: str, point: dict[str, list[Json]]) -> Table:
    """A line of table 2."""
    rows = []
    for policy, runs in point.items():
        name = runs[0]["setting"]["params"]["program"]
        times = [t for t in (lib.own(run)["program_s"] for run in runs) if t is not None]
        several = len(times) > 1
        rows.append(
            (
                policy,
                f"{len(times)} of {len(runs)}",
                lib.number(times),
                f"{statistics.stdev(times):.2f}" if several else "-",
                f"{statistics.stdev(times) / lib.mean(times):.1%}" if several else "-",
                lib.number((lib.own(run)["program_work"] for run in runs), 3),
            )
        )
    _, alone, _, plain, accounting = PAPER_MIX[name]
    rows[:0] = [
        ("paper: kernel 3.2.5", "20 of 20", "-", f"{plain:.2f}", "-", "-"),
        ("paper: swap accounting", "20 of 20", "-", f"{accounting:.2f}", "-", "-"),
    ]
    return Table(
        title=f"{name} beside an infinite swapper ({lib.where(key)})",
        header=("policy", "runs done", "time (s)", "sd (s)", "sd over mean", "work"),
        rows=tuple(rows),
        note=f"Goichon et al., table 2: standard deviation over 20 runs, of a program that takes "
        f"{alone} s alone (table 1). Ours is over seeds (with n - 1), of one of "
        f"{lib.own(runs[0])['nominal_alone_s']:.1f} s; runs that were cut off have no time.",
    )


SUITE = Swappers()
