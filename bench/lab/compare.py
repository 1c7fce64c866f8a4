# SPDX-License-Identifier: GPL-2.0
"""Results side by side: medians and ranges over seeds, ratios, tables.

Results are compared that agree in everything but the policy, the seed, and the limit (which
only says where a run was cut off). A parameter that only some policies know (rotation_params)
is lacking in the results of the others: these are compared with all of its values.

A ratio is taken between runs of the same seed, and then the median of these. It is of what counts
at the point (Suite.score), and says how many times better one run is than the other. Runs in
which jobs were killed have no ratio: their work was not finished.
"""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bench.lab.experiment import TIME, Json, Score, Suite, Table
from bench.lab.results import in_order, setting_of

STOCK, IDEAL = "stock", "ideal"
NONE = "-"
KILLED = "killed"  # in the place of a figure

_WHOLE = 100.0  # from here on a figure has no decimals

# heading, figure, digits, factor
COLUMNS: tuple[tuple[str, str, int, float], ...] = (
    ("work, %", "work", 1, 100),
    ("lost, %", "lost_work", 1, 100),
    ("killed, %", "killed_work", 1, 100),
    ("in, MiB", "swapin_mib", 0, 1),
    ("out, MiB", "swapout_mib", 0, 1),
    ("reads", "swap_reads", 0, 1),
    ("writes", "swap_writes", 0, 1),
    ("sect/read", "sectors_per_read", 0, 1),
    ("sect/write", "sectors_per_write", 0, 1),
    ("major faults", "major_faults", 0, 1),
    ("switch, %", "switch_share", 1, 100),
    ("Jain", "jain", 2, 1),
    ("pause, s", "longest_pause_s", 1, 1),
    ("reclaim, s", "reclaim_cpu_s", 2, 1),
    ("OOM", "oom_kills", 0, 1),
)


def figure(result: Json, name: str) -> Any:
    """A figure by its name; None if there is none.

    `suite.x` is one of the suite's own, `policy.x` what the policy says of itself.
    """
    figures: Any = result if name.startswith("policy.") else result["figures"]
    for part in name.split("."):
        figures = figures.get(part) if isinstance(figures, Mapping) else None
    return figures


def number(value: float | None, digits: int = 2) -> str:
    """For a table."""
    return NONE if value is None else f"{value:.{digits}f}"


def spread(values: Iterable[float | None], digits: int = 2) -> str:
    """Median and range: 12.30 (11.90..12.80), or 12.30 if there is one value."""
    known = sorted(value for value in values if value is not None)
    if not known:
        return NONE
    text = number(statistics.median(known), digits)
    if len(known) == 1:
        return text
    return f"{text} ({number(known[0], digits)}..{number(known[-1], digits)})"


def median_of(found: Sequence[Json], name: str) -> float | None:
    """The median of a figure over results that have it."""
    known = [value for result in found if (value := figure(result, name)) is not None]
    return statistics.median(known) if known else None


def killed(found: Iterable[Json]) -> bool:
    """Whether jobs were killed, or failed, in any of these runs."""
    return any(figure(result, "killed_jobs") for result in found)


def cell(found: Sequence[Json], name: str, digits: int = 2, factor: float = 1) -> str:
    """A figure over seeds. `>` is before a time that is reckoned, as a run was cut off."""
    if name == TIME.figure and killed(found):
        return KILLED
    values = [figure(result, name) for result in found]
    text = spread([None if v is None else v * factor for v in values], digits)
    reckoned = name == TIME.figure and any(not r["figures"]["finished"] for r in found)
    return f">{text}" if reckoned and text != NONE else text


def policies(found: Iterable[Json]) -> list[str]:
    """The policies there are: stock first, then ideal last, the others as they are named."""
    names = {result["setting"]["policy"] for result in found}
    return sorted(names, key=lambda name: (name != STOCK, name == IDEAL, name))


def place_of(setting: Json) -> str:
    """The guest, in words."""
    return (
        f"disk {setting['disk']}, {2 ** setting['shift']} ns an instruction, "
        f"Linux {setting['kernel']}, {setting['free_mib']} MiB free"
    )


def _group(found: Iterable[Json], key: Callable[[Json], Any]) -> dict[Any, list[Json]]:
    groups: dict[Any, list[Json]] = {}
    for result in in_order(found):
        groups.setdefault(key(result["setting"]), []).append(result)
    return groups


def by_place(found: Iterable[Json]) -> dict[str, list[Json]]:
    """Results by the guest they were measured in, as place_of() says it."""
    return _group(found, place_of)


def point_of(setting: Json, without: Sequence[str] = ()) -> tuple:
    """The settings that compared results must share, without the parameters in `without`."""
    params = {k: v for k, v in setting["params"].items() if k not in without}
    fields = ("suite", "disk", "shift", "kernel", "free_mib", "swap_mib", "overcommit")
    processors = setting.get("processors", 1)  # older results do not say
    return (*(setting[name] for name in fields), processors, tuple(sorted(params.items())))


def by_point(found: Iterable[Json], without: Sequence[str] = ()) -> dict[tuple, list[Json]]:
    """Results that can be compared; the parameters named in `without` may differ."""
    return _group(found, lambda setting: point_of(setting, without))


def score_of(point: Sequence[Json], suite: Suite) -> Score:
    """What counts at a point."""
    return suite.score(setting_of(point[0]))


