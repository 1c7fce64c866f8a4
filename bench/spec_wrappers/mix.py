# SPDX-License-Identifier: GPL-2.0
"""Mixes in the notation of Reuven & Wiseman, figure 2: `3gzip+2gcc`.

A number says how many of a program run, 1 if there is none; + joins programs. All of a mix run
at the same time.
"""

import re
from dataclasses import dataclass

from bench.lab import LabError

_PART = re.compile(r"(\d*)([a-zA-Z_][\w-]*|\d{3}\.[\w-]+)")
_MOST = 1000


@dataclass(frozen=True)
class Part:
    """So many of one program."""

    count: int
    program: str


def parse(text: str) -> tuple[Part, ...]:
    """The parts of a mix. A full benchmark name needs an x before it to be counted: 3x164.gzip."""
    parts = []
    for word in text.replace(" ", "").split("+"):
        counted = re.fullmatch(r"(\d+)x(\d{3}\.[\w-]+)", word)
        match = counted or _PART.fullmatch(word)
        if not match:
            raise LabError(f"mix {text!r}: {word!r} is not a program with its number: 3gzip+2gcc")
        count = int(match[1] or 1)
        if not 1 <= count <= _MOST:
            raise LabError(f"mix {text!r}: {count} of {match[2]}: not from 1 to {_MOST}")
        parts.append(Part(count, match[2]))
    return tuple(parts)


def programs(parts: tuple[Part, ...]) -> list[str]:
    """One name for each that runs, the programs in turns: gzip gcc gzip gcc gzip."""
    most = max(part.count for part in parts)
    return [part.program for turn in range(most) for part in parts if turn < part.count]


def text(parts: tuple[Part, ...]) -> str:
    """The notation of a mix, as parse() reads it."""
    words = []
    for part in parts:
        between = "x" if part.program[0].isdigit() else ""
        words.append(f"{part.count}{between}{part.program}" if part.count > 1 else part.program)
    return "+".join(words)


def scale(parts: tuple[Part, ...], demands: dict[str, float], total: float) -> tuple[Part, ...]:
    """Counts in about the same proportion whose demands add up to about `total`.

    demands: of each program, in the unit of total. At least one of each program. Programs are
    added one at a time, always the one that is furthest behind its share, until the next would
    lead further away from the total than stopping does.
    """
    counts = dict.fromkeys((part.program for part in parts), 1)
    wanted = {part.program: part.count for part in parts}
    have = sum(demands[program] for program in counts)
    while True:
        program = min(counts, key=lambda name: (counts[name] / wanted[name], -demands[name]))
        if have + demands[program] / 2 > total:
            return tuple(Part(counts[part.program], part.program) for part in parts)
        counts[program] += 1
        have += demands[program]
