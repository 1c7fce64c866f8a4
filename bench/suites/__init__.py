# SPDX-License-Identifier: GPL-2.0
"""What is measured. Every module of this folder with a SUITE (an instance) is a suite."""

import importlib
import pkgutil

from bench.lab.experiment import Suite


def _find() -> dict[str, Suite]:
    found: dict[str, Suite] = {}
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        module = importlib.import_module(f"{__name__}.{info.name}")
        suite = getattr(module, "SUITE", None)
        if suite is None:
            continue  # what suites share
        if suite.name in found:
            raise ValueError(f"{module.__name__}: there is a suite {suite.name} already")
        found[suite.name] = suite
    return found


SUITES: dict[str, Suite] = _find()
