# SPDX-License-Identifier: GPL-2.0
"""status, stats and thaw."""

import json
import re

import pytest

from tests.mtsctl.conftest import ROOT, SCENARIOS

STATUS_SCENARIOS = [
    *SCENARIOS,
    "rotating",
    "paused",
    "no-each",
    "torn",
    "moving",
    "unseen",
    "limits",
    "groups",
    "groups-switching",
    "queue",
    "fair",
    "token",
    "policy-none",
    "chosen",
    "chosen-none",
]
STATUS_KEYS = {
    "schema_version", "abi", "state", "reason", "detail", "each_how", "frozen", "current_bin",
    "slice_left_ns",
    "generation", "now_ns", "capacity", "demand", "resident_demand", "round", "round_ns",
    "longest_pause_ns", "max_pause_ns", "evict", "interactive", "crowded_out", "sees",
    "consistent", "bins", "jobs", "limited", "limited_by", "engine", "page", "overlaps",
    "policy", "user_weights",
}  # fmt: skip
BIN_KEYS = {"bin", "jobs", "demand", "slice_ns", "runs", "runs_in_ns"}
JOB_KEYS = {
    "id", "name", "parent", "each", "each_leaf", "pin", "state", "bin", "cgroup_id", "cgroup",
    "container", "unit",
    "demand", "unused", "resident", "swapped", "frozen_for_ns", "frozen_total_ns",
    "frozen_longest_ns", "run_ns", "slices", "evicted", "threads", "freeze_failures",
    "input_age_ms", "stays", "max_pause_ns", "memory_limit", "immovable", "calls",
    "calls_refused", "last_call", "size", "size_from", "queue", "queued_ns",
    "swap_wait_ns", "delays", "holdings", "weight", "user",
}  # fmt: skip


@pytest.mark.parametrize("scenario", STATUS_SCENARIOS)
@pytest.mark.parametrize("option", [[], ["--all"]])
def test_80_columns_of_ascii(mtsctl, scenario, option):
    shown = mtsctl("status", *option, scenario=scenario)
    assert shown.status == 0
    assert shown.err == ""
    assert shown.out.isascii()
    for line in shown.out.splitlines():
        assert len(line) <= 80, line


def test_weights_of_users(mtsctl):
    """Behind the name, where a user's is not the usual one."""
    fake = {"scenario": "rotating", "users": 3, "weights": "60001:10000 60003:99"}
    for args in ([], ["--by", "user"]):
        out = mtsctl("status", *args, **fake).out
        rows = re.findall(r"^(6000\d(?: \[\d+\])?) +\d+ +\d+ ", out, re.M)
        assert rows == ["60001 [10000]", "60002", "60003 [99]"]


@pytest.mark.parametrize("scenario", STATUS_SCENARIOS)
def test_json_schema(mtsctl, scenario):
    status = json.loads(mtsctl("status", "--json", scenario=scenario).out)
    assert set(status) == STATUS_KEYS
    assert all(set(b) == BIN_KEYS for b in status["bins"])
    assert all(set(j) == JOB_KEYS for j in status["jobs"])


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--json", "--by", "unit"], "--by is not for --json"),
        (["--by", "bin"], "--by bin: not one of job, user, unit or container"),
    ],
)
def test_bad_usage_of_by(mtsctl, args, message):
    shown = mtsctl("status", *args)
    assert (shown.status, shown.out) == (2, "")
    assert message in shown.err


