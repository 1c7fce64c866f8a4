# SPDX-License-Identifier: GPL-2.0
"""rounds2svg: its drawing of a trace, and its errors for files that are no trace."""

import json
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from bench.lab import ROOT

TOOL = ROOT / "tools/rounds2svg"
BLUE, ORANGE, RED, GREEN, GREY, DARK = (
    "#0072b2", "#e69f00", "#dc2626", "#16a34a", "#9ca3af", "#111827",
)  # fmt: skip
LEFT, WIDTH = 150, 710  # of the time


def event(at, kind, **fields):
    return json.dumps({"timestamp": 100 + at, "event": f"mts_{kind}", "fields": fields})


def job(number, index):
    return {"job": number, "bin": index, "cgroup_id": 7, "name": f"job{number}"}


ROUND = [
    event(0, "job", what="enrolled", **job(1, -1)),
    event(0, "job", what="enrolled", **job(2, -1)),
    event(2, "job", what="placed", **job(1, 0)),
    event(2, "job", what="placed", **job(2, 1)),
    event(2, "freeze", **job(2, 1)),
    event(2, "slice_begin", round=1, bin=0),
    event(6, "slice_end", round=1, bin=0, ran_ns=4 * 10**9),
    event(6, "freeze", **job(1, 0)),
    event(8, "thaw", why="rotor", **job(2, 1)),
    event(
        *(8, "switch_end"),
        **{"to": 1, "took_ns": 2 * 10**9, "freeze_ns": 0},
        **{"evict_ns": 10**9, "bring_back_ns": 10**9},
    ),
    event(8, "slice_begin", round=1, bin=1),
    event(10, "slice_end", round=1, bin=1, ran_ns=2 * 10**9),
]


def run(lines, *options):
    return subprocess.run(
        [sys.executable, TOOL, *options, "-"],
        input="\n".join(lines),
        capture_output=True,
        text=True,
    )


def bars(lines, *options):
    """(y, colour, begin, end), in tenths of the time, of what stands right of the names."""
    done = run(lines, *options)
    assert done.returncode == 0, done.stderr
    found = []
    for rect in ElementTree.fromstring(done.stdout).iter("{http://www.w3.org/2000/svg}rect"):
        if "y" not in rect.attrib or float(rect.attrib["y"]) < 50:
            continue  # paper, legend
        x, width = float(rect.attrib["x"]), float(rect.attrib["width"])
        begin, end = ((at - LEFT) * 10 / WIDTH for at in (x, x + width))
        middle = float(rect.attrib["y"]) + float(rect.attrib["height"]) / 2
        found.append((middle, rect.attrib["fill"], round(begin, 1), round(end, 1)))
    lanes = sorted({middle for middle, *_ in found})
    return [(lanes.index(middle), *rest) for middle, *rest in found]


def test_a_round():
    assert bars(ROUND) == [
        (0, BLUE, 2.0, 6.0),
        (0, RED, 6.0, 7.0),
        (0, GREEN, 7.0, 8.0),
        (0, ORANGE, 8.0, 10.0),
        (1, DARK, 0.0, 2.0),
        (1, BLUE, 2.0, 6.0),
        (1, GREY, 6.0, 10.0),
        (2, DARK, 0.0, 2.0),
        (2, GREY, 2.0, 8.0),
        (2, ORANGE, 8.0, 10.0),
    ]


def test_a_part_of_it():
    assert bars(ROUND, "--begin", "4", "--end", "9")[:2] == [
        (0, BLUE, 0.0, 4.0),
        (0, RED, 4.0, 6.0),
    ]


def test_begun_in_the_middle():
    found = bars(ROUND[6:])
    assert found[0] == (0, RED, 0.0, 2.5)
    assert (1, GREY, 0.0, 10.0) in found
    assert (2, GREY, 0.0, 5.0) in found


def test_who_is_gone_is_drawn_no_more():
    found = bars([*ROUND[:6], event(3, "job", what="forgotten", **job(1, 0)), *ROUND[6:7]])
    assert max(end for lane, _, _, end in found if lane == 1) == 5.0


def test_names_are_text():
    lines = [line.replace("job1", "<&>") for line in ROUND]
    assert "&lt;&amp;&gt;" in run(lines).stdout


@pytest.mark.parametrize(
    ("lines", "options", "status", "says"),
    [
        ([], (), 1, "no events"),
        (["what"], (), 1, "no event of mtsctl watch --json: what"),
        (['{"event": "mts_round"}'], (), 1, "no event of"),
        (ROUND, ("--begin", "12"), 2, "--begin must be before the end: 0 to 10.000 s"),
        (ROUND, ("--begin", "5", "--end", "5"), 2, "--begin must be before"),
    ],
)
def test_kindis_wrong_is_said(lines, options, status, says):
    done = run(lines, *options)
    assert done.returncode == status
    assert says in done.stderr
    assert re.match(r"rounds2svg: ", done.stderr)
    assert not done.stdout


def test_a_result_of_the_laboratory_may_have_the_events():
    result = {"setting": {}, "policy": {"events": [json.loads(line) for line in ROUND]}}
    assert bars([json.dumps(result, indent=1)]) == bars(ROUND)


def test_a_result_without_events_says_how_to_have_them():
    done = run([json.dumps({"policy": {"stats": {}}})])
    assert done.returncode == 1
    assert "--param events=1" in done.stderr


def test_names_that_xml_has_no_characters_for():
    named = [line.replace("job1", "a\\u001b\\n<b>") for line in ROUND]
    done = run(named)
    assert done.returncode == 0
    words = [
        word.text
        for word in ElementTree.fromstring(done.stdout).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert "a\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}<b>" in words


@pytest.mark.parametrize("field", ["bin", "what", "name"])
def test_events_that_lack_a_field(field):
    lacking = json.loads(ROUND[0])
    del lacking["fields"][field]
    done = run([json.dumps(lacking), *ROUND[1:]])
    assert (done.returncode, done.stdout) == (1, "")
    assert f"mts_job at 100.000000 s: no field that is '{field}'" in done.stderr
