# SPDX-License-Identifier: GPL-2.0
"""How a host feels while SYN8 thrashes on it: keys, requests, periodic tasks, real-time.

Beside SYN8 (bench/syn8), whose processes are jobs each, five probes (bench/latency) run from
before it starts to the end of a time that is the same for all policies:

keys       a person types five keys a second, at uneven times, into an editor; from the key to its
           echo. The editor is a job as any other, of 8 MiB, of which each key uses 2 at random
requests   a client asks a server through a socket every 10 ms; from when the request was due to
           its answer. The server has 4 MiB and uses 64 KiB for each. It is pinned, as mts does not
           know servers: a job that belongs to every bin
monitor    wakes up once a second and uses its 2 MiB; pinned. From when it was to wake up until it
           is through; and its jitter: by how much from one end to the next it was more or less
           than a second
periodic   the same every 10 ms with 1 MiB, of which it uses 64 KiB; pinned. How late it wakes up
realtime   Debian's cyclictest: a real-time thread, locked, that wakes up every millisecond. It is
           not pinned: mts must find it

The measuring processes (the typist, the client) are locked in memory and real-time, so that their
own delays do not count. Under mts they are in every bin as well. They do not wait for an answer
before the next question. A question without an answer at the end counts with the time for which it
was waited. So a program that stands still is not left out.

Percentiles are of events that are due after the load has run for `settle` seconds; cyclictest's are
of all its time. Under `ideal` the probes run without SYN8: that is the unloaded host with which the
other policies are compared.

Parameters: duration (s, of what is counted), settle, key (s between keys: with 20 each is the first
one after a pause, for an editor that is no longer known as interactive).
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bench.lab import LabError, programs
from bench.lab.experiment import Job, Json, Outcome, Score, Setting, Suite, Table, Workload
from bench.suites import paperlib as lib
from bench.suites import syn8

EDITOR_MIB, KEY_MIB = 8, 2
SERVER_MIB, REQUEST_KIB = 4, 64
MONITOR_MIB = 2
PERIODIC_MIB, PERIOD_KIB = 1, 64
REALTIME_MIB = 4  # with its libraries, all locked
KEY_S, KEY_JITTER = 0.2, 0.5  # so much of the time later at most
REQUEST_S = PERIOD_S = 0.01
MONITOR_S = 1.0
REALTIME_US = 1000
TRACKED_US = 2000  # in cyclictest's histogram; its most is exact beyond that

LOAD_AT = 1.0  # s; the probes are there by then
PATIENCE = 1.0  # s that the last answers are waited for
MARGIN = 2.0  # s before a run is cut off in which a probe has not ended
ACCESS_NS = 10  # no SYN8 makes more accesses than one in so many instructions

# What the probes need together.
PROBES_MIB = (
    *(EDITOR_MIB, SERVER_MIB, MONITOR_MIB, PERIODIC_MIB, REALTIME_MIB),
    6 * lib.PROGRAM_MIB,  # of all but cyclictest
)
TERMINAL, SOCKET = "/dev/shm/terminal", "/dev/shm/socket"

# figure, of which job's report, which of its distributions, and what it is called
PROBES = (
    ("keys", "type", "latency", "key to echo"),
    ("requests", "ask", "latency", "request to answer"),
    ("monitor", "monitor", "latency", "monitor, 1 Hz: sample late by"),
    ("jitter", "monitor", "jitter", "monitor, 1 Hz: jitter"),
    ("periodic", "periodic", "wake", "task of 100 Hz: wakes up late by"),
)
REALTIME = ("realtime", "cyclictest: wakes up late by")
SHOWN = ("p50_ms", "p99_ms", "max_ms")


def duration(setting: Setting) -> float:
    """The seconds that are counted."""
    return float(lib.positive(setting, "duration", setting.param("duration", 60.0)))


def key_period(setting: Setting) -> float:
    """Seconds from one key to the next."""
    return float(lib.positive(setting, "key", setting.param("key", KEY_S)))


def skipped(setting: Setting) -> float:
    """Seconds before."""
    return LOAD_AT + float(setting.param("settle", 4.0))


def end(setting: Setting) -> float:
    """Seconds from the start until all probes have ended."""
    return skipped(setting) + duration(setting) + PATIENCE


class Latency(Suite):
    """What people notice."""

    name = "latency"
    title = "Latency: keys, requests, periodic and real-time tasks beside SYN8"
    source = "the design's invariant 2; Reuven & Wiseman, sections 4.4 and 4.5"
    programs = ("latency", "syn8")
    timed = True

    def points(self, effort: str) -> list[Setting]:
        """Full: below the memory, at 1.7 times of it and more, on today's disk and the papers'."""
        if effort == "smoke":
            return [self._point(1.5, "ssd", 2.0, free_mib=64, settle=1.0)]
        if effort == "quick":
            return [self._point(1.7, "ssd", 10.0)]
        return [
            self._point(overcommit, *where)
            for overcommit in (0.5, 1.7, 3.0)
            for where in (("ssd", 60.0), ("paper", 240.0))
        ]

    def _point(
        self,
        overcommit: float,
        disk: str,
        seconds: float,
        *,
        free_mib: int = syn8.FREE_MIB,
        settle: float = 0.0,
    ) -> Setting:
        settle = settle or (16.0 if disk == "paper" else 4.0)
        return self.point(
            overcommit,
            disk=disk,
            free_mib=free_mib,
            # known beforehand, however a host thrashes
            limit=LOAD_AT + settle + seconds + PATIENCE + MARGIN,
            duration=seconds,
            settle=settle,
        )

    def policies(self, effort: str) -> tuple[str, ...]:
        """With effort `full` also the policies that are made for latency."""
        if effort != "full":
            return ("stock", "mts", "ideal")
        return ("stock", "mglru", "thrash-protect", "mts", "ideal")

    def workload(self, setting: Setting) -> Workload:
        """The probes, and SYN8 as much as is left of the demand."""
        if setting.limit < end(setting):
            raise LabError(
                f"latency: a duration of {duration(setting):g} s takes {end(setting):g} s: "
                f"more than the limit of {setting.limit:g} s"
            )
        jobs = _probes(setting)
        files = dict(programs.closure("cyclictest"))
        if setting.policy == "ideal":
            return Workload(jobs=jobs, files=files, batches=(jobs,))
        count = round((setting.demand_mib - sum(PROBES_MIB)) / (syn8.PROCESS_MIB + syn8.EXTRA_MIB))
        if count < 1:
            raise LabError(f"latency: {setting.demand_mib:g} MiB leave nothing for SYN8")
        # as one of them could make if it had the processor for itself: none comes to its end
        accesses = round(end(setting) * 1e9 / 2**setting.shift / ACCESS_NS)
        command = ("/bin/syn8", "--processes", count, "--accesses", accesses)
        load = Job(
            name="syn8",
            command=tuple(map(str, (*command, "--seed", setting.seed))),
            demand_mib=count * (syn8.PROCESS_MIB + syn8.EXTRA_MIB),
            each=True,
            delay=LOAD_AT,
            endless=True,
        )
        return Workload(jobs=(*jobs, load), files=files)

    def score(self, setting: Setting) -> Score:
        """Key to echo, because a person notices it first. (The time of the run is fixed.)"""
        return Score("suite.keys.p99_ms", "key to echo, p99", "virtual ms")

    def figures(self, setting: Setting, outcome: Outcome) -> Json:
        """Of each probe; null: it gave no report."""
        found: Json = {}
        for key, name, part, _ in PROBES:
            report = lib.report(outcome.job(name))
            found[key] = milliseconds(report[part]) if report else None
        found["realtime"] = histogram(outcome.job("cyclictest")["output"])
        load = [job for job in outcome.data["jobs"] if job["name"] == "syn8"]
        elapsed = outcome.data["elapsed"] - LOAD_AT
        if load and elapsed > 0:
            found["load_accesses_per_s"] = load[0]["done"] / elapsed
        return found

    def tables(self, results: Sequence[Json]) -> list[Table]:
        """All probes under all policies."""
        return [table(key, point) for key, point in lib.by_point(results).items()]


def _probes(setting: Setting) -> tuple[Job, ...]:
    times = (
        *("--skip", lib.seconds(skipped(setting)), "--duration", lib.seconds(duration(setting))),
        *("--seed", str(setting.seed)),
    )
    key = key_period(setting)
    typed = ("--period", lib.seconds(key), "--jitter", lib.seconds(KEY_JITTER * key))
    asked = ("--period", lib.seconds(REQUEST_S))

    def job(name: str, part: str, *options: str, mib: float = 0, **more: Any) -> Job:
        size = ("--size", str(lib.page_size(mib))) if mib else ()
        command = ("/bin/latency", part, "--name", name, *options, *size)
        return Job(name, command, demand_mib=mib + lib.PROGRAM_MIB, **more)

    realtime = (
        *("/usr/bin/cyclictest", "--mlockall", "--quiet", "--priority", "80"),
        *("--interval", str(REALTIME_US), "--histogram", str(TRACKED_US)),
        *("--duration", str(int(end(setting) - PATIENCE))),
    )
    return (
        job("type", "type", "--at", TERMINAL, *typed, *times, resident=True),
        job(
            *("edit", "edit", "--at", TERMINAL, "--seed", str(setting.seed)),
            *("--touch", f"{KEY_MIB}M"),
            mib=EDITOR_MIB,
            endless=True,
        ),
        job(
            *("serve", "serve", "--at", SOCKET, "--seed", str(setting.seed)),
            *("--touch", f"{REQUEST_KIB}K"),
            mib=SERVER_MIB,
            resident=True,
            endless=True,
        ),
        job("ask", "ask", "--at", SOCKET, *asked, *times, resident=True),
        job(
            *("monitor", "tick", "--period", lib.seconds(MONITOR_S), *times),
            mib=MONITOR_MIB,
            resident=True,
        ),
        job(
            *("periodic", "tick", "--period", lib.seconds(PERIOD_S), *times),
            *("--touch", f"{PERIOD_KIB}K"),
            mib=PERIODIC_MIB,
            resident=True,
        ),
        Job("cyclictest", realtime, demand_mib=REALTIME_MIB),
    )


def milliseconds(found: Mapping[str, float]) -> Json:
    """A distribution of bench/latency; its times are null if there is nothing in it."""
    times = {
        f"{key}_ms": found[f"{key}_ns"] / 1e6 if f"{key}_ns" in found else None
        for key in ("first", "p50", "p99", "max")
    }
    return {"count": found["count"], "missing": found["missing"], **times}


def histogram(output: str) -> Json | None:
    """What cyclictest printed, of its one thread; None if it was cut off before."""
    most = re.search(r"^# Max Latencies: (\d+)$", output, re.MULTILINE)
    beyond = re.search(r"^# Histogram Overflows: (\d+)$", output, re.MULTILINE)
    if not most or not beyond:
        return None
    counts = [
        (int(us), int(n)) for us, n in re.findall(r"^(\d{6}) (\d{6,})$", output, re.MULTILINE)
    ]
    counts.append((int(most[1]), int(beyond[1])))
    total = sum(count for _, count in counts)
    if not total:
        return None

    def percentile(percent: int) -> float:
        rank, seen = -(-total * percent // 100), 0
        for us, count in counts:
            seen += count
            if seen >= rank:
                return us / 1000
        raise AssertionError

    return {
        "count": total,
        "p50_ms": percentile(50),
        "p99_ms": percentile(99),
        "max_ms": int(most[1]) / 1000,
    }


def table(key: str, point: dict[str, list[Json]]) -> Table:
    """A line for each probe and policy."""
    rows = []
    for probe, title in (*((key, title) for key, _, _, title in PROBES), REALTIME):
        for policy, results in point.items():
            found = [figures for result in results if (figures := lib.own(result).get(probe))]
            missing = (figures.get("missing") for figures in found)
            rows.append(
                (
                    title,
                    "ideal: without SYN8" if policy == "ideal" else policy,
                    *(lib.number((figures[name] for figures in found), 3) for name in SHOWN),
                    lib.number(missing, 0),
                )
            )
    return Table(
        title=f"Latencies beside SYN8 ({lib.where(key)})",
        header=("what", "policy", "p50 (ms)", "p99 (ms)", "most (ms)", "not answered at the end"),
        rows=tuple(rows),
        note="What was not answered at the end counts with the time that was waited for it. "
        "cyclictest is right to a microsecond.",
    )


SUITE = Latency()
