# SPDX-License-Identifier: GPL-2.0
"""bench/report, on made-up results."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

pytest.importorskip("click")
pytest.importorskip("matplotlib")

from bench.lab import (
    ROOT,
    LabError,
    charts,
    compare,
    report,
    report_markdown,
    results,
    score,
    sweep,
)
from bench.lab.experiment import TIME
from bench.policies import POLICIES
from bench.suites import SUITES
from tests.bench import made_results

REPORT = ROOT / "bench" / "report"
POLICIES_HERE = ("stock", "mts", "ideal")


def run(*arguments):
    return subprocess.run(
        [sys.executable, REPORT, *arguments], text=True, capture_output=True, check=False
    )


def made(folder, suites=("syn8",), **more):
    choice = sweep.Choice(**{"policies": POLICIES_HERE, **more})
    return made_results.write(folder, choice, suites)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A report of all suites with two seeds: the folder it is in."""
    folder = tmp_path_factory.mktemp("report")
    made(folder / "results", tuple(SUITES), effort="smoke", seeds=(1, 2), policies=())
    done = run(folder / "results", "--output", folder / "report")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("index.html")
    return folder / "report"


class Elements(HTMLParser):
    VOID = ("meta", "br", "img", "link")

    def __init__(self):
        super().__init__()
        self.attributes, self.open, self.ids, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def parsed(page):
    elements = Elements()
    elements.feed((page / "index.html").read_text())
    assert elements.open == []
    return elements


def test_page_needs_no_other_file_and_no_network(page):
    text = (page / "index.html").read_text()
    elements = parsed(page)
    for name, value in elements.attributes:
        if name in ("src", "href", "xlink:href", "data", "action", "poster"):
            assert value.startswith("#"), f"{name}={value}"
        if not name.startswith("xmlns"):
            assert "http:" not in (value or "")
            assert "https:" not in (value or "")
    assert "<script" not in text
    assert "<link" not in text
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)


def test_references_in_the_page_lead_to_one_element_each(page):
    elements = parsed(page)
    assert len(elements.ids) == len(set(elements.ids))
    text = (page / "index.html").read_text()
    referred = set(re.findall(r'(?:href="#|url\(#)([^")]+)', text))
    assert referred
    assert referred <= set(elements.ids)


def test_page_says_where_it_is_from(page):
    text = " ".join(parsed(page).text)
    for what in ("6.1.0-1-amd64", "7.2.22", "0123456789abcdef", "clean"):
        assert what in text
    assert "bench/run --effort smoke" in text
    assert "--seeds 1..2" in text
    for suite in SUITES.values():
        assert suite.title in text
        assert suite.source in text


def test_text_in_charts_takes_the_colours_of_the_page(page):
    text = (page / "index.html").read_text()
    charts_here = re.findall(r"<svg .*?</svg>", text, re.DOTALL)
    assert len(charts_here) > len(SUITES)
    for chart in charts_here:
        assert charts.INK not in chart
        assert charts.PAPER not in chart
        assert "currentColor" in chart
    assert "prefers-color-scheme: dark" in text


