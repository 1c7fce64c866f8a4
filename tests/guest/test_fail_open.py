# SPDX-License-Identifier: GPL-2.0
"""Abuse and failures, after which everything must run."""

from tests.guest import harness

GROUP = harness.Group(
    "fail-open",
    programs=("test_abuse", "test_failopen", "test_swap_fails"),
)


def test_case(guest_case: harness.Case) -> None:
    """One test of one program."""
    guest_case.check()


def test_guest(guest_run: harness.Run) -> None:
    """The programs ended well, and the kernel had no complaint."""
    guest_run.check()
