# SPDX-License-Identifier: GPL-2.0
"""The laboratory: guests whose time, disk and memory are known exactly.

kernel.py   a stock Debian kernel, unpacked below build/kernel/
image.py    an initramfs of static programs and kernel modules
init.sh     the guest's PID 1
disks.py    the models of swap disks
guest.py    runs QEMU and reads what the guest reports
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


class LabError(Exception):
    """Something that the user can do something about; its text is the message."""
