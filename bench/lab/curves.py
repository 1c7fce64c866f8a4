# SPDX-License-Identifier: GPL-2.0
"""The charts that a suite has of its own, as its paper has them. DRAW: suite -> its charts.

Where a run has no such figures (a monitor does not run under `ideal`, a run was cut off) its
curve is left out.
"""

import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from matplotlib.axes import Axes

from bench.lab import charts, compare
from bench.lab.charts import Chart
from bench.lab.experiment import Json
from bench.lab.score import Entry, Point
from bench.suites import syn8

FIRST = (compare.STOCK, "mts", compare.IDEAL)  # whose charts are always shown
CURVES = (
    ("user_percent", "user time, %"),
    ("system_percent", "system time, %"),
    ("page_in_per_s", "pages in per virtual s"),
    ("page_out_per_s", "pages out per virtual s"),
)
COLUMN_ROWS = (
    ("rss", "resident,\npages"),
    ("zerofilled", "zero-filled,\npages"),
    ("cpu_percent", "processor,\n%"),
    ("majflt", "major\nfaults"),
    ("minflt", "minor\nfaults"),
)


def file_word(text: str) -> str:
    """A text as a part of a file's name."""
    return re.sub(r"[^a-z0-9.+]+", "-", text.lower()).strip("-")


def own(result: Json, name: str) -> Any:
    """One of the suite's own figures; None if there is none."""
    return compare.figure(result, f"suite.{name}")


def first_seed(entry: Entry) -> Json:
    """The run that a curve is drawn of where there are several."""
    return min(entry.found, key=lambda result: result["setting"]["seed"])


def _seed_note(points: Sequence[Point]) -> str:
    if all(len(entry.found) == 1 for point in points for entry in point.entries):
        return ""
    return " Of several seeds the first is drawn."


def _lacking(point: Point, entries: Sequence[Entry]) -> str:
    """A note that names the policies without a curve."""
    names = [entry.label for entry in point.entries if entry not in entries]
    return f" No curve of: {', '.join(names)}." if names else ""


def _legend(entries: Sequence[Entry], **more: object) -> list:
    policies = dict.fromkeys(entry.policy for entry in entries)
    return [charts.handle(policy, charts.look(policy), **more) for policy in policies]


def consumers(title: str, points: Sequence[Point]) -> list[Chart]:
    """Figures 4 to 11: processor time and paging over time, smoothed."""
    drawn = []
    for point in points:
        entries = [entry for entry in point.entries if own(first_seed(entry), "curves")]
        if not entries:
            continue
        heading = f"{title}, figures 4 to 11: {point.label}"
        note = (
            "Smoothed as the paper's (Bézier); faint: as measured. Time is the paper's. Dotted: "
            "the demand would fall below the memory."
            + _lacking(point, entries)
            + _seed_note([point])
        )
        figure, panels = charts.grid(
            2, 2, height=2.1, legend=_legend(entries, marker=""), title=heading, note=note,
            gaps=(0.55, 0.95), left=0.95, headed=False,
        )  # fmt: skip
        flat = [axes for row in panels for axes in row]
        for axes, (name, axis) in zip(flat, CURVES, strict=True):
            highest = 1.0
            for entry in entries:
                result, look = first_seed(entry), charts.look(entry.policy)
                raw, smooth = (own(result, kind).get(name, []) for kind in ("raw", "curves"))
                axes.plot(*zip(*raw, strict=True), color=look.color, alpha=0.25, linewidth=0.7)
                axes.plot(*zip(*smooth, strict=True), color=look.color, linestyle=look.dashes,
                          linewidth=1.8)  # fmt: skip
                highest = max(highest, *(value for _, value in raw + smooth))
            falls = own(first_seed(entries[0]), "demand_falls_s")
            factor = own(first_seed(entries[0]), "scale")
            axes.axvline(falls / factor, color=charts.INK, linestyle=":", linewidth=0.9)
            axes.set_xlabel("the paper's s")
            axes.set_ylabel(axis)
            axes.set_ylim(0, highest * 1.05)
            _thousands(axes)
        drawn.append(Chart(f"consumers-curves-{file_word(point.label)}", heading, figure))
    return drawn


