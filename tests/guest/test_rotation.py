# SPDX-License-Identifier: GPL-2.0
"""The rotation: turns, slices, what is evicted, and what is left alone."""

from tests.guest import harness

GROUP = harness.Group(
    "rotation",
    programs=(
        "test_rotor",
        "test_limits",
        "test_cgroup_limits",
        "test_spared",
        "test_evict",
        "test_overlap",
    ),
)


def test_case(guest_case: harness.Case) -> None:
    """One test of one program."""
    guest_case.check()


def test_guest(guest_run: harness.Run) -> None:
    """The programs ended well, and the kernel had no complaint."""
    guest_run.check()
