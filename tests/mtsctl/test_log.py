# SPDX-License-Identifier: GPL-2.0
"""News in the journal, and mtsctl log, which sums them up."""

import json
import os
import re
import shutil
import socket
import stat
import subprocess
import time
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.mtsctl.test_hooks import hook, until, watch  # noqa: F401, a fixture
from tests.mtsctl.test_schema import check

SECOND = 10**9
HERE = Path(__file__).resolve().parent
ZONE = "Europe/Berlin"
# What journalctl gets is checked by the tests; what it says is a file.
JOURNALCTL = """#!/bin/sh
printf '%s\\n' "$@" >$JOURNAL.asked
cat $JOURNAL
echo "$JOURNAL_SAYS" >&2
exit ${JOURNAL_STATUS:-0}
"""
START = 1_796_000_000  # 2026-11-29 or near it


def entry(event, at, **fields):
    """As journalctl -o json prints it: values are texts."""
    found = {"MTS_EVENT": event, "MTS_TIME_NS": str((START + at) * SECOND), "MESSAGE": "x"}
    found.update({f"MTS_{key.upper()}": str(value) for key, value in fields.items()})
    return json.dumps({"__CURSOR": "s=1", "PRIORITY": "6", **found})


NIGHT = [
    entry("end", 60, reason="fits", detail="all fits", acted_ns=120 * SECOND, job="early",
          job_id=1, waited_ns=20 * SECOND),
    entry("begin", 3600, reason="overcommit", detail="too much"),
    entry("wait", 4000, job="alpha", job_id=2, waited_ns=61 * SECOND),
    entry("wait", 4100, job="alpha", job_id=2, waited_ns=75 * SECOND),
    entry("wait", 4200, job="b b\t\x1b[1m", job_id=3, waited_ns=65 * SECOND),
    entry("end", 7200, reason="oom", detail="the kernel was out of memory", acted_ns=3600 * SECOND,
          job="alpha", job_id=2, waited_ns=70 * SECOND),
    entry("stop", 7200, reason="oom", detail="the kernel was out of memory"),
    entry("swap-full", 7300, swap_free=1 << 30, swap_total=32 << 30),
    entry("begin", 9000, reason="unknown", detail="between two looks", times=3),
    entry("end", 9000, reason="fits", detail="all fits", times=3),
    entry("begin", 9999, reason="fair", detail="some are delayed"),
]  # fmt: skip


