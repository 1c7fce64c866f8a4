# SPDX-License-Identifier: GPL-2.0
"""The host: what it is; memory made scarce; a swap of our own. All of it is undone at the end.

Memory is made scarce in one of two ways:

limit    A memory cgroup (v1 or v2) holds the jobs. Only they feel the shortage, so the host stays
         usable. But kswapd does not work for a limit: each task reclaims for itself. And policies
         that look at the host's free memory (earlyoom) see no shortage. While jobs use all of their
         memory, reclaim under a limit can find only pages that were just used, 16 times in a row.
         Then the kernel kills a job that a host would not have killed. In v1 that is switched off:
         the task waits, and tries again (Limit.wake). A system call fails (ENOMEM, EFAULT). In v2
         it cannot be switched off: a run in which a job was killed counts as failed.
balloon  The driver locks memory until so much is left for programs. It is a real shortage of the
         whole host: kswapd works, and all programs outside the jobs feel it, too.
"""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.native import NativeError

NAME = "mts-bench"
PAGE = os.sysconf("SC_PAGESIZE")
# The highest that swapon takes: pages go to our swap first.
_PRIORITY = 32767
_FULL = 0.9  # of a filesystem: a swap file does not fill it beyond that


@dataclass(frozen=True)
class Host:
    """What figures depend on."""

    kernel: str
    processors: int
    model: str
    memory: int
    huge_pages: str
    swap: str

    def asdict(self) -> dict:
        """For JSON."""
        return asdict(self)


