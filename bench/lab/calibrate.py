# SPDX-License-Identifier: GPL-2.0
"""Measures the memory and the time that the programs of suites need when they are alone.

    python3 -m bench.lab.calibrate [SUITE...]

boots one guest with plenty of memory for each suite that has trials, runs each trial in a
cgroup of its own, and writes bench/suites/demands.json: there suites look up what their jobs
demand. Nothing in that file is typed by hand. A trial's demand is its cgroup's memory.peak:
anonymous memory, files in tmpfs, page tables; not the program's own text, which is part of the
guest's image, which is charged to no cgroup. This is the memory that mts counts for a job.

The clock is that of a measurement, so the figures do not depend on the machine: processor time
at 1 ns an instruction is the number of instructions.
"""

import argparse
import functools
import importlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.lab import BUILD, ROOT, LabError, guest, kernel

DEMANDS = ROOT / "bench/suites/demands.json"
SUITES = ("spec", "builds", "stress_ng")  # modules of bench.suites with trials()
_MEMORY_MIB = 768
_CGROUP = "/sys/fs/cgroup/trial"


@dataclass(frozen=True)
class Trial:
    """One program as a suite runs it, with the least work that shows its full memory."""

    command: tuple[str, ...]
    files: Mapping[str, Path | str] = field(default_factory=dict)
    setup: str = ""  # shell commands before it, outside the measured cgroup


@dataclass(frozen=True)
class Demand:
    """What a trial was seen to need."""

    peak_mib: float
    cpu_s: float  # at 1 ns an instruction


@functools.cache
def _measured() -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    try:
        return json.loads(DEMANDS.read_text())
    except FileNotFoundError:
        return {}


def demand(suite: str, trial: str) -> Demand:
    """What was measured of a suite's trial. LabError if it never was."""
    found = _measured().get(suite, {}).get(trial)
    if not found:
        raise LabError(
            f"the demand of {trial} was never measured: python3 -m bench.lab.calibrate {suite}"
        )
    return Demand(**found)


def script(trials: Mapping[str, Trial]) -> str:
    """What the guest does: it reports a line `trial NAME BYTES MICROSECONDS` for each."""
    lines = [
        "exec 4>/dev/ttyS1",
        "PATH=/bin:/usr/bin",
        # the trials' files, apart from the image's; as the runner's guests have it
        "grep -q ' /tmp tmpfs ' /proc/mounts || mount -t tmpfs tmp /tmp || exit 1",
        "attempt() {",
        "\tname=$1",
        "\tshift",
        f"\tmkdir {_CGROUP} || return 1",
        f'\tif ! (echo 0 >{_CGROUP}/cgroup.procs; exec "$@") >/lab/out 2>&1; then',
        '\t\techo "failed $name $(tail -n 3 /lab/out)" >&4',
        "\t\treturn 1",
        "\tfi",
        f"\tread -r peak <{_CGROUP}/memory.peak",
        f"\tused=$(sed -n 's/^usage_usec //p' {_CGROUP}/cpu.stat)",
        f"\trmdir {_CGROUP} || return 1",
        '\techo "trial $name $peak $used" >&4',
        "}",
    ]
    for name, trial in trials.items():
        lines += [trial.setup] if trial.setup else []
        words = " ".join(_quote(word) for word in trial.command)
        lines.append(f"attempt {name} {words} || exit 1")
    return "\n".join(lines)


def measure(
    trials: Mapping[str, Trial],
    own: Sequence[str],
    series: str,
    on_line: Callable[[str], None],
) -> dict[str, Demand]:
    """Run trials in one guest. `own`: programs of build/static that they need in /bin."""
    files: dict[str, Path | str] = {f"bin/{name}": BUILD / "static" / name for name in own}
    for trial in trials.values():
        files |= trial.files
    found: dict[str, Demand] = {}
    said: list[str] = []

    def report(line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "trial":
            name, peak, used = rest.split()
            found[name] = Demand(round(int(peak) / 2**20, 2), round(int(used) / 1e6, 4))
            on_line(f"{name:24} {found[name].peak_mib:8.2f} MiB {found[name].cpu_s:9.3f} s")
        elif word == "failed":
            said.append(rest)

    spec = guest.Spec(
        kernel=kernel.obtain(series),
        main=script(trials),
        profile=guest.icount(0),
        memory_mib=_MEMORY_MIB,
        files=files,
        timeout=3600,
    )
    verdict = guest.run(spec, BUILD / "calibrate", on_report=report)
    if not verdict.good:
        raise LabError("\n".join([*said, str(verdict)]))
    return found


def _quote(word: str) -> str:
    escaped = word.replace("'", "'\\''")
    return f"'{escaped}'"


def main() -> int:
    """Measure and write demands.json."""
    parser = argparse.ArgumentParser(
        prog="python3 -m bench.lab.calibrate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"of {', '.join(SUITES)}; all")
    parser.add_argument("--only", metavar="TRIAL", action="append", help="these trials alone")
    parser.add_argument("--kernel", default="6.1", help="series or release (6.1)")
    options = parser.parse_args()
    try:
        for name in options.suites or SUITES:
            module = importlib.import_module(f"bench.suites.{name.replace('-', '_')}")
            trials = module.trials()
            if options.only:
                trials = {key: trials[key] for key in options.only if key in trials}
            print(f"{module.SUITE.name}:", flush=True)
            found = measure(
                trials, module.SUITE.programs, options.kernel, functools.partial(print, flush=True)
            )
            _store(module.SUITE.name, found, keep=bool(options.only))
    except LabError as error:
        print(f"calibrate: {error}", file=sys.stderr)
        return 1
    return 0


def _store(suite: str, found: Mapping[str, Demand], keep: bool) -> None:
    everything = json.loads(DEMANDS.read_text()) if DEMANDS.exists() else {}
    old = everything.get(suite, {}) if keep else {}
    everything[suite] = {**old, **{name: asdict(value) for name, value in found.items()}}
    DEMANDS.write_text(json.dumps(everything, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    sys.exit(main())
