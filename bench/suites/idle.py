# SPDX-License-Identifier: GPL-2.0
"""The cost of the module while no turns are taken: instructions per message.

Two benchmarks of context switches, the worst case for hooks in the scheduler:

pingpong   two processes, one byte each way through pipes (bench/idle), as `perf bench sched pipe`
hackbench  groups of 20 senders and 20 receivers on sockets (Debian's rt-tests)

in three situations: the module absent (policy `stock`), loaded with no job at all, and loaded with
jobs that fit, of which the benchmark is one. mts makes a cgroup for each job. A task in a cgroup
costs the scheduler more than a task in the root, with or without the module. So the last situation
is compared with a benchmark in a cgroup of the same depth, without the module. The first cgroup of
a host makes each allocation of the kernel slower (hackbench: 6 %), wherever the task is. systemd
makes cgroups on every host that matters, so the suite makes one in each situation.

The guest's clock counts instructions, 2^shift ns each. So the figures are exact for one order of
wake-ups. In another order hackbench takes some per cent more or less, and the order differs more
from boot to boot than from start to start. So every seed begins a little later against the ticks.
To measure half a per cent (param `turns`), one guest runs the benchmark many times, by turns
without the module and with it, and the medians of the two are compared.
"""

import re
import statistics
from collections.abc import Sequence
from pathlib import Path

from bench.lab import BUILD, ROOT, LabError, kernel, programs
from bench.lab.experiment import Job, Json, Outcome, Score, Setting, Suite, Table, Workload
from bench.suites import paperlib

HOLDERS = 4  # jobs that fit; they only hold memory
BENCHMARK_MIB = 4
JOBS = ("none", "fit")
LATER_S = 0.00037  # by which each seed begins later than the one before
PER_GROUP = 20 * 20  # messages of one of hackbench's loops: every sender to every receiver

# idle-run none|fit COMMAND...: out of whatever cgroup this was started in; or into one as deep as
# a job's, unless it is a job already.
RUN = """#!/bin/sh
where=$1
shift
root=/sys/fs/cgroup
if [ "$where" = none ]; then
	echo 0 >$root/cgroup.procs && echo "+memory" >$root/cgroup.subtree_control &&
		mkdir -p $root/idle || exit 1
elif [ "$(cat /proc/self/cgroup)" = 0::/ ]; then
	mkdir -p $root/idle || exit 1
	echo "+memory" >$root/idle/cgroup.subtree_control || exit 1
	mkdir $root/idle/bench || exit 1
	echo 0 >$root/idle/bench/cgroup.procs || exit 1
fi
exec "$@"
"""
# idle-in NAME COMMAND...: in the cgroup idle-turns/NAME
IN = """#!/bin/sh
root=/sys/fs/cgroup/idle-turns
mkdir -p $root && echo "+memory +cpu" >$root/cgroup.subtree_control && mkdir -p "$root/$1" &&
	echo 0 >"$root/$1/cgroup.procs" || exit 1
shift
exec "$@"
"""
# idle-turns none|fit TURNS COMMAND...: so many times without the module, with it, with it, without
# it; and once before that, which does not count. Each begins after a pause: the first start right
# after insmod of any module, an empty one too, takes the dearer course (docs/performance.md).
# `fit`: while the module is there the cgroups in idle-turns are jobs, one of them the command's. It
# never is empty, which would end the job.
TURNS = """#!/bin/sh
where=$1
turns=$2
shift 2
in=
if [ "$where" = fit ]; then
	in="idle-in bench"
	$in sleep 1000000 &
fi
load() {
	insmod /bin/mts.ko || exit 1
	[ "$where" = none ] || for job in /sys/fs/cgroup/idle-turns/*/; do
		mtsctl add "$job" || exit 1
	done
}
run() {
	echo "turn $1"
	shift
	sleep 0.2
	$in "$@" || exit 1
}
run warm "$@"
while [ "$turns" -gt 0 ]; do
	turns=$((turns - 1))
	run absent "$@"
	load
	run loaded "$@"
	run loaded "$@"
	rmmod mts || exit 1
	run absent "$@"
done
"""
# idle-hold NAME MIB: memory of its own, in a tmpfs, and sleep.
HOLD = """#!/bin/sh
dd if=/dev/zero of="/dev/shm/$1" bs=1M count="$2" 2>/dev/null || exit 1
exec sleep 1000000
"""


