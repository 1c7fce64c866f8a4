# SPDX-License-Identifier: GPL-2.0
"""What of a run is compared with stock and with the ideal, and how the report names its points.

That is the time for all work, except where jobs take a time of their own or the cost of
a message is the question: there it is a figure of the suite. A gain is how many times better than
another run one is: below 1 it is worse.
"""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.lab import compare
from bench.lab.experiment import Json


@dataclass(frozen=True)
class Score:
    """A figure that says how good a run was."""

    figure: str  # as compare.figure() takes it
    axis: str  # what it is, and its unit
    lower: bool = True  # is better


TIME = Score("time_for_all_s", "time for all work, virtual s")
PAGES = Score("suite.pages_per_s", "pages written per virtual s (more is better)", lower=False)
OTHERS = {
    "consumers": Score("suite.writes_per_s", "writes per virtual s (more is better)", lower=False),
    "idle": Score("suite.instructions_per_message", "instructions per message"),
    "scanners": PAGES,
    "stress-ng": Score(
        "suite.bogo_ops_per_s", "bogo-operations per virtual s (more is better)", lower=False
    ),
    "swappers": PAGES,
}


def of(setting: Json) -> Score:
    """What counts at a point."""
    if setting["params"].get("experiment") == "mix":
        return TIME  # of swappers: there a program has work to do
    return OTHERS.get(setting["suite"], TIME)


def values(found: Iterable[Json], score: Score) -> list[float]:
    """The score's values, those that there are."""
    all_of = (compare.figure(result, score.figure) for result in found)
    return sorted(value for value in all_of if value is not None)


def gains(these: Sequence[Json], base: Sequence[Json]) -> list[float]:
    """How many times better these are than the base, for each seed that both have."""
    if not these or not base:
        return []
    score = of(these[0]["setting"])
    one, other = (base, these) if score.lower else (these, base)
    return sorted(compare.ratios(one, other, score.figure))


def times(found: Sequence[float]) -> str:
    """Gains, for a table: 2.31 (2.10..2.50); more digits near 1."""
    near = bool(found) and all(0.9 < value < 1.1 for value in found)
    return compare.spread(found, 3 if near else 2)


@dataclass(frozen=True)
class Entry:
    """The runs of a policy at a point, over seeds; `variant` tells those with own parameters."""

    policy: str
    variant: str
    found: tuple[Json, ...]

    @property
    def label(self) -> str:
        """For a row or a legend."""
        return f"{self.policy} {self.variant}".strip()

    @property
    def reckoned(self) -> bool:
        """Whether the time is not measured, as a run was cut off."""
        timed = of(self.found[0]["setting"]) == TIME
        return timed and any(not result["figures"]["finished"] for result in self.found)

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
        return gains(entry.found, self.runs(over))


def points(suite: str, found: Sequence[Json], rotation_params: Sequence[str] = ()) -> list[Point]:
    """The points of a suite, in the order of compare.tables()."""
    mine = [result for result in found if result["setting"]["suite"] == suite]
    groups = list(compare.by_point(mine, rotation_params).values())
    labels = _labels([group[0]["setting"] for group in groups], rotation_params)
    return [
        Point(suite, label, of(group[0]["setting"]), _entries(group, rotation_params))
        for label, group in zip(labels, groups, strict=True)
    ]


def _entries(group: Sequence[Json], names: Sequence[str]) -> tuple[Entry, ...]:
    entries: dict[tuple[str, str], list[Json]] = {}
    for policy in compare.policies(group):
        for result in group:
            setting = result["setting"]
            if setting["policy"] == policy:
                own = (f"{n}={setting['params'][n]:g}" for n in names if n in setting["params"])
                entries.setdefault((policy, " ".join(own)), []).append(result)
    return tuple(Entry(*key, tuple(runs)) for key, runs in entries.items())


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
