# SPDX-License-Identifier: GPL-2.0
"""The bars as Markdown: how many are reached, a line for each of the first, and grids of the rest.

Where nothing may be lost the same points stand at several overcommits and on several disks: a table
for each disk, a row for each point. A cell that says nothing but a value is `ok`.
"""

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from bench.lab import compare, report_markdown
from bench.lab.bars import THRASHES, Bar, Verdict
from bench.lab.experiment import Json, Table

WORDS = {
    "ok": "reached",
    "short": "short",
    "-": "do not apply",
    "?": "not measured",
}


def text(verdicts: Sequence[Verdict], found: Sequence[Json], command: str, before: str = "") -> str:
    """All of it. `found` are the results of these bars; `command` puts it where it goes.

    `before`: what stood there; what is not measured now stays as it says.
    """
    verdicts = [_told(verdict, before) for verdict in verdicts]
    grids: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        grids.setdefault(_title(verdict.bar), []).append(verdict)
    single = grids.pop("", [])
    tables = [_lines(single), *(_grid(title, these) for title, these in grids.items())]
    return "\n\n".join(
        [
            *report_markdown.head(_facts(verdicts, found, before), command),
            *(report_markdown.table(table) for table in tables if table.rows),
        ]
    )


def _told(verdict: Verdict, before: str) -> Verdict:
    told = None if verdict.measured else _said(verdict.bar, before)
    return dataclasses.replace(verdict, measured=True, told=told) if told else verdict


def _said(bar: Bar, before: str) -> tuple[str, str] | None:
    """A bar's value and word in such a text, if they are there."""
    title = _title(bar)
    part = before.partition(f"**{title}**")[2].partition("\n**")[0] if title else before
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in part.splitlines()]
    name = _row(bar) if title else bar.name
    mine = next((row for row in rows if row[0] == name), None)
    if mine and not title:
        return mine[1], mine[3]
    heads = next((row for row in rows if row[0] == "overcommit"), [])
    column = f"{bar.point.overcommit:g}"
    if not mine or column not in heads or not mine[heads.index(column)]:
        return None
    cell = mine[heads.index(column)]
    value = next((cell.removesuffix(f" {w}") for w in WORDS if cell.endswith(f" {w}")), cell)
    return value, cell.removeprefix(value).strip() or "ok"


def _facts(
    verdicts: Sequence[Verdict], found: Sequence[Json], before: str
) -> list[tuple[str, str]]:
    old = sum(bool(verdict.told) for verdict in verdicts)
    words = Counter(verdict.word for verdict in verdicts)
    counts = ", ".join(f"{words[word]} {name}" for word, name in WORDS.items() if words[word])
    of = [result["setting"] for result in found]
    facts = [
        ("bars", f"{len(verdicts)}: {counts}"),
        ("runs", str(len(found))),
        ("seeds", _joined(str(setting["seed"]) for setting in of)),
        ("guest's kernel", _joined(result["kernel"] for result in found)),
        ("QEMU", _joined(result["qemu"] for result in found)),
    ]
    for policy in compare.policies(found):
        mine = [result for result in found if result["setting"]["policy"] == policy]
        commits = _joined(result["commit"][:12] for result in mine)
        dirty = sum(bool(result["dirty"]) for result in mine)
        changed = f" ({dirty} runs with changes that are in no commit)" if dirty else ""
        facts.append((f"commit of {policy}'s runs", commits + changed))
    if old:
        commits = _joined(re.findall(r"\b[0-9a-f]{12}\b", before.partition("\n|")[0]))
        facts.append(("measured before", f"{old} bars; commits of that page: {commits}"))
    return facts


def _joined(values: Iterable[str]) -> str:
    return ", ".join(sorted(set(values))) or compare.NONE


def _title(bar: Bar) -> str:
    """Of the grid that a bar is in; none: it has a line of its own."""
    if not bar.grid:
        return ""
    where = f"{bar.point.disk}, {2**bar.point.shift} ns an instruction"
    title = f"stock / mts, {where}: at least {bar.limit:g}"
    if bar.where_stock_over:
        title += f" where stock takes over {THRASHES:g} times its unloaded time"
    return title


def _lines(verdicts: Sequence[Verdict]) -> Table:
    rows = [(v.bar.name, v.shown, v.limit, v.word) for v in verdicts if v.measured]
    return Table("", ("bar", "value", "limit", ""), tuple(rows))


def _grid(title: str, verdicts: Sequence[Verdict]) -> Table:
    columns = sorted({verdict.bar.point.overcommit for verdict in verdicts})
    cells: dict[str, dict[float, str]] = {}
    for verdict in verdicts:
        if verdict.measured:
            point = verdict.bar.point
            cells.setdefault(_row(verdict.bar), {})[point.overcommit] = _cell(verdict)
    rows = [(name, *(row.get(x, "") for x in columns)) for name, row in cells.items()]
    return Table(title, ("overcommit", *(f"{x:g}" for x in columns)), tuple(rows))


def _row(bar: Bar) -> str:
    return " ".join((bar.point.suite, *(f"{k}={v}" for k, v in bar.point.params)))


def _cell(verdict: Verdict) -> str:
    return verdict.shown if verdict.word == "ok" else f"{verdict.shown} {verdict.word}"
