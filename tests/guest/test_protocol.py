# SPDX-License-Identifier: GPL-2.0
"""/dev/mts command by command, jobs, load and unload."""

from tests.guest import harness

GROUP = harness.Group(
    "protocol",
    programs=("test_ioctl", "test_enrol", "test_jobs", "test_leaves", "test_many", "test_load"),
    kernel_modules=("evdev",),
)


def test_case(guest_case: harness.Case) -> None:
    """One test of one program."""
    guest_case.check()


def test_guest(guest_run: harness.Run) -> None:
    """The programs ended well, and the kernel had no complaint."""
    guest_run.check()
