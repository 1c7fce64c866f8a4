# SPDX-License-Identifier: GPL-2.0
"""Hartman & Narasimhan, "Virtual Memory-Induced Priority Inversion in Multi-Tasked Systems",
sections 2 to 4.

Three scanners of 384 MB write their memory byte by byte on a machine of 512 MB; they are launched
at 12, 127 and 242 s of a run of an hour. A monitor, resident and locked, samples the counters of
tables 1 and 2 of itself and of the scanners once a second. Figure 1 has four columns: windows of
time around the launches and a brief dominance of the first scanner. Table 3 has the processor
time and priority of each scanner from 260 s on: the last one has nearly all, against its lower
priority.

The one factor of scale is free_mib / 512: sizes and times (the monitor's interval too) are the
paper's times this factor. A shorter `duration` (a parameter, in the paper's seconds) is cut off
in the part of the run where nothing changes any more. A monitor that would print more than the
driver keeps samples less often.

Linux 2.4 lowered the priority of a process that used much processor time by itself; today's
scheduler does not show that. `nice` (a parameter) is the third scanner's: with it the intended
priorities can be seen to be inverted.

Scanners run for a fixed time, not for a fixed amount of work. So the figure is a share: the pages
that they write, of the pages that the processor could write in that time without faults. Under
`ideal` each scanner runs alone, for its fair share of the processor time.
"""

import statistics
from collections.abc import Mapping, Sequence

from bench.lab.experiment import Job, Json, Outcome, Score, Setting, Suite, Table, Workload
from bench.suites import paperlib as lib

PAPER_MIB = 512
PAPER_SCANNER_MIB = 384
PAPER_FIRST = 12.0
PAPER_DELAY = 115.0
PAPER_DURATION = 3600.0
STEADY = 260.0  # table 3 begins here
# Table 3: % CPU least, mean, most; priority least, most.
PAPER_TABLE = (
    ("0", "1.6", "8", "9", "12"),
    ("0", "1.6", "8", "9", "11"),
    ("84", "96.1", "107", "14", "20"),
)
PAGE_INSTRUCTIONS = 28500  # of writing a page byte by byte, measured as user time in a guest
MOST_SAMPLES = 280  # of about 200 bytes in the 64 KiB that are kept of a program's output
COUNT = 3


def factor(setting: Setting) -> float:
    """The guest's seconds for one of the paper's; its MiB for one of the paper's."""
    return setting.free_mib / PAPER_MIB


def duration(setting: Setting) -> float:
    """In the paper's seconds."""
    return float(lib.positive(setting, "duration", setting.param("duration", PAPER_DURATION)))


def launches(setting: Setting) -> list[float]:
    """In the paper's seconds."""
    delay = float(lib.positive(setting, "delay", setting.param("delay", PAPER_DELAY)))
    return [PAPER_FIRST + number * delay for number in range(COUNT)]


def entitlement(starts: Sequence[float], end: float, number: int) -> float:
    """Seconds of the processor for a scanner, if the running scanners share it evenly."""
    edges = [*starts, end]
    return sum(
        max(0.0, edges[phase + 1] - edges[phase]) / (phase + 1)
        for phase in range(number, len(starts))
    )


