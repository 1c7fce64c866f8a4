# SPDX-License-Identifier: GPL-2.0
"""Runs guests under QEMU, always by its own instruction interpreter (TCG), never by KVM.

Two profiles:

functional  two processors, the host's clock: for tests of what takes two, or a newer kernel
icount      one processor, a clock that counts instructions, and nothing outside the guest that
            could disturb it: the same image gives the same figures to the digit (on a busy
            host times have differed by 4e-6)

The console and the report (see init.sh) are two serial ports that write into files; these are
read line by line as they grow. Writing to a file never blocks, so reading has no influence on
the guest.
"""

import contextlib
import math
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.lab import BUILD, LabError, image
from bench.lab.disks import DISKS, MODELS, ZRAMS
from bench.lab.kernel import Kernel

# Words that a healthy guest's kernel never prints.
BAD_LOG = (
    r"WARNING:|BUG:|BUG |Oops|Call Trace|general protection|Kernel panic|blocked for more than"
    r"|hung_task|rcu:.*(stall|starved)|soft lockup|refcount_t|list_(add|del) corruption"
    r"|mts: bug"
)
_KERNEL_LINE = re.compile(r"\[ *\d+\.\d{6}\]")
_POLL = 0.1  # seconds
_GRACE = 20.0  # seconds from the verdict to the end of QEMU
_STUCK = 300.0  # seconds in which a counted guest's QEMU does next to nothing: it never sleeps


@dataclass(frozen=True)
class Profile:
    """How QEMU runs a guest."""

    name: str
    qemu: tuple[str, ...]
    append: str
    counted: bool = False  # the clock counts instructions: a loaded host only makes it wait


FUNCTIONAL = Profile(
    "functional",
    # In turns: with thread=multi QEMU 7.2 may go on with what it has translated of code that the
    # other processor patches at that moment (a tracepoint that is switched off). The guest's
    # kernel then meets the same int3 for ever.
    ("-accel", "tcg,thread=single", "-smp", "2", "-cpu", "max"),
    # console: warnings and worse
    "loglevel=5",
)


def icount(shift: int = 2) -> Profile:
    """A clock of 2^shift ns an instruction. 2 with disk `paper`, 0 with `ssd` and `nvme`."""
    if not 0 <= shift <= 10:
        raise LabError(f"icount shift {shift}: not in 0..10")
    return Profile(
        f"icount{shift}",
        (
            *("-accel", "tcg,thread=single"),
            *("-icount", f"shift={shift},sleep=off"),
            *("-cpu", "max,-rdrand,-rdseed,-erms,-fsrm"),
            *("-rtc", "base=2025-01-01,clock=vm"),
            *("-smp", "1"),
        ),
        "quiet norandmaps random.trust_cpu=off",
        counted=True,
    )


def side_by_side(processors: int) -> Profile:
    """Processors that are threads of this host: its clock, and no two runs agree."""
    return Profile(
        f"threads{processors}",
        ("-accel", "tcg,thread=multi", "-smp", str(processors), "-cpu", "max"),
        "loglevel=5",
    )


@dataclass(frozen=True)
class Swap:
    """The guest's swap disk. It lives in the guest's memory (disks.py says how)."""

    model: str  # of disks.MODELS
    mib: int


@dataclass(frozen=True)
class Spec:
    """A guest, wholly."""

    kernel: Kernel
    main: str  # a shell script
    profile: Profile = FUNCTIONAL
    memory_mib: int = 768
    # So many times the size of the image is added to memory_mib, and the sum rounded up to 8
    # MiB: with 2 the free memory does not depend on the contents of the image.
    image_copies: int = 0
    swap: Swap | None = None
    files: Mapping[str, Path | str] = field(default_factory=dict)
    module: Path | None = None  # loaded before main, unloaded after it
    module_options: str = ""
    kernel_modules: tuple[str, ...] = ()  # of the kernel's own, loaded while it is made ready
    append: str = ""  # to the kernel's command line
    # Each run gives the same figures to the nanosecond, where the clock is counted. QEMU's boot of
    # an uncompressed kernel (PVH) does not: one of six runs was 28 ms longer. It saves 5 s a boot.
    repeatable: bool = True
    bad_log: str = BAD_LOG  # extended regular expression; kernel messages that spoil the verdict
    # Seconds for the whole run: real ones, or of processor time where the clock is counted.
    timeout: float = 600.0

    def boots(self) -> Path:
        """The kernel's file that QEMU gets."""
        return self.kernel.image if self.repeatable else self.kernel.bootable()


