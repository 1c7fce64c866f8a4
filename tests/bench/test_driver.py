# SPDX-License-Identifier: GPL-2.0
"""The driver on this host, without privileges: what it starts, sees, ends and reports."""

import json
import os
import signal
import subprocess
import time

import pytest

from bench.lab import BUILD, ROOT
from tests.build import make

DRIVER = BUILD / "labdrive"
TESTJOB = BUILD / "testjob"
KEYS = {
    *("elapsed", "finished", "free_mib", "pinned_mib", "late", "jobs", "work", "jain"),
    *("jain_series", "vmstat", "disk", "cpu", "threads", "psi", "series", "policy"),
    *("daemon", "warnings"),
}
JOB_KEYS = {
    *("name", "started", "ended", "status", "signal", "utime", "stime", "majflt", "minflt"),
    *("work", "done", "goal", "longest_pause", "slots", "output"),
}


@pytest.fixture(scope="module", autouse=True)
def _built():
    make(ROOT / "bench" / "driver", f"BUILD={BUILD}", "all", "testjob")


def job(name, *command, **more):
    words = [str(word) for word in command]
    return {
        **{"name": name, "command": words, "each": False, "resident": False},
        **{"endless": False, "delay": 0, "environment": {}, **more},
    }


def testjob(name, *words, **more):
    return job(name, TESTJOB, *words, **more)


testjob.__test__ = False


def shell(name, script, **more):
    return job(name, "/bin/sh", "-c", script, **more)


def setting(*jobs, **more):
    return {
        **{"free_mib": 0, "limit": 20, "sample": 0.05, "start": "plain", "batches": []},
        **{"daemon": "", "after": "", "watch": [], "jobs": list(jobs), **more},
    }


class Lab:
    """Runs the driver in a directory of its own."""

    def __init__(self, path):
        self.path = path

    def command(self, content, *options):
        text = content if isinstance(content, str) else json.dumps(content)
        (self.path / "jobs.json").write_text(text)
        where = ["--directory", self.path / "lab"]
        return [DRIVER, "--unprivileged", *where, *options, self.path / "jobs.json"]

    def run(self, content, *options):
        return subprocess.run(
            self.command(content, *options), text=True, capture_output=True, timeout=60
        )

    def outcome(self, content, *options):
        done = self.run(content, *options)
        assert done.returncode == 0, done.stdout + done.stderr
        lines = done.stdout.splitlines()
        assert lines[0] == "drive: start"
        assert all(line.startswith("drive: at ") for line in lines[1:-1])
        return json.loads(lines[-1].removeprefix("drive: result "))

    def jobs(self, content, *options):
        return {each["name"]: each for each in self.outcome(content, *options)["jobs"]}


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path)


def gone(pid, seconds=5.0):
    deadline = time.monotonic() + seconds
    while os.path.exists(f"/proc/{pid}"):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_all_fields_of_an_outcome(lab):
    outcome = lab.outcome(
        setting(testjob("a", "slot=x:10", "step=10:20", "spin=100", "sleep=900"), watch=["kswapd"])
    )
    assert set(outcome) == KEYS
    assert outcome["finished"] is True
    assert outcome["pinned_mib"] == 0
    assert outcome["free_mib"] > 0
    assert outcome["policy"] is None
    assert outcome["daemon"] is None
    assert outcome["warnings"] == []
    assert 0 <= outcome["late"] < 1
    assert outcome["vmstat"]["pgfault"] > 0
    assert "pswpin" in outcome["vmstat"]
    assert set(outcome["cpu"]) == {
        *("user", "nice", "system", "idle", "iowait", "irq", "softirq"),
    }
    assert set(outcome["disk"]) == {
        *("name", "reads", "read_sectors", "read_ms", "writes", "write_sectors", "write_ms"),
        "in_flight_ms",
    }
    (one,) = outcome["jobs"]
    assert set(one) == JOB_KEYS
    assert one["started"] < 5
    assert 1.2 <= one["ended"] <= outcome["elapsed"] < 20
    assert (one["status"], one["signal"]) == (0, None)
    assert 0.09 < one["utime"] + one["stime"] < 1
    assert one["minflt"] > 0
    assert (one["work"], one["done"], one["goal"]) == (1, 10, 10)
    (slot,) = one["slots"]
    assert (slot["name"], slot["done"], slot["goal"]) == ("x", 10, 10)
    assert 0.2 <= slot["ended"] < one["ended"]


