# SPDX-License-Identifier: GPL-2.0
"""mtsctl hooks: which programs run, with what, how often, and for how long."""

import errno
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.mtsctl.test_schema import check

PATIENCE = 20  # seconds, on a busy host
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="gives a file to another user")
EVENTS = ["begin", "end", "stop", "wait", "swap-full"]
# Writes its environment and its standard input, an event in three lines.
RECORD = """#!/bin/sh
{ env | grep ^MTS_ | grep -v ^MTS_FAKE | sort | tr '\\n' '\\t'; echo; cat; echo "$0"; } >>%s
"""


@pytest.fixture
def events(host, tmp_path):
    """Of the hook `record`, which is installed: variables, JSON and path of each event."""
    path = tmp_path / "events"
    hook(host, "record", RECORD % path)

    def read():
        lines = path.read_text().splitlines() if path.exists() else []
        found = []
        # The last one may be half written.
        for text, given, name in zip(*[iter(lines)] * 3, strict=False):
            variables = dict(word.split("=", 1) for word in text.split("\t") if word)
            found.append((variables, json.loads(given), name))
        return found

    return read


def hook(host, name, text, mode=0o755):
    """Is installed."""
    folder = host.etc / "hooks.d"
    folder.mkdir(parents=True, exist_ok=True)
    host.etc.chmod(0o755)
    folder.chmod(0o755)
    path = folder / name
    path.write_text(text)
    path.chmod(mode)
    return path


class Watch:
    """hooks watch, beside a module whose state the tests write."""

    def __init__(self, mtsctl, host, *args, now="idle begins=0", **fake):
        self.now = host.proc.parent / "now"
        self.set(now)
        self.process = subprocess.Popen(
            [mtsctl.program, "hooks", "watch", "--interval", "30ms", *args],
            env=mtsctl.environment(**host.fake, now=self.now, **fake),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines = []
        self.read_to("watching")

    def set(self, now):
        """At once, for a reader that comes at any time."""
        fresh = self.now.with_suffix(".new")
        fresh.write_text(now)
        fresh.rename(self.now)

    def read_to(self, text):
        """It is killed if the line does not come."""
        limit = threading.Timer(PATIENCE, self.process.kill)
        limit.start()
        try:
            for line in self.process.stdout:
                self.lines.append(line)
                assert "Sanitizer" not in line, line + self.process.stdout.read()
                if text in line:
                    return
        finally:
            limit.cancel()
        raise AssertionError(f"no '{text}' in {self.lines}")

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        rest = self.process.communicate(timeout=PATIENCE)[0]
        assert "Sanitizer" not in rest, rest
        self.lines += rest.splitlines(keepends=True)
        return self.process.returncode

    def said(self, event):
        return [line for line in self.lines if line.startswith(f"mtsctl: {event}: ")]


@pytest.fixture
def watch(mtsctl, host):
    begun = []

    def begin(*args, vitals=True, **fake):
        if vitals:
            host.vitals()
        begun.append(Watch(mtsctl, host, *args, **fake))
        return begun[-1]

    yield begin
    for one in begun:
        one.process.kill()
        one.process.wait()
        one.process.stdout.close()


def until(condition, what):
    """Wait for it."""
    ends = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < ends, what
        time.sleep(0.02)
    return value


# ---- which programs run ----------------------------------------------------------------------


def test_no_hooks(mtsctl, host):
    shown = mtsctl("hooks", "list", **host.fake)
    assert (shown.status, shown.err) == (0, "")
    assert shown.out == f"no hooks: there is none in {host.etc}/hooks.d\n"
    shown = mtsctl("hooks", "test", "begin", **host.fake)
    assert (shown.status, shown.out) == (0, "no hook has run: see mtsctl hooks list\n")


def test_a_hook_has_no_terminal(mtsctl, host, tmp_path):
    """Fault: what a hook runs as another user could type commands at that of root (TIOCSTI)."""
    said = tmp_path / "said"
    hook(
        host, "ask", f"#!/bin/sh\n(: </dev/tty) 2>/dev/null && echo tty >>{said}; echo ran >>{said}"
    )
    mtsctl.at_terminal("hooks", "test", "stop", **host.fake)
    assert said.read_text() == "ran\n"


def test_names_and_order_are_those_of_run_parts(mtsctl, host, tmp_path):
    """run-parts(8) itself says which, and in which order."""
    for name in ["b", "a", "B", "10-x", "9_y", "no.sh", "x~", "x.dpkg-old", "#a#", "sp ace", ".h"]:
        hook(host, name, "#!/bin/sh\nbasename $0\n")
    hook(host, "plain", "#!/bin/sh\n", mode=0o644)
    (host.etc / "hooks.d/folder").mkdir()
    (host.etc / "hooks.d/nowhere").symlink_to(tmp_path / "nothing")
    env = {**os.environ, "LC_ALL": "C"}
    wanted = subprocess.run(
        ["run-parts", host.etc / "hooks.d"], env=env, capture_output=True, text=True
    ).stdout.split()
    assert wanted == ["10-x", "9_y", "B", "a", "b"]
    shown = mtsctl("hooks", "test", "begin", **host.fake)
    assert (shown.status, shown.err) == (0, "")
    assert [line for line in shown.out.splitlines() if ":" not in line] == wanted
    listed = json.loads(mtsctl("hooks", "list", "--json", **host.fake).out)
    check("hooks", listed)
    assert listed["folder"] == f"{host.etc}/hooks.d"
    found = {one["name"]: one["verdict"] for one in listed["hooks"]}
    assert [name for name in found if found[name] == "runs"] == wanted
    assert {found[name] for name in ("no.sh", "x~", "plain", "folder", "nowhere")} == {"ignored"}
    reasons = mtsctl("hooks", "list", **host.fake).out
    assert "ignored  plain: not executable\n" in reasons
    assert "ignored  no.sh: its name has more than letters, digits, - and _\n" in reasons


def refused(mtsctl, host, message):
    """`list` says so, and it does not run; the other one does."""
    hook(host, "good", "#!/bin/sh\necho good\n")
    shown = mtsctl("hooks", "list", **host.fake)
    assert shown.status == 1
    assert re.search(rf"^refused  bad: {message}", shown.out, re.M), shown.out
    assert "runs     good\n" in shown.out
    shown = mtsctl("hooks", "test", "stop", **host.fake)
    assert (shown.status, shown.out.splitlines()[0]) == (1, "good")
    assert f"hooks: {host.etc}/hooks.d/bad is refused: " in shown.err
    assert "BAD" not in shown.out


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757])
def test_a_file_that_others_can_write(mtsctl, host, mode):
    hook(host, "bad", "#!/bin/sh\necho BAD\n", mode)
    refused(mtsctl, host, r"users other than its owner can write it \(mode 07")


