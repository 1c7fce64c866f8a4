# SPDX-License-Identifier: GPL-2.0
"""Maziero, dos Santos & Santin, "Evaluation of desktop operating systems under thrashing
conditions" (2012), sections 4 and 5.

N consumers are started one after the other, t_c apart; each writes W random bytes of its S bytes,
sleeps t_s, and so on for N t_c + t_c, then frees its memory: demand climbs above the memory and
falls again. A process of locked memory measures processor time and paging once a second. The
experiments e1 to e4 (table 4) vary W, t_s and t_c; N is 25 and S 100 MB on a Linux with 730 MB
free (table 3).

The one factor of scale is free_mib / 730: sizes, times (the measuring interval too) and W, which
counts pages, are the paper's times this factor, so that as many of a consumer's pages are written
in a cycle, and the disk has as long for a page, as in the paper. With another N (a parameter)
the consumers are larger, and their sum is the same.

Consumers have an end in time, not an amount of work: what is compared is how many of the writes
they made that they would have made if nothing but their sleep took time. Under `ideal` the
consumers run in groups that fit, one group after the other, and nothing measures.
"""

import statistics
from collections.abc import Sequence

from bench.lab import LabError
from bench.lab.experiment import Job, Json, Outcome, Score, Setting, Suite, Table, Workload
from bench.suites import paperlib as lib

PAPER_FREE_MIB = 730
PAPER_N = 25
PAPER_S_MIB = 100
PAPER_LEAD = 10.0
PAPER_INTERVAL = 1.0
# Table 4: W, t_s in s, t_c in s; and what the text says of Linux (sections 5.2 to 5.4).
EXPERIMENTS = {
    "e1": (1000, 0.1, 30.0, "low paging and processor use"),
    "e2": (10000, 0.1, 30.0, "severe thrashing from about 400 s, intense until about 1300 s"),
    "e3": (10000, 1.0, 30.0, "less than e2; a burst of page-outs at about 750 s"),
    "e4": (10000, 0.1, 1.0, "system time and paging from about 5 s to 40 s; no user time"),
}
CURVE_POINTS = 60
ONSET_SHARE = 0.1  # of the smoothed peak of paging: thrashing begins
QUIET_SHARE = 0.05  # of the peak: below it paging has ended


def factor(setting: Setting) -> float:
    """The guest's seconds for one of the paper's; its MiB for one of the paper's."""
    return setting.free_mib / PAPER_FREE_MIB


