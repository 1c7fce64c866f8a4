# SPDX-License-Identifier: GPL-2.0
"""The points of a report: which policies gain or lose there, and the points' names.

What counts at a point is what its suite says (Suite.score). A gain is how many times better than
another run one is: below 1 it is worse.
"""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.lab import compare
from bench.lab.experiment import TIME, Json, Score, Suite


def values(found: Iterable[Json], score: Score) -> list[float]:
    """The values of the score, without the missing ones."""
    all_of = (compare.figure(result, score.figure) for result in found)
    return sorted(value for value in all_of if value is not None)


@dataclass(frozen=True)
class Entry:
    """The runs of a policy at a point, over seeds; `variant` tells those with own parameters."""

    policy: str
    variant: str
    found: tuple[Json, ...]
    score: Score

    @property
    def label(self) -> str:
        """For a row or a legend."""
        return f"{self.policy} {self.variant}".strip()

    @property
    def reckoned(self) -> bool:
        """Whether the time is not measured, as a run was cut off."""
        cut_off = any(not result["figures"]["finished"] for result in self.found)
        return self.score == TIME and cut_off and not self.killed

    @property
    def killed(self) -> bool:
        """Whether jobs were: there is no score then."""
        return compare.killed(self.found)

    def median(self, figure: str) -> float | None:
        """A figure's."""
        return compare.median_of(self.found, figure)


@dataclass(frozen=True)
class Point:
    """Results that differ in policy, seed, and what only some policies know."""

    suite: str
    label: str  # unique in the suite
    score: Score
    entries: tuple[Entry, ...]

    def runs(self, policy: str) -> list[Json]:
        """All of a policy's."""
        return [r for entry in self.entries if entry.policy == policy for r in entry.found]

    def gain(self, entry: Entry, over: str) -> list[float]:
        """Of an entry over a policy."""
        return compare.gains(entry.found, self.runs(over), self.score)

    def gain_cell(self, entry: Entry, over: str) -> str:
        """The same for a table."""
        return compare.gain_cell(entry.found, self.runs(over), self.score)


def points(suite: Suite, found: Sequence[Json]) -> list[Point]:
    """The points of a suite, in the order of compare.tables()."""
    names = suite.rotation_params
    mine = [result for result in found if result["setting"]["suite"] == suite.name]
    groups = list(compare.by_point(mine, names).values())
    labels = _labels([group[0]["setting"] for group in groups], names)
    scores = [compare.score_of(group, suite) for group in groups]
    return [
        Point(suite.name, label, score, _entries(group, names, score))
        for label, group, score in zip(labels, groups, scores, strict=True)
    ]


def _entries(group: Sequence[Json], names: Sequence[str], score: Score) -> tuple[Entry, ...]:
    entries: dict[tuple[str, str], list[Json]] = {}
    for policy in compare.policies(group):
        for result in group:
            setting = result["setting"]
            if setting["policy"] == policy:
                own = (f"{n}={setting['params'][n]:g}" for n in names if n in setting["params"])
                entries.setdefault((policy, " ".join(own)), []).append(result)
    return tuple(Entry(*key, tuple(runs), score) for key, runs in entries.items())


def _labels(settings: Sequence[Json], names: Sequence[str]) -> list[str]:
    """The demand, and what else the points of a suite differ in."""

    def words(setting: Json) -> dict[str, str]:
        own = {k: _word(v) for k, v in setting["params"].items() if k not in names}
        return {
            **{
                key: value if key in _SELF_EVIDENT else f"{key} {value}"
                for key, value in own.items()
            },
            "overcommit": f"{setting['overcommit']:.2f}{_TIMES}{setting['free_mib']} MiB",
            "disk": setting["disk"],
            "shift": f"{2 ** setting['shift']} ns",
            "kernel": f"Linux {setting['kernel']}",
            "swap_mib": f"swap {setting['swap_mib']} MiB",
        }

    every = [words(setting) for setting in settings]
    keys = dict.fromkeys(key for each in every for key in each)
    differ = [key for key in keys if len({each.get(key) for each in every}) > 1]
    always = ("overcommit", "disk", *_SELF_EVIDENT)
    shown = [key for key in keys if key in differ or key in always]
    return [", ".join(each[key] for key in shown if key in each) for each in every]


_TIMES = " \N{MULTIPLICATION SIGN} "
# Parameters whose value says what it is.
_SELF_EVIDENT = ("kind", "mix", "pair", "program", "experiment")


def _word(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


@dataclass(frozen=True)
class Loss:
    """A point at which mts does worse than stock."""

    suite: str
    point: str
    label: str
    gains: tuple[float, ...]


def losses(all_points: Iterable[Point], policy: str = "mts") -> tuple[list[Loss], int, list[str]]:
    """Where a policy loses to stock, worst first; of how many points; and which have no ratio."""
    lost, compared, without = [], 0, []
    for point in all_points:
        for entry in point.entries:
            if entry.policy != policy:
                continue
            found = point.gain(entry, compare.STOCK)
            if not found:
                without.append(f"{point.suite}: {point.label}, {entry.label}")
                continue
            compared += 1
            if statistics.median(found) < 1:
                lost.append(Loss(point.suite, point.label, entry.label, tuple(found)))
    lost.sort(key=lambda loss: statistics.median(loss.gains))
    return lost, compared, without