_MTSCTL = BUILD / "static" / "mtsctl"


def messages_and_time(output: str) -> tuple[int, float] | None:
    """Messages sent, and seconds, of what a benchmark printed; None if it was cut off."""
    if match := re.search(r'^\{"messages": (\d+), "ns": (\d+)\}$', output, re.MULTILINE):
        return int(match[1]), int(match[2]) / 1e9
    groups = re.search(r"with (\d+) groups", output)
    loops = re.search(r"^Each sender will pass (\d+) messages", output, re.MULTILINE)
    time = re.search(r"^Time: ([\d.]+)$", output, re.MULTILINE)
    if groups and loops and time:
        return int(groups[1]) * int(loops[1]) * PER_GROUP, float(time[1])
    return None


def per_message(counted: tuple[int, float], shift: int) -> float:
    """Instructions, of messages and seconds."""
    messages, seconds = counted
    return seconds * 1e9 / 2**shift / messages


def instructions_by_turn(output: str, shift: int) -> dict[str, list[float]]:
    """Instructions per message of each start that idle-turns made: absent, loaded."""
    found: dict[str, list[float]] = {"absent": [], "loaded": []}
    for turn in re.split("^turn ", output, flags=re.MULTILINE)[1:]:
        kind, _, said = turn.partition("\n")
        counted = messages_and_time(said)
        if kind in found and counted:
            found[kind].append(per_message(counted, shift))
    return found