def meminfo(name: str) -> int:
    """A line of /proc/meminfo."""
    for line in Path("/proc/meminfo").read_text("ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise NativeError(f"/proc/meminfo has no {name}")


def describe(swap: str) -> Host:
    """The host, with that swap."""
    cpuinfo = Path("/proc/cpuinfo").read_text("utf-8", errors="replace")
    models = [
        line.partition(":")[2].strip()
        for line in cpuinfo.splitlines()
        if line.startswith("model name")
    ]
    huge = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return Host(
        kernel=os.uname().release,
        processors=len(os.sched_getaffinity(0)),
        model=models[0] if models else os.uname().machine,
        memory=meminfo("MemTotal"),
        huge_pages=huge.read_text("ascii").partition("[")[2].partition("]")[0]
        if huge.exists()
        else "none",
        swap=swap,
    )


# ---- memory ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Limit:
    """A memory cgroup for a run. @size: the limit of the jobs, or None: it only holds them."""

    directory: Path
    version: int
    size: int | None

    @property
    def run(self) -> Path:
        """In it, for processes that are no jobs. A v2 cgroup with children has no processes."""
        return self.directory / "run"

    @property
    def jobs(self) -> Path:
        """For jobs. In v1 the limit is theirs alone: the driver's system calls do not fail."""
        return self.directory / "jobs" if self.version == 1 else self.run

    @property
    def limited(self) -> Path:
        """What has the limit. In v2 jobs of the engine are beside `run`."""
        return self.jobs if self.version == 1 else self.directory

    def processes(self) -> list[int]:
        """Of it and of its children's cgroups."""
        return [
            int(pid)
            for procs in self.directory.rglob("cgroup.procs")
            for pid in procs.read_text("ascii").split()
        ]

    @property
    def can_wait(self) -> bool:
        """Does a task that gets no memory wait? Else the kernel kills one."""
        return self.version == 1 and self.size is not None

    def set_size(self, size: int) -> None:
        """The limit."""
        name = "memory.limit_in_bytes" if self.version == 1 else "memory.max"
        (self.limited / name).write_text(f"{size}\n", "ascii")

    def wake(self) -> bool:
        """Tasks that wait for memory try again. Return: there were some.

        The kernel wakes them when memory is given back. If all wait nothing is, although pages that
        were written meanwhile could be reclaimed. A limit that rises wakes them, too.
        """
        control = (self.limited / "memory.oom_control").read_text("ascii")
        if "under_oom 1" not in control:
            return False
        assert self.size is not None
        now = int((self.limited / "memory.limit_in_bytes").read_text("ascii"))
        self.set_size(now + PAGE)
        # One of them may have taken the page already: then the next call lowers the limit.
        with contextlib.suppress(OSError):
            self.set_size(self.size)
        return True


def _mounts(kind: str) -> Iterator[tuple[Path, list[str]]]:
    for line in Path("/proc/mounts").read_text("utf-8").splitlines():
        _, where, fs, options, *_ = line.split()
        if fs == kind:
            yield Path(where), options.split(",")


def _place() -> tuple[Path, int]:
    """The root of the hierarchy that has the memory controller, and its version."""
    for where, options in _mounts("cgroup"):
        if "memory" in options:
            return where, 1
    for where, _ in _mounts("cgroup2"):
        if "memory" in (where / "cgroup.controllers").read_text("ascii").split():
            return where, 2
    raise NativeError(
        "no memory controller on this host (cgroup_disable=memory?): use --scarce balloon"
    )


def freezer() -> Path:
    """The root of cgroup v2, which has the freezer."""
    for where, _ in _mounts("cgroup2"):
        return where
    raise NativeError("cgroup v2 is not mounted: mount -t cgroup2 none DIR")


@contextlib.contextmanager
def limit(size: int | None) -> Iterator[Limit]:
    """A cgroup whose processes have so much memory together; None: it only holds them."""
    root, version = _place()
    directory = root / NAME
    try:
        directory.mkdir()
    except FileExistsError:
        raise NativeError(
            f"{directory} is there: another bench-host runs, or one was killed; then: "
            f"rmdir {directory}/*/ {directory}"
        ) from None
    except OSError as error:
        raise NativeError(f"{directory}: {error.strerror}: run it as root") from None
    made = Limit(directory, version, size)
    try:
        if version == 2:
            subtree = root / "cgroup.subtree_control"
            if "memory" not in subtree.read_text("ascii").split():
                subtree.write_text("+memory", "ascii")
        for child in {made.run, made.jobs}:
            child.mkdir()
        if size is not None:
            made.set_size(size)
        if made.can_wait:
            (made.limited / "memory.oom_control").write_text("1\n", "ascii")
        yield made
    finally:
        for child in {made.run, made.jobs}:
            if child.exists():
                child.rmdir()
        directory.rmdir()


# ---- swap -----------------------------------------------------------------------------------


def _run(*command: str | Path) -> str:
    try:
        done = subprocess.run(
            [str(word) for word in command], check=True, capture_output=True, text=True
        )
    except FileNotFoundError:
        raise NativeError(f"{command[0]} is missing: apt-get install util-linux") from None
    except subprocess.CalledProcessError as error:
        raise NativeError(f"{command[0]}: {error.stderr.strip()}") from None
    return done.stdout


def _disk_of(directory: Path) -> str:
    """Name of the disk below a directory, for people."""
    source = _run("findmnt", "--noheadings", "--output", "SOURCE,FSTYPE", "--target", directory)
    return " ".join(source.split())


@contextlib.contextmanager
def _swap_on(place: Path) -> Iterator[None]:
    """A file or a device of ours is swap."""
    _run("mkswap", place)
    _run("swapon", "--priority", str(_PRIORITY), place)
    try:
        yield
    finally:
        _run("swapoff", place)


@contextlib.contextmanager
def swap_file(directory: Path, size: int) -> Iterator[str]:
    """A swap file, used before all other swap. Yields its description."""
    path = directory / f"{NAME}.swap"
    free = shutil.disk_usage(directory).free
    if size > free * _FULL:
        raise NativeError(
            f"--swap-on {directory}: a swap of {size >> 20} MiB does not fit, {free >> 20} MiB "
            "are free: choose another folder"
        )
    try:
        fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    except FileExistsError:
        raise NativeError(
            f"{path} is there: another bench-host runs, or one was killed; then: "
            f"swapoff {path}; rm {path}"
        ) from None
    try:
        try:
            os.posix_fallocate(fd, 0, size)
        finally:
            os.close(fd)
        with _swap_on(path):
            yield f"file of {size >> 20} MiB on {_disk_of(directory)}"
    finally:
        path.unlink()


@contextlib.contextmanager
def swap_zram(size: int) -> Iterator[str]:
    """A zram, used before all other swap."""
    add = Path("/sys/class/zram-control/hot_add")
    if not add.exists():
        subprocess.run(["modprobe", "zram"], check=False, capture_output=True)
    if not add.exists():
        raise NativeError("no zram on this host (modprobe zram): use --swap-on DIR")
    number = add.read_text("ascii").strip()
    device, settings = Path(f"/dev/zram{number}"), Path(f"/sys/block/zram{number}")
    try:
        (settings / "disksize").write_text(f"{size}\n", "ascii")
        algorithm = (settings / "comp_algorithm").read_text("ascii")
        with _swap_on(device):
            yield f"zram of {size >> 20} MiB, {algorithm.partition('[')[2].partition(']')[0]}"
    finally:
        (settings / "reset").write_text("1\n", "ascii")
        (add.parent / "hot_remove").write_text(f"{number}\n", "ascii")
