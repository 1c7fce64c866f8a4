# SPDX-License-Identifier: GPL-2.0
"""A mtsd on this host, with a cgroup of its own for jobs, and what speaks its protocol."""

import contextlib
import ctypes
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from tests.build import alone

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = Path(os.environ.get("BUILD", ROOT / "build")).resolve()
MTSD, MTSCTL, TOUCHER = BUILD / "mtsd", BUILD / "mtsctl", BUILD / "toucher"
MIB = 1 << 20

STATES = ("off", "idle", "running", "switching", "stopped", "paused")
READ, WRITE = 2, 1


def build() -> None:
    """mtsd, mtsctl and the job that the tests run."""
    with alone():
        for folder in ("mtsd", "mtsctl"):
            subprocess.run(
                ["make", "-s", "-C", ROOT / "userspace" / folder, f"BUILD={BUILD}"], check=True
            )
        flags = ["-O2", "-Wall", "-Wextra", "-Werror"]
        subprocess.run(["gcc", *flags, "-o", TOUCHER, HERE / "toucher.c"], check=True)


def mount() -> Path | None:
    """Where cgroup v2 is."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, where, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(where)
    return None


def command(number: int, size: int, direction: int) -> int:
    """_IOC() of linux/ioctl.h."""
    return direction << 30 | size << 16 | 0xB5 << 8 | number


CONFIG_GET = command(0x01, 64, READ)
CONFIG_SET = command(0x02, 64, WRITE)
JOB_CREATE = command(0x10, 96, READ | WRITE)
JOB_ADD = command(0x11, 40, READ | WRITE)
JOB_REMOVE = command(0x12, 8, WRITE)
JOB_SET = command(0x13, 16, WRITE)
JOB_PAUSE = command(0x14, 16, WRITE)
JOB_WEIGHT = command(0x17, 8, WRITE)
USER_WEIGHT = command(0x18, 8, WRITE)
JOB_TAKE = command(0x15, 104, READ | WRITE)
STATUS = command(0x20, 264, READ)
JOBS = command(0x21, 32, READ | WRITE)
BINS = command(0x22, 32, READ | WRITE)
USERS = command(0x27, 32, READ | WRITE)
THAW = command(0x30, 0, 0)


def stats(size: int) -> int:
    """MTS_IOC_STATS_OF()."""
    return command(0x23, size, READ)


def take_request(pid, *, flags=0, pad=0, pause=0, weight=0, user=0) -> bytes:
    """A struct mts_job_take."""
    return struct.pack("=iIIIQQ64sII", pid, flags, 0, pad, 0, pause, b"", weight, user)


class Client:
    """A connection to mtsd: userspace/mtsd/wire.h."""

    def __init__(self, path: Path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        self.socket.connect(str(path))

    def close(self) -> None:
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def server(self) -> int:
        """The process at the other end."""
        peer = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return struct.unpack("3i", peer)[0]

    def read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def call(self, number: int, argument: bytes = b"", fd: int | None = None):
        """Errno and the reply's bytes."""
        request = [struct.pack("II", number, len(argument)) + argument]
        # One caller too many is told so, and cut off: the reply waits to be read.
        with contextlib.suppress(BrokenPipeError):
            if fd is None:
                self.socket.sendall(request[0])
            else:
                socket.send_fds(self.socket, request, [fd])
        error, size = struct.unpack("iI", self.read(8))
        return error, self.read(size)

    def state(self) -> tuple[str, int]:
        """State, and number of frozen jobs."""
        error, status = self.call(STATUS)
        assert not error
        words = struct.unpack_from("8I", status)
        return STATES[words[1]], words[7]


