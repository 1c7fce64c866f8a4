# SPDX-License-Identifier: GPL-2.0
"""The Python package: what it asks of mtsctl, and what it makes of the answers."""

import dataclasses
import datetime
import doctest
import gc
import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import typing
import warnings
from pathlib import Path

import mts
import pytest
from mts import client, load, membership, records, values

from tests.mtsctl.conftest import BUILD, ROOT
from tests.mtsctl.test_schema import EVENTS, SCHEMAS, ask, events, plain

__all__ = ["events", "plain"]  # fixtures
SECOND = 10**9


@pytest.fixture
def fake(built, tmp_path, monkeypatch):
    """A function that says what the module is like; it returns what was asked of the module."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "mtsctl").symlink_to(BUILD / "mtsctl-plain/mtsctl-fake")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    log = tmp_path / "calls"
    monkeypatch.setenv("MTS_FAKE_LOG", str(log))

    def be(scenario="idle", **settings):
        monkeypatch.setenv("MTS_FAKE", scenario)
        for name, value in settings.items():
            monkeypatch.setenv(f"MTS_FAKE_{name.upper()}", str(value))
        return lambda: log.read_text().splitlines() if log.exists() else []

    be()
    return be


@pytest.fixture
def script(tmp_path, monkeypatch):
    """A mtsctl that is a shell script."""
    folder = tmp_path / "scripts"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def write(text):
        (folder / "mtsctl").write_text(f"#!/bin/sh\n{text}\n")
        (folder / "mtsctl").chmod(0o755)

    return write


# ---- records are those of the schemas ----------------------------------------------


TOP = {
    "status": records.Status, "get": records.Config, "stats": records.Stats,
    "plan": records.Plan, "why": records.Why, "doctor": records.Doctor, "watch": records.Event,
}  # fmt: skip
KINDS = {
    "integer": int, "number": float, "string": str, "boolean": bool, "null": type(None),
}  # fmt: skip


def arms(hint):
    """The types of a union; of another type: itself."""
    return {*typing.get_args(hint)} if "|" in str(hint) else {hint}


def compare(hint, part, schema):
    """Does a field's type admit what its schema does, and nothing else?"""
    if "$ref" in part:
        return compare_records(hint, schema["$defs"][part["$ref"].split("/")[-1]], schema)
    if "anyOf" in part:
        options = [option for option in part["anyOf"] if option != {"type": "null"}]
        assert (len(options) < len(part["anyOf"])) == (type(None) in arms(hint))
        rest = arms(hint) - {type(None)}
        if len(rest) == 1:
            return [compare(next(iter(rest)), option, schema) for option in options]
        return [compare(its, o, schema) for its, o in zip(rest_of(rest), options, strict=True)]
    if "const" in part or "enum" in part:
        given = part.get("enum", [part.get("const")])
        assert {type(value) for value in given} == arms(hint)
    elif part["type"] == "array":
        assert typing.get_origin(hint) is tuple
        return compare(typing.get_args(hint)[0], part["items"], schema)
    elif part["type"] == "object":
        assert typing.get_origin(hint) is dict
    else:
        given = part["type"] if isinstance(part["type"], list) else [part["type"]]
        assert {KINDS[name] for name in given} == arms(hint)
    return None


def rest_of(types):
    """In the order of the schemas: numbers, and then words, or the other way round."""
    return sorted(types, key=lambda its: its is not int)


def compare_records(kind, part, schema):
    names = {name.rstrip("_"): hint for name, hint in typing.get_type_hints(kind).items()}
    properties = {key: its for key, its in part["properties"].items() if key != "schema_version"}
    assert names.keys() == properties.keys(), kind
    for name, hint in names.items():
        if name != "step":  # words or a number: in any order
            compare(hint, properties[name], schema)


@pytest.mark.parametrize("name", TOP)
def test_records_have_the_fields_of_the_schemas(name):
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    compare_records(TOP[name], schema, schema)


