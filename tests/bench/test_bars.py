# SPDX-License-Identifier: GPL-2.0
"""The bars: what is run for them, and what results are said to reach."""

import dataclasses
import math
import subprocess
import sys

import pytest

from bench.lab import ROOT, bars, bars_markdown, report_markdown, results, runner
from bench.lab.experiment import Score, Setting
from bench.policies import POLICIES
from bench.suites import SUITES

POINT = Setting(suite="syn8", policy="stock", overcommit=1.7, limit=100.0)

MOST = Score("suite.most", "most", "ms")


def made(setting, seconds, **figures):
    """A result of a setting, as far as a bar looks at it."""
    return {
        "setting": results.setting_json(setting),
        "figures": {"time_for_all_s": seconds, "killed_jobs": 0, "finished": True, **figures},
    }


def outcome(bar, times):
    """The verdict when policies took so many seconds, one for each seed."""
    found = [
        made(dataclasses.replace(POINT, policy=policy, seed=seed, limit=1.0), seconds)
        for policy, all_seconds in times.items()
        for seed, seconds in enumerate(all_seconds, 1)
    ]
    return bars.judge(bar, found, SUITES["syn8"])


def test_every_bar_can_be_run():
    """What a bar asks for makes sense to its suite, and no two bars have one name."""
    found = bars.bars(SUITES)
    assert len({bar.name for bar in found}) == len(found)
    for bar in found:
        for setting in bar.settings([1]):
            suite = SUITES[setting.suite]
            assert suite.workload(setting).jobs, bar.name
            assert runner.memory_mib(setting) < 2048
            assert setting.policy in POLICIES


@pytest.mark.parametrize(
    ("times", "word", "value"),
    [
        ({"mts": [1, 1, 1], "stock": [35, 30, 40]}, "ok", 35),
        ({"mts": [1, 1, 1], "stock": [34, 30, 40]}, "short", 34),
        ({"mts": [2, 1, 4], "stock": [80, 20, 400]}, "ok", 40),  # ratios of one seed each
        ({"mts": [1, 1, 1]}, "short", None),
        ({"mts": [1], "stock": [None]}, "short", None),
    ],
)
def test_against_stock(times, word, value):
    """Stock's time over ours, at least the limit; no result is no success."""
    verdict = outcome(bars.Bar(POINT, "stock", 35.0), times)
    assert (verdict.word, verdict.value) == (word, value)
    assert verdict.line.endswith(f">= 35     {word}")


@pytest.mark.parametrize(
    ("mts", "stock", "word", "value"),
    [
        ({"time_for_all_s": 400.0, "work": 1.0}, {"work": 0.0}, "ok", math.inf),
        ({"time_for_all_s": 400.0, "work": 1.0}, {"work": 0.0, "killed_jobs": 1}, "-", None),
        ({"work": 0.5, "killed_jobs": 1}, {"work": 0.0}, "short", None),
        ({"time_for_all_s": None}, {"time_for_all_s": None, "work": 0.1}, "short", 0.0),
    ],
)
def test_stock_does_nothing(mts, stock, word, value):
    """No time can be reckoned from no work: whoever does any is better by as much as one likes."""
    found = [
        made(dataclasses.replace(POINT, policy=policy), None, finished=False)
        for policy in ("mts", "stock")
    ]
    found[0]["figures"].update(mts)
    found[1]["figures"].update(stock)
    verdict = bars.judge(bars.Bar(POINT, "stock", 35.0), found, SUITES["syn8"])
    assert (verdict.word, verdict.value) == (word, value)


@pytest.mark.parametrize(("mts", "word"), [(529.0, "ok"), (0.0, "short")])
def test_stock_has_no_rate(mts, word):
    """The same where the score is a rate."""
    rate = Score("suite.rate", "rate", "1/s", lower=False)
    found = [
        made(dataclasses.replace(POINT, policy=policy), 10.0, suite={"rate": value})
        for policy, value in (("mts", mts), ("stock", 0.0))
    ]
    bar = bars.Bar(POINT, "stock", 35.0, score=rate)
    assert bars.judge(bar, found, SUITES["syn8"]).word == word


