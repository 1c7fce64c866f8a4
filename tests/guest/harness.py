# SPDX-License-Identifier: GPL-2.0
"""Runs the C test programs of this directory in a guest, and takes their TAP apart.

A test file is a Group and two functions:

    GROUP = Group("freezer", programs=("test_freeze", "test_thaw"))

    def test_case(guest_case):      # once for each test of each program, if pytest selected it
        guest_case.check()

    def test_guest(guest_run):      # once: plans met, log clean, module unloaded
        guest_run.check()

A guest has one processor and a counted clock (bench/lab/guest.py): what a test waits for comes
after so many milliseconds of the guest, however busy the host is. Where a program needs a second
processor its group says so, and has the host's clock: with it two processors do not boot.

`make test` leaves out what is `slow`, and `make test-all` runs all. A group or a test of one is
slow if it is long and something quicker would most likely notice the same fault: another test here,
or a case of tests/rotor, which runs the same rotor. What mts promises to all is never slow: that
nothing stays frozen, that everything fails open, and that no process outside waits for a frozen
job.

A program is static, lists its tests with --list (one name a line, and `slow` behind slow ones; run
on the host), and otherwise runs those that its arguments name, or all, and prints `1..N`,
`ok N - name`, `not ok N - name # why`, `ok N - name # SKIP why`, and lines of diagnosis that
begin with #.
"""

import functools
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bench.lab import BUILD, ROOT, guest, kernel, programs
from tests.build import alone

PROGRAMS = BUILD / "guest"
STATIC = BUILD / "static"
LOGS = BUILD / "guest-logs"
MODULE = ROOT / "module" / "mts.ko"

_TAP = re.compile(r"(?P<not>not )?ok (?P<number>\d+) - (?P<name>.*?)(?: # (?P<why>.*))?")
_PLAN = re.compile(r"1\.\.(\d+)")


@dataclass(frozen=True)
class Group:
    """Programs that share one boot of a guest, and that guest."""

    name: str
    programs: tuple[str, ...]
    memory_mib: int = 1024
    swap_mib: int = 512  # of the memory, as the swap disk keeps its data there
    disk: str = "ssd"
    module: bool = True
    module_options: str = ""
    tools: tuple[str, ...] = ()  # of the host's packages, in the guest's /usr/bin
    data: tuple[tuple[str, Path], ...] = ()  # more of those: place in the guest, file or folder
    kernel_modules: tuple[str, ...] = ()  # of the kernel's own
    zswap: bool = False  # those that it needs, too; it is off
    seconds: int = 900  # of the guest, for one program; its tests have limits of their own
    processors: int = 1  # 2: with the host's clock
    # 2^4 ns an instruction, 62 million a second: what is waited for costs little. A page costs some
    # 20000 to be evicted and brought back; where a disk is to be slow beside that, less.
    shift: int = 4
    slow: str = ""  # why it is not in `make test`
    chosen: tuple[tuple[str, str], ...] = ()  # programs and tests that are run; none: all

    def cases(self) -> dict[tuple[str, str], str]:
        """Program and test name of every test, as the programs list them, and why it is slow."""
        build("guest-tests")
        return {
            (program, name): self.slow or ("another test is quicker" if slow else "")
            for program in self.programs
            for name, slow in list_tests(program).items()
        }

    def commands(self) -> dict[str, list[str]]:
        """Each program that is run, with its arguments."""
        if not self.chosen:
            return {program: [program] for program in self.programs}
        return {
            program: [program, *(name for its, name in self.chosen if its == program)]
            for program in self.programs
            if any(its == program for its, _ in self.chosen)
        }


def list_tests(program: str) -> dict[str, bool]:
    """The tests of one program, and whether they are slow."""
    command = [PROGRAMS / program, "--list"]
    done = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, timeout=60)
    lines = [line.split(" ") for line in done.stdout.split("\n")[:-1]]
    names = {line[0]: line[1:] == ["slow"] for line in lines}
    if not names or len(names) != len(lines):
        raise ValueError(f"{program} --list: names no test, or one twice: {lines}")
    return names


