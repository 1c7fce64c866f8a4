# SPDX-License-Identifier: GPL-2.0
"""One run: a setting becomes a guest, the driver's report becomes a result.

What programs find in the guest, apart from init.sh's:

/lab/main       exports LAB_FREE_MIB LAB_SWAP_MIB LAB_DEMAND_MIB LAB_SEED LAB_MTS_SETTINGS (the
                workload's words for `mtsctl set`, or nothing) LAB_MTS_EVENTS (the file that is to
                have mts's trace events, or nothing), which the policy's setup, daemon and after
                see, and so do the jobs; mounts a tmpfs at /tmp; runs the policy's
                setup, the workload's setup, each in a subshell that must succeed, and then
                /bin/labdrive
/lab/jobs.json  the driver's input

Memory: the guest has free_mib, its swap disk (but a zram: it lives in what is free), twice its
image, BASE_MIB for the kernel, and what the pages of a large guest take; the driver pins what is
free beyond free_mib. What the kernel makes of the size of its memory is set as a host would have
it whose memory is what programs find free here, so that the size of the swap disk changes
nothing:

- no transparent huge pages: the kernel itself has none below 512 MiB (mm/huge_memory.c). With
  them it also keeps 5 % of all memory free, more than a quarter of what is free in a guest.
- vm.min_free_kbytes is 4 sqrt(KiB), the kernel's rule (mm/page_alloc.c)
- vm.watermark_boost_factor is 0. Whenever a page must be taken from a block of another kind
  the kernel reclaims 1.5 times a watermark, and at least such a block (boost_watermark() there):
  0.6 % of a host of 24 GiB, but with 2 MiB a twentieth of what is free here. The emulated disk's
  pages cannot be moved, so that there is no end to it: of a program of 22 MiB that had 36 MiB
  for itself 7700 pages a second were taken, and read again
- lists of free pages that belong to one processor stay short, as up to 6.6. Later kernels let
  them grow to an eighth of all memory (pcp->high_max, mm/page_alloc.c), of which nothing counts
  as free: as much as programs find here
"""

import json
import math
import shlex
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.lab import BUILD, ROOT, LabError, disks, guest, kernel, packing, results
from bench.lab.experiment import Job, Json, Outcome, Policy, Setting, Suite, Workload

PROGRAMS = BUILD / "static"
DRIVER = "labdrive"
BASE_MIB = 132
SMALL_MIB = 1024  # a guest of which BASE_MIB holds the page structures, too
PAGES_SHARE = 64  # of what is more, they take one in so many bytes
SWAP_OVERHEAD = 1.03  # of a null_blk: its tree of pages, and the kernel's array of pages
APPEND = "transparent_hugepage=never"
# The OOM killer is an outcome here (figures.py, oom_kills), and so is an allocation that failed
# in a zram: both print a call trace. All else that does prints another of these words as well.
BAD_LOG = guest.BAD_LOG.replace("|Call Trace", "")
# So small a part of all memory that the kernel takes the least that it may.
SHORT_LISTS = f"echo {1 << 20} >/proc/sys/vm/percpu_pagelist_high_fraction"
SAMPLE = 0.1  # s, the resolution of pauses
WATCH = ("kswapd",)
JOB_MIB = 0.15  # of the driver's, for each job: a work file and notes
# Real seconds that a run may take: so many for the start, and so many for each virtual second
# of an instruction a nanosecond, under load from others.
BOOT_SECONDS = 300
SECONDS_PER_SECOND = 200


class RunError(LabError):
    """A guest that gave no result. The text names where its logs are."""


def swap_mib(setting: Setting) -> int:
    """The size of the swap disk."""
    return setting.swap_mib or max(256, math.ceil(2.5 * setting.demand_mib))


def memory_mib(setting: Setting) -> int:
    """The guest's memory without its image."""
    disk = 0 if setting.disk in disks.ZRAMS else swap_mib(setting) * SWAP_OVERHEAD
    whole = math.ceil(disk) + BASE_MIB + setting.free_mib
    return whole + max(whole - SMALL_MIB, 0) // PAGES_SHARE


def timeout(setting: Setting) -> float:
    """Real seconds after which a guest is given up."""
    return BOOT_SECONDS + SECONDS_PER_SECOND * setting.limit / 2**setting.shift


