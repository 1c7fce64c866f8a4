# SPDX-License-Identifier: GPL-2.0
"""The daemon of policy `userspace`, on this host, against fakes of /proc and of cgroup files.

In a guest, with a real kernel, it runs in the smoke tests.
"""

import json
import os
import signal
import subprocess
import time

import pytest

from bench.lab import BUILD, ROOT
from tests.build import make

ROTATOR = BUILD / "rotator"
MIB = 1 << 20


@pytest.fixture(scope="module", autouse=True)
def _built():
    make(ROOT / "bench" / "rotator", f"BUILD={BUILD}")


class Fake:
    """A host: its memory, and cgroups below /sys/fs/cgroup/jobs whose files never change."""

    def __init__(self, root, available, scanned=0, swap_free=1024):
        self.root = root
        self.base = root / "sys/fs/cgroup/jobs"
        self.base.mkdir(parents=True)
        proc = root / "proc"
        proc.mkdir()
        (proc / "meminfo").write_text(
            f"MemTotal: {1024 << 10} kB\nMemFree: 0 kB\nMemAvailable: {available << 10} kB\n"
            f"SwapFree: {swap_free << 10} kB\n"
        )
        self.scan(scanned)

    def scan(self, pages, swapped_in=0):
        """What the host's reclaim has looked at, and what was swapped in."""
        path = self.root / "proc/vmstat"
        new = path.with_suffix(".new")
        new.write_text(
            f"pswpin {swapped_in}\npgscan_kswapd {pages}\npgscan_kswapd_x 5\n"
            f"pgscan_direct {2 * pages}\n"
        )
        new.rename(path)

    def job(self, name, *, current=0, swap=0, stat="", pids=(), populated=1, frozen=1):
        """A job, in MiB. `frozen`: what cgroup.events says whatever cgroup.freeze is."""
        path = self.base / name
        path.mkdir()
        files = {
            "memory.current": f"{current * MIB}\n",
            "memory.swap.current": f"{swap * MIB}\n",
            "memory.stat": stat,
            "memory.reclaim": "",
            "cgroup.freeze": "0\n",
            "cgroup.events": f"populated {populated}\nfrozen {frozen}\n",
            "cgroup.procs": "".join(f"{pid}\n" for pid in pids),
        }
        for file, text in files.items():
            (path / file).write_text(text)
        return path

    def process(self, pid, parent, cgroup, name="a b) S 1", state="S"):
        """A process of one thread, which sleeps."""
        task = self.root / f"proc/{pid}/task/{pid}"
        task.mkdir(parents=True)
        text = f"{pid} ({name}) {state} {parent} 1 1 0\n"
        (task / "stat").write_text(text)
        (task.parents[1] / "stat").write_text(text)
        (task.parents[1] / "cgroup").write_text(f"0::/jobs/{cgroup}\n")

    def plan(self, *args):
        done = run("--root", self.root, "--plan", *args)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def run(*args):
    return subprocess.run([ROTATOR, *args], text=True, capture_output=True, timeout=30)


class Daemon:
    """It, in the background; ended by SIGTERM, which must succeed."""

    def __init__(self, fake, *args):
        self.stats = fake.root / "stats.json"
        self._run = subprocess.Popen(
            [ROTATOR, "--root", fake.root, "--stats", self.stats, *args], stderr=subprocess.PIPE
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._run.send_signal(signal.SIGTERM)
        _, said = self._run.communicate(timeout=20)
        assert (self._run.returncode, said) == (0, b"")

    def read(self):
        return json.loads(self.stats.read_text())

    def wait(self, condition):
        deadline = time.monotonic() + 20
        while not (self.stats.exists() and condition()):
            assert self._run.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["slice=2"], "the unit is missing"),
        (["slice=2h"], "not in 0.01..60 s"),
        (["max_pause=100ms"], "max_pause=100ms: not in"),
        (["overhead=5"], "overhead=5: not a percentage"),
        (["overhead=50.1%"], "overhead=50.1%: more than 50%"),
        (["mode=maybe"], "not one of off|auto|always"),
        (["evict="], "evict=: not one of"),
        (["bin=12"], "less than 1 MiB"),
        (["slice_ms=5"], "slice_ms=5: not KEY=VALUE"),
        (["nothing"], "nothing: not KEY=VALUE"),
        (["--bring-back", "perhaps"], "not one of on|off"),
        (["--notice", "event"], "not one of events|poll"),
        (["--poll", "2s"], "not in"),
        (["--each", "a/b"], "not the name of a job"),
        (["--each", ""], "not the name of a job"),
        (["--each", "x" * 64], "not the name of a job"),
        (["--base", "/tmp"], "not below /sys/fs/cgroup"),
    ],
)
def test_what_is_refused(args, why):
    done = run(*args)
    assert done.returncode == 2
    assert why in done.stderr
    assert done.stdout == ""