@dataclass(frozen=True)
class Verdict:
    """How a run ended. `error` is empty if the status of main says it all."""

    status: int | None
    error: str
    log: list[str]  # kernel messages that match Spec.bad_log
    seconds: float  # real

    @property
    def good(self) -> bool:
        """The commands succeeded and the kernel had nothing to complain of."""
        return self.status == 0 and not self.error and not self.log

    def __str__(self) -> str:
        lines = [self.error] if self.error else []
        if self.status:
            lines.append(f"exit status {self.status}")
        lines += [f"kernel: {line}" for line in self.log]
        return "\n".join(lines) or "good"


class _Tail:
    """The lines of a file that grows."""

    def __init__(self, path: Path) -> None:
        path.touch()
        self._file = open(path, "rb")  # noqa: SIM115 (closed by close)
        self._rest = b""

    def read(self, last: bool = False) -> list[str]:
        """Lines since the last call; with `last`, also one that has no end."""
        data = self._rest + self._file.read()
        *lines, self._rest = data.split(b"\n")
        if last and self._rest:
            lines.append(self._rest)
            self._rest = b""
        return [line.decode(errors="replace").rstrip("\r") for line in lines]

    def close(self) -> None:
        self._file.close()


class _Spent:
    """Seconds that a guest has had: what its time-outs count.

    With the host's clock they are real. A counted guest is as far as its QEMU has computed, so they
    are QEMU's processor time; a loaded host gives it less of that, and the guest fails nothing.
    """

    def __init__(self, pid: int, counted: bool) -> None:
        self._pid = pid
        self._counted = counted
        self._began = self._moved_at = time.monotonic()
        self._moved = 0.0

    def seconds(self) -> float:
        """Until now."""
        return _processor_seconds(self._pid) if self._counted else time.monotonic() - self._began

    def is_stuck(self) -> bool:
        """Has a counted guest stopped computing?"""
        if not self._counted:
            return False
        now, spent = time.monotonic(), self.seconds()
        if spent > self._moved + 1:
            self._moved, self._moved_at = spent, now
        return now > self._moved_at + _STUCK


