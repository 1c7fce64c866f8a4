# SPDX-License-Identifier: GPL-2.0
"""The suites of the papers, without guests: workloads, and figures from recorded outcomes."""

import json
import re
from dataclasses import replace

import pytest

from bench.lab import LabError
from bench.lab.experiment import EFFORTS, Outcome, Setting
from bench.suites import consumers, paperlib, protection, scanners, swappers

SUITES = [module.SUITE for module in (swappers, consumers, scanners, protection)]
POLICIES = ("stock", "mts", "ideal")
CASES = [
    pytest.param(suite, effort, policy, id=f"{suite.name}-{effort}-{policy}")
    for suite in SUITES
    for effort in EFFORTS
    for policy in POLICIES
]


def job(name, output="", **more):
    """A job of an outcome."""
    return {
        "name": name,
        "started": 0.0,
        "ended": 1.0,
        "status": 0,
        "signal": None,
        "majflt": 0,
        "utime": 1.0,
        "work": 1.0,
        "done": 100,
        "goal": 100,
        "output": output,
    } | more


def outcome(*jobs, elapsed=10.0):
    return Outcome({"elapsed": elapsed, "jobs": list(jobs)})


def recorded(setting, suite, run):
    """A result as the runner writes it, as far as tables look at it."""
    return {
        "setting": vars(setting) | {"params": dict(setting.params)},
        "figures": {"suite": suite.figures(setting, run)},
    }


def size_of(command):
    return int(command[command.index("--size") + 1])


@pytest.mark.parametrize(("suite", "effort", "policy"), CASES)
def test_workloads_are_sound(suite, effort, policy):
    for point in suite.points(effort):
        setting = replace(point, policy=policy)
        workload = suite.workload(setting)
        names = [one.name for one in workload.jobs]
        assert len(set(names)) == len(names)
        for one in workload.jobs:
            assert re.fullmatch(r"[a-z0-9][a-z0-9.-]{0,62}", one.name)
            assert one.command[0].removeprefix("/bin/") in suite.programs
            assert one.demand_mib > 0
            if "--size" in one.command:
                assert size_of(one.command) % 4096 == 0
                assert size_of(one.command) / 2**20 == pytest.approx(one.demand_mib, abs=0.6)
        assert any(not one.endless for one in workload.jobs)
        if policy == "ideal":
            batched = [one.name for batch in workload.batches for one in batch]
            assert sorted(batched) == sorted(
                one.name for one in workload.jobs if not one.endless and not one.resident
            )
        json.dumps(vars(setting))


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_demand_is_the_settings(suite):
    """The jobs want together what the setting says, beside their programs and the monitor."""
    for effort in EFFORTS:
        for point in suite.points(effort):
            if point.param("alone", "no") != "no":
                continue
            sizes = [
                size_of(one.command) / 2**20
                for one in suite.workload(point).jobs
                if "--size" in one.command
            ]
            assert sum(sizes) == pytest.approx(point.demand_mib, rel=0.001)


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_smoke_is_short(suite):
    points = suite.points("smoke")
    assert len(points) == 1
    assert points[0].limit <= 10
    assert 48 <= points[0].free_mib <= 64


@pytest.mark.parametrize(
    ("suite", "param"),
    [
        (swappers.SUITE, ("experiment", "dance")),
        (swappers.SUITE, ("duration", 0)),
        (consumers.SUITE, ("experiment", "e5")),
        (consumers.SUITE, ("processes", 0)),
        (scanners.SUITE, ("duration", 100)),  # it ends before the third launch
        (protection.SUITE, ("pair", "cat+dog")),
        (protection.SUITE, ("alone", "third")),
        (protection.SUITE, ("seconds", -1)),
    ],
)
def test_refusals(suite, param):
    with pytest.raises(LabError, match=suite.name):
        suite.workload(Setting(suite.name, "stock", params=(param,)))


def test_jain():
    assert paperlib.jain([3, 3, 3]) == pytest.approx(1)
    assert paperlib.jain([5, 0, 0, 0]) == pytest.approx(0.25)
    assert paperlib.jain([]) is None
    assert paperlib.jain([0, 0]) is None


