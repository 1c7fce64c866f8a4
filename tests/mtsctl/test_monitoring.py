# SPDX-License-Identifier: GPL-2.0
"""packaging/prometheus: the rules, by promtool's own tests; the dashboard; the metrics of both."""

import json
import re
import shutil
import textwrap

import pytest
import yaml

from tests.mtsctl.conftest import ROOT

FOLDER = ROOT / "packaging" / "prometheus"
RULES, TESTS = FOLDER / "mts.rules.yml", FOLDER / "mts.rules.test.yml"
DASHBOARD = FOLDER / "mts-dashboard.json"
# Prometheus' own series, of each target.
OF_PROMETHEUS = {"up"}


def rules():
    (group,) = yaml.safe_load(RULES.read_text())["groups"]
    found = group["rules"]
    assert len(found) > 10
    return found


ALERTS = [rule["alert"] for rule in rules() if "alert" in rule]


def panels():
    return json.loads(DASHBOARD.read_text())["panels"]


def expressions_of_panels():
    found = [target["expr"] for panel in panels() for target in panel.get("targets", [])]
    assert len(found) > 20
    return found


def as_grafana_asks(expression, instance=".*"):
    return expression.replace("$__rate_interval", "1m").replace("$instance", instance)


def names_in(expression):
    """Of metrics, and of recorded series; no words of PromQL, labels or values."""
    bare = re.sub(r'"[^"]*"|\{[^}]*\}|\[[^]]*\]|\b(by|without) *\([^)]*\)', " ", expression)
    names = re.findall(r"[a-zA-Z_:][\w:]*(?! *[\w:(])", re.sub(r"\b\d[\w.-]*", " ", bare))
    return {*names} - {"unless", "or", "and", "bool"}


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    """A folder with both files of rules, to break one of them."""
    folder = tmp_path_factory.mktemp("rules")
    for path in (RULES, TESTS):
        shutil.copy(path, folder)
    return folder


@pytest.fixture
def printed(mtsctl):
    """All that mtsctl prints, by name."""
    names = set()
    for scenario in ("rotating", "slow-swap"):
        shown = mtsctl("stats", "--prometheus", "--per-job", scenario=scenario)
        names |= {*re.findall("^# TYPE (mts_[a-z_]+) ", shown.out, re.MULTILINE)}
    assert "mts_up" in names
    return names


# ---- rules -----------------------------------------------------------------------------


def test_promtool_takes_the_rules(promtool):
    done = promtool("check", "rules", RULES)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{len(rules())} rules found" in done.stdout


def test_rules_do_what_their_tests_say(promtool):
    done = promtool("test", "rules", TESTS)
    assert done.returncode == 0, done.stdout + done.stderr


def broken(copies, promtool, alert, expression):
    """Whether the tests fail with another expression for the alert."""
    text = RULES.read_text()
    begin = text.index(f"- alert: {alert}\n")
    end = text.find("- alert:", begin + 1)
    rule = text[begin:] if end < 0 else text[begin:end]
    changed = re.sub("expr: (.*)", expression, rule, count=1)
    assert changed != rule
    (copies / RULES.name).write_text(text.replace(rule, changed))
    done = promtool("test", "rules", copies / TESTS.name)
    assert "FAILED" in done.stdout + done.stderr
    return done.returncode


@pytest.mark.parametrize("alert", ALERTS)
def test_no_alert_can_fail_to_fire(copies, promtool, alert):
    """Its test notices."""
    assert broken(copies, promtool, alert, r"expr: (\1) > 1e9")


@pytest.mark.parametrize("alert", ALERTS)
def test_no_alert_can_fire_all_the_time(copies, promtool, alert):
    assert broken(copies, promtool, alert, "expr: vector(1)")


@pytest.mark.parametrize("rule", rules(), ids=lambda r: r.get("alert") or r["record"])
def test_rules_ask_for_what_is_printed(printed, rule):
    recorded = {its["record"] for its in rules() if "record" in its}
    names = names_in(rule["expr"])
    assert names
    assert names - printed - recorded - OF_PROMETHEUS == set()
    if "alert" in rule:
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert {*rule["annotations"]} == {"summary", "description"}
        assert "$labels.instance" in rule["annotations"]["summary"]


