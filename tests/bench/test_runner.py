# SPDX-License-Identifier: GPL-2.0
"""The way from a choice to a guest, without booting one."""

import contextlib
import dataclasses
import re
import subprocess

import pytest

from bench.lab import ROOT, LabError, guest, packing, pool, results, runner, sweep
from bench.lab.experiment import Job, Policy, Setting, Suite, Workload
from bench.policies import POLICIES, STARTS
from bench.suites import SUITES
from bench.suites import syn8 as syn8_module
from tests.bench import made_results

SYN8 = SUITES["syn8"]


def jobs(*sizes, **more):
    return [Job(f"j{i}", ("/bin/true",), size, **more) for i, size in enumerate(sizes)]


def names(batches):
    return [[job.name for job in batch] for batch in batches]


# packing


def test_batches_are_packed_first_fit_decreasing():
    # room for 90
    assert names(packing.batches(jobs(20, 60, 50, 30, 40), 100)) == [["j1", "j3"], ["j2", "j4"],
                                                                     ["j0"]]  # fmt: skip


def test_jobs_of_one_size_keep_their_order():
    assert names(packing.batches(jobs(30, 30, 30, 30), 100)) == [["j0", "j1", "j2"], ["j3"]]


def test_job_larger_than_memory_has_a_batch_of_its_own():
    assert names(packing.batches(jobs(10, 500, 10), 100)) == [["j1"], ["j0", "j2"]]


def test_resident_and_endless_jobs_are_in_no_batch_and_take_room():
    beside = [Job("monitor", ("/bin/true",), 20, resident=True),
              Job("hog", ("/bin/true",), 20, endless=True)]  # fmt: skip
    assert names(packing.batches([*jobs(30, 30), *beside], 100)) == [["j0"], ["j1"]]


# the driver's input


def workload(*found, **more):
    return Workload(jobs=tuple(found), **more)


POINT = Setting("toy", "stock", free_mib=100, limit=7.0)


def test_input_has_the_keys_that_the_driver_wants():
    job = Job("a", ("/bin/a", "-x"), 5, each=True, delay=2.0, environment=(("K", "v"),))
    policy = Policy("p", "P", start="mts", daemon="d", after="a", watch=("w",))
    assert runner.drive_input(POINT, policy, workload(job)) == {
        "free_mib": 100,
        "limit": 7.0,
        "sample": 0.1,
        "start": "mts",
        "batches": [],
        "daemon": "d",
        "after": "a",
        "watch": ["kswapd", "w"],
        "jobs": [
            {
                "name": "a",
                "command": ["/bin/a", "-x"],
                "each": True,
                "resident": False,
                "endless": False,
                "delay": 2.0,
                "environment": {"K": "v"},
            }
        ],
    }


def test_ideal_packs_the_jobs():
    monitor = Job("monitor", ("/bin/true",), 1, resident=True)
    got = runner.drive_input(POINT, POLICIES["ideal"], workload(*jobs(60, 60), monitor))
    assert got["batches"] == [["j0"], ["j1"]]
    assert [job["name"] for job in got["jobs"]] == ["j0", "j1", "monitor"]


def test_ideal_takes_the_suites_batches():
    parts = tuple((job,) for job in jobs(60, 60))
    whole = Job("whole", ("/bin/true",), 120)
    got = runner.drive_input(POINT, POLICIES["ideal"], workload(whole, batches=parts))
    assert got["batches"] == [["j0"], ["j1"]]
    assert [job["name"] for job in got["jobs"]] == ["j0", "j1"]
    assert [
        job["name"] for job in runner.drive_input(POINT, POLICIES["stock"], workload(whole))["jobs"]
    ] == ["whole"]


def test_two_jobs_of_one_name_are_refused():
    with pytest.raises(LabError, match="one name"):
        runner.drive_input(POINT, POLICIES["stock"], workload(*jobs(1), *jobs(1)))


