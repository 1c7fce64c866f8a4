# SPDX-License-Identifier: GPL-2.0
"""Jobs that wait for each other: pipes, sockets, futexes, locks."""

from tests.guest import harness

GROUP = harness.Group("waits", programs=("test_waits",))


def test_case(guest_case: harness.Case) -> None:
    """One test of one program."""
    guest_case.check()


def test_guest(guest_run: harness.Run) -> None:
    """The program ended well, and the kernel had no complaint."""
    guest_run.check()
