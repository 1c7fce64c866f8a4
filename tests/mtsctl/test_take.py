# SPDX-License-Identifier: GPL-2.0
"""`mtsctl add --pid` where mtsd answers, which makes a job of a process alone."""

import json

import pytest


def test_mtsd_adds_a_process_alone(mtsctl, host):
    host.cgroup("jobs/one")
    host.process(100, "/jobs/one")
    host.process(101, "/jobs/one")
    shown = mtsctl("add", "--pin", "--max-pause", "2s", "--pid", "100", takes=1, **host.fake)
    assert (shown.status, shown.out) == (0, "process 100 is job 7, worker-100\n")
    assert mtsctl.calls == ["take pid=100 flags=4 pause=2000000000"]
    # The whole cgroup, as with the module.
    assert mtsctl("add", "--yes", "--pid", "100", takes=1, **host.fake).status == 0
    assert mtsctl.calls[1:] == ["add flags=0 fd=open"]


def test_json_of_a_process_alone(mtsctl, host):
    host.cgroup("jobs/one")
    host.process(100, "/jobs/one")
    host.process(101, "/jobs/one")
    shown = mtsctl("add", "--json", "--pid", "100", takes=1, **host.fake)
    assert json.loads(shown.out) == {
        "schema_version": 1,
        "id": 7,
        "cgroup": None,
        "pid": 100,
        "container": None,
    }


def test_mtsd_adds_a_process_of_the_root_cgroup(mtsctl, host):
    host.process(2, "/", comm="kthreadd", flags=0x00208040)
    host.process(3, "/")
    assert mtsctl("add", "--pid", "3", takes=1, **host.fake).status == 0
    assert mtsctl.calls == ["take pid=3 flags=0"]
    assert "the kernel's threads" in mtsctl("add", "--pid", "2", takes=1, **host.fake).err


@pytest.mark.parametrize(
    ("error", "message", "status"),
    [
        (3, "has ended", 1),
        (16, "must never be frozen", 1),
        (13, "delegated", 4),
        (17, "is a job, or lies below one", 1),
        (95, "threaded", 1),
        (28, "no room", 1),
        (22, "Invalid argument", 1),
    ],
)
def test_mtsd_refuses_a_process(mtsctl, host, error, message, status):
    host.process(3, "/")
    shown = mtsctl("add", "--pid", "3", takes=1, fail=f"job_take={error}", **host.fake)
    assert shown.status == status
    assert message in shown.err
    assert not shown.out
