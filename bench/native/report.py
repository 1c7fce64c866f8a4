# SPDX-License-Identifier: GPL-2.0
"""Figures for people, and a picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

from bench.native import figures
from bench.native.figures import Figures

HEADER = ("policy", "runs", "time, s", "work a second", "over {first}", "longest pause, s")
MORE = ("Jain", "GiB moved", "jobs failed", "no memory, s")
_PAGE_GIB = 4096 / (1 << 30)


def _row(name: str, runs: Sequence[Figures], first: Sequence[Figures]) -> tuple[str, ...]:
    whole = [run for run in runs if not run.hurt]
    if not whole:
        return (name, f"0 of {len(runs)}", f"ended: {runs[-1].hurt}", *["-"] * 7)
    times = [run.seconds for run in whole if run.seconds is not None]
    jains = [run.jain for run in whole if run.jain is not None]
    pairs = figures.ratios(first, runs) if runs is not first else []
    failed = sum(bool(run.killed) for run in whole)
    cut = len(whole) - len(times) - failed
    time = ", ".join(
        filter(
            None,
            [
                str(figures.interval(times)) if times else "",
                f"{cut} cut off" if cut else "",
                f"{failed} with failures" if failed else "",
            ],
        )
    )
    return (
        name,
        f"{len(whole)} of {len(runs)}",
        time,
        str(figures.interval([run.rate * 1000 for run in whole])),
        str(figures.interval(pairs)) if pairs else "-",
        f"{max(run.pause for run in whole):.1f}",
        str(figures.interval(jains)) if jains else "-",
        str(figures.interval([run.moved * _PAGE_GIB for run in whole])),
        str(sum(run.killed for run in whole)),
        str(figures.interval([run.starved for run in whole])),
    )


def table(runs: Mapping[str, Sequence[Figures]]) -> str:
    """A table in Markdown. Work a second is in thousandths of all work."""
    names = list(runs)
    first = runs[names[0]]
    header = (*HEADER, *MORE)
    rows = [tuple(word.format(first=names[0]) for word in header), ("---",) * len(header)]
    rows += [_row(name, runs[name], first) for name in names]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def picture(path: Path, title: str, runs: Mapping[str, Sequence[Figures]]) -> None:
    """Each run a point, the medians a line: work a second, and the longest pause."""
    names = list(runs)
    plot, axes = pyplot.subplots(1, 2, figsize=(9, 1.2 + 0.5 * len(names)), layout="constrained")
    measures = (
        ("work a second, thousandths (more is better)", lambda run: run.rate * 1000),
        ("longest pause of a job, s (less is better)", lambda run: run.pause),
    )
    for axis, (label, value) in zip(axes, measures, strict=True):
        for row, name in enumerate(names):
            values = [value(run) for run in runs[name] if not run.hurt]
            if values:
                axis.barh(row, figures.interval(values).median, color="#9db8d2", height=0.6)
                axis.plot(values, [row] * len(values), "k.", markersize=4)
        axis.set_yticks(range(len(names)), names)
        axis.set_xlabel(label)
        axis.set_xlim(left=0)
        axis.invert_yaxis()
    plot.suptitle(title)
    plot.savefig(path)
    pyplot.close(plot)
