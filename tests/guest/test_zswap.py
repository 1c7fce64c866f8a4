# SPDX-License-Identifier: GPL-2.0
"""Swapping through zswap, which keeps evicted pages in memory, made smaller."""

from tests.guest import harness

GROUP = harness.Group(
    "zswap",
    programs=("test_zswap",),
    zswap=True,
    shift=2,  # to compress a page costs as much as to evict it
    slow="an emulated processor compresses 460 MiB, for what Debian has off by default",
)


def test_case(guest_case: harness.Case) -> None:
    """One test of the program."""
    guest_case.check()


def test_guest(guest_run: harness.Run) -> None:
    """The program ended well, and the kernel had no complaint."""
    guest_run.check()
