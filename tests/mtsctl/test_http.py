# SPDX-License-Identifier: GPL-2.0
"""stats --http: one answer to one request; and the units of systemd that accept it."""

import os
import random
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.mtsctl.conftest import MetricsPort

GET = b"GET /metrics HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n"


def ask(mtsctl, request, *options, **fake):
    """The status, the headers and the body. A sanitizer ends with 99."""
    done = subprocess.run(
        [mtsctl.program, "stats", "--http", *options],
        env=mtsctl.environment(**fake), input=request, capture_output=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    first, *lines = head.decode("ascii").split("\r\n")
    assert re.fullmatch(r"HTTP/1\.1 [2-5]\d\d [A-Z][A-Za-z ]+", first)
    headers = dict(line.split(": ", 1) for line in lines)
    assert int(headers["Content-Length"]) == len(body)
    assert headers["Connection"] == "close"
    return int(first.split()[1]), headers, body.decode()


@pytest.mark.parametrize(
    "request_",
    [GET, b"GET /metrics?a=b HTTP/1.1\n\n", b"GET /metrics HTTP/1.0\r\n\r\nand a body"],
)
def test_metrics(mtsctl, request_):
    status, headers, body = ask(mtsctl, request_, scenario="rotating")
    assert status == 200
    assert headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    printed = mtsctl("stats", "--prometheus", scenario="rotating").out

    def fixed(text):
        return [line for line in text.splitlines() if not line.startswith("mts_host_")]

    assert fixed(body) == fixed(printed)
    assert "mts_job_info{" not in body


def test_metrics_of_jobs(mtsctl):
    body = ask(mtsctl, GET, "--per-job=3", scenario="full")[2]
    assert body.count("\nmts_job_info{") == 3
    assert "\nmts_jobs_without_metrics 4093\n" in body


@pytest.mark.parametrize(
    "fake",
    [
        {"scenario": "absent"},
        {"scenario": "forbidden"},
        {"fail": "stats=5"},
        {"fail": "jobs=12"},
        {"fail": "config_get=71"},
    ],
)
def test_who_does_not_answer_is_down(mtsctl, fake):
    """Not an error of the port: the alert MtsNotLoaded is for it."""
    status, _, body = ask(mtsctl, GET, **fake)
    metrics = {f.name: f for f in text_string_to_metric_families(body)}
    assert status == 200
    assert metrics["mts_up"].samples[0].value == 0
    assert {n for n in metrics if "_host_" not in n} == {"mts_up"}


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", 404),
        (b"GET /metricsx HTTP/1.1\r\n\r\n", 404),
        (b"GET http://a/metrics HTTP/1.1\r\n\r\n", 404),
        (b"HEAD /metrics HTTP/1.1\r\n\r\n", 405),
        (b"POST /metrics HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", 405),
        (b"\r\n\r\n", 405),
        (b"GET /metrics HTTP/1.1\r\n", 400),
        (b"GET /metrics HTTP/1.1\r\nX: " + b"a" * 9000 + b"\r\n\r\n", 400),
        (b"GET /met\0rics HTTP/1.1\r\n\r\n", 400),
        (b"\xff" * 20000, 400),
    ],
)
def test_refusals(mtsctl, request_, expected):
    """Without a question to the engine."""
    status, headers, body = ask(mtsctl, request_, scenario="no such scenario")
    assert (status, body) == (expected, "see /metrics\n")
    assert headers["Content-Type"] == "text/plain; charset=utf-8"


