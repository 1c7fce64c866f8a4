# SPDX-License-Identifier: GPL-2.0
"""Runs mtsd on this host itself: natively, as root."""

import pytest

from tests.engine import engine as host


@pytest.fixture(scope="session")
def built():
    reason = host.why_not()
    if reason:
        pytest.skip(reason)
    host.build()


@pytest.fixture
def engine(built):
    it = host.Engine()
    yield it
    it.close()


@pytest.fixture(scope="module")
def swap(built):
    reason = host.can_swap()
    if reason:
        pytest.skip(reason)
    try:
        it = host.Swap(1024)
    except (OSError, host.subprocess.CalledProcessError) as error:
        pytest.skip(f"no swap file can be made here: {error}")
    yield it
    it.close()