class Scanners(Suite):
    """Identical programs, and the pages that each writes."""

    name = "scanners"
    title = "Scanners: priority inversion by virtual memory"
    source = "Hartman & Narasimhan, sections 2 to 4, tables 1 to 3, figure 1"
    programs = ("scanners",)
    timed = True

    def points(self, effort: str) -> list[Setting]:
        """Full: an hour of the paper, with and without nice. Quick: its first six minutes."""
        if effort == "smoke":
            return [self._point(48, "ssd", 40.0, 0, delay=10.0, limit=8.0)]
        if effort == "quick":
            return [self._point(48, "ssd", 300.0, 0)]
        return [
            self._point(148, disk, PAPER_DURATION, nice) for disk in lib.DISKS for nice in (0, 5)
        ]

    def _point(
        self,
        free_mib: int,
        disk: str,
        paper_duration: float,
        nice: int,
        *,
        delay: float = PAPER_DELAY,
        limit: float | None = None,
    ) -> Setting:
        return self.point(
            COUNT * PAPER_SCANNER_MIB / PAPER_MIB,
            disk=disk,
            free_mib=free_mib,
            # scanners that are frozen at the end come to theirs later
            limit=limit or float(round(paper_duration * free_mib / PAPER_MIB * 1.5)),
            delay=delay,
            duration=paper_duration,
            nice=nice,
        )

    def workload(self, setting: Setting) -> Workload:
        """The monitor, and scanners with their delays."""
        scale = factor(setting)
        size_mib = setting.demand_mib / COUNT
        size = lib.page_size(size_mib)
        starts, end = launches(setting), duration(setting)
        ideal = setting.policy == "ideal"
        nices = [0] * (COUNT - 1) + [int(setting.param("nice", 0))]
        page_s = PAGE_INSTRUCTIONS * 2**setting.shift / 1e9
        jobs = []
        for number, start in enumerate(starts):
            share = entitlement(starts, end, number) * scale
            lib.positive(setting, "duration after a launch", end - start)
            goal = max(1, round(share / page_s / (size / lib.PAGE)))
            jobs.append(
                Job(
                    name=f"scanner{number}",
                    command=(
                        *("/bin/scanners", "scan", "--name", f"scanner{number}"),
                        *("--size", str(size), "--goal", str(goal)),
                        *("--duration", lib.seconds(share if ideal else (end - start) * scale)),
                        *("--nice", str(nices[number]), "--seed", str(setting.seed)),
                    ),
                    demand_mib=size_mib + lib.PROGRAM_MIB,
                    delay=0.0 if ideal else start * scale,
                )
            )
        if ideal:
            return Workload(jobs=tuple(jobs), batches=tuple((job,) for job in jobs))
        interval = max(1.0, end / MOST_SAMPLES) * scale
        monitor = Job(
            name="monitor",
            command=("/bin/scanners", "monitor", "--interval", lib.seconds(interval)),
            demand_mib=2 * lib.PROGRAM_MIB,
            resident=True,
            endless=True,
        )
        return Workload(jobs=(monitor, *jobs))

    def score(self, setting: Setting) -> Score:
        """Scanners end at their time, however little they did."""
        return Score("suite.pages_per_s", "pages written", "per virtual s", lower=False)

    def figures(self, setting: Setting, outcome: Outcome) -> Json:
        """Table 3, the four columns of figure 1, and the monitor's account of itself."""
        jobs = [job for job in outcome.data["jobs"] if job["name"] != "monitor"]
        elapsed = outcome.data["elapsed"]
        pages = lib.page_size(setting.demand_mib / COUNT) / lib.PAGE
        figures: Json = {
            "scale": factor(setting),
            "passes": [job["done"] / pages for job in jobs],
            "pages_per_s": sum(job["done"] for job in jobs) / elapsed if elapsed else None,
            "jain_of_pages": lib.jain(job["done"] for job in jobs),
        }
        monitor = [job for job in outcome.data["jobs"] if job["name"] == "monitor"]
        if monitor:
            figures |= monitored(Log(monitor[0]["output"]), setting)
        return figures

    def tables(self, results: Sequence[Json]) -> list[Table]:
        """Table 3."""
        return [table(key, point) for key, point in lib.by_point(results).items()]


class Log:
    """What the monitor printed, in columns; times in s since it began."""

    def __init__(self, output: str) -> None:
        lines = lib.json_lines(output)
        self.names: dict[int, str] = {}
        self.rows: list[Json] = []
        head = next((x for x in lines if isinstance(x, dict) and "columns" in x), None)
        if not head:
            return
        last = head["start"]
        for line in lines:
            if isinstance(line, dict):
                if "comm" in line:
                    self.names[line["id"]] = line["comm"]
                continue
            width = len(head["columns"])
            row = dict(zip(head["columns"], line[:width], strict=True))
            took = row["t"] - last
            last = row["t"]
            row["t"] -= head["start"]
            row["tasks"] = {}
            for entry in line[width:]:
                task = dict(zip(head["task"], entry, strict=True))
                task["cpu_percent"] = task["ran_ms"] / took / 10 if took > 0 else 0.0
                row["tasks"][self.names.get(task["id"], str(task["id"]))] = task
            self.rows.append(row)


SERIES = ("rss", "zerofilled", "cpu_percent", "majflt", "minflt")  # the rows of figure 1
GLOBALS = ("swapin", "swapout", "jitter")


