# SPDX-License-Identifier: GPL-2.0
"""Jiang & Zhang, "Adaptive Page Replacement to Protect Thrashing in Linux" (2001), section
"Performance Measurements".

Two programs that need much memory and much processor time run together, with too little memory:
gcc and bit-r with a shortage of 31 %, two LU with 35 %. Slowdown is each one's time over its time
alone; faults and the resident set over time are compared.

A shortage of 31 % is taken as: 31 % of what both want together is not there, so that the demand is
1 / (1 - 0.31) times what is free. The one factor of scale is free_mib / 384, of the machine's 384
MB: sizes are the paper's shares of the memory times this factor. The text says neither how large
each program is nor how long it takes alone. Here gcc has 45 % of the demand at its second spike
and bit-r the rest, the two LU have half each, and `seconds` (a parameter; 240 s times the factor)
is how long each takes alone, about: it sets the amount of work.

`alone` is a parameter: `first` or `second` runs this program without the other (figures 5 to 7),
`no` both. Under `ideal` they run one after the other, which is as good as two runs alone: where
there are none, the tables take these.

Resident sets are sampled by the locked monitor of bench/scanners, which is a resident job. What
is in memory and in swap together stands for the paper's memory allocation demand (MAD).
"""

import json
from collections.abc import Sequence

from bench.lab import LabError
from bench.lab.experiment import Job, Json, Outcome, Setting, Suite, Table, Workload
from bench.suites import paperlib as lib
from bench.suites.scanners import Log

PAPER_MIB = 384
PAPER_SECONDS = 240.0
# Pair: shortage; for each program its name, pattern, share of the demand, and of the paper: the
# slowdown with kernel 2.2, the one with protection, and by how much that reduced the faults.
PAIRS = {
    "gcc+bit-r": (
        0.31,
        (("p1-gcc", "gcc", 0.45, 3.63, 1.97, 95.7), ("p2-bit-r", "bit-r", 0.55, 2.69, 1.81, 49.8)),
    ),
    "lu+lu": (
        0.35,
        (("p1-lu", "lu", 0.5, 3.57, 1.63, 99.4), ("p2-lu", "lu", 0.5, 3.40, 2.18, -39.6)),
    ),
    # not in this text of the paper; of the same characters as programs of its other versions
    "mm+sort": (
        0.33,
        (("p1-mm", "mm", 0.5, None, None, None), ("p2-sort", "sort", 0.5, None, None, None)),
    ),
    "records+gcc": (
        0.33,
        (
            ("p1-records", "records", 0.5, None, None, None),
            ("p2-gcc", "gcc", 0.5, None, None, None),
        ),
    ),
}
# Instructions of a unit of work, measured in a guest with memory to spare, where an
# instruction takes 1 ns.
UNIT_INSTRUCTIONS = {
    "lu": 4100,
    "mm": 3600,
    "bit-r": 3400,
    "sort": 11600,
    "records": 4000,
    "gcc": 10000,
}
ALONE = ("no", "first", "second")
MOST_SAMPLES = 400  # of about 130 bytes in the 64 KiB that are kept of a program's output


class Protection(Suite):
    """Two programs in too little memory."""

    name = "protection"
    title = "Thrashing protection: two programs together"
    source = 'Jiang & Zhang 2001, "Performance Measurements", figures 5 to 11'
    programs = ("patterns", "scanners")

    def points(self, effort: str) -> list[Setting]:
        """Full: all pairs, and each program alone. Quick: the paper's pairs; `ideal` is alone."""
        if effort == "smoke":
            return [self.pair_point("lu+lu", 48, "ssd", 0.5, "no")]
        if effort == "quick":
            return [self.pair_point(pair, 48, "ssd", 4.0, "no") for pair in list(PAIRS)[:2]]
        seconds = PAPER_SECONDS * 148 / PAPER_MIB
        return [
            self.pair_point(pair, 148, disk, seconds, alone)
            for disk in lib.DISKS
            for pair in PAIRS
            for alone in ALONE
            if (pair, alone) != ("lu+lu", "second")  # it is the first again
        ]

    def pair_point(
        self, pair: str, free_mib: int, disk: str, seconds: float, alone: str = "no"
    ) -> Setting:
        """Where as much is short as in the paper."""
        return self.point(
            round(1 / (1 - PAIRS[pair][0]), 4),
            disk=disk,
            free_mib=free_mib,
            limit=float(round(12 * seconds + 4)),
            alone=alone,
            pair=pair,
            seconds=seconds,
        )

    def workload(self, setting: Setting) -> Workload:
        """The programs, and the monitor."""
        name = setting.param("pair", "gcc+bit-r")
        alone = setting.param("alone", "no")
        if name not in PAIRS:
            raise LabError(f"protection: no pair {name!r}: one of {', '.join(PAIRS)}")
        if alone not in ALONE:
            raise LabError(f"protection: alone={alone!r}: one of {', '.join(ALONE)}")
        seconds = float(setting.param("seconds", PAPER_SECONDS * setting.free_mib / PAPER_MIB))
        lib.positive(setting, "seconds", seconds)
        programs = PAIRS[name][1]
        jobs = tuple(
            Job(
                name=job,
                command=(
                    *(
                        "/bin/patterns",
                        pattern,
                        "--name",
                        job,
                        "--seed",
                        str(setting.seed + 100 * n),
                    ),
                    *("--size", str(lib.page_size(setting.demand_mib * part))),
                    *("--work", str(units(pattern, seconds, setting.shift))),
                ),
                demand_mib=setting.demand_mib * part + lib.PROGRAM_MIB,
            )
            for n, (job, pattern, part, *_) in enumerate(programs)
        )
        if alone != "no":
            jobs = (jobs[ALONE.index(alone) - 1],)
        interval = max(0.05, setting.limit / MOST_SAMPLES)
        monitor = Job(
            name="monitor",
            command=(
                *("/bin/scanners", "monitor", "--name", "p"),
                *("--interval", lib.seconds(interval)),
            ),
            demand_mib=2 * lib.PROGRAM_MIB,
            resident=True,
            endless=True,
        )
        # the monitor is in no batch: it watches them all, and sees each program alone
        return Workload(jobs=(monitor, *jobs), batches=tuple((job,) for job in jobs))

    def figures(self, setting: Setting, outcome: Outcome) -> Json:
        """Times, faults, and the resident sets of figures 5 to 11."""
        jobs = {job["name"]: job for job in outcome.data["jobs"] if job["name"] != "monitor"}
        reports = {name: lib.report(job) for name, job in jobs.items()}
        monitor = [job for job in outcome.data["jobs"] if job["name"] == "monitor"]
        log = Log(monitor[0]["output"]) if monitor else None
        return {
            "programs": {
                name: {
                    "time_s": job["ended"] - job["started"] if job["status"] == 0 else None,
                    # of one that was cut off: at the rate that it had
                    "expected_s": expected(job, outcome.data["elapsed"]),
                    "work": job["work"],
                    "user_s": job["utime"],
                    "major_faults": job["majflt"],
                    "check": (reports[name] or {}).get("check"),
                }
                for name, job in jobs.items()
            },
            "resident": {name: resident(log, name) for name in jobs} if log else None,
        }

    def tables(self, results: Sequence[Json]) -> list[Table]:
        """Slowdowns and faults."""
        tables = []
        for pair in PAIRS:
            of_pair = [r for r in results if r["setting"]["params"].get("pair") == pair]
            for key, point in lib.by_point(of_pair).items():
                if json.loads(key)["params"]["alone"] != "no":
                    continue
                header = (
                    *("program", "paper: slowdown", "protected", "paper: faults less"),
                    *("policy", "time (s)", "slowdown", "major faults", "less than stock"),
                )
                rows = tuple(pair_rows(pair, point, of_pair))
                title = f"{pair} together ({lib.where(key)})"
                tables.append(Table(title=title, header=header, rows=rows, note=NOTE))
        return tables


