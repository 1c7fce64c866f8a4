# SPDX-License-Identifier: GPL-2.0
"""The packages' own tests, packaging/debian/tests, by autopkgtest, as Debian runs them."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bench.lab import ROOT
from tests.build import alone
from tests.engine import engine
from tests.packaging.test_apt import SUITES, build, run, system

TESTS = re.findall(
    r"^Tests: (.*)$", (ROOT / "packaging/debian/tests/control").read_text(), re.MULTILINE
)

pytestmark = [
    pytest.mark.slow("it downloads Debian systems, and DKMS builds the module in each"),
    pytest.mark.skipif(os.geteuid() != 0, reason="it takes root to make systems"),
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="packages are those of a commit"),
]


@pytest.fixture(scope="module")
def packages(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("deb") / "mts")


@pytest.fixture(params=SUITES)
def root(request) -> Path:
    with alone():
        return system(request.param)


def autopkgtest(root: Path, packages: Path, out: Path, *options: str) -> dict[str, str]:
    """What comes of each test, and the exit status."""
    script = ROOT / "tests/packaging/autopkgtest.sh"
    done = subprocess.run(
        ["bash", script, root, packages, out, *options], capture_output=True, text=True
    )
    summary = out / "autopkgtest/summary"
    assert summary.exists(), f"{done.stdout}{done.stderr}"
    results = re.findall(r"^(\S+) +((?:PASS|FAIL|SKIP).*)$", summary.read_text(), re.MULTILINE)
    return {**dict(results), "status": str(done.returncode)}


def expected() -> dict[str, str]:
    """All pass; that of mtsd is skipped where cgroups cannot be frozen."""
    results = dict.fromkeys(TESTS, "PASS") | {"dkms": "PASS (superficial)", "status": "0"}
    if engine.why_not():
        results |= {"mtsd": "SKIP exit status 77 and marked as skippable", "status": "2"}
    return results


def test_they_pass(root, packages, tmp_path):
    """Jobs of mtsd's test take turns if there is swap."""
    assert len(TESTS) == 5
    swap = None if engine.can_swap() else engine.Swap(256)
    try:
        results = autopkgtest(root, packages, tmp_path)
    finally:
        if swap:
            swap.close()
    assert results == expected(), (tmp_path / "autopkgtest/log").read_text()[-5000:]


def test_they_find_a_package_without_a_file(packages, tmp_path):
    """pkg-config does not know libmts."""
    with alone():
        root = system(SUITES[0])
    broken = Path(shutil.copytree(packages, tmp_path / "broken"))
    (package,) = broken.glob("libmts-dev_*.deb")
    run("dpkg-deb", "--raw-extract", package, tmp_path / "unpacked")
    (file,) = (tmp_path / "unpacked").rglob("libmts.pc")
    file.unlink()
    run("dpkg-deb", "--build", tmp_path / "unpacked", package)
    results = autopkgtest(root, broken, tmp_path, "--test-name=libmts")
    assert results["libmts"].startswith("FAIL")
    assert results["status"] == "4"
