# SPDX-License-Identifier: GPL-2.0
"""add, remove, pin, unpin, pause and why."""

import json
import re

import pytest

EACH, PIN, LEAF = 2, 4, 16
ID_STEP = 1 << 40  # as in fake_ipc.c


@pytest.mark.parametrize("name", ["a/b", "/a/b", "{cgroups}/a/b"])
def test_add(mtsctl, host, name):
    directory = host.cgroup("a/b")
    shown = mtsctl("add", name.format(cgroups=host.cgroups), **host.fake)
    assert shown.status == 0
    assert shown.out == f"{directory} is job 7\n"
    assert mtsctl.calls == ["add flags=0 fd=open"]


def test_add_json(mtsctl, host):
    host.cgroup("a/123")
    shown = mtsctl("add", "--json", "a/123", **host.fake)
    assert (shown.status, shown.err) == (0, "")
    assert json.loads(shown.out) == {
        "schema_version": 1,
        "id": 7,
        "cgroup": "/a/123",
        "pid": None,
        "container": None,
    }


def test_add_flags(mtsctl, host):
    host.cgroup("a")
    assert mtsctl("add", "--each", "a", "--pin", **host.fake).status == 0
    assert mtsctl("add", "--each=child", "a", **host.fake).status == 0
    assert mtsctl.calls == [f"add flags={LEAF | PIN} fd=open", f"add flags={EACH} fd=open"]


@pytest.mark.parametrize("name", ["no/such", "/no/such", "", "file"])
def test_add_what_is_no_directory(mtsctl, host, name):
    (host.cgroups / "file").write_text("")
    shown = mtsctl("add", name, **host.fake)
    assert shown.status == 1
    assert "name a cgroup by its path" in shown.err
    assert mtsctl.calls == []


@pytest.mark.parametrize(
    ("errno", "message", "way_out"),
    [
        (9, "could not use the open directory", "error in mtsctl"),
        (22, "not a cgroup v2 directory, or the root cgroup", "mtsctl run"),
        (19, "was removed", "last process exited"),
        (16, "PID 1, a kernel thread, mtsctl itself or one of its parent", "systemd-run"),
        (17, "it is a job already, or lies above or below one", "mtsctl remove"),
        (95, "the memory controller is not enabled", "echo +memory > "),
        (28, "there are 4096 jobs already", "mtsctl remove"),
        (1, "not permitted", "run as root"),
        (25, "does not know this command", "older than mtsctl"),
        (12, "Cannot allocate memory", ""),
    ],
)
def test_add_errors(mtsctl, host, errno, message, way_out):
    host.cgroup("a")
    shown = mtsctl("add", "a", fail=f"job_add={errno}", **host.fake)
    assert shown.status == (4 if errno == 1 else 1)
    assert message in shown.err
    assert way_out in shown.err
    assert shown.out == ""


def test_add_each_where_it_cannot(mtsctl, host):
    host.cgroup("a")
    shown = mtsctl("add", "--each", "a", scenario="no-each", fail="job_add=95", **host.fake)
    assert "--each: this kernel cannot" in shown.err
    shown = mtsctl("add", "--each", "a", fail="job_add=95", **host.fake)
    assert "memory controller" in shown.err


def test_add_pid_alone_in_its_cgroup(mtsctl, host):
    directory = host.cgroup("jobs/one")
    host.process(100, "/jobs/one")
    shown = mtsctl("add", "--pid", "100", **host.fake)
    assert (shown.status, shown.out) == (0, f"{directory} is job 7\n")


def test_add_pid_with_others(mtsctl, host):
    host.cgroup("jobs/one/below")
    host.cgroup("jobs/one")
    host.process(100, "/jobs/one")
    host.process(101, "/jobs/one", comm="sibling")
    host.process(102, "/jobs/one/below", comm="strange\x1b[2Jname")
    shown = mtsctl("add", "--pid", "100", **host.fake)
    assert shown.status == 2
    assert "holds 2 other processes" in shown.err
    assert "\n  101 sibling\n" in shown.err
    assert "\n  102 strange?[2Jname\n" in shown.err
    assert "--yes" in shown.err
    assert "mtsctl run" in shown.err
    assert mtsctl.calls == []
    assert mtsctl("add", "--yes", "--pid", "100", **host.fake).status == 0
    assert mtsctl.calls == ["add flags=0 fd=open"]