def as_json(value):
    """A record as it was printed."""
    if dataclasses.is_dataclass(value):
        return {
            f.name.rstrip("_"): as_json(getattr(value, f.name)) for f in dataclasses.fields(value)
        }
    if isinstance(value, tuple):
        return [as_json(its) for its in value]
    return value


@pytest.mark.parametrize("scenario", ["rotating", "groups", "queue", "empty", "slow-swap"])
def test_status_is_what_mtsctl_prints(fake, plain, scenario):
    fake(scenario)
    printed = ask(plain, "status", "--json", scenario=scenario)
    assert as_json(mts.status()) | {"schema_version": 1} == printed


# ---- what is asked, and what comes back ---------------------------------------------


def test_state(fake, host):
    fake("rotating")
    status = mts.status()
    assert (status.state, status.reason, status.current_bin) == ("running", "overcommit", 1)
    assert status.page.out == records.Way(8240, 2700, 5540, 4 * SECOND)
    assert status.page.in_ is None
    job = mts.jobs()[0]
    assert (job.id, job.name, job.state, job.bin) == (1, "alpha", "frozen", 0)
    assert job in status.jobs
    assert mts.stats().switches == 36
    assert mts.config().slice_ns == 2 * SECOND
    doctor = mts.doctor()
    assert doctor.problems == sum(its.level == "problem" for its in doctor.findings) > 0


def test_why(fake, host):
    host.cgroup("theirs")
    host.process(77, "/theirs")
    fake("rotating", **host.fake)
    assert mts.why(77).job is None
    with pytest.raises(mts.MtsError, match="no process 4000000") as caught:
        mts.why(4000000)
    assert (caught.value.status, type(caught.value)) == (1, mts.MtsError)
    assert caught.value.command[1:] == ("why", "--json", "4000000")
    assert caught.value.message == "why: no process 4000000"


def test_plan(fake):
    fake("absent")
    plan = mts.plan([("6G", 10)], capacity="22G", processors=2, swap_speed="3G", step="bin")
    assert (plan.fits, len(plan.bins), len(plan.jobs)) == (False, 4, 10)
    assert plan.forecast.chosen == "bins"
    queued = mts.plan(
        ["6G", 5 << 30], capacity=8 << 30, work=datetime.timedelta(minutes=10), queue=True
    )
    assert [job.queue_starts_after for job in queued.jobs] == [0, 1]
    assert queued.forecast.queue_done_ns == 600 * SECOND * 2  # one processor
    pinned = mts.plan(["1G"], pinned_sizes=["2G"], capacity="8G", max_pause=2.5, min_slice="1s")
    assert pinned.config.max_pause_ns == 2.5 * SECOND
    assert {job.bin for job in pinned.jobs} == {0, "every"}


def test_configure(fake):
    calls = fake()
    mts.configure(mode="always", slice=2, bin=1 << 30, max_pause="auto")
    assert re.search(r"mode=2 .*slice=2000000000 bin=1073741824 .*pause=0 ", calls()[0])
    with pytest.raises(mts.UsageError, match="sliec") as caught:
        mts.configure(sliec=2)
    assert caught.value.status == 2
    assert len(calls()) == 1


def test_configure_saves(fake, host):
    host.conf("")
    fake(**host.fake)
    mts.configure(max_pause=20, save=True)
    assert "max_pause" in (host.etc / "conf.d/50-saved.conf").read_text()