class Idle(Suite):
    """The module's cost when it has nothing to do."""

    name = "idle"
    title = "Idle: what the module costs while everything fits"
    source = "issue 3; the design's invariant 4: under 0.5 % of the instructions"
    programs = ("pingpong",)

    def points(self, effort: str) -> list[Setting]:
        """Parameters: program, messages (at least so many), jobs (none or fit), turns (0: none)."""
        if effort == "smoke":
            return [self._point("pingpong", 20_000, "fit")]
        messages = 400_000 if effort == "quick" else 2_000_000
        return [
            self._point(program, messages, jobs)
            for program in ("pingpong", "hackbench")
            for jobs in JOBS
        ]

    def _point(self, program: str, messages: int, jobs: str) -> Setting:
        overcommit = 0.3 if jobs == "fit" else 0.03
        return self.point(overcommit, jobs=jobs, messages=messages, program=program)

    def policies(self, effort: str) -> tuple[str, ...]:
        """Without the other policies, which add nothing to the kernel."""
        return ("stock", "mts")

    def workload(self, setting: Setting) -> Workload:
        """The benchmark, and jobs that hold memory and sleep."""
        jobs = setting.param("jobs", "fit")
        if jobs not in JOBS:
            raise LabError(f"idle: jobs is {jobs}: {' or '.join(JOBS)}")
        command, files = _benchmark(
            setting.param("program", "pingpong"), setting.param("messages", 400_000)
        )
        files |= {"bin/idle-run": RUN, "bin/idle-hold": HOLD}
        turns = setting.param("turns", 0)
        if turns:
            files |= _turns_files(setting)
            command = ("/bin/idle-turns", jobs, str(turns), *command)
        holders = []
        if jobs == "fit":
            each = round((setting.demand_mib - BENCHMARK_MIB) / HOLDERS)
            if each < 1:
                raise LabError("idle: the overcommit leaves nothing for jobs to hold")
            for index in range(HOLDERS):
                name = f"hold-{index}"
                inside = ("/bin/idle-in", name) if turns else ()
                holds = (*inside, "/bin/idle-hold", name, str(each))
                holders.append(Job(name, holds, each, endless=True))
        # the holders are there and asleep when the benchmark begins
        delay = (1.0 if holders else 0.0) + LATER_S * (setting.seed - 1)
        if not turns or jobs == "none":
            command = ("/bin/idle-run", jobs, *command)
        benchmark = Job("bench", command, BENCHMARK_MIB, delay=delay)
        return Workload((*holders, benchmark), files)

    def score(self, setting: Setting) -> Score:
        """The exact cost, without the benchmark's beginning and end."""
        if setting.param("turns", 0):
            return Score(
                "suite.loaded_over_absent", "instructions with the module", "times without"
            )
        return Score("suite.instructions_per_message", "instructions", "per message")

    def figures(self, setting: Setting, outcome: Outcome) -> Json:
        """Instructions per message; of turns, without the module and with it, and their ratio."""
        output = outcome.job("bench")["output"]
        if setting.param("turns", 0):
            found = instructions_by_turn(output, setting.shift)
            middle = {kind: statistics.median(found[kind]) for kind in found if found[kind]}
            both = len(middle) == len(found)
            return {
                "instructions_per_message": middle.get("absent"),
                "loaded_over_absent": middle["loaded"] / middle["absent"] if both else None,
                "turns": found,
            }
        counted = messages_and_time(output)
        if not counted:
            return {"messages": None, "instructions_per_message": None}
        return {
            "messages": counted[0],
            "instructions_per_message": per_message(counted, setting.shift),
        }

    def tables(self, results: Sequence[Json]) -> list[Table]:
        """Instructions per message in each situation, and the difference that the module makes."""
        groups: dict[tuple[str, str], dict[str, list[float]]] = {}
        for result in results:
            params, found = result["setting"]["params"], paperlib.own(result)
            if found["instructions_per_message"]:
                policies = groups.setdefault((params["program"], params["jobs"]), {})
                policies.setdefault(result["setting"]["policy"], []).append(
                    found["instructions_per_message"]
                )
        rows = []
        for (program, jobs), policies in sorted(groups.items(), reverse=True):
            base = policies.get("stock")
            for policy, values in policies.items():
                change = "-"
                if base and policy != "stock":
                    change = (
                        f"{100 * (sum(values) / len(values) * len(base) / sum(base) - 1):+.2f} %"
                    )
                situation = {
                    ("stock", "none"): "module absent",
                    ("stock", "fit"): "module absent, in a cgroup",
                    ("mts", "none"): "loaded, no job",
                    ("mts", "fit"): f"loaded, {HOLDERS + 1} jobs that fit",
                }.get((policy, jobs), f"{policy}, {jobs}")
                rows.append((program, situation, paperlib.number(values, 1), change))
        return [
            Table(
                "Instructions per message while there is nothing to do",
                ("program", "situation", "instructions", "the module's share"),
                tuple(rows),
                "hackbench tells its time to the millisecond.",
            )
        ]


def _benchmark(program: str, messages: int) -> tuple[tuple[str, ...], dict[str, Path | str]]:
    if program == "pingpong":
        return ("/bin/pingpong", str(messages + messages % 2)), {}
    if program == "hackbench":
        groups = 5
        loops = -(-messages // (groups * PER_GROUP))
        command = ("/usr/bin/hackbench", "-g", str(groups), "-l", str(loops))
        return command, dict(programs.closure("hackbench"))
    raise LabError(f"idle: no program {program}: pingpong, hackbench")


def _turns_files(setting: Setting) -> dict[str, Path | str]:
    if setting.policy != "stock":
        raise LabError(
            f"idle: turns load the module themselves: policy stock, not {setting.policy}"
        )
    if not _MTSCTL.exists():
        raise LabError(f"{_MTSCTL.relative_to(ROOT)} is not built: make guest-module static")
    return {
        "bin/idle-in": IN,
        "bin/idle-turns": TURNS,
        "bin/mts.ko": kernel.obtain(setting.kernel).mts,
        "bin/mtsctl": _MTSCTL,
    }


SUITE = Idle()
