# SPDX-License-Identifier: GPL-2.0
"""The version of mts, as the sources have it."""

import re

from bench.lab import ROOT


def source() -> str:
    """Of module/version.h, which is the one place for it."""
    text = (ROOT / "module/version.h").read_text()
    (found,) = re.findall(r'^#define MTS_VERSION "(\d+\.\d+\.\d+)"$', text, re.MULTILINE)
    return found
