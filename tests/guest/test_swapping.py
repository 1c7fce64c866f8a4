# SPDX-License-Identifier: GPL-2.0
"""Swapping in bulk: the ways out and back, the kinds of swap, and what is worth bringing back."""

from tests.guest import harness

GROUP = harness.Group(
    "swapping",
    programs=("test_kinds", "test_bring_back", "test_use", "test_slow_disk"),
    kernel_modules=("zram", "lzo-rle"),
    zswap=True,
    # At 4 a page takes 260 us to come back. So the processor's part alone makes a disk slow (100 us
    # a page, bring_back.c), and the second that the end of turns has brings back 15 MiB, not 24.
    shift=2,
    slow="slow disks beside a fast processor: four minutes, for how fast pages come and go",
)


def test_case(guest_case: harness.Case) -> None:
    """One test of one program."""
    guest_case.check()


def test_guest(guest_run: harness.Run) -> None:
    """The programs ended well, and the kernel had no complaint."""
    guest_run.check()
