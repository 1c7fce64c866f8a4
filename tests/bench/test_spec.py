# SPDX-License-Identifier: GPL-2.0
"""The SPEC wrappers, against trees that are laid out as SPEC's documents describe.

runspec and runcpu are fakes that take the documented options, refuse others, and write result
files of the documented form.
"""

import json
import os
import stat
import subprocess

import pytest

from bench.lab import ROOT, LabError
from bench.spec_wrappers import launch, mix, outcome, standins, tree

RUN = ROOT / "bench/spec_wrappers/run"
LAYOUTS = {
    "CPU2000": ("runspec", {"CINT2000": ["164.gzip", "176.gcc"], "CFP2000": ["171.swim"]}),
    "CPU2006": ("runspec", {"CPU2006": ["401.bzip2", "403.gcc"]}),
    "CPU2017": ("runcpu", {"CPU": ["502.gcc_r", "557.xz_r", "602.gcc_s"]}),
}

# What the tools of each generation know of the options that are used. One run at a time takes a
# number (they use a lock file), and says where it wrote what.
FAKE = """#!/usr/bin/env python3
import argparse, fcntl, os, sys
year = {year}
parser = argparse.ArgumentParser(allow_abbrev=False)
for name in ("config", "tune", "action", "output_format"):
    parser.add_argument("--" + name, required=True)
parser.add_argument("--size", required=True, choices=["test", "train", "ref"])
parser.add_argument("--iterations", required=True, type=int)
if year == 2000:
    parser.add_argument("--loose", action="store_true", required=True)
else:
    parser.add_argument("--noreportable", action="store_true", required=True)
    parser.add_argument("--nobuild", action="store_true")
parser.add_argument("benchmark")
options = parser.parse_args()
spec = os.environ["SPEC"]  # which shrc sets
assert os.path.isabs(options.config) and os.path.exists(options.config)
if os.path.exists(f"{{spec}}/config/fails"):
    print("Error with", options.benchmark)
    sys.exit(1)
if options.action == "build":
    (place,) = [d for d, s, f in os.walk(spec + "/benchspec") if d.endswith(options.benchmark)]
    os.makedirs(place + "/exe", exist_ok=True)
    open(f"{{place}}/exe/program_{{options.tune}}.mine", "w").close()
    sys.exit(0)
with open(f"{{spec}}/result/lock.CPU{{year}}", "a+") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    lock.seek(0)
    number = int(lock.read() or 0) + 1
    lock.truncate(0)
    lock.write(str(number))
name = options.benchmark.replace(".", "_")
base = f"{{spec}}/result/CINT{{year}}.{{number:03}}"
raw = base + (".raw" if year == 2000 else f".{{options.size}}.rsf")
prefix = f"spec.cpu{{year}}"
with open(raw, "w") as out:
    print(f"{{prefix}}.size: {{options.size}}", file=out)
    for i in range(options.iterations):
        start = f"{{prefix}}.results.{{name}}.{{options.tune}}.{{i:03}}"
        print(f"{{start}}.benchmark: {{options.benchmark}}", file=out)
        print(f"{{start}}.ratio: 12.5", file=out)
        print(f"{{start}}.reported_time: {{100 + i}}.25", file=out)
        print(f"{{start}}.valid: " + ("1" if year == 2000 else "S"), file=out)
print(" Success", options.benchmark, options.tune, options.size)
print("    format: raw ->", raw)
print(f"The log for this run is in {{spec}}/result/CPU{{year}}.{{number:03}}.log")
"""

CSV = """valid,0
"SPEC CPU2017 Integer Rate Result"

"Full Results Table"

Benchmark,"Base # Copies","Est. Base Run Time","Est. Base Rate","Base Selected","Base Status",\
"Peak # Copies","Est. Peak Run Time","Est. Peak Rate","Peak Selected","Peak Status",Description
502.gcc_r,1,223.014,6.35,0,S,,,,,NR,"SelectedIteration (base #2; peak NR)"
502.gcc_r,1,221.5,6.39,1,S,,,,,NR,
557.xz_r,1,--,--,0,RE,,,,,NR,

"Selected Results Table"

Benchmark,"Base # Copies","Est. Base Run Time"
502.gcc_r,1,221.5
"""


def make_tree(path, suite, built=True):
    tool, places = LAYOUTS[suite]
    for directory in ("bin", "config", "result"):
        (path / directory).mkdir(parents=True)
    fake = path / "bin" / tool
    fake.write_text(FAKE.format(year=int(suite.removeprefix("CPU"))))
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    (path / "shrc").write_text("SPEC=$PWD\nPATH=$SPEC/bin:$PATH\nexport SPEC PATH\n")
    (path / "config" / "mine.cfg").write_text("ext = mine\n")
    for place, benchmarks in places.items():
        for name in benchmarks:
            exe = path / "benchspec" / place / name / "exe"
            exe.mkdir(parents=True)
            if built:
                (exe / f"{name.partition('.')[2]}_base.mine").touch()
    return path