@functools.cache
def build(*targets: str) -> None:
    """Build what goes into a guest."""
    with alone():
        done = subprocess.run(
            ["make", "-s", "-C", ROOT, *targets],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode:
        pytest.fail(f"make {' '.join(targets)} failed:\n{done.stdout}", pytrace=False)


@dataclass
class Result:
    """What a program said of one test."""

    good: bool
    why: str
    diagnosis: list[str]

    @property
    def skipped(self) -> bool:
        """It could not be run there."""
        return self.good and self.why.upper().startswith("SKIP")


@dataclass
class Output:
    """What one program said."""

    results: dict[str, Result] = field(default_factory=dict)
    plan: int | None = None
    status: int | None = None
    rest: list[str] = field(default_factory=list)  # diagnosis that belongs to no test yet

    def line(self, text: str) -> None:
        """Take one line of TAP."""
        if found := _TAP.fullmatch(text):
            result = Result(not found["not"], found["why"] or "", self.rest)
            self.results[found["name"]] = result
            self.rest = []
        elif found := _PLAN.fullmatch(text):
            self.plan = int(found[1])
        else:
            self.rest.append(text)

    def complaint(self) -> str:
        """What is wrong with the program as a whole; empty if nothing."""
        if self.status is None:
            return "did not end"
        if self.plan != len(self.results):
            return f"planned {self.plan} tests and ran {len(self.results)}"
        failed = any(not result.good for result in self.results.values())
        if self.status and not failed:
            return f"ended with status {self.status} though all its tests passed"
        return ""


@dataclass
class Run:
    """One boot of a group's guest."""

    outputs: dict[str, Output]
    verdict: guest.Verdict
    logs: Path

    def check(self) -> None:
        """Fail the calling test if anything but single tests went wrong."""
        complaints = [
            f"{program} {complaint}"
            for program, output in self.outputs.items()
            if (complaint := output.complaint())
        ]
        if not self.verdict.good:
            complaints.append(str(self.verdict))
        if complaints:
            pytest.fail("\n".join([*complaints, f"logs: {self.logs}"]), pytrace=False)


@dataclass
class Case:
    """One test of one program."""

    run: Run
    program: str
    name: str

    def check(self) -> None:
        """Make the calling test end as this one did."""
        output = self.run.outputs[self.program]
        result = output.results.get(self.name)
        if result is None:
            lines = ["it was not reached", *output.rest, str(self.run.verdict)]
        elif result.skipped:
            pytest.skip(result.why)
        elif result.good:
            return
        else:
            lines = [result.why or "no reason given", *result.diagnosis]
        pytest.fail("\n".join([*lines, f"logs: {self.run.logs}"]), pytrace=False)


def main_script(group: Group) -> str:
    """What the guest runs. Each program's TAP goes to the report, its errors to the console."""
    lines = []
    for program, command in group.commands().items():
        run = f"timeout -s KILL {group.seconds} /lab/tests/{' '.join(command)}"
        lines += [
            f"echo 'test: begin {program}' >/dev/ttyS1",
            f"{run} >/dev/ttyS1",
            f'echo "test: end {program} $?" >/dev/ttyS1',
        ]
    return "\n".join([*lines, "exit 0"])


def spec(group: Group, release: kernel.Kernel | None = None) -> guest.Spec:
    """The group's guest, on that kernel or the ordinary one."""
    release = release or kernel.obtain()
    tests = {f"lab/tests/{program}": PROGRAMS / program for program in group.programs}
    tools = {f"bin/{path.name}": path for path in STATIC.iterdir() if path.is_file()}
    zswap = release.zswap_modules() if group.zswap else ()
    return guest.Spec(
        kernel=release,
        main=main_script(group),
        memory_mib=group.memory_mib,
        swap=guest.Swap(group.disk, group.swap_mib),
        files={**programs.closure(*group.tools, data=dict(group.data)), **tools, **tests},
        module=MODULE if group.module else None,
        module_options=group.module_options,
        kernel_modules=group.kernel_modules + zswap,
        profile=guest.icount(group.shift) if group.processors == 1 else guest.FUNCTIONAL,
        append="loglevel=5",  # console: warnings and worse
        repeatable=False,
        timeout=90.0 + group.seconds * len(group.programs),
    )


@functools.cache
def run(group: Group) -> Run:
    """Boot the group's guest, once."""
    build("static", *(["guest-module"] if group.module else []))
    return boot(group, spec(group), LOGS / group.name)


def boot(group: Group, its: guest.Spec, logs: Path) -> Run:
    """Run a group's programs in a guest, which is as spec() has it or nearly so."""
    outputs = {program: Output() for program in group.commands()}
    current = Output()  # of no program

    def report(line: str) -> None:
        nonlocal current
        words = line.split()
        if words[:2] == ["test:", "begin"]:
            current = outputs[words[2]]
        elif words[:2] == ["test:", "end"]:
            outputs[words[2]].status = int(words[3])
            current = Output()
        elif not line.startswith("lab: "):
            current.line(line)

    verdict = guest.run(its, directory=logs, on_report=report)
    return Run(outputs, verdict, logs)
