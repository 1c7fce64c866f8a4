# SPDX-License-Identifier: GPL-2.0
"""The programs of the papers on this host: swappers, consumers, scanners, patterns."""

import itertools
import json
import os
import re
import signal
import struct
import subprocess
import time

import pytest

from bench.lab import ROOT
from bench.suites import paperlib

PROGRAMS = {
    "swappers": "swappers",
    "consumers": "consumers",
    "scanners": "scanners",
    "patterns": "protection",
}
PATTERNS = ("lu", "mm", "bit-r", "sort", "records", "gcc", "blocks")
WORK_MAGIC = 0x574F524B
PAGE = 4096


@pytest.fixture(scope="module", name="build")
def _build(tmp_path_factory):
    build = tmp_path_factory.mktemp("build")
    for folder in PROGRAMS.values():
        command = ["make", "-s", "-C", ROOT / "bench" / folder, f"BUILD={build}"]
        subprocess.run(command, check=True)
    return build


@pytest.fixture(name="run")
def _run(build):
    def run(program, *args, work=None):
        environment = os.environ | ({"LAB_WORK": str(work)} if work else {})
        return subprocess.run(
            [build / program, *args],
            text=True,
            capture_output=True,
            timeout=60,
            check=False,
            env=environment,
        )

    return run


@pytest.fixture(name="work")
def _work(tmp_path):
    path = tmp_path / "work"
    path.write_bytes(struct.pack("<II", WORK_MAGIC, 0).ljust(65536, b"\0"))
    return path


def slots(path):
    """(name, done, goal) of each slot in use."""
    data = path.read_bytes()
    used = struct.unpack_from("<I", data, 4)[0]
    found = []
    for index in range(used):
        done, goal, name = struct.unpack_from("<QQ48s", data, 64 + 64 * index)
        found.append((name.rstrip(b"\0").decode(), done, goal))
    return found


def result(done):
    return json.loads(done.stdout.splitlines()[-1])


def stop_when(process, ready, number=signal.SIGTERM):
    """Sends a signal once ready() is true; the output."""
    deadline = time.monotonic() + 20
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(number)
    return process.communicate(timeout=20)


@pytest.mark.parametrize("program", PROGRAMS)
def test_help(run, program):
    done = run(program, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"usage: {program} ")


@pytest.mark.parametrize(
    ("program", "args", "says"),
    [
        ("swappers", ("--size", "8M", "-r", "1", "-d", "1"), "exclude each other"),
        ("swappers", (), "--size is needed"),
        ("swappers", ("--size", "5000"), "not a multiple of a page"),
        ("swappers", ("--size", "8T"), "not a number"),
        ("swappers", ("--size", "8M", "-d", "-1"), "not a number of seconds"),
        ("swappers", ("--size", "8M", "-r", "0"), "nothing to do"),
        ("consumers", (), "exactly one of"),
        ("consumers", ("eat",), "not one of"),
        ("consumers", ("consume", "-N", "3", "-i", "3"), "--index"),
        ("consumers", ("run", "-W", "0"), "nothing to do"),
        ("scanners", ("run", "--scanners", "0"), "from 1 to 100"),
        ("scanners", ("scan", "--nice", "20"), "from 0 to 19"),
        ("scanners", ("monitor", "--name", ""), "not empty"),
        ("patterns", ("lu", "--work", "1"), "at least 1M"),
        ("patterns", ("lu", "--size", "1M"), "--work is needed"),
        ("patterns", ("fft", "--size", "1M", "--work", "1"), "no such pattern"),
        ("patterns", ("--size", "1M", "--work", "1"), "exactly one PATTERN"),
    ],
)
def test_refusals(run, program, args, says):
    done = run(program, *args)
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr


def test_swapper_by_rounds(run, work):
    done = run("swappers", "-s", "2M", "-r", "3", "-n", "swapper4", work=work)
    report = result(done)
    pages = 2 * 256
    assert done.returncode == 0
    assert report["outcome"] == "done"
    assert report["rounds"] == 3
    assert len(report["round_seconds"]) == 3
    assert report["touched"] == 3 * pages
    # each of the five is rounded to 1 us
    assert sum(report["round_seconds"]) <= report["elapsed"] - report["fill"] + 3e-6
    assert slots(work) == [("swapper4", 3 * pages, 3 * pages)]


def test_timed_swapper_ends_in_time(run, work):
    report = result(run("swappers", "-s", "1M", "-d", "0.2", "-g", "1000000", work=work))
    assert 0.2 <= report["elapsed"] < 5
    assert report["touched"] >= report["rounds"] * 256 > 0
    assert slots(work)[0][1:] == (report["touched"], 1000000 * 256)


def test_infinite_swapper_reports_when_it_is_ended(build, work):
    process = subprocess.Popen(
        [build / "swappers", "--size", "1M"],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"LAB_WORK": str(work)},
    )
    out, _ = stop_when(process, lambda: any(done for _, done, _ in slots(work)))
    assert process.returncode == 4
    assert json.loads(out)["outcome"] == "interrupted"
    assert slots(work)[0][2] == 0


def test_consumer_follows_the_algorithm(run, work):
    """Line 3: N t_c + t_c of activity; lines 6 to 11: W writes and a sleep in each cycle."""
    arguments = ("-N", "4", "-i", "2", "-S", "1M", "-W", "50", "-s", "0.01", "-c", "0.05")
    began = time.monotonic()
    done = run("consumers", "consume", *arguments, "-l", "0.1", work=work)
    took = time.monotonic() - began
    report = result(done)
    assert done.returncode == 0
    assert report["planned"] - report["started"] == pytest.approx(5 * 0.05)
    assert report["ended"] >= report["planned"]
    assert report["writes"] == 50 * report["cycles"]
    assert 0 < report["cycles"] <= 26
    assert took >= 0.1 + 2 * 0.05 + 5 * 0.05
    assert slots(work) == [("consumer2", report["writes"], 26 * 50)]


