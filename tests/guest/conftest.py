# SPDX-License-Identifier: GPL-2.0
"""Gives test files the fixtures guest_case and guest_run, from their GROUP; see harness.py."""

import dataclasses

import pytest

from tests.guest import harness


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One guest_case for each test that the group's programs list."""
    if "guest_case" in metafunc.fixturenames:
        cases = [
            pytest.param(
                (program, name),
                id=f"{program}-{name}",
                marks=[pytest.mark.slow(why)] if why else [],
            )
            for (program, name), why in metafunc.module.GROUP.cases().items()
        ]
        metafunc.parametrize("guest_case", cases, indirect=True)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Other tests of a slow group are marked so, too; see harness.py."""
    group = getattr(getattr(item, "module", None), "GROUP", None)
    if group and group.slow and not item.get_closest_marker("slow"):
        item.add_marker(pytest.mark.slow(group.slow))


@pytest.fixture(scope="module")
def guest_run(request: pytest.FixtureRequest) -> harness.Run:
    """The guest of the test file's GROUP, booted, with the tests that pytest selected."""
    chosen = tuple(
        item.callspec.params["guest_case"]
        for item in request.session.items
        if isinstance(item, pytest.Function)
        and item.module is request.module
        and "guest_case" in item.fixturenames
    )
    return harness.run(dataclasses.replace(request.module.GROUP, chosen=chosen))


@pytest.fixture
def guest_case(request: pytest.FixtureRequest, guest_run: harness.Run) -> harness.Case:
    """One test of the group."""
    program, name = request.param
    return harness.Case(guest_run, program, name)