def test_bezier():
    """The first and last points stay, a straight line stays straight, a peak gets lower."""
    line = paperlib.bezier([(x, 2 * x) for x in range(300)], 21)
    assert line[0] == (0, 0)
    assert line[-1] == (299, 598)
    assert all(y == pytest.approx(2 * x) for x, y in line)
    peak = paperlib.bezier([(0, 0), (1, 1), (2, 0)], 3)
    assert peak[1] == pytest.approx((1, 0.5))


def test_reports_are_found_in_cut_off_output():
    output = '"touched": 3}\n[1,2]\nswappers: noise\n{"a": 1}\n{"b": 2}\n[3,'
    assert paperlib.json_lines(output) == [[1, 2], {"a": 1}, {"b": 2}]
    assert paperlib.report(job("x", output)) == {"b": 2}
    assert paperlib.report(job("x", "")) is None


def swapper_report(rounds, touched):
    values = {"round_seconds": rounds, "rounds": len(rounds), "touched": touched}
    return json.dumps(values | {"elapsed": 9.0, "fill": 1.0}) + "\n"


def test_swappers_rounds():
    point = swappers.SUITE.points("quick")[0]
    run = outcome(
        job("swapper0", swapper_report([1.0, 2.0, 1.0], 300)),
        job("swapper1", swapper_report([1.0, 4.0], 200)),
        job("swapper2", "", ended=None, status=None, done=100),
    )
    figures = swappers.SUITE.figures(point, run)
    assert figures["rounds_done"] == [3, 2, None]
    assert figures["mean_round_s"] == [pytest.approx(8 / 3), 4.0, None]
    assert figures["longest_round_s"] == 4.0
    assert figures["pages_per_s"] == 60
    assert figures["jain_of_pages"] == pytest.approx(600**2 / (3 * 140000))
    table = swappers.SUITE.tables([recorded(point, swappers.SUITE, run)])[0]
    assert [row[0] for row in table.rows] == [
        "paper: kernel 3.2.5",
        "paper: swap accounting",
        "stock",
    ]
    assert all(len(row) == len(table.header) for row in table.rows)


def test_swappers_of_equal_rounds_are_fair():
    run = outcome(*(job(f"s{i}", swapper_report([1.0, 1.5], 10)) for i in range(5)))
    figures = swappers.rounds_figures(run)
    assert figures["jain_of_round"] == pytest.approx([1, 1])


def test_swappers_of_which_one_never_ran_have_no_index_of_rounds_but_one_of_pages():
    """As in the smoke point under mts: its two seconds are about one slice."""
    figures = swappers.rounds_figures(
        outcome(
            *(job("a", swapper_report([0.1] * 3, 30)), job("b", swapper_report([0.2], 10))),
            job("c", swapper_report([], 0)),
        )
    )
    assert figures["rounds_done"] == [3, 1, 0]
    assert figures["jain_of_round"] == []
    assert figures["jain_of_rounds_mean"] is None
    assert figures["jain_of_pages"] == pytest.approx(40**2 / (3 * 1000))


def test_swappers_dispersion_over_seeds():
    point = swappers.SUITE.points("quick")[1]
    name = point.param("program")
    results = [
        recorded(
            replace(point, seed=seed),
            swappers.SUITE,
            outcome(job("infinite"), job(name, started=1.0, ended=1.0 + time)),
        )
        for seed, time in ((1, 10.0), (2, 12.0), (3, 14.0))
    ]
    results.append(
        recorded(
            replace(point, seed=4),
            swappers.SUITE,
            outcome(job("infinite"), job(name, ended=None, status=None)),
        )
    )
    table = swappers.SUITE.tables(results)[0]
    plain, accounting, ours = (dict(zip(table.header, row, strict=True)) for row in table.rows)
    assert (plain["sd (s)"], accounting["sd (s)"]) == ("28.74", "11.96")
    row = ours
    assert row["runs done"] == "3 of 4"
    assert row["sd (s)"] == "2.00"
    assert row["time (s)"] == "12.00 (10.00 to 14.00)"


def paper_machine(experiment):
    """The paper's own machine: nothing is scaled."""
    return Setting(
        "consumers",
        "stock",
        free_mib=consumers.PAPER_FREE_MIB,
        overcommit=2500 / 730,
        params=(("experiment", experiment), ("processes", 25)),
    )