@pytest.mark.parametrize(
    ("times", "word"),
    [({"mts": [11], "ideal": [10]}, "ok"), ({"mts": [11.1], "ideal": [10]}, "short")],
)
def test_against_ideal(times, word):
    """Our time over the ideal, at most the limit."""
    assert outcome(bars.Bar(POINT, "ideal", 1.1), times).word == word


def test_only_where_stock_thrashes():
    """A bar that asks for a gain asks for it only where there is something to gain."""
    bar = bars.Bar(POINT, "stock", 1.5, where_stock_over=2.0)
    assert {setting.policy for setting in bar.settings([1])} == {"mts", "stock", "ideal"}
    assert outcome(bar, {"mts": [10], "stock": [12], "ideal": [8]}).word == "-"
    assert outcome(bar, {"mts": [10], "stock": [20], "ideal": [8]}).word == "ok"
    assert outcome(bar, {"mts": [15], "stock": [20], "ideal": [8]}).word == "short"


@pytest.mark.parametrize(
    ("bar", "mts", "word", "value"),
    [
        (bars.Bar(POINT, "", 20.0, score=MOST), [10, 30, 12], "ok", 12),
        (bars.Bar(POINT, "", 20.0, score=MOST), [25, 30, 12], "short", 25),
        (bars.Bar(POINT, "", 20.0, score=MOST, never=True), [10, 30, 12], "short", 30),
        (bars.Bar(POINT, "", 0.98, score=bars.JAIN), [0.99, 0.5, 0.98], "ok", 0.98),
        (bars.Bar(POINT, "", 0.98, score=bars.JAIN, never=True), [0.99, 0.5, 1], "short", 0.5),
        (bars.Bar(POINT, "", 20.0, score=MOST), [], "short", None),
    ],
)
def test_of_mts_alone(bar, mts, word, value):
    """A figure of its own, in the median; or in the worst of seeds, of what must never be."""
    assert {setting.policy for setting in bar.settings([1])} == {"mts"}
    found = [
        made(dataclasses.replace(POINT, policy="mts", seed=seed), 1.0, jain=v, suite={"most": v})
        for seed, v in enumerate(mts, 1)
    ]
    verdict = bars.judge(bar, found, SUITES["syn8"])
    assert (verdict.word, verdict.value) == (word, value)
    assert (f">= {bar.limit:g}" if bar.score == bars.JAIN else f"<= {bar.limit:g}") in verdict.line


@pytest.mark.parametrize(
    ("rounds", "pause", "words"),
    [([6, 7], [30.0, 12.0], ["ok", "ok"]), ([8, 5], [12.0, 30.1], ["short", "short"])],
)
def test_the_rotation_is_what_is_measured(rounds, pause, words):
    """Every run of the rotation has its rounds, and nobody stands still for longer than that."""
    both = [b for b in bars.bars(SUITES) if b.score in (bars.ROUNDS, bars.PAUSE_MOST)][:2]
    found = [
        made(
            dataclasses.replace(both[0].point, policy="mts", seed=seed),
            1.0,
            longest_pause_s=longest,
        )
        | {"policy": {"stats": {"rounds": n}}}
        for seed, (n, longest) in enumerate(zip(rounds, pause, strict=True), 1)
    ]
    assert [bars.judge(bar, found, SUITES["syn8"]).word for bar in both] == words


def test_of_another_alone():
    """A run that loads the module itself is one of stock."""
    bar = bars.Bar(POINT, "", 20.0, score=MOST, alone="stock")
    assert {setting.policy for setting in bar.settings([1])} == {"stock"}
    found = [
        made(dataclasses.replace(POINT, policy=policy), 1.0, suite={"most": value})
        for policy, value in (("stock", 7), ("mts", 90))
    ]
    assert bars.judge(bar, found, SUITES["syn8"]).value == 7


