#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Run the guest's tests on the kernel of tools/debug-kernel; `make test-debug` does.

What counts is what the kernel says: it must not complain (lockdep, KASAN, RCU, sleeping in atomic
context, ...), and every program must come to its end. Everything takes several times as long there,
and more memory: tests that fail are listed, but as a rule for that.

usage: tests/guest/debug.py [PROGRAM...]      (all of them: about two hours)
exit status: 0; 1 if a kernel complained or a program did not end
"""

import dataclasses
import importlib
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.lab import BUILD, kernel
from tests.guest import harness

DEBUG = BUILD / "debug"
MORE_MIB = 1024  # of memory, most of it KASAN's shadow
SLOWER = 5


def groups(programs: list[str]) -> list[harness.Group]:
    """A guest for each program, as its test file has it but for time and memory."""
    found = []
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        group = getattr(importlib.import_module(f"tests.guest.{path.stem}"), "GROUP", None)
        for program in group.programs if group else ():
            if not programs or program in programs:
                found.append(
                    dataclasses.replace(
                        group,
                        name=f"debug-{program}",
                        programs=(program,),
                        memory_mib=group.memory_mib + MORE_MIB,
                        seconds=group.seconds * SLOWER,
                    )
                )
    return found


def run(group: harness.Group, debug: kernel.Kernel) -> bool:
    """Boot it, tell how it went; is the kernel content?"""
    began = time.monotonic()
    spec = harness.spec(group)
    spec = dataclasses.replace(spec, kernel=debug, timeout=spec.timeout + 300)
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
    return not complaints


def main() -> int:
    """All, or those named."""
    (release,) = (path.name for path in (DEBUG / "kernel/lib/modules").iterdir())
    debug = kernel.Kernel(release, DEBUG / "kernel")
    wanted = groups(sys.argv[1:])
    if not wanted:
        print(f"debug: no program {' '.join(sys.argv[1:])}", file=sys.stderr)
        return 1
    results = [run(group, debug) for group in wanted]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
