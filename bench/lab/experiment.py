# SPDX-License-Identifier: GPL-2.0
"""What an experiment is: the words that suites, policies, and the runner share.

A *suite* (bench/suites/) turns a setting into a workload: jobs, each a command with the memory
it needs. A *policy* (bench/policies/) says how the guest is set up and how jobs are started in
it. The runner (bench/lab/runner.py) boots one guest for a setting; in it the driver
(bench/driver) starts the jobs, watches them, and reports an outcome; the suite takes its own
figures out of that. The result is one JSON file.

Units: sizes in MiB or bytes, times in seconds of the guest's virtual clock, as the names say.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """All that a run depends on. Two runs of one setting of one processor agree in each figure."""

    suite: str
    policy: str
    disk: str = "ssd"  # of lab.disks, or "zram"
    shift: int = 0  # the processor does an instruction in 2^shift ns
    # More than one: they really run side by side, by this host's clock. Then two runs of one
    # setting differ, and nothing else should run here.
    processors: int = 1
    kernel: str = "6.1"  # series or release
    free_mib: int = 148  # what programs find free; the driver pins the rest
    swap_mib: int = 0  # 0: 2.5 times the demand, at least 256
    overcommit: float = 1.7  # demand over free_mib
    seed: int = 1
    limit: float = 60.0  # seconds after which the run is cut off
    params: tuple[tuple[str, Any], ...] = ()  # the suite's own, sorted by name

    @property
    def demand_mib(self) -> float:
        """What all jobs need together."""
        return self.free_mib * self.overcommit

    def param(self, name: str, default: Any = None) -> Any:
        """One of the suite's own parameters."""
        return dict(self.params).get(name, default)


@dataclass(frozen=True)
class Job:
    """What is packed, frozen and evicted as one; under other policies just a program."""

    name: str  # [a-z0-9.-]+, unique in its workload
    command: tuple[str, ...]  # absolute path in the guest, and arguments
    demand_mib: float
    each: bool = False  # every child is to be a job of its own (mtsctl run --each=child)
    delay: float = 0.0  # seconds after the start of the run
    resident: bool = False  # belongs to every bin (mtsctl run --pin): a monitor
    endless: bool = False  # not waited for: ended when all others have
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Workload:
    """What runs in the guest."""

    jobs: tuple[Job, ...]
    files: Mapping[str, Path | str] = field(default_factory=dict)  # place in the guest -> source
    setup: str = ""  # shell commands, before the memory is pinned
    # For the policy `ideal`: each batch alone, to its end, one after the other. None: the
    # runner packs the jobs first-fit decreasing by demand_mib. A suite whose jobs have
    # children that could be packed apart (each) lists the parts here.
    batches: tuple[tuple[Job, ...], ...] | None = None
    # Set by the suite if mts needs it other than by default: words of `mtsctl set`.
    mts_settings: str = ""


@dataclass(frozen=True)
class Outcome:
    """What the driver reports of a run; its README specifies `data`."""

    data: Json
    log: Sequence[str] = ()  # lines of the report that are not the driver's

    def job(self, name: str) -> Json:
        """One job's part."""
        return next(job for job in self.data["jobs"] if job["name"] == name)


@dataclass(frozen=True)
class Table:
    """Rows for people: printed, and put into the report and the documentation."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Score:
    """What counts of a run: the figure by which policies are compared."""

    figure: str  # as compare.figure() takes it: suite.x is one of the suite's own
    name: str  # what it is
    unit: str
    lower: bool = True  # is better

    @property
    def heading(self) -> str:
        """For a column."""
        return f"{self.name}, {self.unit}"

    @property
    def axis(self) -> str:
        """For a chart, which must say which direction is better."""
        return self.heading if self.lower else f"{self.heading} (more is better)"


TIME = Score("time_for_all_s", "time for all work", "virtual s")
EFFORTS = ("smoke", "quick", "full")


class Suite(ABC):
    """One paper's benchmark, or a real workload."""

    name: str  # as in bench/suites/<name>.py, with - for _
    title: str
    source: str  # paper and section
    programs: tuple[str, ...] = ()  # of build/static that go into the guest's /bin
    slice_param: str = ""  # the suite's own among rotation_params
    # The jobs take a time of their own, whatever the policy: a sweep does not cut the policies
    # short that let everything run at once (sweep.py).
    timed: bool = False
    # Few jobs, of sizes of their own: a bar finds the memory for them, not them for the memory.
    whole: bool = False

    @property
    def rotation_params(self) -> tuple[str, ...]:
        """Names of params that mean something only to policies that rotate (start mts).

        Such as a slice: the others run once, without them, and are compared with all of these.
        Known everywhere: `mts`, more words of `mtsctl set` with commas between them; `module`, the
        module's parameters likewise; `events`, if it is 1 then mts's result has the module's trace
        events, for tools/rounds2svg.
        """
        return (*filter(None, [self.slice_param]), "events", "module", "mts")

    @abstractmethod
    def points(self, effort: str) -> list[Setting]:
        """The settings of a sweep, one seed each (the runner adds seeds), without policies.

        smoke: one point that is over in seconds, for `make test`. quick: the few points of
        `make bench`. full: the paper's whole range.
        """

    def point(
        self,
        overcommit: float,
        *,
        disk: str = "ssd",
        free_mib: int = 148,
        limit: float = 60.0,
        **params: Any,
    ) -> Setting:
        """One of points(): under stock, on that disk, with a processor of the disk's time."""
        return Setting(
            suite=self.name,
            policy="stock",
            disk=disk,
            shift=2 if disk == "paper" else 0,
            free_mib=free_mib,
            overcommit=overcommit,
            limit=limit,
            params=tuple(sorted(params.items())),
        )

    @abstractmethod
    def workload(self, setting: Setting) -> Workload:
        """What to run; raises LabError where a setting makes no sense."""

    def figures(self, setting: Setting, outcome: Outcome) -> Json:
        """The suite's own figures, beside the common ones. Names end in their unit."""
        return {}

    def score(self, setting: Setting) -> Score:
        """What counts. Another than the time where the jobs take a time of their own."""
        return TIME

    def policies(self, effort: str) -> tuple[str, ...]:
        """The policies that a sweep compares by default."""
        return ("stock", "mts", "ideal") if effort != "full" else ("all",)

    def tables(self, results: Sequence[Json]) -> list[Table]:
        """The paper's figures beside ours."""
        return []


@dataclass(frozen=True)
class Policy:
    """How the guest shares its memory out."""

    name: str
    title: str
    # How the driver starts a job:
    #   plain   just so
    #   mts     mtsctl run [--each=child] [--pin] --name NAME -- COMMAND
    #   ideal   batch by batch
    start: str = "plain"
    module: bool = False  # mts.ko is loaded
    zswap: bool = False  # the guest's kernel needs zswap's modules
    files: Mapping[str, Path | str] = field(default_factory=dict)
    setup: str = ""  # shell commands, before the memory is pinned
    # Shell commands that stay in the background while the jobs run (a daemon); ended
    # afterwards. Its output goes to the console.
    daemon: str = ""
    # Shell commands after the run whose standard output, one JSON object, becomes
    # outcome.data["policy"].
    after: str = ""
    append: str = ""  # for the kernel's command line
    # How the names (comm) of threads begin whose processor time counts as reclaim, besides
    # kswapd: the module's, the daemon's.
    watch: tuple[str, ...] = ()
