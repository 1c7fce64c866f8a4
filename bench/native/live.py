# SPDX-License-Identifier: GPL-2.0
"""What a run does at this moment: how far each job is, and whether it is frozen."""

import contextlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.native import host

# struct work_file and struct work_slot of bench/common/work.h
_HEAD = struct.Struct("=II56x")
_SLOT = struct.Struct("=QQ48x")
_MAGIC = 0x574F524B


@dataclass(frozen=True)
class Job:
    """@work: the part of its work that is done, 0 to 1."""

    name: str
    work: float
    frozen: bool


def work_of(data: bytes) -> float:
    """Of a file of work counters: the mean of those that have a goal; 0 before there is one."""
    if len(data) < _HEAD.size:
        return 0.0
    magic, used = _HEAD.unpack_from(data)
    if magic != _MAGIC:
        return 0.0
    slots = [_SLOT.unpack_from(data, _HEAD.size + i * _SLOT.size) for i in range(used)]
    parts = [min(1.0, done / goal) for done, goal in slots if goal]
    return sum(parts) / len(parts) if parts else 0.0


def _is_frozen(cgroup: Path) -> bool:
    with contextlib.suppress(OSError):
        return "frozen 1" in (cgroup / "cgroup.events").read_text("ascii")
    return False


def jobs(directory: Path, names: Sequence[str], cgroups: Path) -> list[Job]:
    """@directory: of the driver (course.run); @cgroups: those of the engine's jobs, by name."""
    found = []
    for name in names:
        try:
            work = work_of((directory / f"{name}.work").read_bytes())
        except FileNotFoundError:
            work = 0.0
        found.append(Job(name, work, _is_frozen(cgroups / name)))
    return found


def swapped() -> int:
    """Bytes that went out and came in since the host started."""
    vmstat = Path("/proc/vmstat").read_text("ascii").splitlines()
    pages = dict(line.split() for line in vmstat)
    return (int(pages["pswpin"]) + int(pages["pswpout"])) * host.PAGE
