# SPDX-License-Identifier: GPL-2.0
"""Every test program is run by somebody, and no long file begins last."""

import importlib
from pathlib import Path

from tests import order
from tests.guest import harness

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent


def groups() -> dict[str, harness.Group]:
    """All of them, by the name of their file."""
    files = sorted(path.stem for path in HERE.glob("test_*.py"))
    modules = {name: importlib.import_module(f"tests.guest.{name}") for name in files}
    return {name: its.GROUP for name, its in modules.items() if hasattr(its, "GROUP")}


def test_every_program_is_in_one_group() -> None:
    """A program in no group passes because no job runs it."""
    run = sorted(program for group in groups().values() for program in group.programs)
    assert run == sorted(path.stem for path in HERE.glob("test_*.c"))


def test_every_guest_of_make_test_begins_early() -> None:
    """A file that is renamed would fall behind all others."""
    assert all((TESTS / name).is_file() for name in order.LONGEST)
    boot = {f"guest/{name}.py" for name, group in groups().items() if not group.slow}
    assert boot <= set(order.LONGEST)


def test_the_longest_begin() -> None:
    """And the others stay in their order."""
    first, second = order.LONGEST[:2]
    names = ["unit/a.py", second, "bench/b.py", first]
    assert sorted(names, key=order.rank) == [first, second, "unit/a.py", "bench/b.py"]


def test_only_what_was_selected_is_run() -> None:
    """By name, and no program of which nothing is; a program that has none is not waited for."""
    group = harness.Group("some", ("test_a", "test_b"), chosen=(("test_b", "x"), ("test_b", "y")))
    assert group.commands() == {"test_b": ["test_b", "x", "y"]}
    assert "/lab/tests/test_b x y >" in harness.main_script(group)
    assert "test_a" not in harness.main_script(group)


def test_all_are_run_where_nothing_was_selected() -> None:
    """As on_kernel.py does it."""
    group = harness.Group("some", ("test_a", "test_b"))
    assert group.commands() == {"test_a": ["test_a"], "test_b": ["test_b"]}


def test_each_program_has_a_test_that_is_not_slow() -> None:
    """`make test` would leave the program out."""
    for group in groups().values():
        for program in () if group.slow else group.programs:
            assert not all(harness.list_tests(program).values()), program
