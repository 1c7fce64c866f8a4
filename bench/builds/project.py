# SPDX-License-Identifier: GPL-2.0
"""A C project made from a seed: what `make` and gcc compile in the laboratory.

    project.write(directory, project.Shape(files=6, functions=250), seed=1)

gives common.h, unit00.c ..., main.c and a Makefile; `make` in that directory builds `program`,
which runs the code and prints a checksum. The same shape and seed give the same bytes.

The code has no system headers, so that a guest needs no /usr/include, and calls no C library,
so that it can be linked without one (-nostdlib): main.c makes its two system calls itself. The
functions are what compilers spend their time and memory on: loops, arrays, structures, switches,
and calls of one another.
"""

import random
from dataclasses import dataclass
from pathlib import Path

OPERATORS = ("+", "-", "^", "*", "|", "&")
TABLE = 64  # words of each unit's small table
COLUMNS = 8  # of the large one's lines


# gcc collects garbage by the amount of memory. A guest's memory also holds the swap disk, so
# the limits are given: the values that gcc chooses on a host of 256 MiB (gcc(1), ggc-min-expand).
COLLECT = "--param=ggc-min-expand=47 --param=ggc-min-heapsize=32768"


@dataclass(frozen=True)
class Shape:
    """How large the project is. cc1's memory grows with the functions of one file."""

    files: int = 4
    functions: int = 40  # in each file
    statements: int = 24  # in each function, about
    # Words of constant data in each file, as generated tables have them: memory of the compiler
    # for little of its time.
    data: int = 0
    flags: str = "-O0 -g"


def unit(index: int, shape: Shape, seed: int) -> str:
    """The text of one source file."""
    chance = random.Random(f"{seed}/{index}")
    parts = [
        "/* generated */",
        '#include "common.h"',
        f"static unsigned long table[{TABLE}] = {{",
        *(f"\t{chance.getrandbits(32)}ul," for _ in range(TABLE)),
        "};",
        *_data(shape, chance),
    ]
    names = [f"unit{index:02}_step{number}" for number in range(shape.functions)]
    more = "\tsum += data[state->seed % DATA];\n" if shape.data else ""
    for number, name in enumerate(names):
        parts.append(_function(name, names[max(0, number - 20) : number], shape, chance))
    calls = "\n".join(f"\tsum += {name}(state, {i}ul);" for i, name in enumerate(names))
    parts.append(
        f"unsigned long unit{index:02}(struct state *state)\n"
        f"{{\n\tunsigned long sum = 0;\n\n{more}{calls}\n\treturn sum;\n}}\n"
    )
    return "\n".join(parts)


def _data(shape: Shape, chance: random.Random) -> list[str]:
    if not shape.data:
        return []
    lines = [f"#define DATA {shape.data}", "static const unsigned int data[DATA] = {"]
    for start in range(0, shape.data, COLUMNS):
        count = min(COLUMNS, shape.data - start)
        lines.append("\t" + " ".join(f"{chance.getrandbits(32)}u," for _ in range(count)))
    return [*lines, "};"]


def _function(name: str, callable_: list[str], shape: Shape, chance: random.Random) -> str:
    lines = [
        f"static unsigned long {name}(struct state *state, unsigned long a)",
        "{",
        "\tunsigned long b = state->seed, c = state->words[a % WORDS], d = a + 1;",
        "",
    ]
    for _ in range(shape.statements):
        lines += _statement(callable_, chance)
    lines += ["\tstate->words[a % WORDS] = b;", "\treturn a + b + c + d;", "}", ""]
    return "\n".join(lines)


