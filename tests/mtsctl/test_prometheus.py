# SPDX-License-Identifier: GPL-2.0
"""stats --prometheus, read by the parser of Prometheus' own client."""

import json
import os
import re
import subprocess

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.mtsctl.conftest import SCENARIOS

COUNTER, GAUGE = "counter", "gauge"


def families(mtsctl, scenario, *options, **fake):
    """The metrics by name; none stands there twice."""
    shown = mtsctl("stats", "--prometheus", *options, scenario=scenario, **fake)
    assert (shown.status, shown.err) == (0, "")
    found = list(text_string_to_metric_families(shown.out))
    names = [family.name for family in found]
    assert len(names) == len(set(names))
    return {family.name: family for family in found}


def value(family, **labels):
    (sample,) = [s for s in family.samples if labels.items() <= s.labels.items()]
    return sample.value


@pytest.mark.parametrize("scenario", [*SCENARIOS, "rotating", "full", "groups"])
def test_every_metric_is_in_order(mtsctl, scenario):
    for name, family in families(mtsctl, scenario, "--per-job").items():
        assert name.startswith("mts_")
        assert family.documentation
        assert family.type in (COUNTER, GAUGE)
        assert family.samples
        assert not re.search(r"_(ns|kib|mib|pages|ms)(_|$)", name)
        labels = [tuple(sorted(s.labels.items())) for s in family.samples]
        assert len(labels) == len(set(labels))
        for sample in family.samples:
            assert sample.name.endswith("_total") == (family.type == COUNTER)


def test_counters(mtsctl):
    metrics = families(mtsctl, "idle")
    stats = json.loads(mtsctl("stats", "--json").out)
    counters = {n for n, f in metrics.items() if f.type == COUNTER and "_host_" not in n}
    assert len(counters) == len(stats.keys() - {"schema_version", "page"})
    assert value(metrics["mts_switches"]) == 36
    assert value(metrics["mts_evict_asked_bytes"]) == 3 << 30
    assert value(metrics["mts_freeze_seconds"]) == 1.44
    assert value(metrics["mts_slice_seconds"]) == 70


def test_pages_are_bytes(mtsctl):
    """A second sample, so that there are some."""
    shown = mtsctl("stats", "--prometheus", scenario="rotating")
    assert "# HELP mts_brought_back_bytes_total Bytes brought back\n" in shown.out


def test_state(mtsctl):
    metrics = families(mtsctl, "rotating")
    (state,) = metrics["mts_state_info"].samples
    assert state.labels == {"state": "running", "reason": "overcommit"}
    (config,) = metrics["mts_config_info"].samples
    assert config.labels == {
        "mode": "auto",
        "policy": "turns",
        "share": "job",
        "pack": "bfd",
        "evict": "need",
        "demand": "used",
        "step": "bin",
    }
    assert value(metrics["mts_config_step_bytes"]) == 0
    assert value(metrics["mts_config_overhead_ratio"]) == 0.025
    assert value(metrics["mts_config_interactive_ratio"]) == 0.25
    assert value(metrics["mts_config_slice_seconds"]) == 2
    assert value(metrics["mts_frozen_jobs"]) == 5
    assert value(metrics["mts_capacity_bytes"]) == 96 << 20
    assert value(metrics["mts_longest_pause_seconds"]) == 4.3
    assert families(mtsctl, "newer")["mts_state_info"].samples[0].labels["state"] == "unknown"


def test_policy(mtsctl):
    metrics = families(mtsctl, "chosen")
    (policy,) = metrics["mts_policy_info"].samples
    assert policy.labels == {"policy": "token", "trial": "1"}
    gives = metrics["mts_policy_processors"]
    assert value(gives, policy="turns", how="measured") == 0.83
    assert value(gives, policy="token", how="forecast") == 1.25
    assert {sample.labels["policy"] for sample in gives.samples} == {"turns", "none", "token"}
    metrics = families(mtsctl, "rotating")
    assert metrics["mts_policy_info"].samples[0].labels == {"policy": "turns", "trial": "0"}
    assert "mts_policy_processors" not in metrics


def test_what_a_page_costs(mtsctl):
    metrics = families(mtsctl, "slow-swap")
    assert value(metrics["mts_page_seconds"], way="out") == 8240e-9
    assert value(metrics["mts_page_seconds"], way="in") == 152e-6
    assert value(metrics["mts_page_work_seconds"], way="in") == 2.4e-6
    assert value(metrics["mts_page_wait_seconds"], way="in") == 149e-6
    assert value(metrics["mts_page_age_seconds"], way="in") == 61
    assert len(families(mtsctl, "rotating")["mts_page_seconds"].samples) == 1
    assert "mts_page_seconds" not in families(mtsctl, "idle")


@pytest.mark.parametrize(
    ("step", "word", "size"), [(0, "auto", 0), (512, "size", 512 << 20), (0xFFFFFFFF, "bin", 0)]
)
def test_step(mtsctl, step, word, size):
    metrics = families(mtsctl, "idle", config_step=step)
    (config,) = metrics["mts_config_info"].samples
    assert config.labels["step"] == word
    assert value(metrics["mts_config_step_bytes"]) == size


