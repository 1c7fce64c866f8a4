# SPDX-License-Identifier: GPL-2.0
"""Who waits for a frozen job, and who freezes it: processes outside, and other jobs.

Three programs in one guest, as a boot costs as much as several of their tests.
"""

from tests.guest import harness

GROUP = harness.Group("outside", programs=("test_calls", "test_foreign", "test_waits"))


def test_case(guest_case: harness.Case) -> None:
    """One test of one program."""
    guest_case.check()


def test_guest(guest_run: harness.Run) -> None:
    """The programs ended well, and the kernel had no complaint."""
    guest_run.check()