def test_every_figure_is_there_as_png_and_svg(page):
    names = {path.stem for path in page.glob("*.svg")}
    assert names == {path.stem for path in page.glob("*.png")}
    for name in names:
        assert (page / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        svg = (page / f"{name}.svg").read_text()
        assert svg.rstrip().endswith("</svg>")
        assert f"{name}.svg" in (page / "index.html").read_text()
    for suite in SUITES:
        assert any(name.startswith(f"{suite}-") for name in names)
    own = ("consumers-curves", "scanners-columns", "swappers-jain", "protection-resident")
    for prefix in own:
        assert any(name.startswith(prefix) for name in names), prefix


def test_the_same_results_give_the_same_report(tmp_path):
    made(tmp_path / "results", ("swappers", "syn8"), effort="smoke")
    for out in ("one", "two"):
        assert run(tmp_path / "results", "--output", tmp_path / out).returncode == 0
    one, two = (
        {path.name: path.read_bytes() for path in (tmp_path / out).iterdir()}
        for out in ("one", "two")
    )
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []


def test_figures_of_an_earlier_report_are_removed_and_nothing_else(tmp_path):
    """Fault: all pictures in the folder were removed, whose ever they were."""
    out = tmp_path / "report"
    out.mkdir()
    (out / "holiday.png").write_text("mine")
    (out / "notes.txt").write_text("mine")
    for suite in ("swappers", "syn8"):
        made(tmp_path / suite, (suite,), effort="smoke")
        assert run(tmp_path / suite, "--output", out).returncode == 0
    assert list(out.glob("syn8-*.svg"))
    assert not list(out.glob("swappers-*"))
    assert (out / "holiday.png").read_text() == "mine"
    assert (out / "notes.txt").exists()


def test_syn8_curves_need_several_totals(tmp_path):
    made(tmp_path / "results", effort="quick")
    assert run(tmp_path / "results", "--output", tmp_path).returncode == 0
    names = {path.name for path in tmp_path.glob("syn8-*.svg")}
    assert {"syn8-totals.svg", "syn8-slices-mts.svg", "syn8-swap.svg"} <= names


def test_where_mts_loses_is_reckoned(tmp_path):
    found = made(tmp_path, effort="full")
    of = report.make(report.load(tmp_path))
    # the rule of made_results: mts takes 20 s where the demand is below 1.5 times the memory
    worse = 0
    for one in found:
        setting = results.setting_of(one)
        if setting.policy == "mts":
            stock = made_results.time_for_all(made_results.with_policy(setting, "stock"))
            worse += made_results.time_for_all(setting) > stock
    assert 0 < worse < of.compared
    assert len(of.losses) == worse
    assert f"worse than stock at {worse} of {of.compared} points" in report.losses_in_words(of)
    assert [max(loss.gains) for loss in of.losses] == sorted(max(x.gains) for x in of.losses)
    assert all(max(loss.gains) < 1 for loss in of.losses)


def test_no_loss_is_said_as_well(tmp_path):
    made(tmp_path, effort="smoke")
    of = report.make(report.load(tmp_path))
    assert of.losses == ()
    assert "no worse than stock at any of 1 points" in report.losses_in_words(of)


def test_without_stock_nothing_is_claimed(tmp_path):
    made(tmp_path, effort="smoke", policies=("mts",))
    of = report.make(report.load(tmp_path))
    assert "no point at which both" in report.losses_in_words(of)
    assert len(of.without) == 1


def test_a_rate_is_better_when_it_is_higher(tmp_path):
    found = made(tmp_path, ("scanners",), effort="smoke")
    rates = {r["setting"]["policy"]: r["figures"]["suite"]["pages_per_s"] for r in found}
    (point,) = score.points(SUITES["scanners"], report.load(tmp_path))
    (mts,) = (entry for entry in point.entries if entry.policy == "mts")
    assert point.gain(mts, "stock") == [pytest.approx(rates["mts"] / rates["stock"])]
    assert rates["mts"] > rates["stock"]


def test_points_of_a_suite_have_different_labels(tmp_path):
    for name, suite in SUITES.items():
        made(tmp_path / name, (name,), effort="full", policies=("stock",))
        points = score.points(suite, report.load(tmp_path / name))
        labels = [point.label for point in points]
        assert len(labels) == len(set(labels)), name


def test_ratios_of_a_suite_with_a_rate_are_of_the_rate(tmp_path):
    made(tmp_path, ("stress-ng",), effort="smoke")
    (section,) = report.make(report.load(tmp_path)).sections
    (table,) = section.comparisons
    rows = {row[0]: dict(zip(table.header, row, strict=True)) for row in table.rows}
    assert rows["mts"]["times stock"] == "25.00"
    assert rows["mts"]["ideal over this"] == "1.60"
    assert rows["mts"]["bogo-operations, per virtual s"] == "62500"


def test_a_suite_says_itself_what_counts(tmp_path):
    """Of every suite whose jobs take a time of their own, and of idle, that is not the time."""
    other = {"consumers", "idle", "latency", "scanners", "stress-ng", "swappers"}
    for name, suite in SUITES.items():
        scores = [suite.score(point) for point in suite.points("smoke")]
        assert (scores != [TIME]) == (name in other), name
        found = made(tmp_path / name, (name,), effort="smoke", policies=("mts",))
        values = [compare.figure(found[0], score.figure) for score in scores]
        assert None not in values, name
    mix = [p for p in SUITES["swappers"].points("full") if p.param("experiment") == "mix"]
    assert {SUITES["swappers"].score(point) for point in mix} == {TIME}


def test_a_policy_that_kills_is_no_winner(tmp_path):
    """It has no gain, is not drawn as if it had, and the report says what it did."""
    found = made(tmp_path / "results", effort="smoke", policies=("stock", "mts", "earlyoom"))
    for one in found:
        if one["setting"]["policy"] == "earlyoom":
            one["figures"] |= {"killed_jobs": 2, "killed_work": 0.5, "time_for_all_s": None}
            name = results.file_name(results.setting_of(one))
            results.write(one, tmp_path / "results" / name)
    (section,) = report.make(report.load(tmp_path / "results")).sections
    (row,) = section.gains.rows
    assert row[section.gains.header.index("earlyoom")] == compare.KILLED
    assert "was not done: earlyoom" in section.tables[0].note
    assert run(tmp_path / "results", "--output", tmp_path / "page").returncode == 0
    chart = (tmp_path / "page" / "syn8-time-for-all-s.svg").read_text()
    assert ">killed<" in chart


def test_missing_runs_are_named(tmp_path):
    made(tmp_path, effort="smoke", seeds=(1, 2, 3))
    gone = sorted(tmp_path.rglob("mts-*seed2*.json"))
    assert len(gone) == 1
    gone[0].unlink()
    of = report.make(report.load(tmp_path))
    assert of.commands == ("bench/run --suite syn8 --effort smoke --seeds 1..3",)
    assert [text for text in of.warnings if "1 runs are missing: mts at 1.5, seed 2" in text]


def test_policies_of_the_command_are_those_that_ran(tmp_path):
    made(tmp_path, effort="smoke", policies=("stock", "zswap"))
    of = report.make(report.load(tmp_path))
    assert of.commands == ("bench/run --suite syn8 --effort smoke --policy stock,zswap",)
    assert of.warnings == ()


def test_what_is_wrong_with_the_results_is_said(tmp_path):
    found = made(tmp_path, effort="smoke")
    for one in found[:2]:
        one |= {"dirty": True, "commit": "ffff", "warnings": ["a look was late"]}
        one["daemon"] = {"ended": True, "status": 1}
        results.write(one, tmp_path / results.file_name(results.setting_of(one)))
    of = report.make(report.load(tmp_path))
    said = " ".join(of.warnings)
    assert "2 runs: a look was late" in said
    assert "daemon ended before" in said
    assert "several commits" in said
    assert "2 runs with changes" in dict(of.facts)["checkout"]


MARKED = (
    f"# Title\n\nbefore\n\n{report_markdown.BEGIN}\nold words\n{report_markdown.END}\n\nafter\n"
)


def test_markdown_goes_between_the_markers(tmp_path):
    made(tmp_path / "results", effort="smoke")
    file = tmp_path / "benchmarks.md"
    file.write_text(MARKED)
    done = run(tmp_path / "results", "--markdown", file)
    assert done.returncode == 0, done.stderr
    text = file.read_text()
    assert text.startswith(f"# Title\n\nbefore\n\n{report_markdown.BEGIN}\n")
    assert text.endswith(f"{report_markdown.END}\n\nafter\n")
    assert "old words" not in text
    assert "0123456789abcdef" in text
    assert "`bench/run --suite syn8 --effort smoke`" in text
    assert "bench/report" in text
    assert "Where mts loses" in text
    again = run(tmp_path / "results", "--markdown", file)
    assert again.returncode == 0
    assert file.read_text() == text


def test_markdown_tables_have_as_many_cells_in_every_row(tmp_path):
    made(tmp_path, tuple(SUITES), effort="smoke")
    text = report_markdown.text(report.make(report.load(tmp_path)), "bench/report")
    tables = re.findall(r"(?:^\|.*\|\n?)+", text, re.MULTILINE)
    assert len(tables) > 2 * len(SUITES)
    for table in tables:
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.strip().splitlines()}
        assert len(widths) == 1, table