# the guest


def test_memory_is_what_is_free_and_the_disk_unless_it_is_a_zram():
    null_blk, zram = (
        dataclasses.replace(POINT, disk=disk, swap_mib=1000) for disk in ("ssd", "zram")
    )
    assert runner.memory_mib(zram) == 100 + runner.BASE_MIB
    assert runner.memory_mib(null_blk) >= runner.memory_mib(zram) + 1000


def test_swap_is_two_and_a_half_times_the_demand():
    assert runner.swap_mib(dataclasses.replace(POINT, overcommit=2.0)) == 500
    assert runner.swap_mib(dataclasses.replace(POINT, overcommit=0.5)) == 256
    assert runner.swap_mib(dataclasses.replace(POINT, swap_mib=64)) == 64


def shell(script, path):
    """Run a /lab/main whose mount, driver and serial port are made up."""
    program = path / "labdrive"
    program.write_text('#!/bin/sh\necho "driver: $1 $LAB_FREE_MIB $LAB_MTS_SETTINGS"\n')
    program.chmod(0o755)
    script = script.replace("/dev/ttyS1", str(path / "report"))
    script = script.replace("mount ", ": mount ").replace("/proc/sys", str(path))
    (path / "vm").mkdir()
    script = script.replace("PATH=/bin:", f"PATH={path}:/bin:")
    done = subprocess.run(["/bin/sh", "-c", script], check=False)
    return done.returncode, (path / "report").read_text()


def test_main_gives_the_driver_its_input_and_the_settings(tmp_path):
    policy = Policy("p", "P", setup='[ "$LAB_SEED" = 1 ] && cd / && x=1')
    load = workload(setup='[ -z "$x" ]', mts_settings="slice=2s pack=rw")
    got = shell(runner.main_script(POINT, policy, load), tmp_path)
    assert got == (0, "driver: /lab/jobs.json 100 slice=2s pack=rw\n")
    assert (tmp_path / "vm" / "min_free_kbytes").read_text() == "1280\n"  # 4 sqrt(102400)
    assert (tmp_path / "vm" / "watermark_boost_factor").read_text() == "0\n"


@pytest.mark.parametrize(("params", "file"), [((), "''"), ((("events", 1.0),), "/tmp/events")])
def test_events_are_recorded_if_it_is_asked_for(params, file):
    setting = dataclasses.replace(POINT, params=params)
    script = runner.main_script(setting, Policy("p", "P"), workload())
    assert f"export LAB_MTS_EVENTS={file}\n" in script


@pytest.mark.parametrize(
    ("policy", "suite", "complaint"),
    [
        ("false", "", "drive: error the setup of policy p failed\n"),
        ("", "exit 3", "drive: error the setup of suite toy failed\n"),
    ],
)
def test_setup_that_fails_ends_the_run(tmp_path, policy, suite, complaint):
    script = runner.main_script(POINT, Policy("p", "P", setup=policy), workload(setup=suite))
    assert shell(script, tmp_path) == (1, complaint)


def test_out_of_memory_is_an_outcome_and_a_bug_is_none():
    said = ["mts: bug", "WARNING: CPU: 0", "Oops: 0002", "Call Trace:", "Out of memory: Killed"]
    assert [bool(re.search(runner.BAD_LOG, line)) for line in said] == [1, 1, 1, 0, 0]
    assert [bool(re.search(guest.BAD_LOG, line)) for line in said] == [1, 1, 1, 1, 0]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"disk": "tape"}, "no disk model tape"),
        ({"free_mib": 8}, "less than 16"),
        ({"limit": 0.0}, "limit"),
        ({"overcommit": 0.0}, "overcommit of 0"),
        ({"overcommit": 0.01}, "less than one process"),
        ({"shift": 11}, "shift 11"),
        ({"processors": 0}, "0 processors"),
        ({"kernel": "1.0"}, "kernel 1.0"),
        ({"params": (("accesses", 0),)}, "none"),
    ],
)
def test_settings_that_make_no_sense_are_refused(change, complaint):
    setting = dataclasses.replace(SYN8.points("smoke")[0], policy="stock", **change)
    with pytest.raises(LabError, match=complaint):
        runner.check(setting, SYN8, POLICIES["stock"])


