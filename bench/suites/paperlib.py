# SPDX-License-Identifier: GPL-2.0
"""What the suites of the papers share: reports of programs, statistics, tables."""

import json
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

from bench.lab import LabError
from bench.lab.experiment import Json, Setting
from bench.policies import POLICIES

PAGE = 4096
DISKS = ("paper", "ssd")  # of the papers' time and of today
PAGES_PER_MIB = 256
# Of a small static program beside the memory that it is given: page tables, stack, what the kernel
# keeps of it. What free memory lost to the consumers of e2 and e4 at 0.5, less their sizes, is
# 0.12 to 0.18 for each.
PROGRAM_MIB = 0.2
Points = dict[str, dict[str, list[Json]]]


def page_size(mib: float) -> int:
    """Bytes: so many MiB, rounded to pages."""
    return max(1, round(mib * PAGES_PER_MIB)) * PAGE


def seconds(value: float) -> str:
    """A time for a command line: 0.000001 s exactly, no exponent."""
    return f"{value:.6f}"


def positive(setting: Setting, name: str, value: float) -> float:
    """`value`, or an error that names the suite's parameter."""
    if value <= 0:
        raise LabError(f"{setting.suite}: {name} is {value:g}: nothing to do")
    return value


def json_lines(output: str) -> list[Json]:
    """The lines of a job's output that are JSON objects or arrays."""
    values = []
    for line in output.splitlines():
        if line.startswith(("{", "[")):
            try:
                values.append(json.loads(line))
            except ValueError:
                continue  # the first of the last 64 KiB, or cut off by a kill
    return values


def report(job: Mapping) -> Json | None:
    """The JSON object that a program printed at its end; None if it was cut off before."""
    objects = [value for value in json_lines(job["output"]) if isinstance(value, dict)]
    return objects[-1] if objects else None


def jain(values: Iterable[float]) -> float | None:
    """Jain's fairness index: 1 if all are equal, 1/n if one has all. None without any."""
    values = list(values)
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else None


def mean(values: Iterable[float]) -> float | None:
    """The arithmetic mean, or None."""
    values = list(values)
    return statistics.fmean(values) if values else None


def bezier(points: Sequence[tuple[float, float]], count: int) -> list[tuple[float, float]]:
    """The Bézier curve of which all points are the control points, at `count` places.

    This is what gnuplot calls `smooth bezier`: a curve of degree n-1 from the first point to
    the last.
    """
    degree = len(points) - 1
    if degree < 1:
        return list(points)
    choose = [
        math.lgamma(degree + 1) - math.lgamma(i + 1) - math.lgamma(degree - i + 1)
        for i in range(degree + 1)
    ]
    curve = [points[0]]
    for step in range(1, count - 1):
        at = step / (count - 1)
        high, low = math.log(at), math.log1p(-at)
        weights = [math.exp(choose[i] + i * high + (degree - i) * low) for i in range(degree + 1)]
        curve.append(
            (
                math.fsum(w * p[0] for w, p in zip(weights, points, strict=True)),
                math.fsum(w * p[1] for w, p in zip(weights, points, strict=True)),
            )
        )
    return [*curve, points[-1]]


def by_point(results: Sequence[Json]) -> Points:
    """Results by what they measure (all of the setting but policy and seed), then by policy.

    Policies are in the order in which all tables have them.
    """
    points: Points = {}
    for result in results:
        setting = dict(result["setting"])
        policy = setting.pop("policy")
        setting.pop("seed")
        setting.pop("limit")
        key = json.dumps(setting, sort_keys=True)
        points.setdefault(key, {}).setdefault(policy, []).append(result)
    known = list(POLICIES)
    return {
        key: dict(sorted(point.items(), key=lambda item: known.index(item[0])))
        for key, point in points.items()
    }


def own(result: Json) -> Json:
    """The suite's own figures of a result."""
    return result["figures"]["suite"]


def where(key: str) -> str:
    """A point in words, for a table's title."""
    setting = json.loads(key)
    return (
        f"{setting['free_mib']} MiB free, {setting['overcommit']:.2f} times that wanted, "
        f"disk {setting['disk']}, {2 ** setting['shift']} ns an instruction"
    )


def number(values: Iterable[float | None], digits: int = 2) -> str:
    """Median, and range where there are several; a dash where there is none."""
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    text = f"{statistics.median(known):.{digits}f}"
    if len(known) > 1 and min(known) != max(known):
        text += f" ({min(known):.{digits}f} to {max(known):.{digits}f})"
    return text