def _thousands(axes: Axes) -> None:
    axes.yaxis.set_major_formatter(lambda value, _: charts.plain(value))


def scanners(title: str, points: Sequence[Point]) -> list[Chart]:
    """Figure 1: four windows of time, a row for each counter."""
    drawn = []
    for point in points:
        for entry in point.entries:
            columns = own(first_seed(entry), "columns")
            if not columns or not any(column["paper_s"] for column in columns.values()):
                continue
            heading = f"{title}, figure 1, {entry.label}: {point.label}"
            name = f"scanners-columns-{file_word(entry.label)}-{file_word(point.label)}"
            figure = _columns(heading, columns, _seed_note([point]))
            drawn.append(Chart(name, heading, figure, aside=entry.policy not in FIRST))
    return drawn


def _columns(heading: str, columns: Json, note: str) -> charts.Figure:
    names = sorted({name for column in columns.values() for name in column["rss"]})
    legend = [
        charts.handle(name, look, marker="")
        for name, look in zip(names, charts.PARTS, strict=False)
    ]
    swap = (
        charts.handle("swapped in", charts.Look(charts.INK, "")),
        charts.handle("swapped out", charts.Look(charts.INK, "", (0, (2, 1.2)))),
    )
    figure, panels = charts.grid(
        len(COLUMN_ROWS) + 2,
        len(columns),
        height=0.95,
        gaps=(0.2, 0.5),
        legend=[*legend, *swap],
        title=heading,
        note=f"Counters of each of the monitor's intervals; time is the paper's.{note}",
        left=0.95,
    )
    for across, (window, column) in enumerate(columns.items()):
        at = column["paper_s"]
        for axes, (key, _) in zip((row[across] for row in panels), COLUMN_ROWS, strict=False):
            for part, look in zip(names, charts.PARTS, strict=False):
                if part in column[key]:
                    axes.plot(at, column[key][part], color=look.color, linestyle=look.dashes)
        axes = panels[-2][across]
        axes.plot(at, column["swapin"], color=charts.INK)
        axes.plot(at, column["swapout"], color=charts.INK, linestyle=(0, (2, 1.2)))
        panels[-1][across].plot(at, [1000 * value for value in column["jitter"]], color=charts.INK)
        panels[0][across].set_title(window)
        panels[-1][across].set_xlabel("the paper's s")
    _share(panels, [axis for _, axis in COLUMN_ROWS] + ["swap,\npages", "jitter,\nms"])
    return figure


def _share(panels: Sequence[Sequence[Axes]], labels: Sequence[str]) -> None:
    """One scale in each row, named at its left."""
    for row, label in zip(panels, labels, strict=True):
        low = min(axes.get_ylim()[0] for axes in row)
        high = max(axes.get_ylim()[1] for axes in row)
        for axes in row:
            axes.set_ylim(min(0, low) if low < -1e-3 else 0, max(high, 1e-3))
            _thousands(axes)
            axes.tick_params(labelleft=axes is row[0], labelbottom=row is panels[-1], labelsize=8)
            axes.yaxis.get_major_locator().set_params(nbins=3)
        row[0].set_ylabel(label, size=8)


def syn8_figures(title: str, points: Sequence[Point]) -> list[Chart]:
    """Figure 1, swaps and time over the total; figure 4, the same over the slice."""
    drawn = []
    results = [r for point in points for entry in point.entries for r in entry.found]
    for number, (where, group) in enumerate(compare.by_place(results).items()):
        suffix = f"-{number + 1}" if number else ""
        drawn += _over(group, "total_mib", f"{title}, figure 1; {where}", f"syn8-totals{suffix}")
        for policy in compare.policies(group):
            mine = [result for result in group if result["setting"]["policy"] == policy]
            heading = f"{title}, figure 4, {policy}; {where}"
            name = f"syn8-slices-{file_word(policy)}{suffix}"
            aside = policy not in FIRST
            drawn += [replace(c, aside=aside) for c in _over(mine, "slice", heading, name)]
    return drawn


