# SPDX-License-Identifier: GPL-2.0
"""The suites of programs, without guests: demands, workloads, what programs print."""

import json
import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from bench.builds import project
from bench.lab import ROOT, LabError, calibrate
from bench.lab.experiment import EFFORTS, Outcome
from bench.suites import builds, idle, spec, stress_ng

SUITES = [module.SUITE for module in (builds, idle, spec, stress_ng)]
METRICS = """stress-ng: info:  [1] something before
---
metrics:
    - stressor: vm
      bogo-ops: 378008
      bogo-ops-per-second-usr-sys-time: 72319.398560
      wall-clock-time: 5.228043
...
"""
HACKBENCH = """Running in process mode with 5 groups using 40 file descriptors each (== 200 tasks)
Each sender will pass 200 messages of 100 bytes
Time: 1.500
"""


def workloads():
    for suite in SUITES:
        for effort in EFFORTS:
            for number, point in enumerate(suite.points(effort)):
                yield pytest.param(suite, point, id=f"{suite.name}-{effort}-{number}")


def test_the_slices_of_the_paper_do_not_grow():
    said = {spec.SUITE.workload(point).mts_settings for point in spec.SUITE.points("full")}
    assert said == {"", *(f"slice={ms}ms overhead=off" for ms in spec.SLICES_MS)}


@pytest.mark.parametrize(("suite", "point"), workloads())
def test_workload_demands_what_the_setting_says(suite, point):
    found = suite.workload(replace(point, policy="stock"))
    names = [job.name for job in found.jobs]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z0-9.-]+", name) for name in names)
    assert all(job.command[0].startswith("/") for job in found.jobs)
    total = sum(job.demand_mib for job in found.jobs)
    largest = max(job.demand_mib for job in found.jobs)
    # a mix of whole programs comes as near as they allow; the others choose their sizes
    near = largest / 2 + 1 if suite.name == "spec" else 2
    if suite.name != "idle" or point.param("jobs") == "fit":
        assert abs(total - point.demand_mib) <= near
    # what runs is there: of the files, the suite's programs, or busybox
    for job in found.jobs:
        place = job.command[0].lstrip("/")
        assert place in found.files or place.removeprefix("bin/") in (*suite.programs, "sh")
    assert suite.workload(replace(point, policy="mts")) == found


def test_demands_were_measured_for_every_trial():
    measured = json.loads(calibrate.DEMANDS.read_text())
    for module in (builds, spec, stress_ng):
        assert set(module.trials()) == set(measured[module.SUITE.name])


@pytest.mark.parametrize("kind", builds.KINDS)
def test_trees_between_the_trials_demand_what_the_line_says(kind):
    middle = sum(builds.KINDS[kind].tried) // 2
    measured = calibrate.demand("builds", f"{kind}-{middle}").peak_mib
    assert builds.demand_mib(kind, middle) == pytest.approx(measured, rel=0.06)


def test_tree_too_large_is_refused():
    point = builds.SUITE.points("smoke")[0]
    with pytest.raises(LabError, match="too far"):
        builds.SUITE.workload(replace(point, overcommit=40))


def test_unmeasured_demand_is_an_error():
    with pytest.raises(LabError, match=r"bench\.lab\.calibrate"):
        calibrate.demand("builds", "nothing")


