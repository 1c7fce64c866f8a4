# SPDX-License-Identifier: GPL-2.0
"""SYN8 of Reuven & Wiseman, section 5: swaps and time over total size (figure 1), and slices
(figure 4).

The paper: processes of 8 MiB that access their memory at random, 16 to 136 MiB in all, on a
machine of 128 MiB, of which 96 MiB were left for programs (their bin size); a time slice of 2 s.
At 144 MiB stock Linux was stopped after 7 days. The curves of its figures are not in numbers
in the text; what the text says of them stands beside ours.

Scale: none for memory, 96 MiB is free here as well; the total goes on to 3 times that. The
accesses that a process makes are ours, as the paper does not say how many: `accesses`, chosen
so that a full bin has work for several slices.

Parameters: slice (s, of policies that rotate; it is kept, as the paper's are; 0: their own, which
grow with the price of a switch), accesses (millions, of each process).
"""

from collections.abc import Sequence

from bench.lab import LabError, compare, packing
from bench.lab.experiment import Job, Json, Outcome, Setting, Suite, Table, Workload

PROCESS_MIB = 8
# What a process needs beside that: page tables, stack, its parent's share.
EXTRA_MIB = 0.2
FREE_MIB = 96  # the paper's bin
SLICE = 2.0  # s, of figure 1
SLICES = (1.0, 2.0, 4.0, 8.0)  # figure 4
FIGURE_1 = (16, 32, 48, 64, 80, 96, 104, 112, 120, 128, 136, 144, 160, 192, 240, 288)
FIGURE_4 = (112, 136, 192, 288)
QUICK = (64, 144, 288)
QUICK_SLICES_AT = 144
ACCESSES = {"smoke": 1.0, "quick": 10.0, "full": 20.0}

# What section 5.2 says of totals from the first number on, in MiB.
PAPER = (
    (0, "no difference"),
    (64, "Linux swaps more, no noteworthy influence on the time"),
    (128, "Linux cannot serve the paging requests; the scheduler's time remains reasonable"),
    (144, "Linux stopped after 7 days; the scheduler sustains it"),
    (145, "not tried"),
)


def processes(setting: Setting) -> int:
    """How many processes there are: the demand, to the nearest whole one."""
    count = round(setting.demand_mib / PROCESS_MIB)
    if count < 1:
        raise LabError(f"syn8: {setting.demand_mib:g} MiB is less than one process of 8 MiB")
    return count


def said(total_mib: float) -> str:
    """The paper's statement on a total."""
    return [text for start, text in PAPER if total_mib >= start][-1]


class Syn8(Suite):
    """The paper's own benchmark."""

    name = "syn8"
    title = "SYN8: processes of 8 MiB, random accesses"
    source = "Reuven & Wiseman, Reducing the thrashing effect using bin packing, 5.2, figures 1, 4"
    programs = ("syn8",)
    slice_param = "slice"

    def points(self, effort: str) -> list[Setting]:
        """Totals with the slice of figure 1, then more slices; full: on today's disk and theirs."""
        accesses = ACCESSES[effort]
        if effort == "smoke":
            return [_point(144, 1.0, accesses, "ssd", 0, limit=30)]
        if effort == "quick":
            pairs = [(total, SLICE) for total in QUICK]
            pairs += [(QUICK_SLICES_AT, slice_s) for slice_s in SLICES if slice_s != SLICE]
            return [_point(*pair, accesses, "ssd", 0, limit=60) for pair in pairs]
        pairs = [(total, SLICE) for total in FIGURE_1]
        pairs += [(total, slice_s) for total in FIGURE_4 for slice_s in SLICES if slice_s != SLICE]
        return [
            *(_point(*pair, accesses, "ssd", 0, limit=120) for pair in pairs),
            # a processor and a disk of the paper's time; a quarter of the instructions a second
            *(_point(*pair, accesses / 4, "paper", 2, limit=600) for pair in pairs),
        ]

    def policies(self, effort: str) -> tuple[str, ...]:
        """In quick the three that the paper's figures need."""
        return ("all",) if effort == "full" else ("stock", "mts", "ideal")

    def workload(self, setting: Setting) -> Workload:
        """One parent; each of its children is a job of its own where jobs are told apart."""
        count = processes(setting)
        slice_s = float(setting.param("slice", 0))
        each = PROCESS_MIB + EXTRA_MIB
        fit = max(1, int(packing.capacity_mib(setting.free_mib) / each))
        parts = [min(fit, count - start) for start in range(0, count, fit)]
        return Workload(
            jobs=(_job("syn8", count, setting, seed=setting.seed),),
            batches=tuple(
                (_job(f"syn8-{index}", part, setting, seed=setting.seed + 1000 * index),)
                for index, part in enumerate(parts)
            ),
            mts_settings=f"slice={slice_s:g}s overhead=off" if slice_s else "",
        )

    def figures(self, setting: Setting, outcome: Outcome) -> Json:
        """Swaps as the paper counts them: pages, either way."""
        vmstat = outcome.data["vmstat"]
        return {
            "total_mib": processes(setting) * PROCESS_MIB,
            "swaps_pages": vmstat["pswpin"] + vmstat["pswpout"],
        }

    def tables(self, results: Sequence[Json]) -> list[Table]:
        """Figure 1 and figure 4."""
        tables = []
        for where, group in compare.by_place(results).items():
            tables += [_figure_1(where, group), _figure_4(where, group)]
        return [table for table in tables if table.rows]


