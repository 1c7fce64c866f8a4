# SPDX-License-Identifier: GPL-2.0
"""What people use, and what is real-time: thawed at once, and in every bin."""

from tests.guest import harness

GROUP = harness.Group(
    "interactive",
    programs=("test_interactive",),
    kernel_modules=("evdev", "uinput", "sunrpc"),
)


def test_case(guest_case: harness.Case) -> None:
    """One test of one program."""
    guest_case.check()


def test_guest(guest_run: harness.Run) -> None:
    """The program ended well, and the kernel had no complaint."""
    guest_run.check()