def test_help_names_every_option():
    done = run("--help")
    assert done.returncode == 0
    for word in (
        "--each",
        "--resident",
        "--bring-back",
        "--notice",
        "slice=",
        "evict=",
        "overhead=",
    ):
        assert word in done.stdout


def test_demand_is_what_is_swapped_too_less_what_can_be_dropped(tmp_path):
    fake = Fake(tmp_path, available=100)
    stat = f"filex 9\nfile {5 * MIB}\nshmem {2 * MIB}\nslab_reclaimable {MIB}\nswapcached {MIB}\n"
    stat += f"zswapped {4 * MIB}\nzswap {3 * MIB}\n"
    fake.job("a", current=20, swap=10, stat=stat)
    plan = fake.plan()
    (job,) = plan["jobs"]
    assert job["demand"] == (20 - (5 - 2) - 1 - 3 + 10 - 1) * MIB
    most = 100 + 20 - 3 - 1 - 3
    assert plan["capacity"] == most * MIB - most * MIB // 16


def test_jobs_are_packed_as_the_module_packs_them(tmp_path):
    fake = Fake(tmp_path, available=0)
    for name, size in (("a", 60), ("b", 50), ("c", 40), ("d", 30)):
        fake.job(name, current=size)
    plan = fake.plan("bin=100M", "slice=4s")
    bins = {job["name"]: job["bin"] for job in plan["jobs"]}
    assert bins["a"] == bins["c"] != bins["b"] == bins["d"]
    slices = sorted((bin_["demand"] // MIB, bin_["slice_ns"]) for bin_ in plan["bins"])
    assert slices == [(80, 3_200_000_000), (100, 4_000_000_000)]
    assert plan["rotates"]


def test_residents_are_in_every_bin_and_off_the_capacity(tmp_path):
    fake = Fake(tmp_path, available=0)
    fake.job("monitor", current=30)
    fake.job("parent", current=10)
    fake.job("a", current=50)
    fake.job("b", current=50)
    plan = fake.plan("bin=100M", "--resident", "monitor", "--each", "parent")
    bins = {job["name"]: job["bin"] for job in plan["jobs"]}
    assert bins["monitor"] is None
    assert bins["parent"] is None
    assert bins["a"] != bins["b"]
    assert plan["resident_demand"] == 40 * MIB
    assert plan["capacity"] == 60 * MIB


def test_a_cgroup_without_processes_is_no_job(tmp_path):
    fake = Fake(tmp_path, available=10)
    fake.job("a", current=50)
    fake.job("empty", current=50, populated=0)
    assert [job["name"] for job in fake.plan()["jobs"]] == ["a"]


@pytest.mark.parametrize(
    ("args", "swap_free", "rotates"),
    [
        (["mode=auto"], 1024, False),  # the host has not reclaimed
        (["mode=always"], 1024, True),
        (["mode=always"], 0, False),  # nowhere to go
        (["mode=off", "bin=60M"], 1024, False),
        (["mode=auto", "bin=60M"], 1024, True),  # the user's word
        (["mode=always", "bin=200M"], 1024, False),  # fits
    ],
)
def test_admission(tmp_path, args, swap_free, rotates):
    fake = Fake(tmp_path, available=0, swap_free=swap_free)
    fake.job("a", current=50)
    fake.job("b", current=50)
    args = [*args] if "bin" in args[-1] else [*args, "bin=auto"]
    assert fake.plan(*args)["rotates"] is rotates


def freezes(fake):
    return {path.name: (path / "cgroup.freeze").read_text() for path in fake.base.iterdir()}


def test_rotates_and_thaws_everything_at_the_end(tmp_path):
    fake = Fake(tmp_path, available=0)
    for name in ("a", "b"):
        fake.job(name, current=50, pids=(100 if name == "a" else 200,))
    fake.process(100, 1, "a")
    fake.process(200, 1, "b")
    with Daemon(fake, "bin=60M", "slice=100ms", "min_slice=10ms", "--bring-back", "off") as daemon:
        daemon.wait(lambda: daemon.read()["stats"]["rounds"] >= 2)
        daemon.wait(lambda: sorted(freezes(fake).values()) == ["0", "1"])
        assert daemon.read()["bins"] == 2
    assert freezes(fake) == {"a": "0", "b": "0"}
    stats = daemon.read()["stats"]
    assert stats["switches"] >= 3
    assert stats["freeze_timeouts"] == 0
    # Each eviction asks for the first chunk alone, as the fake does not shrink.
    assert {(fake.base / name / "memory.reclaim").read_text() for name in "ab"} <= {
        "",
        str(8 * MIB),
    }
    assert stats["evict_asked"] > 0
    assert stats["evict_asked"] % (8 * MIB) == 0
    assert stats["evict_got"] == 0


def test_a_job_that_does_not_freeze_is_thawed_and_left_out(tmp_path):
    fake = Fake(tmp_path, available=0)
    fake.job("a", current=50)
    fake.job("b", current=50, frozen=0)
    fake.job("c", current=50, frozen=0)
    with Daemon(fake, "bin=60M", "slice=50ms", "min_slice=10ms") as daemon:
        daemon.wait(lambda: daemon.read()["stats"]["freeze_timeouts"] >= 1)
    assert set(freezes(fake).values()) <= {"0", "0\n"}


def test_rotation_begins_when_the_host_reclaims(tmp_path):
    fake = Fake(tmp_path, available=0, scanned=7)
    fake.job("a", current=50)
    fake.job("b", current=50)
    # the capacity is automatic: what both hold, less a reserve; a third job makes it too much
    (tmp_path / "sys/fs/cgroup/jobs/a/memory.swap.current").write_text(str(50 * MIB))
    with Daemon(fake, "slice=50ms", "min_slice=10ms") as daemon:
        daemon.wait(lambda: True)
        time.sleep(0.5)
        assert daemon.read()["stats"]["rounds"] == 0
        fake.scan(8)
        daemon.wait(lambda: daemon.read()["stats"]["rounds"] >= 1)


def test_a_bin_that_swaps_is_packed_anew(tmp_path):
    """Two of 40 MiB were to fit in 93, and the host reclaims while they swap: they do not."""
    fake = Fake(tmp_path, available=60)
    for pid, name in enumerate("abcd", start=100):
        fake.job(name, current=10, swap=30, pids=(pid,))
        fake.process(pid, 1, name, state="R")
    with Daemon(fake, "mode=always", "slice=60s", "--bring-back", "off") as daemon:
        daemon.wait(lambda: daemon.read()["bins"] == 2)
        assert daemon.read()["capacity"] == 100 * MIB * 15 // 16
        # It comes back, and the host has no need to reclaim.
        fake.scan(0, swapped_in=80 * MIB // 4096)
        time.sleep(0.5)
        assert daemon.read()["stats"]["regroups"] == 0
        fake.scan(1, swapped_in=160 * MIB // 4096)
        daemon.wait(lambda: daemon.read()["bins"] == 4)
        assert daemon.read()["capacity"] == 80 * MIB * 15 // 16
    assert daemon.read()["stats"]["regroups"] == 1


def test_first_process_of_each_stays(tmp_path):
    """A fake directory has no cgroup.procs, so nobody can be moved; the first is not tried."""
    fake = Fake(tmp_path, available=100)
    path = fake.job("make", current=1, pids=(300,))
    fake.process(300, 1, "make")
    with Daemon(fake, "--each", "make", "mode=off", "--poll", "5ms") as daemon:
        daemon.wait(lambda: True)
        time.sleep(0.1)
        assert [entry.name for entry in fake.base.iterdir()] == ["make"]
        fake.process(301, 300, "make")
        (path / "cgroup.procs").write_text("300\n301\n")
        daemon.wait(lambda: any(entry.name.startswith("make.") for entry in fake.base.iterdir()))
    assert daemon.read()["stats"]["split"] == 0


def test_does_not_touch_a_real_process_of_a_fake_host(tmp_path):
    """The numbers in a fake cgroup.procs are those of others here."""
    fake = Fake(tmp_path, available=200)
    fake.job("a", current=50, pids=(os.getpid(),))
    fake.job("b", current=50, pids=(os.getpid(),))
    with Daemon(fake, "bin=60M", "slice=50ms", "min_slice=10ms") as daemon:
        daemon.wait(lambda: daemon.read()["stats"]["switches"] >= 2)
    assert daemon.read()["stats"]["brought_back"] == 0
