# SPDX-License-Identifier: GPL-2.0
"""Runs settings, several guests side by side."""

import contextlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.lab import BUILD, LabError, results
from bench.lab.experiment import Json, Policy, Setting, Suite
from bench.lab.runner import Progress, Run, memory_mib

LOGS = BUILD / "bench"
_POLL = 0.2  # s
_MARGIN_MIB = 192  # for a guest's image, QEMU itself, and others on this machine
_BOOT_SHARE = 0.1  # of a run, for the bar
# Real seconds of a virtual second, of an instruction a nanosecond, for the first guess at how
# long a run takes: thrashing is slow to simulate. What a run is likely to take of its limit:
# policies that may thrash all of it, the others a part.
_COST_PLAIN, _COST_OTHER, _SHARE_OTHER, _BOOT_COST = 25.0, 6.0, 0.3, 15.0


def processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0))


def cost(setting: Setting, policy: Policy) -> float:
    """About how many real seconds a run takes."""
    plain = policy.start == "plain"
    rate = _COST_PLAIN if plain else _COST_OTHER * _SHARE_OTHER
    return _BOOT_COST + rate * setting.limit / 2**setting.shift


@dataclass
class Item:
    """One setting on its way."""

    setting: Setting
    cost: float
    run: Run | None = None
    result: Json | None = None
    error: str = ""
    over: bool = False

    @property
    def progress(self) -> Progress:
        """How far it is."""
        return self.run.progress if self.run else Progress()

    @property
    def share(self) -> float:
        """0 to 1, for a bar."""
        if self.over:
            return 1.0
        done = self.progress
        if done.stage not in ("runs", "ends"):
            return _BOOT_SHARE / 2 if self.run else 0.0
        part = max(done.work, done.seconds / self.setting.limit)
        return _BOOT_SHARE + (1 - _BOOT_SHARE) * min(1.0, part)


@dataclass
class Pool:
    """All of a command's runs. `on_over` is called for each run that is over."""

    settings: Sequence[Setting]
    suites: Mapping[str, Suite]
    policies: Mapping[str, Policy]
    where: results.Origin
    parallel: int
    logs: Path = LOGS
    on_over: Callable[[Item], None] = lambda item: None
    on_poll: Callable[["Pool"], None] = lambda pool: None
    items: list[Item] = field(init=False)

    def __post_init__(self) -> None:
        """Make the items; an unknown suite or policy is a KeyError."""
        self.items = [Item(s, cost(s, self.policies[s.policy])) for s in self.settings]
        self._began = time.monotonic()

    @property
    def running(self) -> list[Item]:
        """The slots that have a guest now."""
        return [item for item in self.items if item.run and not item.over]

    @property
    def share(self) -> float:
        """How much of everything is done, 0 to 1."""
        whole = sum(item.cost for item in self.items)
        return sum(item.cost * item.share for item in self.items) / whole if whole else 1.0

    @property
    def elapsed(self) -> float:
        """Real seconds since the beginning."""
        return time.monotonic() - self._began

    @property
    def remaining(self) -> float | None:
        """Real seconds until all is done, as it went until now. None: too early to say."""
        share = self.share
        return self.elapsed * (1 - share) / share if share > 0.02 else None

    def run(self) -> None:
        """Run everything. A run that fails is noted in its item, and the others go on."""
        self._began = time.monotonic()
        with contextlib.ExitStack() as stack:
            waiting = list(self.items)
            while waiting or self.running:
                while waiting and len(self.running) < self.parallel:
                    if not self._start(waiting[0], stack):
                        break
                    waiting.pop(0)
                for item in self.running:
                    self._look(item)
                self.on_poll(self)
                if self.running:
                    time.sleep(_POLL)

    def _start(self, item: Item, stack: contextlib.ExitStack) -> bool:
        """False if it must wait, because the running guests need the machine's memory."""
        setting = item.setting
        try:
            need = memory_mib(setting) + _MARGIN_MIB
            if need > available_mib() - self._to_come():
                if self.running:
                    return False
                raise LabError(
                    f"the guest takes {need} MiB, and this machine has "
                    f"{available_mib():.0f} MiB available"
                )
            suite, policy = self.suites[setting.suite], self.policies[setting.policy]
            item.run = stack.enter_context(
                Run(setting, suite, policy, where=self.where, logs=self.logs)
            )
            item.run.start()
        except (LabError, OSError) as error:
            self._over(item, str(error))
        return True

    def _to_come(self) -> float:
        """MiB that guests which have just begun may not have taken yet."""
        return sum(
            item.run.memory_mib
            for item in self.running
            if item.run and item.progress.stage in ("waits", "boots")
        )

    def _look(self, item: Item) -> None:
        assert item.run
        if not item.run.poll():
            return
        try:
            item.result = item.run.result()
            error = ""
        except LabError as failure:
            error = str(failure)
        except Exception as failure:  # a suite's figures() must not end the sweep
            error = f"{type(failure).__name__}: {failure}\nlogs: {item.run.logs}"
        finally:
            item.run.close()
        self._over(item, error)

    def _over(self, item: Item, error: str) -> None:
        item.error, item.over = error, True
        self.on_over(item)


def available_mib() -> float:
    """What this machine has left."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return int(rest.split()[0]) / 1024
    raise LabError("/proc/meminfo has no MemAvailable")