def test_add_pid_with_many_others(mtsctl, host):
    host.cgroup("crowd")
    for pid in range(100, 125):
        host.process(pid, "/crowd")
    shown = mtsctl("add", "--pid", "100", **host.fake)
    assert shown.err.count(" worker\n") == 10
    assert "and 14 more" in shown.err


def test_add_pid_errors(mtsctl, host):
    host.process(2, "/", comm="kthreadd", flags=0x00208040)
    host.process(3, "/")
    host.process(4, "/../outside")
    host.process(5, "/gone (deleted)")
    for pid, message in [
        (2, "the kernel's threads"),
        (3, "the whole host: start it with 'mtsctl run'"),
        (4, "outside of this cgroup namespace"),
        (5, "No such file"),
        (6, "no process 6"),
    ]:
        shown = mtsctl("add", "--pid", str(pid), **host.fake)
        assert shown.status == 1
        assert message in shown.err
    assert mtsctl.calls == []


# ---- pause limits, and the watchdog of systemd ------------------------------------


def test_add_max_pause(mtsctl, host):
    host.cgroup("a")
    host.process(100, "/a")
    for args in (["a"], ["--pid", "100"]):
        shown = mtsctl("add", "--max-pause", "2s", *args, **host.fake)
        assert (shown.status, shown.err) == (0, "")
    assert mtsctl.calls == ["add flags=0 fd=open pause=2000000000"] * 2


def test_add_max_pause_with_an_old_module(mtsctl, host):
    host.cgroup("a")
    shown = mtsctl("add", "--max-pause", "2s", "a", abi=1, **host.fake)
    assert (shown.status, mtsctl.calls) == (1, [])
    assert "older than mtsctl" in shown.err


def watched(host, *usec):
    """A unit: its main process, and children that inherit the variables, in a cgroup below."""
    host.cgroup("system.slice/unit/below")
    host.cgroup("system.slice/unit")
    for pid, value in enumerate(usec, 100):
        environ = ["LANG=C", f"WATCHDOG_USEC={value}", f"WATCHDOG_PID={pid}", "X=" + "y" * 70000]
        host.process(pid, "/system.slice/unit", environ=environ)
        host.process(pid + 100, "/system.slice/unit/below", environ=environ)


@pytest.mark.parametrize(
    ("usec", "pause", "said"),
    [
        ([10_000_000], 5_000_000_000, "never frozen for longer than 5.0 s"),
        ([3_000_001], 1_500_000_000, "never frozen for longer than 1.5 s"),
        ([30_000_000, 8_000_000, 20_000_000], 4_000_000_000, "every 8.0 s"),
        ([2_000_000], 1_000_000_000, "every 2.0 s"),
        ([180_000_000], 90_000_000_000, "never frozen for longer than 1m 30s"),
        ([2**64 - 1], 86_400_000_000_000, "never frozen for longer than 1d 00h"),
    ],
)
def test_add_heeds_the_watchdog(mtsctl, host, usec, pause, said):
    watched(host, *usec)
    shown = mtsctl("add", "system.slice/unit", **host.fake)
    assert shown.status == 0
    assert mtsctl.calls == [f"add flags=0 fd=open pause={pause}"]
    assert said in shown.err
    assert "--max-pause" in shown.err


def test_add_pins_what_has_a_short_watchdog(mtsctl, host):
    watched(host, 1_999_999)
    shown = mtsctl("add", "system.slice/unit", **host.fake)
    assert shown.status == 0
    assert mtsctl.calls == [f"add flags={PIN} fd=open"]
    assert "the job is pinned" in shown.err


