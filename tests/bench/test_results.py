# SPDX-License-Identifier: GPL-2.0
"""Figures, files and tables of results, from made-up outcomes."""

import dataclasses
import json
import stat

import pytest

from bench.lab import LabError, compare, figures, results
from bench.lab.experiment import Outcome, Score, Setting, Suite, Table, Workload

WHERE = results.Origin(qemu="7.2", commit="abc", dirty=True)
POINT = Setting("toy", "stock", params=(("depth", 3),))


class Toy(Suite):
    name = "toy"
    title = "Toy"
    source = "nobody"

    def points(self, effort):
        return [POINT]

    def workload(self, setting):
        return Workload(jobs=())

    def figures(self, setting, outcome):
        return {"lines": len(outcome.log), "depth": setting.param("depth")}


class Rotating(Toy):
    rotation_params = ("slice",)


class Rate(Toy):
    def score(self, setting):
        return Score("suite.lines", "lines", "per day", lower=False)

    def tables(self, results):
        return [Table("own", ("policy",), (("stock",),), "A note.")]


TOY, RATE = Toy(), Rate()


def slot(done, goal, ended=None):
    return {"name": "s", "done": done, "goal": goal, "ended": ended, "longest_pause": 0.5}


def job(*slots, **more):
    values = {
        "name": "job",
        "started": 0.0,
        "ended": 8.0,
        "status": 0,
        "signal": None,
        "done": sum(slot["done"] for slot in slots),
        "goal": sum(slot["goal"] for slot in slots),
        "longest_pause": 1.5,
        "slots": list(slots),
        "output": "many lines",
    }
    return {**values, **more}


def data(**more):
    values = {
        "elapsed": 10.0,
        "finished": True,
        "free_mib": 96.5,
        "pinned_mib": 12.0,
        "jobs": [job(slot(4, 4))],
        "work": 1.0,
        "jain": 0.5,
        "jain_series": [1.0],
        "vmstat": {"pswpin": 512, "pswpout": 256, "pgmajfault": 7, "pgfault": 107, "oom_kill": 2},
        "disk": {"reads": 4, "read_sectors": 100, "writes": 0, "write_sectors": 0},
        "cpu": {"user": 1, "nice": 0.5, "system": 2, "irq": 0.25, "softirq": 0.25, "idle": 3},
        "threads": {"kswapd0": 0.5, "mts_rotor": 0.25},
        "psi": {"memory_some": 4.0},
        "series": [],
        "policy": None,
        "daemon": None,
    }
    return {**values, **more}


def made(setting=POINT, log=(), **more):
    outcome = Outcome(data(**more), log)
    guest = {"memory_mib": 600, "swap_mib": 400}
    result = results.make(setting, Toy(), outcome, guest=guest, kernel="6.1.0-1-amd64", where=WHERE)
    result["real_seconds"] = 1.0
    return result


def test_common_figures():
    got = figures.common(data())
    assert got["time_for_all_s"] == got["elapsed_s"] == 10.0
    assert (got["swapin_mib"], got["swapout_mib"]) == (2.0, 1.0)
    assert (got["swap_reads"], got["swap_writes"]) == (4, 0)
    assert (got["sectors_per_read"], got["sectors_per_write"]) == (25.0, None)
    assert (got["major_faults"], got["minor_faults"]) == (7, 100)
    assert (got["user_s"], got["system_s"]) == (1.5, 2.5)
    assert got["reclaim_cpu_s"] == 0.75
    assert got["longest_pause_s"] == 1.5
    assert got["memory_stall_s"] == 4.0
    assert got["oom_kills"] == 2
    assert got["switch_share"] is got["freeze_share"] is None


def test_time_for_all_of_a_run_that_was_cut_off_is_by_the_rate_of_its_second_half():
    # 0.1 in the first 5 s, 0.2 in the other 5 s: 0.7 more take 17.5 s
    series = [{"t": 1.0, "work": 0.01}, {"t": 5.0, "work": 0.1}, {"t": 6.0, "work": 0.12}]
    cut_off = {"finished": False, "jobs": [job(slot(1, 4), ended=None, status=None)]}
    assert figures.time_for_all(data(work=0.3, series=series, **cut_off)) == pytest.approx(27.5)