@pytest.mark.parametrize(
    ("policy", "options"), [("mts", "debug_stall_ms=1 threads=2"), ("stock", "")]
)
def test_the_module_gets_its_parameters(policy, options):
    setting = dataclasses.replace(
        SYN8.points("smoke")[0], policy=policy, params=(("module", "debug_stall_ms=1,threads=2"),)
    )
    spec = runner.spec(setting, SYN8, POLICIES[policy], SYN8.workload(setting))
    assert spec.module_options == options


def test_processors_side_by_side_have_the_hosts_clock():
    """Counting instructions, two processors would be two halves of one."""
    setting = dataclasses.replace(SYN8.points("smoke")[0], policy="stock")
    assert runner.profile(setting).counted
    both = runner.profile(dataclasses.replace(setting, processors=2))
    assert not both.counted
    assert both.qemu[:4] == ("-accel", "tcg,thread=multi", "-smp", "2")


# sweeps


class Toy(Suite):
    name = "toy"
    title = "Toy"
    source = "nobody"
    rotation_params = ("slice", "mts")

    def points(self, effort):
        params = ((("depth", 1), ("slice", 1.0)), (("depth", 1), ("slice", 2.0)))
        return [Setting("toy", "", limit=60.0, params=each) for each in params]

    def workload(self, setting):
        setting.param("hidden")
        return Workload(jobs=())


class Timed(Toy):
    timed = True


KNOWN = {
    "stock": Policy("stock", "S"),
    "mts": Policy("mts", "M", start="mts"),
    "ideal": Policy("ideal", "I", start="ideal"),
}


def summary(choice, suite=None):
    found = sweep.settings([suite or Toy()], KNOWN, choice)
    return [(s.policy, s.param("slice"), s.seed, s.limit) for s in found]


def test_parameters_of_rotation_are_for_those_who_rotate():
    assert summary(sweep.Choice(seeds=(1, 2))) == [
        ("stock", None, 1, 10.0),
        ("stock", None, 2, 10.0),
        ("mts", 1.0, 1, 60.0),
        ("mts", 1.0, 2, 60.0),
        ("ideal", None, 1, 60.0),
        ("ideal", None, 2, 60.0),
        ("mts", 2.0, 1, 60.0),
        ("mts", 2.0, 2, 60.0),
    ]


def test_who_may_thrash_is_cut_off_early():
    full = sweep.Choice(effort="full", policies=("stock",))
    slower = sweep.Choice(policies=("stock",), fields={"shift": 2})
    given = sweep.Choice(policies=("stock", "mts"), limit=33.0)
    assert [limit for *_, limit in summary(full)] == [20.0]
    assert [limit for *_, limit in summary(slower)] == [40.0]
    assert {limit for *_, limit in summary(given)} == {33.0}
    assert {limit for *_, limit in summary(sweep.Choice(), Timed())} == {60.0}


def test_what_is_asked_for_takes_the_place_of_the_suites_own():
    choice = sweep.Choice(
        policies=("mts",),
        overcommits=(1.2, 2.0),
        fields={"disk": "nvme", "free_mib": 64},
        params={"slice": 4.0, "depth": 7},
    )
    found = sweep.settings([Toy()], KNOWN, choice)
    assert [(s.overcommit, s.disk, s.free_mib, dict(s.params)) for s in found] == [
        (1.2, "nvme", 64, {"depth": 7, "slice": 4.0}),
        (2.0, "nvme", 64, {"depth": 7, "slice": 4.0}),
    ]