def _statement(callable_: list[str], chance: random.Random) -> list[str]:
    variables = "abcd"
    target, left, right = (chance.choice(variables) for _ in range(3))
    operator = chance.choice(OPERATORS)
    number = chance.randrange(1, 1 << 16)
    kind = chance.randrange(8)
    if kind == 0:
        return [
            f"\tfor (unsigned long i = 0; i < {number % 7 + 2}; i++)",
            f"\t\t{target} += table[(i + {left}) % {TABLE}] {operator} state->words[i % WORDS];",
        ]
    if kind == 1:
        cases = [
            f"\tcase {value}:\n\t\t{target} = {left} {chance.choice(OPERATORS)} {number + value};"
            "\n\t\tbreak;"
            for value in range(4)
        ]
        return [f"\tswitch ({right} % 6) {{", *cases, "\tdefault:", f"\t\t{target}++;", "\t}"]
    if kind == 2:
        return [
            f"\tif (({left} {operator} {number}) > {right})",
            f"\t\t{target} ^= state->pairs[{left} % PAIRS].first;",
            "\telse",
            f"\t\tstate->pairs[{right} % PAIRS].second += {target};",
        ]
    if kind == 3 and callable_:
        # seldom taken, so that the program ends
        return [
            f"\tif (({left} & 1023) == {number % 1024} && state->depth < 4) {{",
            "\t\tstate->depth++;",
            f"\t\t{target} += {chance.choice(callable_)}(state, {right});",
            "\t\tstate->depth--;",
            "\t}",
        ]
    return [f"\t{target} = ({left} {operator} {number}ul) + ({right} >> {number % 13});"]


def header(shape: Shape) -> str:
    """The text of common.h."""
    units = "\n".join(f"unsigned long unit{i:02}(struct state *state);" for i in range(shape.files))
    return f"""/* generated */
#define WORDS 97
#define PAIRS 31

struct pair {{
	unsigned long first, second;
}};

struct state {{
	unsigned long seed;
	unsigned long depth;
	unsigned long words[WORDS];
	struct pair pairs[PAIRS];
}};

{units}
"""


def main_file(shape: Shape) -> str:
    """The text of main.c: runs every unit once and prints the sum in hexadecimal."""
    calls = "\n".join(f"\tsum ^= unit{i:02}(&state);" for i in range(shape.files))
    return f"""/* generated */
#include "common.h"

static long call(long number, long a, long b, long c)
{{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c)
		: "rcx", "r11", "memory");
	return result;
}}

void _start(void)
{{
	static struct state state = {{ .seed = 1 }};
	unsigned long sum = 0;
	char text[17];

{calls}
	for (int i = 0; i < 16; i++)
		text[i] = "0123456789abcdef"[sum >> (60 - 4 * i) & 15];
	text[16] = '\\n';
	call(1, 1, (long)text, sizeof(text)); /* write */
	call(60, 0, 0, 0); /* exit */
	__builtin_unreachable();
}}
"""


def makefile(shape: Shape) -> str:
    """The text of the Makefile.

    `make OUT=DIR` puts what it makes into DIR, which must exist. STEP is a shell command that is
    run after each file; there are files + 2 of them.
    """
    objects = " ".join(f"$(OUT)/unit{i:02}.o" for i in range(shape.files))
    return f"""# generated
CC = gcc
CFLAGS = {shape.flags} {COLLECT} -ffreestanding -fno-stack-protector -mno-red-zone
OUT = .
STEP = :
OBJECTS = {objects} $(OUT)/main.o

$(OUT)/program: $(OBJECTS)
	$(CC) -nostdlib -static -fno-use-linker-plugin -Wl,-z,noexecstack -o $@ $(OBJECTS)
	@$(STEP)

$(OUT)/%.o: %.c common.h
	$(CC) $(CFLAGS) -c -o $@ $<
	@$(STEP)
"""


def texts(shape: Shape, seed: int) -> dict[str, str]:
    """All files of the project: name -> text."""
    return {
        "Makefile": makefile(shape),
        "common.h": header(shape),
        "main.c": main_file(shape),
        **{f"unit{i:02}.c": unit(i, shape, seed) for i in range(shape.files)},
    }


def write(directory: Path, shape: Shape, seed: int) -> None:
    """Write the project below `directory`, which is made if it is not there."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in texts(shape, seed).items():
        (directory / name).write_text(text, encoding="utf-8")