def test_no_work_in_the_second_half_gives_no_time():
    series = [{"t": 5.0, "work": 0.1}]
    cut_off = {"finished": False, "jobs": [job(slot(1, 4), ended=None)]}
    assert figures.time_for_all(data(work=0.1, series=series, **cut_off)) is None


def test_an_endless_job_that_is_cut_off_does_not_make_a_run_one_that_was_cut_off():
    jobs = [job(slot(1, 4), status=1), job(ended=None, endless=True)]
    assert figures.time_for_all(data(work=1.0, finished=True, jobs=jobs[1:])) == 10.0


def test_a_run_with_killed_jobs_has_no_time_for_all_however_fast_it_was():
    for end in ({"signal": 9, "status": None}, {"status": 1}):
        jobs = [job(slot(2, 4), **end), job(slot(4, 4))]
        got = figures.common(data(work=0.75, finished=False, jobs=jobs))
        assert got["lost_work"] == 0.25
        assert (got["killed_jobs"], got["killed_work"]) == (1, 0.5)
        assert got["time_for_all_s"] is None


def test_a_killed_endless_job_counts_as_it_stood_in_the_way():
    jobs = [job(slot(4, 4)), job(endless=True, signal=15, status=None)]
    got = figures.common(data(jobs=jobs))
    assert (got["killed_jobs"], got["killed_work"]) == (1, 0)
    assert got["time_for_all_s"] is None


def test_killed_work_is_all_that_killed_jobs_were_to_do():
    killed = job(slot(4, 4), slot(1, 4), signal=9, status=None)
    failed = job(slot(4, 4), slot(2, 4), status=1)
    without_counter = job(signal=9, status=None)
    cut_off = job(slot(3, 4), ended=None, signal=9, status=None)
    good = job(slot(4, 4))
    assert figures.killed_work([good, cut_off]) == 0
    assert figures.killed_work([killed]) == 1
    assert figures.killed_work([failed]) == 0.5
    assert figures.killed_work([killed, failed, without_counter, cut_off, good]) == 4 / 7
    assert figures.killed_work([]) == 0


def test_lost_work():
    killed = job(slot(4, 4), slot(1, 4), signal=9, status=None)
    failed = job(slot(4, 4), slot(2, 4), status=1)
    cut_off = job(slot(3, 4), ended=None, status=None)
    good = job(slot(4, 4))
    without_counter = job()
    endless = job(endless=True)
    assert figures.lost_work([good, cut_off]) == 0
    assert figures.lost_work([killed]) == 1.25 / 2
    assert figures.lost_work([failed]) == 0.5 / 2
    everything = [killed, failed, cut_off, good, without_counter, endless]
    assert figures.lost_work(everything) == (1.25 + 0.5) / 7
    assert figures.lost_work([]) == 0


def test_switch_shares():
    policy = {"stats": {"freeze_ns": 5e8, "evict_ns": 1e9, "bring_back_ns": 2e9}}
    got = figures.switch_shares(policy, 10.0)
    assert got == {
        "switch_share": pytest.approx(0.35),
        "freeze_share": 0.05,
        "evict_share": 0.1,
        "bring_back_share": 0.2,
    }
    del policy["stats"]["bring_back_ns"]
    assert figures.switch_shares(policy, 10.0)["bring_back_share"] == 0
    assert figures.switch_shares({"pool": 1}, 10.0)["switch_share"] is None


def test_result_has_the_setting_and_leaves_the_output_out():
    got = made(log=["a", "b"])
    assert got["schema"] == 1
    assert got["setting"]["params"] == {"depth": 3}
    assert results.setting_of(got) == POINT
    assert got["figures"]["suite"] == {"lines": 2, "depth": 3}
    assert got["jobs"][0]["slots"] == [slot(4, 4)]
    assert "output" not in json.dumps(got)
    assert got["guest"] == {
        "memory_mib": 600,
        "swap_mib": 400,
        "free_mib": 96.5,
        "pinned_mib": 12.0,
    }
    assert (got["qemu"], got["commit"], got["dirty"]) == ("7.2", "abc", True)


def test_written_result_is_read_back(tmp_path):
    path = tmp_path / results.file_name(POINT)
    results.write(made(), path)
    assert results.read(path) == made()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    results.write(made(elapsed=11.0), path)
    assert results.load(tmp_path) == [made(elapsed=11.0)]
    assert [found.name for found in path.parent.iterdir()] == [path.name]