def _key(result: Json) -> tuple[str, float | None]:
    return result["setting"]["policy"], result["setting"]["params"].get("slice")


def _over(group: Sequence[Json], what: str, title: str, name: str) -> list[Chart]:
    """Swaps and time over the total size, at the paper's slice; or over the slice."""
    lines: dict[tuple[str, str], dict[float, list[Json]]] = {}
    for result in group:
        policy, slice_s = _key(result)
        total = own(result, "total_mib")
        if what == "slice" and slice_s is not None:
            lines.setdefault((policy, f"{total} MiB"), {}).setdefault(slice_s, []).append(result)
        elif what == "total_mib" and slice_s in (None, syn8.SLICE):
            lines.setdefault((policy, ""), {}).setdefault(total, []).append(result)
    lines = {key: line for key, line in lines.items() if len(line) > 1}
    if not lines:
        return []
    order = compare.policies(group)
    lines = dict(sorted(lines.items(), key=lambda item: order.index(item[0][0])))
    count: dict[str, int] = {}
    looks = {}
    for policy, label in lines:
        number = count[policy] = count.get(policy, -1) + 1
        base = charts.look(policy)
        looks[policy, label] = (
            charts.Look(
                base.color, charts.MARKERS[number % len(charts.MARKERS)], base.other(number).dashes
            )
            if label
            else base
        )
    legend = [charts.handle(f"{p} {label}".strip(), looks[p, label]) for p, label in lines]
    note = "Hollow: cut off; swaps are those until then, the time is reckoned from the rate."
    if what == "total_mib" and any(_key(result)[1] is not None for result in group):
        note += f" Slice {syn8.SLICE:g} s."
    figure, ((left, right),) = charts.grid(
        1, 2, height=2.9, legend=legend, title=title, note=note, left=1.0, gaps=(0, 1.0),
        headed=False,
    )  # fmt: skip
    _lines(left, lines, looks, "suite.swaps_pages", "pages swapped in and out")
    _lines(right, lines, looks, "time_for_all_s", "time for all work, virtual s")
    for axes in (left, right):
        axes.set_xlabel(
            "all processes together, MiB" if what == "total_mib" else "slice, virtual s"
        )
        if what == "slice":
            axes.set_xlim(left=0)
    return [Chart(name, title, figure)]


def _lines(axes: Axes, lines: Json, looks: Json, figure: str, label: str) -> None:
    every = []
    for key, line in lines.items():
        look = looks[key]
        found = [
            (x, [v for r in line[x] if (v := compare.figure(r, figure)) is not None], line[x])
            for x in sorted(line)
        ]
        found = [item for item in found if item[1]]
        if not found:
            continue
        x = [item[0] for item in found]
        y = [statistics.median(item[1]) for item in found]
        axes.plot(x, y, color=look.color, linestyle=look.dashes)
        if any(len(item[1]) > 1 for item in found):
            axes.fill_between(x, [min(i[1]) for i in found], [max(i[1]) for i in found],
                              color=look.color, alpha=0.2, linewidth=0)  # fmt: skip
        for at, value, (_, _, runs) in zip(x, y, found, strict=True):
            full = all(r["figures"]["finished"] for r in runs)
            axes.plot(at, value, color=look.color, marker=look.marker, linestyle="",
                      markerfacecolor=look.color if full else "none", clip_on=False)  # fmt: skip
        every += [value for _, values, _ in found for value in values]
    wide = charts.scale(axes, "y", every)
    axes.set_ylabel(label + (" (log scale)" if wide else ""))


