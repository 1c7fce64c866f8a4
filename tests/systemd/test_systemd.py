# SPDX-License-Identifier: GPL-2.0
"""mts on a host with systemd, logind, podman and the usual killers: `make test-systemd`."""

import pytest

from tests.guest import harness as guests
from tests.systemd import harness


@pytest.fixture(scope="module")
def run() -> guests.Run:
    """The one boot of the guest, with all tests."""
    if missing := harness.what_is_missing():
        pytest.skip(missing)
    return harness.run()


@pytest.mark.parametrize("name", harness.list_tests())
def test_case(run: guests.Run, name: str) -> None:
    """One test of the guest."""
    guests.Case(run, harness.PROGRAM, name).check()


def test_guest(run: guests.Run) -> None:
    """The tests ended well, the kernel had no complaint, and nothing stayed frozen."""
    run.check()