def test_what_a_page_costs(mtsctl):
    out = mtsctl("status", scenario="rotating").out
    assert "\npage       8.2 us out (4.0 s ago), - in (not known)\n" in out
    page = json.loads(mtsctl("status", "--json", scenario="rotating").out)["page"]
    way = {"elapsed_ns": 8240, "worked_ns": 2700, "waited_ns": 5540, "age_ns": 4 * 10**9}
    unknown = {
        "out": None,
        "in": None,
        "request_ns": None,
        "waited_for": False,
        "needs_rows": False,
    }
    assert page == unknown | {"out": way}

    out = " ".join(mtsctl("status", scenario="slow-swap").out.split())
    assert "page 8.2 us out (4.0 s ago), 152 us in (1m 01s ago): the disk is slow unless" in out
    page = json.loads(mtsctl("status", "--json", scenario="slow-swap").out)["page"]
    assert (page["in"]["waited_ns"], page["request_ns"]) == (149000, 4700000)
    assert page["waited_for"]
    assert page["needs_rows"]
    # Nothing is known, or the module is older.
    assert "\npage" not in mtsctl("status").out
    page = json.loads(mtsctl("status", "--json").out)["page"]
    assert page == unknown


def test_idle(mtsctl):
    out = mtsctl("status").out
    assert out.startswith("state      idle\nwhy        everything fits: 30.0 MiB in 96.0 MiB\n")
    assert re.search(r"^ +1 alpha +running +- 10.0 MiB 10.0 MiB +0 B$", out, re.M)
    assert "BIN  RUNS" not in out
    assert "\nturns " not in out


def test_rotating(mtsctl):
    out = mtsctl("status", scenario="rotating").out
    # Bin 1 runs for another 1.3 s; a switch takes 0.1 s; bin 2 has 1 s.
    assert "next       bin 2 runs in 1.4 s\n" in out
    assert "turns      evict=need, pauses of up to 30.0 s\n" in out
    assert re.search(r"^ +0  in 2\.5 s +2\.0 s  93\.0 MiB", out, re.M)
    assert re.search(r"^ +\* 1  now +2\.0 s  93\.0 MiB .* 4 +0$", out, re.M)
    assert re.search(r"^ +2  in 1\.4 s +1\.0 s  49\.0 MiB .* 2 +2$", out, re.M)
    assert re.search(r"^ +every  always .* 4 +0$", out, re.M)
    assert re.search(r"^ +none .* 1 +0$", out, re.M)
    assert re.search(r"^ +1 alpha +frozen +0 .* 1\.5 s$", out, re.M)
    bins = re.findall(r"^ +\d+ \S+ +(?:\w|-)+ +(\w+|-) +[\d.]+ MiB", out, re.M)
    assert bins == ["0"] * 3 + ["1"] * 4 + ["2"] * 2 + ["every"] * 4 + ["-"]
    ids = [int(i) for i in re.findall(r"^ +(\d+) \S+ +(?:\w|-)+ +1 +[\d.]+ MiB", out, re.M)]
    assert ids == sorted(ids)


def test_rotating_json(mtsctl):
    status = json.loads(mtsctl("status", "--json", scenario="rotating").out)
    assert status["state"] == "running"
    assert status["reason"] == "overcommit"
    assert status["current_bin"] == 1
    assert status["slice_left_ns"] == 1300000000
    assert [b["runs_in_ns"] for b in status["bins"]] == [2500000000, 0, 1400000000]
    assert [b["runs"] for b in status["bins"]] == [False, True, False]
    assert not status["overlaps"]
    assert status["round_ns"] == 5300000000
    assert status["longest_pause_ns"] == 4300000000
    assert status["max_pause_ns"] == 30000000000
    assert status["evict"] == "need"
    jobs = {j["id"]: j for j in status["jobs"]}
    assert jobs[1]["frozen_for_ns"] == 1500000000
    assert jobs[2]["frozen_for_ns"] is None
    assert jobs[4]["each"]
    assert not jobs[4]["pin"]
    assert jobs[4]["parent"] is None
    assert jobs[5]["parent"] == 4
    assert jobs[5]["state"] == "freezing"
    assert jobs[6]["pin"]
    assert jobs[6]["bin"] == "every"
    assert jobs[10]["bin"] is None
    assert jobs[13]["name"].startswith('strange?"name"')  # not UTF-8


