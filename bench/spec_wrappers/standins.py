# SPDX-License-Identifier: GPL-2.0
"""Stand-ins for SPEC's programs: the same kind of work, by Debian's programs.

SPEC's own programs hold all that they work on in memory. So do these: what the compressors and
perl read and write lies in a tmpfs, and is made there by the job itself, so that it is memory of
the job's like any other.

    name    instead of          what
    gzip    164.gzip            gzip -1 compresses 9 MiB of text, and uncompresses it again
    bzip2   256.bzip2 401.bzip2 the same with bzip2 -9 and 2 MiB
    xz      557.xz_r            the same with xz -2 and 3 MiB
    gcc     176.gcc 403 502     gcc's cc1 compiles a large generated file, -O0 -g
    lu      171.swim 173.applu  LU decomposition of a dense matrix (our own C)
    paths   181.mcf 429 505     shortest paths in a random graph (our own C)
    perl    253.perlbmk 400 500 perl counts words and pairs of words of a text

SPEC's names of the same character are accepted: mcf for paths, applu or swim for lu, perlbmk or
perlbench for perl.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.builds import project
from bench.lab import LabError, programs

ALIASES = {
    "mcf": "paths",
    "applu": "lu",
    "swim": "lu",
    "perlbmk": "perl",
    "perlbench": "perl",
}
# SPEC's sizes of inputs: so many times the unit of work. The memory is the same: the guest's
# memory is scaled, the inputs are not.
SIZES = {"test": 1, "train": 2, "ref": 6}

CC1_SHAPE = project.Shape(files=1, functions=30, flags="-O0 -g")
CC1_SOURCE = "src/spec/unit00.c"

# compress PIECES PACKER...: each piece must be the same after packing and unpacking.
COMPRESS = """#!/bin/sh
pieces=$1
shift
for piece in $(seq "$pieces"); do
	"$@" -c <"text.$piece" >"packed.$piece" || exit 1
	"$@" -d -c <"packed.$piece" >"unpacked.$piece" || exit 1
	cmp "text.$piece" "unpacked.$piece" || exit 1
	echo >&9
done
"""
PERL = """my (%count, %follows);
my ($last, $words) = ('', 0);
while (my $line = <STDIN>) {
	for my $word ($line =~ /(\\w+)/g) {
		$count{lc $word}++;
		$follows{$last}{lc $word}++;
		$last = lc $word;
		$words++;
	}
}
my @order = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
my $pairs = 0;
$pairs += keys %{$follows{$_}} for keys %follows;
my $sum = 0;
$sum += $_ for values %count;
die "counted $sum of $words words\\n" if $sum != $words;
print "$words words, ", scalar @order, " different, $pairs pairs; $order[0] $count{$order[0]}\\n";
"""


@dataclass(frozen=True)
class StandIn:
    """One program of the set."""

    name: str
    character: str  # for tables
    # name of the job, seed, how many units -> words of a command
    command: Callable[[str, int, int], tuple[str, ...]]
    files: Callable[[int], Mapping[str, Path | str]]  # of a seed


def in_scratch(name: str, make: str, command: tuple[str, ...]) -> tuple[str, ...]:
    """A command in /tmp/NAME, after the shell commands `make` there.

    The directory is gone when the command has ended: a tmpfs would keep its memory.
    """
    text = (
        f"mkdir /tmp/{name} && cd /tmp/{name} && {make} || exit 1; "
        f'"$@"; status=$?; rm -r /tmp/{name}; exit $status'
    )
    return ("/bin/sh", "-c", text, "sh", *command)


def _with_text(
    name: str, mib: float, pieces: int, seed: int, command: tuple[str, ...]
) -> tuple[str, ...]:
    """A command in a directory where a text lies in pieces, text.1 and so on."""
    make = (
        f"for piece in $(seq {pieces}); do "
        f"/bin/textgen --seed {seed}$piece {round(mib * 2**20 / pieces)} >text.$piece; done"
    )
    return in_scratch(name, make, command)


def _compressor(mib: float, pieces: int, *packer: str) -> Callable[..., tuple[str, ...]]:
    def command(name: str, seed: int, size: int) -> tuple[str, ...]:
        repeat = ("/bin/repeat", "--name", name, "--runs", str(size), "--steps", str(pieces))
        compress = ("/bin/compress", str(pieces), *packer)
        return _with_text(name, mib, pieces, seed, (*repeat, "--", *compress))

    return command


def _gcc(name: str, seed: int, size: int) -> tuple[str, ...]:
    compile_ = (
        *(programs.gcc_part("cc1"), "-quiet", *CC1_SHAPE.flags.split()),
        *(*project.COLLECT.split(), "-ffreestanding", f"/{CC1_SOURCE}", "-o", "unit.s"),
    )
    repeat = ("/bin/repeat", "--name", name, "--runs", str(2 * size))
    return in_scratch(name, "true", (*repeat, "--", *compile_))


def _lu(name: str, seed: int, size: int) -> tuple[str, ...]:
    return ("/bin/lu", "--seed", str(seed), "--runs", str(size), "1400")


def _paths(name: str, seed: int, size: int) -> tuple[str, ...]:
    return ("/bin/paths", "--seed", str(seed), "--runs", str(8 * size), "320000")


def _perl(name: str, seed: int, size: int) -> tuple[str, ...]:
    repeat = ("/bin/repeat", "--name", name, "--runs", str(size), "--feed", "text.1")
    return _with_text(name, 1, 1, seed, (*repeat, "--", "/usr/bin/perl", "/lab/words.pl"))


def _tool(program: str) -> Callable[[int], Mapping[str, Path | str]]:
    return lambda _seed: {**programs.closure(program), "bin/compress": COMPRESS}


def _gcc_files(seed: int) -> Mapping[str, Path | str]:
    texts = project.texts(CC1_SHAPE, seed)
    return {
        **programs.closure(programs.gcc_part("cc1")),
        CC1_SOURCE: texts["unit00.c"],
        "src/spec/common.h": texts["common.h"],
    }


SET = {
    each.name: each
    for each in (
        StandIn("gzip", "compression", _compressor(9, 8, "/usr/bin/gzip", "-1"), _tool("gzip")),
        StandIn("bzip2", "compression", _compressor(2, 2, "/usr/bin/bzip2", "-9"), _tool("bzip2")),
        StandIn("xz", "compression", _compressor(3, 3, "/usr/bin/xz", "-T1", "-2"), _tool("xz")),
        StandIn("gcc", "compiler", _gcc, _gcc_files),
        StandIn("lu", "dense matrix", _lu, lambda _seed: {}),
        StandIn("paths", "graph search", _paths, lambda _seed: {}),
        StandIn(
            "perl",
            "interpreter, text",
            _perl,
            lambda _seed: {**programs.closure("perl"), "lab/words.pl": PERL},
        ),
    )
}


def find(program: str) -> StandIn:
    """The stand-in for a name in a mix."""
    name = ALIASES.get(program, program)
    if name not in SET:
        known = " ".join([*SET, *ALIASES])
        raise LabError(f"there is no stand-in for {program}; there are: {known}")
    return SET[name]
