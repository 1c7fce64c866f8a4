# SPDX-License-Identifier: GPL-2.0
"""Shows how far a pool is: bars on a terminal, plain lines elsewhere."""

import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from bench.lab.experiment import Setting
from bench.lab.pool import Item, Pool

LINE_EVERY = 30.0  # s, of plain lines


def duration(seconds: float | None) -> str:
    """3:05 or 1:02:03; ? if it is not known."""
    if seconds is None:
        return "?"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def label(setting: Setting) -> str:
    """A run, in a few words."""
    params = " ".join(f"{name}={value}" for name, value in setting.params)
    words = [setting.suite, setting.policy, setting.disk, f"x{setting.overcommit:.3g}", params]
    return " ".join(filter(None, [*words, f"seed {setting.seed}"]))


def state(item: Item) -> str:
    """How far a run is, in a few words."""
    done = item.progress
    if done.stage == "runs":
        limit = item.setting.limit
        return f"{100 * done.work:.1f} % in {done.seconds:.0f} of {limit:g} virtual s"
    return done.stage


def ended(item: Item) -> str:
    """How a run ended, in a line; of one that failed also why."""
    if not item.result:
        return f"{label(item.setting)}: FAILED: {item.error}"
    figures = item.result["figures"]
    if figures["finished"]:
        how = f"done in {figures['elapsed_s']:.2f} virtual s"
    else:
        how = f"{100 * figures['work']:.2f} % of the work in {figures['elapsed_s']:.2f} virtual s"
    return f"{label(item.setting)}: {how} ({duration(item.result['real_seconds'])} real)"


class Display:
    """For Pool.on_over and Pool.on_poll; used with `with`."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress: Progress | None = None
        self._all: TaskID | None = None
        self._bars: dict[int, TaskID] = {}  # by id() of its item
        self._printed = time.monotonic()
        self._over = 0
        if console.is_terminal:
            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.percentage:3.0f} %"),
                TextColumn("{task.fields[state]}"),
                console=console,
            )

    def __enter__(self) -> "Display":
        if self._progress:
            self._progress.start()
            self._all = self._progress.add_task("all runs", total=1.0, state="")
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress:
            self._progress.stop()

    def begin(self, pool: Pool) -> None:
        """Print the runs that follow."""
        guess = sum(item.cost for item in pool.items) / pool.parallel
        text = f"{len(pool.items)} runs, {pool.parallel} side by side: at most about "
        self._console.print(text + duration(guess), markup=False, highlight=False)

    def over(self, item: Item) -> None:
        """A run has ended."""
        self._over += 1
        self._console.print(ended(item), markup=False, highlight=False, soft_wrap=True)

    def poll(self, pool: Pool) -> None:
        """Show the progress of all runs, if it is time to."""
        whole = f"{self._over} of {len(pool.items)}, {duration(pool.remaining)} left"
        if self._progress:
            self._bars_now(pool, whole)
        elif time.monotonic() >= self._printed + LINE_EVERY:
            self._printed = time.monotonic()
            now = [f"{label(item.setting)}: {state(item)}" for item in pool.running]
            line = f"[{duration(pool.elapsed)}] {whole}; " + "; ".join(now)
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _bars_now(self, pool: Pool, whole: str) -> None:
        assert self._progress
        assert self._all is not None
        self._progress.update(self._all, completed=pool.share, state=whole)
        running = {id(item): item for item in pool.running}
        for gone in self._bars.keys() - running.keys():
            self._progress.remove_task(self._bars.pop(gone))
        for key, item in running.items():
            if key not in self._bars:
                name = label(item.setting)
                self._bars[key] = self._progress.add_task(name, total=1.0, state="")
            self._progress.update(self._bars[key], completed=item.share, state=state(item))
