# SPDX-License-Identifier: GPL-2.0
"""The JSON of each command is as userspace/schema says; docs/reference.md names its fields."""

import json
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest

from tests.mtsctl.conftest import BUILD, ROOT, Mtsctl

SCHEMAS = ROOT / "userspace/schema"
NAMES = sorted(path.name.split(".")[0] for path in SCHEMAS.iterdir())
SCENARIOS = re.findall(
    r'^\t\{ "([\w-]+)", \w+ \},$', (ROOT / "tests/mtsctl/fake_ipc.c").read_text(), re.M
)
CONTEXT = "       mts_rotor-70      [001] .....    12.345678: "
EVENTS = (
    "mts_round: round=1 bins=2 jobs=3 demand_bytes=4 resident_bytes=5 capacity_bytes=6 "
    "round_ns=7 longest_pause_ns=8",
    "mts_slice_end: round=1 bin=-1 why=over slice_ns=5 ran_ns=6",
    "mts_stop: reason=user frozen=2 detail=mtsctl (7) asked for a thaw",
)


def load(name: str) -> dict:
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text())


def check(name: str, value: object) -> None:
    jsonschema.Draft202012Validator(load(name)).validate(value)


@pytest.fixture
def plain(built, tmp_path):
    """Without sanitizers: it is called often."""
    return Mtsctl(BUILD / "mtsctl-plain/mtsctl-fake", tmp_path)


def ask(plain, *words: str, status: int = 0, **fake) -> dict:
    shown = plain(*words, **fake)
    assert shown.status == status, shown.err
    return json.loads(shown.out)


@pytest.fixture
def events(tmp_path) -> dict:
    """What fake_tracefs.c is told."""
    (tmp_path / "tracing/instances").mkdir(parents=True)
    lines = tmp_path / "lines"
    lines.write_text("".join(f"{CONTEXT}{event}\n" for event in EVENTS))
    return {"tracing": tmp_path / "tracing", "events": lines}


# ---- what commands print ----------------------------------------------------------


def test_every_command_with_json_has_a_schema(plain):
    commands = re.findall(r"^  (\w+) +[A-Z]", plain("help").out, re.M)
    assert len(commands) > 15
    has = {name for name in commands if "--json" in plain(name, "--help").out}
    assert has == {*NAMES}


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("command", ["status", "stats", "get", "plan"])
def test_each_scenario(plain, host, command, scenario):
    shown = plain(command, "--json", scenario=scenario, **host.fake)
    if command == "plan" and shown.status:
        assert "job" in shown.err  # there is none, or it is not known what each needs
        return
    assert shown.status == 0, shown.err
    check(command, json.loads(shown.out))


def test_weights_of_users(plain):
    said = ask(plain, "status", "--json", weights="0:300 4294967294:1")
    check("status", said)
    assert said["user_weights"] == [
        {"user": 0, "weight": 300},
        {"user": 4294967294, "weight": 1},
    ]


@pytest.mark.parametrize("abi", [1, 3])
@pytest.mark.parametrize("command", ["status", "stats", "get"])
def test_older_modules(plain, command, abi):
    check(command, ask(plain, command, "--json", abi=abi, scenario="rotating"))


@pytest.mark.parametrize("step", [4294967294, 4294967295, 512])
@pytest.mark.parametrize("size", [0, 1 << 30])
def test_get(plain, step, size):
    check("get", ask(plain, "get", "--json", config_step=step, config_bin=size))


@pytest.mark.parametrize(
    "words",
    [
        "--size 6Gx10 --capacity 22G --processors 2 --swap-speed 3G",
        "--size 6Gx10 --capacity 22G --swap-speed 3G --step 512M --work 10m",
        "--size 6Gx10 --capacity 22G --queue --work 10m",
        "--size 6Gx10 --pin-size 1G --capacity 22G",
        "--size 1G --capacity 22G",
        "--size 30Gx2 --capacity 22G --evict full --max-pause 2s",
    ],
)
def test_plan(plain, words):
    check("plan", ask(plain, "plan", "--json", *words.split(), scenario="absent"))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_why(plain, host, scenario):
    directory = host.cgroup("theirs/job")
    host.process(77, "/theirs/job")
    # Job 1's cgroup is this one.
    first = directory.stat().st_ino - (1 << 40)
    check("why", ask(plain, "why", "--json", "77", scenario=scenario, cgroup_id=first, **host.fake))


def test_why_a_job_is_gone(plain, host):
    inode = host.cgroup("a").stat().st_ino
    host.process(77, "/a")
    said = ask(plain, "why", "--json", "77", scenario="gone", cgroup_id=inode, **host.fake)
    assert said["was"]
    check("why", said)


def test_doctor(plain):
    check("doctor", ask(plain, "doctor", "--json", status=1))


def test_add(plain, host):
    host.cgroup("a")
    host.process(100, "/a")
    host.process(101, "/a")
    check("add", ask(plain, "add", "--json", "a", **host.fake))
    check("add", ask(plain, "add", "--json", "--pid", "100", takes=1, **host.fake))


@pytest.mark.parametrize("scenario", ["rotating", "absent"])
def test_monitor(plain, host, scenario):
    host.vitals(swap_free_kib=300, load="2.75", pswpin=7, pswpout=8, pgmajfault=9)
    words = ("--json", "--count", "2", "--interval", "10ms")
    lines = plain("monitor", *words, scenario=scenario, **host.fake).out.splitlines()
    assert len(lines) == 2
    for line in lines:
        check("monitor", json.loads(line))


