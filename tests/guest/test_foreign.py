# SPDX-License-Identifier: GPL-2.0
"""Freezes that other processes ask for."""

from tests.guest import harness

GROUP = harness.Group("foreign", programs=("test_foreign",))


def test_case(guest_case: harness.Case) -> None:
    """One test of one program."""
    guest_case.check()


def test_guest(guest_run: harness.Run) -> None:
    """The program ended well, and the kernel had no complaint."""
    guest_run.check()
