# SPDX-License-Identifier: GPL-2.0
"""The bars as Markdown: a line for each, why its limit is what it is, and all points of each."""

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from bench.lab import report_markdown
from bench.lab.bars import Point, Verdict, number
from bench.lab.experiment import Json, Table
from bench.lab.pieces import Guest

WORDS = {
    "ok": "reached",
    "short": "short",
    "?": "not measured, or not all of it",
    "-": "do not apply",
    "shown": "shown",
}


def text(verdicts: Sequence[Verdict], seeds: Sequence[int], folder: Path, command: str) -> str:
    """All of it. `command` puts it where it goes."""
    parts = [
        *report_markdown.head(_facts(verdicts, seeds, folder), command),
        report_markdown.table(_lines(verdicts)),
        "### Why these limits",
        _reasons(verdicts),
    ]
    losses = _losses(verdicts)
    if losses.rows:
        parts += ["### Where mts is short", report_markdown.table(losses)]
    shown = [verdict for verdict in verdicts if any(point.values for point in verdict.points)]
    if shown:
        parts.append("### All points")
    parts += [report_markdown.table(_points(verdict)) for verdict in shown]
    return "\n\n".join(parts)


def _facts(
    verdicts: Sequence[Verdict], seeds: Sequence[int], folder: Path
) -> list[tuple[str, str]]:
    words = Counter(verdict.word for verdict in verdicts)
    counts = ", ".join(f"{words[word]} {name}" for word, name in WORDS.items() if words[word])
    pieces = dict.fromkeys(p for verdict in verdicts for p in verdict.bar.pieces(seeds))
    read = {piece: piece.read(folder) for piece in pieces}
    found = {piece: result for piece, result in read.items() if result}
    facts = [
        ("bars", f"{len(verdicts)}: {counts}"),
        ("seeds", ", ".join(map(str, seeds))),
        ("pieces measured", f"{len(found)} of {len(pieces)}"),
    ]
    guests = [result for piece, result in found.items() if isinstance(piece, Guest)]
    if guests:
        facts.append(("guest's kernel", _joined(guests, "kernel")))
        facts.append(("QEMU", _joined(guests, "qemu")))
    if found:
        dirty = sum(bool(result["dirty"]) for result in found.values())
        changed = f" ({dirty} pieces with changes that are in no commit)" if dirty else ""
        facts.append(("commits", _joined(list(found.values()), "commit") + changed))
    return facts


def _joined(results: Sequence[Json], name: str) -> str:
    digits = 12 if name == "commit" else None
    return ", ".join(sorted({str(result[name])[:digits] for result in results}))


def _lines(verdicts: Sequence[Verdict]) -> Table:
    rows = []
    for verdict in verdicts:
        worst, median = verdict.worst, verdict.median
        rows.append(
            (
                verdict.bar.name,
                number(worst.value) if worst and worst.value is not None else "",
                worst.spread if worst else "",
                number(median) if median is not None and len(verdict.points) > 1 else "",
                verdict.bar.limit_text,
                verdict.word,
                f"{verdict.pieces - verdict.missing} of {verdict.pieces}",
            )
        )
    header = ("bar", "value", "seeds", "median of points", "limit", "", "pieces")
    return Table("", header, tuple(rows))


def _reasons(verdicts: Sequence[Verdict]) -> str:
    of: dict[str, list[str]] = {}
    for verdict in verdicts:
        of.setdefault(verdict.bar.why, []).append(verdict.bar.name)
    return "\n".join(f"- *{_shared(names)}*: {why}" for why, names in of.items())


def _shared(names: Sequence[str]) -> str:
    """What several names have in common, at their beginning and at their end."""
    if len(names) == 1:
        return names[0]
    words = [name.split() for name in names]
    head = list(takewhile(lambda same: len(set(same)) == 1, zip(*words, strict=False)))
    tails = zip(*(reversed(each[len(head) :]) for each in words), strict=False)
    tail = list(takewhile(lambda same: len(set(same)) == 1, tails))
    shared = [same[0] for same in head], [same[0] for same in reversed(tail)]
    return " ".join([*shared[0], "…", *shared[1]])


def _losses(verdicts: Sequence[Verdict]) -> Table:
    rows = [
        (verdict.bar.name, point.label, number(point.value), point.spread, verdict.bar.limit_text)
        for verdict in verdicts
        for point in verdict.short
        if point.value is not None
    ]
    return Table("", ("bar", "point", "value", "seeds", "limit"), tuple(rows))


def _points(verdict: Verdict) -> Table:
    names = list(dict.fromkeys(name for point in verdict.points for name, _ in point.columns))
    rows = [
        (
            point.label,
            *_value(point),
            *(dict(point.columns).get(name, "") for name in names),
        )
        for point in verdict.points
    ]
    spared = sorted({point.spared for point in verdict.points if point.spared})
    note = f"- : {'; '.join(spared)}." if spared else ""
    return Table(verdict.bar.name, ("point", "value", "seeds", *names), tuple(rows), note)


def _value(point: Point) -> tuple[str, str]:
    if point.spared:
        return "-", ""
    if point.value is None:
        return "", ""
    lacks = f", {point.lacking} missing" if point.lacking else ""
    return number(point.value), f"{point.spread}{lacks}".removeprefix(", ")
