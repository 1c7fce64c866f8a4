# SPDX-License-Identifier: GPL-2.0
"""What tests build below build/, which files of tests that run side by side have in common."""

import contextlib
import fcntl
import subprocess
from collections.abc import Iterator
from pathlib import Path

from bench.lab import BUILD


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """While this process builds no other one does."""
    BUILD.mkdir(exist_ok=True)
    with open(BUILD / ".tests.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def make(folder: Path, *words: str) -> None:
    """Build in a folder, alone; what fails is raised."""
    with alone():
        subprocess.run(["make", "-s", "-C", folder, *words], check=True)
