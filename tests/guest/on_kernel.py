#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Run the guest's tests on other kernels than the one that they are run on by pytest, or singly.

usage: tests/guest/on_kernel.py [--counted] bookworm|debug|rt|trixie|sid [PROGRAM...]
    (all of them without)

bookworm: the kernel that pytest runs them on, too, but each program in a guest of its own: for one
    program at a time. Tests have to pass. On the others guests have two processors and the host's
    clock: what two processors do to each other is looked for there.
trixie, sid: those of Debian's newer suites, as tools/newer-kernels has made them; `make test-newer`
    does it for both. About half an hour each. Tests have to pass.
rt: Debian 12's PREEMPT_RT kernel, as tools/rt-kernel has made it; `make test-rt` does.
    Tests have to pass.
debug: the kernel of tools/debug-kernel, with module/mts.ko; `make test-debug` does. Two hours. What
    counts is what the kernel says: it must not complain (lockdep, KASAN, RCU, sleeping in atomic
    context, ...), and every program must come to its end. Everything takes several times as long
    there, and more memory: tests that fail are listed, but as a rule for that.
--counted: one processor, and a clock that counts instructions, for tests of what something costs.

exit status: 0; 1 if a kernel complained, a program did not end, or a test failed that has to pass;
2: usage, or the kernel is not there
"""

import dataclasses
import importlib
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.lab import BUILD, LabError, kernel
from tests.guest import harness

DEBUG = BUILD / "debug/kernel"


@dataclass(frozen=True)
class Target:
    """A kernel, and how its guests differ."""

    name: str
    kernel: kernel.Kernel
    more_mib: int = 0  # of memory
    slower: int = 1
    must_pass: bool = True
    module_options: str = ""  # in front of a group's own
    processors: int = 2


def target(name: str) -> Target:
    """By its name on the command line."""
    if name == "bookworm":
        return Target(name, kernel.obtain(), processors=1)
    if name == "debug":
        found = [kernel.Kernel(path.name, DEBUG) for path in (DEBUG / "lib/modules").glob("*")]
    elif name == "rt":
        found = kernel.preempt_rt()
    else:
        found = [its for its in kernel.newer() if its.tree.name == name]
    if len(found) != 1:
        raise LabError(
            f"{len(found)} kernels {name}, not one: tools/debug-kernel, tools/rt-kernel, make newer"
        )
    if name == "debug":  # most of the memory is KASAN's shadow
        return Target(name, found[0], more_mib=1024, slower=5, must_pass=False)
    if name == "rt":  # where it refuses to load if it is not told to
        return Target(name, found[0], slower=2, module_options="rt=1 ")
    return Target(name, found[0])


def groups(where: Target, programs: list[str]) -> list[harness.Group]:
    """A guest for each program, as its test file has it but for time and memory."""
    found = []
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        group = getattr(importlib.import_module(f"tests.guest.{path.stem}"), "GROUP", None)
        for program in group.programs if group else ():
            if not programs or program in programs:
                found.append(
                    dataclasses.replace(
                        group,
                        name=f"{where.name}-{program}",
                        programs=(program,),
                        memory_mib=group.memory_mib + where.more_mib,
                        seconds=group.seconds * where.slower,
                        processors=max(group.processors, where.processors),
                    )
                )
    return found


def run(group: harness.Group, where: Target) -> bool:
    """Boot it, tell how it went; was it well?"""
    began = time.monotonic()
    spec = harness.spec(group, where.kernel)
    spec = dataclasses.replace(
        spec,
        module=where.kernel.mts if spec.module else None,
        module_options=where.module_options + spec.module_options,
        timeout=spec.timeout + (where.slower - 1) * 75,
    )
    done = harness.boot(group, spec, harness.LOGS / group.name)
    (output,) = done.outputs.values()
    failed = [name for name, result in output.results.items() if not result.good]
    complaints = [output.complaint()] if output.complaint() else []
    complaints += [] if done.verdict.good else [str(done.verdict)]
    print(
        f"{group.programs[0]}: {len(output.results) - len(failed)} of {output.plan} tests passed,",
        f"{time.monotonic() - began:.0f} s:",
        "; ".join(complaints) or "the kernel has no complaint",
        flush=True,
    )
    for name in failed:
        print(f"    not ok {name}: {output.results[name].why}", flush=True)
    return not complaints and not (failed and where.must_pass)


def main() -> int:
    """All, or those named."""
    words = sys.argv[1:]
    counted = words[:1] == ["--counted"]
    words = words[counted:]
    if not words:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        where = target(words[0])
    except LabError as error:
        print(f"on_kernel: {error}", file=sys.stderr)
        return 2
    if counted:
        where = dataclasses.replace(where, processors=1)
    wanted = groups(where, words[1:])
    if not wanted:
        print(f"on_kernel: no program {' '.join(words[1:])}", file=sys.stderr)
        return 2
    results = [run(group, where) for group in wanted]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