def test_consumers_tool(run):
    """N consumers one after the other, and lines of measuring to the end."""
    arguments = ("-N", "3", "-S", "1M", "-W", "10", "-s", "0.01", "-c", "0.1", "-l", "0.1")
    done = run("consumers", "run", *arguments, "--interval", "0.05")
    lines = paperlib.json_lines(done.stdout)
    assert done.returncode == 0
    head = next(x for x in lines if isinstance(x, dict) and x["part"] == "measure")
    reports = [x for x in lines if isinstance(x, dict) and x["part"] == "consume"]
    samples = [x for x in lines if isinstance(x, list)]
    assert head["columns"] == ["t", "user_ticks", "system_ticks", "pgpgin_kib", "pgpgout_kib"]
    assert sorted(report["index"] for report in reports) == [0, 1, 2]
    starts = sorted(report["started"] for report in reports)
    assert starts[1] - starts[0] >= 0.05
    assert max(report["ended"] for report in reports) <= samples[-1][0] + 0.5
    assert len(samples) >= 5
    assert all(later[0] > earlier[0] for earlier, later in itertools.pairwise(samples))


def test_measuring_ends_by_signal(build):
    process = subprocess.Popen(
        [build / "consumers", "measure", "--interval", "0.01"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline().startswith("{")  # it is ready
    out, _ = stop_when(process, lambda: True)
    assert process.returncode == 0
    assert all(line.startswith("[") for line in out.splitlines())


def test_scanner(run, work):
    done = run("scanners", "scan", "-s", "1M", "-d", "0.1", "-g", "7", "-n", "scanner0", work=work)
    report = result(done)
    assert done.returncode == 0
    assert report["outcome"] == "done"
    assert report["passes"] == pytest.approx(report["pages"] / 256)
    assert report["pages"] > 256
    assert slots(work) == [("scanner0", report["pages"], 7 * 256)]


def test_monitor_sees_scanners_come_and_go(run):
    """Reflective too: it counts for itself."""
    size = 8 << 20
    done = run(
        *("scanners", "run", "--size", str(size), "--scanners", "2", "--duration", "0.6"),
        *("--first", "0.2", "--delay", "0.2", "--interval", "0.05"),
    )
    lines = paperlib.json_lines(done.stdout)
    assert done.returncode == 0
    head = lines[0]
    assert head["columns"][-1] == "fairness"
    comms = {line["id"]: line["comm"] for line in lines if "comm" in line}
    assert set(comms.values()) == {"scanners", "scanner0", "scanner1"}
    samples = [line for line in lines if isinstance(line, list)]
    assert samples[0][7] == -1  # no scanner yet
    both = [line for line in samples if len(line) == 11]
    assert both
    assert all(0 <= line[7] <= 1 for line in both)
    rss = head["task"].index("rss")
    assert both[-1][-1][rss] >= size // PAGE
    zero = head["task"].index("zerofilled")
    first = next(number for number, comm in comms.items() if comm == "scanner0")
    written = sum(task[zero] for line in samples for task in line[8:] if task[0] == first)
    assert size // PAGE <= written <= size // PAGE + 600
    assert any("exit" in line for line in lines if isinstance(line, dict))


def test_a_signal_between_two_launches_ends_the_scanners(build, tmp_path):
    """It was not passed on: scanners without --duration ran on for ever."""
    path = tmp_path / "out"
    arguments = ("--size", "1M", "--first", "0", "--delay", "60", "--interval", "0.02")
    with path.open("w") as out:
        process = subprocess.Popen([build / "scanners", "run", *arguments], stdout=out)
        stop_when(process, lambda: '"scanner0"' in path.read_text())
    assert process.returncode == 4
    assert '"outcome": "interrupted"' in path.read_text()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_pattern_is_exact(run, work, pattern):
    """The same seed gives the same result, another one another; the work is what was asked."""
    arguments = ("--size", "4M", "--work", "3K")
    first = result(run("patterns", pattern, *arguments, work=work))
    second = result(run("patterns", pattern, *arguments))
    other = result(run("patterns", pattern, *arguments, "--seed", "2"))
    assert first["outcome"] == "done"
    assert first["check"] == second["check"] != other["check"]
    assert 3000 <= first["done"] == second["done"] < 3100
    assert slots(work) == [(pattern, first["done"], 3000)]


@pytest.mark.parametrize("pattern", [name for name in PATTERNS if name != "gcc"])
def test_pattern_has_the_memory_it_was_given(run, pattern):
    """One fault for each page, and some for the program."""
    report = result(run("patterns", pattern, "--size", "16M", "--work", "40K"))
    assert 0.98 * 16 * 256 <= report["minor_faults"] <= 16 * 256 + 500


def test_gcc_gives_memory_back(run):
    """Two spikes: it faults much more often than it has pages."""
    report = result(run("patterns", "gcc", "--size", "16M", "--work", "40K"))
    assert report["minor_faults"] > 1.5 * 16 * 256


def test_pattern_ended_by_a_signal(build, work):
    process = subprocess.Popen(
        [build / "patterns", "mm", "--size", "2M", "--work", "100G", "--name", "p1-mm"],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"LAB_WORK": str(work)},
    )
    out, _ = stop_when(process, lambda: any(done for _, done, _ in slots(work)))
    assert process.returncode == 4
    assert re.search(r'"outcome": "interrupted"', out)
