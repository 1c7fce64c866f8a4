# SPDX-License-Identifier: GPL-2.0
"""What takes two processors: bins that keep both busy, threads that share a switch."""

from tests.guest import harness

GROUP = harness.Group("processors", programs=("test_processors",), processors=2)


def test_case(guest_case: harness.Case) -> None:
    """One test of one program."""
    guest_case.check()


def test_guest(guest_run: harness.Run) -> None:
    """The program ended well, and the kernel had no complaint."""
    guest_run.check()
