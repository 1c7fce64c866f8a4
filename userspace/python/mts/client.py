# SPDX-License-Identifier: GPL-2.0
"""The commands of mtsctl, as methods."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from mts import errors, load, membership, values
from mts.events import EventStream
from mts.records import Config, Doctor, Job, Plan, Stats, Status, Why
from mts.values import JobName, Size, Time, Word

# Where root's programs are, which PATH of a user does not name.
FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")

# Of configure(): a number is a time there, elsewhere a size.
TIMES = {"slice", "min_slice", "max_pause"}

# EXIT_RUN of mtsctl.h
NOT_STARTED = 125


def program() -> str:
    """The path of mtsctl."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *FOLDERS))
    found = shutil.which("mtsctl", path=path)
    if not found:
        raise errors.NotFoundError("there is no mtsctl: install the package mts-tools", 127)
    return found


def job_options(
    *,
    name: str | None = None,
    size: Size | None = None,
    max_pause: Time | None = None,
    queue: bool = False,
    max_wait: Time | None = None,
    pin: bool = False,
    weight: int | None = None,
    each: bool | str = False,
) -> list[str]:
    """Options of mtsctl run.

    >>> job_options(name="a", size="2G", queue=True, max_wait=60)
    ['--name', 'a', '--size', '2G', '--queue', '--max-wait', '60000000000ns']
    """
    words = [] if name is None else ["--name", name]
    words += [] if size is None else ["--size", values.size(size)]
    words += [] if max_pause is None else ["--max-pause", values.time(max_pause)]
    words += ["--queue"] if queue else []
    words += [] if max_wait is None else ["--max-wait", values.time(max_wait)]
    words += ["--pin"] if pin else []
    words += [] if weight is None else ["--weight", str(weight)]
    return words + values.each(each)