def test_a_port_scan_gets_no_answer(mtsctl):
    done = subprocess.run(
        [mtsctl.program, "stats", "--http"],
        env=mtsctl.environment(), input=b"", capture_output=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_random_requests(mtsctl):
    """Whatever is random here comes from a fixed seed."""
    rng = random.Random(20261130)
    found = set()
    for _ in range(60):
        request = bytearray(GET)
        for _ in range(rng.choice([0, 1, 3, 40])):
            at = rng.randrange(rng.choice([4, 14, len(request)]))
            request[at : at + rng.choice([0, 1, 1, 9])] = rng.randbytes(rng.choice([0, 1, 1, 500]))
        found.add(ask(mtsctl, bytes(request))[0])
    assert found == {200, 400, 404, 405}


def test_a_slow_client_is_left(mtsctl):
    """Fault: it would keep one of the connections for good. It sends half a request, bit by bit."""
    here, there = socket.socketpair()
    process = subprocess.Popen(
        [mtsctl.program, "stats", "--http"], env=mtsctl.environment(), stdin=there, stdout=there
    )
    there.close()
    began = time.monotonic()
    for byte in b"GET /metr":
        here.sendall(bytes([byte]))
        time.sleep(0.1)
    assert process.wait(60) == -signal.SIGALRM
    assert 1.5 < time.monotonic() - began < 8
    assert here.recv(100) == b""
    here.close()


# ---- the units -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def units(sources, tmp_path_factory):
    """As installed, with programs in their places: systemd looks whether they exist."""
    prefix = tmp_path_factory.mktemp("prefix")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    build = ["make", "-s", "-C", sources, f"PREFIX={prefix}", f"BUILD={prefix}/build", "-j2"]
    done = subprocess.run([*build, "install"], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return prefix / "lib" / "systemd" / "system"


def analyze(*words):
    return subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, timeout=60)


def test_systemd_takes_the_units(units, systemd):
    one = units / "mts-metrics@1.service"
    one.write_bytes((units / "mts-metrics@.service").read_bytes())
    done = analyze("verify", "--man=no", units / "mts-metrics.socket", one)
    assert (done.returncode, done.stderr) == (0, "")
    # Not vacuous: it does complain.
    one.write_text(one.read_text().replace("UMask=0077", "UMask=x\nNoSuchKey=1"))
    assert "NoSuchKey" in analyze("verify", "--man=no", one).stderr
    one.unlink()


def test_the_service_may_do_next_to_nothing(units, systemd):
    """The mark of systemd itself, from 10 down to 0; mts.service has 6.9."""
    one = units / "mts-metrics@2.service"
    one.write_bytes((units / "mts-metrics@.service").read_bytes())
    done = analyze("security", "--offline=yes", "--no-pager", "--threshold=20", one)
    assert done.returncode == 0, done.stdout
    one.write_text(one.read_text().replace("CapabilityBoundingSet=\n", ""))
    assert analyze("security", "--offline=yes", "--threshold=20", one).returncode
    one.unlink()


def test_only_this_host_can_ask(units):
    (address,) = re.findall(
        "^Listen.*=(.*)$", (units / "mts-metrics.socket").read_text(), re.MULTILINE
    )
    assert re.fullmatch(r"127\.0\.0\.1:\d+", address)


def test_silent_clients_leave_room(sources):
    """Fault: four of them kept all others out for 10 s, again and again."""
    text = (sources / "mts-metrics.socket").read_text()
    assert "\nMaxConnections=64\n" in text
    # What to do after the trigger limit stands where one looks for it.
    again = "systemctl reset-failed mts-metrics.socket"
    root = sources.parents[1]
    for file in ("docs/howto.md", "packaging/prometheus/mts.rules.yml"):
        assert again in (root / file).read_text(), file
    assert again in text
    assert again in (sources / "mtsctl.8").read_text().replace("\\-", "-")


def test_no_rule_makes_a_job_of_the_service(mtsctl, host, units):
    """Its answers would wait for its turn."""
    text = (units / "mts-metrics@.service").read_text()
    assert "\nSlice=system.slice\n" in text
    path = "/system.slice/mts-metrics@3-127.0.0.1:9843-127.0.0.1:40000.service"
    host.cgroup(path[1:], current=1)
    host.process(4711, path, "mtsctl")
    host.conf("[rule all]\ncgroup = system.slice/*.service\n")
    shown = mtsctl("rules", "explain", "4711", **host.fake)
    assert "a part of mts" in shown.out


@pytest.fixture
def port(mtsctl, units, systemd):
    it = MetricsPort(mtsctl, units)
    yield it
    it.close()


def test_the_port(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port.number}/metrics", timeout=30) as answer:
        assert answer.status == 200
        body = answer.read().decode()
    assert len([*text_string_to_metric_families(body)]) > 80
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(f"http://127.0.0.1:{port.number}/", timeout=30)
    assert error.value.code == 404


def test_a_silent_client_holds_up_no_other(port):
    silent = [socket.create_connection(("127.0.0.1", port.number)) for _ in range(20)]
    began = time.monotonic()
    with urllib.request.urlopen(f"http://127.0.0.1:{port.number}/metrics", timeout=30) as answer:
        assert answer.status == 200
    assert time.monotonic() - began < 8
    for client in silent:
        client.close()
