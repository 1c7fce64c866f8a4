# SPDX-License-Identifier: GPL-2.0
"""What mts is compared with: that each is complete, and started as it should be.

thrash-protect and earlyoom are fetched by the tests that look into them, once, into build/rivals.
"""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from bench.lab import BUILD, ROOT, LabError, elf, experiment, guest, kernel
from bench.policies import POLICIES, packages, rivals
from tests.build import make

NAMES = [policy.name for policy in rivals.POLICIES]
MIB = 1 << 20


@pytest.mark.parametrize("policy", rivals.POLICIES, ids=NAMES)
def test_definitions(policy):
    assert POLICIES[policy.name] is policy
    assert not policy.module
    # the driver is the daemon's parent: no shell stays in between
    assert "exec " in policy.daemon
    assert policy.watch
    # set by the kernel, 15 bytes
    assert all(len(word) <= 15 for word in policy.watch)


def test_importing_fetches_nothing():
    asked = []

    def find():
        asked.append(1)
        return {"a": "text"}

    files = packages.Files(find)
    policy = experiment.Policy("x", "x", files=files)
    assert policy.files is files
    assert not asked
    assert {**policy.files} == {"a": "text"}
    assert len(files) == 1
    assert asked == [1]


def test_what_fails_half_way_leaves_nothing(tmp_path):
    def fail(path):
        (path / "half").touch()
        raise LabError("no")

    with pytest.raises(LabError):
        packages.once("x", fail, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]
    made = packages.once("x", lambda path: (path / "whole").touch(), tmp_path)
    assert (made / "whole").exists()
    assert packages.once("x", fail, tmp_path) == made


def test_a_wheel_of_another_hash_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(packages, "RIVALS", tmp_path)
    with pytest.raises(LabError, match=r"(?i)hash"):
        packages.wheel("thrash-protect", rivals.THRASH_PROTECT, "0" * 64)
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


# ---- what is in the guest ------------------------------------------------------


@pytest.mark.parametrize("name", ["thrash-protect", "earlyoom", "earlyoom-memory"])
def test_closures_are_complete(name):
    files = dict(POLICIES[name].files)
    programs = 0
    there = {Path(place).name for place in files}
    for place, source in files.items():
        wants = elf.needs(source.read_bytes(), place) if isinstance(source, Path) else None
        if not wants:
            continue
        programs += bool(wants.interpreter)
        if wants.interpreter:
            assert wants.interpreter.lstrip("/") in files
        assert {library for library in wants.libraries if library not in there} == set()
    assert programs


def unpack(files, root):
    for place, source in files.items():
        path = root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(source, Path):
            shutil.copy(source, path)
        else:
            path.write_text(source)
            path.chmod(0o755)


def inside(root, *command):
    """A command in a tree that has nothing else."""
    return subprocess.run(
        ["/usr/sbin/chroot", root, *command],
        text=True,
        capture_output=True,
        timeout=60,
        env={"PATH": "/usr/bin:/bin"},
    )


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="chroot wants root")


@needs_root
def test_earlyoom_starts(tmp_path):
    unpack(POLICIES["earlyoom"].files, tmp_path)
    done = inside(tmp_path, "/usr/bin/earlyoom", "-v")
    # it runs as far as /proc, which is not there
    assert done.stderr.startswith("earlyoom v")
    assert "/proc" in done.stderr


@pytest.fixture
def thrash_protect(tmp_path):
    unpack(POLICIES["thrash-protect"].files, tmp_path)
    (tmp_path / "proc").mkdir()
    return tmp_path


@needs_root
def test_thrash_protect_starts_with_all_it_imports(thrash_protect):
    done = inside(thrash_protect, "/usr/local/bin/thrash-protect", "--version")
    assert done.returncode == 0, done.stderr
    # its own metadata is found, no source is
    assert done.stdout.split() == ["thrash-protect", rivals.THRASH_PROTECT]
    assert list(thrash_protect.rglob("*.py")) == []
    imports = "import ctypes, stat, thrash_protect as t; t.get_date_string()"
    done = inside(thrash_protect, "/usr/bin/python3", "-c", imports)
    assert (done.returncode, done.stderr) == (0, "")


@needs_root
@pytest.mark.parametrize(("count", "seen"), [(7, None), (123, 23)])
def test_why_thrash_protect_needs_major_faults(thrash_protect, count, seen):
    """If this fails, its version is newer and the setup's detour may be needless."""
    (thrash_protect / "proc/vmstat").write_text(f"pgmajfault {count}\npswpin 1\npswpout 2\n")
    look = "import thrash_protect as t; print(t.SystemState().pagefaults)"
    done = inside(thrash_protect, "/usr/bin/python3", "-c", look)
    if seen is None:
        assert "ValueError" in done.stderr
    else:
        assert done.stdout.split() == [str(seen)]


# ---- mtsd ------------------------------------------------------------------------

USERSPACE = [policy for policy in POLICIES.values() if "bin/mtsd" in policy.files]

GUEST = """
export LAB_MTS_SETTINGS="mode=always bin=36M slice=100ms min_slice=10ms"
( {setup} ) && mount -t tmpfs tmp /tmp || exit 1
sh -c '{daemon}' & daemon=$!
sleep 1
mtsctl run --each=child --name syn8 -- syn8 -n 8 -a 5M >/tmp/out
status=$?
( {after} && echo ) | sed 's/^/rivals: /' >/dev/ttyS1
kill $daemon && wait $daemon && [ $status = 0 ]
"""


@pytest.mark.parametrize("policy", USERSPACE, ids=[policy.name for policy in USERSPACE])
def test_mtsd_takes_the_settings_catches_children_and_lets_them_take_turns(policy):
    """One processor, a counted clock: with a real-time priority mtsd runs before the children."""
    for folder in ("mtsctl", "mtsd"):
        make(ROOT / "userspace" / folder, f"BUILD={BUILD / 'static'}", "STATIC=1")
    said = []
    verdict = guest.run(
        guest.Spec(
            kernel=kernel.obtain(),
            main=GUEST.format(setup=policy.setup, daemon=policy.daemon, after=policy.after),
            profile=guest.icount(0),
            memory_mib=420,
            swap=guest.Swap("ssd", 160),
            append=policy.append,
            files={**policy.files, "bin/syn8": BUILD / "static" / "syn8"},
        ),
        on_report=said.append,
    )
    assert verdict.good, str(verdict)
    data = json.loads("".join(s.removeprefix("rivals: ") for s in said if "rivals: " in s))
    assert data["status"]["engine"] == "userspace"
    assert data["config"]["slice_ns"] == 100_000_000
    stats = data["stats"]
    assert (stats["jobs_each"], stats["each_missed"]) == (8, 0)
    assert stats["switches"] >= 2
    assert stats["evict_got"] > 8 * MIB
    assert stats["brought_back"] * 4096 > 4 * MIB


def test_mtsd_ends_if_it_does_not_take_the_settings(tmp_path):
    """With stand-ins: mtsctl answers, and refuses what it is told to set."""
    (tmp_path / "mtsctl").write_text("#!/bin/sh\n[ $1 = status ]\n")
    (tmp_path / "mtsd").write_text("#!/bin/sh\nexec sleep 20\n")
    for program in tmp_path.iterdir():
        program.chmod(0o755)
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    words = ["/bin/sh", "-c", POLICIES["userspace"].daemon]
    done = subprocess.run(words, env={**path, "LAB_MTS_SETTINGS": "slice=2"}, timeout=10)
    assert done.returncode == -signal.SIGTERM
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run(words, env=path, timeout=1)
