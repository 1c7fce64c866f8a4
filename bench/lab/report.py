# SPDX-License-Identifier: GPL-2.0
"""The contents of a report on a folder of results, before it becomes a page or Markdown.

Nothing in it is written by hand: where results came from, which command makes the same, what is
missing, where mts loses, are all reckoned from the files.
"""

import inspect
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.lab import LabError, compare, results, score, sweep
from bench.lab.experiment import EFFORTS, Json, Setting, Suite, Table
from bench.lab.score import Loss, Point
from bench.policies import POLICIES
from bench.suites import SUITES

_NEEDED = ("figures", "series", "kernel", "qemu", "commit", "dirty")


@dataclass(frozen=True)
class Section:
    """A suite."""

    suite: Suite
    points: tuple[Point, ...]
    gains: Table  # over stock, all policies at a glance
    tables: tuple[Table, ...]  # the suite's own: the paper's figures beside ours
    comparisons: tuple[Table, ...]  # all figures of every run, a table for each point

    @property
    def about(self) -> list[str]:
        """The docstring of the suite's module, in paragraphs."""
        text = inspect.getdoc(sys.modules[type(self.suite).__module__]) or ""
        return text.split("\n\n")


@dataclass(frozen=True)
class Report:
    """All of it."""

    facts: tuple[tuple[str, str], ...]  # what, and its value
    commands: tuple[str, ...]  # that make these results
    warnings: tuple[str, ...]
    summary: Table  # a line for each suite
    losses: tuple[Loss, ...]
    compared: int  # points at which mts and stock have a ratio
    without: tuple[str, ...]  # points at which they have none
    sections: tuple[Section, ...]


def load(folder: Path) -> list[Json]:
    """The results below a folder. LabError names the file with which something is wrong."""
    if not folder.is_dir():
        raise LabError(f"{folder}: no such folder: bench/run fills it")
    paths = [p for p in sorted(folder.rglob("*.json")) if not p.name.startswith(".")]
    if not paths:
        raise LabError(f"{folder}: no results there: bench/run makes them")
    return results.in_order([_checked(path) for path in paths])


def _checked(path: Path) -> Json:
    result = results.read(path)
    missing = [key for key in _NEEDED if key not in result]
    figures = result.get("figures")
    if not missing and not (isinstance(figures, Mapping) and "suite" in figures):
        missing = ["figures.suite"]
    if missing:
        raise LabError(f"{path}: a result without {', '.join(missing)}")
    setting = result["setting"]
    for what, known in (("suite", SUITES), ("policy", POLICIES)):
        if setting[what] not in known:
            raise LabError(f"{path}: there is no {what} {setting[what]}: {', '.join(known)}")
    return result


def make(found: Sequence[Json]) -> Report:
    """The report of results; there is at least one."""
    sections = tuple(_section(name, found) for name in SUITES if _of(found, name))
    every = [point for section in sections for point in section.points]
    lost, compared, without = score.losses(every)
    commands, missing = _commands(found)
    return Report(
        facts=_facts(found),
        commands=tuple(commands),
        warnings=(*_warnings(found), *missing),
        summary=_summary(sections),
        losses=tuple(lost),
        compared=compared,
        without=tuple(without),
        sections=sections,
    )


def losses_in_words(report: Report) -> str:
    """Where mts loses, in one sentence."""
    if not report.compared:
        return "There is no point at which both mts and stock were measured."
    if not report.losses:
        return f"mts does no worse than stock at any of {report.compared} points."
    return (
        f"mts does worse than stock at {len(report.losses)} of {report.compared} points, "
        "the worst first:"
    )


def losses_table(report: Report) -> Table:
    """The same, point by point."""
    rows = [
        (loss.suite, loss.point, loss.label, compare.times(loss.gains)) for loss in report.losses
    ]
    return Table("", ("suite", "point", "policy", "mts over stock"), tuple(rows))


def _of(found: Iterable[Json], suite: str) -> list[Json]:
    return [result for result in found if result["setting"]["suite"] == suite]


def _section(name: str, found: Sequence[Json]) -> Section:
    suite, mine = SUITES[name], _of(found, name)
    points = score.points(suite, mine)
    try:
        own = compare.own_tables(suite, mine)
    except (KeyError, TypeError, ValueError) as error:
        raise LabError(
            f"suite {name}: its tables cannot be made of these results, which it measured "
            f"otherwise ({type(error).__name__}: {error}): measure them again"
        ) from error
    tables = compare.tables(suite, mine)
    return Section(suite, tuple(points), _gains(points), tuple(own), tuple(tables))


def _gains(points: Sequence[Point]) -> Table:
    """How many times as good as stock each policy is; a row for each point and variant."""
    every = [result for point in points for entry in point.entries for result in entry.found]
    policies = [name for name in compare.policies(every) if name != compare.STOCK]
    rows = []
    for point in points:
        variants = dict.fromkeys(entry.variant for entry in point.entries if entry.variant)
        for variant in variants or ("",):
            cells = []
            for policy in policies:
                entry = next(
                    (
                        entry
                        for entry in point.entries
                        if entry.policy == policy and entry.variant in ("", variant)
                    ),
                    None,
                )
                cells.append(point.gain_cell(entry, compare.STOCK) if entry else "-")
            label = f"{point.label}, {variant}" if variant else point.label
            rows.append((label, _absolute(point), *cells))
    return Table(
        "Times as good as stock",
        ("point", "stock itself", *policies),
        tuple(rows),
        "Median over seeds, and range; below 1 is worse than stock. killed: jobs were, and their "
        "work was not done. "
        + " ".join(f"{point}." for point in dict.fromkeys(p.score.axis for p in points)),
    )


