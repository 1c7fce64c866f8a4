# SPDX-License-Identifier: GPL-2.0
"""What the laboratory's commands share: bench/run and bench/bars."""

import sys
from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console

from bench.lab import LabError, results
from bench.lab.experiment import Json, Setting
from bench.lab.pool import Item, Pool, cost
from bench.lab.progress import Display, duration, label
from bench.policies import POLICIES
from bench.suites import SUITES


def words(_context: click.Context, _option: click.Parameter, value: str | None) -> tuple[str, ...]:
    """An option of several words, with commas between them."""
    return tuple(word for word in (value or "").split(",") if word)


def seeds(_context: click.Context, _option: click.Parameter, value: str) -> tuple[int, ...]:
    """An option of seeds: 3, or 1..5."""
    first, _, last = value.partition("..")
    try:
        found = tuple(range(int(first), int(last or first) + 1))
    except ValueError:
        raise click.BadParameter(f"{value}: not 3 or 1..5") from None
    if not found or found[0] < 0:
        raise click.BadParameter(f"{value}: no seed in that")
    return found


def kept(settings: list[Setting], folder: Path) -> tuple[list[Setting], list[Json]]:
    """Settings that have no result yet, and the results of the others, which are printed."""
    missing, found = [], []
    for setting in settings:
        path = folder / results.file_name(setting)
        if path.exists():
            found.append(results.read(path))
            click.echo(f"{label(setting)}: kept {path}", err=True)
        else:
            missing.append(setting)
    return missing, found


def show_plan(settings: list[Setting], folder: Path, parallel: int) -> None:
    """What would be measured, and how long that takes: as it did, or a guess from above."""
    whole = 0.0
    for setting in settings:
        path = folder / results.file_name(setting)
        took = results.read(path).get("real_seconds") if path.exists() else None
        guess = took or cost(setting, POLICIES[setting.policy])
        whole += guess
        about = f"{'took' if took else 'at most about'} {duration(guess)}"
        click.echo(f"{label(setting)}, limit {setting.limit:g} s: {about}")
    guess = duration(whole / parallel)
    click.echo(f"{len(settings)} runs, {parallel} side by side: at most about {guess}")


def measure(settings: list[Setting], folder: Path, parallel: int) -> tuple[list[Json], int]:
    """Run settings; their results, and how many gave none."""
    found: list[Json] = []
    failed = 0
    console = Console(stderr=True)
    with Display(console) as display:

        def over(item: Item) -> None:
            nonlocal failed
            display.over(item)
            if item.result:
                found.append(item.result)
                results.write(item.result, folder / results.file_name(item.setting))
            else:
                failed += 1

        pool = Pool(
            settings=settings,
            suites=SUITES,
            policies=POLICIES,
            where=results.origin(),
            parallel=parallel,
            on_over=over,
            on_poll=display.poll,
        )
        display.begin(pool)
        pool.run()
    return found, failed


def call(main: Callable[..., int], name: str) -> None:
    """Run a command of click's to its exit status."""
    try:
        sys.exit(main(standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except LabError as error:
        click.echo(f"{name}: {error}", err=True)
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort):
        click.echo(f"\n{name}: interrupted", err=True)
        sys.exit(130)