@pytest.mark.parametrize(
    ("args", "call"),
    [
        (["--max-pause", "7s"], "add flags=0 fd=open pause=7000000000"),
        (["--max-pause", "off"], "add flags=0 fd=open"),
        (["--pin"], f"add flags={PIN} fd=open"),
    ],
)
def test_add_the_command_line_wins_over_the_watchdog(mtsctl, host, args, call):
    watched(host, 10_000_000)
    shown = mtsctl("add", *args, "system.slice/unit", **host.fake)
    assert (shown.status, shown.err) == (0, "")
    assert mtsctl.calls == [call]


@pytest.mark.parametrize(
    "environ",
    [
        [],
        ["WATCHDOG_USEC=10000000", "WATCHDOG_PID=99"],
        ["WATCHDOG_USEC=10000000", "WATCHDOG_PID="],
        ["WATCHDOG_USEC=0"],
        ["WATCHDOG_USEC="],
        ["WATCHDOG_USEC=10s"],
        ["WATCHDOG_USEC=-5"],
        ["WATCHDOG_USEC=99999999999999999999999"],
        ["XWATCHDOG_USEC=10000000"],
    ],
)
def test_add_no_watchdog(mtsctl, host, environ):
    host.cgroup("unit")
    host.process(100, "/unit", environ=environ)
    shown = mtsctl("add", "unit", **host.fake)
    assert (shown.status, shown.err) == (0, "")
    assert mtsctl.calls == ["add flags=0 fd=open"]


def test_add_watchdog_of_any_process(mtsctl, host):
    """Without WATCHDOG_PID it is meant for whatever process has the variable."""
    host.cgroup("unit")
    host.process(100, "/unit", environ=["WATCHDOG_USEC=6000000"])
    assert mtsctl("add", "unit", **host.fake).status == 0
    assert mtsctl.calls == ["add flags=0 fd=open pause=3000000000"]


def test_add_watchdog_among_many(mtsctl, host):
    host.cgroup("unit")
    for pid in range(100, 400):
        host.process(pid, "/unit", environ=["A=b"])
    host.process(400, "/unit", environ=["WATCHDOG_USEC=6000000", "WATCHDOG_PID=400"])
    assert mtsctl("add", "unit", **host.fake).status == 0
    assert mtsctl.calls == ["add flags=0 fd=open pause=3000000000"]


def test_add_watchdog_with_an_old_module(mtsctl, host):
    watched(host, 10_000_000)
    shown = mtsctl("add", "system.slice/unit", abi=1, **host.fake)
    assert shown.status == 0
    assert mtsctl.calls == ["add flags=0 fd=open"]
    assert "mtsctl set max_pause=5s" in " ".join(shown.err.split())


@pytest.mark.parametrize(
    ("args", "calls"),
    [
        (["alpha", "2s"], ["job_pause 1 2000000000"]),
        (["3", "alpha", "1m"], ["job_pause 3 60000000000", "job_pause 1 60000000000"]),
        (["xterm", "off"], ["job_pause 6 0"]),
    ],
)
def test_pause(mtsctl, args, calls):
    shown = mtsctl("pause", *args, scenario="rotating")
    assert (shown.status, shown.out, shown.err) == (0, "", "")
    assert mtsctl.calls == calls


@pytest.mark.parametrize(
    ("args", "calls"),
    [
        (["alpha", "200"], ["job_weight 1 200"]),
        (["3", "alpha", "1"], ["job_weight 3 1", "job_weight 1 1"]),
        (["xterm", "10000"], ["job_weight 6 10000"]),
    ],
)
def test_weight(mtsctl, args, calls):
    shown = mtsctl("weight", *args, scenario="rotating")
    assert (shown.status, shown.out, shown.err) == (0, "", "")
    assert mtsctl.calls == calls


