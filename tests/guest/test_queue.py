# SPDX-License-Identifier: GPL-2.0
"""The queue: jobs that are held before they begin, with the real module."""

from tests.guest import harness

# 1 ns an instruction: between two jobs of the queue there are some 8 million, which is to be
# little beside what a job takes.
SHIFT = 0
GROUP = harness.Group("queue", programs=("test_queue",), shift=SHIFT)


def test_case(guest_case: harness.Case) -> None:
    """One test of the program."""
    guest_case.check()


def test_guest(guest_run: harness.Run) -> None:
    """The program ended well, and the kernel had no complaint."""
    guest_run.check()
