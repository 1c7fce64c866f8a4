# SPDX-License-Identifier: GPL-2.0
"""run: a job is made, and mtsctl becomes the command."""

import grp
import os
import pwd
import signal
import subprocess

import pytest

ENTER, EACH, PIN, LEAF, QUEUE = 1, 2, 4, 16, 32
EEXIST = 17


def create(name, flags=ENTER, ret=0):
    return f"submit name={name} flags={flags} ret={ret}"


@pytest.mark.parametrize("status", [0, 1, 3, 42, 255])
def test_exit_status(mtsctl, status):
    shown = mtsctl("run", "--", "sh", "-c", f"exit {status}")
    assert (shown.status, shown.out, shown.err) == (status, "", "")
    assert mtsctl.calls == [create("sh")]


SUDO = {"SUDO_UID": "65534", "SUDO_GID": "65534", "SUDO_USER": "nobody"}
COMMAND = "/usr/sbin/mtsctl run id"
SHOW = ("sh", "-c", 'id -u; id -g; id -G; echo "$USER $LOGNAME"; test "$HOME" != /root')


@pytest.fixture
def by_sudo(mtsctl, monkeypatch):
    """Run, with what sudo puts into the environment."""
    if os.geteuid():
        pytest.skip("needs root, as sudo does")

    def run(*words, command=COMMAND, **more):
        for name, value in {**SUDO, "SUDO_COMMAND": command, "HOME": "/root", **more}.items():
            monkeypatch.setenv(name, value)
        return mtsctl("run", *words)

    return run


def test_by_sudo_the_command_is_not_root(by_sudo):
    """It is who called sudo, in all respects, and cannot go back."""
    shown = by_sudo("--", *SHOW)
    group = str(grp.getgrgid(pwd.getpwuid(65534).pw_gid).gr_gid)
    assert shown.status == 0, shown.err
    assert shown.out.split() == ["65534", group, group, "nobody", "nobody"]
    shown = by_sudo("--", "grep", "-E", "^(Uid|Gid|CapEff)", "/proc/self/status")
    uid, gid, capabilities = shown.out.splitlines()
    assert uid.split()[1:] == ["65534"] * 4
    assert gid.split()[1:] == [group] * 4
    assert int(capabilities.split()[1], 16) == 0


def test_by_sudo_the_job_is_the_users(by_sudo, mtsctl):
    assert by_sudo("--", "true").status == 0
    assert mtsctl.calls == [create("true") + " user=65534"]
    assert by_sudo("--as-root", "--", "true").status == 0
    assert mtsctl.calls[1:] == [create("true")]


def test_by_sudo_with_an_old_module(mtsctl, monkeypatch):
    """One that makes jobs, but does not know whose they are."""
    monkeypatch.setenv("SUDO_UID", "65534")
    monkeypatch.setenv("SUDO_COMMAND", COMMAND)
    assert mtsctl("run", "--", "true", abi=3).status == 0
    assert mtsctl.calls == ["create name=true flags=1 ret=0"]


@pytest.mark.parametrize(
    ("words", "more"),
    [
        (["--as-root"], {}),
        # A root shell that sudo has started, or another command of it.
        ([], {"command": "/bin/bash"}),
        ([], {"command": "/usr/bin/env mtsctl run id"}),
        ([], {"command": "/opt/notmtsctl run id"}),
        ([], {"SUDO_UID": "0"}),
        ([], {"SUDO_UID": "-1"}),
        ([], {"SUDO_UID": "65534x"}),
    ],
)
def test_root_stays_root(by_sudo, words, more):
    shown = by_sudo(*words, "--", "id", "-u", **more)
    assert (shown.status, shown.out) == (0, "0\n")


def test_an_unknown_user_of_sudo(by_sudo):
    shown = by_sudo("--", "id", "-u", SUDO_UID="3999999999")
    assert (shown.status, shown.out) == (125, "")
    assert "--as-root" in shown.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--each"], "no systemd manager of this user"),
        (["--queue"], "no systemd manager of this user"),
        (["--here"], "cannot be a job"),
        ([], "no systemd manager of this user"),
    ],
)
def test_without_root(mtsctl, monkeypatch, words, says):
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/nonexistent")
    shown = mtsctl("run", *words, "true", user="member")
    assert (shown.status, shown.out) == (125, "")
    assert says in shown.err
    assert mtsctl.calls == []