def column(log: Log, begin: float, end: float, scale: float) -> Json:
    """One column of figure 1: a window of time, in the paper's seconds."""
    rows = [row for row in log.rows if begin <= row["t"] / scale < end]
    names = sorted({name for row in rows for name in row["tasks"] if name.startswith("scanner")})
    names = [name for name in names if name != "scanners"]
    return {
        "paper_s": [round(row["t"] / scale, 2) for row in rows],
        **{key: [row[key] for row in rows] for key in GLOBALS},
        **{
            key: {
                name: [round(row["tasks"].get(name, {}).get(key, 0), 1) for row in rows]
                for name in names
            }
            for key in SERIES
        },
    }


def monitored(log: Log, setting: Setting) -> Json:
    """The figures that come from the monitor."""
    scale, starts = factor(setting), launches(setting)
    scanners = [f"scanner{number}" for number in range(COUNT)]
    second, third = starts[1], starts[2]
    # Dominance: where between the second and the third launch one has most over the other.
    between = [row for row in log.rows if second + 20 <= row["t"] / scale < third]
    peak = max(between, key=lambda row: row["fairness"], default=None)
    middle = peak["t"] / scale if peak else (second + third) / 2
    windows = {
        "first launch": (starts[0] - 5, starts[0] + 15),
        "second launch": (second - 5, second + 35),
        "dominance": (middle - 20, middle + 20),
        "third launch": (third - 5, third + 35),
    }
    steady_from = max(STEADY - 242 + third, third)
    steady = [
        row
        for row in log.rows
        if row["t"] / scale >= steady_from and all(name in row["tasks"] for name in scanners)
    ]
    own = [task for row in log.rows for name, task in row["tasks"].items() if name == "scanners"]
    return {
        "columns": {name: column(log, *window, scale) for name, window in windows.items()},
        "steady": {name: share(steady, name) for name in scanners} if steady else None,
        "fairness_steady": lib.mean(row["fairness"] for row in steady),
        "jitter_most_s": max((abs(row["jitter"]) for row in log.rows), default=None),
        "monitor_major_faults": sum(task["majflt"] for task in own),
        "monitor_cpu_percent": lib.mean(task["cpu_percent"] for task in own),
        "readtime_ms": lib.mean(row["readtime_ms"] for row in log.rows),
        "samples": len(log.rows),
    }


def share(rows: Sequence[Mapping], name: str) -> Json:
    """A scanner's part of table 3, and of the memory."""
    tasks = [row["tasks"][name] for row in rows]
    cpu = [task["cpu_percent"] for task in tasks]
    return {
        "cpu_percent_least": min(cpu),
        "cpu_percent_mean": statistics.fmean(cpu),
        "cpu_percent_most": max(cpu),
        "priority_least": min(task["priority"] for task in tasks),
        "priority_most": max(task["priority"] for task in tasks),
        "rss_mean_pages": statistics.fmean(task["rss"] for task in tasks),
        "major_faults": sum(task["majflt"] for task in tasks),
    }


def table(key: str, point: dict[str, list[Json]]) -> Table:
    """Table 3 under the policies."""
    rows = [
        ("paper", str(number + 1), *PAPER_TABLE[number], "-", "-", "-") for number in range(COUNT)
    ]
    for policy, results in point.items():
        own = [lib.own(result) for result in results]
        for number in range(COUNT):
            parts = [
                figures["steady"][f"scanner{number}"] for figures in own if figures.get("steady")
            ]

            def column_of(name: str, digits: int = 0, parts: list[Json] = parts) -> str:
                return lib.number((part[name] for part in parts), digits)

            rows.append(
                (
                    policy,
                    str(number + 1),
                    column_of("cpu_percent_least"),
                    column_of("cpu_percent_mean", 1),
                    column_of("cpu_percent_most"),
                    column_of("priority_least"),
                    column_of("priority_most"),
                    column_of("rss_mean_pages"),
                    lib.number((figures["passes"][number] for figures in own), 1),
                    lib.number((figures["pages_per_s"] for figures in own), 0)
                    if not number
                    else "",
                )
            )
    return Table(
        title=f"Three scanners ({lib.where(key)})",
        header=(
            *("policy", "scanner", "% CPU least", "mean", "most", "priority least", "most"),
            *("resident (pages)", "passes", "all: pages/s"),
        ),
        rows=tuple(rows),
        note="Hartman & Narasimhan, table 3: from 260 s (here: 18 s of theirs after the third "
        "launch) to the end. A higher priority value is a lower priority. On Linux 2.4 it fell "
        "with processor time used; here it is 20 plus nice.",
    )


SUITE = Scanners()
