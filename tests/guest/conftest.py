# SPDX-License-Identifier: GPL-2.0
"""Gives test files the fixtures guest_case and guest_run, from their GROUP; see harness.py."""

import pytest

from tests.guest import harness


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One guest_case for each test that the group's programs list."""
    if "guest_case" in metafunc.fixturenames:
        cases = metafunc.module.GROUP.cases()
        names = [f"{program}-{name}" for program, name in cases]
        metafunc.parametrize("guest_case", cases, ids=names, indirect=True)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Tests of a slow group are marked so; see harness.py."""
    group = getattr(getattr(item, "module", None), "GROUP", None)
    if group and group.slow:
        item.add_marker(pytest.mark.slow(group.slow))


@pytest.fixture(scope="module")
def guest_run(request: pytest.FixtureRequest) -> harness.Run:
    """The guest of the test file's GROUP, booted."""
    return harness.run(request.module.GROUP)


@pytest.fixture
def guest_case(request: pytest.FixtureRequest, guest_run: harness.Run) -> harness.Case:
    """One test of the group."""
    program, name = request.param
    return harness.Case(guest_run, program, name)