def test_an_old_module_says_only_which_bin_runs(mtsctl):
    old = mtsctl("status", scenario="rotating", abi=3).out
    assert re.search(r"^ +\* 1  now ", old, re.M)
    new = mtsctl("status", scenario="rotating").out
    assert old[old.index("\n\n") :] == new[new.index("\n\n") :]


def test_groups(mtsctl):
    """Bins that overlap. Those that wait come in by the ends of their pauses, not by number."""
    out = mtsctl("status", scenario="groups").out
    assert "capacity   96.0 MiB for the groups that run\n" in out
    assert "demand     180 MiB in groups, 0 B of resident jobs\n" in out
    assert "groups     3 of 6 run, with a demand of 90.0 MiB: " in out
    # 0.7 s until the switch, which takes 0.1 s; each group before adds 1.1 s.
    assert "next       group 5 runs in 800 ms\n" in out
    runs = re.findall(r"^ +((?:\* )?\d)  (now|in [\d.]+ m?s) ", out, re.M)
    assert runs == [
        ("* 0", "now"),
        ("1", "in 1.9 s"),
        ("* 2", "now"),
        ("3", "in 3.0 s"),
        ("* 4", "now"),
        ("5", "in 800 ms"),
    ]
    assert re.search(r"^  GROUP  RUNS ", out, re.M)
    assert re.search(r"^ +ID JOB +STATE +GROUP ", out, re.M)
    assert not re.search(r"\bbins?\b", out, re.I)


def test_groups_json(mtsctl):
    status = json.loads(mtsctl("status", "--json", scenario="groups").out)
    assert status["overlaps"]
    assert status["current_bin"] == 4
    assert [b["runs"] for b in status["bins"]] == [True, False] * 3
    assert [b["runs_in_ns"] for b in status["bins"]] == [0, 1900000000, 0, 3000000000, 0, 800000000]


def test_a_switch_of_groups(mtsctl):
    out = mtsctl("status", scenario="groups-switching").out
    assert "next       group 1 runs as soon as the switch is done\n" in out
    assert re.search(r"^ +\* 1  coming ", out, re.M)
    assert re.search(r"^ +\* 2  now ", out, re.M)
    assert re.search(r"^ +0  in ", out, re.M)
    assert "groups     3 of 6 run, " in out


def test_interactive(mtsctl):
    out = mtsctl("status", scenario="used").out
    assert "input      1 job in every bin for it, 2 for which there is no room\n" in out
    status = json.loads(mtsctl("status", "--json", scenario="used").out)
    assert (status["interactive"], status["crowded_out"]) == (1, 2)
    shell, editor = status["jobs"][-2:]
    assert (shell["state"], shell["stays"]) == ("interactive", False)
    assert shell["input_age_ms"] == 2100
    assert (editor["state"], editor["stays"]) == ("frozen", True)
    assert status["jobs"][0]["input_age_ms"] is None


def test_queue(mtsctl):
    out = mtsctl("status", scenario="queue").out
    assert "jobs       4, 0 of them frozen now, 3 in the queue\n" in out
    table = out[out.index("QUEUE") :].splitlines()[1:]
    assert [line.split() for line in table] == [
        ["2", "sim", "40.0", "MiB", "command", "1m", "30s", "5m", "00s", "58m", "30s"],
        ["3", "sim-2", "30.0", "MiB", "given", "1m", "20s", "?", "23h", "58m"],
        ["4", "fresh", "?", "unknown", "0", "s", "?", "1d", "00h"],
    ]
    assert re.search(r"^ +2 sim +queued +- ", out, re.M)
    assert "QUEUE" not in mtsctl("status").out


