# SPDX-License-Identifier: GPL-2.0
"""How the report's charts look: colours, scales, legends; rows of bars, panels of lines.

A policy has its colour and its marker, the same in every chart. Hues are Okabe and Ito's, which
people with any colour vision can tell apart, as far as they go; policies of one family share a
hue and differ in marker and dashes. Text and grid have colours of their own (INK, GRID), which
the page replaces by its theme's.

Legends stand below the panels, never in them. All lengths are inches.
"""

import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import StringIO
from pathlib import Path

from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

INK = "#1b1f24"
GRID = "#c9ced6"
PAPER = "#fefefe"  # behind the charts; the page has its own
_FONT = "DejaVu Sans"

rcParams.update(
    {
        "font.family": _FONT,
        "font.size": 9,
        "axes.titlesize": 9,
        "axes.titlelocation": "left",
        "axes.labelsize": 9,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.grid": True,
        "grid.color": GRID,
        "grid.linewidth": 0.5,
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "lines.linewidth": 1.5,
        "lines.markersize": 4.5,
        "hatch.linewidth": 0.8,
        "legend.frameon": False,
        "svg.fonttype": "none",  # text stays text
        "figure.facecolor": PAPER,
        "axes.facecolor": "none",
        "savefig.dpi": 150,
    }
)

WIDTH = 9.0
LOG_FROM = 20  # the largest value over the smallest: from here on a scale is logarithmic
_LINE = 0.17  # height of a line of text
_LETTER = 0.078  # mean width of one


_DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1)), (0, (6, 1, 1, 1)), (0, (3, 1, 1, 1, 1, 1)))


@dataclass(frozen=True)
class Look:
    """Marks that distinguish a line from others without its colour, too."""

    color: str
    marker: str = "o"
    dashes: tuple[float, tuple[float, ...]] | str = "-"

    def other(self, number: int) -> "Look":
        """For the number'th line of the same colour."""
        return replace(self, dashes=_DASHES[number % len(_DASHES)]) if number else self


LOOKS = {
    "stock": Look("#7d838c", "s"),
    "mts": Look("#d55e00", "o"),
    "bin": Look("#d55e00", "v", (0, (1.5, 1))),
    "mts+mglru": Look("#d55e00", "D", (0, (4, 1.5))),
    "mts+zswap": Look("#d55e00", "P", (0, (1, 1))),
    "ideal": Look("#009e73", "D", (0, (4, 1.5))),
    "session": Look("#7d838c", "p", (0, (1, 1))),
    "mglru": Look("#1f7fc4", "^"),
    "mglru+min_ttl": Look("#56b4e9", "v", (0, (4, 1.5))),
    "zswap": Look("#cc79a7", "P"),
    "thrash-protect": Look("#8e63c7", "X"),
    "earlyoom": Look("#a08a2c", "<"),
    "earlyoom-memory": Look("#a08a2c", ">", (0, (4, 1.5))),
    "fair": Look("#332288", "d"),
    "token": Look("#882255", "*", (0, (4, 1.5))),
    "auto": Look("#117733", "o", (0, (6, 1, 1, 1))),
    "none": Look("#7d838c", "+", (0, (1.5, 1))),
    "off": Look("#7d838c", "x", (0, (6, 1, 1, 1))),
    "userspace": Look("#e69f00", "h"),
    "userspace-pageout": Look("#e69f00", "8", (0, (1.5, 1))),
}
# Of policies that are not above, in turns.
_MORE = ("#44aa99", "#cc6677", "#6699cc", "#999933", "#aa4499")
# For lines that are not policies: programs, scanners, in their order.
PARTS = (
    Look("#1f7fc4", "o"),
    Look("#d55e00", "s", (0, (4, 1.5))),
    Look("#009e73", "^", (0, (1.5, 1))),
    Look("#cc79a7", "D", (0, (6, 1, 1, 1))),
    Look("#e69f00", "v", (0, (3, 1, 1, 1, 1, 1))),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "h")


def look(policy: str) -> Look:
    """A policy's; the same in every chart of every report."""
    return LOOKS.get(policy) or Look(_MORE[sum(policy.encode()) % len(_MORE)], "p", (0, (2, 1)))


