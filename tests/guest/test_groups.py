# SPDX-License-Identifier: GPL-2.0
"""Every test program is run by somebody."""

import importlib
from pathlib import Path

HERE = Path(__file__).resolve().parent


def test_every_program_is_in_one_group() -> None:
    """A program in no group passes because nobody runs it."""
    files = sorted(path.stem for path in HERE.glob("test_*.py"))
    modules = [importlib.import_module(f"tests.guest.{name}") for name in files]
    groups = [module.GROUP for module in modules if hasattr(module, "GROUP")]
    run = sorted(program for group in groups for program in group.programs)
    assert run == sorted(path.stem for path in HERE.glob("test_*.c"))
