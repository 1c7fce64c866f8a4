# SPDX-License-Identifier: GPL-2.0
"""What is compared. Every module of this folder with a tuple POLICIES adds its own to ours."""

import importlib
import pkgutil

from bench.lab.experiment import Policy

STARTS = ("plain", "mts", "ideal")
# Those that everything else is measured against come first, then as the modules are named.
_FIRST = ("stock", "mts", "ideal")


def _find() -> dict[str, Policy]:
    found: dict[str, Policy] = {}
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        module = importlib.import_module(f"{__name__}.{info.name}")
        for policy in getattr(module, "POLICIES", ()):
            if policy.name in found:
                raise ValueError(f"{module.__name__}: there is a policy {policy.name} already")
            if policy.start not in STARTS:
                raise ValueError(f"{module.__name__}: {policy.name}: no start {policy.start}")
            found[policy.name] = policy
    first = {name: found[name] for name in _FIRST if name in found}
    return first | found


POLICIES: dict[str, Policy] = _find()