def test_series_every_second_and_at_the_end(lab):
    done = lab.run(setting(testjob("a", "slot=x:100", "step=50:5", "sleep=2000", "add=50")))
    lines = done.stdout.splitlines()
    said = [float(line.split()[2]) for line in lines if " at " in line]
    assert said[:2] == pytest.approx([1, 2], abs=0.5)
    outcome = json.loads(lines[-1].removeprefix("drive: result "))
    series = outcome["series"]
    assert [entry["t"] for entry in series[:-1]] == pytest.approx(said, abs=0.051)
    assert series[-1]["t"] == outcome["elapsed"]
    work = [entry["work"] for entry in series]
    assert work == sorted(work)
    assert 0 < work[0] <= 0.5
    assert work[-1] == 1
    for name in ("pgpgin", "pgpgout", "pswpin", "pswpout", "pgmajfault"):
        assert sum(entry[name] for entry in series) == outcome["vmstat"][name]
    for name in ("user", "system"):
        assert sum(entry[name] for entry in series) == pytest.approx(outcome["cpu"][name])


def test_limit_cuts_off(lab):
    words = ("slot=x:1000", "add=7", "spin=200", "sleep=60000")
    outcome = lab.outcome(setting(testjob("a", *words), limit=3.0))
    (one,) = outcome["jobs"]
    assert outcome["finished"] is False
    assert 3.0 <= outcome["elapsed"] < 10
    assert (one["ended"], one["status"], one["signal"]) == (None, None, None)
    assert one["done"] == 7
    assert one["work"] == outcome["work"] == 0.007
    # read from /proc, since nobody has waited for it
    assert 0.15 < one["utime"] + one["stime"] < 1
    assert one["minflt"] > 0


def test_usage_of_a_job_that_is_cut_off_has_its_descendants(lab):
    flag = lab.path / "flag"
    script = f"{TESTJOB} spin=200; {TESTJOB} spin=200 touch={flag} sleep=60000"
    jobs = lab.jobs(
        setting(
            shell("a", script, endless=True),
            shell("b", f"until [ -e {flag} ]; do sleep 0.05; done"),
        )
    )
    assert 0.35 < jobs["a"]["utime"] + jobs["a"]["stime"] < 1.5


def test_endless_jobs_are_ended_with_the_others(lab):
    outcome = lab.outcome(
        setting(
            testjob("a", "sleep=300"),
            testjob("b", "slot=x:0", "step=100000:10", endless=True),
            shell("early", "exit 5", endless=True),
        )
    )
    jobs = {each["name"]: each for each in outcome["jobs"]}
    assert outcome["finished"] is True
    assert 0.3 <= outcome["elapsed"] < 10
    assert (jobs["b"]["ended"], jobs["b"]["status"]) == (None, None)
    assert jobs["b"]["done"] > 0
    assert jobs["early"]["status"] == 5
    assert outcome["work"] == 1


def test_only_endless_jobs_run_until_the_limit(lab):
    outcome = lab.outcome(setting(shell("a", "sleep 0.1", endless=True), limit=0.7))
    assert 0.7 <= outcome["elapsed"] < 10


def test_delays(lab):
    jobs = lab.jobs(
        setting(
            testjob("late", "sleep=10", delay=0.6),
            testjob("early", "sleep=10"),
            testjob("never", "sleep=10", delay=60, endless=True),
        )
    )
    assert jobs["early"]["started"] < jobs["late"]["started"]
    assert 0.6 <= jobs["late"]["started"] < 10
    assert (jobs["never"]["started"], jobs["never"]["ended"]) == (None, None)


