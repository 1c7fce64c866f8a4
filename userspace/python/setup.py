# SPDX-License-Identifier: GPL-2.0
"""For pip, from a checkout: the version is that of module/version.h."""

import re
from pathlib import Path

import setuptools

header = Path(__file__).resolve().parents[2] / "module/version.h"
setuptools.setup(version=re.findall(r'MTS_VERSION "(.*)"', header.read_text(encoding="ascii"))[0])