@pytest.fixture
def journal(tmp_path, monkeypatch):
    """A journalctl on PATH; takes the entries that it will print."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "journalctl"
    program.write_text(JOURNALCTL)
    program.chmod(0o755)
    path = tmp_path / "journal"
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("JOURNAL", str(path))
    monkeypatch.setenv("TZ", ZONE)

    def write(lines):
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    return write


# ---- log -------------------------------------------------------------------------------------


def test_a_night(mtsctl, journal):
    journal(NIGHT)
    shown = mtsctl("log")
    assert (shown.status, shown.err) == (0, "\n")
    lines = shown.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) < 24
    assert lines[1] == "Turns: 6 times, 1h 02m in all"
    hour = subprocess.run(
        ["date", "-d", f"@{START + 3600}", "+%b %e %H:%M:%S"],
        capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"},
    ).stdout.strip()  # fmt: skip
    assert lines[3] == f"  {hour}  1h 00m    overcommit; ended: oom, the kernel was out of mem.."
    assert lines[2].endswith("2m 00s    began earlier; ended: fits, all fits")
    assert lines[4].endswith("3 times   unknown; ended: fits, all fits")
    assert lines[5].endswith("fair; not ended")
    assert lines[6] == "Stops: once"
    assert lines[7].endswith("oom: the kernel was out of memory")
    assert [line.split(None, 3)[3] for line in lines[9:12]] == [
        "1m 15s    alpha", "1m 05s    b?b??[1m", "20.0 s    early"
    ]  # fmt: skip
    assert lines[12].startswith("Swap nearly full: once, last ")
    assert lines[12].endswith(" with 1.0 GiB free")


def test_a_night_as_json(mtsctl, journal):
    journal(NIGHT)
    found = json.loads(mtsctl("log", "--json", "--since", "2h").out)
    check("log", found)
    assert abs(found["since_ns"] / SECOND - (time.time() - 7200)) < 60
    turns = found["turns"]
    assert len(turns) == 4
    assert turns[0]["began_ns"] == (START + 60 - 120) * SECOND
    assert turns[0]["reason"] is None
    assert turns[1] == {
        "began_ns": (START + 3600) * SECOND, "ended_ns": (START + 7200) * SECOND, "times": 1,
        "reason": "overcommit", "detail": "too much",
        "end_reason": "oom", "end_detail": "the kernel was out of memory",
    }  # fmt: skip
    assert turns[2]["times"] == 3
    assert (turns[3]["ended_ns"], turns[3]["end_reason"]) == (None, None)
    assert [(one["job"], one["waited_ns"] // SECOND) for one in found["waits"]] == [
        ("alpha", 75), ("b b\t\x1b[1m", 65), ("early", 20)
    ]  # fmt: skip
    assert [one["reason"] for one in found["stops"]] == ["oom"]
    assert found["swap_full"][0]["swap_total"] == 32 << 30


def test_many_entries_are_one_screen(mtsctl, journal):
    many = []
    for i in range(200):
        many += [entry("begin", 100 * i, reason="overcommit", detail="d" * 120)]
        many += [entry("end", 100 * i + 50, reason="fits", detail="d", acted_ns=50 * SECOND)]
        many += [entry("stop", 100 * i + 50, reason="user", detail="d")]
        many += [entry("wait", 100 * i, job=f"job-{i}", job_id=i, waited_ns=(i + 1) * SECOND)]
    journal(many)
    lines = mtsctl("log").out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert "  (193 earlier: --json)" in lines
    assert lines[-4].endswith("3m 20s    job-199")
    assert len(json.loads(mtsctl("log", "--json").out)["turns"]) == 200


def test_no_news(mtsctl, journal):
    journal([])
    shown = mtsctl("log")
    assert shown.status == 0
    assert "No news. mts-hooks.service writes them, if it is enabled" in shown.out
    assert json.loads(mtsctl("log", "--json").out)["turns"] == []


def test_what_is_asked_for(mtsctl, journal, sources):
    """Entries of root alone: every user may write into the journal."""
    path = journal([])
    mtsctl("log", "--since", "90m")
    asked = path.with_suffix(".asked").read_text().splitlines()
    assert {"--output=json", "--all", "--no-pager", f"_UID={os.geteuid()}", "_UID=0"} <= {*asked}
    ids = {word.partition("=")[2] for word in asked if word.startswith("MESSAGE_ID=")}
    assert ids == catalog(sources)
    (since,) = [word for word in asked if word.startswith("--since=@")]
    assert abs(int(since.partition("@")[2]) - (time.time() - 5400)) < 60


def test_the_day_is_the_default(mtsctl, journal):
    path = journal([])
    mtsctl("log")
    (since,) = re.findall(r"--since=@(\d+)", path.with_suffix(".asked").read_text())
    assert abs(int(since) - (time.time() - 86400)) < 60


@pytest.mark.parametrize(
    "text", ["today", "yesterday", "00:00", "{:%H:%M}", "{:%Y-%m-%d}", "{:%Y-%m-%d %H:%M}",
             "{:%Y-%m-%d %H:%M:%S}"],
)  # fmt: skip
def test_since(mtsctl, journal, text):
    """As date(1) reads it."""
    path = journal([])
    ago = datetime.now() - timedelta(hours=26, seconds=7)
    text = text.format(ago)
    shown = mtsctl("log", "--since", text)
    assert shown.status == 0, shown.err
    (since,) = re.findall(r"--since=@(\d+)", path.with_suffix(".asked").read_text())
    word = {"today": "00:00", "yesterday": "yesterday 00:00"}.get(text, text)
    wanted = int(subprocess.run(["date", "-d", word, "+%s"], capture_output=True).stdout)
    # A time of day that has not come yet is yesterday's.
    assert int(since) in (wanted, wanted - 86400)
    assert int(since) <= time.time()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("soon", "--since soon: not a time: write 12h, 22:00, today"),
        ("", "--since : not a time"),
        ("12", "--since 12: not a time"),
        ("2026-13-01", "not a time"),
        ("2099-01-01", "--since 2099-01-01: in the future"),
        ("1960-01-01", "--since 1960-01-01: before 1970"),
    ],
)
def test_bad_times(mtsctl, journal, text, message):
    journal([])
    shown = mtsctl("log", "--since", text)
    assert (shown.status, shown.out) == (2, "")
    assert message in shown.err


def test_names_that_are_no_text(mtsctl, journal):
    """The journal: bytes that are not UTF-8, or not printable, are numbers."""
    one, other = json.loads(NIGHT[2]), json.loads(NIGHT[2])
    one.update(MTS_JOB=[*b"caf\xe9\xff"], MTS_JOB_ID="7")
    other.update(MTS_JOB=[*b"tab\t\x1b"], MTS_JOB_ID="8", MTS_WAITED_NS=str(70 * SECOND))
    long = json.loads(NIGHT[6]) | {"MTS_DETAIL": [200] * 5000}
    none = json.loads(NIGHT[6]) | {"MTS_DETAIL": [1000, -1, "x", [65], None]}
    journal([json.dumps(it) for it in (one, other, long, none)])
    shown = mtsctl("log")
    assert shown.status == 0
    assert re.findall(r"1m \d+s +(.*)", shown.out) == ["tab??", "caf??"]
    found = json.loads(mtsctl("log", "--json").out)
    check("log", found)
    assert [it["job"] for it in found["waits"]] == ["tab\t\x1b", "caf??"]


def test_strange_entries(mtsctl, journal):
    """What is no entry, or none of ours."""
    journal(
        ["-- No entries --", "[]", "{", '{"MTS_EVENT": ["begin"]}', '{"MTS_EVENT": "party"}',
         '{"MTS_EVENT": "wait", "MTS_JOB": [1, 2], "MTS_WAITED_NS": "x"}',
         '{"MTS_EVENT": "begin", "MTS_TIME_NS": "-1", "MTS_REASON": null}']
    )  # fmt: skip
    shown = mtsctl("log")
    assert shown.status == 0
    assert "Turns: once" in shown.out


def test_journalctl_fails(mtsctl, journal, monkeypatch):
    journal([])
    monkeypatch.setenv("JOURNAL_STATUS", "1")
    monkeypatch.setenv("JOURNAL_SAYS", "No journal files were found.")
    shown = mtsctl("log")
    assert (shown.status, shown.out) == (1, "")
    assert "No journal files were found.\nmtsctl: log: journalctl failed" in shown.err


def test_no_journalctl(mtsctl, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    shown = mtsctl("log")
    assert (shown.status, shown.out) == (1, "")
    assert "no journalctl: the news are kept in systemd's journal" in shown.err


# ---- the journal -----------------------------------------------------------------------------


def catalog(sources):
    text = (sources / "mts.catalog").read_text()
    return {*re.findall(r"^-- ([0-9a-f]{32})$", text, re.M)}


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A libsystemd, and a journal that listens."""
    folder = tmp_path / "lib"
    folder.mkdir()
    source, target = HERE / "fake_libsystemd.c", folder / "libsystemd.so.0"
    subprocess.run(["cc", "-Wall", "-Werror", "-shared", "-fPIC", "-o", target, source], check=True)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(folder))
    run = tmp_path / "root/run/systemd/journal"
    run.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listens:
        listens.bind(str(run / "socket"))
        yield {"root": tmp_path / "root", "journal": tmp_path / "fields"}