def test_statuses_and_signals(lab):
    outcome = lab.outcome(
        setting(
            testjob("seven", "exit=7"),
            testjob("killed", "kill=9"),
            job("missing", "/nonexistent/program"),
            testjob("good", "exit=0"),
        )
    )
    found = {each["name"]: (each["status"], each["signal"]) for each in outcome["jobs"]}
    assert found == {
        **{"seven": (7, None), "killed": (None, 9), "missing": (127, None), "good": (0, None)}
    }
    assert outcome["finished"] is False
    assert outcome["work"] == 0.25
    assert "No such file" in outcome["jobs"][2]["output"]


def test_jains_index_when_the_first_slot_reaches_its_goal(lab):
    begun, seen = lab.path / "begun", lab.path / "seen"
    outcome = lab.outcome(
        setting(
            testjob("a", "slot=x:10", f"wait={begun}", "add=10", "sleep=1000", f"touch={seen}"),
            testjob("b", "slot=x:100", "add=30", f"touch={begun}", f"wait={seen}", "add=70"),
        )
    )
    assert outcome["jain"] == pytest.approx(1.3**2 / (2 * (1 + 0.09)))
    assert outcome["work"] == 1


def test_jains_index_of_slots_without_goals(lab):
    outcome = lab.outcome(
        setting(testjob("a", "slot=x:0", "add=100"), testjob("b", "slot=x:0", "add=300"))
    )
    assert outcome["jain"] == pytest.approx(400**2 / (2 * (100**2 + 300**2)))


def test_no_slots_have_no_jains_index(lab):
    assert lab.outcome(setting(testjob("a", "sleep=10")))["jain"] is None


def test_jains_index_over_intervals(lab):
    # c is not there from the beginning, d reaches its goal within: neither takes part. All that
    # happens is 2 s from the interval's ends, 5 and 10 s: a busy host is late with both.
    outcome = lab.outcome(
        setting(
            testjob("a", "slot=x:0", "add=5", "sleep=7000", "add=9", "sleep=9000"),
            testjob("b", "slot=x:0", "sleep=7000", "add=27", "sleep=9000"),
            testjob("c", "slot=x:0", "add=1000", "sleep=9000", delay=7),
            testjob("d", "slot=x:100", "sleep=7000", "add=100", "sleep=9000"),
            limit=10.2,
        )
    )
    assert outcome["jain_series"] == [None, pytest.approx(36**2 / (2 * (9**2 + 27**2)))]


def test_longest_pause_of_a_job_that_is_stopped(lab):
    outcome = lab.outcome(
        setting(
            testjob("a", "slot=x:60", "step=30:10", "stop=700", "step=30:10"),
            testjob("b", "sleep=2000", "slot=x:100", "step=100:10"),
        )
    )
    stopped, smooth = outcome["jobs"]
    # as long as it says it was; no less than 0.7 s, more on a busy host
    seconds = float(stopped["output"].removeprefix("stopped "))
    assert seconds >= 0.7
    margin = 2 * 0.05 + 2 * outcome["late"]
    assert stopped["longest_pause"] == pytest.approx(seconds, abs=margin)
    assert stopped["slots"][0]["longest_pause"] == stopped["longest_pause"]
    # the time before its first progress is no pause
    assert smooth["longest_pause"] < 1.5


def test_pause_that_lasts_until_the_end(lab):
    jobs = lab.jobs(
        setting(
            testjob("stuck", "slot=x:60", "step=10:10", "sleep=60000"),
            testjob("ready", "slot=x:10", "step=10:10", "sleep=60000"),
            limit=4.0,
        )
    )
    assert 2 < jobs["stuck"]["longest_pause"] < 4.5
    assert jobs["ready"]["longest_pause"] < 2


def test_output_of_both_streams(lab):
    (one,) = lab.outcome(setting(shell("a", "echo out; echo err >&2; printf '\\377\\000'")))["jobs"]
    assert one["output"] == "out\nerr\n\ufffd\0"


def test_output_is_the_last_64_kib(lab):
    script = "yes 0123456 | head -c 100000; printf end"
    (one,) = lab.outcome(setting(shell("a", script)))["jobs"]
    assert len(one["output"]) == 64 << 10
    assert one["output"].endswith("0123456\nend")


