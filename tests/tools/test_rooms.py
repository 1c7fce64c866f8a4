# SPDX-License-Identifier: GPL-2.0
"""tools/rooms: each kind of include that it refuses."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

GOOD = {
    "mts.h": "",
    "job.h": '#include "mts.h"\n#include "policy/plan.h"\n',
    "policy/plan.h": "",
    "policy/plan.c": '#include "policy/plan.h"\n',
    "memory/pages.h": '#include "job.h"\n#include <linux/mm.h>\n',
    "jobs/freezer.h": '#include "job.h"\n',
    "jobs/freezer.c": '#include "jobs/freezer.h"\n#include "memory/pages.h"\n',
    "rotor/rotor.c": '#include "jobs/freezer.h"\n',
    "main.c": '#include "mts.h"\n',
    "main.mod.c": '#include "no/such.h"\n',
}


def rooms(folder: Path, files: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run it on these files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return subprocess.run(
        [ROOT / "tools/rooms", folder], capture_output=True, text=True, check=False
    )


def test_good(tmp_path: Path) -> None:
    """Nothing is said."""
    done = rooms(tmp_path, GOOD)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_module() -> None:
    """It keeps to the rooms."""
    done = subprocess.run(
        [ROOT / "tools/rooms"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "memory/pages.c",
            '#include "jobs/freezer.h"\n',
            "includes jobs/freezer, whose room is above",
        ),
        ("policy/plan.c", '#include "job.h"\n', "includes job, whose room is above"),
        ("job.c", '#include "jobs/freezer.h"\n', "includes jobs/freezer, whose room is above"),
        ("jobs/other.c", '#include "freezer.h"\n', '"freezer.h" is no path'),
        ("attic/old.c", "", "is in no room"),
    ],
)
def test_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    """One file is wrong, and named."""
    done = rooms(tmp_path, {**GOOD, name: text})
    assert done.returncode == 1
    assert name.removesuffix(".c") in done.stdout
    assert said in done.stdout


def test_circle(tmp_path: Path) -> None:
    """Three in a row, in a room, through a C file. A file that only includes them is not named."""
    wrong = {
        "jobs/a.h": '#include "jobs/b.h"\n',
        "jobs/b.c": '#include "jobs/c.h"\n',
        "jobs/b.h": "",
        "jobs/c.h": '#include "jobs/a.h"\n',
        "jobs/d.c": '#include "jobs/a.h"\n',
    }
    done = rooms(tmp_path, {**GOOD, **wrong})
    assert done.returncode == 1
    assert done.stdout == "these include each other: jobs/a jobs/b jobs/c\n"


def test_usage(tmp_path: Path) -> None:
    """No files, too many arguments."""
    done = subprocess.run(
        [ROOT / "tools/rooms", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "no C files" in done.stderr


STATE = """
/**
 * struct mts_roster - the jobs
 * @owner: roster.c
 * @n: how many
 */
struct mts_roster {
	u32 n;
};

struct mts_rotor {
	struct mts_roster roster;
	struct mts_phase phase;
};
"""


@pytest.mark.parametrize(
    "line",
    [
        "mts_rotor.roster.n = 0;",
        "mts_rotor.roster.n++;",
        "mts_rotor.roster.jobs[i] |= 2;",
        "mts_rotor.roster.n -= 1;",
    ],
)
def test_a_stranger_writes(tmp_path: Path, line: str) -> None:
    """A part of the rotor's state is its owner's."""
    state = STATE.replace("\tstruct mts_phase phase;\n", "")
    done = rooms(tmp_path, {"rotor/state.h": state, "rotor/roster.c": line, "rotor/plan.c": line})
    assert done.returncode == 1
    assert done.stdout == f"{tmp_path}/rotor/plan.c: writes mts_rotor.roster, which is roster.c's\n"


def test_reads_and_memory_are_free(tmp_path: Path) -> None:
    """Who reads need not be the owner, nor who allocates."""
    state = STATE.replace("\tstruct mts_phase phase;\n", "")
    text = "if (mts_rotor.roster.n == 2)\n\tmts_rotor.roster.jobs = kvcalloc(2);\n"
    done = rooms(tmp_path, {"rotor/state.h": state, "rotor/plan.c": text})
    assert (done.returncode, done.stdout) == (0, "")


def test_no_owner(tmp_path: Path) -> None:
    """Each part says whose it is."""
    done = rooms(tmp_path, {"rotor/state.h": STATE})
    assert "phase has no @owner" in done.stdout


def test_a_log_without_a_name(tmp_path: Path) -> None:
    """pr_fmt() is context.h's: without it a message does not say whose it is."""
    files = {"context.h": "", "mts.h": '#include "context.h"\n', "main.c": 'pr_warn("x");\n'}
    done = rooms(tmp_path, files)
    assert (done.returncode, done.stdout) == (
        1,
        f"{tmp_path}/main.c: logs, and does not include context.h\n",
    )
    done = rooms(tmp_path, {"main.c": '#include "mts.h"\npr_warn("x");\n'})
    assert (done.returncode, done.stdout) == (0, "")