def test_queue_json(mtsctl):
    jobs = json.loads(mtsctl("status", "--json", scenario="queue").out)["jobs"]
    assert [j["queue"] for j in jobs] == [
        None,
        {
            "place": 1,
            "waited_ns": 90 * 10**9,
            "starts_in_ns": 300 * 10**9,
            "starts_within_ns": 3510 * 10**9,
        },
        {
            "place": 2,
            "waited_ns": 80 * 10**9,
            "starts_in_ns": None,
            "starts_within_ns": 86320 * 10**9,
        },
        {
            "place": None,
            "waited_ns": 0,
            "starts_in_ns": None,
            "starts_within_ns": 86400 * 10**9,
        },
    ]
    assert [j["size_from"] for j in jobs] == ["unknown", "command", "given", "unknown"]
    assert [j["frozen_for_ns"] for j in jobs] == [None] * 4


def test_limits_of_cgroups(mtsctl):
    out = " ".join(mtsctl("status", scenario="cgroup-limits").out.split())
    assert "no swap 1 job in every bin: memory.swap.max leaves nothing of it to evict" in out
    assert "confined 1 job by memory.high or memory.max: what it waits for begins no turns" in out
    jobs = json.loads(mtsctl("status", "--json", scenario="cgroup-limits").out)["jobs"]
    assert (jobs[0]["memory_limit"], jobs[1]["memory_limit"]) == (60 << 20, None)
    assert jobs[2]["immovable"] == 8 << 20
    assert jobs[-1]["state"] == "no-swap"
    assert jobs[-2]["state"] == "sleeping"


def test_limits(mtsctl):
    out = " ".join(mtsctl("status", scenario="limits").out.split())
    assert "limits 1 job in every bin because of its own pause limit" in out
    assert "slices are shorter for job alpha (1), which is frozen for 5.0 s at most" in out
    status = json.loads(mtsctl("status", "--json", scenario="limits").out)
    assert (status["limited"], status["limited_by"]) == (1, 1)
    quick, served, refused = status["jobs"][-3:]
    assert (quick["state"], quick["max_pause_ns"], quick["last_call"]) == (
        "limited",
        2000000000,
        None,
    )
    assert (served["state"], served["calls"], served["calls_refused"]) == ("called", 3, 1)
    assert served["last_call"] == {
        "kind": "task",
        "pid": 4711,
        "age_ms": 3200,
        "refused": False,
    }
    assert refused["last_call"] == {
        "kind": "signal",
        "pid": None,
        "age_ms": 100,
        "refused": True,
    }
    assert status["jobs"][1]["max_pause_ns"] is None
    without = mtsctl("status", scenario="rotating").out
    assert "limits" not in without
    assert "slices " not in without


def test_input_is_not_seen(mtsctl):
    out = mtsctl("status", scenario="newer").out
    assert "input      is not seen in this kernel" in out
    assert "not seen   tty, tty-output, unix, evdev, realtime, pipes, swapins\n" in out


def test_some_is_not_seen(mtsctl):
    out = mtsctl("status", scenario="unseen").out
    assert "not seen   tty-output, unix, evdev, pipes, swapins\n" in out
    assert "input " not in out
    status = json.loads(mtsctl("status", "--json", scenario="unseen").out)
    assert status["sees"] == ["tty", "realtime"]


def test_all_is_seen(mtsctl):
    assert "not seen" not in mtsctl("status").out
    status = json.loads(mtsctl("status", "--json").out)
    assert status["sees"] == [
        "tty", "tty-output", "unix", "evdev", "realtime", "pipes", "swapins",
    ]  # fmt: skip


def test_the_manual_page_has_what_is_seen(mtsctl, sources):
    page = (sources / "mtsctl.8").read_text().replace("\\-", "-")
    for word in json.loads(mtsctl("status", "--json").out)["sees"]:
        assert re.search(rf"^\.TP\n\.B {word}$", page, re.M), word


def test_switching(mtsctl):
    out = mtsctl("status", scenario="switching").out
    assert "bin 1 runs as soon as the switch is done" in out
    assert "coming" in out


def test_turns_are_over(mtsctl):
    out = mtsctl("status", scenario="ending").out
    assert "next       every job runs as soon as its memory is back" in out
    assert "2, 1 of them frozen now" in out