class Client:
    """Asks one engine: "module", "userspace", "user" or the path of a socket of mtsd.

    None: as mtsctl chooses, the module if it is loaded.
    """

    def __init__(self, engine: Word | None = None):
        self.engine = engine

    def command(self, *words: str) -> list[str]:
        """The command line of mtsctl."""
        engine = [] if self.engine is None else ["--engine", os.fspath(self.engine)]
        return [program(), *engine, *words]

    def _call(self, *words: str, good: Sequence[int] = (0,)) -> str:
        command = self.command(*words)
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False
        )
        if done.returncode not in good:
            raise errors.of_tool(done.stderr, done.returncode, command)
        return done.stdout

    # ---- what there is ---------------------------------------------------------------

    def status(self) -> Status:
        """What runs or is frozen, why, and what happens next."""
        return load.record(Status, self._call("status", "--json"))

    def jobs(self) -> list[Job]:
        """The jobs."""
        return list(self.status().jobs)

    def stats(self) -> Stats:
        """The counters since load."""
        return load.record(Stats, self._call("stats", "--json"))

    def why(self, pid: int) -> Why:
        """Whether and why a process is frozen, and for how long."""
        return load.record(Why, self._call("why", "--json", str(pid)))

    def doctor(self) -> Doctor:
        """What keeps the module from loading, or jobs from taking turns; it needs neither."""
        # Status 1: there is a problem.
        return load.record(Doctor, self._call("doctor", "--json", good=(0, 1)))

    def events(self) -> EventStream:
        """Events from now on; without root, and of mtsd, those that can be seen by looking."""
        return EventStream(self.command("watch", "--json"))

    # ---- what would be ---------------------------------------------------------------

    def plan(
        self,
        sizes: Iterable[Size | tuple[Size, int]] = (),
        *,
        cgroups: Iterable[Word] = (),
        pinned_sizes: Iterable[Size | tuple[Size, int]] = (),
        capacity: Size | None = None,
        least_slice: Time | None = None,
        min_slice: Time | None = None,
        max_pause: Time | None = None,
        overhead: str | None = None,
        pack: str | None = None,
        evict: str | None = None,
        switch: Time | None = None,
        swap_speed: Size | None = None,
        processors: int | None = None,
        step: Size | None = None,
        work: Time | None = None,
        queue: bool = False,
    ) -> Plan:
        """Predict bins, slices and pauses: of jobs of these sizes, of cgroups, or of the jobs.

        ("6G", 10) of sizes are ten jobs. The rest are the options of mtsctl plan; least_slice is
        --slice. With sizes it needs no module.
        """
        many = {"--size": sizes, "--pin-size": pinned_sizes}
        words = [
            word
            for option, given in many.items()
            for its in given
            for word in (option, f"{its[0]}x{its[1]}" if isinstance(its, tuple) else str(its))
        ]
        words += [word for path in cgroups for word in ("--cgroup", os.fspath(path))]
        times = {
            "--slice": least_slice,
            "--min-slice": min_slice,
            "--max-pause": max_pause,
            "--switch": switch,
            "--work": work,
        }
        others = {
            "--capacity": capacity,
            "--overhead": overhead,
            "--pack": pack,
            "--evict": evict,
            "--swap-speed": swap_speed,
            "--processors": processors,
            "--step": step,
        }
        for option, time in times.items():
            words += [] if time is None else [option, values.time(time)]
        for option, value in others.items():
            words += [] if value is None else [option, str(value)]
        words += ["--queue"] if queue else []
        return load.record(Plan, self._call("plan", "--json", *words))

    # ---- the configuration -----------------------------------------------------------

    def config(self) -> Config:
        """The configuration."""
        return load.record(Config, self._call("get", "--json"))

    def configure(self, *, save: bool = False, **settings: Time | Size) -> None:
        """Set keys of the configuration, all or none; save keeps them for the next boot.

        Keys and values are those of mtsctl set. A number is seconds for slice, min_slice and
        max_pause, and bytes for bin and step.
        """
        words = [
            f"{key}={values.time(value) if key in TIMES else value}"
            for key, value in settings.items()
        ]
        self._call("set", *(["--save"] if save else []), *words)

    # ---- jobs ------------------------------------------------------------------------

    def add(
        self,
        cgroup: Word | None = None,
        *,
        pid: int | None = None,
        whole: bool = False,
        pin: bool = False,
        max_pause: Time | None = None,
        weight: int | None = None,
        each: bool | str = False,
    ) -> int:
        """Make a job of a cgroup, or of a process. Return: its id.

        With the module a process is a job only if it is alone in its cgroup; whole takes the cgroup
        with the other processes. mtsd makes a job of the process alone.
        """
        words = [] if max_pause is None else ["--max-pause", values.time(max_pause)]
        words += [*values.each(each), *(["--pin"] if pin else []), *(["--yes"] if whole else [])]
        words += [] if weight is None else ["--weight", str(weight)]
        words += [] if pid is None else ["--pid", str(pid)]
        words += [] if cgroup is None else ["--", os.fspath(cgroup)]
        return int(load.parse(self._call("add", "--json", *words))["id"])

    def remove(self, *jobs: JobName) -> None:
        """Thaw jobs and forget them; they run on."""
        self._call("remove", "--", *map(values.job, jobs))

    def pin(self, *jobs: JobName) -> None:
        """Never freeze jobs from now on."""
        self._call("pin", "--", *map(values.job, jobs))

    def unpin(self, *jobs: JobName) -> None:
        """Take jobs back into the rotation."""
        self._call("unpin", "--", *map(values.job, jobs))

    def pause(self, *jobs: JobName, max_pause: Time | None) -> None:
        """Never freeze jobs for longer than this from now on; None: no limit of their own."""
        self._call("pause", "--", *map(values.job, jobs), values.limit(max_pause))

    def weigh(self, *jobs: JobName, weight: int) -> None:
        """Give jobs time in proportion to this from now on: 1 to 10000; 100 is usual."""
        self._call("weight", "--", *map(values.job, jobs), str(weight))

    def weigh_user(self, user: str | int, weight: int) -> None:
        """Give a user, by name or number, time in proportion to this, with share=user."""
        self._call("weight", "--user", str(user), "--", str(weight))

    def thaw(self) -> None:
        """Thaw every job and stop; configure(mode="auto") goes on."""
        self._call("thaw")

    # ---- start jobs ------------------------------------------------------------------

    def _run_words(self, options: Sequence[str], command: Sequence[Word]) -> list[str]:
        return self.command("run", *options, "--", *[os.fspath(word) for word in command])

    def start(
        self,
        command: Sequence[Word],
        *,
        name: str | None = None,
        size: Size | None = None,
        max_pause: Time | None = None,
        queue: bool = False,
        max_wait: Time | None = None,
        pin: bool = False,
        weight: int | None = None,
        each: bool | str = False,
        **popen: Any,
    ) -> subprocess.Popen[Any]:
        """Start a command as a job, by mtsctl run; further arguments are those of Popen.

        The process is mtsctl, which becomes the command. Its status is that of the command, or 125:
        the job was not made; mtsctl has said why on its standard error.
        """
        options = job_options(
            name=name,
            size=size,
            max_pause=max_pause,
            queue=queue,
            max_wait=max_wait,
            pin=pin,
            weight=weight,
            each=each,
        )
        return subprocess.Popen(self._run_words(options, command), **popen)

    def run(
        self,
        command: Sequence[Word],
        *,
        input: str | bytes | None = None,  # noqa: A002 # as subprocess.run() has it
        check: bool = False,
        **arguments: Any,
    ) -> subprocess.CompletedProcess[Any]:
        """Run a command as a job, and wait for it. Arguments are those of start().

        With status 125 NotStartedError is raised: the job was not made. (A command that ends with
        125 itself looks the same.) With check CalledProcessError for any other status but 0.
        """
        if input is not None:
            arguments.setdefault("stdin", subprocess.PIPE)
        with self.start(command, **arguments) as process:
            try:
                out, err = process.communicate(input)
            except BaseException:
                process.kill()
                raise
        if process.returncode == NOT_STARTED:
            said = err.decode(errors="replace") if isinstance(err, bytes) else err
            raise errors.of_tool(
                said or "the job was not made: mtsctl has said why on standard error",
                NOT_STARTED,
                self._run_words((), command),
            )
        done: subprocess.CompletedProcess[Any] = subprocess.CompletedProcess(
            process.args, process.returncode, out, err
        )
        if check:
            done.check_returncode()
        return done

    def job(
        self,
        name: str | None = None,
        *,
        size: Size | None = None,
        max_pause: Time | None = None,
        queue: bool = False,
        max_wait: Time | None = None,
        pin: bool = False,
        weight: int | None = None,
    ) -> contextlib.AbstractContextManager[membership.Membership]:
        """Make a job of this process for the body of a with statement, and of what it starts there.

        It is the whole process, with all threads. With queue the body begins when there is memory.
        Of its memory, only what it allocates in the body counts, and is evicted. Processes that it
        starts in the body stay in the job when the body is over; the job ends with the last one.
        """
        if name is None:
            stem = Path(sys.argv[0] if sys.argv else "").stem
            letters = [c if c.isascii() and (c.isalnum() or c in "._@:+-") else "_" for c in stem]
            name = f"{''.join(letters).lstrip('.')[:40] or 'python'}-{os.getpid()}"
        options = job_options(
            name=name,
            size=size,
            max_pause=max_pause,
            queue=queue,
            max_wait=max_wait,
            pin=pin,
            weight=weight,
        )
        return membership.member(self.command("run", *options))
