# SPDX-License-Identifier: GPL-2.0
"""Which settings a command measures: the points of suites, times policies, times seeds.

Policies that let everything run at once (start plain) may thrash, and a virtual second of that
costs about 25 real ones where an instruction takes 1 ns. Their rate does not need as long as the
others need to finish, so they are cut off after CUT seconds (of 1 ns an instruction; 2^shift
times that of slower ones, which cost as much less). Suites whose jobs take a time of their own
(Suite.timed) are left alone, and so is everything when a limit is given by hand.
"""

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.lab import LabError
from bench.lab.experiment import Policy, Setting, Suite

CUT = {"smoke": 3.0, "quick": 10.0, "full": 20.0}  # virtual s
ROTATES = "mts"  # Policy.start of the policies that know rotation_params


@dataclass(frozen=True)
class Choice:
    """What a command asks for; None or empty: as the suites have it."""

    effort: str = "quick"
    policies: tuple[str, ...] = ()
    seeds: tuple[int, ...] = (1,)
    overcommits: tuple[float, ...] = ()
    limit: float | None = None
    # other fields of Setting: disk, shift, kernel, free_mib, swap_mib
    fields: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)


class _Asked(Setting):
    """A setting that notes which parameters were asked for."""

    def param(self, name: str, default: Any = None) -> Any:
        asked: set[str] = self.__dict__.setdefault("asked", set())
        asked.add(name)
        return super().param(name, default)


def chosen(names: Sequence[str], known: Iterable[str], what: str) -> list[str]:
    """The names, with `all` for all that are known. LabError for one that is not."""
    known = list(known)
    found: list[str] = []
    for name in names:
        if name != "all" and name not in known:
            raise LabError(f"no {what} {name}: {', '.join(known)}")
        found += known if name == "all" else [name]
    return list(dict.fromkeys(found))


def settings(suites: Sequence[Suite], known: Mapping[str, Policy], choice: Choice) -> list[Setting]:
    """All settings, each once: suite by suite, point by point, policy by policy, seed by seed."""
    found: dict[Setting, None] = {}
    for suite in suites:
        names = choice.policies or suite.policies(choice.effort)
        policies = [known[name] for name in chosen(names, known, "policy")]
        points = _points(suite, choice)
        for point, policy, seed in itertools.product(points, policies, choice.seeds):
            found[_fit(point, suite, policy, seed, choice)] = None
    return list(found)


def _points(suite: Suite, choice: Choice) -> list[Setting]:
    """A suite's points with what was asked for in place of their own; each once."""
    found: dict[Setting, None] = {}
    originals = suite.points(choice.effort)
    for original in originals:
        params = tuple(sorted({**dict(original.params), **choice.params}.items()))
        point = dataclasses.replace(original, **choice.fields, params=params)
        for overcommit in choice.overcommits or (point.overcommit,):
            found[dataclasses.replace(point, overcommit=overcommit)] = None
    _check_params(suite, originals, list(found), choice)
    return list(found)


def _check_params(
    suite: Suite, originals: Sequence[Setting], points: Sequence[Setting], choice: Choice
) -> None:
    """LabError for a parameter that no point has and that no workload asked for."""
    known = {name for point in originals for name, _ in point.params}
    known.update(suite.rotation_params)
    if not choice.params or known.issuperset(choice.params):
        return
    for point in points:
        asked = _Asked(**{f.name: getattr(point, f.name) for f in dataclasses.fields(point)})
        suite.workload(asked)
        known |= asked.__dict__.get("asked", set())
    for name in choice.params:
        if name not in known:
            raise LabError(
                f"suite {suite.name} has no parameter {name}: {', '.join(sorted(known))}"
            )


def _fit(point: Setting, suite: Suite, policy: Policy, seed: int, choice: Choice) -> Setting:
    params = point.params
    if policy.start != ROTATES:
        params = tuple(item for item in params if item[0] not in suite.rotation_params)
    limit = point.limit
    if choice.limit is not None:
        limit = choice.limit
    elif policy.start == "plain" and not suite.timed:
        limit = min(limit, CUT[choice.effort] * 2**point.shift)
    return dataclasses.replace(point, policy=policy.name, seed=seed, params=params, limit=limit)