def test_consumers_plan_is_the_papers():
    plan = consumers.Plan(paper_machine("e2"))
    assert plan.size_mib == pytest.approx(100)
    assert (plan.writes, plan.sleep, plan.delay, plan.lead) == (10000, 0.1, 30, 10)
    # all are active in [730, 790] (section 5.3); intense until about 1300 (section 5.2)
    assert plan.lead + 24 * plan.delay == pytest.approx(730)
    assert plan.lead + plan.active == pytest.approx(790)
    assert plan.falls == pytest.approx(1300)


@pytest.mark.parametrize("effort", EFFORTS)
def test_consumers_limit_is_enough_for_groups(effort):
    for point in consumers.SUITE.points(effort):
        plan = consumers.Plan(point)
        assert plan.ideal < point.limit
        assert plan.ends < point.limit


def measured(rates, interval=1.0):
    """What the measuring process prints of (KiB in a second)."""
    head = {"start": 100.0, "interval": interval, "ticks_per_second": 100, "columns": []}
    lines = [json.dumps(head)]
    for number, rate in enumerate(rates, start=1):
        lines.append(json.dumps([100 + number * interval, 5, 20, rate, 0]))
    return "\n".join(lines)


def test_consumers_recovery():
    """Paging goes on for 50 s after the demand has fallen at 1300 s."""
    setting = paper_machine("e2")
    rates = [0] * 400 + [4000] * 950 + [4] * 100
    report = {"planned": 800.0, "ended": 812.1, "longest_cycle": 1.5}
    run = outcome(
        job("measure", measured(rates)),
        job("consumer0", json.dumps(report), done=50, goal=100),
        job("consumer1", "", ended=None, status=None, done=0, goal=100),
        elapsed=1450.0,
    )
    figures = consumers.SUITE.figures(setting, run)
    assert figures["recovery_s"] == pytest.approx(50)
    assert figures["paging_peak_per_s"] == pytest.approx(1000, rel=0.05)
    assert 300 < figures["paging_begins_paper_s"] < 450
    assert figures["late_max_s"] == pytest.approx(12.0)
    assert figures["write_goal_share"] == 0.25
    assert figures["user_percent_mean"] == pytest.approx(5)
    assert figures["system_percent_mean"] == pytest.approx(20)
    assert set(figures["curves"]) == set(consumers.CURVES)
    table = consumers.SUITE.tables([recorded(setting, consumers.SUITE, run)])[0]
    assert len(table.rows[0]) == len(table.header)


def test_consumers_without_paging_recover_at_once():
    run = outcome(job("measure", measured([0] * 10)), job("consumer0"))
    figures = consumers.SUITE.figures(paper_machine("e1"), run)
    assert figures["recovery_s"] == 0
    assert figures["paging_begins_paper_s"] is None


def test_scanners_entitlements_share_the_processor():
    starts = [12.0, 127.0, 242.0]
    shares = [scanners.entitlement(starts, 3600.0, number) for number in range(3)]
    assert sum(shares) == pytest.approx(3600 - 12)
    assert shares[2] == pytest.approx((3600 - 242) / 3)


COLUMNS = ["t", "jitter", "readtime_ms", "memfree", "memshared", "swapin", "swapout", "fairness"]
TASK_COLUMNS = [
    *("id", "minflt", "majflt", "utime", "stime", "ran_ms", "priority", "rss", "swap"),
    *("zerofilled", "reclaimed"),
]


def monitor_log(rows):
    """rows: (t, fairness, [(name, cpu in ms, priority, rss, majflt)])."""
    head = {
        "start": 0.0,
        "columns": COLUMNS,
        "task": TASK_COLUMNS,
    }
    lines, ids = [json.dumps(head)], {}
    for t, fairness, tasks in rows:
        entries = []
        for name, ran, priority, rss, majflt in tasks:
            if name not in ids:
                ids[name] = len(ids)
                lines.append(json.dumps({"id": ids[name], "comm": name, "t": t}))
            entries.append([ids[name], 0, majflt, 0, 0, ran, priority, rss, 0, 0, 0])
        lines.append(json.dumps([t, 0.01, 1.0, 1000, 0, 5, 6, fairness, *entries]))
    return "\n".join(lines)


