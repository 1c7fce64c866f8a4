# SPDX-License-Identifier: GPL-2.0
"""Help, bad usage, and what happens without the module or without root."""

import re
import subprocess

import pytest

from tests.packaging import versions

# What makes each command ask the device.
ASKING = {
    "run": ["--", "true"],
    "add": ["some"],
    "remove": ["alpha"],
    "pin": ["alpha"],
    "unpin": ["alpha"],
    "pause": ["alpha", "2s"],
    "weight": ["alpha", "200"],
    "status": [],
    "top": ["-b", "-n", "1", "-d", "10ms"],
    "why": ["77"],
    "plan": [],
    "set": ["mode=off"],
    "get": [],
    "stats": [],
    "watch": [],
    "thaw": [],
}
OTHERS = ["config", "rules", "hooks", "log", "stats", "monitor", "watch", "doctor", "thaw"]
COMMANDS = [*list(ASKING)[:-3], *OTHERS]


def test_table_is_complete(mtsctl):
    out = mtsctl("help").out
    assert re.findall(r"^  (\w+) ", out, re.M) == [*COMMANDS, "help"]
    assert mtsctl("--help").out == out


@pytest.mark.parametrize("command", COMMANDS)
def test_help(mtsctl, command):
    shown = mtsctl(command, "--help", scenario="absent")
    assert shown.status == 0
    assert shown.err == ""
    assert shown.out.startswith(f"Usage: mtsctl {command}")
    assert max(map(len, shown.out.splitlines())) <= 80
    assert mtsctl("help", command).out == shown.out
    assert mtsctl(command, "-h").out == shown.out


def test_no_command(mtsctl):
    shown = mtsctl()
    assert shown.status == 2
    assert "Usage: mtsctl COMMAND" in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("args", [["frobnicate"], ["help", "frobnicate"], [""], ["--frobnicate"]])
def test_unknown_command(mtsctl, args):
    shown = mtsctl(*args)
    assert shown.status == 2
    assert f"unknown command '{args[-1]}'" in shown.err


def test_version(mtsctl):
    assert mtsctl("--version").out == f"mtsctl {versions.source()}\n"
    assert mtsctl("--version").status == 0


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--frobnicate", "unknown option --frobnicate"),
        ("-x", "unknown option -x"),
        ("--help=now", "--help=now: the option takes no value"),
    ],
)
def test_unknown_option(mtsctl, command, option, message):
    shown = mtsctl(command, option)
    assert shown.status == (125 if command == "run" else 2)
    assert message in shown.err
    assert f"Try 'mtsctl {command} --help'" in shown.err


def test_unknown_short_option_after_a_long_one(mtsctl):
    assert "unknown option -x" in mtsctl("status", "--json", "-xz").err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["run"], "a command is missing"),
        (["run", "--name"], "--name needs a value"),
        (["run", "--name", "a b", "true"], "--name 'a b': a name is made of"),
        (["run", "--name", "12", "true"], "taken for an id"),
        (["run", "--name", "a", "--name", "b", "true"], "given twice"),
        (["run", "--max-pause", "2", "true"], "--max-pause 2: "),
        (["run", "--max-pause", "0.9s", "true"], "not between 1s and 24h"),
        (["add", "--max-pause", "25h", "a"], "not between 1s and 24h"),
        (["add", "--max-pause", "auto", "a"], "--max-pause auto: "),
        (
            ["pause", "alpha"],
            "name a job, by its name, its id or the path of its cgroup, and a time",
        ),
        (["pause", "alpha", "2"], "2: "),
        (["pause", "alpha", "100ms"], "100ms: not between 1s and 24h"),
        (["add"], "name one cgroup, one --pid, or one --container"),
        (["add", "a", "b"], "name one cgroup, one --pid, or one --container"),
        (["add", "a", "--pid", "1"], "name one cgroup, one --pid, or one --container"),
        (["add", "--pid", "x"], "--pid 'x': not a number"),
        (["add", "--pid", "1", "--pid", "2"], "given twice"),
        (["remove"], "name a job"),
        (["status", "alpha"], "unexpected 'alpha'"),
        (["why"], "name one process id"),
        (["why", "1", "2"], "name one process id"),
        (["why", "make"], "'make': not a number"),
        (["why", "-5"], "unknown option -5"),
        (["get", "mode"], "unexpected 'mode'"),
        (["stats", "x"], "unexpected 'x'"),
        (["stats", "--json", "--prometheus"], "--json, --prometheus or --http: one of them"),
        (["stats", "--http", "--prometheus"], "--json, --prometheus or --http: one of them"),
        (["stats", "--per-job"], "--per-job: only with --prometheus or --http"),
        (["stats", "--prometheus", "--per-job=0"], "--per-job 0: "),
        (["stats", "--prometheus", "--per-job=4097"], "--per-job 4097: "),
        (["stats", "--prometheus", "--per-job", "7"], "unexpected '7'"),
        (["monitor", "x"], "unexpected 'x'"),
        (["monitor", "--interval", "1ms"], "--interval 1ms: not between 10ms and 24h"),
        (["monitor", "--count", "0"], "--count 0: "),
        (["watch", "x"], "unexpected 'x'"),
        (["hooks"], "'': say list, test or watch"),
        (["hooks", "run"], "'run': say list, test or watch"),
        (["hooks", "test"], "name an event: begin, end, stop, wait or swap-full"),
        (["hooks", "test", "x"], "'x' is no event"),
        (["hooks", "test", "end", "y"], "unexpected 'y'"),
        (["hooks", "list", "x"], "unexpected 'x'"),
        (["hooks", "watch", "--json"], "--json is for list"),
        (["hooks", "test", "end", "--interval", "1s"], "--interval is for watch"),
        (["hooks", "watch", "--interval", "1ms"], "--interval 1ms: not between 10ms and 24h"),
        (["hooks", "list", "--file", "x"], "--file is for test and watch"),
        (["log", "x"], "unexpected 'x'"),
        (["log", "--since", "x"], "not a time"),
        (["doctor", "x"], "unexpected 'x'"),
        (["thaw", "alpha"], "not one job"),
    ],
)
def test_bad_usage(mtsctl, args, message):
    shown = mtsctl(*args)
    assert shown.status == (125 if args[0] == "run" else 2)
    assert message in shown.err
    assert shown.out == ""
    assert mtsctl.calls == []