def test_fields_of_the_journal(watch, library, sources):  # noqa: F811
    it = watch(**library)
    it.set("rotating begins=1")
    path = library["journal"]
    until(path.exists, "nothing is in the journal")
    it.set("oom begins=1 stops=1")
    until(lambda: path.read_text().count("\n\n") == 3, "no three entries")
    assert it.end() == 0
    # What is in the journal is not written to standard error, too.
    assert not any(line.startswith("mtsctl: begin") for line in it.lines)
    entries = [
        dict(line.split("=", 1) for line in text.splitlines())
        for text in path.read_text().split("\n\n")[:-1]
    ]
    assert [one["MTS_EVENT"] for one in entries] == ["begin", "end", "stop"]
    begin, _, stop = entries
    assert begin["MESSAGE"].startswith("turns begin: the jobs need 230 MiB")
    assert (begin["PRIORITY"], stop["PRIORITY"]) == ("6", "4")
    assert (stop["MTS_REASON"], stop["SYSLOG_IDENTIFIER"]) == ("oom", "mtsctl")
    assert {one["MESSAGE_ID"] for one in entries} <= catalog(sources)


def test_log_reads_what_watch_writes(watch, library, mtsctl, journal):  # noqa: F811
    """The fields of the one are those of the other."""
    it = watch(**library)
    path = library["journal"]
    it.set("rotating begins=1 since=1")
    until(lambda: path.exists() and "MTS_EVENT=wait" in path.read_text(), "no wait")
    it.set("oom begins=1 stops=1")
    until(lambda: "MTS_EVENT=stop" in path.read_text(), "no stop")
    assert it.end() == 0
    journal(
        json.dumps(dict(line.split("=", 1) for line in text.splitlines()))
        for text in path.read_text().split("\n\n")[:-1]
    )
    found = json.loads(mtsctl("log", "--json").out)
    assert [(one["reason"], one["end_reason"]) for one in found["turns"]] == [("overcommit", "oom")]
    assert [one["reason"] for one in found["stops"]] == ["oom"]
    assert found["waits"][0]["job"] == "alpha"
    assert found["waits"][0]["waited_ns"] > 900 * SECOND