def test_scanners_table_3():
    setting = replace(
        scanners.SUITE.points("quick")[0],
        free_mib=scanners.PAPER_MIB,
        params=(("delay", 115.0), ("duration", 300.0), ("nice", 5)),
    )
    rows = [
        (
            float(t),
            0.9,
            [("scanners", 1, 20, 90, 1)]
            + [("scanner0", 10, 20, 1000, 7)] * (t > 12)
            + [("scanner1", 20, 20, 1000, 7)] * (t > 127)
            + [("scanner2", 940 + t % 2 * 20, 25, 90000, 0)] * (t > 242),
        )
        for t in range(1, 300)
    ]
    jobs = [job(f"scanner{number}", done=98304 * number) for number in range(3)]
    run = outcome(job("monitor", monitor_log(rows)), *jobs, elapsed=300.0)
    figures = scanners.SUITE.figures(setting, run)
    last = figures["steady"]["scanner2"]
    assert last["cpu_percent_mean"] == pytest.approx(95, abs=1)
    assert (last["cpu_percent_least"], last["cpu_percent_most"]) == (94, 96)
    assert last["priority_least"] == 25
    assert figures["steady"]["scanner0"]["major_faults"] == 40 * 7
    assert figures["monitor_major_faults"] == 299
    assert figures["passes"] == pytest.approx([0, 1, 2])
    assert figures["fairness_steady"] == pytest.approx(0.9)
    third = figures["columns"]["third launch"]
    assert third["paper_s"][0] == 237
    assert third["rss"]["scanner2"][-1] == 90000
    assert third["rss"]["scanner2"][0] == 0
    rows = scanners.SUITE.tables([recorded(setting, scanners.SUITE, run)])[0].rows
    assert rows[2][:5] == ("paper", "3", "84", "96.1", "107")
    assert rows[5][:3] == ("stock", "3", "94")


def test_protection_slowdown_is_over_the_time_alone():
    """Alone: under `ideal`, or in runs of their own, which come first."""
    point = protection.SUITE.points("quick")[0]
    stock = outcome(
        job("monitor"),
        job("p1-gcc", ended=20.0, majflt=1000),
        job("p2-bit-r", ended=None, status=None, majflt=500, work=0.25),
        elapsed=20.0,
    )
    ideal = outcome(job("p1-gcc", ended=5.0), job("p2-bit-r", started=5.0, ended=9.0))
    results = [
        recorded(point, protection.SUITE, stock),
        recorded(replace(point, policy="ideal"), protection.SUITE, ideal),
    ]
    table = protection.SUITE.tables(results)[0]
    rows = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    gcc = next(row for row in rows if row["program"] == "p1-gcc")
    assert (gcc["paper: slowdown"], gcc["protected"]) == ("3.63", "1.97")
    assert gcc["slowdown"] == "4.00"
    bitr = [row for row in rows if row["program"] == "p2-bit-r"]
    assert bitr[0]["slowdown"] == "~20.00"  # 80 s at its rate
    assert bitr[1]["less than stock"] == "100.0 %"
    alone = replace(point, params=tuple(sorted({**dict(point.params), "alone": "first"}.items())))
    results.append(recorded(alone, protection.SUITE, outcome(job("p1-gcc", ended=4.0))))
    table = protection.SUITE.tables(results)[0]
    assert next(row for row in table.rows if row[4] == "stock")[6] == "5.00"


def test_protection_resident_sets():
    point = protection.SUITE.points("quick")[0]
    rows = [(1.0, 0, [("p1-gcc", 1, 20, 512, 0)]), (2.0, 0, [("p1-gcc", 1, 20, 1024, 0)])]
    run = outcome(job("monitor", monitor_log(rows)), job("p1-gcc"), job("p2-bit-r"))
    figures = protection.SUITE.figures(point, run)
    assert figures["resident"]["p1-gcc"] == {
        "t": [1.0, 2.0],
        "rss_mib": [2.0, 4.0],
        "demand_mib": [2.0, 4.0],
    }
    assert figures["resident"]["p2-bit-r"]["t"] == []