@pytest.fixture(params=LAYOUTS)
def spec(request, tmp_path):
    return make_tree(tmp_path / request.param, request.param)


def call(*arguments, **environment):
    clean = {key: value for key, value in os.environ.items() if key != "SPEC_DIR"}
    return subprocess.run(
        [RUN, *arguments], capture_output=True, text=True, env={**clean, **environment}
    )


GCC = {"CPU2000": "176.gcc", "CPU2006": "403.gcc", "CPU2017": "502.gcc_r"}


def test_mix_runs_and_is_reported(spec, tmp_path):
    done = call(
        *("2gcc", "--config", "mine", "--size", "test", "--iterations", "2"),
        *("--json", str(tmp_path / "out.json")),
        SPEC_DIR=str(spec),
    )
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["suite"] == spec.name
    assert found["policy"] == "stock"
    assert [each["benchmark"] for each in found["instances"]] == [GCC[spec.name]] * 2
    # each has its own result file, although both ran at the same time
    files = [each["files"] for each in found["instances"]]
    assert len({*files[0], *files[1]}) == 2
    for each in found["instances"]:
        assert each["exit_status"] == 0
        assert [run["seconds"] for run in each["iterations"]] == [100.25, 101.25]
        assert {run["status"] for run in each["iterations"]} == {"S"}
    assert GCC[spec.name] in done.stdout
    assert "12.50" in done.stdout


def test_what_is_not_built_is_said_and_built_on_demand(tmp_path):
    spec = make_tree(tmp_path / "CPU2006", "CPU2006", built=False)
    arguments = ("gcc+2bzip2", "--config", "mine", "--size", "test")
    done = call(*arguments, SPEC_DIR=str(spec))
    assert done.returncode == 2
    assert "403.gcc is not built (base)" in done.stderr
    assert "--build" in done.stderr
    done = call(*arguments, "--build", SPEC_DIR=str(spec))
    assert done.returncode == 0, done.stderr
    assert len(list(spec.glob("result/*.rsf"))) == 3


def test_failing_benchmark_is_a_failure(spec):
    (spec / "config" / "fails").touch()
    done = call("gcc", "--config", "mine", SPEC_DIR=str(spec))
    assert done.returncode == 1
    assert "FAILED (exit 1)" in done.stdout


def test_success_without_result_file_is_a_failure(spec):
    tool = spec / "bin" / LAYOUTS[spec.name][0]
    tool.write_text("#!/bin/sh\nexit 0\n")
    done = call("gcc", "--config", "mine", SPEC_DIR=str(spec))
    assert done.returncode == 1
    assert "no result file" in done.stdout


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda spec: None, "SPEC_DIR is not set"),
        (lambda spec: spec / "nowhere", "no such directory"),
        (lambda spec: spec / "bin", "not a SPEC CPU tree"),
    ],
)
def test_what_is_missing_is_said(spec, change, said):
    place = change(spec)
    done = call("gcc", "--config", "mine", **({"SPEC_DIR": str(place)} if place else {}))
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_unfinished_installation_and_missing_shrc_are_said(tmp_path):
    spec = make_tree(tmp_path / "s", "CPU2006")
    (spec / "shrc").unlink()
    assert "no shrc" in call("gcc", "--config", "mine", SPEC_DIR=str(spec)).stderr
    (spec / "bin" / "runspec").unlink()
    (spec / "install.sh").touch()
    assert "install.sh was not run" in call("gcc", SPEC_DIR=str(spec)).stderr


def test_config_and_benchmark_must_be_there(spec):
    said = call("gcc", "--config", "other", SPEC_DIR=str(spec)).stderr
    assert "no config file other" in said
    assert "mine.cfg" in said
    assert "which config file?" in call("gcc", SPEC_DIR=str(spec)).stderr
    assert "has no benchmark doom" in call("doom", "--config", "mine", SPEC_DIR=str(spec)).stderr
    unknown = {"CPU2000": "mcf", "CPU2006": "mcf", "CPU2017": "mcf"}[spec.name]
    assert "is not installed" in call(unknown, "--config", "mine", SPEC_DIR=str(spec)).stderr


def test_names_of_benchmarks(tmp_path):
    trees = {name: tree.find(str(make_tree(tmp_path / name, name))) for name in LAYOUTS}
    assert {name: found.generation.name for name, found in trees.items()} == {n: n for n in LAYOUTS}
    assert trees["CPU2000"].benchmark("gzip") == "164.gzip"
    assert trees["CPU2006"].benchmark("401.bzip2") == "401.bzip2"
    assert trees["CPU2017"].benchmark("gcc") == "502.gcc_r"
    assert trees["CPU2017"].benchmark("gcc_s") == "602.gcc_s"