def test_watch(plain, events):
    process = subprocess.Popen(
        [plain.program, "watch", "--json"],
        env=plain.environment(**events),
        stdout=subprocess.PIPE,
        text=True,
    )
    lines = [json.loads(process.stdout.readline()) for _ in EVENTS]
    process.terminate()
    assert process.communicate(timeout=60)[0] == ""
    assert process.returncode == 0
    for line in lines:
        check("watch", line)
    assert [line["event"] for line in lines] == ["mts_round", "mts_slice_end", "mts_stop"]
    assert lines[1]["fields"] == {
        "round": 1, "bin": -1, "why": "over", "slice_ns": 5, "ran_ns": 6,
    }  # fmt: skip
    assert lines[2]["fields"]["detail"] == "mtsctl (7) asked for a thaw"
    assert not [*(events["tracing"] / "instances").iterdir()]


# ---- the schemas themselves -------------------------------------------------------


def objects(value):
    """Each object in a value."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, (dict, list)):
            yield from objects(inner)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_a_schema(name):
    jsonschema.Draft202012Validator.check_schema(load(name))


@pytest.mark.parametrize("command", ["status", "plan", "get", "stats"])
def test_a_new_field_is_refused_wherever_it_is(plain, command):
    said = ask(plain, command, "--json", scenario="slow-swap")
    check(command, said)
    for place in objects(said):
        place["novelty"] = 1
        with pytest.raises(jsonschema.ValidationError):
            check(command, said)
        del place["novelty"]
    for key in [*said]:
        with pytest.raises(jsonschema.ValidationError):
            check(command, {k: v for k, v in said.items() if k != key})
    said["schema_version"] = 2
    with pytest.raises(jsonschema.ValidationError):
        check(command, said)


def fields(schema: dict):
    """Name and schema of each field, at any depth."""
    for part in objects(schema):
        if isinstance(part.get("properties"), dict) and "type" in part:
            yield from part["properties"].items()


@pytest.mark.parametrize("name", NAMES)
def test_fields_have_a_description_and_a_unit(name):
    suffixes = {"_ns": "ns", "_ms": "ms", "_permille": "permille", "_bytes": "bytes"}
    for key, field in fields(load(name)):
        assert field.get("description"), key
        for suffix, unit in suffixes.items():
            if key.endswith(suffix):
                assert field["x-unit"] == unit, key
        assert field.get("x-unit") in {None, "bytes", "ns", "ms", "s", "pages", "permille"}


def test_what_schemas_have_in_common_is_the_same():
    seen: dict[str, dict] = {}
    for name in ("status", "stats", "why"):
        for key, part in load(name)["$defs"].items():
            if key in {"page", "way", "queue", "call"}:
                assert seen.setdefault(key, part) == part
    assert len(seen) == 4


def words_of(table: str) -> list[str]:
    """Of a table of words.c, and what is printed for a number that has none."""
    text = (ROOT / "userspace/mtsctl/words.c").read_text()
    rows = re.search(rf"{table}\[\] = \{{(.*?)\n\}};", text, re.S)[1]
    return re.findall(r'\{ "([\w-]+)",', rows)


@pytest.mark.parametrize(
    ("table", "name", "path"),
    [
        ("state_words", "status", ["state"]),
        ("state_words", "why", ["state"]),
        ("reason_words", "status", ["reason"]),
        ("each_words", "status", ["each_how"]),
        ("job_state_words", "status", ["$defs", "job", "state"]),
        ("job_state_words", "why", ["$defs", "job", "state"]),
        ("call_words", "status", ["$defs", "call", "kind"]),
        ("size_from_words", "status", ["$defs", "job", "size_from"]),
        ("mode_words", "get", ["mode"]),
        ("policy_words", "get", ["policy"]),
        ("policy_words", "why", ["policy"]),
        ("policy_words", "status", ["$defs", "policy", "in_force"]),
        ("share_words", "get", ["share"]),
        ("pack_words", "get", ["pack"]),
        ("evict_words", "get", ["evict"]),
        ("demand_words", "get", ["demand"]),
        ("queue_words", "get", ["queue"]),
    ],
)
def test_words_are_those_of_mtsctl(table, name, path):
    schema = load(name)
    for key in path[:-1]:
        schema = schema[key]
    known = {word for word in schema["properties"][path[-1]]["enum"] if word}
    assert known == {*words_of(table), "unknown"}


# ---- docs/reference.md ------------------------------------------------------------


def documented(name: str) -> set[str]:
    """Words in backquotes where docs/reference.md has the fields of a command."""
    text = Path(ROOT / "docs/reference.md").read_text()
    json_part = re.search(r"^## JSON\n(.*?)^## ", text, re.M | re.S)[1]
    head, status, others = re.split(r"^`status --json`:$|^Other commands:$", json_part, flags=re.M)
    part = head
    if name == "status":
        part += status
    else:
        row = re.search(rf"^\| `{name}(?: list)? --json` \|.*\n(?:\| \| .*\n)*", others, re.M)
        assert row, name
        part += row[0]
    if name == "stats":
        # `page` is as in status
        part += re.search(r"^## Counters\n(.*?)^## ", text, re.M | re.S)[1] + status
    if name == "why":
        part += "".join(
            re.findall(r"^\| `(?:queue|last_call)` \|.*\n(?:\| \| .*\n)*", status, re.M)
        )
    return {*re.findall(r"`([\w-]+)(?:\[\])?`", part)}


@pytest.mark.parametrize("name", NAMES)
def test_reference_names_each_field(name):
    missing = {key for key, _ in fields(load(name))} - documented(name)
    assert not missing