@pytest.mark.parametrize("reason", ["no-gain", "slow-swap"])
def test_what_ends_a_backoff(mtsctl, reason):
    """Other jobs end it, too: policy/verdict.h."""
    out = re.sub(r"\s+", " ", mtsctl("status", scenario=reason).out)
    assert (
        "the policy is tried again when the jobs change, or after a backoff (30 s to 10 minutes)"
        in out
    )
    assert "or after 'mtsctl set'" in out


def test_exempt_jobs_take_all(mtsctl):
    """Fault: the status said that the swap is slow."""
    out = re.sub(r"\s+", " ", mtsctl("status", scenario="exempt").out)
    assert "exempt jobs leave no room for any other job" in out
    assert "'mtsctl unpin'" in out
    assert '"reason": "exempt"' in mtsctl("status", "--json", scenario="exempt").out


def test_policies_without_turns(mtsctl):
    out = mtsctl("status", scenario="fair").out
    assert out.startswith("state      sharing\nwhy        jobs that swap more than their share")
    assert "delayed    1 job: frozen for half of the time, 50 ms at a time" in out
    assert "next       all jobs run on" in out
    assert re.search(r"\bhog +delayed\b", out)
    out = mtsctl("status", scenario="token").out
    assert "holder     job lucky (3) keeps its memory" in out
    assert "set policy=turns" in mtsctl("status", scenario="policy-none").out


def test_the_policy_that_is_chosen(mtsctl):
    out = mtsctl("status", scenario="chosen").out
    assert "next       all jobs run on, until another policy promises a tenth more\n" in out
    assert "policy     token for 4.0 s, on trial\n" in out
    assert "gives      turns: 0.83 processors, measured 1m 01s ago; not again for 25.0 s\n" in out
    assert "           none: 0.31 processors, measured 5.0 s ago\n" in out
    assert "           fair: not known\n" in out
    assert "           token: 1.25 processors, forecast 1.5 s ago\n" in out
    out = re.sub(r"\s+", " ", mtsctl("status", scenario="chosen-none").out)
    assert "no policy would gain the jobs anything next a policy that promises a tenth more" in out
    assert " policy none gives turns: 0.60 processors, forecast 1.0 s ago " in out
    # With another policy than auto nothing is chosen.
    assert "gives" not in mtsctl("status", scenario="token").out


def test_the_policy_that_is_chosen_json(mtsctl):
    policy = json.loads(mtsctl("status", "--json", scenario="chosen").out)["policy"]
    assert (policy["in_force"], policy["on_trial"]) == ("token", True)
    assert policy["in_force_ns"] == 4 * 10**9
    assert policy["gives"]["turns"] == {
        "permille": 830, "how": "measured", "age_ns": 61 * 10**9, "barred_ns": 25 * 10**9
    }  # fmt: skip
    assert policy["gives"]["fair"] == {
        "permille": None, "how": "unknown", "age_ns": None, "barred_ns": None
    }  # fmt: skip
    policy = json.loads(mtsctl("status", "--json", scenario="rotating").out)["policy"]
    assert policy == {
        "in_force": "turns", "on_trial": False, "in_force_ns": None, "gives": None
    }  # fmt: skip
    assert json.loads(mtsctl("plan", "--json", scenario="chosen").out)["policy"]["gives"]
    assert "gives " in mtsctl("plan", scenario="chosen").out


def test_policies_without_turns_json(mtsctl):
    status = json.loads(mtsctl("status", "--json", scenario="fair").out)
    assert (status["state"], status["reason"]) == ("sharing", "fair")
    hog = status["jobs"][2]
    assert (hog["state"], hog["delays"], hog["swap_wait_ns"]) == ("delayed", 17, 4 * 10**9)
    lucky = json.loads(mtsctl("status", "--json", scenario="token").out)["jobs"][2]
    assert (lucky["state"], lucky["holdings"]) == ("holder", 2)


def test_stopped(mtsctl):
    out = mtsctl("status", scenario="oom").out
    assert out.startswith("state      stopped\nwhy        the kernel ran out of memory")
    assert "mtsctl set mode=auto" in out