def test_bins(mtsctl):
    metrics = families(mtsctl, "rotating")
    assert [s.value for s in metrics["mts_bin_running"].samples] == [0, 1, 0]
    assert value(metrics["mts_bin_slice_seconds"], bin="2") == 1
    assert value(metrics["mts_bin_demand_bytes"], bin="0") == 93 << 20
    assert "mts_bin_jobs" not in families(mtsctl, "idle")
    groups = families(mtsctl, "groups")
    assert [s.value for s in groups["mts_bin_running"].samples] == [1, 0] * 3


def test_jobs(mtsctl):
    metrics = families(mtsctl, "rotating", "--per-job")
    assert len(metrics["mts_job_info"].samples) == 14
    assert value(metrics["mts_job_frozen"], name="alpha") == 1
    assert value(metrics["mts_job_frozen_seconds"], name="alpha") == 1.5
    assert value(metrics["mts_job_frozen_longest_seconds"], name="alpha") == 3
    assert value(metrics["mts_job_swapped_bytes"], name="make") == 48 << 20
    info = {s.labels["id"]: s.labels for s in metrics["mts_job_info"].samples}
    assert info["5"] == {
        "id": "5",
        "name": "make.1",
        "user": "0",
        "state": "freezing",
        "bin": "2",
        "parent": "4",
        "pin": "0",
        "each": "0",
    }
    assert (info["6"]["bin"], info["6"]["pin"]) == ("every", "1")
    assert info["10"]["bin"] == ""
    assert info["13"]["name"].startswith('strange?"name"')  # it is not UTF-8
    assert value(metrics["mts_jobs_without_metrics"]) == 0
    assert "mts_job_info" not in families(mtsctl, "empty", "--per-job")


def test_no_job_has_metrics_unless_asked_for(mtsctl):
    names = families(mtsctl, "rotating")
    assert not [name for name in names if name.startswith("mts_job_")]
    assert "mts_jobs_without_metrics" not in names


@pytest.mark.parametrize(
    ("option", "shown"), [("--per-job", 100), ("--per-job=7", 7), ("--per-job=4096", 4096)]
)
def test_jobs_that_have_metrics_are_limited(mtsctl, option, shown):
    """The oldest ones, and it is said how many have none."""
    metrics = families(mtsctl, "full", option)
    of_jobs = {n: f for n, f in metrics.items() if n.startswith("mts_job_")}
    assert len(of_jobs) == 17
    for family in of_jobs.values():
        assert [int(s.labels["id"]) for s in family.samples] == [*range(1, shown + 1)]
    assert value(metrics["mts_jobs_without_metrics"]) == 4096 - shown
    assert value(metrics["mts_jobs"]) == 4096


def test_series_do_not_grow_with_the_jobs(mtsctl):
    few = {n: len(f.samples) for n, f in families(mtsctl, "rotating").items()}
    many = {n: len(f.samples) for n, f in families(mtsctl, "full").items()}
    assert {n for n in few if few[n] < many.get(n, 0)} == {
        name for name in few if name.startswith("mts_bin_")
    }
    assert max(many.values()) <= 64


def test_jobs_together(mtsctl):
    metrics = families(mtsctl, "rotating")
    states = {s.labels["state"]: s.value for s in metrics["mts_jobs_in_state"].samples}
    assert sum(states.values()) == value(metrics["mts_jobs"])
    assert states["frozen"] + states["freezing"] == value(metrics["mts_frozen_jobs"])
    assert states["holder"] == 0
    shown = json.loads(mtsctl("status", "--json", scenario="rotating").out)
    longest = max(job["frozen_for_ns"] or 0 for job in shown["jobs"])
    assert longest > 0
    assert value(metrics["mts_longest_frozen_seconds"]) == longest / 1e9
    assert value(metrics["mts_pause_limit_seconds"]) == shown["max_pause_ns"] / 1e9


def test_jobs_beyond_their_limits(mtsctl):
    """By their own limits, and by those of the turns."""
    metrics = families(mtsctl, "overdue")
    assert value(metrics["mts_overdue_jobs"]) == 2
    assert value(metrics["mts_longest_frozen_seconds"]) == 31
    assert value(metrics["mts_queue_overdue_jobs"]) == 1
    assert value(metrics["mts_queue_longest_wait_seconds"]) == 300
    metrics = families(mtsctl, "rotating")
    assert value(metrics["mts_overdue_jobs"]) == 0
    assert value(metrics["mts_queue_overdue_jobs"]) == 0


@pytest.mark.parametrize(("scenario", "engine"), [("idle", "module"), ("userspace", "userspace")])
def test_engine(mtsctl, scenario, engine):
    metrics = families(mtsctl, scenario)
    assert value(metrics["mts_up"]) == 1
    assert metrics["mts_info"].samples[0].labels["engine"] == engine