@pytest.mark.parametrize(
    "text",
    [
        "no markers",
        f"{report_markdown.END}\n{report_markdown.BEGIN}\n",
        f"{report_markdown.BEGIN}\n",
        MARKED + MARKED,
    ],
)
def test_markdown_without_one_pair_of_markers_is_left_alone(tmp_path, text):
    made(tmp_path / "results", effort="smoke")
    file = tmp_path / "some.md"
    file.write_text(text)
    done = run(tmp_path / "results", "--markdown", file)
    assert done.returncode == 2
    assert f"{file}: not one line" in done.stderr
    assert file.read_text() == text


def broken(folder, change):
    (one,) = made(folder, effort="smoke", policies=("stock",))
    path = folder / results.file_name(results.setting_of(one))
    path.write_text(change(one))
    return path


def without(name):
    return lambda one: json.dumps({key: one[key] for key in one if key != name})


def with_setting(**more):
    return lambda one: json.dumps({**one, "setting": {**one["setting"], **more}})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda one: json.dumps(one)[:200], "not a result of bench/run"),
        (lambda one: "[]", "not a result of bench/run"),
        (lambda one: json.dumps({**one, "schema": 99}), "schema 99"),
        (without("setting"), "not a result of bench/run"),
        (without("figures"), "a result without figures"),
        (without("series"), "a result without series"),
        (lambda one: json.dumps({**one, "figures": {}}), "a result without figures.suite"),
        (with_setting(suite="unheard"), "there is no suite unheard"),
        (with_setting(policy="unheard"), "there is no policy unheard"),
    ],
)
def test_a_broken_result_is_refused_by_its_name(tmp_path, change, said):
    path = broken(tmp_path / "results", change)
    done = run(tmp_path / "results", "--output", tmp_path / "report")
    assert done.returncode == 2
    assert done.stderr.startswith(f"report: {path}: ")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "report").exists()