def test_here_is_for_users(mtsctl):
    shown = mtsctl("run", "--here", "true")
    assert shown.status == 125
    assert "only for users" in shown.err


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


def test_queue(mtsctl):
    assert mtsctl("run", "--queue", "true").status == 0
    assert mtsctl("run", "--queue", "--size", "6G", "--max-wait", "2h", "true").status == 0
    assert mtsctl("run", "--size", "1.5G", "true").status == 0
    assert mtsctl.calls == [
        create("true", ENTER | QUEUE),
        create("true", ENTER | QUEUE),
        f"size={6 << 30} wait={7200 * 10**9}",
        create("true"),
        f"size={3 << 29} wait=0",
    ]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--queue", "--pin"], "a pinned job is never held"),
        (["--size", "6"], "not between 1M and 1P"),
        (["--size", "6GB"], "decimal units"),
        (["--max-wait", "10"], "the unit is missing"),
        (["--max-wait", "0s"], "not between 1s and 720h"),
        (["--max-wait", "721h"], "not between 1s and 720h"),
    ],
)
def test_queue_refuses(mtsctl, args, message):
    shown = mtsctl("run", *args, "--", "echo", "ran")
    assert (shown.status, shown.out, mtsctl.calls) == (125, "", [])
    assert message in shown.err


@pytest.mark.parametrize("args", [["--queue"], ["--size", "6G"], ["--max-wait", "1h"]])
def test_queue_with_an_old_module(mtsctl, args):
    shown = mtsctl("run", *args, "echo", "ran", abi=3)
    assert (shown.status, shown.out, mtsctl.calls) == (125, "", [])
    assert "older than mtsctl" in shown.err
    assert mtsctl("run", "echo", "ran", abi=3).out == "ran\n"
    assert mtsctl.calls == ["create name=echo flags=1 ret=0"]


def submitted(mtsctl, path, *args, **how):
    """Run it. Return: the number of the command, and whether it has no terminal."""
    env = mtsctl.environment(commands=path)
    subprocess.run([mtsctl.program, "run", *args], env=env, check=True, timeout=60, **how)
    number, batch = path.read_text().splitlines()[-1].split()
    return int(number), batch == "1"


def test_the_same_command_has_the_same_number(mtsctl, tmp_path):
    numbers = [
        submitted(mtsctl, tmp_path / "commands", *words)[0]
        for words in (["true", "a", "b"], ["--queue", "true", "a", "b"], ["true", "ab"], ["true"])
    ]
    assert numbers[0] == numbers[1]
    assert len(set(numbers)) == 3
    assert 0 not in numbers


def test_a_terminal_is_seen(mtsctl, tmp_path):
    nothing = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
        "start_new_session": True,
    }
    assert submitted(mtsctl, tmp_path / "commands", "true", **nothing)[1]
    master, terminal = os.openpty()
    try:
        for file in ("stdin", "stdout", "stderr"):
            how = {**nothing, file: terminal}
            assert not submitted(mtsctl, tmp_path / "commands", "true", **how)[1], file
    finally:
        os.close(master)
        os.close(terminal)


def test_a_person_is_told_of_the_queue(mtsctl):
    master, terminal = os.openpty()
    subprocess.run(
        [mtsctl.program, "run", "--queue", "true"],
        env=mtsctl.environment(),
        check=True,
        stderr=terminal,
        timeout=60,
    )
    os.close(terminal)
    told = os.read(master, 4096).decode()
    os.close(master)
    assert "mtsctl: run: starts when its memory is free" in told


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
    assert mtsctl("run", "true", fail=f"job_submit={EEXIST}*2").status == 0
    assert mtsctl.calls == [
        create("true", ret=-EEXIST),
        create("true-2", ret=-EEXIST),
        create("true-3"),
    ]


def test_every_derived_name_is_taken(mtsctl):
    shown = mtsctl("run", "true", fail=f"job_submit={EEXIST}")
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
    shown = mtsctl("run", "--name", "mine", "echo", "ran", fail=f"job_submit={errno}")
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