def test_jobs_come_and_go(fake, host):
    host.cgroup("a")
    host.process(100, "/a")
    host.process(101, "/a")
    calls = fake("rotating", **host.fake)
    assert mts.add("a", pin=True, max_pause=2, each="child") == 7
    with pytest.raises(mts.UsageError, match="holds 1 other process"):
        mts.add(pid=100)
    assert mts.add(pid=100, whole=True) == 7
    mts.pin("alpha", 2)
    mts.unpin(mts.jobs()[0])
    mts.pause(1, max_pause=1.5)
    mts.pause(1, max_pause=None)
    mts.weigh(1, weight=200)
    mts.weigh_user("root", 200)
    mts.weigh_user(1000, 50)
    mts.remove("alpha")
    mts.thaw()
    assert calls() == [
        "add flags=6 fd=open pause=2000000000",
        "add flags=0 fd=open",
        "job_set 1 mask=4 flags=4",
        "job_set 2 mask=4 flags=4",
        "job_set 1 mask=4 flags=0",
        "job_pause 1 1500000000",
        "job_pause 1 0",
        "job_weight 1 200",
        "user_weight 0 200",
        "user_weight 1000 50",
        "remove 1",
        "thaw",
    ]
    with pytest.raises(mts.MtsError, match="nobody"):
        mts.remove("nobody")


def test_an_engine_is_asked_for(fake):
    assert mts.Client("/run/x").command("status")[1:] == ["--engine", "/run/x", "status"]
    assert mts.Client(engine="userspace").status().abi == 4


def test_values():
    assert doctest.testmod(values) == (0, 5)
    assert doctest.testmod(client) == (0, 1)


# ---- what goes wrong -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "error", "status", "text"),
    [
        ("absent", mts.NotLoadedError, 3, "is the module loaded?"),
        ("forbidden", mts.NotPermittedError, 4, "run as root"),
    ],
)
def test_errors(fake, scenario, error, status, text):
    fake(scenario)
    for ask_it in (mts.status, mts.jobs, mts.stats, mts.config, mts.thaw, mts.plan):
        with pytest.raises(error, match=re.escape(text)) as caught:
            ask_it()
        assert caught.value.status == status
        assert not str(caught.value).startswith("mtsctl")


def test_no_mtsctl(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(client, "FOLDERS", ())
    with pytest.raises(mts.NotFoundError, match="mts-tools"):
        mts.status()


def test_fields_of_a_newer_mtsctl_are_passed_over(script, plain):
    said = ask(plain, "status", "--json", scenario="rotating")
    said["novelty"] = said["jobs"][0]["novelty"] = {"a": 1}
    script(f"cat <<'END'\n{json.dumps(said)}\nEND")
    assert mts.status().jobs[0].name == "alpha"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"schema_version": 2}, "schema_version 2, not 1"),
        ({"schema_version": None}, "schema_version None"),
        ({}, "no field 'state'"),
    ],
)
def test_other_versions_are_refused(script, change, text):
    script(f"echo '{json.dumps({'schema_version': 1, 'abi': 4} | change)}'")
    with pytest.raises(mts.ProtocolError, match=text):
        mts.status()


@pytest.mark.parametrize("said", ["", "[]", "{}", "no JSON", '{"abi": 4}'])
def test_an_old_mtsctl_is_refused(script, said):
    script(f"echo '{said}'")
    with pytest.raises(mts.ProtocolError, match="older"):
        mts.status()


def test_the_version_is_that_of_mtsctl():
    header = (ROOT / "userspace/mtsctl/format.h").read_text()
    assert f"#define JSON_SCHEMA_VERSION {load.SCHEMA_VERSION}\n" in header


# ---- commands as jobs ------------------------------------------------------------------


