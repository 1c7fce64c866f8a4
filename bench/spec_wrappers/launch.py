# SPDX-License-Identifier: GPL-2.0
"""Command lines of runspec and runcpu, and the start of all of a mix at the same time."""

import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.lab import LabError
from bench.spec_wrappers.tree import Tree

SIZES = ("test", "train", "ref")
TUNES = ("base", "peak")
ACTIONS = ("validate", "run", "onlyrun", "setup", "build")


@dataclass(frozen=True)
class Options:
    """As SPEC's documents name them."""

    config: str
    size: str = "ref"
    iterations: int = 1
    tune: str = "base"
    action: str = "validate"
    build: bool = False  # let the tool build what is missing


def command(tree: Tree, benchmark: str, options: Options) -> list[str]:
    """The command line for one benchmark. It is to be run after `. ./shrc` in the tree.

    The results of a mix are no reportable runs, which would need all benchmarks of a suite.
    CPU2000's runspec calls that --loose, and has no --nobuild; what is built already it does not
    build again. Raw files are always written.
    """
    line = [
        *(tree.generation.tool, f"--config={tree.config(options.config)}"),
        *(f"--size={options.size}", f"--iterations={options.iterations}"),
        *(f"--tune={options.tune}", f"--action={options.action}"),
    ]
    if tree.generation.name == "CPU2000":
        line += ["--loose", "--output_format=asc"]
    else:
        line += ["--noreportable", "--output_format=csv,text"]
        if not options.build and options.action != "build":
            line.append("--nobuild")
    return [*line, benchmark]


def check(tree: Tree, benchmarks: Sequence[str], options: Options) -> None:
    """LabError if something is missing that the tools would only say after a while."""
    tree.config(options.config)
    for benchmark in dict.fromkeys(benchmarks):
        tree.directory(benchmark)
        build = options.build or options.action == "build"
        if not build and not tree.built(benchmark, options.tune):
            raise LabError(
                f"{benchmark} is not built ({options.tune}): run this with --action build first, "
                "or with --build"
            )


@dataclass(frozen=True)
class Instance:
    """One that runs: its place among all, its files."""

    index: int
    benchmark: str
    directory: Path  # for log, and status when it has ended

    @property
    def log(self) -> Path:
        """What the tool printed."""
        return self.directory / f"{self.index:02}.{self.benchmark}.log"

    @property
    def status_file(self) -> Path:
        """Exit status and the seconds that it took."""
        return self.directory / f"{self.index:02}.{self.benchmark}.status"

    def ended(self) -> tuple[int, float] | None:
        """Exit status and seconds; None if it was ended from outside."""
        try:
            status, seconds = self.status_file.read_text().split()
        except (OSError, ValueError):
            return None
        return int(status), float(seconds)


@dataclass(frozen=True)
class Launch:
    """A mix, ready to start."""

    tree: Tree
    options: Options
    instances: tuple[Instance, ...]
    mts: bool  # under `mtsctl run --each=child`, every instance a job; else stock
    name: str = field(default="spec")

    def script(self) -> str:
        """The shell commands (bash, as shrc wants it) that start all and wait for all."""
        lines = [f"cd {shlex.quote(str(self.tree.path))} && . ./shrc || exit 1"]
        for instance in self.instances:
            words = shlex.join(command(self.tree, instance.benchmark, self.options))
            log, status = (shlex.quote(str(p)) for p in (instance.log, instance.status_file))
            lines.append(
                f"( start=$(date +%s.%N); {words} >{log} 2>&1 </dev/null; status=$?; "
                'echo "$status $(date +%s.%N) $start" | '
                f"awk '{{print $1, $2 - $3}}' >{status} ) &"
            )
        return "\n".join([*lines, "wait"])

    def command(self) -> list[str]:
        """What is run."""
        shell = ["bash", "-c", self.script()]
        return (
            ["mtsctl", "run", "--each=child", "--name", self.name, "--", *shell]
            if self.mts
            else shell
        )

    def run(self) -> float:
        """Start all, wait for all; the seconds that it took. LabError if it could not start."""
        first = self.command()[0]
        if not shutil.which(first, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"):
            raise LabError(
                f"{first} is not installed" + ("" if first == "bash" else ": make install")
            )
        for instance in self.instances:
            instance.status_file.unlink(missing_ok=True)
        start = time.monotonic()
        done = subprocess.run(self.command())
        if done.returncode:
            raise LabError(f"{shlex.join(self.command()[:6])} ...: exit status {done.returncode}")
        return time.monotonic() - start


def build_first(tree: Tree, benchmarks: Sequence[str], options: Options) -> list[str]:
    """The shell command that builds each benchmark once, one after the other.

    Several tools that build one benchmark at the same time would disturb each other.
    """
    build = Options(options.config, options.size, 1, options.tune, "build", build=True)
    lines = [f"cd {shlex.quote(str(tree.path))} && . ./shrc || exit 1"]
    lines += [
        f"{shlex.join(command(tree, benchmark, build))} || exit 1"
        for benchmark in dict.fromkeys(benchmarks)
    ]
    return ["bash", "-c", "\n".join(lines)]