class Plan:
    """What a setting means, in the guest's units."""

    def __init__(self, setting: Setting) -> None:
        name = setting.param("experiment", "e2")
        if name not in EXPERIMENTS:
            raise LabError(f"consumers: no experiment {name!r}: one of {', '.join(EXPERIMENTS)}")
        scale = factor(setting)
        writes, sleep, delay, _ = EXPERIMENTS[name]
        self.count = int(lib.positive(setting, "processes", setting.param("processes", PAPER_N)))
        self.size_mib = setting.demand_mib / self.count
        # as large a part of a consumer's pages as in the paper
        self.writes = max(1, round(writes * self.size_mib / PAPER_S_MIB))
        self.sleep = sleep * scale
        self.delay = delay * scale
        self.lead = PAPER_LEAD * scale
        self.active = (self.count + 1) * self.delay
        self.interval = PAPER_INTERVAL * scale
        # how many fit in memory, and how many do so with their programs
        self.fit = max(1, min(self.count, int(setting.free_mib // self.size_mib)))
        each = self.size_mib + lib.PROGRAM_MIB
        self.group = max(1, min(self.count, int(setting.free_mib // each)))

    @property
    def falls(self) -> float:
        """Seconds from the start until the active consumers would fit again."""
        ended = max(1, self.count - self.fit)
        return self.lead + self.active + (ended - 1) * self.delay

    @property
    def ends(self) -> float:
        """Seconds from the start until the last consumer would end."""
        return self.lead + (self.count - 1) * self.delay + self.active

    @property
    def ideal(self) -> float:
        """Seconds for all groups, one after the other."""
        each = self.lead + (self.group - 1) * self.delay + self.active
        return each * -(-self.count // self.group)


class Consumers(Suite):
    """Into thrashing, and out of it again."""

    name = "consumers"
    title = "Consumers: into thrashing and back"
    source = "Maziero, dos Santos & Santin 2012, sections 4 and 5, table 4, figures 4 to 11"
    programs = ("consumers",)
    timed = True

    def points(self, effort: str) -> list[Setting]:
        """Full: e1 to e4 with 25 consumers. Quick: e4, and e2 with 10."""
        if effort == "smoke":
            return [self._point("e4", 48, 6, disk="ssd", overcommit=1.5)]
        if effort == "quick":
            return [self._point("e4", 64, PAPER_N, disk="ssd"), self._point("e2", 48, 10)]
        return [
            self._point(name, 148, PAPER_N, disk=disk) for disk in lib.DISKS for name in EXPERIMENTS
        ]

    def _point(
        self,
        experiment: str,
        free_mib: int,
        processes: int,
        *,
        disk: str = "paper",
        overcommit: float = PAPER_N * PAPER_S_MIB / PAPER_FREE_MIB,
    ) -> Setting:
        setting = self.point(
            overcommit,
            disk=disk,
            free_mib=free_mib,
            experiment=experiment,
            processes=processes,
        )
        # late ones are given as long again; under `ideal` the groups come one after the other
        plan = Plan(setting)
        limit = max(plan.ends * 2, plan.ideal * 1.1)
        return Setting(**{**vars(setting), "limit": float(-(-limit // 1) + 5)})

    def workload(self, setting: Setting) -> Workload:
        """The consumers, each a job, and the measuring process, which is resident."""
        plan = Plan(setting)
        size = lib.page_size(plan.size_mib)
        ideal = setting.policy == "ideal"
        jobs = tuple(
            Job(
                name=f"consumer{number}",
                command=(
                    *("/bin/consumers", "consume", "--processes", str(plan.count)),
                    # alone in its group, a consumer has no earlier ones to wait for
                    *("--index", str(number % plan.group if ideal else number)),
                    *("--size", str(size), "--writes", str(plan.writes)),
                    *("--sleep", lib.seconds(plan.sleep), "--delay", lib.seconds(plan.delay)),
                    *("--lead", lib.seconds(plan.lead), "--active", lib.seconds(plan.active)),
                    *("--seed", str(setting.seed)),
                ),
                demand_mib=plan.size_mib + lib.PROGRAM_MIB,
            )
            for number in range(plan.count)
        )
        if ideal:
            groups = range(0, plan.count, plan.group)
            return Workload(jobs=jobs, batches=tuple(jobs[g : g + plan.group] for g in groups))
        measure = Job(
            name="measure",
            command=(*("/bin/consumers", "measure", "--interval", lib.seconds(plan.interval)),),
            demand_mib=2 * lib.PROGRAM_MIB,
            resident=True,
            endless=True,
        )
        return Workload(jobs=(measure, *jobs))

    def score(self, setting: Setting) -> Score:
        """Consumers end at their time, however little they did."""
        return Score("suite.writes_per_s", "writes", "per virtual s", lower=False)

    def figures(self, setting: Setting, outcome: Outcome) -> Json:
        """The curves of figures 4 to 11 in the paper's seconds, the recovery, the lateness."""
        plan = Plan(setting)
        jobs = [job for job in outcome.data["jobs"] if job["name"] != "measure"]
        reports = [report for report in map(lib.report, jobs) if report]
        elapsed = outcome.data["elapsed"]
        late = [max(0.0, r["ended"] - r["planned"] - plan.sleep) for r in reports if r["ended"]]
        figures: Json = {
            "scale": factor(setting),
            "write_goal_share": sum(j["done"] for j in jobs) / sum(j["goal"] for j in jobs),
            "writes_per_s": sum(j["done"] for j in jobs) / elapsed if elapsed else None,
            "ended_by_themselves": len(reports),
            "late_median_s": statistics.median(late) if late else None,
            "late_max_s": max(late, default=None),
            "longest_cycle_s": max((r["longest_cycle"] for r in reports), default=None),
            "demand_falls_s": plan.falls,
        }
        measured = [job for job in outcome.data["jobs"] if job["name"] == "measure"]
        samples = read_samples(measured[0]["output"]) if measured else []
        if len(samples) > 1:
            figures |= curves(samples, plan, factor(setting))
        return figures

    def tables(self, results: Sequence[Json]) -> list[Table]:
        """Table 4, and the numbers that the text takes from the figures."""
        return [table(key, point) for key, point in lib.by_point(results).items()]


def read_samples(output: str) -> list[tuple[float, float, float, float, float]]:
    """(s since the start, user %, system %, pages in/s, pages out/s) of each interval."""
    lines = lib.json_lines(output)
    heads = [line for line in lines if isinstance(line, dict)]
    rows = [line for line in lines if isinstance(line, list) and len(line) == 5]
    if not heads or not rows:
        return []
    start, ticks = heads[0]["start"], heads[0]["ticks_per_second"]
    samples = []
    last = start
    for at, user, system, kib_in, kib_out in rows:
        took = at - last
        last = at
        if took <= 0:
            continue
        samples.append(
            (
                at - start,
                100 * user / ticks / took,
                100 * system / ticks / took,
                kib_in / 4 / took,
                kib_out / 4 / took,
            )
        )
    return samples


CURVES = ("user_percent", "system_percent", "page_in_per_s", "page_out_per_s")


def curves(samples: Sequence[tuple[float, ...]], plan: Plan, scale: float) -> Json:
    """Smoothed curves over the paper's seconds, and when thrashing begins and ends."""
    result: Json = {"curves": {}, "raw": {}}
    for column, name in enumerate(CURVES, start=1):
        points = [(sample[0] / scale, sample[column]) for sample in samples]
        result["raw"][name] = [[round(t, 2), round(value, 1)] for t, value in points]
        smooth = lib.bezier(points, CURVE_POINTS)
        result["curves"][name] = [[round(t, 2), round(value, 2)] for t, value in smooth]
    inward, outward = (dict(result["curves"][name]) for name in CURVES[2:])
    paging = [(t, inward[t] + outward[t]) for t in inward]
    peak_at, peak = max(paging, key=lambda point: point[1])
    result["paging_peak_per_s"] = peak
    result["paging_peak_at_paper_s"] = peak_at
    if peak <= 0:
        return {**result, "paging_begins_paper_s": None, "recovery_s": 0.0}
    result["paging_begins_paper_s"] = next(t for t, rate in paging if rate >= ONSET_SHARE * peak)
    # Unsmoothed, as a curve through all points would begin to fall before the demand does.
    rates = [(sample[0], sample[3] + sample[4]) for sample in samples]
    busy = QUIET_SHARE * max(rate for _, rate in rates)
    result["paging_ends_s"] = max((t for t, rate in rates if rate > busy), default=0.0)
    result["recovery_s"] = max(0.0, result["paging_ends_s"] - plan.falls)
    during = [sample for sample in samples if sample[0] <= plan.ends]
    result["user_percent_mean"] = lib.mean(sample[1] for sample in during)
    result["system_percent_mean"] = lib.mean(sample[2] for sample in during)
    return result


def table(key: str, point: dict[str, list[Json]]) -> Table:
    """One experiment under the policies, beside the numbers of the paper's text."""
    first = next(iter(point.values()))[0]
    name = first["setting"]["params"].get("experiment", "e2")
    writes, sleep, delay, text = EXPERIMENTS[name]
    rows = []
    for policy, results in point.items():
        own = [lib.own(result) for result in results]

        def column(figure: str, digits: int = 2, own: list[Json] = own) -> str:
            return lib.number((figures.get(figure) for figures in own), digits)

        rows.append(
            (
                policy,
                column("write_goal_share", 3),
                column("paging_begins_paper_s", 0),
                column("paging_peak_at_paper_s", 0),
                column("paging_peak_per_s", 0),
                column("user_percent_mean", 1),
                column("system_percent_mean", 1),
                column("recovery_s"),
                column("late_median_s"),
                column("late_max_s"),
            )
        )
    return Table(
        title=f"Experiment {name} ({lib.where(key)})",
        header=(
            *("policy", "writes made", "paging from (paper s)", "peak at (paper s)"),
            *("peak (pages/s)", "user %", "system %", "recovery (s)"),
            *("late, median (s)", "late, most (s)"),
        ),
        rows=tuple(rows),
        note=f"Maziero et al., table 4: W = {writes}, t_s = {sleep:g} s, t_c = {delay:g} s; "
        f"N = 25, S = 100 MB. Their text on Linux: {text}. A paper second is "
        f"{lib.own(first)['scale']:.4f} s here. Writes made: share of what the sleep alone would "
        "allow. Recovery: how long paging lasts after the demand has fallen as planned.",
    )


SUITE = Consumers()