def _processor_seconds(pid: int) -> float:
    """That a process has had; it has not been waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Guest:
    """One run of a guest: start it, poll it until it has a verdict, close it.

    Used with `with`: whatever happens, QEMU is gone afterwards.
    """

    def __init__(
        self,
        spec: Spec,
        directory: Path,
        on_console: Callable[[str], None] | None = None,
        on_report: Callable[[str], None] | None = None,
    ) -> None:
        """Write the image into `directory`, where console.log and report.log go as well."""
        self._spec = spec
        self._qemu: subprocess.Popen[bytes] | None = None
        self._on_console = on_console
        self._on_report = on_report
        self._panic: list[str] = []
        self._log: list[str] = []
        self._failed = ""
        self._status: int | None = None
        self._started = 0.0
        self._spent: _Spent | None = None
        self._verdict_at: float | None = None  # in seconds spent
        self.verdict: Verdict | None = None
        directory.mkdir(parents=True, exist_ok=True)
        self._image = directory / "initramfs.cpio"
        self._qemu_log = directory / "qemu.log"
        self._paths = (directory / "console.log", directory / "report.log")
        for path in self._paths:
            path.unlink(missing_ok=True)
        self._tails = tuple(_Tail(path) for path in self._paths)
        self._make_image()

    def __enter__(self) -> "Guest":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start QEMU."""
        program = shutil.which("qemu-system-x86_64")
        if not program:
            raise LabError("QEMU is not installed: apt-get install qemu-system-x86")
        command = [program, *self._options()]
        self._started = time.monotonic()
        with open(self._qemu_log, "wb") as log:
            self._qemu = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        self._spent = _Spent(self._qemu.pid, self._spec.profile.counted)

    def _make_image(self) -> None:
        spec = self._spec
        image.build(
            self._image, spec.kernel, self._files(), self._settings(), self._kernel_modules()
        )

    def _options(self) -> list[str]:
        """QEMU's."""
        console, report = self._paths
        return [
            *self._spec.profile.qemu,
            *("-m", f"{self.memory_mib}M"),
            *("-nodefaults", "-no-user-config", "-no-reboot"),
            *("-nic", "none", "-vga", "none", "-display", "none", "-monitor", "none"),
            *("-serial", f"file:{console}", "-serial", f"file:{report}"),
            *("-kernel", str(self._spec.boots()), "-initrd", str(self._image)),
            *("-append", self.command_line()),
        ]

    def command_line(self) -> str:
        """The kernel's."""
        # As ramfs the image's files stay in memory: they must not go to swap in the jobs' stead.
        # Self-tests of its ciphers are a third of a boot.
        common = (
            "console=ttyS0 panic=-1 oops=panic nokaslr log_buf_len=1M rootfstype=ramfs"
            " cryptomgr.notests"
        )
        return f"{common} {self._spec.profile.append} {self._spec.append}".rstrip()

    @property
    def memory_mib(self) -> int:
        """The guest's memory, all in all."""
        spec = self._spec
        if not spec.image_copies:
            return spec.memory_mib
        image_mib = self._image.stat().st_size / 2**20
        return math.ceil((spec.memory_mib + spec.image_copies * image_mib) / 8) * 8

    def poll(self) -> bool:
        """Pass on new lines. True when the run has ended and `verdict` says how."""
        if self.verdict or not self._qemu:
            return self.verdict is not None
        ended = self._qemu.poll() is not None
        console, report = self._tails
        for line in console.read(last=ended):
            self._console_line(line)
        for line in report.read():  # half a line is no report
            self._report_line(line)
        if ended:
            self._decide("" if self._status is not None else self._silence())
            return True
        assert self._spent
        spent = self._spent.seconds()
        if self._status is not None and self._verdict_at is None:
            self._verdict_at = spent
        if self._verdict_at is not None and spent > self._verdict_at + _GRACE:
            self._decide("the guest did not power off after its report")
        elif spent > self._spec.timeout:
            self._decide(f"no end after {self._spec.timeout:g} s: killed")
        elif self._spent.is_stuck():
            self._decide(f"nothing computed in {_STUCK:g} s: killed")
        return self.verdict is not None

    def wait(self) -> Verdict:
        """Poll until the run has ended."""
        while not self.poll():
            time.sleep(_POLL)
        assert self.verdict
        self.close()
        return self.verdict

    def close(self) -> None:
        """Kill QEMU if it still runs."""
        if self._qemu and self._qemu.poll() is None:
            self._qemu.kill()
            self._qemu.wait()
        for tail in self._tails:
            tail.close()

    def _console_line(self, line: str) -> None:
        # What a dying kernel says only reaches the console. A program may have written the
        # beginning of the line.
        stamp = _KERNEL_LINE.search(line)
        if stamp and re.search(self._spec.bad_log, line[stamp.end() :]):
            self._panic.append(line[stamp.start() :])
        if self._on_console:
            self._on_console(line)

    def _report_line(self, line: str) -> None:
        word, _, rest = line.removeprefix("lab: ").partition(" ")
        if not line.startswith("lab: "):
            pass
        elif word == "log":
            self._log.append(rest)
        elif word == "failed":
            self._failed = rest
        elif word == "exit":
            self._status = int(rest)
        if self._on_report:
            self._on_report(line)

    def _silence(self) -> str:
        said = self._qemu_log.read_text(errors="replace").strip()
        return "the guest ended without a report" + (f"; QEMU said: {said}" if said else "")

    def _decide(self, error: str) -> None:
        self.verdict = Verdict(
            self._status,
            "; ".join(filter(None, [self._failed, error])),
            self._log or self._panic,
            time.monotonic() - self._started,
        )

    def _files(self) -> dict[str, Path | str]:
        files = {**self._spec.files, "lab/main": f"#!/bin/sh\n{self._spec.main}\n"}
        if self._spec.module:
            files[f"lab/{self._spec.module.name}"] = self._spec.module
        return files

    def _kernel_modules(self) -> list[str]:
        swap = self._spec.swap
        zram = ["zram", *ZRAMS[swap.model][1]] if swap and swap.model in ZRAMS else []
        return ["null_blk", *zram, *self._spec.kernel_modules]

    def _settings(self) -> dict[str, str | int]:
        swap = self._spec.swap
        if swap and swap.model not in MODELS:
            raise LabError(f"no disk model {swap.model}: {', '.join(MODELS)}")
        zram = ZRAMS.get(swap.model) if swap else None
        disk = DISKS[swap.model if swap and not zram else "ssd"]
        module = self._spec.module
        return {
            "LAB_SWAP_MIB": swap.mib if swap else 0,
            "LAB_ZRAM": zram[0] if zram else "",
            "LAB_COMPLETION_NSEC": disk.completion_nsec,
            "LAB_QUEUE_DEPTH": disk.hw_queue_depth,
            "LAB_ROTATIONAL": disk.rotational,
            "LAB_MBPS": disk.mbps,
            "LAB_INSMOD": f"/lab/{module.name} {self._spec.module_options}" if module else "",
            "LAB_BAD_LOG": self._spec.bad_log,
        }


def run(
    spec: Spec,
    directory: Path | None = None,
    on_console: Callable[[str], None] | None = None,
    on_report: Callable[[str], None] | None = None,
) -> Verdict:
    """Run a guest to its end. Without a directory its files are gone afterwards."""
    with contextlib.ExitStack() as stack:
        if directory is None:
            BUILD.mkdir(exist_ok=True)
            scratch = tempfile.TemporaryDirectory(dir=BUILD, prefix="run-")
            directory = Path(stack.enter_context(scratch))
        guest = stack.enter_context(Guest(spec, directory, on_console, on_report))
        guest.start()
        return guest.wait()
