# SPDX-License-Identifier: GPL-2.0
"""The suite latency: its programs on this host, its points, and what it makes of reports."""

import json
import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bench.lab import ROOT, LabError
from bench.lab.experiment import EFFORTS, Outcome
from bench.suites import latency, syn8
from bench.suites.latency import SUITE

HISTOGRAM = """# /dev/cpu_dma_latency set to 0us
# Histogram
000000 000000
000003 000098
000004 000001
001999 000000
# Total: 000000099
# Min Latencies: 00003
# Avg Latencies: 00003
# Max Latencies: 06202
# Histogram Overflows: 00001
# Histogram Overflow at cycle number:
# Thread 0: 00042
"""


@pytest.fixture(scope="module", name="build")
def _build(tmp_path_factory):
    build = tmp_path_factory.mktemp("build")
    command = ["make", "-s", "-C", ROOT / "bench" / "latency", f"BUILD={build}"]
    subprocess.run([*command, "all", "testsamples"], check=True)
    return build


@pytest.fixture(name="start")
def _start(build):
    """Starts parts, each the leader of a session as a job is; ends those that are left."""
    started = []

    def start(*arguments):
        process = subprocess.Popen(
            [build / "latency", *map(str, arguments)],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def ended(process):
    """What it reports, and its status."""
    out, _ = process.communicate(timeout=60)
    return json.loads(out) if out else None, process.returncode


def status(pid):
    """Fields of /proc/PID/status."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return {name: value.strip() for name, value in (line.split(":", 1) for line in file)}


def until(ready):
    """Poll. However slow the host is, what comes comes."""
    end = time.monotonic() + 60
    while not ready():
        assert time.monotonic() < end
        time.sleep(0.005)


def until_it_slept(pid, times):
    """For a question or a tick: so many are over."""
    until(lambda: int(status(pid)["voluntary_ctxt_switches"]) >= times)


def until_it_heeds(pid, number):
    """It has made up its mind what to do when that signal comes."""

    def heeds():
        masks = status(pid)
        return (int(masks["SigBlk"], 16) | int(masks["SigCgt"], 16)) >> number - 1 & 1

    until(heeds)


# the C program


def samples(build, *values):
    said = subprocess.run(
        [build / "testsamples", *map(str, values)], check=True, capture_output=True, text=True
    )
    return json.loads(said.stdout)


def test_percentiles_are_of_the_nearest_rank(build):
    found = samples(build, *range(200, 0, -1))
    assert found == {
        **{"count": 200, "missing": 0, "first_ns": 200, "p50_ns": 100, "p99_ns": 198},
        "max_ns": 200,
    }
    assert samples(build, *range(1, 101))["p99_ns"] == 99
    assert samples(build, *range(1, 102))["p99_ns"] == 100
    assert samples(build, *range(1, 100))["p99_ns"] == 99
    assert samples(build, 7)["p50_ns"] == samples(build, 7)["p99_ns"] == 7
    assert samples(build) == {"count": 0, "missing": 0}


def test_differences_go_both_ways(build):
    found = samples(build, "differences", 5, 5, 9, 2)
    assert found == {
        **{"count": 3, "missing": 0, "first_ns": 0, "p50_ns": 4, "p99_ns": 7},
        "max_ns": 7,
    }
    for values in ((), (5,)):
        assert samples(build, "differences", *values) == {"count": 0, "missing": 0}


@pytest.mark.parametrize(("asks", "answers"), [("type", "edit"), ("ask", "serve")])
def test_questions_are_answered(start, tmp_path, asks, answers):
    other = start(answers, "--at", tmp_path / "x", "--size", "1M", "--touch", "64K")
    report, status = ended(
        start(asks, "--at", tmp_path / "x", "-p", "0.02", "-j", "0.01", "-d", "0.6")
    )
    assert status == 0
    assert report["part"] == asks
    assert (report["latency"]["count"], report["latency"]["missing"]) == (30, 0)
    assert 0 < report["latency"]["p50_ns"] <= report["latency"]["max_ns"]
    # the one that answers has done what it was for when nobody asks any more
    assert ended(other) == (None, 0)


@pytest.mark.parametrize(("asks", "answers"), [("type", "edit"), ("ask", "serve")])
def test_who_stands_still_is_late_for_all_that_was_due(start, tmp_path, asks, answers):
    """Nobody waits for an answer before the next question; those that never came count as well."""
    other = start(answers, "--at", tmp_path / "x", "--size", "64K")
    asking = start(asks, "--at", tmp_path / "x", "-p", "0.02", "-d", "2")
    until_it_slept(other.pid, 20)
    os.kill(other.pid, signal.SIGSTOP)
    report, code = ended(asking)
    assert code == 0
    assert 10 < report["latency"]["missing"] < 100
    # it waited a second after the last one
    assert report["latency"]["p99_ns"] >= 1.2e9
    assert report["latency"]["first_ns"] < 1e9


def test_what_is_skipped_does_not_count(start, tmp_path):
    start("serve", "--at", tmp_path / "x", "--size", "64K")
    report, _ = ended(start("ask", "--at", tmp_path / "x", "-p", "0.02", "--skip", 0.5, "-d", 0.5))
    assert report["latency"]["count"] == 25


def test_a_wrong_answer_is_no_answer(start, tmp_path):
    asking = start("type", "--at", tmp_path / "x", "-p", "0.05", "-d", "5")
    while not (tmp_path / "x").exists():
        time.sleep(0.01)
    terminal = os.open(tmp_path / "x", os.O_RDWR | os.O_NOCTTY)
    os.write(terminal, b"!")
    assert os.read(terminal, 1) == b"a"
    os.write(terminal, b"b")
    _, error = asking.communicate(timeout=60)
    os.close(terminal)
    assert "wrong answer to question 0" in error
    assert asking.returncode == 1


def test_a_periodic_task_that_stands_still_is_late_for_every_time(start):
    ticking = start("tick", "--size", "64K", "-p", "0.02", "-d", "2")
    children = Path(f"/proc/{ticking.pid}/task/{ticking.pid}/children")
    until(children.read_text)
    child = int(children.read_text())
    until_it_slept(child, 20)
    os.kill(child, signal.SIGSTOP)
    report, code = ended(ticking)
    assert code == 0
    assert report["latency"]["count"] == 100
    assert 10 < report["latency"]["missing"] < 100
    for part in ("wake", "latency"):
        assert 3e8 < report[part]["max_ns"] < 2.1e9
        assert report[part]["first_ns"] < 3e8
    assert report["jitter"]["count"] == 99
    assert report["jitter"]["missing"] == report["latency"]["missing"]
    assert 3e8 < report["jitter"]["max_ns"] <= report["latency"]["max_ns"]


def test_a_periodic_task_in_time(start):
    report, status = ended(start("tick", "--size", "1M", "-t", "64K", "-p", "0.02", "-d", "0.4"))
    assert status == 0
    assert (report["wake"]["count"], report["wake"]["missing"]) == (20, 0)
    assert 0 < report["wake"]["p50_ns"] < report["latency"]["p50_ns"]
    assert (report["jitter"]["count"], report["jitter"]["missing"]) == (19, 0)
    assert report["jitter"]["max_ns"] < report["latency"]["max_ns"]


def test_jitter_begins_with_the_last_time_that_is_skipped(start):
    report, status = ended(
        start("tick", "--size", "64K", "-p", "0.02", "--skip", "0.1", "-d", "0.2")
    )
    assert status == 0
    assert report["jitter"]["count"] == report["latency"]["count"] == 10


@pytest.mark.parametrize("part", ["type", "ask", "tick"])
def test_who_is_ended_reports_nothing(start, tmp_path, part):
    process = start(part, "--at", tmp_path / "x", "--size", "64K", "--duration", "100")
    until_it_heeds(process.pid, signal.SIGTERM)
    process.terminate()
    assert ended(process) == (None, 4)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "exactly one of"),
        (("sing",), "not one of"),
        (("type", "-d", "1"), "--at is needed"),
        (("ask", "--at", "x"), "--duration is needed"),
        (("serve", "--at", "x"), "--size is needed"),
        (("tick", "-d", "1", "-s", "8K", "-t", "12K"), "more than --size"),
        (("type", "--at", "x", "-d", "1", "-j", "0.2"), "not less than --period"),
        (("tick", "-s", "4K", "-d", "10000000", "-p", "0.001"), "more than"),
        (("type", "--at", "x", "-d", "1", "-n", '"'), "no quotes"),
    ],
)
def test_refusals(start, arguments, says):
    process = start(*arguments)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 2
    assert out == ""
    assert says in error


# the suite


def job(name, output="", **more):
    return {"name": name, "output": output, "done": 0} | more


def distribution(ns, **more):
    return {"count": 9, "missing": 1, **dict.fromkeys(("first_ns", "p50_ns"), ns)} | {
        **{"p99_ns": 2 * ns, "max_ns": 3 * ns},
        **more,
    }


def outcome(*more):
    def report(**parts):
        return json.dumps({"program": "latency", **parts}) + "\n"

    return Outcome(
        {
            "elapsed": 11.0,
            "jobs": [
                job("type", report(latency=distribution(1e6))),
                job("ask", report(latency={"count": 0, "missing": 0})),
                job("monitor"),
                job("periodic", report(wake=distribution(5e3), latency=distribution(9e3))),
                job("cyclictest", HISTOGRAM),
                *more,
            ],
        }
    )


def test_histogram_of_cyclictest():
    """What lies beyond the histogram is as late as the latest."""
    found = latency.histogram(HISTOGRAM)
    assert found == {"count": 100, "p50_ms": 0.003, "p99_ms": 0.004, "max_ms": 6.202}
    many = HISTOGRAM.replace("000004 000001", "000004 000000").replace(": 00001", ": 00003")
    assert latency.histogram(many)["p99_ms"] == 6.202
    assert latency.histogram(HISTOGRAM[:60]) is None
    assert latency.histogram("") is None


def test_figures_and_tables():
    point = SUITE.points("quick")[0]
    run = outcome(job("syn8", done=2000))
    figures = SUITE.figures(point, run)
    assert figures["keys"] == {
        **{"count": 9, "missing": 1, "first_ms": 1, "p50_ms": 1, "p99_ms": 2, "max_ms": 3}
    }
    assert figures["requests"]["p99_ms"] is None
    assert figures["monitor"] is None
    assert figures["jitter"] is None
    assert figures["periodic"]["p50_ms"] == 0.005  # how late it wakes up
    assert figures["load_accesses_per_s"] == 200
    assert "load_accesses_per_s" not in SUITE.figures(point, outcome())
    result = {
        "setting": vars(point) | {"params": dict(point.params)},
        "figures": {"suite": figures},
    }
    (table,) = SUITE.tables([result])
    assert all(len(row) == len(table.header) for row in table.rows)
    assert table.rows[0] == ("key to echo", "stock", "1.000", "2.000", "3.000", "1")
    assert table.rows[2][2:] == ("-", "-", "-", "-")
    assert table.rows[5][2:] == ("0.003", "0.004", "6.202", "-")


def workloads():
    for effort in EFFORTS:
        for point in SUITE.points(effort):
            yield pytest.param(point, id=f"{effort}-{point.disk}-{point.overcommit}")


@pytest.mark.parametrize("point", workloads())
def test_workload_demands_what_the_setting_says(point):
    found = SUITE.workload(replace(point, policy="mts"))
    assert abs(sum(one.demand_mib for one in found.jobs) - point.demand_mib) <= syn8.PROCESS_MIB
    load = found.jobs[-1]
    assert load.each
    assert load.endless
    # what is measured is where the policy would have it, and so is who measures
    pinned = {one.name for one in found.jobs if one.resident}
    assert pinned == {"type", "serve", "ask", "monitor", "periodic"}
    for one in found.jobs:
        place = one.command[0].lstrip("/")
        assert place in found.files or place.removeprefix("bin/") in SUITE.programs
    # no process of the load comes to its end before the probes do
    accesses = int(load.command[load.command.index("--accesses") + 1])
    assert accesses * latency.ACCESS_NS * 2**point.shift >= latency.end(point) * 1e9 * 0.99


@pytest.mark.parametrize("point", workloads())
def test_ideal_is_the_same_without_the_load(point):
    loaded = SUITE.workload(replace(point, policy="stock"))
    ideal = SUITE.workload(replace(point, policy="ideal"))
    assert ideal.jobs == loaded.jobs[:-1]
    assert ideal.batches == (ideal.jobs,)


@pytest.mark.parametrize("point", workloads())
def test_every_run_ends_at_a_time_that_is_known(point):
    assert latency.end(point) < point.limit <= 300
    with pytest.raises(LabError, match="limit"):
        SUITE.workload(replace(point, limit=latency.end(point) - 0.1))


def test_there_must_be_a_load_and_a_time():
    point = SUITE.points("smoke")[0]
    with pytest.raises(LabError, match="nothing for SYN8"):
        SUITE.workload(replace(point, overcommit=0.3))
    with pytest.raises(LabError, match="duration"):
        SUITE.workload(replace(point, params=(("duration", 0),)))


def test_policies_that_are_made_for_this():
    assert SUITE.policies("full") == ("stock", "mglru", "thrash-protect", "mts", "ideal")