def test_run(fake):
    calls = fake()
    done = mts.run(
        ["sh", "-c", "cat; exit 7"],
        name="mine", size="6G", queue=True, max_wait="1h", each=True,
        input="x", stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (7, "x")
    assert calls()[0].startswith("submit name=mine flags=")
    assert calls()[1] == f"size={6 << 30} wait={3600 * SECOND}"
    with pytest.raises(subprocess.CalledProcessError):
        mts.run(["false"], check=True)


def test_start(fake, capfd):
    with mts.start(["cat"], pin=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.communicate(b"x")[0] == b"x"
    assert process.returncode == 0


def test_a_job_that_is_not_made(fake, capfd):
    fake(fail="job_submit=28")
    with pytest.raises(mts.NotStartedError, match="no room") as caught:
        mts.run(["true"], stderr=subprocess.PIPE)
    assert caught.value.status == 125
    with pytest.raises(mts.NotStartedError, match="on standard error"):
        mts.run(["true"])
    assert "no room" in capfd.readouterr().err


# ---- this process as a job -------------------------------------------------------------


@pytest.fixture
def tree(fake, tmp_path, monkeypatch):
    """A cgroup tree of plain files. tests/engine/test_python.py has a real one."""
    root = tmp_path / "tree"
    for name in ("home", "mts/job"):
        (root / name).mkdir(parents=True)
    monkeypatch.setattr(membership, "mount", lambda: root)
    where = {"self": "/home"}
    monkeypatch.setattr(membership, "cgroup_of", lambda pid: where.get(pid, "/mts/job"))
    move = membership.move

    def move_and_note(cgroup):
        move(cgroup)
        where["self"] = cgroup

    monkeypatch.setattr(membership, "move", move_and_note)
    return root


def moved_to(root):
    return sorted(path.parent.name for path in root.rglob("cgroup.procs"))


def children():
    pids = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return {Path(f"/proc/{pid}/comm").read_text().strip() for pid in pids}


def test_job(tree, fake):
    calls = fake()
    before = children()
    with mts.job(size="2G", max_pause=3, name="mine") as job:
        assert job == membership.Membership(name="job", cgroup="/mts/job")
        assert moved_to(tree) == ["job"]
        assert children() == before | {"cat"}  # it keeps our place
        with pytest.raises(RuntimeError, match="already"), mts.job():
            pass
    assert moved_to(tree) == ["home", "job"]
    assert children() == before
    assert re.match(r"submit name=mine flags=\d+ ret=0 pause=3000000000$", calls()[0])
    assert calls()[1] == f"size={2 << 30} wait=0"
    with mts.job():
        pass
    assert re.match(rf"submit name=[\w.-]+-{os.getpid()} ", calls()[2])


def test_a_body_that_fails_leaves_the_job(tree):
    before = children()
    with pytest.raises(ZeroDivisionError), mts.job():
        1 / 0  # noqa: B018
    assert moved_to(tree) == ["home", "job"]
    assert children() == before


def test_a_child_does_not_keep_it_in_the_job(tree):
    """Fault: the child has the pipe open whose end was waited for."""
    before = children()
    began = time.monotonic()
    with warnings.catch_warnings(), mts.job():
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork() beside threads
        child = os.fork()
        if not child:
            time.sleep(30)
            os._exit(0)
    took = time.monotonic() - began
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert took < 20
    assert moved_to(tree) == ["home", "job"]
    assert children() == before


def test_a_job_that_is_refused_has_no_body(tree, fake):
    fake(fail="job_submit=17")
    before = children()
    with pytest.raises(mts.NotStartedError, match="choose another"), mts.job(name="mine"):
        pytest.fail("the body ran")
    assert moved_to(tree) == []
    assert children() == before


def test_ctrl_c_before_the_body_leaves_the_job(tree, monkeypatch):
    join = membership.join

    def interrupted(run):
        join(run)
        raise KeyboardInterrupt

    monkeypatch.setattr(membership, "join", interrupted)
    with pytest.raises(KeyboardInterrupt), mts.job():
        pytest.fail("the body ran")
    assert moved_to(tree) == ["home", "job"]


def test_a_place_that_one_may_not_move_to(tree, monkeypatch):
    before = children()
    shutil.rmtree(tree / "mts")
    with pytest.raises(mts.MtsError, match="cannot move to /mts/job"), mts.job():
        pytest.fail("the body ran")
    assert children() == before


def test_messages_that_are_not_utf8(tree, script):
    """With what can be read of them. As that of a name that is taken."""
    script("printf 'mtsctl: \\377 is taken\\n' >&2; exit 5")
    with pytest.raises(mts.MtsError, match="is taken"), mts.job():
        pytest.fail("the body ran")
    with pytest.raises(mts.MtsError, match="is taken"):
        next(mts.events())


@pytest.mark.parametrize("folder", ["", " ", "/", "usr/lib"])
@pytest.mark.parametrize("target", ["install", "uninstall"])
def test_the_makefile_leaves_the_root_alone(folder, target):
    """Fault: without a Python it removed /mts. Here nothing is run."""
    done = subprocess.run(
        ["make", "-n", "-C", ROOT / "userspace/python", target, f"PYTHONDIR={folder}"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert "say where packages of Python are" in done.stderr
    assert "/mts" not in done.stdout.replace(str(ROOT), "")


# ---- events ----------------------------------------------------------------------------


def left(events):
    return [*(events["tracing"] / "instances").iterdir()]


def test_events(fake, events):
    fake(**events)
    seen = []
    before = children()
    for event in mts.events():
        seen.append(event)
        if event.event == "mts_stop":
            break
    assert [its.event for its in seen] == [text.split(":")[0] for text in EVENTS]
    assert seen[1].timestamp == 12.345678
    assert seen[1].fields["why"] == "over"
    del event
    gc.collect()
    assert not left(events)
    assert children() <= before


def test_events_are_closed(fake, events):
    fake(**events)
    with mts.events() as stream:
        assert next(stream).event == "mts_round"
    with pytest.raises(StopIteration):
        next(stream)
    stream.close()
    assert not left(events)


def test_events_end_with_the_module(fake, events, caplog):
    fake(**events)
    stream = mts.events()
    next(stream)
    (instance,) = left(events)
    (instance / "events/mts/enable").unlink()
    (instance / "events/mts").rmdir()
    with caplog.at_level(logging.WARNING, "mts"), pytest.raises(mts.NotLoadedError) as caught:
        list(stream)
    assert caught.value.message == "the module has been unloaded"
    assert [*stream] == []


def test_lost_events_are_logged(fake, events, caplog):
    with events["events"].open("a") as lines:
        lines.write("CPU:1 [LOST 3 EVENTS]\n       mts-70      [001] .....    1.000000: x")
    fake(**events)
    with mts.events() as stream:
        assert len([next(stream) for _ in EVENTS]) == len(EVENTS)
        end = time.monotonic() + 20
        while not caplog.records and time.monotonic() < end:
            time.sleep(0.01)
    assert [record.getMessage() for record in caplog.records] == [
        "3 events were lost: they came faster than they were read"
    ]


# ---- docs/python.md --------------------------------------------------------------------


def examples():
    """Their pieces of Python, by the headings above."""
    for name in ("python.md", "howto.md"):
        for part in re.split(r"^#+ ", (ROOT / "docs" / name).read_text(), flags=re.M)[1:]:
            for block in re.findall(r"^```python\n(.*?)^```", part, re.M | re.S):
                yield pytest.param(block, id=part.split("\n")[0])


@pytest.fixture
def simulate(tmp_path, monkeypatch):
    """The program that they start: it ends at once."""
    (tmp_path / "simulate").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "simulate").chmod(0o755)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("tree", "simulate")
@pytest.mark.parametrize("code", examples())
def test_examples_run(fake, events, capsys, code):
    fake("queue", **events)
    exec(compile(code, "docs", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.strip()


def test_there_are_examples():
    assert len([*examples()]) == 4


def test_the_document_names_every_function():
    text = (ROOT / "docs/python.md").read_text()
    assert [name for name in mts.__all__ if not re.search(rf"\b{name}\b", text)] == []


def test_it_is_importable_alone():
    """It needs nothing but Python, and says that it is typed."""
    folder = ROOT / "userspace/python"
    words = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        f"import sys; sys.path[:0] = [{str(folder)!r}]; import mts",
    ]
    subprocess.run(words, check=True)
    assert (folder / "mts/py.typed").exists()