def test_of_mts_alone_a_run_that_killed_does_not_count():
    """Who is dead is not late."""
    found = [made(dataclasses.replace(POINT, policy="mts"), 1.0, suite={"most": 1}, killed_jobs=1)]
    assert bars.judge(bars.Bar(POINT, "", 20.0, score=MOST), found, SUITES["syn8"]).value is None


def test_added_to_the_ideal():
    """By how much, seed by seed, not how many times."""
    bar = bars.Bar(POINT, "ideal", 1.0, score=MOST, added=True, never=True)
    assert {setting.policy for setting in bar.settings([1])} == {"mts", "ideal"}

    def verdict(**of):
        found = [
            made(dataclasses.replace(POINT, policy=p, seed=seed), 1.0, suite={"most": value})
            for p, values in of.items()
            for seed, value in enumerate(values, 1)
        ]
        return bars.judge(bar, found, SUITES["syn8"])

    assert verdict(mts=[3.5, 5.9], ideal=[3.0, 5.0]).value == pytest.approx(0.9)
    assert verdict(mts=[3.5, 5.9], ideal=[3.0, 5.0]).word == "ok"
    assert verdict(mts=[3.5, 5.9], ideal=[3.0, 4.0]).word == "short"
    assert verdict(mts=[3.5], ideal=[None]).value is None
    assert verdict(mts=[3.5], ideal=[0.0]).value == 3.5


def test_whole_programs_demand_what_the_name_says():
    """There is one of each at least: lu, paths and perl in 36 MiB are 1.49 times, never 0.5."""
    points = [bar.point for bar in bars.bars(SUITES) if SUITES[bar.point.suite].whole]
    assert {point.overcommit for point in points} == {*bars.MILD, *bars.DENSE}
    for point in points:
        demand = sum(job.demand_mib for job in SUITES[point.suite].workload(point).jobs)
        assert demand / point.free_mib == pytest.approx(point.overcommit, rel=0.02), point


def test_latency_is_felt_on_both_disks_and_shares_are_fair():
    """Every bar of these kinds is among all of them."""
    names = [bar.name for bar in bars.bars(SUITES)]
    latency = [name for name in names if "latency x1.7" in name]
    for disk in ("ssd 1 ns", "paper 4 ns"):
        assert sum(disk in name for name in latency) == (5 if disk == "ssd 1 ns" else 4)
    assert sum("Jain" in name for name in names) == 2


def test_other_points_are_passed_over():
    """A result at another overcommit says nothing of this one."""
    bar = bars.Bar(POINT, "stock", 1.0)
    other = dataclasses.replace(POINT, overcommit=1.8)
    found = [made(dataclasses.replace(other, policy=p), 1.0) for p in ("mts", "stock")]
    assert bars.judge(bar, found, SUITES["syn8"]).value is None


def test_stock_is_cut_short_but_where_jobs_take_their_own_time():
    """A virtual second of thrashing is dear to simulate."""
    limits = {s.policy: s.limit for s in bars.Bar(POINT, "stock", 1.0).settings([1])}
    assert limits == {"mts": 100.0, "stock": bars.STOCK_LIMIT}
    limits = {s.policy: s.limit for s in bars.Bar(POINT, "stock", 1.0, timed=True).settings([1])}
    assert limits == {"mts": 100.0, "stock": 100.0}


WHERE = {"kernel": "6.1.0-1-amd64", "qemu": "7.2.22", "commit": "0123456789abcdef", "dirty": False}


def grid(**limits):
    """Bars of one point at overcommits, which are the keys' numbers: x1, x2."""
    return [
        bars.Bar(dataclasses.replace(POINT, overcommit=float(name[1:])), "stock", limit, grid=True)
        for name, limit in limits.items()
    ]


