# SPDX-License-Identifier: GPL-2.0
"""The order of the test files (order.py), and the signals that programs under test begin with."""

import signal
from pathlib import Path

import pytest

from tests import order

HERE = Path(__file__).resolve().parent

# Whoever is started in the background, or by nohup, ignores them, and so would our children.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first."""
    items.sort(key=lambda item: order.rank(item.path.relative_to(HERE).as_posix()))
