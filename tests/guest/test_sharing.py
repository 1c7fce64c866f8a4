# SPDX-License-Identifier: GPL-2.0
"""Policies without turns: memory is short, all jobs run, and mts shares what there is."""

from tests.guest import harness

GROUP = harness.Group("sharing", programs=("test_policy", "test_token", "test_auto"))


def test_case(guest_case: harness.Case) -> None:
    """One test of one program."""
    guest_case.check()


def test_guest(guest_run: harness.Run) -> None:
    """The programs ended well, and the kernel had no complaint."""
    guest_run.check()
