# SPDX-License-Identifier: GPL-2.0
"""Tests that make memory scarce on this host itself: whether they can, and what they leave."""

import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.lab import BUILD
from bench.native import NativeError, host


def why_not() -> str:
    """Why such runs are not possible here; empty: they are."""
    if os.geteuid():
        return "not root"
    try:
        host._place()
    except NativeError as error:
        return str(error)
    return ""


WHY_NOT = why_not()


def on_host(test: Callable) -> Callable:
    """For such a test. Files of tests run side by side, such tests do not."""
    alone = pytest.mark.usefixtures("alone_on_host")
    return pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)(alone(test))


@pytest.fixture
def alone_on_host() -> Iterator[None]:
    """bench-host refuses to run twice."""
    BUILD.mkdir(exist_ok=True)
    with open(BUILD / ".host.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def nothing_is_left() -> bool:
    """As before: no cgroup, no swap of ours."""
    roots = [host._place()[0], *(where for where, _ in host._mounts("cgroup2"))]
    swaps = Path("/proc/swaps").read_text("ascii")
    return host.NAME not in swaps and not [
        left for root in roots for left in root.glob(f"{host.NAME}*")
    ]
