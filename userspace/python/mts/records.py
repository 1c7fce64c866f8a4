# SPDX-License-Identifier: GPL-2.0
"""What mtsctl tells, under its names; docs/reference.md, "JSON", says what each field means.

Sizes are bytes, times that end in _ns nanoseconds. None: it has no meaning at the moment.
A name that is a word of Python ends in "_" here: Page.in_.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Way:
    """What a page costs, out to swap or back."""

    elapsed_ns: int
    worked_ns: int
    waited_ns: int
    age_ns: int


@dataclass(frozen=True)
class Page:
    """What a page costs."""

    out: Way | None
    in_: Way | None
    request_ns: int | None
    waited_for: bool
    needs_rows: bool


@dataclass(frozen=True)
class Gives:
    """What jobs get done under a policy."""

    permille: int | None
    how: str
    age_ns: int | None
    barred_ns: int | None


@dataclass(frozen=True)
class Policies:
    """What each policy gives."""

    turns: Gives
    none: Gives
    fair: Gives
    token: Gives


@dataclass(frozen=True)
class Policy:
    """Which policy is in force and, with policy=auto, what each gives."""

    in_force: str
    on_trial: bool
    in_force_ns: int | None
    gives: Policies | None


@dataclass(frozen=True)
class Queue:
    """Where a job is in the queue."""

    place: int | None
    waited_ns: int
    starts_in_ns: int | None
    starts_within_ns: int


@dataclass(frozen=True)
class Call:
    """A process outside that waited for a job."""

    kind: str
    pid: int | None
    age_ms: int
    refused: bool


@dataclass(frozen=True)
class Bin:
    """A bin, or a group of jobs where bins overlap."""

    bin: int
    jobs: int
    demand: int
    slice_ns: int
    runs: bool
    runs_in_ns: int | None


@dataclass(frozen=True)
class Job:
    """A job."""

    id: int
    name: str
    parent: int | None
    user: int | None
    each: bool
    each_leaf: bool
    pin: bool
    stays: bool
    state: str
    bin: int | str | None
    cgroup_id: int
    cgroup: str | None
    unit: str | None
    container: str | None
    demand: int
    unused: int
    resident: int
    swapped: int
    threads: int
    frozen_for_ns: int | None
    frozen_total_ns: int
    frozen_longest_ns: int
    run_ns: int
    slices: int
    evicted: int
    freeze_failures: int
    input_age_ms: int | None
    max_pause_ns: int | None
    weight: int | None
    memory_limit: int | None
    immovable: int
    size: int | None
    size_from: str
    queue: Queue | None
    queued_ns: int
    swap_wait_ns: int
    delays: int
    holdings: int
    calls: int
    calls_refused: int
    last_call: Call | None


@dataclass(frozen=True)
class UserWeight:
    """A user whose weight is not the usual one."""

    user: int
    weight: int


@dataclass(frozen=True)
class Status:
    """What runs or is frozen, why, and what happens next."""

    abi: int
    state: str
    reason: str
    detail: str
    engine: str
    each_how: str
    frozen: int
    current_bin: int | str | None
    overlaps: bool
    slice_left_ns: int | None
    generation: int
    now_ns: int
    capacity: int | None
    demand: int
    resident_demand: int
    round: int
    round_ns: int | None
    longest_pause_ns: int | None
    max_pause_ns: int | None
    evict: str | None
    page: Page
    policy: Policy
    interactive: int
    crowded_out: int
    limited: int
    limited_by: int | None
    sees: tuple[str, ...]
    consistent: bool
    bins: tuple[Bin, ...]
    jobs: tuple[Job, ...]
    user_weights: tuple[UserWeight, ...]


@dataclass(frozen=True)
class Config:
    """The configuration."""

    mode: str
    policy: str | None
    share: str | None
    pack: str
    evict: str
    demand: str
    slice_ns: int
    min_slice_ns: int
    max_pause_ns: int | None
    overhead: int
    interactive: int
    bin_bytes: int | None
    step: int | str | None
    queue: str


@dataclass(frozen=True)
class Stats:
    """The counters since load."""

    begins: int
    stops: int
    rounds: int
    switches: int
    early_switches: int
    regroups: int
    freezes: int
    thaws: int
    freeze_timeouts: int
    overdue_thaws: int
    foreign_thaws: int
    failsafe_thaws: int
    evict_asked: int
    evict_got: int
    slice_ns: int
    freeze_ns: int
    evict_ns: int
    jobs_created: int
    jobs_added: int
    jobs_each: int
    jobs_gone: int
    jobs_moved: int
    jobs_lapsed: int
    queue_starts: int
    queue_passes: int
    queue_expired: int
    queue_ns: int
    delays: int
    delay_ns: int
    holdings: int
    holding_ns: int
    each_missed: int
    bring_back_ns: int
    brought_back: int
    left_in_swap: int
    missed: int
    inputs: int
    interactive_thaws: int
    interactive_wait_ns: int
    hook_hits: int
    hook_misses: int
    waits: int
    wait_joins: int
    wait_thaws: int
    call_tasks: int
    call_signals: int
    call_writes: int
    call_locks: int
    call_thaws: int
    call_refused: int
    foreign_freezes: int
    passes: int
    early_begins: int
    workers_ns: int
    reclaim_wakeups: int
    page: Page


@dataclass(frozen=True)
class PlanConfig:
    """What a plan goes by."""

    pack: str
    evict: str
    capacity: int
    slice_ns: int
    min_slice_ns: int
    max_pause_ns: int | None
    overhead: int
    switch_ns: int
    processors: int
    step: int | str | None


@dataclass(frozen=True)
class Forecast:
    """What the jobs get done."""

    none_permille: int | None
    bins_permille: int | None
    overlapping_permille: int | None
    batch_permille: int | None
    batch_max_pause_ns: int | None
    queue_permille: int | None
    ideal_permille: int | None
    none_done_ns: int | None
    bins_done_ns: int | None
    overlapping_done_ns: int | None
    queue_done_ns: int | None
    chosen: str


@dataclass(frozen=True)
class PlanBin:
    """A bin of a plan."""

    bin: int
    jobs: int
    demand: int
    slice_ns: int
    pause_ns: int
    overfull: bool


@dataclass(frozen=True)
class PlanJob:
    """A job of a plan."""

    name: str
    demand: int
    stays: bool
    bin: int | str
    longest_pause_ns: int
    queue_starts_after: int | None
    queue_starts_ns: int | None


@dataclass(frozen=True)
class Plan:
    """Bins, slices and pauses as predicted."""

    fits: bool
    config: PlanConfig
    capacity: int
    demand: int
    resident_demand: int
    evict: str | None
    overlaps: bool
    run_permille: int | None
    forecast: Forecast | None
    policy: Policy | None
    round_ns: int
    longest_pause_ns: int
    limited_by: str | None
    no_swap: int
    swap_out_bytes: int
    swap_in_bytes: int
    bins: tuple[PlanBin, ...]
    jobs: tuple[PlanJob, ...]


@dataclass(frozen=True)
class WhyJob:
    """The job of a process, in short."""

    id: int
    name: str
    unit: str | None
    container: str | None
    user: int | None
    state: str
    bin: int | str | None
    max_pause_ns: int | None
    weight: int | None
    memory_limit: int | None
    immovable: int
    queue: Queue | None
    calls: int
    calls_refused: int
    last_call: Call | None


@dataclass(frozen=True)
class Was:
    """The job that ended where a process is."""

    id: int
    name: str
    why: str
    ended_for_ns: int


@dataclass(frozen=True)
class Why:
    """Whether and why a process is frozen."""

    pid: int
    comm: str
    cgroup: str
    kernel_thread: bool
    state: str
    detail: str
    policy: str
    job: WhyJob | None
    was: Was | None
    frozen: str
    frozen_for_ns: int | None
    runs_in_ns: int | None


@dataclass(frozen=True)
class Finding:
    """What one check of the host found."""

    level: str
    check: str
    found: str
    remedy: str | None


@dataclass(frozen=True)
class Doctor:
    """What keeps jobs from taking turns."""

    problems: int
    notes: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Event:
    """An event of the module; mts-events(7) lists them, and their fields."""

    timestamp: float
    event: str
    fields: dict[str, int | str]