@pytest.mark.parametrize(
    ("args", "call"),
    [
        (["--user", "daemon", "200"], "user_weight 1 200"),
        (["100", "--user", "4000000000"], "user_weight 4000000000 100"),
        (["--user=0", "--", "1"], "user_weight 0 1"),
    ],
)
def test_weight_of_a_user(mtsctl, args, call):
    shown = mtsctl("weight", *args, scenario="rotating")
    assert (shown.status, shown.out, shown.err) == (0, "", "")
    assert mtsctl.calls == [call]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--user", "no-such-user", "200"], "no user 'no-such-user': write its name"),
        (["--user", "4294967295", "200"], "no user '4294967295'"),
        (["--user", "", "200"], "no user ''"),
        (["--user", "root"], "takes a user and a weight, and no job"),
        (["--user", "root", "alpha", "200"], "takes a user and a weight, and no job"),
        (["200", "--user"], "--user needs a value"),
    ],
)
def test_weight_of_no_user(mtsctl, args, message):
    shown = mtsctl("weight", *args, scenario="rotating")
    assert shown.status == 2
    assert message in " ".join(shown.err.split())
    assert mtsctl.calls == []


def test_too_many_users_have_a_weight(mtsctl):
    shown = mtsctl("weight", "--user", "root", "200", fail="user_weight=28")
    assert shown.status == 1
    assert "256 users have another weight than 100 already" in shown.err


@pytest.mark.parametrize("value", ["0", "10001", "1.5", "heavy", "", "200%"])
@pytest.mark.parametrize(
    "command",
    [
        ["weight", "alpha"],
        ["weight", "--user", "root"],
        ["add", "unit", "--weight"],
        ["run", "--weight"],
    ],
)
def test_weights_that_are_none(mtsctl, host, command, value):
    host.cgroup("unit")
    shown = mtsctl(*command, value, *(["true"] if command[0] == "run" else []), **host.fake)
    assert shown.status == (125 if command[0] == "run" else 2)
    assert "a whole number from 1 to 10000" in " ".join(shown.err.split())
    assert mtsctl.calls == []


def test_weight_without_a_weight(mtsctl):
    shown = mtsctl("weight", "alpha")
    assert shown.status == 2
    assert "and a weight" in " ".join(shown.err.split())


def test_add_and_run_with_a_weight(mtsctl, host):
    host.cgroup("unit")
    assert mtsctl("add", "--weight", "250", "unit", **host.fake).status == 0
    assert mtsctl.calls == ["add flags=0 fd=open weight=250"]
    assert mtsctl("run", "--weight", "50", "--name", "x", "true").status == 0
    assert "weight=50" in mtsctl.calls[-1]


@pytest.mark.parametrize(
    "command", [["weight", "alpha"], ["weight", "--user", "root"], ["add", "unit", "--weight"]]
)
def test_weights_with_an_old_module(mtsctl, host, command):
    host.cgroup("unit")
    shown = mtsctl(*command, "200", abi=3, **host.fake)
    assert shown.status == 1
    assert "older than mtsctl" in shown.err


def test_weights_are_shown(mtsctl):
    shown = mtsctl("status", scenario="limits").out
    assert re.search(r"^ *1 alpha \[400\] ", shown, re.MULTILINE)
    assert shown.count("[") == 1
    jobs = json.loads(mtsctl("status", "--json", scenario="limits").out)["jobs"]
    assert [job["weight"] for job in jobs[:2]] == [400, 100]
    jobs = json.loads(mtsctl("status", "--json", scenario="rotating", abi=3).out)["jobs"]
    assert jobs[0]["weight"] is None


@pytest.mark.parametrize(
    ("cgroup", "call"),
    [
        ("user.slice/user-1000.slice/session-3.scope", "add flags=0 fd=open user=1000"),
        ("user.slice/user-1000.slice/user@1000.service/a.scope", "add flags=0 fd=open user=1000"),
        ("system.slice/user-1000.slice", "add flags=0 fd=open"),
    ],
)
def test_whose_a_cgroup_is_its_path_says(mtsctl, host, cgroup, call):
    host.cgroup(cgroup)
    assert mtsctl("add", cgroup, **host.fake).status == 0
    assert mtsctl.calls == [call]
    assert mtsctl("add", cgroup, abi=3, **host.fake).status == 0
    assert mtsctl("add", cgroup, user="member", **host.fake).status == 0
    assert mtsctl.calls[1:] == ["add flags=0 fd=open"] * 2