@dataclass(frozen=True)
class Chart:
    """A figure, and the name of its files; `aside`: a page shows it when it is asked for."""

    name: str
    title: str
    figure: Figure
    aside: bool = False

    def write(self, folder: Path) -> None:
        """As NAME.svg and NAME.png."""
        (folder / f"{self.name}.svg").write_text(self._svg, encoding="utf-8")
        self.figure.savefig(folder / f"{self.name}.png", facecolor=PAPER)

    @cached_property
    def _svg(self) -> str:
        out = StringIO()
        rcParams["svg.hashsalt"] = self.name  # ids are the same in every run
        self.figure.savefig(out, format="svg", facecolor=PAPER, metadata={"Date": None})
        # the same widths where the font is missing
        return out.getvalue().replace(f"'{_FONT}'", f"'{_FONT}', Verdana, sans-serif")

    def inline(self) -> str:
        """As an element of a page: in the page's colours, without the page's title again."""
        text = self._svg
        text = text[text.index("<svg") :]
        text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
        text = text.replace(f"fill: {PAPER}", "fill: none")
        text = text.replace(INK, "currentColor").replace(GRID, "var(--grid)")
        for pattern in (r'(\bid=")', r"(url\(#)", r'(href="#)'):
            text = re.sub(pattern, rf"\g<1>{self.name}.", text)
        text = re.sub(r'(<svg[^>]*?) height="[^"]*pt"', r"\1", text, count=1)
        text = re.sub(r'(<svg[^>]*?) width="([^"]*)pt"', r'\1 width="\g<2>pt"', text, count=1)
        return text.replace("<svg ", f'<svg role="img" aria-label="{_escaped(self.title)}" ', 1)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def plain(value: float) -> str:
    """A number for people: 0.012, 3.4, 12, 1 234 567."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}".replace(",", "\N{THIN SPACE}")
    return f"{value:.3g}"


def scale(axes: Axes, axis: str, values: Iterable[float | None], floor: float = 0) -> bool:
    """Make an axis logarithmic if the values need it; from 0 otherwise. True if it is.

    Between 0 and the least value, or the floor if that is more, a logarithmic one is linear.
    """
    known = [value for value in values if value is not None]
    positive = [value for value in known if value > 0]
    highest, least = max(positive, default=1), max(min(positive, default=1), floor)
    which = getattr(axes, f"{axis}axis")
    limits = getattr(axes, f"set_{axis}lim")
    which.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    if highest / least <= LOG_FROM:
        limits(0, highest * 1.08)
        return False
    if min(known) >= least:
        getattr(axes, f"set_{axis}scale")("log")
        limits(least / 1.6, highest * 1.6)
        subs = (1.0, 2.0, 5.0) if math.log10(highest / least) < 2.2 else (1.0,)
        which.set_major_locator(LogLocator(subs=subs, numticks=20))
    else:
        linear = 10 ** math.floor(math.log10(least))
        getattr(axes, f"set_{axis}scale")("symlog", linthresh=linear, linscale=0.4)
        limits(0, highest * 1.6)
    which.set_minor_formatter(NullFormatter())
    which.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    return True


def handle(label: str, style: Look, **more: object) -> Line2D:
    """An entry of a legend."""
    values = {"color": style.color, "marker": style.marker, "linestyle": style.dashes, **more}
    return Line2D([], [], label=label, **values)


def grid(
    rows: int,
    columns: int,
    *,
    height: float,
    legend: Sequence[Line2D | Patch] = (),
    title: str = "",
    note: str = "",
    left: float = 0.75,
    gaps: tuple[float, float] = (0.78, 0.8),
    headed: bool = True,
) -> tuple[Figure, list[list[Axes]]]:
    """Panels `height` high, a title above, below them a legend and a note; room for all.

    gaps: between rows, for the axis of the one and the title of the next, and between columns.
    headed: panels of the first row have titles.
    """
    titles = textwrap.wrap(title, int(WIDTH / (_LETTER * 1.22)))
    notes = textwrap.wrap(note, int((WIDTH - 0.2) / (_LETTER * 0.86)))
    entries = [*legend]
    across = max(
        1, int(WIDTH / (0.55 + _LETTER * max((len(e.get_label()) for e in entries), default=1)))
    )
    legend_rows = -(-len(entries) // across)
    above = 0.2 + _LINE * 1.25 * len(titles) + (0.32 if headed else 0)
    below = 0.52 + (0.1 + 0.2 * legend_rows if entries else 0) + 0.05 + _LINE * 0.9 * len(notes)
    total = above + rows * height + (rows - 1) * gaps[0] + below
    figure = Figure(figsize=(WIDTH, total))
    space = figure.add_gridspec(
        rows,
        columns,
        left=left / WIDTH,
        right=1 - 0.2 / WIDTH,
        top=1 - above / total,
        bottom=below / total,
        hspace=gaps[0] / height,
        wspace=gaps[1] / ((WIDTH - left - 0.2 - gaps[1] * (columns - 1)) / columns),
    )
    axes = [[figure.add_subplot(space[r, c]) for c in range(columns)] for r in range(rows)]
    for number, line in enumerate(titles):
        at = 1 - (0.12 + _LINE * 1.25 * number) / total
        figure.text(0.1 / WIDTH, at, line, va="top", size=11, weight="bold")
    if entries:
        anchor = (0.5, (0.08 + _LINE * 0.9 * len(notes)) / total)
        figure.legend(handles=entries, loc="lower center", ncol=across, bbox_to_anchor=anchor,
                      borderaxespad=0, columnspacing=1.4, handlelength=2.4)  # fmt: skip
    for number, line in enumerate(reversed(notes)):
        figure.text(0.1 / WIDTH, (0.07 + _LINE * 0.9 * number) / total, line, size=7.8)
    return figure, axes


@dataclass(frozen=True)
class Bar:
    """Median and range; `light`: hatched, as it is not as measured, or is the second of two."""

    value: float | None
    low: float | None = None
    high: float | None = None
    light: bool = False
    mark: str = ""  # before the number; without one, why there is none


@dataclass(frozen=True)
class Row:
    """A line of a chart of bars."""

    label: str
    policy: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Group:
    """Lines under a heading."""

    title: str
    rows: tuple[Row, ...] = field(default_factory=tuple)


def bars(
    groups: Sequence[Group],
    *,
    title: str,
    axis: str,
    note: str = "",
    legend: Sequence[Patch] = (),
    floor: float = 0,
) -> Figure:
    """Horizontal bars, one below the other, each with its number; a heading above each group.

    floor: what is less may be drawn on a linear scale where the rest is logarithmic.
    """
    rows = [row for group in groups for row in group.rows]
    thick = max(len(row.bars) for row in rows)
    unit = 0.2 if thick == 1 else 0.27
    lines = sum(len(group.rows) + 1.25 for group in groups)
    left = 0.25 + _LETTER * max(len(row.label) for row in rows)
    figure, ((axes,),) = grid(
        1,
        1,
        height=unit * lines + 0.1,
        title=title,
        note=note,
        legend=legend,
        left=left,
        headed=False,
    )
    values = [bar.value for row in rows for bar in row.bars if bar.value is not None]
    highs = [bar.high or bar.value for row in rows for bar in row.bars if bar.value is not None]
    wide = scale(axes, "x", [*values, *highs], floor)
    start, end = axes.get_xlim()
    # room for the numbers
    least = max(start, floor, min((v for v in values if v > 0), default=1) / 2)
    axes.set_xlim(start, end * (end / least) ** 0.13 if wide else end * 1.16)
    at, ticks = 0.0, []
    for group in groups:
        axes.annotate(
            group.title, (0, at + 0.45), xycoords=("axes fraction", "data"), xytext=(3, 0),
            textcoords="offset points", va="center", weight="bold", size=8.5,
        )  # fmt: skip
        at += 1.1
        for row in group.rows:
            ticks.append((at + 0.4, row.label))
            _row(axes, at, row)
            at += 1
        at += 0.15
    axes.set_ylim(at, 0)
    axes.set_yticks([y for y, _ in ticks], [label for _, label in ticks])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(axis + (" (logarithmic scale)" if wide else ""))
    return figure


def _row(axes: Axes, at: float, row: Row) -> None:
    color = look(row.policy).color
    height = 0.8 / len(row.bars)
    for number, bar in enumerate(row.bars):
        middle = at + height * (number + 0.5)
        if bar.value is None:
            axes.annotate(bar.mark or "none", (0, middle), xycoords=("axes fraction", "data"),
                          xytext=(4, 0), textcoords="offset points", va="center",
                          size=7.8)  # fmt: skip
            continue
        face = {"facecolor": "none", "hatch": "/////"} if bar.light else {"facecolor": color}
        axes.barh(middle, bar.value, height * 0.9, edgecolor=color, linewidth=0.8, **face)
        low, high = bar.low or bar.value, bar.high or bar.value
        if low != high:
            axes.plot([low, high], [middle, middle], color=INK, linewidth=1, marker="|",
                      markersize=5)  # fmt: skip
        axes.annotate(f"{bar.mark}{plain(bar.value)}", (max(high, axes.get_xlim()[0]), middle),
                      xytext=(4, 0), textcoords="offset points", va="center", size=7.8)  # fmt: skip