def test_no_journal_that_listens(watch, library):  # noqa: F811
    """A libsystemd alone takes everything and does nothing with it."""
    (library["root"] / "run/systemd/journal/socket").unlink()
    it = watch(**library)
    it.set("rotating begins=1")
    it.read_to("begin: turns begin")
    assert it.end() == 0
    assert not library["journal"].exists()


def test_the_catalog_is_well(sources, tmp_path):
    """It is taken by journalctl, which shows the right text for each number."""
    folder = tmp_path / "usr/lib/systemd/catalog"
    folder.mkdir(parents=True)
    shutil.copy(sources / "mts.catalog", folder)
    (tmp_path / "var/lib/systemd/catalog").mkdir(parents=True)
    root = f"--root={tmp_path}"
    done = subprocess.run(["journalctl", root, "--update-catalog"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    numbers = dict(re.findall(r'\{ "([\w-]+)", "([0-9a-f]{32})"', (sources / "news.c").read_text()))
    assert {*numbers.values()} == catalog(sources)
    words = {"begin": "Turns have begun", "end": "Turns have ended", "stop": "has stopped",
             "wait": "frozen for long", "swap-full": "Swap is nearly full"}  # fmt: skip
    assert {*numbers} == {*words}
    for event, number in numbers.items():
        done = subprocess.run(
            ["journalctl", root, "--dump-catalog", number], capture_output=True, text=True
        )
        assert words[event] in done.stdout, done.stdout + done.stderr


# ---- the hooks that are examples -------------------------------------------------------------


@pytest.fixture
def example(mtsctl, host, sources, tmp_path, monkeypatch):
    """Enables one, as its first lines say, with programs of ours in front of PATH."""
    folder = tmp_path / "fakes"
    folder.mkdir()

    def enable(name, path=None, **programs):
        for program, text in programs.items():
            file = folder / program.replace("_", "-")
            file.write_text(f"#!/bin/sh\n{text}\n")
            file.chmod(0o755)
        monkeypatch.setenv("PATH", path or f"{folder}:{os.environ['PATH']}")
        hook(host, name, (sources / "hooks" / name).read_text())
        return lambda event: mtsctl("hooks", "test", event, **host.fake)

    return enable


@pytest.mark.parametrize("name", ["notify", "mail", "webhook"])
def test_shellcheck(sources, name):
    done = subprocess.run(["shellcheck", sources / "hooks" / name], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
    assert stat.S_IMODE((sources / "hooks" / name).stat().st_mode) & 0o111


def test_mail(example, tmp_path, monkeypatch):
    monkeypatch.setenv("MTS_MAIL_TO", "admin@example.org")
    run = example("mail", sendmail=f'echo "$@" >{tmp_path}/args; cat >{tmp_path}/mail')
    assert run("begin").status == 0
    assert not (tmp_path / "mail").exists()
    shown = run("wait")
    assert (shown.status, shown.err) == (0, "")
    assert (tmp_path / "args").read_text() == "-i -- admin@example.org\n"
    head, _, body = (tmp_path / "mail").read_text().partition("\n\n")
    assert "To: admin@example.org\n" in head
    assert re.search(r"^Subject: \[mts\] \S+: wait of example$", head, re.M)
    assert body.startswith("the job example has been frozen for 1m 01s\n")
    assert "MTS_WAITED_NS=61000000000\n" in body
    assert "MTS_MAIL_TO" not in body


EVIL = r"a\nX-Evil:1\n~!id"


@pytest.fixture
def direct(sources, tmp_path):
    """Runs an example by dash, with fakes alone in front of PATH and variables of an event."""
    told = f"the job {EVIL} has been frozen for 61s"

    def run(name, fakes, message=told, event='{"event": "wait"}\n', **variables):
        folder = tmp_path / "direct"
        folder.mkdir(exist_ok=True)
        for program, text in fakes.items():
            (folder / program).write_text(f"#!/bin/sh\n{text}\n")
            (folder / program).chmod(0o755)
        env = {"PATH": f"{folder}:/usr/bin:/bin", "MTS_EVENT": "wait", "MTS_JOB": EVIL,
               "MTS_MESSAGE": message, **variables}  # fmt: skip
        return subprocess.run(
            ["/bin/sh", sources / "hooks" / name], env=env, input=event,
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip

    return run


def test_mail_of_a_job_with_backslashes(direct, tmp_path):
    """Echo of dash would make lines of the name: headers."""
    done = direct("mail", {"sendmail": f"cat >{tmp_path}/mail"})
    assert (done.returncode, done.stderr) == (0, "")
    head, _, body = (tmp_path / "mail").read_text().partition("\n\n")
    assert [line.split(":")[0] for line in head.splitlines()] == [
        "To", "Subject", "Auto-Submitted", "MIME-Version", "Content-Type"
    ]  # fmt: skip
    assert f": wait of {EVIL}\n" in head
    assert body.startswith(f"the job {EVIL} has been")


def test_mail_gets_no_commands(direct, tmp_path):
    """mail(1) of mailutils takes lines that begin with ~ for commands."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("uname", "env", "grep", "sort", "sed", "cat"):
        (tools / tool).symlink_to(f"/usr/bin/{tool}")
    for message in (f"the job {EVIL} is", "~!id"):
        # The hook appends /usr/sbin, where a sendmail may be.
        fakes = {"mail": f'printf "%s\\n" "$@" >{tmp_path}/args; cat >{tmp_path}/mail'}
        done = direct("mail", fakes, message=message, PATH=f"{tmp_path}/direct:{tools}")
        if Path("/usr/sbin/sendmail").exists() or Path("/usr/lib/sendmail").exists():
            pytest.skip("this host has a sendmail, which the hook prefers")
        assert (done.returncode, done.stderr) == (0, "")
        text = (tmp_path / "mail").read_text()
        assert not [line for line in text.splitlines() if line.startswith("~")], text
        assert message in text
        assert (tmp_path / "args").read_text().endswith(f": wait of {EVIL}\n--\nroot\n")


def test_mail_fails(example):
    """As the hook, which mtsctl tells."""
    run = example("mail", sendmail="cat >/dev/null; exit 75")
    shown = run("stop")
    assert shown.status == 1
    assert "hooks: mail (stop) failed with status 75" in shown.err


def test_webhook(example, tmp_path, monkeypatch):
    """To a server of ours, by the curl of this host."""
    got = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            length = int(self.headers["Content-Length"])
            got.append((self.path, self.headers["Content-Type"], self.rfile.read(length)))
            self.send_response(500 if self.path == "/broken" else 200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    run = example("webhook")
    shown = run("stop")
    assert shown.status == 1
    assert "webhook: set MTS_WEBHOOK_URL" in shown.err
    monkeypatch.setenv("MTS_WEBHOOK_URL", f"{url}/a?b=c")
    shown = run("stop")
    assert (shown.status, shown.err) == (0, "")
    monkeypatch.setenv("MTS_WEBHOOK_FORM", "text")
    assert run("swap-full").status == 0
    monkeypatch.setenv("MTS_WEBHOOK_URL", f"{url}/broken")
    shown = run("stop")
    server.shutdown()
    assert shown.status == 1
    assert "webhook (stop) failed with status" in shown.err
    path, kind, body = got[0]
    assert (path, kind) == ("/a?b=c", "application/json")
    assert json.loads(body)["reason"] == "oom"
    assert "swap is nearly full" in json.loads(got[1][2])["text"]
    monkeypatch.setenv("MTS_WEBHOOK_EVENTS", "end")
    assert run("stop").status == 0
    assert len(got) == 3


def test_webhook_of_a_job_with_backslashes(direct, tmp_path):
    fake = f'printf "%s\\n" "$@" >{tmp_path}/args; cat >{tmp_path}/settings'
    url = {"MTS_WEBHOOK_URL": r"http://a/\n~!id"}
    done = direct("webhook", {"curl": fake}, MTS_WEBHOOK_FORM="text", **url)
    assert (done.returncode, done.stderr) == (0, "")
    (text,) = [one for one in (tmp_path / "args").read_text().splitlines() if "{" in one]
    assert json.loads(text)["text"].endswith(f": the job {EVIL} has been frozen for 61s")
    assert (tmp_path / "settings").read_text() == 'url = "http://a/\\\\n~!id"\n'


def test_webhook_sends_no_file(direct, tmp_path):
    """Not even if the event were forged: curl reads the file that @ names with --data-binary."""
    (tmp_path / "secret").write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server:
        got = []

        def serve():
            client = server.accept()[0]
            while b"\r\n\r\n@" not in b"".join(got) and (part := client.recv(4096)):
                got.append(part)
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            client.close()

        thread = Thread(target=serve, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        done = direct(
            "webhook", {}, event=f"@{tmp_path}/secret", MTS_WEBHOOK_URL=url, no_proxy="127.0.0.1"
        )
        thread.join(20)
    text = b"".join(got)
    assert b"secret" in text
    assert text.endswith(f"@{tmp_path}/secret".encode()), (text, done.stderr)


@pytest.fixture
def buses(tmp_path):
    """Of root and daemon, and of a user that does not exist."""
    made = []
    for uid in ("0", "1", "4294967000"):
        place = tmp_path / "run" / uid
        place.mkdir(parents=True)
        made.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        made[-1].bind(str(place / "bus"))
    yield tmp_path / "run"
    for bus in made:
        bus.close()


def test_notify_gives_nothing_of_root_to_users(direct, tmp_path, buses):
    """Neither secrets of hooks.env nor the event; and a job's name stays as it is."""
    fakes = {
        "runuser": 'user=$2; shift 3; USER_=$user exec "$@"',
        "notify-send": f'f=$(readlink /proc/$$/fd/[12]); echo "$f" >{tmp_path}/$USER_.files; '
        f"exec >{tmp_path}/$USER_; env; readlink /proc/$$/fd/0; "
        "printf '%s\\n' \"$@\"",
    }
    done = direct("notify", fakes, MTS_WEBHOOK_URL="secret", NOTIFY_SOCKET="/run/x",
                  MTS_NOTIFY_RUNTIME=str(buses))  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    for user, uid in (("root", 0), ("daemon", 1)):
        lines = (tmp_path / user).read_text().splitlines()
        at = lines.index("/dev/null")
        names = {line.partition("=")[0] for line in lines[:at]}
        assert names - {"PWD", "USER_", "_", "OLDPWD", "SHLVL"} == {
            "PATH", "DBUS_SESSION_BUS_ADDRESS"
        }  # fmt: skip
        assert f"DBUS_SESSION_BUS_ADDRESS=unix:path={buses}/{uid}/bus" in lines
        files = (tmp_path / f"{user}.files").read_text().splitlines()
        assert files == ["/dev/null", "/dev/null"]
        assert lines[-3:] == ["--", "mts: wait", f"the job {EVIL} has been frozen for 61s"]


def test_a_bus_that_does_not_answer_silences_no_other(direct, tmp_path, buses):
    fakes = {
        "runuser": 'user=$2; shift 3; USER_=$user exec "$@"',
        "notify-send": f'[ "$USER_" = root ] && exec sleep 60; echo >{tmp_path}/$USER_',
    }
    began = time.monotonic()
    done = direct("notify", fakes, MTS_NOTIFY_RUNTIME=str(buses))
    said = "notify: root: notify-send failed with status 124\n"
    assert (done.returncode, done.stderr) == (1, said)
    assert time.monotonic() - began < 10
    assert (tmp_path / "daemon").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_notify(example, tmp_path, monkeypatch, buses):
    """On the bus of each user that has one."""
    monkeypatch.setenv("MTS_NOTIFY_RUNTIME", str(buses))
    (buses / "2").mkdir()
    text = f'echo "$DBUS_SESSION_BUS_ADDRESS" "$@" >>{tmp_path}/$USER_'
    # The user `daemon` may not read what root alone may.
    run = example("notify", notify_send=text, runuser='user=$2; shift 3; USER_=$user exec "$@"')
    shown = run("stop")
    assert (shown.status, shown.err) == (0, "")
    for user, uid in (("root", "0"), ("daemon", "1")):
        assert (tmp_path / user).read_text() == (
            f"unix:path={buses}/{uid}/bus --app-name=mts --urgency=critical -- mts: stop "
            "mts has stopped, all jobs run: the kernel was out of memory\n"
        )


def test_notify_send_is_missing(example, tmp_path, monkeypatch):
    """A PATH with the shell alone."""
    (tmp_path / "shell").mkdir()
    (tmp_path / "shell/sh").symlink_to("/bin/sh")
    run = example("notify", path=str(tmp_path / "shell"))
    shown = run("stop")
    assert shown.status == 1
    assert "notify: notify-send is missing" in shown.err