def test_users_are_shown(mtsctl):
    shown = mtsctl("status", scenario="rotating", users=2)
    table = shown.out[shown.out.index("\nUSER ") :].splitlines()[1:4]
    words = [line.split()[:2] for line in table]
    assert words == [["USER", "JOBS"], ["60001", "7"], ["60002", "7"]]
    for users, abi in ((0, 4), (1, 4), (2, 3)):
        assert "\nUSER " not in mtsctl("status", scenario="rotating", users=users, abi=abi).out
    jobs = json.loads(mtsctl("status", "--json", scenario="rotating", users=2).out)["jobs"]
    assert [job["user"] for job in jobs[:3]] == [60001, 60002, 60001]
    jobs = json.loads(mtsctl("status", "--json", scenario="rotating", abi=3).out)["jobs"]
    assert jobs[0]["user"] is None


def test_pause_with_an_old_module(mtsctl):
    shown = mtsctl("pause", "alpha", "2s", abi=1)
    assert shown.status == 1
    assert "older than mtsctl" in shown.err


@pytest.mark.parametrize(
    ("args", "calls"),
    [
        (["remove", "alpha"], ["remove 1"]),
        (["remove", "1"], ["remove 1"]),
        (["remove", "beta", "1", "alpha"], ["remove 2", "remove 1"]),
        (["remove", "11", "12"], ["remove 11", "remove 12"]),
        (["pin", "alpha", "3"], ["job_set 1 mask=4 flags=4", "job_set 3 mask=4 flags=4"]),
        (["unpin", "xterm"], ["job_set 6 mask=4 flags=0"]),
    ],
)
def test_on_jobs(mtsctl, args, calls):
    shown = mtsctl(*args, scenario="rotating")
    assert (shown.status, shown.out, shown.err) == (0, "", "")
    assert mtsctl.calls == calls


@pytest.mark.parametrize("command", ["remove", "pin", "unpin"])
@pytest.mark.parametrize(
    ("job", "status", "message"),
    [
        ("nobody", 1, "no job nobody"),
        ("99", 1, "no job 99"),
        # Digits alone are an id, even if a cgroup has such a name.
        ("42", 1, "no job 42"),
        ("99999999999999999999", 1, "no job 99999999999999999999"),
        ("", 2, "an empty name"),
        ("twin", 2, "several jobs, such as 11 and 12: use the id"),
    ],
)
def test_on_no_job(mtsctl, command, job, status, message):
    """None is touched if one is not found."""
    shown = mtsctl(command, "alpha", job, scenario="rotating")
    assert shown.status == status
    assert message in shown.err
    assert mtsctl.calls == []


def test_job_goes_meanwhile(mtsctl):
    shown = mtsctl("remove", "alpha", "beta", fail="job_remove=2*1")
    assert shown.status == 1
    assert "job alpha (1) is gone" in shown.err
    assert mtsctl.calls == ["remove 2"]


def test_no_permission_is_said_once(mtsctl):
    shown = mtsctl("remove", "alpha", "beta", fail="job_remove=1")
    assert shown.status == 4
    assert shown.err.count("run as root") == 1


# ---- why ----------------------------------------------------------------------


@pytest.fixture
def why(mtsctl, host):
    """`why` for a process in job number `job`, counted from 1, or in none."""

    def ask(job=None, scenario="rotating", below="", option=(), **cgroup):
        directory = host.cgroup("theirs/job", **cgroup)
        if below:
            host.cgroup(f"theirs/job/{below}")
        host.process(77, f"/theirs/job{below and '/' + below}", comm="simulate")
        job_0 = directory.stat().st_ino - job * ID_STEP if job else 5
        return mtsctl("why", *option, "77", scenario=scenario, cgroup_id=job_0, **host.fake)

    return ask