def test_calibration_script_measures_in_a_cgroup():
    trial = calibrate.Trial(("/bin/echo", "it's"), setup="mkdir /x")
    text = calibrate.script({"one": trial})
    assert "mkdir /x\nattempt one '/bin/echo' 'it'\\''s' || exit 1" in text
    done = subprocess.run(["sh", "-n"], input=text, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_stress_ng_metrics_are_parsed():
    assert stress_ng.metrics(METRICS) == {"vm": 378008}
    assert stress_ng.metrics("") == {}


def test_stress_ng_rates_are_of_the_whole_time():
    jobs = [
        {"name": "vm-keep-0", "output": METRICS},
        {"name": "vm-keep-2", "output": "cut off"},
        {"name": "vm-1", "output": METRICS},
    ]
    point = stress_ng.SUITE.points("quick")[0]
    found = stress_ng.SUITE.figures(point, Outcome({"elapsed": 10.0, "jobs": jobs}))
    assert found["bogo_ops_per_s"] == pytest.approx(75601.6)
    assert found["kinds_bogo_ops_per_s"] == {"vm-keep": 37800.8, "vm": 37800.8}
    assert found["jobs_silent"] == 1


def test_messages_and_times_are_parsed():
    assert idle.messages_and_time(HACKBENCH) == (5 * 200 * 400, 1.5)
    assert idle.messages_and_time('{"messages": 1000, "ns": 2500000}\n') == (1000, 0.0025)
    assert idle.messages_and_time("Running in process mode with 5 groups") is None


def test_turns_are_compared_in_the_middle():
    said = "".join(
        f"turn {kind}\n{HACKBENCH.replace('1.500', seconds)}"
        for kind, seconds in [
            *[("warm", "9.000"), ("absent", "1.000"), ("loaded", "1.100"), ("loaded", "1.300")],
            *[("absent", "1.200"), ("absent", "7.000"), ("loaded", "1.400")],
        ]
    )
    point = replace(idle.SUITE.points("smoke")[0], policy="stock", params=(("turns", 2),))

    def figures(output):
        return idle.SUITE.figures(point, Outcome({"jobs": [{"name": "bench", "output": output}]}))

    assert figures(said)["instructions_per_message"] == 1.2e9 / 400_000
    assert figures(said)["loaded_over_absent"] == pytest.approx(1.3 / 1.2)
    cut_off = said[: said.index("turn loaded")]
    assert figures(cut_off)["loaded_over_absent"] is None
    with pytest.raises(LabError, match="policy stock, not mts"):
        idle.SUITE.workload(replace(point, policy="mts"))


def test_instructions_per_message_do_not_depend_on_the_clock():
    job = {"name": "bench", "output": '{"messages": 1000, "ns": 8000000}\n'}
    point = idle.SUITE.points("smoke")[0]
    found = {
        shift: idle.SUITE.figures(replace(point, shift=shift), Outcome({"jobs": [job]}))
        for shift in (0, 2)
    }
    assert found[0]["instructions_per_message"] == 8000
    assert found[2]["instructions_per_message"] == 2000


def test_project_is_the_same_for_the_same_seed():
    shape = project.Shape(files=2, functions=5, data=100)
    assert project.texts(shape, 7) == project.texts(shape, 7)
    assert project.texts(shape, 7) != project.texts(shape, 8)


@pytest.mark.parametrize("flags", ["-O0 -g", "-O1"])
def test_project_builds_runs_and_reports_its_steps(tmp_path, flags):
    """By the programs that a guest gets: the checksum is the same at every optimisation."""
    shape = project.Shape(files=3, functions=12, data=1000, flags=flags)
    project.write(tmp_path / "src", shape, seed=3)
    (tmp_path / "out").mkdir()
    done = subprocess.run(
        ["make", "-s", "-j2", "-C", tmp_path / "src", f"OUT={tmp_path}/out", "STEP=echo step"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["step"] * (shape.files + 2)
    ran = subprocess.run([tmp_path / "out/program"], capture_output=True, text=True)
    assert ran.returncode == 0
    assert re.fullmatch(r"[0-9a-f]{16}\n", ran.stdout)
    assert ran.stdout == _checksum(tmp_path, shape)


def _checksum(tmp_path, shape):
    """What the same program says that is compiled in another way."""
    other = tmp_path / "other"
    project.write(other, replace(shape, flags="-O2"), seed=3)
    subprocess.run(["make", "-s", "-C", other], check=True)
    return subprocess.run([other / "program"], capture_output=True, text=True).stdout


@pytest.fixture(scope="session")
def own(tmp_path_factory):
    """The C programs of bench/spec_wrappers and bench/idle."""
    build = tmp_path_factory.mktemp("programs")
    for folder in ("spec_wrappers", "idle"):
        command = ["make", "-s", "-C", ROOT / "bench" / folder, f"BUILD={build}"]
        subprocess.run(command, check=True)
    return build


def run(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, **options)


def test_repeat_repeats_and_passes_on_failure(own, tmp_path):
    count = tmp_path / "count"
    done = run(own / "repeat", "--runs", "3", "--", "sh", "-c", f"echo x >>{count}")
    assert done.returncode == 0
    assert count.read_text() == "x\n" * 3
    done = run(own / "repeat", "--runs", "3", "--", "sh", "-c", f"echo x >>{count}; exit 7")
    assert done.returncode == 7
    assert count.read_text() == "x\n" * 4
    assert "exit status 7" in done.stderr
    assert run(own / "repeat", "--", "sh", "-c", "kill -9 $$").returncode == 137
    assert run(own / "repeat", "--before", "exit 5", "--", "true").returncode == 5
    for wrong in ([], ["--runs", "0", "true"], ["--steps", "2", "--feed", "x", "true"]):
        assert run(own / "repeat", *wrong).returncode == 2


def test_repeat_feeds_and_writes(own, tmp_path):
    text = tmp_path / "text"
    text.write_text("line\n" * 50000)
    out = tmp_path / "out"
    done = run(own / "repeat", "-n", "2", "--feed", text, "--output", out, "--", "cat")
    assert done.returncode == 0, done.stderr
    assert out.read_text() == text.read_text()
    # a reader that ends early is no error of the feeder's
    assert run(own / "repeat", "--feed", text, "--", "head", "-n", "1").returncode == 0
    assert run(own / "repeat", "--feed", tmp_path / "none", "--", "cat").returncode == 1


def counters(own, tmp_path, *words):
    """Done and goal of the only counter, after `repeat` has run."""
    work = tmp_path / "work"
    head = (0x574F524B).to_bytes(4, "little")
    work.write_bytes(head + bytes(65536 - len(head)))
    done = run(own / words[0], *words[1:], env={"PATH": "/bin:/usr/bin", "LAB_WORK": str(work)})
    data = work.read_bytes()
    assert int.from_bytes(data[4:8], "little") == 1
    numbers = [int.from_bytes(data[at : at + 8], "little") for at in (64, 72)]
    return done.returncode, *numbers


def test_work_is_counted(own, tmp_path):
    text = tmp_path / "text"
    text.write_bytes(bytes(100000))
    step = "echo >&9"
    assert counters(own, tmp_path, "repeat", "-n", "4", "--", "true") == (0, 4, 4)
    fed = counters(own, tmp_path, "repeat", "-n", "2", "-f", text, "--", "cat")
    assert fed == (0, 200000, 200000)
    steps = counters(
        own, tmp_path, "repeat", "-s", "3", "--", "sh", "-c", f"{step}; {step}; exit 4"
    )
    assert steps == (4, 2, 3)
    # a step too many is a mistake in what counts them
    many = counters(own, tmp_path, "repeat", "-s", "1", "--", "sh", "-c", f"{step}; {step}")
    assert many[0] == 1
    assert counters(own, tmp_path, "pingpong", "100") == (0, 100, 100)
    assert counters(own, tmp_path, "paths", "--runs", "2", "1000") == (0, 2000, 2000)
    assert counters(own, tmp_path, "lu", "20") == (0, 2870, 2870)


def test_text_is_of_its_seed_and_like_prose(own):
    first = run(own / "textgen", "--seed", "5", "200000").stdout
    assert len(first) == 200000
    assert run(own / "textgen", "--seed", "5", "200000").stdout == first
    assert run(own / "textgen", "--seed", "6", "200000").stdout != first
    packed = subprocess.run(["gzip", "-c"], input=first.encode(), capture_output=True).stdout
    assert 0.3 < len(packed) / len(first) < 0.6
    words = first.split()
    assert max(map(len, first.splitlines())) < 110
    assert words.count(max(set(words), key=words.count)) > len(words) / 40


@pytest.mark.parametrize("program", ["textgen", "lu", "paths", "pingpong"])
def test_wrong_arguments_are_refused(own, program):
    assert shutil.which(own / program)
    for wrong in ([], ["0"], ["x"], ["1", "2"], ["--nonsense", "5"]):
        done = run(own / program, *wrong)
        assert done.returncode == 2, wrong
        assert program in done.stderr