def _check(setting: Setting) -> None:
    if setting.disk not in disks.MODELS:
        raise LabError(f"no disk model {setting.disk}: {', '.join(disks.MODELS)}")
    if setting.free_mib < 16:
        raise LabError(f"free memory of {setting.free_mib} MiB: less than 16")
    if not setting.limit > 0:
        raise LabError(f"a limit of {setting.limit:g} s: not more than 0")
    if not 1 <= setting.processors <= 64:
        raise LabError(f"{setting.processors} processors: not 1 to 64")
    if not setting.overcommit > 0:
        raise LabError(f"an overcommit of {setting.overcommit:g}: not more than 0")


def drive_input(setting: Setting, policy: Policy, workload: Workload) -> Json:
    """The driver's JOBS.json."""
    jobs = workload.jobs
    batches: tuple[tuple[Job, ...], ...] = ()
    if policy.start == "ideal":
        batches = workload.batches or packing.batches(jobs, setting.free_mib)
        named = [job.name for batch in batches for job in batch]
        beside = [job for job in jobs if job.resident or job.endless]
        beside = [job for job in beside if job.name not in named]
        jobs = (*(job for batch in batches for job in batch), *beside)
    names = [job.name for job in jobs]
    if len(set(names)) != len(names):
        raise LabError(f"suite {setting.suite}: two jobs have one name: {', '.join(names)}")
    return {
        "free_mib": setting.free_mib,
        "limit": setting.limit,
        "sample": SAMPLE,
        "start": policy.start,
        "batches": [[job.name for job in batch] for batch in batches],
        "daemon": policy.daemon,
        "after": policy.after,
        "watch": [*WATCH, *policy.watch],
        "jobs": [
            {
                "name": job.name,
                "command": list(job.command),
                "each": job.each,
                "resident": job.resident,
                "endless": job.endless,
                "delay": job.delay,
                "environment": dict(job.environment),
            }
            for job in jobs
        ],
    }


def main_script(setting: Setting, policy: Policy, workload: Workload) -> str:
    """The guest's /lab/main."""
    variables = {
        "PATH": "/bin:/usr/bin:/usr/local/bin",
        "LAB_FREE_MIB": setting.free_mib,
        "LAB_SWAP_MIB": swap_mib(setting),
        "LAB_DEMAND_MIB": f"{setting.demand_mib:g}",
        "LAB_SEED": setting.seed,
    }
    more = setting.param("mts", "").split(",")
    variables["LAB_MTS_SETTINGS"] = " ".join([workload.mts_settings, *more]).strip()
    variables["LAB_MTS_EVENTS"] = "/tmp/events" if setting.param("events", 0) == 1 else ""
    lines = [f"export {name}={shlex.quote(str(value))}" for name, value in variables.items()]
    lines.append("mount -t tmpfs tmp /tmp || exit 1")
    reserve = math.isqrt(16 * 1024 * setting.free_mib)
    lines.append(f"echo {reserve} >/proc/sys/vm/min_free_kbytes || exit 1")
    lines.append("echo 0 >/proc/sys/vm/watermark_boost_factor || exit 1")
    lines.append(f"case $(uname -r) in 6.[1-6].*) ;; *) {SHORT_LISTS} || exit 1 ;; esac")
    setups = (("policy", policy.name, policy.setup), ("suite", setting.suite, workload.setup))
    for kind, name, setup in setups:
        if setup:
            said = shlex.quote(f"drive: error the setup of {kind} {name} failed")
            lines.append(f"(\n{setup}\n) || {{\n\techo {said} >/dev/ttyS1\n\texit 1\n}}")
    lines.append(f"exec {DRIVER} /lab/jobs.json >/dev/ttyS1")
    return "\n".join(lines)


def built(name: str) -> Path:
    """A static program that `make static` has built."""
    path = PROGRAMS / name
    if not path.exists():
        raise LabError(f"{path.relative_to(ROOT)} is not built: make guest-module static")
    return path


def profile(setting: Setting) -> guest.Profile:
    """How QEMU runs it."""
    if setting.processors == 1:
        return guest.icount(setting.shift)
    return guest.side_by_side(setting.processors)