def test_names_are_found():
    """Or the test above could not fail."""
    expression = '(max_over_time(a_b[1h]) unless c) or d:e:f5m{job="x"} == 0 + clamp_min(g, 1e-9)'
    assert names_in(expression) == {"a_b", "c", "d:e:f5m", "g"}
    assert names_in("max by (instance, state) (mts_z{a=~'$b'}) > 0.5") == {"mts_z"}


def test_every_alert_is_in_the_manual():
    text = (ROOT / "docs/howto.md").read_text()
    missing = {alert for alert in ALERTS if f"`{alert}`" not in text}
    assert missing == set()


def test_promtool_takes_the_configuration_of_the_manual(promtool, tmp_path, sources):
    text = (ROOT / "docs/howto.md").read_text()
    (lines,) = re.findall(r"(?<=\n)    rule_files:\n(?:    .*\n)+", text)
    (tmp_path / "prometheus.yml").write_text(textwrap.dedent(lines))
    shutil.copy(RULES, tmp_path)
    done = promtool("check", "config", tmp_path / "prometheus.yml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(rules())} rules found" in done.stdout
    # The alert MtsNotAnswering asks for a job of that name.
    (scraped,) = yaml.safe_load(lines)["scrape_configs"]
    assert scraped["job_name"] == "mts"
    socket = (sources / "mts-metrics.socket").read_text()
    (target,) = scraped["static_configs"][0]["targets"]
    assert f"\nListenStream={target}\n" in socket
    for page in ("docs/reference.md", "userspace/mtsctl/mtsctl.8"):
        assert target in (ROOT / page).read_text()


# ---- the dashboard ---------------------------------------------------------------------


def test_dashboard_is_whole():
    board = json.loads(DASHBOARD.read_text())
    assert {"title", "uid", "schemaVersion", "time", "refresh"} <= board.keys()
    variables = {its["name"]: its for its in board["templating"]["list"]}
    assert {*variables} == {"datasource", "instance"}
    assert variables["instance"]["definition"] == "label_values(mts_up, instance)"
    ids = [panel["id"] for panel in panels()]
    assert len(ids) == len(set(ids)) > 10
    taken = set()
    for panel in panels():
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                 for y in range(at["y"], at["y"] + at["h"])}  # fmt: skip
        assert cells
        assert at["x"] + at["w"] <= 24
        assert not cells & taken, panel["title"]
        taken |= cells


@pytest.mark.parametrize(
    "panel", [p for p in panels() if p["type"] != "row"], ids=lambda p: p["title"]
)
def test_panel(printed, panel):
    assert panel["type"] in ("timeseries", "stat", "state-timeline")
    assert panel["description"].endswith(".")
    assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
    unit = panel["fieldConfig"]["defaults"]["unit"]
    letters = [target["refId"] for target in panel["targets"]]
    assert letters
    assert len(letters) == len(set(letters))
    for target in panel["targets"]:
        names = names_in(as_grafana_asks(target["expr"]))
        assert names
        assert names - printed == set()
        # Of the hosts that are chosen, and told apart.
        assert target["expr"].count("$instance") == len(re.findall(r"mts_\w+", target["expr"]))
        assert "{{instance}}" in target["legendFormat"]
        if not re.search("rate|increase", target["expr"]):
            seconds = all(name.endswith("_seconds") for name in names)
            sizes = all(name.endswith("_bytes") for name in names)
            assert unit == ("s" if seconds else "bytes" if sizes else "short")
            assert not any(name.endswith("_total") for name in names)


def test_promtool_takes_what_the_dashboard_asks(promtool, tmp_path):
    asked = [*map(as_grafana_asks, expressions_of_panels())]
    file = tmp_path / "asked.yml"

    def check(expressions):
        records = [{"record": f"a:b{i}", "expr": e} for i, e in enumerate(expressions)]
        file.write_text(json.dumps({"groups": [{"name": "a", "rules": records}]}))
        return promtool("check", "rules", file)

    done = check(asked)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{len(asked)} rules found" in done.stdout
    assert check([*asked, "rate(mts_up)"]).returncode


@pytest.mark.parametrize(
    "wanted",
    [
        "mts_state_info",
        "mts_host_user_seconds_total",
        "mts_frozen_jobs",
        "mts_pause_limit_seconds",
        "mts_longest_frozen_seconds",
        "mts_host_swapped_out_bytes_total",
        "mts_bring_back_seconds_total",
        "mts_job_frozen_seconds_total",
    ],
)
def test_dashboard_shows(wanted):
    assert any(wanted in names_in(expression) for expression in expressions_of_panels())
