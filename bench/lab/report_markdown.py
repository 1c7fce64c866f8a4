# SPDX-License-Identifier: GPL-2.0
"""Tables as Markdown, between two markers of a file: a report's, and those of the bars."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.lab import LabError, report
from bench.lab.experiment import Table
from bench.lab.report import Report
from bench.lab.report_page import columns

BEGIN = "<!-- results: begin -->"
END = "<!-- results: end -->"


def text(of: Report, command: str) -> str:
    """The whole text. `command` is the command that writes it into its file."""
    parts = [
        *head(of.facts, command),
        "Made by " + " and ".join(f"`{line}`" for line in (*of.commands, command)) + ".",
        *(f"**Note:** {_plain(warning)}" for warning in of.warnings),
        table(of.summary),
        "### Where mts loses",
        report.losses_in_words(of),
    ]
    if of.losses:
        parts.append(table(report.losses_table(of)))
    if of.without:
        parts.append(
            f"No ratio, as one made no progress or had jobs killed: {'; '.join(of.without)}."
        )
    for section in of.sections:
        parts.append(f"### {section.suite.title}")
        tables = (section.gains, *section.tables, *section.comparisons)
        parts += [table(each) for each in tables if each.rows]
    return "\n\n".join(parts)


def head(facts: Iterable[tuple[str, str]], command: str) -> tuple[str, str]:
    """The origin of the results: a comment in the file, and a list on the page."""
    return (
        f"<!-- made by {command}: change nothing here by hand -->",
        "\n".join(f"- {name}: {value}" for name, value in facts),
    )


def _parts(path: Path) -> tuple[str, str, str]:
    """Of a file, before its markers, between, and after; LabError if it has not just one pair."""
    try:
        old = path.read_text(encoding="utf-8")
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from None
    if old.count(BEGIN) != 1 or old.count(END) != 1 or old.index(END) < old.index(BEGIN):
        raise LabError(f"{path}: not one line {BEGIN} and, after it, one line {END}")
    before, _, rest = old.partition(BEGIN)
    between, _, after = rest.partition(END)
    return before, between, after


def between(path: Path) -> str:
    """The text between the markers of a file; LabError as for replace()."""
    return _parts(path)[1].strip()


def replace(path: Path, new: str) -> None:
    """Put a text between the markers of a file; LabError if it has not just one pair."""
    before, _, after = _parts(path)
    path.write_text(f"{before}{BEGIN}\n\n{new}\n\n{END}{after}", encoding="utf-8")


def _plain(cell: str) -> str:
    """Text as Markdown has it: no mark of its own in it."""
    return re.sub(r"([\\`*_|<>~])", r"\\\1", cell)


def table(of: Table) -> str:
    """A table. Columns of figures are flush right; a word may stand for a figure that is not."""
    shown = columns(of)
    right = [
        index > 0
        and all(re.match(r"^([<>~+]?-?[\d.]|inf|killed|-?$)", row[index]) for row in of.rows)
        for index in range(len(of.header))
    ]
    lines = [
        _row([of.header[index] for index in shown]),
        "|" + "|".join("---:" if right[index] else "---" for index in shown) + "|",
        *(_row([row[index] for index in shown]) for row in of.rows),
    ]
    title = [f"**{_plain(of.title)}**", ""] if of.title else []
    note = ["", _plain(of.note)] if of.note else []
    return "\n".join([*title, *lines, *note])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_plain, cells)) + " |"