def _absolute(point: Point) -> str:
    entries = [entry for entry in point.entries if entry.policy == compare.STOCK]
    found = score.values(point.runs(compare.STOCK), point.score)
    if entries and entries[0].killed:
        return compare.KILLED
    if not found:
        return compare.NONE
    mark = ">" if entries[0].reckoned else ""
    median = statistics.median(found)
    return f"{mark}{median:.{2 if median < 100 else 0}f}"


def _summary(sections: Sequence[Section]) -> Table:
    rows = []
    for section in sections:
        over_stock, over_ideal = [], []
        for point in section.points:
            for entry in (entry for entry in point.entries if entry.policy == "mts"):
                if found := point.gain(entry, compare.STOCK):
                    over_stock.append(statistics.median(found))
                if found := compare.gains(point.runs(compare.IDEAL), entry.found, point.score):
                    over_ideal.append(statistics.median(found))
        rows.append(
            (
                section.suite.name,
                str(len(over_stock)),
                str(sum(gain > 1 for gain in over_stock)),
                str(sum(gain < 1 for gain in over_stock)),
                compare.times(over_stock),
                compare.times(over_ideal),
            )
        )
    return Table(
        "mts over all points",
        ("suite", "points", "better", "worse", "times as good as stock", "ideal over mts"),
        tuple(rows),
        "Median over points, and range. Slices count as points.",
    )


def _joined(values: Iterable[object]) -> str:
    return ", ".join(str(value) for value in dict.fromkeys(values))


def _facts(found: Sequence[Json]) -> tuple[tuple[str, str], ...]:
    settings = [result["setting"] for result in found]
    hours = sum(result.get("real_seconds") or 0 for result in found) / 3600
    seeds = sorted({setting["seed"] for setting in settings})
    dirty = sum(bool(result["dirty"]) for result in found)
    return (
        ("runs", f"{len(found)}, {hours:.1f} real hours if one waits for the other"),
        ("suites", _joined(setting["suite"] for setting in settings)),
        ("policies", _joined(compare.policies(found))),
        ("seeds", _joined(seeds)),
        ("guest's kernel", _joined(sorted({result["kernel"] for result in found}))),
        ("QEMU", _joined(sorted({result["qemu"] for result in found}))),
        ("commit", _joined(sorted({result["commit"] for result in found}))),
        ("checkout", f"{dirty} runs with changes that are in no commit" if dirty else "clean"),
    )


def _warnings(found: Sequence[Json]) -> list[str]:
    said = Counter(text for result in found for text in result.get("warnings") or ())
    warnings = [f"{count} runs: {text}" for text, count in sorted(said.items())]
    ended = Counter(
        result["setting"]["policy"]
        for result in found
        if isinstance(result.get("daemon"), Mapping) and result["daemon"].get("ended")
    )
    warnings += [
        f"{count} runs of {policy}: its daemon ended before the jobs did"
        for policy, count in sorted(ended.items())
    ]
    if len({result["commit"] for result in found}) > 1:
        warnings.append("The results are of several commits.")
    return warnings


def _commands(found: Sequence[Json]) -> tuple[list[str], list[str]]:
    """The commands of bench/run with these settings, and their missing results."""
    seeds = tuple(sorted({result["setting"]["seed"] for result in found}))
    have = {results.setting_of(result) for result in found}
    commands: dict[str, list[str]] = {}
    missing: list[str] = []
    for name in SUITES:
        mine = {setting for setting in have if setting.suite == name}
        if not mine:
            continue
        options, lacking = _options(SUITES[name], mine, seeds)
        commands.setdefault(options, []).append(name)
        if lacking:
            missing.append(
                f"{name}: {len(lacking)} runs are missing: {'; '.join(sorted(lacking)[:5])}"
                + (" and others" if len(lacking) > 5 else "")
            )
    lines = []
    for options, names in commands.items():
        suites = "" if len(names) == len(SUITES) else f" --suite {','.join(names)}"
        lines.append(f"bench/run{suites}{options}")
    return lines, missing


def _options(suite: Suite, mine: set[Setting], seeds: Sequence[int]) -> tuple[str, list[str]]:
    """The options that give at least these settings, and the other settings that they give."""
    policies = tuple(name for name in POLICIES if name in {setting.policy for setting in mine})
    several = f" --seeds {seeds[0]}..{seeds[-1]}" if seeds != (1,) else ""
    if seeds != tuple(range(seeds[0], seeds[-1] + 1)):
        seeds = tuple(range(seeds[0], seeds[-1] + 1))
    best: tuple[int, str, set[Setting]] | None = None
    for effort in EFFORTS:
        for names in ((), policies):
            choice = sweep.Choice(effort=effort, policies=names, seeds=tuple(seeds))
            expected = set(sweep.settings([suite], POLICIES, choice))
            if mine <= expected and (best is None or len(expected) < best[0]):
                words = f" --policy {','.join(names)}" if names else ""
                best = (len(expected), f" --effort {effort}{words}{several}", expected - mine)
    if best:
        return best[1], [f"{s.policy} at {s.overcommit:g}, seed {s.seed}" for s in best[2]]
    return f"{several} with options that the files name (setting)", []