def test_environment_and_standard_input(lab):
    script = 'echo "$COLOUR $LAB_WORK"; test -e "$LAB_WORK"; cat'
    (one,) = lab.outcome(setting(shell("a", script, environment={"COLOUR": "blue"})))["jobs"]
    assert one["output"] == f"blue {lab.path}/lab/a.work\n"
    assert one["status"] == 0


def test_a_full_work_file_is_no_harm(lab):
    words = [f"slot=s{number}:1" for number in range(1024)]
    (one,) = lab.outcome(setting(testjob("a", *words)))["jobs"]
    assert one["status"] == 1
    assert "no slot is left" in one["output"]
    assert len(one["slots"]) == 1023


def test_nothing_is_left_behind(lab):
    script = (
        'sleep 1000 & echo $! >>"$0"; setsid sleep 1001 & echo $! >>"$0";'
        ' (setsid sh -c \'sleep 1002 & echo $! >>"$0"; wait\' "$0" &) ; '
    )
    pids = lab.path / "pids"
    command = ("/bin/sh", "-c")
    jobs = lab.jobs(
        setting(
            job("cut", *command, script + "sleep 1003", pids),
            job("ends", *command, script + "sleep 0.3", pids),
            limit=4.0,
        )
    )
    left = pids.read_text().split()
    assert len(left) == 6
    assert all(gone(pid) for pid in left)
    assert jobs["cut"]["ended"] is None
    assert jobs["ends"]["status"] == 0


def test_what_a_job_leaves_behind_is_killed_when_it_ends(lab):
    outcome = lab.outcome(
        setting(
            testjob("a", "orphan=60000", "exit=0"),
            shell("b", 'sleep 0.7; ps -o args= -A >"$0"; true'.replace("$0", f"{lab.path}/ps")),
        )
    )
    assert outcome["finished"] is True
    assert "orphan=60000" not in (lab.path / "ps").read_text()


def test_orphans_usage_is_their_jobs(lab):
    flag = lab.path / "flag"
    script = (
        f"({TESTJOB} spin=300 && touch {flag} &);"
        f" until [ -e {flag} ]; do sleep 0.05; done; sleep 0.3"
    )
    (one,) = lab.outcome(setting(shell("a", script)))["jobs"]
    assert 0.25 < one["utime"] + one["stime"] < 1


def test_driver_that_is_terminated_ends_its_jobs(lab):
    pid_file = lab.path / "pid"
    command = lab.command(setting(shell("a", f"sleep 1000 & echo $! >{pid_file}; wait")))
    driver = subprocess.Popen(command, text=True, stdout=subprocess.PIPE)
    while not (pid_file.exists() and pid_file.read_text().strip()):
        time.sleep(0.01)
    driver.send_signal(signal.SIGTERM)
    out, _ = driver.communicate(timeout=20)
    assert driver.returncode == 1
    assert out.splitlines()[-1] == "drive: error ended by signal 15"
    assert gone(pid_file.read_text().strip())


def test_daemon_that_ends_early_is_noted(lab):
    outcome = lab.outcome(setting(testjob("a", "sleep=10"), daemon="echo from the daemon; exit 3"))
    assert outcome["daemon"] == {"ended": True, "status": 3, "signal": None}


def test_daemon_is_ended_with_its_children(lab):
    pid_file = lab.path / "pid"
    content = setting(
        testjob("a", "sleep=10"),
        daemon=f"echo from the daemon; sleep 1000 & echo $! >{pid_file}; wait",
    )
    done = lab.run(content)
    assert "from the daemon" in done.stderr
    outcome = json.loads(done.stdout.splitlines()[-1].removeprefix("drive: result "))
    assert outcome["daemon"] == {"ended": False, "status": None, "signal": None}
    assert gone(pid_file.read_text().strip())


def test_daemon_is_no_leftover_of_a_job(lab):
    outcome = lab.outcome(
        setting(
            *(testjob("a", "sleep=10"), testjob("b", "sleep=300")),
            daemon="sleep 1000",
            after="echo {}",
        )
    )
    assert outcome["daemon"]["ended"] is False


