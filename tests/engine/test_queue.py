# SPDX-License-Identifier: GPL-2.0
"""The queue of mtsd, on this host: jobs are held before they begin, and not for too long."""

import json
import signal
import time

import pytest

from tests.engine.engine import TOUCHER, until

SIZE = ("--queue", "--size", "100M")


@pytest.fixture
def queue(engine):
    """One job that has 100 of 150 MiB."""
    engine.start("mode=auto", f"bin_bytes={150 << 20}")
    engine.touch("first", 100)
    assert until(lambda: engine.is_full("first"), 60), engine.report()
    return engine


def job(engine, name):
    jobs = json.loads(engine.mtsctl("status", "--json", check=True).stdout)["jobs"]
    return next((j for j in jobs if j["name"] == name), None)


def hold(engine, name, *words):
    """A job that would write to its memory, in the queue."""
    held = engine.run("--name", name, *SIZE, *words, TOUCHER, 100, engine.counter(name))
    assert until(
        lambda: (j := job(engine, name)) and j["state"] == "queued" and j["queue"]["place"]
    )
    assert until(lambda: name in engine.frozen())
    time.sleep(1.5)
    assert not engine.counter(name).exists(), engine.report()
    return held


def begins(engine, name, limit):
    return until(lambda: engine.pages(name), limit)


def test_it_begins_when_there_is_room(queue):
    hold(queue, "held")
    shown = job(queue, "held")
    assert (shown["size"], shown["size_from"], shown["frozen_for_ns"]) == (100 << 20, "given", None)
    assert shown["resident"] < 8 << 20
    status = queue.mtsctl("status", check=True).stdout
    assert "0 of them frozen now, 1 in the queue" in status
    queue.jobs[0].kill()
    assert begins(queue, "held", 5), queue.report()
    assert job(queue, "held")["queued_ns"] > 10**9
    assert job(queue, "held")["frozen_total_ns"] == 0


def test_one_after_the_other(queue):
    """The oldest first; no page is moved."""
    for i in range(3):
        hold(queue, f"held{i}")
    assert [job(queue, f"held{i}")["queue"]["place"] for i in range(3)] == [1, 2, 3]
    for i in range(3):
        queue.jobs[i].kill()
        assert begins(queue, f"held{i}", 5), queue.report()
        assert [job(queue, f"held{k}")["state"] for k in range(i + 1, 3)] == ["queued"] * (2 - i)
    stats = json.loads(queue.mtsctl("stats", "--json", check=True).stdout)
    assert (stats["queue_starts"], stats["evict_got"], stats["freezes"]) == (3, 0, 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_leave_the_queue(queue, number):
    held = hold(queue, "held")
    held.send_signal(number)
    assert held.wait(2) == -number
    assert until(lambda: not job(queue, "held"))
    assert not queue.counter("held").exists()


def test_it_begins_after_its_longest_wait(queue):
    """By the clock of mtsd: on a busy host the job is seen in the queue late, or not at all."""
    queue.run("--name", "held", *SIZE, "--max-wait", "4s", TOUCHER, 100, queue.counter("held"))
    assert begins(queue, "held", 60), queue.report()
    assert 3.5 < job(queue, "held")["queued_ns"] / 10**9 < 8


@pytest.mark.parametrize("words", [("thaw",), ("set", "mode=off"), ("pin", "held")])
def test_a_command_starts_it(queue, words):
    hold(queue, "held")
    queue.mtsctl(*words, check=True)
    assert begins(queue, "held", 5), queue.report()


def test_it_begins_when_mtsd_ends(queue):
    hold(queue, "held")
    queue.stop()
    assert begins(queue, "held", 2)


def test_it_begins_when_mtsd_is_killed(queue):
    hold(queue, "held")
    queue.stop(signal.SIGKILL)
    assert begins(queue, "held", 2)


def test_what_a_command_needed_is_remembered(engine):
    engine.start("mode=auto", f"bin_bytes={150 << 20}")
    command = (TOUCHER, 60, engine.counter("once"))
    run = engine.run("--name", "once", *command)
    assert until(lambda: engine.is_full("once"), 60)
    assert job(engine, "once")["size_from"] == "unknown"
    run.kill()
    assert until(lambda: not job(engine, "once"))
    engine.run("--name", "again", *command)
    assert until(lambda: job(engine, "again"))
    shown = job(engine, "again")
    assert shown["size_from"] == "command"
    assert 60 << 20 <= shown["size"] < 70 << 20