def _point(
    total_mib: int, slice_s: float, accesses: float, disk: str, shift: int, *, limit: float
) -> Setting:
    return Setting(
        suite="syn8",
        policy="",
        disk=disk,
        shift=shift,
        free_mib=FREE_MIB,
        overcommit=total_mib / FREE_MIB,
        limit=limit,
        params=(("accesses", accesses), ("slice", slice_s)),
    )


def _job(name: str, count: int, setting: Setting, seed: int) -> Job:
    accesses = round(float(setting.param("accesses", ACCESSES["quick"])) * 1e6)
    if accesses < 1:
        raise LabError(f"syn8: accesses={accesses / 1e6:g} million: none")
    command = ("/bin/syn8", "--processes", count, "--accesses", accesses, "--seed", seed, "--json")
    return Job(
        name=name,
        command=tuple(str(word) for word in command),
        demand_mib=count * (PROCESS_MIB + EXTRA_MIB),
        each=True,
    )


def _totals(results: Sequence[Json]) -> list[int]:
    return sorted({result["figures"]["suite"]["total_mib"] for result in results})


def _totals_and_slices(results: Sequence[Json]) -> list[tuple[int, float | None]]:
    """For each total the slices that it was measured with; None: the policy does not rotate."""
    found = []
    for total in _totals(results):
        mine = [r for r in results if r["figures"]["suite"]["total_mib"] == total]
        slices = {r["setting"]["params"].get("slice") for r in mine} - {None}
        found += [(total, slice_s) for slice_s in sorted(slices) or (None,)]
    return found


def _select(results: Sequence[Json], total: int, policy: str, slice_s: float | None) -> list[Json]:
    return [
        result
        for result in results
        if result["figures"]["suite"]["total_mib"] == total
        and result["setting"]["policy"] == policy
        and result["setting"]["params"].get("slice") in (slice_s, None)
    ]


def _figure_1(where: str, results: Sequence[Json]) -> Table:
    policies = compare.policies(results)
    rows = []
    for total, slice_s in _totals_and_slices(results):
        found = {name: _select(results, total, name, slice_s) for name in policies}
        rows.append(
            (
                str(total),
                f"{slice_s:g}" if slice_s else compare.NONE,
                *(compare.cell(found[name], "suite.swaps_pages", 0) for name in policies),
                *(compare.cell(found[name], "time_for_all_s") for name in policies),
                said(total),
            )
        )
    return Table(
        f"SYN8, figure 1: swaps and time over total size; {where}",
        (
            *("MiB in all", "slice, s"),
            *(f"swaps {name}" for name in policies),
            *(f"s {name}" for name in policies),
            "the paper says",
        ),
        tuple(rows),
        "swaps: pages swapped in and out; s: virtual seconds for all of the work (>: reckoned). "
        f"Slices are of policies that rotate; the paper's is {SLICE:g} s, its bins 96 MiB. It "
        "prints its curves without numbers.",
    )


def _figure_4(where: str, results: Sequence[Json]) -> Table:
    rows = []
    for total in _totals(results):
        for policy in compare.policies(results):
            found = {
                slice_s: [
                    result
                    for result in _select(results, total, policy, slice_s)
                    if result["setting"]["params"].get("slice") == slice_s
                ]
                for slice_s in SLICES
            }
            if sum(map(bool, found.values())) < 2:
                continue
            swaps = [compare.median_of(found[s], "suite.swaps_pages") for s in (1.0, 2.0)]
            ratio = swaps[0] / swaps[1] if swaps[0] is not None and swaps[1] else None
            rows.append(
                (
                    str(total),
                    policy,
                    *(compare.cell(found[s], "time_for_all_s") for s in SLICES),
                    *(compare.cell(found[s], "suite.swaps_pages", 0) for s in SLICES),
                    compare.number(ratio),
                )
            )
    return Table(
        f"SYN8, figure 4: time slices; {where}",
        (
            *("MiB in all", "policy"),
            *(f"s, slice {s:g} s" for s in SLICES),
            *(f"swaps, slice {s:g} s" for s in SLICES),
            "swaps 1 s / 2 s",
        ),
        tuple(rows),
        "The paper: with 1 s there are less than twice the faults of 2 s; longer slices make the "
        "execution longer when there is more than one bin.",
    )


SUITE = Syn8()
