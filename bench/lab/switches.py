# SPDX-License-Identifier: GPL-2.0
"""How fast the switches of a run were, one by one.

    python3 -m bench.lab.switches build/results/syn8/mts-ssd-….json

reads the trace events that a result has if it was run with `--param events=1`. What is evicted
and brought back is divided by the time that the rotor says it took (mts_switch_end), so MB/s are
of the whole switch, whatever it waited for. A switch in which less than 4 MiB went one way has no
figure of that way.
"""

import argparse
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.lab import LabError, results
from bench.lab.experiment import Json

PAGE = 4096
LEAST = 4 << 20  # bytes of which a pace is told
SHOWN = (1, 2, 5, 10, 20, 30, 40, 50)


@dataclass
class Switch:
    """One of them."""

    evicted: int = 0  # bytes
    evict_ns: int = 0
    brought_back: int = 0  # bytes
    bring_back_ns: int = 0


def _pace(size: int, ns: int) -> float | None:
    """MB/s."""
    return size * 1000 / ns if size >= LEAST and ns else None


def switches(events: Iterable[Json]) -> list[Switch]:
    """What the events tell; one that was cut short (err) does not count."""
    found: list[Switch] = []
    now: Switch | None = None
    for event in events:
        name, fields = event["event"], event["fields"]
        if name == "mts_switch_begin":
            now = Switch()
        elif now is None:
            continue
        elif name == "mts_evict":
            now.evicted += fields["got_bytes"]
        elif name == "mts_bring_back":
            now.brought_back += fields["pages"] * PAGE
        elif name == "mts_switch_end":
            now.evict_ns, now.bring_back_ns = fields["evict_ns"], fields["bring_back_ns"]
            if not fields["err"]:
                found.append(now)
            now = None
    return found


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def _row(name: str, out: float | None, back: float | None) -> str:
    return f"| {name} | {_cell(out)} | {_cell(back)} |"


def table(found: Sequence[Switch]) -> str:
    """As Markdown: some of them, and the medians of the first and the last ten."""
    paces = [(_pace(s.evicted, s.evict_ns), _pace(s.brought_back, s.bring_back_ns)) for s in found]
    rows = [_row(str(n), *paces[n - 1]) for n in SHOWN if n <= len(found)]
    for name, part in (("first ten", paces[:10]), ("last ten", paces[-10:])):
        ways = [[pace[i] for pace in part if pace[i] is not None] for i in (0, 1)]
        rows.append(_row(name, *(statistics.median(way) if way else None for way in ways)))
    head = ["| switch | evicted, MB/s | brought back, MB/s |", "|---|---:|---:|"]
    return "\n".join([*head, *rows])


def main() -> int:
    """Print the table of one result."""
    parser = argparse.ArgumentParser(prog="python3 -m bench.lab.switches", description=main.__doc__)
    parser.add_argument("result", type=Path, help="of a run of mts with --param events=1")
    path = parser.parse_args().result
    try:
        events = (results.read(path).get("policy") or {}).get("events")
        if not events:
            raise LabError(f"{path}: no trace events in it: run it with --param events=1")
        print(table(switches(events)))
    except LabError as error:
        print(f"switches: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