NOTE = (
    "Jiang & Zhang 2001, text on figures 8 to 11: kernel 2.2.14 and their protection. Slowdown is "
    "over the time alone. A time marked ~ is that of a run that was cut off, at the rate that it "
    "had."
)


def units(pattern: str, seconds: float, shift: int) -> int:
    """The work that takes so long alone."""
    return max(1, round(seconds * 1e9 / 2**shift / UNIT_INSTRUCTIONS[pattern]))


def expected(job: Json, elapsed: float) -> float | None:
    """How long a program takes, or would take at the rate that it had."""
    if job["status"] == 0:
        return job["ended"] - job["started"]
    return (elapsed - job["started"]) / job["work"] if job["work"] else None


def resident(log: Log, name: str) -> Json:
    """Resident set, and that and what is in swap, in MiB over s since the monitor began."""
    rows = [row for row in log.rows if name in row["tasks"]]
    tasks = [row["tasks"][name] for row in rows]
    return {
        "t": [round(row["t"], 3) for row in rows],
        "rss_mib": [round(task["rss"] / lib.PAGES_PER_MIB, 2) for task in tasks],
        "demand_mib": [
            round((task["rss"] + task["swap"]) / lib.PAGES_PER_MIB, 2) for task in tasks
        ],
    }


def alone_time(results: Sequence[Json], together: Json, program: str) -> float | None:
    """The program's time alone, of this seed and setting: a run alone, or under `ideal`."""
    same = [
        result
        for result in results
        if all(
            result["setting"][key] == together["setting"][key]
            for key in ("seed", "free_mib", "disk", "shift", "kernel", "overcommit")
        )
        and result["setting"]["params"]["seconds"] == together["setting"]["params"]["seconds"]
    ]
    alone = [result for result in same if result["setting"]["params"]["alone"] != "no"]
    alone.sort(key=lambda result: result["setting"]["policy"] != "stock")
    ideal = [result for result in same if result["setting"]["policy"] == "ideal"]
    for result in (*alone, *ideal):
        programs = lib.own(result)["programs"]
        # two LU are the same program: one alone is enough
        for name in (program, *(n for n in programs if n[2:] == program[2:])):
            time = programs.get(name, {}).get("time_s")
            if time:
                return time
    return None


def pair_rows(
    pair: str, point: dict[str, list[Json]], results: Sequence[Json]
) -> list[tuple[str, ...]]:
    """A row for each program and policy."""
    rows = []
    stock = point.get("stock", [])
    for program, _, _, plain, protected, less in PAIRS[pair][1]:
        usual = lib.mean(lib.own(run)["programs"][program]["major_faults"] for run in stock)
        for policy, runs in point.items():
            own = [lib.own(run)["programs"][program] for run in runs]
            slow = []
            for run, figures in zip(runs, own, strict=True):
                alone = alone_time(results, run, program)
                time = figures["expected_s"]
                slow.append(time / alone if alone and time else None)
            faults = lib.mean(figures["major_faults"] for figures in own)
            cut = "~" if any(figures["time_s"] is None for figures in own) else ""
            rows.append(
                (
                    program,
                    f"{plain:.2f}" if plain else "-",
                    f"{protected:.2f}" if protected else "-",
                    f"{less:.1f} %" if less else "-",
                    policy,
                    cut + lib.number(figures["expected_s"] for figures in own),
                    cut + lib.number(slow),
                    lib.number((figures["major_faults"] for figures in own), 0),
                    f"{100 * (1 - faults / usual):.1f} %" if usual else "-",
                )
            )
    return rows


SUITE = Protection()