@ROOT
def test_a_file_of_another_user(mtsctl, host):
    os.chown(hook(host, "bad", "#!/bin/sh\necho BAD\n"), 1234, 0)
    refused(mtsctl, host, "it belongs to user 1234, not to root")


def test_a_link_to_where_others_can_write(mtsctl, host, tmp_path):
    """They could put another file there."""
    away = tmp_path / "away"
    away.mkdir()
    away.chmod(0o777)
    hook(host, "good", "#!/bin/sh\necho BAD\n").rename(away / "x")
    (host.etc / "hooks.d/bad").symlink_to(away / "x")
    refused(mtsctl, host, "users other than root can write the directory ")
    away.chmod(0o755)
    assert mtsctl("hooks", "list", **host.fake).status == 0


@pytest.mark.parametrize("owner", [0, pytest.param(1234, marks=ROOT)])
@pytest.mark.parametrize("relative", [False, True])
def test_a_link_through_a_folder_of_others(mtsctl, host, tmp_path, owner, relative):
    """Fault: where it ends was checked, and not the folder of the second link."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    ours.mkdir(mode=0o755)
    hook(host, "good", "#!/bin/sh\necho BAD\n").rename(ours / "x")
    (theirs / "link").symlink_to("../ours/x" if relative else ours / "x")
    (host.etc / "hooks.d/bad").symlink_to(theirs / "link")
    if owner:
        os.chown(theirs, owner, owner)
    else:
        theirs.chmod(0o777)
    refused(mtsctl, host, f"users other than root can write the directory {theirs}")
    os.chown(theirs, os.geteuid(), -1)
    theirs.chmod(0o755)
    shown = mtsctl("hooks", "test", "stop", **host.fake)
    assert (shown.status, shown.out.splitlines()[0]) == (0, "BAD")


@ROOT
def test_a_link_of_another_user(mtsctl, host, tmp_path):
    """In a folder as /tmp, where others cannot replace files of root."""
    sticky = tmp_path / "sticky"
    sticky.mkdir()
    sticky.chmod(0o1777)
    hook(host, "good", "#!/bin/sh\necho BAD\n").rename(tmp_path / "x")
    (sticky / "link").symlink_to(tmp_path / "x")
    os.chown(sticky / "link", 1234, -1, follow_symlinks=False)
    (host.etc / "hooks.d/bad").symlink_to(sticky / "link")
    refused(mtsctl, host, "the link .* belongs to user 1234")


def test_links_that_run(mtsctl, host, tmp_path):
    """Relative ones, links of links, and folders that are links."""
    (tmp_path / "real").mkdir(mode=0o755)
    hook(host, "x", "#!/bin/sh\necho $1 ran\n").rename(tmp_path / "real/x")
    (tmp_path / "folder").symlink_to("real/.//")
    (tmp_path / "again").symlink_to("folder/../real/x")
    folder = host.etc / "hooks.d"
    (folder / "a").symlink_to(os.path.relpath(tmp_path / "again", folder))
    (folder / "b").symlink_to("/" + "../" * 3 + str(tmp_path / "folder/x"))
    (folder / "loop").symlink_to("loop")
    shown = mtsctl("hooks", "test", "stop", **host.fake)
    assert (shown.status, shown.err) == (0, "")
    assert [line.split()[0] for line in shown.out.splitlines()] == ["ran", "a:", "ran", "b:"]


def test_a_hook_is_checked_just_before_it_runs(mtsctl, host):
    hook(host, "a", f"#!/bin/sh\nchmod 777 {host.etc}/hooks.d/b\n")
    hook(host, "b", "#!/bin/sh\necho BAD\n")
    shown = mtsctl("hooks", "test", "stop", **host.fake)
    assert shown.status == 1
    assert "hooks.d/b is refused: users other than its owner can write it" in shown.err
    assert "BAD" not in shown.out


@pytest.mark.parametrize("place", ["hooks.d", "."])
def test_a_folder_that_others_can_write(mtsctl, host, place):
    hook(host, "a", "#!/bin/sh\necho BAD\n")
    (host.etc / place).chmod(0o777)
    for args in (["list"], ["test", "end"]):
        shown = mtsctl("hooks", *args, **host.fake)
        assert shown.status != 0
        assert "chmod go-w it" in shown.err
        assert "BAD" not in shown.out


# ---- what a hook gets ------------------------------------------------------------------------


@pytest.mark.parametrize("event", EVENTS)
def test_an_example_of_each_event(mtsctl, host, events, event):
    """The variables and the JSON say the same."""
    shown = mtsctl("hooks", "test", event, **host.fake)
    assert (shown.status, shown.err) == (0, "")
    assert re.fullmatch(r"record: done in .*\n", shown.out)
    ((variables, given, path),) = events()
    assert path == f"{host.etc}/hooks.d/record"
    assert variables["MTS_EVENT"] == event
    assert variables == {f"MTS_{key.upper()}": str(value) for key, value in given.items()}
    assert given["test"] == 1
    assert given["message"]
    # In nanoseconds since 1970, of now.
    assert abs(given["time_ns"] / 1e9 - time.time()) < 3600


def test_the_environment_of_mtsctl_is_kept(mtsctl, host, events, monkeypatch):
    """What is set for hooks, and not what was set for another event."""
    monkeypatch.setenv("MTS_MAIL_TO", "the-admin")
    monkeypatch.setenv("MTS_REASON", "none of this")
    mtsctl("hooks", "test", "stop", **host.fake)
    ((variables, _, _),) = events()
    assert (variables["MTS_MAIL_TO"], variables["MTS_REASON"]) == ("the-admin", "oom")


def test_the_reference_names_every_field(mtsctl, host, events, sources):
    """docs/reference.md, and mtsctl.8."""
    for event in EVENTS:
        mtsctl("hooks", "test", event, **host.fake)
    fields = {key for _, given, _ in events() for key in given} | {"times", "merged", "cgroup_id"}
    reference = (sources.parents[1] / "docs/reference.md").read_text()
    page = (sources / "mtsctl.8").read_text().replace("\\-", "-")
    for field in fields:
        assert f"`MTS_{field.upper()}`" in reference, field
        assert re.search(rf"\bMTS_{field.upper()}\b", page), field
    for event in EVENTS:
        assert f"`{event}`" in reference
        assert re.search(rf"^\.BR? {event}\b", page, re.M), event


# ---- how it runs -----------------------------------------------------------------------------


def test_failures_are_told(mtsctl, host):
    hook(host, "a", "#!/bin/sh\nexit 3\n")
    hook(host, "b", "#!/bin/sh\nkill -SEGV $$\n")
    hook(host, "c", "no shebang\n")
    hook(host, "d", "#!/nonexistent\n")
    hook(host, "e", "#!/bin/sh\necho said; echo complained >&2\n")
    shown = mtsctl("hooks", "test", "begin", **host.fake)
    assert shown.status == 1
    assert "hooks: a (begin) failed with status 3\n" in shown.err
    assert "hooks: b (begin) was ended by signal 11 " in shown.err
    assert "hooks: c cannot be executed: Exec format error (does it begin with #!?)" in shown.err
    assert "hooks: d cannot be executed: No such file" in shown.err
    assert "complained\n" in shown.err
    assert shown.out.startswith("said\ne: done in ")


@pytest.mark.parametrize("stubborn", ["", "trap '' TERM; "])
def test_the_time_limit(mtsctl, host, tmp_path, stubborn):
    """It and its children are ended, and the next one runs."""
    pids = tmp_path / "pids"
    hook(
        host,
        "a",
        f"#!/bin/bash\n{stubborn}sleep 1000 & echo $$ $! >{pids}\n"
        "while true; do sleep 1000; done\n",
    )
    hook(host, "b", "#!/bin/sh\necho after\n")
    host.conf("[hooks]\ntimeout = 500ms\n")
    began = time.monotonic()
    shown = mtsctl("hooks", "test", "begin", **host.fake)
    took = time.monotonic() - began
    assert shown.status == 1
    assert "hooks: a (begin) took longer than 500 ms and was ended\n" in shown.err
    assert "after\n" in shown.out
    assert took < PATIENCE
    assert not stubborn or took > 2
    for pid in pids.read_text().split():
        until(lambda pid=pid: not Path(f"/proc/{pid}").exists(), f"{pid} runs on")


def test_what_a_hook_leaves_behind_ends_with_it(mtsctl, host, tmp_path):
    left = tmp_path / "left"
    hook(host, "a", f"#!/bin/sh\nsleep 1000 &\necho $! >{left}\n")
    assert mtsctl("hooks", "test", "begin", **host.fake).status == 0
    pid = left.read_text().strip()
    until(lambda: not Path(f"/proc/{pid}").exists(), "it runs on")


def test_a_hook_is_an_ordinary_process(mtsctl, host):
    """No signal is blocked or ignored, no file is open but the three, and it is not real-time."""
    hook(
        host,
        "a",
        "#!/bin/sh\ngrep -E 'Sig(Blk|Ign)' /proc/self/status\nls /proc/self/fd\n"
        "pwd\numask\ncat /proc/self/oom_score_adj\nchrt -p $$\n",
    )
    shown = mtsctl("hooks", "test", "begin", **host.fake)
    lines = shown.out.splitlines()
    # Signals 32 and 33 are the C library's own: it changes nothing about how they are inherited.
    assert [int(line.split()[1], 16) & ~(3 << 31) for line in lines[:2]] == [0, 0]
    # ls has the folder open, too.
    assert lines[2:6] == ["0", "1", "2", "3"]
    assert lines[6:9] == ["/", "0022", "0"]
    assert "SCHED_OTHER" in shown.out


def test_a_hook_cannot_forge_the_event(mtsctl, host, events):
    """Fault: a process of a user, run by a hook, wrote what the next hook read as root."""
    hook(
        host,
        "a",
        "#!/bin/sh\nfor how in '>' '>>' '1<>'; do\n"
        '\t(eval "printf FORGED $how/proc/self/fd/0") 2>/dev/null && echo "$how: written"\n'
        "done\nhead -c 5 >/dev/null\n",
    )
    shown = mtsctl("hooks", "test", "begin", **host.fake)
    assert "written" not in shown.out
    ((_, given, _),) = events()
    assert given["event"] == "begin"


@pytest.mark.parametrize("closed", ["<&-", ""])
def test_standard_input_can_only_be_read(mtsctl, host, closed):
    """Each hook reads all of it, whatever is read of another's, or mtsctl has itself."""
    for name in ("a", "b"):
        hook(host, name, "#!/bin/sh\ncat\ncat /proc/self/fdinfo/0 | grep flags\n")
    done = subprocess.run(
        ["/bin/sh", "-c", f'exec "$0" hooks test begin {closed}', mtsctl.program],
        env=mtsctl.environment(**host.fake), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count('{"event":"begin"') == 2
    flags = re.findall(r"^flags:\s+(\d+)$", done.stdout, re.M)
    assert [int(text, 8) & os.O_ACCMODE for text in flags] == [os.O_RDONLY] * 2


# ---- watch -----------------------------------------------------------------------------------


def test_turns_begin_and_end(watch, events):
    it = watch()
    it.set("rotating begins=1")
    it.read_to("begin: turns begin: the jobs need 230 MiB")
    it.set("idle begins=1")
    it.read_to("end: turns end: everything fits")
    found = until(lambda: len(events()) == 2 and events(), "no two events")
    assert it.end() == 0
    begin, end = (given for _, given, _ in found)
    assert (begin["event"], begin["reason"], begin["from"]) == ("begin", "overcommit", "module")
    assert (begin["jobs"], begin["capacity"]) == (14, 96 << 20)
    assert (end["event"], end["reason"]) == ("end", "fits")
    assert end["detail"] == "everything fits: 30.0 MiB in 96.0 MiB"
    # The names are of the module's; which job waits longest is decided by the longer one.
    assert end["waited_ns"] >= 10**9
    assert end["job"]
    assert 0 < end["acted_ns"] < PATIENCE * 10**9
    assert "times" not in begin


def test_turns_that_no_look_has_seen(watch):
    it = watch()
    it.set("idle begins=3")
    it.read_to("end: turns end: everything fits")
    assert it.said("begin") == ["mtsctl: begin: turns began: between two looks, so the reason is "
                                "not known\n"]  # fmt: skip
    # They end, and begin again.
    it.set("rotating begins=4")
    it.read_to("begin: turns begin: the jobs need")
    it.set("rotating begins=5")
    it.read_to("end: turns end: between two looks")
    it.read_to("begin: turns begin: the jobs need")
    assert it.end() == 0


def test_how_often_is_said(watch, events):
    it = watch()
    it.set("idle begins=3")
    found = until(lambda: len(events()) == 2 and events(), "no two events")
    assert it.end() == 0
    assert [given["times"] for _, given, _ in found] == [3, 3]
    assert "acted_ns" not in found[1][1]


def test_an_older_module_has_no_counters(watch):
    """Its rounds say that there were turns."""
    it = watch(now="idle rounds=5")
    it.set("idle rounds=7")
    it.read_to("end: turns end: everything fits")
    it.set("rotating rounds=8")
    it.read_to("begin: turns begin: the jobs need")
    it.set("rotating rounds=12")
    time.sleep(0.3)
    assert it.end() == 0
    assert len(it.said("begin")) == 2


def test_turns_of_before_the_watch(watch):
    it = watch(now="rotating begins=7")
    assert it.said("begin") == ["mtsctl: begin: turns begin: the jobs need 230 MiB, 96.0 MiB may "
                                "be used, and the host reclaims\n"]  # fmt: skip
    assert it.end() == 0


def test_a_policy_without_turns(watch):
    it = watch()
    it.set("fair begins=1")
    it.read_to("begin: a policy without turns begins: jobs that swap more than their share")
    it.set("off begins=1")
    it.read_to("end: turns end: mode=off")
    assert it.end() == 0


def test_jobs_that_come_back_after_turns(watch):
    """Switching without bins: turns have ended."""
    it = watch(now="rotating begins=1")
    it.set("ending begins=1")
    it.read_to("end: turns end: the jobs' demand fits in the capacity")
    it.set("idle begins=1")
    time.sleep(0.3)
    assert it.end() == 0
    assert len(it.said("end")) == 1


def test_a_stop(watch, events):
    it = watch(now="rotating begins=1 stops=4")
    it.set("oom begins=1 stops=5")
    it.read_to("end: turns end: the kernel ran out of memory")
    it.read_to("stop: mts has stopped, all jobs run: the kernel ran out of memory")
    time.sleep(0.3)
    found = until(lambda: len(events()) == 3 and events(), "no three events")
    assert it.end() == 0
    assert [(given["event"], given["reason"]) for _, given, _ in found] == [
        ("begin", "overcommit"), ("end", "oom"), ("stop", "oom")
    ]  # fmt: skip
    assert len(it.said("stop")) == 1


def test_a_stop_that_no_look_has_seen(watch):
    it = watch(now="idle begins=0 stops=1")
    it.set("idle begins=0 stops=3")
    it.read_to("stop: mts was stopped, and went on: between two looks")
    # Stopped when it is first looked at: that may have come while the watch was down.
    it.set("oom begins=0 stops=4")
    it.read_to("stop: mts has stopped, all jobs run: the kernel ran out of memory")
    it.set("oom begins=0 stops=5")
    it.read_to("stop: mts has stopped, all jobs run: the kernel ran out of memory")
    assert it.end() == 0


def test_a_suspend_is_no_stop(watch):
    it = watch(now="rotating begins=1 stops=0")
    it.set("paused begins=1 stops=0")
    it.read_to("end: turns end: the host suspends")
    it.set("rotating begins=2 stops=0")
    it.read_to("begin: turns begin")
    assert it.end() == 0
    assert it.said("stop") == []


def test_the_module_goes_and_mtsd_comes(watch):
    it = watch(now="rotating begins=5")
    it.set("absent")
    it.read_to("/dev/mts: No such file or directory: waiting until it answers")
    it.read_to("end: turns end: the module is unloaded, or mtsd has ended")
    # Its counters begin anew.
    it.set("rotating begins=1 rounds=1")
    it.read_to("begin: turns begin")
    it.set("rotating begins=1 rounds=0")
    it.read_to("end: turns end: the module is unloaded, or mtsd has ended")
    it.read_to("begin: turns begin")
    assert it.end() == 0


@pytest.mark.parametrize("error", [errno.ENOMEM, errno.EAGAIN, errno.EIO, errno.ETIMEDOUT])
def test_an_error_is_no_end_of_turns(watch, error):
    """Fault: for want of memory it said that the module was unloaded."""
    it = watch(now="rotating begins=5", fail=f"stats={error}+3")
    it.read_to("waiting until it answers")
    # A line that comes later, as end() loses what is read ahead.
    it.process.send_signal(signal.SIGHUP)
    it.read_to("read again")
    assert it.end() == 0
    assert it.said("end") == []


@pytest.mark.parametrize("error", [errno.ENODEV, errno.ENXIO, errno.EPROTO])
def test_an_engine_that_goes_while_it_is_asked(watch, error):
    it = watch(now="rotating begins=5", fail=f"stats={error}+3")
    it.read_to("end: turns end: the module is unloaded, or mtsd has ended")
    assert it.end() == 0


def test_an_mtsd_that_is_stuck(mtsctl, tmp_path):
    """Fault: it blocked the watch for good. Without a fake: a socket that no process reads."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        server.listen(5)
        env = mtsctl.environment() | {"MTS_ENGINE": str(tmp_path / "socket")}
        program = Path(mtsctl.program).with_name("mtsctl")
        it = subprocess.Popen(
            [program, "hooks", "watch"], env=env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        limit = threading.Timer(3 * PATIENCE, it.kill)
        limit.start()
        began = time.monotonic()
        lines = []
        while "watching\n" not in lines:
            lines.append(it.stdout.readline())
            assert lines[-1], lines
        it.terminate()
        assert it.wait(3 * PATIENCE) == 0
        limit.cancel()
        it.stdout.close()
    assert any("Connection timed out: waiting until it answers" in line for line in lines)
    assert time.monotonic() - began > 9


def test_it_waits_for_an_engine(watch):
    it = watch(now="absent")
    it.set("rotating begins=1")
    it.read_to("begin: turns begin")
    assert it.end() == 0
    assert sum("waiting until it answers" in line for line in it.lines) == 1


def test_mtsd_is_named(watch, events):
    it = watch(now="userspace begins=0")
    it.set("userspace begins=1")
    found = until(lambda: len(events()) == 2 and events(), "no two events")
    assert it.end() == 0
    assert {given["from"] for _, given, _ in found} == {"mtsd"}


def test_without_permission(mtsctl, host):
    host.vitals()
    shown = mtsctl("hooks", "watch", scenario="forbidden", **host.fake)
    assert shown.status == 4
    assert "run as root" in shown.err


def test_an_idle_rotor_is_not_disturbed(watch, tmp_path, mtsctl):
    """To ask for the status has it measure all jobs. A status that fails would be told."""
    it = watch(fail="status=5+1")
    time.sleep(0.5)
    assert it.end() == 0
    assert not any("waiting until" in line for line in it.lines)
    # And with news it is asked for.
    it = watch(fail="status=5+1")
    it.set("rotating begins=1")
    it.read_to("waiting until it answers")
    assert it.end() == 0


# ---- waits and swap --------------------------------------------------------------------------


def test_a_job_waits_longer(watch, events, host):
    """Once for each freeze. A second passes from look to look."""
    host.conf("[hooks]\nwait = 500s\nevery = off\n")
    it = watch(now="rotating begins=1 since=499")
    assert len(it.said("wait")) == 1
    time.sleep(0.3)
    it.set("rotating begins=1 since=1")
    it.read_to("wait: the job alpha has been frozen for 16m")
    found = until(lambda: len(events()) == 3 and events(), "no three events")
    assert it.end() == 0
    assert len(it.said("wait")) == 2
    given = next(given for _, given, _ in found if given["event"] == "wait")
    assert (given["job"], given["job_id"]) == ("alpha", 1)
    assert 500 * 10**9 < given["waited_ns"] < 503 * 10**9
    assert given["cgroup_id"] == 1000 + (1 << 40)


def test_a_wait_that_has_ended_when_it_is_seen(watch, host):
    """What frozen_total_ns has grown by says how long it was."""
    host.conf("[hooks]\nwait = 1h\n")
    it = watch(now="rotating begins=1 since=1 total=500")
    time.sleep(0.2)
    it.set("rotating begins=1 since=0 total=3700500")
    time.sleep(0.2)
    it.set("idle begins=1")
    it.read_to("end:")
    assert it.end() == 0
    # The clock of the fake has not gone on for an hour: the time since the freeze is the limit.
    assert it.said("wait") == []


def test_a_wait_between_two_looks(watch, host):
    """It was frozen for 999 s, and when it is looked at again it has been for longer."""
    host.conf("[hooks]\nwait = 999500ms\n")
    it = watch("--interval", "2s", now="rotating begins=1 since=1 total=0")
    it.set("rotating begins=1 since=0 total=1030000")
    it.read_to("wait: the job alpha was frozen for 16m 40s")
    assert it.end() == 0


def test_waits_can_be_switched_off(watch, host):
    host.conf("[hooks]\nwait = off\n")
    it = watch(now="rotating begins=1 since=1")
    time.sleep(0.3)
    assert it.end() == 0
    assert it.said("wait") == []


def test_swap_is_nearly_full(watch, host, events):
    host.conf("[hooks]\nevery = off\n")
    meminfo = host.proc / "meminfo"
    host.vitals(swap_free_kib=200, swap_total_kib=1000)
    it = watch(vitals=False)
    assert it.said("swap-full") == []

    def free(kib):
        """In place, and of the same length: mtsctl has it open, and may read it now."""
        text = re.sub("SwapFree: .*", f"SwapFree: {kib:>12} kB", meminfo.read_text())
        with meminfo.open("r+") as file:
            file.write(text)

    free(99)
    it.read_to("swap-full: swap is nearly full: 99.0 KiB of 1000 KiB are free")
    # It goes up and down around the limit: that is no news.
    free(120)
    time.sleep(0.2)
    free(90)
    time.sleep(0.2)
    free(500)
    time.sleep(0.2)
    free(10)
    it.read_to("swap-full: swap is nearly full: 10.0 KiB")
    found = until(lambda: len(events()) == 2 and events(), "no two events")
    assert it.end() == 0
    assert len(it.said("swap-full")) == 2
    assert found[1][1]["swap_free"] == 10 << 10
    assert found[1][1]["swap_total"] == 1000 << 10


def test_no_swap_is_not_full(watch, host):
    host.vitals(swap_free_kib=0, swap_total_kib=0)
    it = watch(vitals=False)
    time.sleep(0.2)
    assert it.end() == 0
    assert it.said("swap-full") == []


# ---- how often, and one at a time ------------------------------------------------------------


def test_events_of_a_kind_are_merged(watch, host, events):
    """The first at once; then the last, when it may be, which says how many it stands for."""
    host.conf("[hooks]\nevery = 2s\n")
    it = watch()
    began = time.monotonic()
    for i in range(1, 6):
        it.set(f"idle begins={i}")
        it.read_to("end: ")
    is_quick = time.monotonic() - began < 1.5

    def merged(event):
        return [given.get("merged", 1) for _, given, _ in events() if given["event"] == event]

    until(lambda: sum(merged("end")) == 5, "not five ends")
    assert it.end() == 0
    assert sum(merged("begin")) == 5
    # On a busy host there are more of them, each for fewer.
    if is_quick:
        assert time.monotonic() - began >= 2
        assert len(merged("begin")) == 2
        assert len(merged("end")) <= 2
    found = events()
    assert merged("begin")[0] == 1
    assert found[-1][1]["event"] == "end"
    # The news are complete.
    assert len(it.said("end")) == 5


def test_a_slow_hook_does_not_run_beside_itself(watch, host, tmp_path):
    """News that come meanwhile wait, and mtsctl goes on looking."""
    marks = tmp_path / "marks"
    hook(host, "slow", f"#!/bin/sh\necho begin >>{marks}\nsleep 2\necho end >>{marks}\n")
    host.conf("[hooks]\nevery = off\n")
    it = watch()
    for i in range(1, 4):
        it.set(f"idle begins={i}")
        began = time.monotonic()
        it.read_to("end: ")
        assert time.monotonic() - began < 1.8
    until(lambda: marks.exists() and len(marks.read_text().split()) == 6, "not three runs")
    time.sleep(0.2)
    assert it.end() == 0
    assert marks.read_text().split() == ["begin", "end"] * 3


def test_no_zombie(watch, host):
    hook(host, "quick", "#!/bin/sh\n(sleep 0.05 &)\nexit 0\n")
    host.conf("[hooks]\nevery = off\n")
    it = watch()
    for i in range(1, 11):
        it.set(f"idle begins={i}")
        it.read_to("end: ")

    def children():
        path = Path(f"/proc/{it.process.pid}/task/{it.process.pid}/children")
        return path.read_text().split()

    until(lambda: not children(), "there are children")
    assert it.end() == 0


def test_the_end_ends_the_hook(watch, host, tmp_path):
    pid = tmp_path / "pid"
    hook(host, "a", f"#!/bin/sh\necho $$ >{pid}.new; mv {pid}.new {pid}\nsleep 1000\n")
    it = watch()
    it.set("idle begins=1")
    until(pid.exists, "the hook does not run")
    assert it.end(signal.SIGINT) == 0
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()
    assert "mtsctl: hooks: a (begin) was ended: mtsctl ends\n" in it.lines
    assert any("no hook has run for end: " in line for line in it.lines)


@ROOT
def test_it_is_exempt_from_turns(watch):
    """A job with a real-time thread is never frozen."""
    it = watch()
    assert os.sched_getscheduler(it.process.pid) & ~os.SCHED_RESET_ON_FORK == os.SCHED_RR
    assert it.end() == 0


# ---- as a service ----------------------------------------------------------------------------


def test_reload(watch, host):
    file = host.conf("[hooks]\nwait = off\n")
    it = watch(now="rotating begins=1 since=1")
    file.write_text("[hooks]\nwait = 1\n")
    it.process.send_signal(signal.SIGHUP)
    it.read_to("mts.conf:2: wait=1: ")
    it.read_to("the settings stay as they were")
    file.write_text("[hooks]\nwait = 30s\n")
    it.process.send_signal(signal.SIGHUP)
    it.read_to("read again")
    it.read_to("wait: the job alpha has been frozen")
    assert it.end() == 0


def test_it_tells_systemd(watch, tmp_path, monkeypatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.bind(str(tmp_path / "notify"))
        told.settimeout(PATIENCE)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        it = watch()
        assert told.recv(100) == b"READY=1"
        it.process.send_signal(signal.SIGHUP)
        assert told.recv(100) == b"RELOADING=1"
        assert told.recv(100) == b"READY=1"
        assert it.end() == 0
        assert told.recv(100) == b"STOPPING=1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wait = 1ms", "mts.conf:2: wait=1ms: not between 1s and 24h"),
        ("swap = 95%", "mts.conf:2: swap=95%: "),
        ("every = soon", "mts.conf:2: every=soon: "),
        ("timeout = 11m", "mts.conf:2: timeout=11m: not between 100ms and 600s"),
        ("timeout = off", "mts.conf:2: timeout=off: "),
        ("wiat = 1s", "mts.conf:2: unknown key 'wiat': keys of [hooks] are wait, swap, every and"),
        ("wait = 1s\nwait = 2s", "mts.conf:3: wait is given twice in this file"),
    ],
)
def test_bad_settings(mtsctl, host, text, message):
    host.vitals()
    host.conf(f"[hooks]\n{text}\n")
    for args in (["config", "check"], ["hooks", "watch"], ["hooks", "test", "end"]):
        shown = mtsctl(*args, **host.fake)
        assert shown.status == 2
        assert message in shown.err


def test_mts_conf_explains_every_key_of_hooks(mtsctl, host, sources):
    host.conf("[hooks]\ncolour=1\n")
    said = mtsctl("config", "check", **host.fake).err
    page = (sources / "mts.conf.5").read_text()
    for key in re.split(", | and ", re.search(r"are (wait.*)$", said)[1]):
        assert re.search(rf"^\.?\S* ?\\?f?B?{key}=", page, re.M), key
