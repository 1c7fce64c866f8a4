# SPDX-License-Identifier: GPL-2.0
"""How memory is shared out. Each policy is made ready before a run and undone after it."""

import contextlib
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bench.lab import BUILD
from bench.native import NativeError, host, suites
from bench.policies import packages, rivals

DEVICE = Path("/dev/mts")
# What mts says of a run at its end, for the line of the run (and bench/simulate --host).
_AFTER = (
    "stats=$({mtsctl} stats --json) && status=$({mtsctl} status --json) && "
    """printf '{{"stats": %s, "status": %s}}' "$stats" "$status\""""
).format(mtsctl=shlex.quote(str(BUILD / "static" / "mtsctl")))
# Of a limit, what a bin may hold: page tables, kernel memory and what a fault needs are left.
BIN_PART = 0.92
_GRACE = 20.0  # s


@dataclass(frozen=True)
class Policy:
    """One of POLICIES. @start, @daemon, @after, @watch: as in bench/driver/README.md.

    @alone: it acts upon whatever processes it finds, so it finds those of the run alone.
    """

    name: str
    title: str
    start: str = "plain"
    daemon: str = ""
    after: str = ""
    watch: tuple[str, ...] = ()
    alone: bool = False

    @property
    def lacks(self) -> str:
        """Why it cannot be run on this host; empty: it can."""
        return ""

    @contextlib.contextmanager
    def prepared(self, directory: Path, group: host.Limit, room: int) -> Iterator[dict[str, str]]:
        """Ready for a run. Yields variables for its environment.

        @directory: for files; @room: the group's limit, 0: it has none.
        """
        del directory, group, room
        yield {}


@dataclass(frozen=True)
class Daemon(Policy):
    """A program that the first run fetches into build/rivals/.

    It is not installed: its package would start it on this host, too. @command: how a shell starts
    it.
    """

    command: Callable[[], str] = str

    def with_command(self) -> Policy:
        """Ready to run; LabError says why it cannot be fetched."""
        return replace(self, daemon=self.command())


def under_limit(room: int) -> tuple[str, ...]:
    """What mts is told of a limit of so many bytes: words of `mtsctl set`."""
    return f"bin={int(room * BIN_PART)}", "evict=full"


def jobs_of(group: host.Limit) -> Path:
    """The cgroups of the engine's jobs."""
    return (group.directory if group.version == 2 else host.freezer()) / f"{host.NAME}-jobs"


@dataclass(frozen=True)
class Engine(Policy):
    """The module's rotor in user space, a daemon of its own for each run.

    @settings: words of `mtsctl set`. mtsd sees that the host has memory enough, and not the limit.
    So under a limit the size of a bin is set, and that all of a bin is evicted.
    @without: capabilities that a user's mtsd lacks. It keeps the others, as the jobs are root's.
    """

    settings: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @contextlib.contextmanager
    def prepared(self, directory: Path, group: host.Limit, room: int) -> Iterator[dict[str, str]]:
        """Starts mtsd, and ends it; jobs' cgroups are in the group where that is of v2."""
        base = jobs_of(group)
        log = directory / "mtsd.log"
        rights = ",".join(f"-{name}" for name in self.without)
        start = ["setpriv", f"--bounding-set={rights}"] if rights else []
        with open(log, "wb") as out:
            daemon = subprocess.Popen(
                [*start, suites.program("mtsd"), "--run-dir", directory, f"cgroup_base={base}"],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                # A terminal's Ctrl-C is not for it: it ends after its jobs.
                start_new_session=True,
            )
        try:
            socket = directory / "socket"
            _wait_for(socket, daemon, log)
            words = [*self.settings, *(under_limit(room) if room else ())]
            if words:
                subprocess.run(
                    [suites.program("mtsctl"), "--engine", socket, "set", *words], check=True
                )
            yield {"MTS_ENGINE": str(socket)}
        finally:
            daemon.terminate()
            daemon.wait(_GRACE)


def _wait_for(socket: Path, daemon: subprocess.Popen, log: Path) -> None:
    until = time.monotonic() + _GRACE
    while not socket.exists():
        if daemon.poll() is not None or time.monotonic() > until:
            said = log.read_text("utf-8", errors="replace").strip()
            raise NativeError(f"mtsd does not start: {said}")
        time.sleep(0.02)


@dataclass(frozen=True)
class Module(Policy):
    """The module, loaded by the user with the settings that the user wants."""

    @property
    def lacks(self) -> str:
        """The device."""
        return "" if DEVICE.exists() else "the module is not loaded: insmod module/mts.ko"


def _thrash_protect() -> str:
    package = packages.wheel("thrash-protect", rivals.THRASH_PROTECT, rivals.THRASH_PROTECT_SHA256)
    start = "import sys, thrash_protect; sys.exit(thrash_protect.main())"
    return f'exec env PYTHONPATH={shlex.quote(str(package))} {sys.executable} -c "{start}"'


def _earlyoom() -> str:
    return f"exec {shlex.quote(str(packages.debian('earlyoom') / 'usr/bin/earlyoom'))} -r 0"


_ENGINE = Engine(
    name="engine",
    title="mts in user space (mtsd)",
    start="mts",
    after=_AFTER,
    watch=("mtsd", "mts"),
)

POLICIES: dict[str, Policy] = {
    policy.name: policy
    for policy in (
        Policy(name="stock", title="the kernel alone"),
        _ENGINE,
        replace(
            _ENGINE,
            name="engine-bin",
            title="mtsd with step=bin: disjoint bins",
            settings=("step=bin",),
        ),
        replace(
            _ENGINE,
            name="engine-nice",
            title="mtsd of a user, with CAP_SYS_NICE",
            without=("sys_admin",),
        ),
        replace(
            _ENGINE,
            name="engine-user",
            title="mtsd of a user",
            without=("sys_admin", "sys_nice"),
        ),
        Module(
            name="module",
            title="mts, the module",
            start="mts",
            after=_AFTER,
            watch=("mts",),
        ),
        Daemon(
            name="thrash-protect",
            title=f"thrash-protect {rivals.THRASH_PROTECT}, its defaults",
            watch=("thrash-protect",),
            alone=True,
            command=_thrash_protect,
        ),
        Daemon(
            name="earlyoom",
            title="earlyoom, its defaults",
            watch=("earlyoom",),
            alone=True,
            command=_earlyoom,
        ),
    )
}


def chosen(names: list[str]) -> list[Policy]:
    """By name; NativeError says what is wrong with one, and what to do."""
    found = []
    for name in names:
        policy = POLICIES.get(name)
        if not policy:
            raise NativeError(f"no policy {name}: {', '.join(POLICIES)}")
        if policy.lacks:
            raise NativeError(f"policy {name}: {policy.lacks}")
        found.append(policy.with_command() if isinstance(policy, Daemon) else policy)
    return found
