# SPDX-License-Identifier: GPL-2.0
"""monitor: what it writes, when, what it costs, and how it ends."""

import csv
import io
import json
import os
import signal
import subprocess
import time
from itertools import pairwise

import pytest

from tests.mtsctl.conftest import BUILD, fill_output

COLUMNS = [
    "time_ns", "late_ns", "load", "mem_available", "swap_free", "pswpin", "pswpout",
    "pgmajfault", "bin", "frozen", "own_cpu_ns", "own_majflt", "own_minflt",
]  # fmt: skip
SECOND = 10**9


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def monitor(mtsctl, host):
    """As it is installed: the sanitizers lock no memory."""
    host.vitals(swap_free_kib=300, load="2.75", pswpin=7, pswpout=8, pgmajfault=9)

    def start(*args, program=BUILD / "mtsctl-plain/mtsctl-fake", **fake):
        return subprocess.Popen(
            [program, "monitor", *args],
            env=mtsctl.environment(**{**host.fake, **fake}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def finish(process):
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def test_csv(monitor):
    status, out, err = finish(monitor("--count", "3", "--interval", "20ms", scenario="rotating"))
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == ",".join(COLUMNS)
    assert len(rows(out)) == 3
    for row in rows(out):
        assert row["load"] == "2.75"
        assert row["mem_available"] == str(800 << 20)
        assert row["swap_free"] == str(300 << 10)
        assert (row["pswpin"], row["pswpout"], row["pgmajfault"]) == ("0", "0", "0")
        assert (row["bin"], row["frozen"]) == ("1", "5")
        assert abs(int(row["time_ns"]) - time.time_ns()) < 600 * SECOND


def test_json(monitor):
    process = monitor("--json", "--count", "2", "--interval", "0.02", scenario="idle")
    status, out, _ = finish(process)
    assert status == 0
    lines = [json.loads(line) for line in out.splitlines()]
    assert len(lines) == 2
    for line in lines:
        assert list(line) == ["schema_version", *COLUMNS]
        assert line["load"] == 2.75
        assert (line["bin"], line["frozen"]) == (None, 0)


def test_differences(monitor, host):
    process = monitor("--interval", "0.5", "--count", "2")
    process.stdout.readline()
    process.stdout.readline()
    # In place, as procfs has it: the file stays open.
    host.vitals(swap_free_kib=300, pswpin=107, pswpout=208, pgmajfault=309)
    status, out, _ = finish(process)
    assert status == 0
    assert out.splitlines()[-1].split(",")[5:8] == ["100", "200", "300"]


def test_without_the_module(monitor):
    status, out, err = finish(monitor("--count", "4", "--interval", "10ms", scenario="absent"))
    assert status == 0
    assert err.count("\n") == 1
    assert "/dev/mts: No such file or directory: fields of the module stay empty" in err
    assert [(row["bin"], row["frozen"]) for row in rows(out)] == [("", "")] * 4


def test_module_comes_and_goes(monitor):
    process = monitor("--count", "6", "--interval", "10ms", fail="open=2+4")
    status, out, err = finish(process)
    assert status == 0
    assert err.count("\n") == 1
    # Two looks are taken before the first line.
    assert [row["frozen"] for row in rows(out)] == ["0", "0", "", "", "", ""]


def test_deadlines_do_not_drift(monitor):
    interval = SECOND // 50
    status, out, _ = finish(monitor("--count", "100", "--interval", "20ms"))
    assert status == 0
    deadlines = [int(row["time_ns"]) - int(row["late_ns"]) for row in rows(out)]
    steps = [(d - deadlines[0]) / interval for d in deadlines]
    assert max(abs(step - round(step)) for step in steps) < 0.25
    # Missed lines are left out.
    assert all(round(b) > round(a) for a, b in pairwise(steps))


def test_it_touches_nothing_new(monitor):
    """Constant and reflective: no fault of its own after the start, and next to no time."""
    status, out, _ = finish(monitor("--count", "200", "--interval", "10ms", scenario="rotating"))
    assert status == 0
    assert [row["own_majflt"] for row in rows(out)] == ["0"] * 200
    assert [row["own_minflt"] for row in rows(out)[1:]] == ["0"] * 199
    assert sum(int(row["own_cpu_ns"]) for row in rows(out)) / 200 < SECOND / 200


def test_memory_is_locked(monitor):
    process = monitor("--interval", "20ms")
    process.stdout.readline()
    process.stdout.readline()
    with open(f"/proc/{process.pid}/status") as file:
        status = dict(line.split(":", 1) for line in file)
    locked, size = (int(status[field].split()[0]) for field in ("VmLck", "VmSize"))
    process.terminate()
    finish(process)
    if os.geteuid():
        pytest.skip("an ordinary user may lock little")
    assert locked > size * 0.9


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_between_lines(monitor, number):
    process = monitor("--interval", "20ms")
    process.stdout.readline()
    process.stdout.readline()
    process.send_signal(number)
    status, out, err = finish(process)
    assert (status, err) == (0, "")
    assert all(line.count(",") == len(COLUMNS) - 1 for line in out.splitlines())


def test_signal_while_nobody_reads(monitor):
    process = monitor("--interval", "10ms")
    process.stdout.readline()  # so it has begun, and heeds signals
    os.set_blocking(process.stdout.fileno(), False)
    fill_output(process)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 0
    process.stdout.close()
    process.stderr.close()


def test_full_disk(mtsctl):
    done = mtsctl.to_full_disk("monitor", "--interval", "10ms")
    assert done.returncode == 1
    assert "standard output: No space left on device" in done.stderr


def test_no_proc(mtsctl, tmp_path):
    shown = mtsctl("monitor", "--count", "1", proc=tmp_path / "none")
    assert shown.status == 1
    assert "monitor: /proc: No such file or directory" in shown.err


def test_with_sanitizers(mtsctl):
    shown = mtsctl("monitor", "--count", "3", "--interval", "10ms", scenario="rotating")
    assert shown.status == 0
    assert len(rows(shown.out)) == 3
