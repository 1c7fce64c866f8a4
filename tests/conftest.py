# SPDX-License-Identifier: GPL-2.0
"""The order of the test files; see order.py."""

from pathlib import Path

import pytest

from tests import order

HERE = Path(__file__).resolve().parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first."""
    items.sort(key=lambda item: order.rank(item.path.relative_to(HERE).as_posix()))