def test_after_becomes_the_policys_part(lab):
    flag = lab.path / "flag"
    outcome = lab.outcome(
        setting(
            testjob("a", "sleep=10"),
            shell("b", "sleep 1000", endless=True),
            daemon=f"trap 'exit 0' TERM; echo 7 >{flag}; while :; do sleep 0.1; done",
            after=f'echo "{{\\"seen\\": $(cat {flag})}}"',
        )
    )
    assert outcome["policy"] == {"seen": 7}
    assert outcome["warnings"] == []


@pytest.mark.parametrize(
    ("after", "warning"),
    [
        ("echo no", "after: its output is not JSON"),
        ("echo []", "after: its output is not an object"),
        ("echo {}; exit 4", "after: exit status 4"),
    ],
)
def test_after_that_fails_is_a_warning(lab, after, warning):
    outcome = lab.outcome(setting(testjob("a", "sleep=10"), after=after))
    assert any(warning in text for text in outcome["warnings"])


def test_batches_run_in_sequence(lab):
    jobs = lab.jobs(
        setting(
            *(testjob("a", "sleep=400"), testjob("b", "sleep=100"), testjob("c", "sleep=100")),
            testjob("helper", "sleep=60000", endless=True),
            testjob("monitor", "slot=x:0", "step=10000:20", endless=True, resident=True),
            start="ideal",
            batches=[["c"], ["a", "helper"], ["b"]],
        )
    )
    assert jobs["c"]["ended"] <= jobs["a"]["started"]
    assert jobs["a"]["ended"] <= jobs["b"]["started"]
    assert jobs["b"]["ended"] >= 0.6
    assert jobs["helper"]["started"] >= jobs["c"]["ended"]
    assert jobs["helper"]["ended"] is None
    # it ran from the start to the end
    assert jobs["monitor"]["started"] < jobs["c"]["ended"]
    assert jobs["monitor"]["done"] > 3


def test_work_over_time_does_not_fall_when_a_batch_begins(lab):
    """Its jobs take more slots than were known of before: the driver's series fell then."""
    many = [word for n in range(4) for word in (f"slot={n}:10", "step=10:50")]
    outcome = lab.outcome(
        setting(
            *(testjob("a", "slot=x:10", "step=10:150"), testjob("b", *many)),
            start="ideal",
            batches=[["a"], ["b"]],
        )
    )
    work = [entry["work"] for entry in outcome["series"]]
    assert len(work) >= 3
    assert work == sorted(work)
    # Of five slots, not of two: about 0.14, but on a busy host the job may not have begun yet.
    assert work[0] <= 0.2
    assert work[-1] == outcome["work"] == 1


def test_delay_holds_a_batch_up(lab):
    jobs = lab.jobs(
        setting(
            *(testjob("a", "sleep=10"), testjob("b", "sleep=10", delay=0.5)),
            start="ideal",
            batches=[["a"], ["b"]],
        )
    )
    assert 0.5 <= jobs["b"]["started"] < 10


def test_mts_is_asked_to_run_the_jobs_and_to_thaw_them(lab):
    mtsctl = lab.path / "mtsctl"
    mtsctl.write_text(
        f'#!/bin/sh\necho "$*" >>{lab.path}/calls\n'
        '[ "$1" = run ] || exit 0\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n'
    )
    mtsctl.chmod(0o755)
    content = setting(
        shell("a", "exit 3", each=True),
        shell("b", "sleep 0.2", each=True, resident=True, delay=0.3),
        start="mts",
    )
    jobs = lab.jobs(content, "--mtsctl", mtsctl)
    assert (jobs["a"]["status"], jobs["b"]["status"]) == (3, 0)
    assert (lab.path / "calls").read_text().splitlines() == [
        "run --each=child --name a -- /bin/sh -c exit 3",
        "run --each=child --pin --name b -- /bin/sh -c sleep 0.2",
        "thaw",
    ]


def test_syn8_says_how_far_each_of_its_processes_is(lab):
    make(ROOT, "syn8")
    (one,) = lab.outcome(
        setting(job("a", BUILD / "syn8", "-n", 3, "-s", "64K", "-a", 1000), sample=0.01)
    )["jobs"]
    found = [(slot["name"], slot["done"], slot["goal"]) for slot in one["slots"]]
    assert found == [(f"syn8.{number}", 1000, 1000) for number in range(3)]