def test_results_of_another_version_of_a_suite_are_refused(tmp_path):
    def change(one):
        one["figures"]["suite"] = {"other": 1}
        return json.dumps(one)

    broken(tmp_path / "results", change)
    done = run(tmp_path / "results", "--output", tmp_path / "report")
    assert done.returncode == 2
    assert "suite syn8" in done.stderr
    assert "measure them again" in done.stderr


@pytest.mark.parametrize("make", [False, True])
def test_no_results_are_no_report(tmp_path, make):
    folder = tmp_path / "results"
    if make:
        folder.mkdir()
    with pytest.raises(LabError, match="bench/run"):
        report.load(folder)
    done = run(folder, "--output", tmp_path / "report")
    assert done.returncode == 2
    assert str(folder) in done.stderr


def test_every_policy_has_a_look_of_its_own():
    looks = [charts.look(name) for name in POLICIES]
    assert len(set(looks)) == len(POLICIES)
    assert all(name in charts.LOOKS for name in POLICIES)


def test_scales_are_logarithmic_only_where_ranges_need_it():
    for values, expected in (([1, 5], "linear"), ([1, 1000], "log"), ([0, 1, 1000], "symlog")):
        figure, ((axes,),) = charts.grid(1, 1, height=1)
        assert charts.scale(axes, "y", values) == (expected != "linear")
        assert axes.get_yscale() == expected
        assert axes.get_ylim()[1] > max(values)
        assert figure is axes.figure