def test_host(mtsctl, host):
    host.vitals(
        swap_free_kib=1000,
        swap_total_kib=4000,
        pswpin=3,
        zswpin=1,
        pswpout=5,
        zswpout=2,
        pgmajfault=9,
    )
    (host.proc / "stat").write_text("cpu  150 50 900 9 9 9 9 0 0 0\ncpu0 1 2 3\n")
    metrics = families(mtsctl, "idle", **host.fake, processors=8)
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGESIZE")
    assert value(metrics["mts_host_processors"]) == 8
    assert value(metrics["mts_host_user_seconds"]) == 200 / ticks
    assert value(metrics["mts_host_available_bytes"]) == 800 << 20
    assert value(metrics["mts_host_swap_size_bytes"]) == 4000 << 10
    assert value(metrics["mts_host_swap_free_bytes"]) == 1000 << 10
    assert value(metrics["mts_host_swapped_in_bytes"]) == 4 * page
    assert value(metrics["mts_host_swapped_out_bytes"]) == 7 * page
    assert value(metrics["mts_host_major_faults"]) == 9


def test_host_that_cannot_be_read(mtsctl, host):
    """As in a container that hides it: the rest is printed."""
    metrics = families(mtsctl, "idle", **host.fake)
    assert "mts_host_swap_free_bytes" not in metrics
    assert "mts_host_user_seconds" not in metrics
    assert value(metrics["mts_up"]) == 1


def test_limits_and_calls(mtsctl):
    metrics = families(mtsctl, "limits", "--per-job")
    assert value(metrics["mts_call_tasks"]) == 41
    assert value(metrics["mts_limited_jobs"]) == 1
    assert value(metrics["mts_job_max_pause_seconds"], name="quick") == 2
    assert value(metrics["mts_job_max_pause_seconds"], name="beta") == 0
    assert value(metrics["mts_job_calls"], name="served") == 3
    assert value(metrics["mts_job_calls_refused"], name="served") == 1


def test_escapes(mtsctl):
    samples = families(mtsctl, "escapes", "--per-job")["mts_job_info"].samples
    assert {s.labels["name"] for s in samples} == {"alpha", "beta", 'a"b\\c\ndé'}


@pytest.mark.parametrize("scenario", [*SCENARIOS, "rotating", "escapes", "limits", "slow-swap"])
def test_promtool_has_no_complaint(mtsctl, promtool, scenario):
    text = mtsctl("stats", "--prometheus", "--per-job", scenario=scenario).out
    done = promtool("check", "metrics", text=text)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_promtool_complains(promtool):
    """It reads what it is given."""
    done = promtool("check", "metrics", text="# TYPE mts_x counter\nmts_x 1\n")
    assert done.returncode == 3
    assert "_total" in done.stderr
    assert promtool("check", "metrics", text='mts_x{a="\\q"} 1\n').returncode


def test_every_metric_is_in_the_reference(mtsctl, sources):
    """And no other one is."""
    text = (sources.parents[1] / "docs/reference.md").read_text()
    text = text.partition("\n## Metrics\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`mts_.*?) \|", text, re.MULTILINE)
    named = {word for row in rows for word in re.findall(r"`([^`]+)`", row)}
    printed = set()
    for scenario in ("rotating", "slow-swap", "chosen"):
        shown = mtsctl("stats", "--prometheus", "--per-job", scenario=scenario)
        printed |= {*re.findall("^# TYPE (mts_[a-z_]+) ", shown.out, re.MULTILINE)}
    stats = json.loads(mtsctl("stats", "--json").out)
    counters = {n for n in printed if n.endswith("_total") and "_job_" not in n}
    counters -= {n for n in counters if "_host_" in n}
    assert len(counters) == len(
        stats.keys() - {"schema_version", "page"}
    )  # they have a table of their own
    assert printed - counters == named


@pytest.mark.parametrize("scenario", ["idle", "absent"])
def test_recipe_of_the_manual(mtsctl, sources, tmp_path, scenario):
    """The file is whole, or missing: it never has metrics of a module that is unloaded."""
    page = (sources / "mtsctl.8").read_text().replace("\\-", "-")
    line = re.search(r"^\* \* \* \* \* root (f=.*)$", page, re.M)[1]
    line = line.replace("/var/lib/prometheus/node-exporter", str(tmp_path))
    # cron's PATH is short: the line says where the program is installed.
    line = line.replace("/usr/local/sbin/mtsctl", str(mtsctl.program))
    env = {**mtsctl.environment(scenario=scenario), "PATH": "/usr/bin:/bin"}
    (tmp_path / "mts.prom").write_text("old\n")
    subprocess.run(["sh", "-c", line], env=env, stderr=subprocess.DEVNULL)
    left = sorted(p.name for p in tmp_path.glob("mts.*"))
    assert left == (["mts.prom"] if scenario == "idle" else [])
    if left:
        assert list(text_string_to_metric_families((tmp_path / "mts.prom").read_text()))
