# SPDX-License-Identifier: GPL-2.0
"""A Prometheus of Debian's that scrapes the port, on loopback: series arrive, and alerts fire."""

import json
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import pytest

from tests.mtsctl.conftest import NO_PROMETHEUS, MetricsPort, prometheus, until
from tests.mtsctl.test_monitoring import RULES, as_grafana_asks, expressions_of_panels, rules

# What has nothing to show while the fake module is as it is here: it had no fault.
SERIES_WAIT_S = 90


class Server:
    def __init__(self, program, folder, target):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.number = free.getsockname()[1]
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(RULES)],
            "scrape_configs": [
                {"job_name": "mts", "static_configs": [{"targets": [f"127.0.0.1:{target}"]}]}
            ],
        }
        (folder / "prometheus.yml").write_text(json.dumps(config))
        self.log = folder / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [
                    program,
                    f"--config.file={folder}/prometheus.yml",
                    f"--storage.tsdb.path={folder}/data",
                    f"--web.listen-address=127.0.0.1:{self.number}",
                ],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip

    def get(self, path, **words):
        url = f"http://127.0.0.1:{self.number}/{path}?{urllib.parse.urlencode(words)}"
        with urllib.request.urlopen(url, timeout=30) as answer:
            return json.load(answer)["data"]

    def is_ready(self):
        assert self.process.poll() is None, self.log.read_text()
        try:
            url = f"http://127.0.0.1:{self.number}/-/ready"
            return urllib.request.urlopen(url, timeout=30).status == 200
        except (urllib.error.URLError, ConnectionError):
            return False

    def ask(self, expression):
        """The samples; an expression that Prometheus does not take is an error."""
        return self.get("api/v1/query", query=expression)["result"]

    def firing(self):
        alerts = self.get("api/v1/alerts")["alerts"]
        return {a["labels"]["alertname"]: a for a in alerts if a["state"] == "firing"}

    def close(self):
        self.process.terminate()
        self.process.wait(60)


@pytest.fixture(scope="module")
def program():
    found = prometheus("prometheus")
    if not found:
        pytest.skip(NO_PROMETHEUS.format("prometheus"))
    return found


@pytest.fixture
def port(mtsctl, sources, tmp_path, systemd):
    (tmp_path / "mts-metrics@.service").write_bytes(
        (sources / "mts-metrics@.service.in").read_bytes()
    )
    it = MetricsPort(mtsctl, tmp_path, "--per-job", scenario="slow-swap")
    yield it
    it.close()


@pytest.fixture
def server(program, tmp_path, port):
    folder = tmp_path / "server"
    folder.mkdir()
    it = Server(program, folder, port.number)
    try:
        until(it.is_ready, 60)
        yield it
    finally:
        it.close()


def test_prometheus(server, port):
    # Series arrive, with the labels of the target and of mts.
    (up,) = until(lambda: server.ask('mts_up{job="mts"}'), SERIES_WAIT_S)
    assert up["value"][1] == "1"
    assert up["metric"]["instance"] == f"127.0.0.1:{port.number}"
    names = {its["metric"]["name"] for its in server.ask("mts_job_info")}
    assert {"alpha", "beta"} <= names
    assert not server.ask('mts_job_info{exported_job!=""}')
    assert server.ask('mts_info{engine="module"}')
    assert not server.firing()

    # All that the dashboard asks has an answer. Rates need two samples.
    instance = f"127.0.0.1:{port.number}"

    def empty():
        asked = [as_grafana_asks(e, instance) for e in expressions_of_panels()]
        return [expression for expression in asked if not server.ask(expression)]

    until(lambda: not empty(), SERIES_WAIT_S)
    with pytest.raises(urllib.error.HTTPError) as error:
        server.ask("rate(mts_up)")
    assert error.value.code == 400

    # The rules are taken, and evaluated without a fault.
    groups = server.get("api/v1/rules")["groups"]
    states = {r["name"]: r["health"] for group in groups for r in group["rules"]}
    assert {*states} == {rule.get("alert") or rule["record"] for rule in rules()}
    until(lambda: server.ask("instance:mts_switch_time:ratio_rate5m"), SERIES_WAIT_S)
    groups = server.get("api/v1/rules")["groups"]
    assert {r["health"] for group in groups for r in group["rules"]} == {"ok"}

    # A stop: its alert fires at once, and ends when turns go on.
    port.play("oom")
    alert = until(lambda: server.firing().get("MtsStopped"), SERIES_WAIT_S)
    assert alert["labels"]["reason"] == "oom"
    assert alert["labels"]["severity"] == "critical"
    assert alert["annotations"]["summary"] == f"mts has stopped on {instance}: oom"
    port.play("slow-swap")
    until(lambda: "MtsStopped" not in server.firing(), SERIES_WAIT_S)

    # The module is gone: the port says so, and the alert begins to wait.
    port.play("absent")
    until(lambda: [s for s in server.ask("mts_up") if s["value"][1] == "0"], SERIES_WAIT_S)
    until(
        lambda: "MtsNotLoaded" in {
            a["labels"]["alertname"] for a in server.get("api/v1/alerts")["alerts"]
        },
        SERIES_WAIT_S,
    )  # fmt: skip