def test_many_jobs(mtsctl):
    out = mtsctl("status", scenario="many").out
    assert len(out.splitlines()) < 45
    assert "The 200 jobs: mtsctl status --all" in out
    assert len(re.findall(r"^ +(?:\* )?\d+  (?:in|now)", out, re.M)) == 20
    everything = mtsctl("status", "--all", scenario="many").out
    assert len(re.findall(r"^\d{10} a-name-a", everything, re.M)) == 200
    status = json.loads(mtsctl("status", "--json", scenario="many").out)
    assert len(status["jobs"]) == 200
    assert status["demand"] == 2**63 - 1  # JSON's numbers end there


def test_newer_module(mtsctl):
    shown = mtsctl("status", scenario="newer")
    assert shown.out.startswith("state      unknown\n")
    assert json.loads(mtsctl("status", "--json", scenario="newer").out)["state"] == "unknown"


def test_each_not_possible(mtsctl):
    assert "--each     cannot catch children" in mtsctl("status", scenario="no-each").out


def test_generations(mtsctl):
    """Lists that do not belong together are read again, but not for ever."""
    assert "may not agree" not in mtsctl("status", scenario="moving").out.replace("\n", " ")
    torn = json.loads(mtsctl("status", "--json", scenario="torn").out)
    moving = json.loads(mtsctl("status", "--json", scenario="moving").out)
    assert not torn["consistent"]
    assert moving["consistent"]
    out = " ".join(mtsctl("status", scenario="torn").out.split())
    assert "the lists below may not agree" in out


def test_stats(mtsctl):
    shown = mtsctl("stats")
    assert shown.status == 0
    assert re.search(r"^ +36  switches between bins$", shown.out, re.M)
    assert re.search(r"^ +3\.0 GiB  asked for", shown.out, re.M)
    assert re.search(r"^ +1m 10s  in slices$", shown.out, re.M)
    assert max(map(len, shown.out.splitlines())) <= 80
    stats = json.loads(mtsctl("stats", "--json").out)
    uapi = (ROOT / "module/uapi/mts.h").read_text()
    fields = re.search(r"^struct mts_stats \{\n(.*?)^\};", uapi, re.M | re.S)[1]
    counters = re.findall(r"^\t__u64 (\w+);", fields, re.M)
    counters.remove("reserved")
    assert sorted(stats) == sorted([*counters, "page", "schema_version"])
    assert re.search(r"^ +-  a page out: not known$", shown.out, re.M)
    assert stats["page"]["out"] is None
    shown = mtsctl("stats", scenario="slow-swap")
    assert re.search(r"^ +8\.2 us  a page out, measured 4\.0 s ago$", shown.out, re.M)
    assert re.search(r"^ +152 us  a page in, measured 1m 01s ago$", shown.out, re.M)
    stats = json.loads(mtsctl("stats", "--json", scenario="slow-swap").out)
    assert stats["page"]["in"]["elapsed_ns"] == 152000
    assert stats["freeze_ns"] == 36 * 40000000
    assert (stats["call_tasks"], stats["call_refused"], stats["foreign_freezes"]) == (41, 42, 43)
    assert re.search(r"^ +41  calls: a task was started in a frozen job$", shown.out, re.M)
    assert stats["evict_got"] == 2**63 - 1


def test_thaw(mtsctl):
    shown = mtsctl("thaw", scenario="rotating")
    assert shown.status == 0
    assert shown.out.startswith("5 jobs thawed.\n")
    assert "mtsctl set mode=auto" in shown.out
    assert mtsctl.calls == ["thaw"]
    assert mtsctl("thaw").out.startswith("Nothing was frozen.\n")


def test_thaw_when_it_cannot_count(mtsctl):
    shown = mtsctl("thaw", fail="status=5")
    assert shown.status == 0
    assert mtsctl.calls == ["thaw"]