def test_write_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "toy.json"
    results.write(made(), path)
    with pytest.raises(TypeError):
        results.write({**made(), "policy": object()}, path)
    assert results.load(tmp_path) == [made()]
    assert [found.name for found in tmp_path.iterdir()] == ["toy.json"]


@pytest.mark.parametrize(
    "change",
    [
        {"policy": "mts"},
        {"seed": 2},
        {"limit": 61.0},
        {"overcommit": 1.70001},
        {"params": (("depth", 4),)},
        {"params": ()},
        {"kernel": "6.12"},
        {"disk": "nvme"},
    ],
)
def test_every_setting_has_a_file_of_its_own(change):
    other = dataclasses.replace(POINT, **change)
    assert results.file_name(other) != results.file_name(POINT)
    assert results.file_name(POINT) == results.file_name(dataclasses.replace(POINT))


def test_odd_parameters_make_good_file_names():
    odd = dataclasses.replace(POINT, params=(("mix", "../a b/" + "c" * 300),))
    name = results.file_name(odd)
    assert name.parent.name == "toy"
    assert len(name.parts) == 2
    assert len(name.name) <= 255


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "not a result"),
        ("[]", "not a result"),
        ('{"schema": 1}', "not a result"),
        ('{"schema": 1, "setting": {"params": {}, "x": 1}}', "not a result"),
    ],
)
def test_files_that_hold_no_result(tmp_path, text, complaint):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(LabError, match=complaint):
        results.read(path)


def test_result_of_another_schema(tmp_path):
    path = tmp_path / "x.json"
    results.write({**made(), "schema": 2}, path)
    with pytest.raises(LabError, match="schema 2"):
        results.read(path)


def test_folder_that_is_not_there(tmp_path):
    with pytest.raises(LabError, match="no such folder"):
        results.load(tmp_path / "none")


def sweep(times, **more):
    """Results of {policy: [seconds of seed 1, 2, ...]}."""
    return [
        made(dataclasses.replace(POINT, policy=policy, seed=seed, **more), elapsed=seconds)
        for policy, values in times.items()
        for seed, seconds in enumerate(values, 1)
    ]


def test_ratios_are_of_the_same_seed():
    found = sweep({"stock": [10.0, 40.0], "mts": [5.0, 10.0, 1.0]})
    stock = [r for r in found if r["setting"]["policy"] == "stock"]
    mts = [r for r in found if r["setting"]["policy"] == "mts"]
    assert compare.ratios(stock, mts) == [2.0, 4.0]
    assert compare.ratios(stock, []) == []


def test_ratio_without_a_time():
    stock = sweep({"stock": [10.0]})
    never = made(dataclasses.replace(POINT, policy="mts"), elapsed=0.0)
    assert compare.ratios(stock, [never]) == []


def test_spread():
    assert compare.spread([3.0, 1.0, 2.5]) == "2.50 (1.00..3.00)"
    assert compare.spread([3.0, None], 0) == "3"
    assert compare.spread([None]) == compare.spread([]) == "-"


def test_table_of_a_point():
    found = sweep({"mts": [5.0, 6.0], "stock": [10.0, 30.0], "ideal": [4.0, 4.0]})
    (table,) = compare.tables(TOY, found)
    rows = {row[0]: dict(zip(table.header, row, strict=True)) for row in table.rows}
    assert list(rows) == ["stock", "mts", "ideal"]
    assert rows["mts"]["seeds"] == "2"
    assert rows["mts"]["time for all work, virtual s"] == "5.50 (5.00..6.00)"
    assert rows["mts"]["times stock"] == "3.50 (2.00..5.00)"
    assert rows["mts"]["ideal over this"] == "1.38 (1.25..1.50)"
    assert rows["stock"]["times stock"] == "1.000 (1.000..1.000)"
    assert "depth 3" in table.title
    assert not table.note


def test_reckoned_times_are_marked():
    jobs = [job(slot(1, 4), ended=None)]
    cut_off = made(finished=False, work=0.25, jobs=jobs)
    (table,) = compare.tables(TOY, [cut_off])
    assert table.rows[0][table.header.index("time for all work, virtual s")] == ">40.00"
    assert "limit 60 s" in table.note


