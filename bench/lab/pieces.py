# SPDX-License-Identifier: GPL-2.0
"""Pieces: what the bars have to have measured, one at a time, each kept in a file of its own.

A piece is below an hour. Its file is written when it is over, so that a command that was ended goes
on where it was. Guests run side by side, and so do simulations; what this host's clock measures
runs alone.
"""

import dataclasses
import hashlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from bench.lab import ROOT, LabError, results, simulation
from bench.lab.experiment import Json, Setting


class Piece(ABC):
    """One measurement."""

    seed: int

    @property
    @abstractmethod
    def path(self) -> Path:
        """Of its file, in the folder of results."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What it is, for people."""

    def read(self, folder: Path) -> Json | None:
        """What was measured; None: it has not been."""
        path = folder / self.path
        if not path.exists():
            return None
        try:
            found: Json = json.loads(path.read_text("utf-8"))
        except ValueError:
            raise LabError(f"{path}: not JSON") from None
        return found


@dataclass(frozen=True)
class Guest(Piece):
    """A guest of the laboratory."""

    setting: Setting

    @property
    def seed(self) -> int:  # type: ignore[override]
        """The setting's."""
        return self.setting.seed

    @property
    def path(self) -> Path:
        """As of bench/run."""
        return Path("guest") / results.file_name(self.setting)

    @property
    def words(self) -> str:
        """The policy and the point."""
        setting = self.setting
        params = "".join(f" {name}={value}" for name, value in setting.params)
        return (
            f"guest {setting.suite} {setting.policy} {setting.disk} x{setting.overcommit:g}, "
            f"{setting.free_mib} MiB free{params}, seed {setting.seed}"
        )


@dataclass(frozen=True)
class Simulated(Piece):
    """A run of bench/simulate."""

    name: str
    seed: int
    asked: tuple[str, ...]
    sizes: tuple[int, ...] = ()  # bytes of each job; none: `asked` says

    @property
    def path(self) -> Path:
        """By its name, and by all that is asked: of other words the old file is no result."""
        name = self.name.replace(" ", "-")
        return Path("simulator") / f"{name}-seed{self.seed}-{_digest(self.asked, self.sizes)}.json"

    @property
    def words(self) -> str:
        """The name is all that differs."""
        return f"simulator {self.name}, seed {self.seed}"

    def run(self, folder: Path) -> None:
        """Simulate it, and keep what it says."""
        with tempfile.NamedTemporaryFile("w", suffix=".sizes") as sizes:
            words = list(self.asked)
            if self.sizes:
                print(*self.sizes, sep="\n", file=sizes, flush=True)
                words = ["--sizes", f"file:{sizes.name}", *words]
            found = simulation.run([*words, "--json"])
        found |= {"asked": shlex.join(self.asked), **_commit()}
        found.pop("bins")
        results.write(found, folder / self.path)


@dataclass(frozen=True)
class Native(Piece):
    """A run of bench/bench-host: each policy once."""

    memory: str
    seed: int
    asked: tuple[str, ...]

    @property
    def path(self) -> Path:
        """By the size and the seed, and by all that is asked."""
        return Path("native") / f"{self.memory}-seed{self.seed}-{_digest(self.asked)}.json"

    @property
    def words(self) -> str:
        """The size and the seed."""
        return f"native {self.memory}, seed {self.seed}"

    def run(self, folder: Path) -> None:
        """Measure it. bench-host begins its own file of runs anew each time: it is copied."""
        if os.geteuid():
            raise LabError("it makes cgroups and swap: run it as root")
        with tempfile.TemporaryDirectory() as scratch:
            command = [ROOT / "bench" / "bench-host", "--output", scratch, *self.asked]
            done = subprocess.run([sys.executable, *command], check=False)
            if done.returncode:
                raise LabError(f"bench/bench-host ended with {done.returncode}")
            lines = (Path(scratch) / "runs.jsonl").read_text("utf-8").splitlines()
        found = {"runs": [json.loads(line) for line in lines], **_commit()}
        results.write(found, folder / self.path)


def _digest(*of: object) -> str:
    return hashlib.sha256(repr(of).encode()).hexdigest()[:8]


def _commit() -> Json:
    where = dataclasses.asdict(results.origin())
    return {"commit": where["commit"], "dirty": where["dirty"]}


Say = Callable[[str], None]


def simulate(pieces: Sequence[Simulated], folder: Path, parallel: int, say: Say) -> int:
    """Run them side by side. Returns how many failed."""
    if not pieces:
        return 0
    simulation.build()
    failed = 0
    with ThreadPoolExecutor(parallel) as pool:
        waiting = {pool.submit(piece.run, folder): piece for piece in pieces}
        try:
            for number, over in enumerate(as_completed(waiting), 1):
                failed += not _told(over.result, waiting[over], say, f"{number}/{len(pieces)}")
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return failed


def measure_host(pieces: Sequence[Native], folder: Path, say: Say) -> int:
    """Run them one after the other. Returns how many failed."""
    return sum(
        not _told(lambda piece=piece: piece.run(folder), piece, say, f"{at}/{len(pieces)}")
        for at, piece in enumerate(pieces, 1)
    )


def _told(run: Callable[[], None], piece: Piece, say: Say, at: str) -> bool:
    """Has it worked?"""
    try:
        run()
    except (LabError, OSError) as error:
        say(f"{at} {piece.words}: FAILED: {error}")
        return False
    say(f"{at} {piece.words}: kept in {piece.path}")
    return True
