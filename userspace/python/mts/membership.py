# SPDX-License-Identifier: GPL-2.0
"""Make a job of this process, for a while.

Neither the module nor mtsd moves a running process into a job of its own on behalf of a child: they
refuse the parents of mtsctl. But a process may move itself to any cgroup that it may write to. So a
helper becomes the job, by `mtsctl run`; this process joins it in its cgroup; and the helper ends.
At the end this process moves back to where it was.

A second process waits where this one was: systemd removes a scope or a service that is empty.
"""

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mts import errors

_inside = threading.Lock()

# Says that it is in the job, and ends with its standard input.
HELPER = ("sh", "-c", "echo && exec cat >/dev/null")


@dataclass(frozen=True)
class Membership:
    """The job that this process is for a while."""

    name: str
    cgroup: str  # as Job.cgroup: below the cgroup root


def mount() -> Path:
    """Where cgroup v2 is mounted."""
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words[words.index("-") + 1] == "cgroup2":
            return Path(words[4])
    raise errors.MtsError("there is no cgroup v2 on this host", 1)


def cgroup_of(pid: int | str) -> str:
    """The path of its cgroup, below the cgroup root."""
    for line in Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines():
        if line.startswith("0::"):
            return line[3:]
    raise errors.MtsError(f"process {pid} is in no cgroup v2", 1)


def move(cgroup: str) -> None:
    """Move this process there, with all of its threads."""
    procs = mount() / cgroup.lstrip("/") / "cgroup.procs"
    try:
        procs.write_text("0", encoding="ascii")
    except PermissionError as error:
        text = f"this process may not move to {cgroup}: {error.strerror}"
        raise errors.NotPermittedError(text, 4) from error
    except OSError as error:
        raise errors.MtsError(f"cannot move to {cgroup}: {error.strerror}", 1) from error


@contextlib.contextmanager
def waiting(
    command: Sequence[str], process_group: int | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A process that ends when its standard input does: at the latest with this process."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        process_group=process_group,
    )
    try:
        yield process
    finally:
        # To close its input is not enough: what this process has forked has it open, too.
        if process.returncode is None:
            process.kill()
            process.communicate()


def join(run: Sequence[str]) -> str:
    """Make the job, and move there. Return: its cgroup."""
    # The words of this program tell the module which command it is, for what it will need.
    command = [*run, "--", *HELPER, *sys.orig_argv]
    with waiting(command) as helper:
        assert helper.stdout
        if not helper.stdout.readline():
            _, said = helper.communicate()
            raise errors.of_tool(said, helper.returncode, command)
        cgroup = cgroup_of(helper.pid)
        move(cgroup)
    return cgroup


@contextlib.contextmanager
def member(run: Sequence[str]) -> Iterator[Membership]:
    """Be a job, made by the command `run`, for the body of a with statement."""
    if not _inside.acquire(blocking=False):
        raise RuntimeError("this process is a job already: a process can be one only")
    try:
        home = cgroup_of("self")
        # In a group of its own: Ctrl-C does not end it.
        with waiting(["cat"], process_group=0):
            try:
                cgroup = join(run)
                yield Membership(name=os.path.basename(cgroup), cgroup=cgroup)
            finally:
                # Also if Ctrl-C came between the move and the body.
                if cgroup_of("self") != home:
                    move(home)
    finally:
        _inside.release()
