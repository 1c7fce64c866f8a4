# SPDX-License-Identifier: GPL-2.0
"""A report as one HTML page that needs nothing else: styles and charts are in it."""

import re
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from string import Template

from bench.lab import charts, compare, curves, overview, report
from bench.lab.charts import Chart
from bench.lab.experiment import Table
from bench.lab.report import Report, Section
from bench.policies import POLICIES

TEMPLATE = Path(__file__).with_name("report.html")
_FIGURE = re.compile(r"<figcaption>([\w.-]+\.svg), ([\w.-]+\.png)</figcaption>")
_NUMBER = re.compile(r"^[<>~+]?-?[\d.]")
_LONG = 40  # letters of a cell: from here on it may take several lines


def write(of: Report, folder: Path, told: Callable[[str], None] = lambda _: None) -> Path:
    """The page and the figures into a folder; the page's path. Old figures there are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "index.html"
    for old in _figures_of(page):
        old.unlink(missing_ok=True)
    parts = [_head(of), _summary(of)]
    for section in of.sections:
        told(section.suite.name)
        drawn = draw(section)
        for chart in drawn:
            chart.write(folder)
        parts.append(_section(section, drawn))
    parts.append(_policies(of))
    text = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(body="\n".join(parts))
    page.write_text(text, encoding="utf-8")
    return page


def _figures_of(page: Path) -> list[Path]:
    """The files of its figures. Other pictures in its folder are not ours."""
    if not page.exists():
        return []
    text = page.read_text(encoding="utf-8", errors="replace")
    return [page.with_name(name) for pair in _FIGURE.findall(text) for name in pair]


def draw(section: Section) -> list[Chart]:
    """A suite's charts: first the common ones, then its own."""
    suite = section.suite
    title = suite.title.partition(":")[0]
    drawn = overview.draw(suite.name, title, section.points)
    own = curves.DRAW.get(suite.name)
    return drawn + (own(title, section.points) if own else [])


def columns(of: Table) -> list[int]:
    """The columns with a value in some row, and always the first one."""
    return [
        index
        for index in range(len(of.header))
        if index == 0 or any(row[index] not in ("", compare.NONE) for row in of.rows)
    ]


def _head(of: Report) -> str:
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in of.facts)
    made = "<br>".join(f"<code>{escape(command)}</code>" for command in of.commands)
    links = [("summary", "summary"), *((s.suite.name, s.suite.name) for s in of.sections)]
    links.append(("policies", "policies"))
    menu = "".join(f'<a href="#{name}">{escape(text)}</a>' for name, text in links)
    warnings = "".join(f'<p class="warning">{escape(text)}</p>' for text in of.warnings)
    return f"<dl>{facts}<dt>made by</dt><dd>{made}</dd></dl>\n{warnings}<nav>{menu}</nav>"


def _summary(of: Report) -> str:
    text = f'<h2 id="summary">Summary</h2>\n{_table(of.summary)}\n<h3>Where mts loses</h3>\n'
    text += f"<p>{escape(report.losses_in_words(of))}</p>"
    if of.losses:
        text += _table(report.losses_table(of), gains=True)
    if of.without:
        points = escape("; ".join(of.without))
        text += f"<p>No ratio, as one made no progress or had jobs killed: {points}.</p>"
    return text


def _section(section: Section, drawn: Sequence[Chart]) -> str:
    suite = section.suite
    aside = "".join(_figure(chart) for chart in drawn if chart.aside)
    if aside:
        aside = f"<details><summary>charts of the other policies</summary>{aside}</details>"
    parts = [
        f'<h2 id="{suite.name}">{escape(suite.title)}</h2>',
        f'<p class="source">{escape(suite.source)}</p>',
        "<details><summary>what is done, and how it is scaled</summary>",
        f"{_about(section)}</details>",
        _table(section.gains, gains=True),
        *(_figure(chart) for chart in drawn if not chart.aside),
        aside,
    ]
    if section.tables:
        parts += ["<h3>The paper's figures and ours</h3>", *map(_table, section.tables)]
    if section.comparisons:
        every = "".join(map(_table, section.comparisons))
        parts.append(f"<h3>All figures of all runs</h3>{every}")
    return "\n".join(parts)


def _about(section: Section) -> str:
    """Paragraphs; lists in columns keep their lines."""
    return "".join(
        f"<pre>{escape(text)}</pre>" if "   " in text else f"<p>{escape(text)}</p>"
        for text in section.about
    )


def _policies(of: Report) -> str:
    names = dict.fromkeys(
        entry.policy for s in of.sections for point in s.points for entry in point.entries
    )
    rows = tuple((name, POLICIES[name].title) for name in POLICIES if name in names)
    return f'<h2 id="policies">Policies</h2>\n{_table(Table("", ("policy", "what it is"), rows))}'


def _figure(chart: Chart) -> str:
    return (
        f"<figure>{chart.inline()}<figcaption>{chart.name}.svg, {chart.name}.png</figcaption>"
        "</figure>"
    )


def _table(of: Table, *, gains: bool = False) -> str:
    """gains: cells that are times as good as stock get the colour of better or worse."""
    if not of.rows:
        return ""
    shown = columns(of)
    text = [_is_text(of, index) for index in range(len(of.header))]
    head = "".join(
        f"<th{' class=text' if text[index] else ''}>{escape(of.header[index])}</th>"
        for index in shown
    )
    body = "".join(
        "<tr>" + "".join(_cell(of, row, index, text[index], gains) for index in shown) + "</tr>\n"
        for row in of.rows
    )
    caption = f"<caption>{escape(of.title)}</caption>" if of.title else ""
    note = f'<p class="note">{escape(of.note)}</p>' if of.note else ""
    return (
        f'<div class="wide"><table>{caption}<thead><tr>{head}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>{note}"
    )


def _is_text(of: Table, index: int) -> bool:
    cells = [row[index] for row in of.rows if row[index] not in ("", compare.NONE)]
    return index == 0 or sum(bool(_NUMBER.match(cell)) for cell in cells) * 2 < len(cells)


def _cell(of: Table, row: Sequence[str], index: int, text: bool, gains: bool) -> str:
    cell, classes = row[index], ["text"] if text else []
    if len(cell) > _LONG:
        classes.append("long")
    heading = of.header[index]
    if gains and (heading in POLICIES or heading == "mts over stock") and cell[:1].isdigit():
        value = float(cell.partition(" ")[0])
        classes += ["better"] if value > 1 else ["worse"] if value < 1 else []
    elif gains and cell == compare.KILLED:
        classes.append("worse")
    chip = ""
    if heading == "policy" and cell.partition(" ")[0] in POLICIES:
        color = charts.look(cell.partition(" ")[0]).color
        chip = f'<span class="chip" style="background:{color}"></span>'
    kind = f' class="{" ".join(classes)}"' if classes else ""
    return f"<td{kind}>{chip}{escape(cell)}</td>"
