# SPDX-License-Identifier: GPL-2.0
"""run: a job is made, and mtsctl becomes the command."""

import signal
import subprocess

import pytest

ENTER, EACH, PIN, LEAF = 1, 2, 4, 16
EEXIST = 17


def create(name, flags=ENTER, ret=0):
    return f"create name={name} flags={flags} ret={ret}"


@pytest.mark.parametrize("status", [0, 1, 3, 42, 255])
def test_exit_status(mtsctl, status):
    shown = mtsctl("run", "--", "sh", "-c", f"exit {status}")
    assert (shown.status, shown.out, shown.err) == (status, "", "")
    assert mtsctl.calls == [create("sh")]


def test_signal(mtsctl):
    assert mtsctl("run", "sh", "-c", "kill -TERM $$").status == -signal.SIGTERM


def test_same_process(mtsctl):
    process = subprocess.Popen(
        [mtsctl.program, "run", "sh", "-c", "echo $$"],
        env=mtsctl.environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    out, _ = process.communicate(timeout=60)
    assert int(out) == process.pid


def test_pipes(mtsctl):
    shown = mtsctl("run", "--", "tr", "a-z", "A-Z", text="through\n")
    assert shown.out == "THROUGH\n"


@pytest.mark.parametrize(
    ("args", "flags"),
    [
        ([], ENTER),
        (["--each"], ENTER | LEAF),
        (["--each=leaf"], ENTER | LEAF),
        (["--each=child"], ENTER | EACH),
        (["--each", "--each=child"], ENTER | EACH),
        (["--pin"], ENTER | PIN),
        (["--pin", "--each"], ENTER | LEAF | PIN),
    ],
)
def test_flags(mtsctl, args, flags):
    assert mtsctl("run", *args, "--", "true").status == 0
    assert mtsctl.calls == [create("true", flags)]


def test_each_how(mtsctl):
    shown = mtsctl("run", "--each=tree", "true")
    assert (shown.status, mtsctl.calls) == (125, [])
    assert "--each=tree: not one of leaf or child" in shown.err


def test_each_leaf_with_an_old_module(mtsctl):
    shown = mtsctl("run", "--each", "echo", "ran", abi=2)
    assert (shown.status, shown.out) == (125, "")
    assert "older than mtsctl" in shown.err
    assert mtsctl("run", "--each=child", "echo", "ran", abi=2).out == "ran\n"


def test_max_pause(mtsctl):
    assert mtsctl("run", "--max-pause", "2.5s", "true").status == 0
    assert mtsctl("run", "--max-pause", "off", "true").status == 0
    assert mtsctl.calls == [create("true") + " pause=2500000000", create("true")]


def test_max_pause_with_an_old_module(mtsctl):
    shown = mtsctl("run", "--max-pause", "2s", "echo", "ran", abi=1)
    assert (shown.status, shown.out) == (125, "")
    assert "older than mtsctl" in shown.err


def test_options_of_the_command(mtsctl):
    """What follows the command is the command's, with "--" and without."""
    for dashes in ([], ["--"]):
        assert mtsctl("run", *dashes, "echo", "--each", "--help").out == "--each --help\n"


def test_name(mtsctl):
    assert mtsctl("run", "--name", "my.job", "true").status == 0
    assert mtsctl.calls == [create("my.job")]


def test_derived_name(mtsctl, tmp_path):
    program = tmp_path / ".a b"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    assert mtsctl("run", str(program)).status == 0
    assert mtsctl.calls == [create("_.a_b")]


def test_derived_name_is_taken(mtsctl):
    assert mtsctl("run", "true", fail=f"job_create={EEXIST}*2").status == 0
    assert mtsctl.calls == [
        create("true", ret=-EEXIST),
        create("true-2", ret=-EEXIST),
        create("true-3"),
    ]


def test_every_derived_name_is_taken(mtsctl):
    shown = mtsctl("run", "true", fail=f"job_create={EEXIST}")
    assert shown.status == 125
    assert "choose another --name" in shown.err


@pytest.mark.parametrize(
    ("errno", "message"),
    [
        (EEXIST, "a job or a cgroup named 'mine' exists"),
        (22, "Invalid argument"),
        (28, "there are 4096 jobs already"),
        (19, "load the module again"),
        (16, "mtsctl runs as PID 1 of this host, which must never be frozen"),
        (95, "cannot catch the children"),
        (11, "pids.max"),
        (12, "Cannot allocate memory"),
        (1, "run as root"),
    ],
)
def test_failure_before_the_command(mtsctl, errno, message):
    shown = mtsctl("run", "--name", "mine", "echo", "ran", fail=f"job_create={errno}")
    assert shown.status == 125
    assert message in shown.err
    assert shown.out == ""
    assert len(mtsctl.calls) == 1


def test_not_found(mtsctl):
    shown = mtsctl("run", "no-such-command-anywhere")
    assert shown.status == 127
    assert shown.err == "mtsctl: run: no-such-command-anywhere: No such file or directory\n"


def test_not_executable(mtsctl, tmp_path):
    file = tmp_path / "file"
    file.write_text("data")
    shown = mtsctl("run", str(file))
    assert shown.status == 126
    assert "Permission denied" in shown.err