def spec(setting: Setting, suite: Suite, policy: Policy, workload: Workload) -> guest.Spec:
    """The guest of a setting."""
    release = kernel.obtain(setting.kernel)
    for source in policy.files.values():
        if isinstance(source, Path) and not source.exists():
            raise LabError(f"policy {policy.name} needs {source}, which is not there: make static")
    drive = drive_input(setting, policy, workload)
    return guest.Spec(
        kernel=release,
        main=main_script(setting, policy, workload),
        profile=profile(setting),
        memory_mib=memory_mib(setting) + math.ceil(JOB_MIB * len(workload.jobs)),
        image_copies=2,
        swap=guest.Swap(setting.disk, swap_mib(setting)),
        files={
            **{f"bin/{name}": built(name) for name in (*suite.programs, DRIVER)},
            **workload.files,
            **policy.files,
            "lab/jobs.json": json.dumps(drive, indent=1) + "\n",
        },
        module=release.mts if policy.module else None,
        module_options=setting.param("module", "").replace(",", " ") if policy.module else "",
        kernel_modules=release.zswap_modules() if policy.zswap else (),
        append=f"{APPEND} {policy.append}".rstrip(),
        bad_log=BAD_LOG,
        timeout=timeout(setting),
    )


def check(setting: Setting, suite: Suite, policy: Policy) -> None:
    """LabError if a setting makes no sense, or something that it needs is missing."""
    _check(setting)  # before a suite wonders
    spec(setting, suite, policy, suite.workload(setting))


@dataclass
class Progress:
    """How far a run is."""

    stage: str = "waits"  # boots, runs, ends
    seconds: float = 0.0  # virtual, since the first job's start
    work: float = 0.0  # 0 to 1


class Run:
    """One run: start it, poll it until it is over, take the result; used with `with`."""

    def __init__(
        self,
        setting: Setting,
        suite: Suite,
        policy: Policy,
        *,
        where: results.Origin,
        logs: Path,
        on_line: Callable[[str], None] | None = None,
    ) -> None:
        """Build the guest. Its logs go into a folder below `logs`, which stays if it fails."""
        self.setting = setting
        self.progress = Progress()
        self._suite = suite
        self._origin = where
        self._on_line = on_line
        self._data: Json | None = None
        self._error = ""
        self._log: list[str] = []
        _check(setting)
        self._workload = suite.workload(setting)
        self._spec = spec(setting, suite, policy, self._workload)
        logs.mkdir(parents=True, exist_ok=True)
        self.logs = Path(tempfile.mkdtemp(dir=logs, prefix=f"{setting.suite}-{setting.policy}-"))
        try:
            self._guest = guest.Guest(self._spec, self.logs, on_report=self._line)
        except BaseException:
            shutil.rmtree(self.logs)
            raise

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the guest if it still runs."""
        self._guest.close()

    @property
    def memory_mib(self) -> int:
        """Of this machine, that the guest takes."""
        return self._guest.memory_mib

    def start(self) -> None:
        """Start the guest."""
        self.progress.stage = "boots"
        self._guest.start()

    def poll(self) -> bool:
        """True when the run is over."""
        return self._guest.poll()

    def result(self) -> Json:
        """The result of a run that is over. RunError if it gave none, or its guest was ill.

        The logs of a good run are removed.
        """
        verdict = self._guest.verdict
        assert verdict
        if self._error or not verdict.good or self._data is None:
            why = self._error or (str(verdict) if not verdict.good else "no result was reported")
            if self._error and verdict.log:
                why = f"{why}\n{verdict}"
            raise RunError(f"{why}\nlogs: {self.logs}")
        endless = {job.name for job in self._workload.jobs if job.endless}
        for job in self._data["jobs"]:
            job["endless"] = job["name"] in endless
        swap = self._spec.swap
        made = results.make(
            self.setting,
            self._suite,
            Outcome(self._data, self._log),
            guest={"memory_mib": self.memory_mib, "swap_mib": swap.mib if swap else 0},
            kernel=self._spec.kernel.release,
            where=self._origin,
        )
        made["real_seconds"] = round(verdict.seconds, 3)
        self.close()
        shutil.rmtree(self.logs)
        return made

    def _line(self, line: str) -> None:
        if self._on_line:
            self._on_line(line)
        if not line.startswith("drive: "):
            if not line.startswith("lab: "):
                self._log.append(line)
            return
        word, _, rest = line.removeprefix("drive: ").partition(" ")
        if word == "start":
            self.progress.stage = "runs"
        elif word == "at":
            seconds, work = rest.split()
            self.progress.seconds, self.progress.work = float(seconds), float(work)
        elif word == "result":
            self.progress.stage = "ends"
            self._take(rest)
        elif word == "error":
            self._error = rest

    def _take(self, text: str) -> None:
        try:
            self._data = json.loads(text)
        except ValueError as error:
            self._error = f"the driver's result is not JSON: {error}"
