# SPDX-License-Identifier: GPL-2.0
"""tools/newer-kernels and tools/debian-root: when a system's making is given up, and what is kept.

In a copy of the tools, with an mmdebstrap that downloads nothing.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bench.lab import ROOT

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="it takes root to make namespaces")

PATIENCE = 2  # s
# Where there is progress: a busy machine may hold it up.
MORE_PATIENCE = 8
STEP = 2.5

# Does the setup hooks, and then what $WORK says, in the folder that is to become the system.
MMDEBSTRAP = """\
#!/bin/bash
set -e
root=${*: -1}
mkdir -p "$root/var/cache/apt/archives/partial" "$root/proc"
for option; do
	case $option in --setup-hook=*) sh -c "${option#*=}" exec "$root" ;; esac
done
cd "$root"
eval "$WORK"
"""
# Kbuild, as far as it is asked for.
CHROOT = """\
#!/bin/sh
touch "$1/tmp/mts/module/mts.ko"
"""
SYSTEM = "mkdir -p tmp usr/src/linux-headers-9.9-amd64"
ARCHIVES = "var/cache/apt/archives"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A checkout: the tools, and a module that git knows."""
    for name in ("newer-kernels", "debian-root"):
        (tmp_path / "tools").mkdir(exist_ok=True)
        shutil.copy(ROOT / "tools" / name, tmp_path / "tools")
    (tmp_path / "module").mkdir()
    (tmp_path / "module/main.c").touch()
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "bin").mkdir()
    for name, text in (("mmdebstrap", MMDEBSTRAP), ("chroot", CHROOT)):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def newer_kernels(here: Path, work: str, patience: int = PATIENCE) -> subprocess.CompletedProcess:
    environment = {
        **os.environ,
        "PATH": f"{here / 'bin'}:{os.environ['PATH']}",
        "PATIENCE": str(patience),
        "WORK": work,
    }
    return subprocess.run(
        [here / "tools/newer-kernels", "suite"],
        env=environment,
        text=True,
        capture_output=True,
        timeout=60,
    )


def mounts_below(here: Path) -> list[str]:
    lines = Path("/proc/self/mounts").read_text().splitlines()
    return [line for line in lines if str(here) in line]


def test_slow_progress_is_not_given_up(here):
    step = f"head -c 100000 /dev/zero >>file; sync file; sleep {STEP}"
    done = newer_kernels(here, f"for _ in 1 2 3 4; do {step}; done; {SYSTEM}", MORE_PATIENCE)
    assert done.stdout == "suite: 9.9-amd64: built\n", done.stderr
    assert (here / "build/newer/suite/mts.ko").exists()


def test_progress_may_be_what_it_says(here):
    step = f"echo unpacking; sleep {STEP}"
    done = newer_kernels(here, f"for _ in 1 2 3 4; do {step}; done; {SYSTEM}", MORE_PATIENCE)
    assert done.returncode == 0, done.stderr


def test_no_progress_is_given_up(here):
    done = newer_kernels(here, "sleep 50")
    assert done.returncode == 2
    assert f"suite: no progress for {PATIENCE} s" in done.stderr
    assert not (here / "build/newer/suite").exists()


def test_what_fails_is_said(here):
    done = newer_kernels(here, "echo E: no such suite; exit 25")
    assert done.returncode == 2
    assert "E: no such suite" in done.stderr


@pytest.mark.parametrize("end", ["exit 1", "sleep 50"])
def test_what_was_downloaded_is_kept(here, end):
    """Packages that are whole, and the one that was being downloaded: the next attempt has them."""
    downloads = f"echo whole >{ARCHIVES}/a.deb; echo part >{ARCHIVES}/partial/b.deb"
    assert newer_kernels(here, f"{downloads}; {end}").returncode == 2
    has_them = f"grep -q whole {ARCHIVES}/a.deb; grep -q part {ARCHIVES}/partial/b.deb"
    done = newer_kernels(here, f"{has_them}; {SYSTEM}")
    assert done.returncode == 0, done.stderr
    root = here / "build/newer/suite"
    assert not [*(root / ARCHIVES).glob("*.deb")]
    assert not (here / "build/newer/.debs/suite").exists()


@pytest.mark.parametrize("end", [SYSTEM, "exit 1", "sleep 50", "sleep 9 & true"])
def test_nothing_stays_mounted(here, end):
    """The system's /proc, which mmdebstrap mounts and may not get rid of."""
    newer_kernels(here, f"mount -t proc proc proc; {end}")
    assert not mounts_below(here)


def test_one_at_a_time(here):
    """Two calls for the same system at the same time: the second one finds it made."""
    work = f"sleep 2; {SYSTEM}"
    command = ["bash", "-c", "tools/newer-kernels suite & tools/newer-kernels suite; wait"]
    environment = {**os.environ, "PATH": f"{here / 'bin'}:{os.environ['PATH']}", "WORK": work}
    done = subprocess.run(
        command, cwd=here, env=environment, text=True, capture_output=True, timeout=60
    )
    assert done.stdout == "suite: 9.9-amd64: built\n" * 2, done.stderr
    assert done.stderr.count("downloading it") == 1
