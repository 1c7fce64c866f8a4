# SPDX-License-Identifier: GPL-2.0
"""What Makefiles have in common."""

import os
import subprocess

import pytest

from bench.lab import ROOT


def makefiles():
    """Those that can be told where to build."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "grep", "-l", r"^BUILD ?=", "--", "*Makefile", "*.mk"],
        text=True,
        stdout=subprocess.PIPE,
        check=True,
    )
    return listed.stdout.split()


@pytest.mark.parametrize("path", makefiles())
def test_one_folder_has_one_name(path):
    """The names of what depends on a header are those by which it was built.

    So after `make` in the folder, `make BUILD=` with the whole path of the same folder did not see
    that a header had changed: objects with two layouts of a struct were linked.
    """
    text = (ROOT / path).read_text()
    assert "\noverride BUILD := $(abspath $(BUILD))\n" in text


def test_a_header_counts_by_whatever_name_the_folder_goes(tmp_path):
    """A small program with a header of its own."""
    folder = ROOT / "bench" / "driver"
    names = (f"BUILD={os.path.relpath(tmp_path, folder)}", f"BUILD={tmp_path}")
    subprocess.run(["make", "-s", "-C", folder, names[0]], check=True)
    for name in names:
        asked = ["make", "-q", "-C", folder, name]
        assert subprocess.run(asked, check=False).returncode == 0
        assert subprocess.run([*asked, "-W", "util.h"], check=False).returncode == 1
