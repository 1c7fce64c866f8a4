# SPDX-License-Identifier: GPL-2.0
"""SYN8 on this host: what it measures, what it refuses, how it ends."""

import json
import os
import re
import signal
import subprocess
import time

import pytest

from bench.lab import BUILD, ROOT
from tests.build import make

SYN8 = BUILD / "syn8"
FOREVER = "1000G"


@pytest.fixture(scope="module", autouse=True)
def _built():
    make(ROOT, "syn8")


def syn8(*args):
    return subprocess.run([SYN8, *args], text=True, capture_output=True, timeout=60)


def children_of(pid):
    path = f"/proc/{pid}/task/{pid}/children"
    with open(path, encoding="ascii") as file:
        return [int(child) for child in file.read().split()]


def start(*args, wait_for=2):
    """SYN8 with its children running."""
    run = subprocess.Popen(
        [SYN8, "-a", FOREVER, *args], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 20
    while len(children_of(run.pid)) < wait_for:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return run


def test_all_work_done():
    done = syn8("--processes", "3", "--size", "1M", "--accesses", "50K", "--json")
    result = json.loads(done.stdout)
    assert done.returncode == 0
    assert result["outcome"] == "done"
    assert result["work_done"] == 1
    assert result["accesses"] == 150_000
    assert [child["state"] for child in result["children"]] == ["done"] * 3
    assert result["minor_faults"] >= 3
    assert result["elapsed"] >= max(child["elapsed"] for child in result["children"])
    assert result["parameters"] == {
        "processes": 3,
        "size": 1 << 20,
        "accesses": 50_000,
        "seed": 1,
        "limit": 0,
    }


def test_total_is_divided_by_the_size():
    done = syn8("--total", "24M", "-a", "1", "--json")
    assert len(json.loads(done.stdout)["children"]) == 3


def test_text_report():
    done = syn8("-n", "1", "-s", "64K", "-a", "10")
    assert done.returncode == 0
    assert re.search(r"^work done +100.0000%$", done.stdout, re.M)
    assert re.search(r"^processes +1 finished, 0 failed$", done.stdout, re.M)


def test_limit_ends_it_with_the_work_done_so_far():
    begun = time.monotonic()
    done = syn8("-n", "2", "-a", FOREVER, "--limit", "0.3", "--json")
    result = json.loads(done.stdout)
    assert done.returncode == 3
    assert time.monotonic() - begun < 10
    assert result["outcome"] == "limit"
    assert 0 < result["work_done"] < 1
    assert [child["state"] for child in result["children"]] == ["ended"] * 2
    assert 0.3 <= result["elapsed"] < 5


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_it_with_a_report(number):
    run = start("-n", "2", "--json")
    children = children_of(run.pid)
    run.send_signal(number)
    out, _ = run.communicate(timeout=20)
    assert run.returncode == 4
    assert json.loads(out)["outcome"] == "interrupted"
    assert not [child for child in children if os.path.exists(f"/proc/{child}")]


def test_killed_child_is_reported_and_the_rest_goes_on():
    run = start("-n", "2", "--limit", "1.5", "--json")
    os.kill(children_of(run.pid)[0], signal.SIGKILL)
    out, _ = run.communicate(timeout=20)
    result = json.loads(out)
    assert run.returncode == 1
    assert result["outcome"] == "failed"
    assert result["failed"] == 1
    failed, other = sorted(result["children"], key=lambda child: child["state"] != "failed")
    assert "signal 9" in failed["error"]
    assert other["state"] == "ended"


def test_children_die_with_the_parent():
    run = start("-n", "2")
    children = children_of(run.pid)
    run.kill()
    run.communicate(timeout=20)
    deadline = time.monotonic() + 10
    while any(os.path.exists(f"/proc/{child}") for child in children):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_progress_lines(tmp_path):
    file = tmp_path / "progress"
    syn8("-n", "1", "-a", FOREVER, "--limit", "0.5", "--interval", "0.1", "--progress", str(file))
    lines = file.read_text().splitlines()
    assert 2 <= len(lines) <= 5
    pattern = (
        r"syn8: seconds=\d+\.\d{3} work=\d\.\d{6} accesses=\d+ running=1"
        r" pswpin=\d+ pswpout=\d+"
    )
    assert all(re.fullmatch(pattern, line) for line in lines)


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        ("-n 2", "--accesses is needed"),
        ("-a 1", "exactly one of --processes and --total"),
        ("-a 1 -n 2 -t 16M", "exactly one of --processes and --total"),
        ("-a 1 -n 0", "nothing to do"),
        ("-a 1 -n -2", "not a number"),
        ("-a 1 -n 2K", "not a number"),
        ("-a 1 -n 5000", "more than 4096"),
        ("-a 1 -n 2 -s 8X", "not a number"),
        ("-a 1 -n 2 -s 8MB", "not a number"),
        ("-a 1 -n 2 -s 100", "not a multiple of a page"),
        ("-a 1 -t 9M", "not a multiple of --size"),
        ("-a 1 -n 2 -s 99999999999999999G", "too large"),
        ("-a 99999999999999999999 -n 2", "not a number"),
        ("-a 1 -n 2 --limit 0", "less than a millisecond"),
        ("-a 1 -n 2 --limit nan", "not a number of seconds"),
        ("-a 1 -n 2 --limit 1e3", "not a number of seconds"),
        ("-a 1 -n 2 --progress x", "--progress needs --interval"),
        ("-a 1 -n 2 more", "no argument is expected"),
        ("-a 1 -n 2 --unknown", "unrecognized option"),
    ],
)
def test_refused(args, complaint):
    done = syn8(*args.split())
    assert done.returncode == 2
    assert complaint in done.stderr
    assert not done.stdout


def test_help():
    done = syn8("--help")
    assert done.returncode == 0
    assert done.stdout.startswith("usage: syn8")