def test_why_frozen(why):
    shown = why(1)
    assert shown.status == 0
    assert shown.out == (
        "process    77 simulate\n"
        "cgroup     /theirs/job\n"
        "job        alpha (1)\n"
        "user       root\n"
        "bin        0 of 0 to 2\n"
        "frozen     for 1.5 s\n"
        "until      bin 0 runs, in about 2.5 s\n"
        "why        the jobs need 230 MiB, 96.0 MiB may be used, and the host reclaims\n"
        "longest    3.0 s: its longest freeze so far\n"
    )


@pytest.mark.parametrize(
    ("job", "text"),
    [
        (2, "no: its bin runs, for another 1.3 s"),
        (5, "being frozen now"),
        (6, "never: the job is pinned"),
        (7, "real-time"),
        (8, "did not freeze within 1 s when asked (2 times)"),
        (9, "by another process: mts leaves it alone"),
        (10, "it has no bin yet"),
    ],
)
def test_why_not_frozen(why, job, text):
    shown = why(job)
    assert shown.status == 0
    assert text in " ".join(shown.out.split())


@pytest.mark.parametrize(
    ("job", "texts"),
    [
        (1, ["limit 5.0 s: mts never freezes it for longer"]),
        (15, ["never while turns would freeze it for longer than its limit", "limit 2.0 s"]),
        (
            16,
            [
                "not while a process outside waits for it",
                "called 3.2 s ago, by process 4711 (systemd): a process outside started a task "
                "in the job, or moved one into it; thawed",
                "calls 3 while it was frozen, 1 of them refused",
            ],
        ),
        (
            17,
            [
                "called 100 ms ago: a process outside sent a signal that ends a process of the "
                "job; refused, as its budget was used up",
            ],
        ),
    ],
)
def test_why_limits_and_calls(why, host, job, texts):
    host.process(4711, "/", comm="systemd")
    shown = " ".join(why(job, scenario="limits").out.split())
    for text in texts:
        assert text in shown


@pytest.mark.parametrize(
    ("job", "text"),
    [
        (
            1,
            "confined its cgroup, or one above, has reached memory.high or memory.max",
        ),
        (3, "stays 8.0 MiB: memory.swap.max keeps it in memory while it is frozen"),
        (15, "frozen not while it sleeps and has so little memory: it is in every bin"),
        (16, "frozen never: memory.swap.max of its cgroup, or of one above, leaves it no swap"),
    ],
)
def test_why_limits_of_cgroups(why, job, text):
    assert text in " ".join(why(job, scenario="cgroup-limits").out.split())


def test_why_the_caller_is_gone(why):
    out = " ".join(why(16, scenario="limits").out.split())
    assert "called 3.2 s ago, by process 4711: a process outside started a task" in out


@pytest.mark.parametrize(
    ("job", "text"),
    [
        (2, "queue for 1m 30s: it has not begun, as what it needs does not fit yet"),
        (2, "needs 40.0 MiB, as the same command did place 1 in the queue"),
        (2, "starts in about 5m 00s, at the latest in 58m 30s"),
        (3, "needs 30.0 MiB, as --size says place 2 in the queue starts at the latest in 23h 58m"),
        (4, "needs it is not known how much: --size says it starts at the latest in"),
    ],
)
def test_why_queued(why, job, text):
    assert text in " ".join(why(job, scenario="queue").out.split())


def test_why_its_memory_stays(why):
    assert "memory     stays: a person used the job 1m 30s ago\n" in why(16, scenario="used").out


def test_why_below_a_job(why):
    assert "job        alpha (1)" in why(1, below="deep/down").out


def test_why_in_a_group(why):
    """Bins that overlap: several run, and those that wait come by their limits."""
    out = why(2, scenario="groups").out
    assert "\ngroup      1 of 0 to 5\n" in out
    assert "\nuntil      group 1 runs, in about 1.9 s\n" in out