def score_cell(found: Sequence[Json], score: Score) -> str:
    """What counts, over seeds."""
    if killed(found):
        return KILLED
    median = median_of(found, score.figure)
    return cell(found, score.figure, 0 if median and median >= _WHOLE else 2)


def ratios(one: Sequence[Json], other: Sequence[Json], name: str = TIME.figure) -> list[float]:
    """The quotients one / other, for every seed that both have, and a value."""
    base = {result["setting"]["seed"]: figure(result, name) for result in other}
    return [
        value / base[seed]
        for result in one
        if (value := figure(result, name)) is not None
        and base.get(seed := result["setting"]["seed"])
    ]


def gains(these: Sequence[Json], base: Sequence[Json], score: Score) -> list[float]:
    """How many times better these are than the base, for each seed that both have."""
    if killed(these) or killed(base):
        return []
    one, other = (base, these) if score.lower else (these, base)
    return sorted(ratios(one, other, score.figure))


def excess(these: Sequence[Json], base: Sequence[Json], score: Score) -> list[float]:
    """By how much these are more than the base, for each seed that both have."""
    if killed(these) or killed(base):
        return []
    less = {result["setting"]["seed"]: figure(result, score.figure) for result in base}
    return sorted(
        value - less[seed]
        for result in these
        if (value := figure(result, score.figure)) is not None
        and less.get(seed := result["setting"]["seed"]) is not None
    )


def times(found: Sequence[float]) -> str:
    """Gains, for a table: 2.31 (2.10..2.50); more digits near 1."""
    near = bool(found) and all(0.9 < value < 1.1 for value in found)
    return spread(found, 3 if near else 2)


def gain_cell(these: Sequence[Json], base: Sequence[Json], score: Score) -> str:
    """The same; it says so if there is no gain because jobs of these were killed."""
    return KILLED if killed(these) else times(gains(these, base, score))


def table(suite: Suite, point: Sequence[Json]) -> Table:
    """All policies at one point."""
    setting, score = point[0]["setting"], score_of(point, suite)
    params = {k: v for k, v in setting["params"].items() if k not in suite.rotation_params}
    words = [f"{name} {value}" for name, value in sorted(params.items())]
    title = f"{suite.name}: demand {setting['overcommit']:.2f} times what is free"
    of = {name: _of(point, name) for name in policies(point)}
    stock, ideal = of.get(STOCK, []), of.get(IDEAL, [])
    rows = []
    for name, found in of.items():
        for variant, some in _variants(found, suite.rotation_params).items():
            rows.append(
                (
                    f"{name} {variant}".strip(),
                    str(len(some)),
                    gain_cell(some, stock, score),
                    KILLED if killed(some) else times(gains(ideal, some, score)),
                    score_cell(some, score),
                    *(cell(some, figure, digits, by) for _, figure, digits, by in COLUMNS),
                )
            )
    return Table(
        f"{', '.join([title, *words])}; {place_of(setting)}",
        (
            *("policy", "seeds", "times stock", "ideal over this", score.heading),
            *(heading for heading, *_ in COLUMNS),
        ),
        tuple(rows),
        _note(point, score),
    )


def _variants(found: Sequence[Json], names: Sequence[str]) -> dict[str, list[Json]]:
    """Results by the values of parameters that only their policy knows."""

    def key(setting: Json) -> str:
        own = (f"{name}={setting['params'][name]}" for name in names if name in setting["params"])
        return " ".join(own)

    return _group(found, key)


def _note(point: Sequence[Json], score: Score) -> str:
    notes = [] if score.lower else [f"Ratios are of the rate: {score.axis}."]
    cut_off = sorted({r["setting"]["limit"] for r in point if not r["figures"]["finished"]})
    if score == TIME and cut_off:
        limits = ", ".join(f"{limit:g}" for limit in cut_off)
        notes.append(f">: not all work was done (limit {limits} s): time reckoned from the rate.")
    if killed(point):
        notes.append("killed: jobs were killed, and their work was not finished.")
    return " ".join(notes)


def tables(suite: Suite, found: Sequence[Json]) -> list[Table]:
    """One table for each point of a suite."""
    mine = [result for result in found if result["setting"]["suite"] == suite.name]
    return [table(suite, point) for point in by_point(mine, suite.rotation_params).values()]


def own_tables(suite: Suite, found: Sequence[Json]) -> list[Table]:
    """The suite's own, of its results. They do not know of killed jobs: their notes say it."""
    mine = [result for result in found if result["setting"]["suite"] == suite.name]
    if not mine:
        return []
    killers = [name for name in policies(mine) if killed(_of(mine, name))]
    note = f"Jobs were killed, and their work was not done: {', '.join(killers)}."
    return [
        replace(each, note=f"{each.note} {note}".strip()) if killers else each
        for each in suite.tables(in_order(mine))
    ]


def _of(found: Iterable[Json], policy: str) -> list[Json]:
    return [result for result in found if result["setting"]["policy"] == policy]


def text(of: Table) -> str:
    """A table as text. Columns that say nothing in any row are left out."""
    keep = [
        index
        for index in range(len(of.header))
        if index == 0 or any(row[index] not in ("", NONE) for row in of.rows)
    ]
    lines = [[row[index] for index in keep] for row in (of.header, *of.rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(keep))]
    shown = []
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        cells += [c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True)]
        shown.append("  ".join(cells).rstrip())
    rule = "-" * max(map(len, shown))
    note = [of.note] if of.note else []
    return "\n".join([of.title, shown[0], rule, *shown[1:], *note])