class Engine:
    """A mtsd: its directory, its cgroups and its jobs."""

    def __init__(self):
        self.dir = Path(tempfile.mkdtemp(prefix="mtsd-test-", dir="/tmp"))
        self.base = mount() / self.dir.name
        self.outside = mount() / f"{self.dir.name}-outside"
        self.outside.mkdir()
        self.log = self.dir / "log"
        self.process: subprocess.Popen | None = None
        self.jobs: list[subprocess.Popen] = []
        self.halted: list[int] = []
        self.before: tuple[object, ...] = ()  # words that execute mtsd

    # ---- mtsd ------------------------------------------------------------------------

    def start(self, *words: str) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self.before, MTSD, "--run-dir", self.dir, f"cgroup_base={self.base}", *words],
                stderr=log,
            )
        until(lambda: self.answers() or self.process.poll() is not None, 10)
        assert self.process.poll() is None, self.log.read_text()

    def answers(self) -> bool:
        """Itself, and not what is left of one that was killed."""
        try:
            with self.client() as client:
                return client.server() == self.process.pid
        except OSError:
            return False

    def client(self) -> Client:
        return Client(self.dir / "socket")

    def guardian(self) -> int:
        """Its process; 0: there is none. Each thread lists the children that it made."""
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            # a thread that ends meanwhile takes its file along
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if pids := (task / "children").read_text().split():
                    return int(pids[0])
        return 0

    def halt_guardian(self) -> None:
        """As if it were stuck. It cannot end itself any more: close() does."""
        self.halted.append(self.guardian())
        os.kill(self.halted[-1], signal.SIGSTOP)

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(20)

    def thaw_left(self) -> subprocess.CompletedProcess:
        """What ExecStopPost does."""
        return subprocess.run(
            [MTSD, "--thaw", "--run-dir", self.dir], capture_output=True, text=True
        )

    def mtsctl(self, *words: object, check: bool = False) -> subprocess.CompletedProcess:
        done = subprocess.run(
            [MTSCTL, "--engine", self.dir / "socket", *map(str, words)],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert not check or not done.returncode, (
            f"{self.process.poll()} {done.stderr}{self.log.read_text()}"
        )
        return done

    # ---- jobs ------------------------------------------------------------------------

    def run(self, *words: object) -> subprocess.Popen:
        """`mtsctl run`, in the background."""
        job = subprocess.Popen(
            [MTSCTL, "--engine", self.dir / "socket", "run", *map(str, words)],
            stderr=subprocess.PIPE,
        )
        self.jobs.append(job)
        return job

    def counter(self, name: str) -> Path:
        return self.dir / f"{name}.count"

    def touch(self, name: str, mib: int) -> subprocess.Popen:
        """A job that writes to so much memory for ever."""
        return self.run("--name", name, TOUCHER, mib, self.counter(name))

    def touch_outside(self, name: str, mib: int, *words: object) -> Path:
        """The same in a cgroup that is no job yet."""
        cgroup = self.outside / name
        cgroup.mkdir()
        procs = cgroup / "cgroup.procs"
        command = " ".join(map(str, (TOUCHER, mib, self.counter(name), *words)))
        self.jobs.append(subprocess.Popen(["/bin/sh", "-c", f"echo 0 >{procs} && exec {command}"]))
        until(lambda: procs.read_text().strip())
        return cgroup

    def pages(self, name: str) -> int:
        """Pages that it has visited so far."""
        try:
            data = self.counter(name).read_bytes()[:8]
        except FileNotFoundError:
            return 0
        return int.from_bytes(data, "little") if len(data) == 8 else 0

    def is_full(self, name: str) -> bool:
        """Has it written to all of its memory?"""
        try:
            data = self.counter(name).read_bytes()[8:16]
        except FileNotFoundError:
            return False
        return any(data)

    def cgroups(self) -> list[Path]:
        tops = [top for top in (self.base, self.outside) if top.is_dir()]
        return [cgroup for top in tops for cgroup in top.iterdir() if cgroup.is_dir()]

    def frozen(self) -> list[str]:
        """Names of cgroups that are asked to freeze."""
        return [c.name for c in self.cgroups() if is_asked(c)]

    def report(self) -> str:
        """What may explain a failure."""
        state = self.mtsctl("status", "--all")
        return f"{self.process.poll()}\n{self.log.read_text()}{state.stdout}{state.stderr}"

    def close(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            try:
                self.stop()
            except subprocess.TimeoutExpired:
                self.stop(signal.SIGKILL)
        for guardian in self.halted:
            os.kill(guardian, signal.SIGKILL)
        for cgroup in self.cgroups():
            (cgroup / "cgroup.kill").write_text("1")
            (cgroup / "cgroup.freeze").write_text("0")
        for job in self.jobs:
            job.kill()
            job.wait()
            if job.stderr:
                job.stderr.close()
        for cgroup in [*self.cgroups(), self.base, self.outside]:
            until(lambda c=cgroup: remove(c))
        left = [*self.cgroups()]
        assert until(lambda: not writers(self.log)), f"left: processes {writers(self.log)}"
        shutil.rmtree(self.dir)
        assert not left, f"left: {left}"


def writers(log: Path) -> list[int]:
    """Processes whose standard error is this file: mtsd and its guardians."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.readlink(process / "fd/2") == str(log):
                found.append(int(process.name))
    return found


def remove(cgroup: Path) -> bool:
    try:
        cgroup.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def is_asked(cgroup: Path) -> bool:
    """Is the cgroup asked to freeze?"""
    try:
        return (cgroup / "cgroup.freeze").read_text().strip() == "1"
    except OSError:
        return False


def until(condition, limit: float = 10, pause: float = 0.01):
    """Wait until it holds. Return: what it says in the end."""
    end = time.monotonic() + limit
    while not (result := condition()):
        if time.monotonic() > end:
            break
        time.sleep(pause)
    return result


class Swap:
    """A swap file on a disk, where there is room for one."""

    def __init__(self, mib: int):
        self.path = Path(tempfile.mkdtemp(prefix="mtsd-swap-", dir="/var/tmp")) / "swap"
        self.path.touch(0o600)
        with self.path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, mib * MIB)
        subprocess.run(["mkswap", self.path], check=True, capture_output=True)
        subprocess.run(["swapon", self.path], check=True, capture_output=True)

    def close(self) -> None:
        subprocess.run(["swapoff", self.path], check=True)
        shutil.rmtree(self.path.parent)


def why_not() -> str | None:
    """Why the engine's tests cannot run on this host."""
    top = mount()
    if os.geteuid():
        return "needs root"
    if not top:
        return "needs cgroup v2"
    probe = top / f"mtsd-probe-{os.getpid()}"
    try:
        probe.mkdir()
    except OSError as error:
        return f"{top}: {error.strerror}"
    has = (probe / "cgroup.freeze").exists()
    probe.rmdir()
    if not has:
        return "cgroup v2 has no freezer"
    # process_madvise(2) with an invalid descriptor: EBADF where the kernel has it.
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(440, -1, None, 0, 0, 0)
    return "the kernel has no process_madvise(2)" if ctypes.get_errno() == 38 else None


def can_swap() -> str | None:
    """Why no swap file can be made."""
    free = shutil.disk_usage("/var/tmp").free
    if free < 8 << 30:
        return "too little room on the disk of /var/tmp"
    memory = Path("/proc/meminfo").read_text()
    available = int(re.search(r"MemAvailable: +(\d+)", memory)[1]) >> 10
    return None if available > 2048 else "less than 2 GiB of memory are available"
