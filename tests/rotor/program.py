# SPDX-License-Identifier: GPL-2.0
"""The programs of this folder."""

import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent.parent / "build" / "rotor"
TIMEOUT = 1200


def rotor(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the harness; its output is the report of a failure."""
    return subprocess.run(
        [BUILD / name, *arguments], capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