@pytest.mark.parametrize(
    ("job", "scenario", "text"),
    [
        (6, "groups", "until group 5 runs, in about 800 ms"),
        (1, "groups", "frozen no: its group runs, for another 700 ms or more"),
        (2, "groups-switching", "until the switch is done"),
        (3, "groups-switching", "frozen no: its group runs"),
    ],
)
def test_why_groups_come_by_their_limits(why, job, scenario, text):
    assert text in " ".join(why(job, scenario=scenario).out.split())


def test_why_json_of_a_group(why):
    answer = json.loads(why(4, scenario="groups", option=["--json"]).out)
    assert answer["runs_in_ns"] == 3000000000


def test_why_idle(why):
    out = why(1, scenario="idle").out
    assert "no: mts freezes no job now (state idle)" in out
    assert "everything fits" in out


def test_why_not_ours(why):
    shown = why()
    assert shown.status == 0
    assert "none: mts does nothing to it" in shown.out
    assert shown.out.endswith("frozen     no\n")


@pytest.mark.parametrize(
    ("path", "is_destination", "text"),
    [
        ("session-3.scope", True, "job make (5) until 2.0 s ago, when its last process moved to"),
        ("docker/pod.scope", False, "job pod.scope (7) until 9.0 s ago, when its last process ex"),
    ],
)
def test_why_a_job_is_gone(mtsctl, host, path, is_destination, text):
    directory = host.cgroup(path)
    host.process(77, f"/{path}")
    job_0 = directory.stat().st_ino if is_destination else 5
    asked = {"scenario": "gone", "cgroup_id": job_0, **host.fake}
    assert f"was {text}" in " ".join(mtsctl("why", "77", **asked).out.split())
    was = json.loads(mtsctl("why", "--json", "77", **asked).out)["was"]
    assert was["why"] == ("moved" if is_destination else "empty")


def test_why_an_old_module_remembers_none(mtsctl, host):
    host.cgroup("docker/pod.scope")
    host.process(77, "/docker/pod.scope")
    shown = mtsctl("why", "77", scenario="gone", fail="gone=25", **host.fake)
    assert (shown.status, "was" in shown.out) == (0, False)


def test_why_frozen_by_others(why):
    assert why(frozen=1).out.endswith("by another process (cgroup.freeze)\n")


def test_why_kernel_thread(mtsctl, host):
    host.process(2, "/", comm="kthreadd", flags=0x00208040)
    assert "it is a kernel thread" in mtsctl("why", "2", **host.fake).out


def test_why_no_process(mtsctl, host):
    shown = mtsctl("why", "4000000", **host.fake)
    assert shown.status == 1
    assert "no process 4000000" in shown.err


def test_why_json(why):
    answer = json.loads(why(1, option=["--json"]).out)
    assert answer == {
        "schema_version": 1,
        "pid": 77,
        "comm": "simulate",
        "cgroup": "/theirs/job",
        "kernel_thread": False,
        "state": "running",
        "detail": "the jobs need 230 MiB, 96.0 MiB may be used, and the host reclaims",
        "policy": "turns",
        "job": {
            "id": 1,
            "name": "alpha",
            "unit": None,
            "container": None,
            "user": 0,
            "state": "frozen",
            "bin": 0,
            "max_pause_ns": None,
            "weight": 100,
            "memory_limit": None,
            "immovable": 0,
            "queue": None,
            "calls": 0,
            "calls_refused": 0,
            "last_call": None,
        },
        "was": None,
        "frozen": "mts",
        "frozen_for_ns": 1500000000,
        "runs_in_ns": 2500000000,
    }


def test_why_json_not_ours(why):
    answer = json.loads(why(option=["--json"], frozen=1).out)
    assert answer["job"] is None
    assert answer["frozen"] == "other"
    assert answer["frozen_for_ns"] is None
    assert answer["runs_in_ns"] is None