def swappers(title: str, points: Sequence[Point]) -> list[Chart]:
    """Figure 5, Jain's index over rounds; figure 3, the durations of rounds."""
    drawn = []
    for point in points:
        entries = [e for e in point.entries if own(first_seed(e), "jain_of_round")]
        if not entries:
            continue
        heading = f"{title}, figure 5: {point.label}"
        note = "1: a round takes every swapper as long as the others." + _lacking(point, entries)
        note += _seed_note([point])
        figure, ((axes,),) = charts.grid(
            1, 1, height=2.6, legend=_legend(entries), title=heading, note=note, headed=False
        )
        for entry in entries:
            look = charts.look(entry.policy)
            index = own(first_seed(entry), "jain_of_round")
            axes.plot(range(1, len(index) + 1), index, color=look.color, linestyle=look.dashes,
                      marker=look.marker, markersize=4, clip_on=False)  # fmt: skip
        axes.set_xlabel("round")
        axes.set_ylabel("Jain's index of durations")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_ylim(top=1)
        word = file_word(point.label)
        drawn.append(Chart(f"swappers-jain-{word}", heading, figure))
        heading = f"{title}, figure 3: {point.label}"
        drawn.append(Chart(f"swappers-rounds-{word}", heading, _rounds(heading, entries)))
    return drawn


def _rounds(heading: str, entries: Sequence[Entry]) -> charts.Figure:
    """The durations of rounds of each swapper, a panel for each policy."""
    most = max(len(own(first_seed(entry), "round_s")) for entry in entries)
    looks = charts.PARTS[:most]
    legend = [charts.handle(f"swapper {n + 1}", look) for n, look in enumerate(looks)]
    columns = min(2, len(entries))
    figure, panels = charts.grid(
        -(-len(entries) // columns), columns, height=1.9, legend=legend, title=heading
    )
    flat = [axes for row in panels for axes in row]
    every = [t for e in entries for times in own(first_seed(e), "round_s") for t in times]
    for axes, entry in zip(flat, entries, strict=False):
        for look, times in zip(looks, own(first_seed(entry), "round_s"), strict=False):
            axes.plot(range(1, len(times) + 1), times, color=look.color, linestyle=look.dashes,
                      marker=look.marker, markersize=3, linewidth=1)  # fmt: skip
        axes.set_title(entry.label)
        axes.set_xlabel("round")
        wide = charts.scale(axes, "y", every)
        axes.set_ylabel("virtual s a round" + (" (log)" if wide else ""))
        axes.xaxis.get_major_locator().set_params(integer=True)
    for axes in flat[len(entries) :]:
        axes.remove()
    return figure


def protection(title: str, points: Sequence[Point]) -> list[Chart]:
    """Figures 5 to 11: what each program has in memory, and what it has asked for, over time."""
    drawn = []
    for point in points:
        entries = [entry for entry in point.entries if own(first_seed(entry), "resident")]
        if not entries:
            continue
        programs = list(own(first_seed(entries[0]), "resident"))
        legend = [
            charts.handle(n, charts.Look(look.color, ""))
            for n, look in zip(programs, charts.PARTS, strict=False)
        ]
        legend.append(charts.handle("resident", charts.Look(charts.INK, "")))
        legend.append(charts.handle("resident and in swap", charts.Look(charts.INK, "", _THIN)))
        heading = f"{title}, figures 5 to 11: {point.label}"
        note = "What is in memory and swap together stands for the paper's MAD." + _seed_note(
            [point]
        )
        figure, panels = charts.grid(
            len(entries), 1, height=1.5, legend=legend, title=heading, note=note
        )
        for (axes,), entry in zip(panels, entries, strict=True):
            for curves, look in zip(
                own(first_seed(entry), "resident").values(), charts.PARTS, strict=False
            ):
                axes.plot(
                    curves["t"],
                    curves["demand_mib"],
                    color=look.color,
                    linestyle=_THIN,
                    linewidth=1,
                )
                axes.plot(curves["t"], curves["rss_mib"], color=look.color, linewidth=1.3)
            axes.set_title(entry.label)
            axes.set_xlabel("virtual s")
            axes.set_ylabel("MiB")
            axes.set_ylim(bottom=0)
            axes.set_xlim(left=0)
        drawn.append(Chart(f"protection-resident-{file_word(point.label)}", heading, figure))
    return drawn


_THIN = (0, (3, 1.5))

DRAW: dict[str, Callable[[str, Sequence[Point]], list[Chart]]] = {
    "consumers": consumers,
    "protection": protection,
    "scanners": scanners,
    "swappers": swappers,
    "syn8": syn8_figures,
}