def test_parameter_that_the_suite_only_asks_for_is_known():
    found = sweep.settings([Toy()], KNOWN, sweep.Choice(params={"hidden": 1}))
    assert all(setting.param("hidden") == 1 for setting in found)


def test_parameter_that_the_suite_does_not_know():
    with pytest.raises(LabError, match="no parameter speed: depth, hidden, mts, slice"):
        sweep.settings([Toy()], KNOWN, sweep.Choice(params={"speed": 1}))


def test_names():
    assert sweep.chosen(("mts", "all"), KNOWN, "policy") == ["mts", "stock", "ideal"]
    with pytest.raises(LabError, match="no policy best: stock, mts, ideal"):
        sweep.chosen(("best",), KNOWN, "policy")


# what is registered


def test_policies_are_in_order_and_whole():
    assert list(POLICIES)[:3] == ["stock", "mts", "ideal"]
    assert {"mglru", "mglru+min_ttl", "zswap", "mts+zswap"} <= POLICIES.keys()
    for name, policy in POLICIES.items():
        assert policy.name == name
        assert policy.title
        assert policy.start in STARTS
        script = "\n".join([policy.setup, policy.daemon, policy.after])
        subprocess.run(["/bin/sh", "-n", "-c", script], check=True)


@pytest.mark.parametrize("suite", SUITES.values(), ids=lambda suite: suite.name)
@pytest.mark.parametrize("effort", ["smoke", "quick", "full"])
def test_suites_have_points_for_policies_that_there_are(suite, effort):
    points = suite.points(effort)
    assert points
    assert len(set(points)) == len(points)
    assert {point.suite for point in points} == {suite.name}
    assert sweep.chosen(suite.policies(effort), POLICIES, "policy")
    assert all(list(point.params) == sorted(point.params) for point in points)


@pytest.mark.parametrize("total", [16, 144, 288])
def test_syn8_has_the_same_processes_under_ideal(total):
    setting = syn8_module._point(total, 2.0, 1.0, "ssd", 0, limit=60)
    load = SYN8.workload(setting)

    def count(job):
        return int(job.command[job.command.index("--processes") + 1])

    assert count(load.jobs[0]) * 8 == total
    parts = [count(job) for batch in load.batches for job in batch]
    assert sum(parts) * 8 == total
    room = packing.capacity_mib(setting.free_mib)
    assert all(part * syn8_module.PROCESS_MIB <= room for part in parts)
    assert load.mts_settings == "slice=2s overhead=off"


# several side by side, with guests that are made up


class FakeRun:
    """In Run's place: is over after some polls."""

    alive = 0
    most = 0
    broken: frozenset[int] = frozenset()

    def __init__(self, setting, suite, policy, *, where, logs):
        self.setting, self.polls, self.open = setting, 0, False
        self.logs, self.memory_mib, self.progress = logs, 1, runner.Progress()
        if setting.seed == 13:
            raise LabError("no image")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.open:
            type(self).alive -= 1
        self.open = False

    def start(self):
        self.open = True
        type(self).alive += 1
        type(self).most = max(self.most, self.alive)

    def poll(self):
        self.polls += 1
        self.progress.stage, self.progress.work = "runs", self.polls / 3
        return self.polls >= 3

    def result(self):
        if self.setting.seed == 7:
            raise runner.RunError("the guest fell over")
        if self.setting.seed == 8:
            raise ZeroDivisionError
        return {"seed": self.setting.seed}


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setattr(pool, "Run", FakeRun)
    monkeypatch.setattr(pool, "_POLL", 0)
    monkeypatch.setattr(pool, "available_mib", lambda: 100000.0)
    FakeRun.alive = FakeRun.most = 0


def run_pool(seeds, parallel=2):
    over, shares = [], []
    runs = pool.Pool(
        settings=[dataclasses.replace(POINT, seed=seed) for seed in seeds],
        suites={"toy": Toy()},
        policies=KNOWN,
        where=results.Origin("7.2", "abc", False),
        parallel=parallel,
        on_over=over.append,
        on_poll=lambda pool: shares.append(pool.share),
    )
    with contextlib.suppress(KeyError):
        runs.run()
    return over, shares


