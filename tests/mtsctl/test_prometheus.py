# SPDX-License-Identifier: GPL-2.0
"""stats --prometheus, read by the parser of Prometheus' own client."""

import json
import re
import subprocess

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.mtsctl.conftest import SCENARIOS

COUNTER, GAUGE = "counter", "gauge"


def families(mtsctl, scenario, **fake):
    """The metrics by name; none stands there twice."""
    shown = mtsctl("stats", "--prometheus", scenario=scenario, **fake)
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
    for name, family in families(mtsctl, scenario).items():
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
    counters = {n for n, f in metrics.items() if f.type == COUNTER and "job_" not in n}
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
    metrics = families(mtsctl, "rotating")
    assert len(metrics["mts_job_info"].samples) == 14
    assert value(metrics["mts_job_frozen"], job="alpha") == 1
    assert value(metrics["mts_job_frozen_seconds"], job="alpha") == 1.5
    assert value(metrics["mts_job_frozen_longest_seconds"], job="alpha") == 3
    assert value(metrics["mts_job_swapped_bytes"], job="make") == 48 << 20
    info = {s.labels["id"]: s.labels for s in metrics["mts_job_info"].samples}
    assert info["5"] == {
        "id": "5",
        "job": "make.1",
        "state": "freezing",
        "bin": "2",
        "parent": "4",
        "pin": "0",
        "each": "0",
    }
    assert (info["6"]["bin"], info["6"]["pin"]) == ("every", "1")
    assert info["10"]["bin"] == ""
    assert info["13"]["job"].startswith('strange?"name"')  # it is not UTF-8
    assert "mts_job_info" not in families(mtsctl, "empty")


def test_limits_and_calls(mtsctl):
    metrics = families(mtsctl, "limits")
    assert value(metrics["mts_call_tasks"]) == 41
    assert value(metrics["mts_limited_jobs"]) == 1
    assert value(metrics["mts_job_max_pause_seconds"], job="quick") == 2
    assert value(metrics["mts_job_max_pause_seconds"], job="beta") == 0
    assert value(metrics["mts_job_calls"], job="served") == 3
    assert value(metrics["mts_job_calls_refused"], job="served") == 1


def test_escapes(mtsctl):
    names = {s.labels["job"] for s in families(mtsctl, "escapes")["mts_job_info"].samples}
    assert names == {"alpha", "beta", 'a"b\\c\ndé'}


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
