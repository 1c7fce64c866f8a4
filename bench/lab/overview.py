# SPDX-License-Identifier: GPL-2.0
"""The charts that every suite has: time or rate by policy, work over time, swap traffic."""

import itertools
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from bench.lab import charts, compare
from bench.lab.charts import Bar, Chart, Group, Row
from bench.lab.experiment import Score
from bench.lab.score import Entry, Point

MOST_ROWS = 60  # of bars in one chart
MOST_PANELS = 8
RECKONED = "Hatched, with >: not all work was done; the time is reckoned from the rate. "
RANGE = "Thin line: range over seeds. "


def draw(suite: str, title: str, points: Sequence[Point]) -> list[Chart]:
    """All of a suite's."""
    found = []
    for score in dict.fromkeys(point.score for point in points):
        some = [point for point in points if point.score == score]
        name = score.figure.rpartition(".")[2].replace("_", "-")
        found += _score(f"{suite}-{name}", title, some, score)
    return [*found, *_work(f"{suite}-work", title, points), *_swap(f"{suite}-swap", title, points)]


def _parts(name: str, sizes: Sequence[int], most: int) -> list[tuple[str, slice]]:
    """Cut a row of things of these sizes into parts of at most so much; names of the parts."""
    cuts, total = [0], 0
    for index, size in enumerate(sizes):
        if total and total + size > most:
            cuts.append(index)
            total = 0
        total += size
    cuts.append(len(sizes))
    spans = [slice(start, end) for start, end in itertools.pairwise(cuts)]
    if len(spans) == 1:
        return [(name, spans[0])]
    return [(f"{name}-{number}", span) for number, span in enumerate(spans, start=1)]


def _bar(found: Sequence[float | None], *, light: bool = False, mark: str = "") -> Bar:
    known = [value for value in found if value is not None]
    if not known:
        return Bar(None)
    return Bar(statistics.median(known), min(known), max(known), light, mark)


def _several(points: Sequence[Point]) -> bool:
    return any(len(entry.found) > 1 for point in points for entry in point.entries)


def _score(name: str, title: str, points: Sequence[Point], score: Score) -> list[Chart]:
    def bar(entry: Entry) -> Bar:
        if entry.killed:
            return Bar(None, mark=compare.KILLED)
        found = [compare.figure(result, score.figure) for result in entry.found]
        return _bar(found, light=entry.reckoned, mark="> " if entry.reckoned else "")

    drawn = []
    sizes = [len(point.entries) for point in points]
    for part, span in _parts(name, sizes, MOST_ROWS):
        some = points[span]
        groups = [
            Group(point.label, tuple(Row(e.label, e.policy, (bar(e),)) for e in point.entries))
            for point in some
        ]
        note = RANGE if _several(some) else ""
        if any(entry.reckoned for point in some for entry in point.entries):
            note += RECKONED
        heading = f"{title}: {score.name}"
        figure = charts.bars(groups, title=heading, axis=score.axis, note=note)
        drawn.append(Chart(part, heading, figure))
    return drawn


def _swap(name: str, title: str, points: Sequence[Point]) -> list[Chart]:
    legend = [
        Patch(facecolor=charts.INK, edgecolor=charts.INK, label="swapped in"),
        Patch(facecolor="none", edgecolor=charts.INK, hatch="/////", label="swapped out"),
    ]
    drawn = []
    sizes = [len(point.entries) for point in points]
    for part, span in _parts(name, sizes, MOST_ROWS):
        some = points[span]
        groups = []
        for point in some:
            rows = [
                Row(
                    entry.label,
                    entry.policy,
                    (
                        _bar([r["figures"]["swapin_mib"] for r in entry.found]),
                        _bar([r["figures"]["swapout_mib"] for r in entry.found], light=True),
                    ),
                )
                for entry in point.entries
            ]
            groups.append(Group(point.label, tuple(rows)))
        if not any(bar.value for group in groups for row in group.rows for bar in row.bars):
            continue
        cut = any(not r["figures"]["finished"] for p in some for e in p.entries for r in e.found)
        note = RANGE if _several(some) else ""
        note += "Of a run that was cut off: until then." if cut else ""
        heading = f"{title}: swap traffic"
        figure = charts.bars(groups, title=heading, axis="MiB", note=note, legend=legend, floor=1)
        drawn.append(Chart(part, heading, figure))
    return drawn


def _work(name: str, title: str, points: Sequence[Point]) -> list[Chart]:
    """Work done over virtual time, a panel for each point."""
    usual = _usual(points)
    moving = [point for point in usual if any(_moves(e) for e in point.entries)]
    drawn = []
    for part, span in _parts(name, [1] * len(moving), MOST_PANELS):
        some = moving[span]
        if not some:
            continue
        columns = 2 if len(some) > 1 else 1
        policies = dict.fromkeys(e.policy for point in some for e in point.entries)
        legend = [charts.handle(policy, charts.look(policy)) for policy in policies]
        heading = f"{title}: work over time"
        note = "A mark at a curve's end: all work done; a cross: the run ended before that."
        variants = sorted({e.variant for point in some for e in point.entries if e.variant})
        note += f" Drawn of the variants: {', '.join(variants)}." if variants else ""
        figure, panels = charts.grid(
            -(-len(some) // columns), columns, height=2.1, legend=legend, title=heading, note=note
        )
        flat = [axes for row in panels for axes in row]
        for axes, point in zip(flat, some, strict=False):
            _work_panel(axes, point)
        for axes in flat[len(some) :]:
            axes.remove()
        drawn.append(Chart(part, heading, figure))
    return drawn


def _usual(points: Sequence[Point]) -> list[Point]:
    """Of each policy, at each point, the variant that most points have."""
    there = Counter((e.policy, e.variant) for point in points for e in point.entries)
    found = []
    for point in points:
        best: dict[str, Entry] = {}
        for entry in point.entries:
            other = best.get(entry.policy)
            if not other or there[entry.policy, entry.variant] > there[other.policy, other.variant]:
                best[entry.policy] = entry
        found.append(replace(point, entries=tuple(best.values())))
    return found


def _moves(entry: Entry) -> bool:
    """Whether there is more to see than a jump at the end."""
    return any(0 < item["work"] < 1 for result in entry.found for item in result["series"])


def _work_panel(axes: Axes, point: Point) -> None:
    for entry in point.entries:
        look = charts.look(entry.policy)
        for result in entry.found:
            line = [(0.0, 0.0), *((item["t"], 100 * item["work"]) for item in result["series"])]
            alpha = 1 if len(entry.found) == 1 else 0.6
            axes.plot(*zip(*line, strict=True), color=look.color, linestyle=look.dashes,
                      alpha=alpha, clip_on=False)  # fmt: skip
            done = line[-1][1] >= 100
            axes.plot(*line[-1], color=look.color, marker=look.marker if done else "x",
                      markersize=6, alpha=alpha, clip_on=False)  # fmt: skip
    axes.set_title(point.label, pad=9)
    axes.set_xlabel("virtual s")
    axes.set_ylabel("work done, %")
    axes.set_xlim(left=0)
    axes.set_ylim(0, 100)