@pytest.mark.usefixtures("fake")
def test_as_many_guests_as_asked_for():
    over, shares = run_pool(range(20, 26), parallel=3)
    assert FakeRun.most == 3
    assert FakeRun.alive == 0
    assert [item.result["seed"] for item in over] == list(range(20, 26))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.usefixtures("fake")
def test_run_that_fails_is_noted_and_the_sweep_goes_on():
    over, _ = run_pool([6, 7, 8, 13, 14])
    got = {item.setting.seed: item.error for item in over}
    assert got.keys() == {6, 7, 8, 13, 14}
    assert got[6] == got[14] == ""
    assert got[7] == "the guest fell over"
    assert got[8].startswith("ZeroDivisionError")
    assert got[13] == "no image"
    assert [item.setting.seed for item in over if item.result] == [6, 14]
    assert FakeRun.alive == 0


@pytest.mark.usefixtures("fake")
def test_guests_wait_for_memory(monkeypatch):
    need = runner.memory_mib(POINT) + pool._MARGIN_MIB
    monkeypatch.setattr(pool, "available_mib", lambda: need + 0.5 - FakeRun.alive)
    over, _ = run_pool([1, 2, 3])
    assert FakeRun.most == 1
    assert all(item.result for item in over)
    assert len(over) == 3


@pytest.mark.usefixtures("fake")
def test_guest_that_can_never_be_is_an_error(monkeypatch):
    monkeypatch.setattr(pool, "available_mib", lambda: 100.0)
    over, _ = run_pool([1, 2])
    assert all("this machine has 100 MiB" in item.error for item in over)
    assert len(over) == 2


# the command


def command(*arguments):
    return subprocess.run(
        [ROOT / "bench" / "run", *arguments], text=True, capture_output=True, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--suite", "nothing"], "no suite nothing: "),
        (["--suite", "syn8", "--policy", "best"], "no policy best: "),
        (
            ["--suite", "syn8", "--param", "speed=1"],
            "no parameter speed: accesses, events, module, mts, slice",
        ),
        (["--suite", "syn8", "--param", "speed"], "not NAME=VALUE"),
        (["--seeds", "5..1"], "no seed"),
        (["--seeds", "x"], "not 3 or 1..5"),
        (["--ns", "3"], "not 1, 2, 4"),
        (["--overcommit", "1,x"], "not numbers"),
        (["--disk", "tape"], "tape"),
        (["--suite", "syn8", "--free", "4"], "less than 16"),
    ],
)
def test_command_refuses_in_words(arguments, complaint):
    done = command(*arguments)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


def test_dry_run_says_what_would_be_measured_and_measures_nothing(tmp_path):
    arguments = ("--suite", "syn8", "--effort", "smoke", "--dry-run", "-j", "1", "-o", tmp_path)
    done = command(*arguments)
    assert done.returncode == 0, done.stderr
    *runs, whole = done.stdout.splitlines()
    assert [line.split()[:2] for line in runs] == [["syn8", p] for p in ("stock", "mts", "ideal")]
    assert "limit 3 s: at most about " in runs[0]
    assert whole.startswith("3 runs, 1 side by side: at most about ")
    assert list(tmp_path.iterdir()) == []
    # where there is a result it is known how long it took
    choice = sweep.Choice(effort="smoke", policies=("stock",))
    (made,) = made_results.write(tmp_path, choice, ("syn8",))
    assert made["real_seconds"] == 30.0
    assert "limit 3 s: took 0:30" in command(*arguments).stdout


def test_command_lists_what_there_is():
    done = command("--list")
    assert done.returncode == 0
    for name in [*SUITES, *POLICIES, "zram"]:
        assert name in done.stdout