def test_watched_threads(lab):
    outcome = lab.outcome(
        setting(testjob("a", "spin=400", "sleep=60000"), watch=["testjo"], limit=4)
    )
    assert list(outcome["threads"]) == ["testjob"]
    assert 0.3 < outcome["threads"]["testjob"] < 0.8


def change(**keys):
    return {**setting(testjob("a")), **keys}


def without(content, key):
    return {name: value for name, value in content.items() if name != key}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "line 1: "),
        ("[]", "the input: not an object"),
        (change(extra=1), "extra: unknown key"),
        (without(setting(testjob("a")), "limit"), "limit: missing"),
        (change(limit="1"), "limit: not a number"),
        (change(limit=0), "limit: 0: not within 0.001 to 86400 seconds"),
        (change(sample=0), "sample: 0: not within 0.001 to 1 seconds"),
        (change(free_mib=-1), "free_mib: -1: not within"),
        (change(free_mib=10), "--unprivileged: only with free_mib 0"),
        (change(start="fast"), "start: 'fast': not plain, mts or ideal"),
        (change(daemon="a\0b"), "daemon: a NUL in a text"),
        (change(watch=[1]), "watch[0]: not a text"),
        (change(watch=[""]), "watch[0]: empty"),
        (change(jobs=[]), "jobs: 0: not 1 to 256"),
        (change(jobs=[1]), "jobs[0]: not an object"),
        (change(jobs=[without(testjob("a"), "each")]), "jobs[0].each: missing"),
        (change(jobs=[testjob("a", more=1)]), "jobs[0].more: unknown key"),
        (change(jobs=[testjob("a", each=1)]), "jobs[0].each: not true or false"),
        (change(jobs=[testjob("a", delay=-1)]), "jobs[0].delay: -1: not within"),
        (change(jobs=[testjob("A")]), "jobs[0].name: 'A': not 1 to 63 of"),
        (change(jobs=[testjob("..")]), "jobs[0].name: '..': not 1 to 63 of"),
        (change(jobs=[testjob("a/b")]), "jobs[0].name: 'a/b': not 1 to 63 of"),
        (change(jobs=[testjob("a"), testjob("a")]), "jobs[1].name: 'a': a job before it"),
        (change(jobs=[testjob("12")], start="mts"), "jobs[0].name: '12': a job of mts"),
        (change(jobs=[job("a")]), "jobs[0].command: empty"),
        (change(jobs=[testjob("a", command=["x", 1])]), "jobs[0].command[1]: not a text"),
        (change(jobs=[testjob("a", environment={"A": 1})]), "jobs[0].environment.A: not a text"),
        (change(jobs=[testjob("a", environment={"A=": ""})]), "not the name of a variable"),
        (change(jobs=[testjob("a", environment={"LAB_WORK": ""})]), "LAB_WORK is the driver's"),
        (change(batches=[["a"]]), 'batches: only with start "ideal"'),
        (change(start="ideal"), "jobs[0]: 'a' is in no batch"),
        (change(start="ideal", batches=[["b"]]), "batches[0][0]: 'b': no such job"),
        (change(start="ideal", batches=[["a"], ["a"]]), "batches[1][0]: 'a' is in a batch already"),
        (change(start="ideal", batches=[["a"], []]), "batches[1]: has no job that ends"),
        (change(start="ideal", batches=["a"]), "batches[0]: not a list"),
    ],
)
def test_refused(lab, content, message):
    done = lab.run(content)
    assert done.returncode == 1
    (line,) = done.stdout.splitlines()
    assert line.startswith("drive: error ")
    assert message in line


def test_a_key_given_twice_is_refused(lab):
    done = lab.run('{"limit": 1, "limit": 2}')
    assert done.returncode == 1
    assert "duplicate object key" in done.stdout


def test_usage():
    done = subprocess.run([DRIVER], text=True, capture_output=True)
    assert done.returncode == 2
    assert done.stderr.startswith("labdrive: exactly one JOBS.json")
