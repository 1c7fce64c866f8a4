# SPDX-License-Identifier: GPL-2.0
"""Tests that make memory scarce on this host itself: whether they can, and what they leave."""

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

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
LOCK = Path(tempfile.gettempdir()) / "mts-bench-tests.lock"


def on_host(test: Callable) -> Callable:
    """For such a test. Files of tests run side by side, such tests do not."""
    alone = pytest.mark.usefixtures("alone_on_host")
    return pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)(alone(test))


@pytest.fixture
def alone_on_host() -> Iterator[None]:
    """bench-host refuses to run twice on a host, whichever clone it is of."""
    lock = os.open(LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (host._place()[0] / host.NAME).exists():
            pytest.skip("another bench-host runs on this host")
        yield
    finally:
        os.close(lock)


def nothing_is_left() -> bool:
    """As before: no cgroup, no swap of ours."""
    roots = [host._place()[0], *(where for where, _ in host._mounts("cgroup2"))]
    swaps = Path("/proc/swaps").read_text("ascii")
    return host.NAME not in swaps and not [
        left for root in roots for left in root.glob(f"{host.NAME}*")
    ]