def test_tables_for_people():
    """A row has what belongs together; what is not measured is counted, and has no cell."""
    rows = grid(x1=0.98, x2=0.98, x3=0.98)
    alone = bars.Bar(POINT, "", 20.0, score=MOST)
    verdicts = [
        bars.Verdict(alone, 12.0),
        bars.Verdict(rows[0], 0.99),
        bars.Verdict(rows[1], 0.97),
        bars.Verdict(rows[2], None, measured=False),
    ]
    found = [{**made(POINT, 1.0), **WHERE}, {**made(POINT, 1.0), **WHERE, "dirty": True}]
    text = bars_markdown.text(verdicts, found, "bench/bars --seeds 1")
    assert "made by bench/bars --seeds 1:" in text
    assert "- bars: 4: 2 reached, 1 short, 1 not measured\n" in text
    assert "- runs: 2\n- seeds: 1\n" in text
    assert "commit of stock's runs: 0123456789ab (1 runs with changes" in text
    assert f"| {alone.name} | 12.000 | \\<= 20 | ok |\n" in text
    assert "| overcommit | 1 | 2 |\n|---|---:|---:|\n| syn8 | 0.990 | 0.970 short |" in text


def test_what_was_known_stays():
    """What is not measured now stands as it did, the rest anew."""
    rows = grid(x1=0.98, x2=0.98, x3=0.98)
    alone = bars.Bar(POINT, "", 20.0, score=MOST)
    found = [{**made(POINT, 1.0), **WHERE}]
    first = [
        bars.Verdict(alone, 12.0),
        bars.Verdict(rows[0], 0.99),
        bars.Verdict(rows[1], None, spared=True, killed=True),
        bars.Verdict(rows[2], None, measured=False),
    ]
    before = bars_markdown.text(first, found, "bench/bars")
    now = [
        bars.Verdict(alone, None, measured=False),
        bars.Verdict(rows[0], 0.97),
        *(bars.Verdict(row, None, measured=False) for row in rows[1:]),
    ]
    text = bars_markdown.text(now, found, "bench/bars", before)
    assert "- bars: 4: 1 reached, 1 short, 1 do not apply, 1 not measured\n" in text
    assert "- measured before: 2 bars; commits of that page: 0123456789ab\n" in text
    assert f"| {alone.name} | 12.000 | \\<= 20 | ok |\n" in text
    assert "| overcommit | 1 | 2 |\n|---|---:|---:|\n| syn8 | 0.970 short | killed - |" in text


def test_what_is_not_measured_is_neither_reached_nor_short():
    """Its line says so."""
    verdict = bars.Verdict(bars.Bar(POINT, "stock", 35.0), None, measured=False)
    assert verdict.line.split()[-4:] == ["unmeasured", ">=", "35", "?"]


def test_found_measures_nothing(tmp_path):
    """The command judges what has results, and writes them where they go."""
    bar = next(bar for bar in bars.bars(SUITES) if "lu+lu" in bar.name and bar.grid)
    for setting in bar.settings([1]):
        path = tmp_path / results.file_name(setting)
        results.write({"schema": results.SCHEMA, **made(setting, 2.0), **WHERE}, path)
    page = tmp_path / "bars.md"
    page.write_text(f"# Bars\n\n{report_markdown.BEGIN}\n{report_markdown.END}\n")

    def run(only):
        words = ("--found", "--seeds", "1", "--only", only, "-o", tmp_path, "--markdown", page)
        command = [sys.executable, ROOT / "bench" / "bars", *words]
        return subprocess.run(command, text=True, capture_output=True, check=False)

    done = run(bar.name)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[-4:] == ["1.000", ">=", "0.98", "ok"]
    assert "- bars: 1: 1 reached\n" in page.read_text()
    done = run(f"x{bar.point.overcommit:g} {bar.point.disk} 1 ns")
    assert done.returncode == 1
    assert "?" in done.stdout
    assert "1 reached, " in page.read_text()
    assert " not measured\n" in page.read_text()
    page.write_text("no markers")
    assert run(bar.name).returncode == 2
