# SPDX-License-Identifier: GPL-2.0
"""One run: bench/driver starts the jobs and watches them; we watch that the host stays usable.

A run that hurts is ended: its processes are killed, and the reason becomes part of the result.
"""

import contextlib
import ctypes
import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.lab.experiment import Job, Json
from bench.native import NativeError, host, suites
from bench.native.policies import Policy

SAMPLE = 0.1  # s, the resolution of pauses
_LOOK = 1.0  # s between two looks at the host
# A look that is so late: the host hardly answers. The driver and we have real-time priority and
# locked memory, so a shell is worse off.
_LATE = 10.0
_MEMORY_LEFT = 0.03  # of the host's memory outside the jobs' limit
_SWAP_LEFT = 0.02  # below it the OOM killer is near, which may take a program of the host
_GRACE = 20.0  # s for the driver to end its jobs
_AFTER_LIMIT = 90.0  # s for its last figures
_WAKE = 0.01  # s between two tries for a task that gets no memory: a page is written in less
# Of a shell: its name is the cgroup's file, its arguments are the command.
_ENTER = 'echo $$ >"$0" && exec "$@"'
# A program that acts upon all processes that it finds finds only the run's. It may write to these.
_ALONE = (
    *("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "/bin/sh", "-c"),
    'mount -t tmpfs none /var/log && exec "$0" "$@"',
)
_MLOCK_CURRENT, _MLOCK_FUTURE = 1, 2


Said = Callable[[Path, str], None]


class HurtsError(Exception):
    """Why the run was ended."""


@dataclass(frozen=True)
class Scarcity:
    """How memory is made scarce: by the group's limit, or by a balloon.

    @room: the limit, or 0; @balloon: bytes that it leaves for programs, or 0.
    """

    group: host.Limit
    room: int
    balloon: int


@contextlib.contextmanager
def on_time() -> Iterator[None]:
    """We run on time, and do not wait for swap, whatever the jobs do."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mlockall(_MLOCK_CURRENT | _MLOCK_FUTURE):
        raise NativeError(f"mlockall: {os.strerror(ctypes.get_errno())}: run it as root")
    policy, param = os.sched_getscheduler(0), os.sched_getparam(0)
    os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(2))
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, param)
        libc.munlockall()


def _enter(directory: Path) -> list[str]:
    return ["/bin/sh", "-c", _ENTER, str(directory / "cgroup.procs")]


def _input(jobs: list[Job], policy: Policy, limit: float, scarcity: Scarcity) -> Json:
    group = scarcity.group
    enter = _enter(group.jobs) if group.jobs != group.run else []
    return {
        "free_mib": scarcity.balloon >> 20,
        "limit": limit,
        "sample": SAMPLE,
        "start": policy.start,
        "batches": [],
        "daemon": policy.daemon,
        "after": policy.after,
        "watch": ["kswapd", *policy.watch],
        "jobs": [
            {
                "name": job.name,
                "command": [*enter, *job.command],
                "each": job.each,
                "resident": False,
                "endless": False,
                "delay": 0,
                "environment": {},
            }
            for job in jobs
        ],
    }


def _check_host(since: float, scarcity: Scarcity) -> None:
    late = time.monotonic() - since - _LOOK
    if late > _LATE:
        raise HurtsError(f"the host did not answer for {late:.0f} s")
    memory, swap = host.meminfo("MemAvailable"), host.meminfo("SwapFree")
    if not scarcity.balloon and memory < _MEMORY_LEFT * host.meminfo("MemTotal"):
        raise HurtsError(f"only {memory >> 20} MiB were left outside the jobs' limit")
    if swap < _SWAP_LEFT * host.meminfo("SwapTotal"):
        raise HurtsError("swap is nearly full: give it more with --swap-size")


def _kill(group: host.Limit) -> None:
    """Everything that the run has started."""
    until = time.monotonic() + _GRACE
    while (pids := group.processes()) and time.monotonic() < until:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


class _Watch:
    """What the driver says, as it comes; looks at the host and at the limit meanwhile.

    @without_memory: s, for which a task had to wait as reclaim found nothing.
    """

    def __init__(self, driver: subprocess.Popen, limit: float, scarcity: Scarcity) -> None:
        self._driver = driver
        self._end = time.monotonic() + limit + _AFTER_LIMIT
        self._scarcity = scarcity
        self.without_memory = 0.0

    def _look(self, due: float) -> None:
        _check_host(due - _LOOK, self._scarcity)
        if due > self._end:
            raise HurtsError("the driver does not end")

    def lines(self) -> Iterator[str]:
        """Until it ends."""
        assert self._driver.stdout
        group = self._scarcity.group
        step = _WAKE if group.can_wait else _LOOK
        look = time.monotonic() + _LOOK
        rest = b""
        with selectors.DefaultSelector() as ready:
            ready.register(self._driver.stdout, selectors.EVENT_READ)
            while True:
                if ready.select(max(0.0, min(step, look - time.monotonic()))):
                    data = os.read(self._driver.stdout.fileno(), 1 << 16)
                    if not data:
                        return
                    *lines, rest = (rest + data).split(b"\n")
                    yield from (line.decode(errors="replace") for line in lines)
                if group.can_wait and group.wake():
                    self.without_memory += step
                if time.monotonic() >= look:
                    self._look(look)
                    look = time.monotonic() + _LOOK


def _drive(watch: _Watch, said: Callable[[str], None]) -> Json:
    data: Json = {}
    for line in watch.lines():
        if line.startswith("drive: result "):
            data = json.loads(line.removeprefix("drive: result "))
        elif line.startswith("drive: error "):
            raise NativeError(f"the driver: {line.removeprefix('drive: error ')}")
        else:
            said(line)
    return data and {**data, "without_memory": watch.without_memory}


def _end(driver: subprocess.Popen) -> None:
    """The driver, or that which waits for it: unshare."""
    children = Path(f"/proc/{driver.pid}/task/{driver.pid}/children")
    with contextlib.suppress(OSError):
        if Path(f"/proc/{driver.pid}/comm").read_text("utf-8").strip() == "unshare":
            for pid in children.read_text("ascii").split():
                os.kill(int(pid), signal.SIGTERM)
            return
    driver.terminate()


def run(
    jobs: list[Job],
    policy: Policy,
    scarcity: Scarcity,
    limit: float,
    said: Said = lambda directory, line: None,
) -> Json:
    """The driver's outcome (bench/driver/README.md); `hurt` says why a run was ended early.

    @said: called each second, with the driver's directory and its line.
    """
    with tempfile.TemporaryDirectory(prefix="mts-bench-", dir="/dev/shm") as folder:
        directory = Path(folder)
        (directory / "jobs.json").write_text(
            json.dumps(_input(jobs, policy, limit, scarcity)), "utf-8"
        )
        log = directory / "driver.log"
        with (
            policy.prepared(directory, scarcity.group, scarcity.room) as environment,
            open(log, "wb") as errors,
        ):
            driver = subprocess.Popen(
                [
                    *_enter(scarcity.group.run),
                    *(_ALONE if policy.alone else ()),
                    *(suites.program("labdrive"), "--directory", directory / "run"),
                    *("--mtsctl", suites.program("mtsctl"), directory / "jobs.json"),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **environment},
                start_new_session=True,
            )
            try:
                watch = _Watch(driver, limit, scarcity)
                data = _drive(watch, lambda line: said(directory / "run", line))
                if not data:
                    raise NativeError(f"the driver: {log.read_text('utf-8', 'replace').strip()}")
                return data
            except HurtsError as why:
                return {"hurt": str(why)}
            finally:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    _end(driver)
                    driver.wait(_GRACE if driver.poll() is None else 0)
                _kill(scarcity.group)
                driver.wait()
