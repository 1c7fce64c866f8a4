# SPDX-License-Identifier: GPL-2.0
"""Jobs that nearly fit, with the parameter shelter=."""

from tests.guest import harness

GROUP = harness.Group(
    "shelter",
    programs=("test_shelter",),
    slow="two minutes of thrashing, for what is off by default",
)


def test_case(guest_case: harness.Case) -> None:
    """One test of the program."""
    guest_case.check()


def test_guest(guest_run: harness.Run) -> None:
    """The program ended well, and the kernel had no complaint."""
    guest_run.check()