def test_mts_makes_every_benchmark_a_job(spec, tmp_path):
    found = tree.find(str(spec))
    one = launch.Instance(0, GCC[spec.name], tmp_path)
    two = launch.Instance(1, GCC[spec.name], tmp_path)
    ready = launch.Launch(found, launch.Options("mine"), (one, two), mts=True)
    command = ready.command()
    assert command[:5] == ["mtsctl", "run", "--each=child", "--name", "spec"]
    assert command[6:8] == ["bash", "-c"]
    # each in a child of its own, in the background, and then a wait for all
    assert command[8].count(") &\n") == 2
    assert command[8].endswith("\nwait")


def test_command_lines(tmp_path):
    def line(suite, program, **options):
        found = tree.find(str(make_tree(tmp_path / f"{suite}{len(options)}", suite)))
        return launch.command(found, program, launch.Options("mine", **options))

    wanted = line("CPU2017", "502.gcc_r", size="train", iterations=3, tune="peak")
    assert wanted[0] == "runcpu"
    assert {"--size=train", "--iterations=3", "--tune=peak", "--nobuild"} <= set(wanted)
    assert "--noreportable" in wanted
    assert wanted[-1] == "502.gcc_r"
    assert line("CPU2000", "164.gzip")[0] == "runspec"
    assert "--nobuild" not in line("CPU2006", "401.bzip2", action="build")


def test_raw_and_csv_files_are_parsed():
    raw = (
        "spec.cpu2006.results.401_bzip2.peak.001.valid: VE\n"
        "spec.cpu2006.results.401_bzip2.base.000.benchmark: 401.bzip2\n"
        "spec.cpu2006.results.401_bzip2.base.000.reported_time: 512.3\n"
        "spec.cpu2006.results.401_bzip2.base.000.ratio: --\n"
        "spec.cpu2006.results.401_bzip2.base.000.valid: S\n"
        "spec.cpu2006.hw_model: spec.cpu2006.results.nothing\n"
    )
    assert outcome.parse_raw(raw) == [
        outcome.Measured("401.bzip2", "base", 512.3, None, "S"),
        outcome.Measured("401.bzip2", "peak", None, None, "VE"),
    ]
    assert outcome.parse_csv(CSV) == [
        outcome.Measured("502.gcc_r", "base", 223.014, 6.35, "S"),
        outcome.Measured("502.gcc_r", "base", 221.5, 6.39, "S"),
        outcome.Measured("557.xz_r", "base", None, None, "RE"),
    ]


def test_result_files_are_found_by_the_log_number_too(tmp_path):
    for name in ("CPU2017.007.intrate.refrate.rsf", "CPU2017.007.log", "CPU2017.008.x.rsf"):
        (tmp_path / name).touch()
    log = f"The log for this run is in {tmp_path}/CPU2017.007.log\n"
    assert outcome.result_files(log, tmp_path) == [tmp_path / "CPU2017.007.intrate.refrate.rsf"]


def test_mix_notation():
    parts = mix.parse("3gzip+2gcc+x264")
    assert parts == (mix.Part(3, "gzip"), mix.Part(2, "gcc"), mix.Part(1, "x264"))
    assert mix.programs(parts) == ["gzip", "gcc", "x264", "gzip", "gcc", "gzip"]
    assert mix.text(parts) == "3gzip+2gcc+x264"
    full = mix.parse("3x164.gzip+176.gcc")
    assert full == (mix.Part(3, "164.gzip"), mix.Part(1, "176.gcc"))
    assert mix.parse(mix.text(full)) == full
    for wrong in ("", "3", "gzip++gcc", "0gzip", "-1gzip", "gzip;gcc", "1001gzip"):
        with pytest.raises(LabError, match="mix"):
            mix.parse(wrong)


def test_scaled_mix_comes_near_the_total_in_proportion():
    demands = {"gzip": 23.0, "gcc": 17.0}
    for total in (50, 96, 163.2, 251.6, 1000):
        parts = mix.scale(mix.parse("3gzip+2gcc"), demands, total)
        reached = sum(demands[part.program] * part.count for part in parts)
        assert abs(reached - total) <= max(demands.values())
    counts = {part.program: part.count for part in parts}
    assert counts["gzip"] / counts["gcc"] == pytest.approx(1.5, rel=0.1)


def test_stand_ins_go_by_specs_names():
    assert standins.find("mcf").name == "paths"
    assert standins.find("perlbmk").name == "perl"
    with pytest.raises(LabError, match="gzip"):
        standins.find("doom")
