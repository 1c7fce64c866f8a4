# SPDX-License-Identifier: GPL-2.0
"""Models of swap disks.

DISKS are made of null_blk inside the guest. A disk of this kind takes the same time for every
request (of up to 124 KiB), whatever its place, and keeps its data in guest memory, which is
taken before programs run. The time passes on the guest's clock, so it is as exact as that
clock is.

ZRAMS are the kernel's own zram: pages are really compressed, by the guest's processor, and what
they are compressed to is held in the memory that is shared with the programs. So of a zram
nothing is taken beforehand, its size is only an upper limit, and what programs find free
(Setting.free_mib) has to hold both them and what they swapped out. Data that does not compress
gains nothing from it.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Disk:
    """One model: its request takes completion_nsec, hw_queue_depth of them at a time."""

    name: str
    completion_nsec: int
    hw_queue_depth: int
    rotational: int
    mbps: int  # 0: no limit


DISKS = {
    disk.name: disk
    for disk in (
        # 0.85 MB/s at random 4 KiB, 26 MB/s in sequence: Maziero et al., Table 2
        Disk("paper", completion_nsec=4_700_000, hw_queue_depth=1, rotational=1, mbps=0),
        Disk("ssd", completion_nsec=100_000, hw_queue_depth=32, rotational=0, mbps=500),
        Disk("nvme", completion_nsec=20_000, hw_queue_depth=64, rotational=0, mbps=3000),
    )
}

# name -> zram's name of the algorithm, and the kernel modules that may contain it
ZRAMS = {
    "zram": ("lzo-rle", ("lzo-rle",)),  # the kernel's default
    "zram-lz4": ("lz4", ("lz4",)),
    "zram-zstd": ("zstd", ("zstd",)),
}

MODELS = (*DISKS, *ZRAMS)