def lines(policy, count, elapsed, **more):
    setting = dataclasses.replace(POINT, policy=policy)
    return made(setting, log=["x"] * count, elapsed=elapsed, **more)


def test_where_a_rate_counts_ratios_and_the_column_are_of_it():
    found = [lines("stock", 50, 10.0), lines("mts", 200, 30.0), lines("ideal", 500, 20.0)]
    (table,) = compare.tables(RATE, found)
    rows = {row[0]: dict(zip(table.header, row, strict=True)) for row in table.rows}
    assert rows["mts"]["times stock"] == "4.00"
    assert rows["mts"]["ideal over this"] == "2.50"
    assert rows["stock"]["lines, per day"] == "50.00"
    assert rows["mts"]["lines, per day"] == "200"
    assert not [name for name in table.header if "time for all" in name]
    assert "lines, per day (more is better)" in table.note


KILLING = {"jobs": [job(slot(2, 4), signal=9, status=None), job(slot(4, 4))]}


@pytest.mark.parametrize(("suite", "counts"), [(TOY, "time for all"), (RATE, "lines")])
def test_killing_jobs_is_rated_as_no_success(suite, counts):
    found = [
        lines("stock", 50, 10.0),
        lines("earlyoom-memory", 90, 1.0, finished=False, work=0.75, **KILLING),
        lines("ideal", 60, 5.0),
    ]
    (table,) = compare.tables(suite, found)
    killer = next(row for row in table.rows if row[0] == "earlyoom-memory")
    got = dict(zip(table.header, killer, strict=True))
    assert got["times stock"] == got["ideal over this"] == "killed"
    assert next(cell for name, cell in got.items() if name.startswith(counts)) == "killed"
    assert (got["lost, %"], got["killed, %"]) == ("25.0", "50.0")
    assert "killed: jobs were" in table.note


def test_killed_in_one_seed_is_killed():
    killed = made(dataclasses.replace(POINT, policy="mts", seed=2), finished=False, **KILLING)
    found = [*sweep({"stock": [10.0, 10.0], "mts": [5.0]}), killed]
    (table,) = compare.tables(TOY, found)
    assert table.rows[1][table.header.index("times stock")] == "killed"
    # and where stock's were there is nothing to compare with
    stock = made(dataclasses.replace(POINT), finished=False, **KILLING)
    (table,) = compare.tables(TOY, [stock, *sweep({"mts": [5.0]})])
    assert table.rows[1][table.header.index("times stock")] == "-"


def test_a_suites_own_tables_say_who_killed():
    found = [lines("stock", 50, 10.0), lines("earlyoom", 90, 1.0, finished=False, **KILLING)]
    assert [table.note for table in compare.own_tables(RATE, found[:1])] == ["A note."]
    (table,) = compare.own_tables(RATE, found)
    assert table.note == "A note. Jobs were killed, and their work was not done: earlyoom."
    assert compare.own_tables(RATE, []) == []


def test_limit_does_not_keep_results_apart():
    found = [*sweep({"stock": [10.0]}, limit=10.0), *sweep({"mts": [5.0]}, limit=60.0)]
    (table,) = compare.tables(TOY, found)
    assert table.rows[1][table.header.index("times stock")] == "2.00"


def test_parameters_of_rotation_are_compared_with_the_same_stock():
    found = [
        *sweep({"stock": [10.0]}, params=(("depth", 3),)),
        *sweep({"mts": [5.0]}, params=(("depth", 3), ("slice", 1.0))),
        *sweep({"mts": [4.0]}, params=(("depth", 3), ("slice", 2.0))),
    ]
    (table,) = compare.tables(Rotating(), found)
    column = table.header.index("times stock")
    got = {row[0]: row[column] for row in table.rows}
    assert got == {"stock": "1.000", "mts slice=1.0": "2.00", "mts slice=2.0": "2.50"}
    assert len(compare.tables(TOY, found)) == 3


def test_text_of_a_table_lacks_columns_that_say_nothing():
    (table,) = compare.tables(TOY, sweep({"stock": [10.0]}))
    text = compare.text(table)
    assert "time for all work, virtual s" in text
    assert "switch, %" not in text
    assert "ideal over this" not in text
    assert text.splitlines()[3].split()[:2] == ["stock", "1"]
