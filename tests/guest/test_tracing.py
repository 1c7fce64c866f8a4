# SPDX-License-Identifier: GPL-2.0
"""The trace events, and trace-cmd as Debian has it."""

from tests.guest import harness

GROUP = harness.Group(
    "trace",
    programs=("test_trace",),
    tools=("trace-cmd",),
    slow="a minute and a half; tests/kernelshark, which is not slow, records the events as well",
)


def test_case(guest_case: harness.Case) -> None:
    """One test of the program."""
    guest_case.check()


def test_guest(guest_run: harness.Run) -> None:
    """The program ended well, and the kernel had no complaint."""
    guest_run.check()