@pytest.mark.parametrize("command", ASKING)
def test_without_module(mtsctl, host, command):
    host.process(77, "/some")
    shown = mtsctl(command, *ASKING[command], scenario="absent", **host.fake)
    assert shown.status == (125 if command == "run" else 3)
    assert "/dev/mts: no such device: is the module loaded?" in shown.err
    assert "modprobe mts" in shown.err


@pytest.mark.parametrize("command", ASKING)
def test_without_permission(mtsctl, host, command):
    host.process(77, "/some")
    shown = mtsctl(command, *ASKING[command], scenario="forbidden", **host.fake)
    assert shown.status == (125 if command == "run" else 4)
    assert "/dev/mts: permission denied: run as root" in shown.err


@pytest.mark.parametrize(
    ("args", "call"),
    [
        (["run", "--queue", "true"], "job_submit"),
        (["remove", "alpha"], "job_remove"),
        (["remove", "alpha"], "jobs"),
        (["pin", "alpha"], "job_set"),
        (["pause", "alpha", "2s"], "job_pause"),
        (["weight", "alpha", "200"], "job_weight"),
        (["weight", "--user", "0", "200"], "user_weight"),
        (["status"], "users"),
        (["status"], "status"),
        (["status"], "bins"),
        (["status"], "jobs"),
        (["top", "-b"], "stats"),
        (["top", "-b"], "config_get"),
        (["plan"], "stats"),
        (["set", "mode=off"], "config_set"),
        (["get"], "config_get"),
        (["stats"], "stats"),
        (["stats", "--prometheus"], "jobs"),
        (["thaw"], "thaw"),
    ],
)
@pytest.mark.parametrize(
    "failure",
    [(1, "run as root", 4), (25, "older than mtsctl", 1), (12, "Cannot allocate memory", 1)],
)
def test_failing_call(mtsctl, args, call, failure):
    errno, message, status = failure
    shown = mtsctl(*args, fail=f"{call}={errno}")
    assert shown.status == (125 if args[0] == "run" else status)
    assert message in shown.err
    assert shown.err.startswith(f"mtsctl: {args[0]}")


def test_real_program_without_module(built):
    """The real ipc.c; on a host with the module there is nothing to see here."""
    done = subprocess.run([built / "mtsctl", "get"], capture_output=True, text=True)
    assert done.returncode in (0, 3, 4)
    assert done.returncode == 0 or "/dev/mts" in done.stderr


def test_full_disk(mtsctl):
    done = mtsctl.to_full_disk("get")
    assert done.returncode == 1
    assert "standard output" in done.stderr


def test_man_page_names_everything(mtsctl, sources):
    all_of_it = (sources / "mtsctl.8").read_text().replace("\\-", "-")
    of_run = (sources / "mtsctl-run.1").read_text().replace("\\-", "-")
    for command in COMMANDS:
        assert f".SS mtsctl {command}" in all_of_it
        page = of_run if command == "run" else all_of_it
        for option in re.findall(r"^  (--[a-z-]+)", mtsctl(command, "--help").out, re.M):
            assert option in page, f"{command} {option}"
