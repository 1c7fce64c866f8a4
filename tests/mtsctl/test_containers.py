# SPDX-License-Identifier: GPL-2.0
"""Containers: their cgroups, their names, and what is asked of their engines."""

import contextlib
import fcntl
import json
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

PIN = 4
SECOND = 10**9
FIRST = 4_190_000  # no number of a process of this host
A, B, C = (letter * 64 for letter in "abc")
PODMAN = f"machine.slice/libpod-{A}.scope"
DOCKER = f"system.slice/docker-{B}.scope"


# ---- engines -----------------------------------------------------------------------------------


class Engines:
    """Programs in PATH that answer as podman, docker and nerdctl do."""

    def __init__(self, folder, monkeypatch):
        self.folder = folder
        self.folder.mkdir()
        self.asked = folder / "asked"
        # The shell of the programs, and nothing else.
        (folder / "sleep").symlink_to("/bin/sleep")
        (folder / "cat").symlink_to("/bin/cat")
        monkeypatch.setenv("PATH", str(folder))

    def script(self, engine, text):
        program = self.folder / engine
        program.write_text(f'#!/bin/sh\necho "{engine} $*" >>{self.asked}\n{text}\n')
        program.chmod(0o755)

    def says(self, engine, *containers, status=0):
        answer = self.folder / f"{engine}.json"
        answer.write_text(json.dumps(containers))
        self.script(engine, f"cat {answer}; exit {status}")

    def fails(self, engine, *lines):
        echoes = "\n".join(f"echo '{line}' >&2" for line in lines)
        self.script(engine, f"echo '[]'\n{echoes}\nexit 125")

    @property
    def questions(self):
        return self.asked.read_text().splitlines() if self.asked.exists() else []


@pytest.fixture
def engines(tmp_path, monkeypatch):
    return Engines(tmp_path / "engines", monkeypatch)


def container(number=A, name="web", pid=FIRST, status="running", check=None):
    return {
        "Id": number,
        "Name": name,
        "State": {"Status": status, "Pid": pid},
        "Config": {"Healthcheck": check},
    }


def check(timeout, interval=5, test=("CMD", "true")):
    return {"Test": list(test), "Interval": interval * SECOND, "Timeout": int(timeout * SECOND)}


@pytest.fixture
def web(host):
    """The container's cgroup, with the one that crun makes in it."""
    host.cgroup(PODMAN)
    host.cgroup(f"{PODMAN}/container")
    host.process(FIRST, f"/{PODMAN}/container")
    return host.cgroups / PODMAN


@pytest.fixture
def add(mtsctl, host):
    def run(*args, **fake):
        return mtsctl("add", "--container", *args, **host.fake, **fake)

    return run


# ---- add --container ---------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["web", A, A[:12], "a.b_c-D9"])
def test_add_a_container(add, engines, mtsctl, web, text):
    engines.says("podman", container())
    shown = add(text)
    assert (shown.status, shown.err) == (0, "")
    assert shown.out == f"container web is job 7: {web}\n"
    assert engines.questions == [f"podman container inspect {text}"]
    assert mtsctl.calls == ["add flags=0 fd=open"]


def test_add_a_container_with_options(add, engines, mtsctl, web):
    engines.says("podman", container())
    shown = add("web", "--pin", "--json", "--each=child")
    assert (shown.status, shown.err) == (0, "")
    assert json.loads(shown.out) == {
        "schema_version": 1,
        "id": 7,
        "cgroup": f"/{PODMAN}",
        "pid": None,
        "container": "web",
    }
    assert mtsctl.calls == [f"add flags={2 | PIN} fd=open"]


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        (DOCKER, ""),
        (DOCKER, "init.scope"),
        (DOCKER, f"docker/{C}"),
        (f"docker/{B}", ""),
        (f"a.slice/a-b.slice/nerdctl-{B}.scope", ""),
        (f"default/{B}", "x"),
        (f"libpod_parent/libpod-{B}", ""),
        (f"system.slice/web.service/libpod-payload-{B}", ""),
        (f"user.slice/user-1000.slice/user@1000.service/user.slice/libpod-{B}.scope", "container"),
    ],
)
def test_the_cgroup_of_the_container_and_not_one_inside(add, engines, host, path, inside):
    host.cgroup(path)
    host.cgroup(f"{path}/{inside}")
    host.process(FIRST, f"/{path}/{inside}".rstrip("/"))
    engines.fails("podman", "Error: no such container web")
    engines.says("docker", container(B, "/web"))
    shown = add("web")
    assert (shown.status, shown.err) == (0, "")
    assert shown.out == f"container web is job 7: {host.cgroups / path}\n"


@pytest.mark.parametrize(
    "path",
    [
        "user.slice/session.scope",
        f"machine.slice/libpod-conmon-{B}.scope",
        f"machine.slice/libpod-{C}.scope",
        f"machine.slice/libpod-{B}0.scope",
        f"machine.slice/libpod-{B.upper()}.scope",
        f"machine.slice/libpod-{B}.service",
    ],
)
def test_a_process_elsewhere_is_not_the_container(add, engines, mtsctl, host, path):
    host.cgroup(path)
    host.process(FIRST, f"/{path}")
    engines.says("podman", container(B))
    shown = add("web")
    assert (shown.status, mtsctl.calls) == (1, [])
    assert "is not in a cgroup of the container" in shown.err


def test_a_container_that_ends_meanwhile(add, engines, mtsctl):
    engines.says("podman", container())
    shown = add("web")
    assert (shown.status, mtsctl.calls) == (1, [])
    assert "the process has ended" in shown.err


@pytest.mark.parametrize("status", ["exited", "created", "stopped", "restarting"])
def test_a_container_that_does_not_run(add, engines, mtsctl, web, status):
    engines.says("podman", container(status=status, pid=0))
    shown = add("web")
    assert (shown.status, mtsctl.calls) == (1, [])
    assert f"container web of podman does not run: it is '{status}'" in shown.err


def test_a_paused_container(add, engines, web):
    engines.says("podman", container(status="paused"))
    assert add("web").status == 0


@pytest.mark.parametrize("name", ["", "-x", "--help", "a/b", "a b", "a;b", "ä", ".", "x" * 256])
def test_what_is_no_name_is_not_given_to_engines(add, engines, name):
    engines.says("podman", container())
    shown = add(f"{name}") if not name.startswith("-") else add("web", f"--container={name}")
    if not name.startswith("-"):
        assert "a name has letters, digits" in shown.err
    assert shown.status == 2
    assert engines.questions == []


@pytest.mark.parametrize(
    "args", [["web", "a"], ["web", "--pid", "1"], ["web", "--container", "db"]]
)
def test_one_thing_at_a_time(add, engines, mtsctl, args):
    engines.says("podman", container())
    assert add(*args).status == 2
    assert (mtsctl.calls, engines.questions) == ([], [])


# ---- which engine --------------------------------------------------------------------------


def test_no_engine(add, engines):
    shown = add("web")
    assert shown.status == 1
    assert "none of podman, docker and nerdctl is installed" in shown.err


def test_no_engine_knows_it(add, engines, mtsctl):
    engines.fails("podman", "a warning", "Error: no such container web")
    engines.fails("docker", "Cannot connect to the Docker daemon. Is it running?", "")
    shown = add("web")
    assert (shown.status, mtsctl.calls) == (1, [])
    assert shown.err.splitlines() == [
        "mtsctl: add: no container web:",
        "  podman: Error: no such container web",
        "  docker: Cannot connect to the Docker daemon. Is it running?",
        "  A rootless container is known to the engine of its user alone.",
    ]


def test_two_engines_know_it(add, engines, mtsctl, web):
    engines.says("podman", container())
    engines.says("docker", container(B, "/web"))
    shown = add("web")
    assert (shown.status, mtsctl.calls) == (2, [])
    assert f"podman and docker each have one: name it by its id, {A[:12]} or {B[:12]}" in shown.err


def test_docker_may_be_podman(add, engines, web):
    engines.says("podman", container())
    engines.says("docker", container())
    assert add("web").status == 0


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "nonsense",
        "[]",
        "{}",
        "[[]]",
        "[null]",
        json.dumps([{**container(), "Id": A[:12]}]),
        json.dumps([{**container(), "Id": 7}]),
        json.dumps([{**container(), "Name": None}]),
        json.dumps([{**container(), "Name": "a\nb"}]),
        json.dumps([{**container(), "Name": "//web"}]),
        json.dumps([{**container(), "State": "running"}]),
        json.dumps([container(pid=-1)]),
        json.dumps([container(pid=2**40)]),
        json.dumps([container(status=None)]),
        '[{"Id": "\\u0000"}]',
    ],
)
def test_a_strange_answer(add, engines, mtsctl, web, answer):
    engines.script("podman", f"cat <<'END'\n{answer}\nEND")
    shown = add("web")
    assert (shown.status, mtsctl.calls) == (1, [])
    assert "podman: its answer to 'container inspect' is not understood" in shown.err


def test_an_endless_answer(add, engines, mtsctl, web):
    engines.script("podman", "while :; do echo 0123456789012345678901234567890123456789; done")
    shown = add("web")
    assert (shown.status, mtsctl.calls) == (1, [])
    assert "podman: File too large" in shown.err


def living():
    """The fields of each process that is no zombie, the command without blanks."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = re.sub(r"\(.*\)", "-", stat.read_text()).split()
            if fields[2] != "Z":
                yield fields


def test_an_engine_that_hangs_is_ended(add, engines, mtsctl, web):
    """With what it has started."""
    engines.script("podman", f"echo $$ >{engines.folder}/pid; sleep 1000 & sleep 1001")
    engines.says("docker", container())
    began = time.monotonic()
    shown = add("nosuch", "--container=x")
    assert shown.status == 2  # given twice: nothing is asked
    assert time.monotonic() - began < 10
    shown = add("web")
    assert time.monotonic() - began < 45
    # The other one knows it.
    assert (shown.status, mtsctl.calls) == (0, ["add flags=0 fd=open"])
    group = (engines.folder / "pid").read_text().strip()
    assert not [line for line in living() if line[4] == group]


def test_a_child_of_an_engine_may_live_on(add, engines, web):
    """Podman leaves a process behind that keeps a rootless user's namespaces."""
    answer = json.dumps([container()])
    engines.script(
        "podman", f"sleep 60 & echo $! >{engines.folder}/pid\ncat <<'END'\n{answer}\nEND"
    )
    began = time.monotonic()
    assert add("web").status == 0
    assert time.monotonic() - began < 30
    os.kill(int((engines.folder / "pid").read_text()), 9)


# ---- health checks ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("checks", "call", "said"),
    [
        (None, "add flags=0 fd=open", ""),
        (check(6, test=["NONE"]), "add flags=0 fd=open", ""),
        (check(6, test=[]), "add flags=0 fd=open", ""),
        (check(6, interval=0), "add flags=0 fd=open", ""),  # podman: --health-interval=disable
        (check(6), "add flags=0 fd=open pause=3000000000", "never frozen for longer than 3.0 s"),
        (check(0), "add flags=0 fd=open pause=15000000000", "waits for it for 30.0 s"),
        (check(2), "add flags=0 fd=open pause=1000000000", "every 5.0 s"),
        (check(1.9), f"add flags={PIN} fd=open", "the job is pinned"),
    ],
)
def test_add_heeds_the_health_check(add, engines, mtsctl, web, *, checks, call, said):
    engines.says("podman", container(check=checks))
    shown = add("web")
    assert (shown.status, mtsctl.calls) == (0, [call])
    assert said in shown.err
    assert bool(said) == ("--max-pause" in shown.err) == bool(shown.err)


def test_defaults_of_docker(add, engines, mtsctl, host):
    host.cgroup(DOCKER)
    host.process(FIRST, f"/{DOCKER}")
    engines.says("docker", container(B, "/web", check=check(0, interval=0)))
    shown = add("web")
    assert mtsctl.calls == ["add flags=0 fd=open pause=15000000000"]
    assert "docker calls a health check every 30.0 s, and waits for it for 30.0 s" in shown.err


@pytest.mark.parametrize(
    ("args", "call", "said"),
    [
        (["--max-pause", "3s"], "add flags=0 fd=open pause=3000000000", ""),
        (
            ["--max-pause", "20s"],
            "add flags=0 fd=open pause=20000000000",
            "a pause may take 20.0 s",
        ),
        (["--max-pause", "off"], "add flags=0 fd=open", "a pause may take 30.0 s"),
        (["--pin"], f"add flags={PIN} fd=open", ""),
    ],
)
def test_the_command_line_wins_but_add_says_what_that_means(
    add, engines, mtsctl, web, *, args, call, said
):
    engines.says("podman", container(check=check(6)))
    shown = add("web", *args)
    assert (shown.status, mtsctl.calls) == (0, [call])
    assert said in shown.err
    assert bool(said) == ("may become unhealthy; --max-pause 3s avoids it" in shown.err)


def test_the_shorter_of_watchdog_and_health_check_counts(add, engines, mtsctl, host):
    path = f"system.slice/web.service/libpod-payload-{A}"
    host.cgroup(path)
    host.process(FIRST, f"/{path}", environ=["WATCHDOG_USEC=8000000"])
    for timeout, pause in ((6, 3), (10, 4)):
        engines.says("podman", container(check=check(timeout)))
        assert add("web").status == 0
        assert mtsctl.calls[-1] == f"add flags=0 fd=open pause={pause * SECOND}"


def test_an_old_module_has_no_limits(add, engines, mtsctl, web):
    engines.says("podman", container(check=check(6)))
    shown = add("web", abi=1)
    assert (shown.status, mtsctl.calls) == (0, ["add flags=0 fd=open"])
    assert "may become unhealthy; mtsctl set max_pause=3s avoids it" in shown.err


# ---- names -----------------------------------------------------------------------------------


def monitor(host, pid, *arguments):
    """Podman's conmon, in a cgroup of its own."""
    host.cgroup(f"machine.slice/libpod-conmon-{pid}.scope")
    host.process(pid, f"/machine.slice/libpod-conmon-{pid}.scope", comm="conmon")
    line = "\0".join(["/usr/bin/conmon", "--api-version", "1", *arguments, ""])
    (host.proc / f"{pid}/cmdline").write_text(line)


def reparent(host, pid, parent):
    status = host.proc / f"{pid}/status"
    status.write_text(status.read_text().replace("PPid:\t1\n", f"PPid:\t{parent}\n"))


def podman(host, pid, number=A, name="web"):
    path = f"machine.slice/libpod-{number}.scope"
    host.cgroup(path)
    host.cgroup(f"{path}/container")
    host.process(pid, f"/{path}/container")
    monitor(host, pid + 100, "-c", number, "-u", number, "-r", "crun", "-n", name, "-s")
    reparent(host, pid, pid + 100)
    return path


def docker(root, number=B, name="/db", folder="/var/lib/docker"):
    file = root / f"{folder.lstrip('/')}/containers/{number}/config.v2.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"ID": number, "Name": name}))


def nerdctl(root, number=C, name="cache", namespace="default"):
    tasks = root / f"run/containerd/io.containerd.runtime.v2.task/{namespace}/{number}"
    tasks.mkdir(parents=True)
    (tasks / "config.json").write_text(json.dumps({"annotations": {"nerdctl/name": name}}))


NERDCTL = f"system.slice/nerdctl-{C}.scope"


@pytest.fixture
def jobs(mtsctl, host, tmp_path):
    """Commands, where three containers and another cgroup are the jobs."""
    root = tmp_path / "root"
    podman(host, FIRST)
    for path in (DOCKER, NERDCTL, "x/other"):
        host.cgroup(path)
    docker(root)
    nerdctl(root, namespace="k8s.io")
    paths = [PODMAN, f"{DOCKER}", NERDCTL, "x/other"]

    def run(*args, paths=paths, **fake):
        return mtsctl(
            *args, scenario="cgroups", jobs=" ".join(paths), root=root, **host.fake, **fake
        )

    run.root = root
    return run


# ---- health checks of what a rule has enrolled ------------------------------------------------


@pytest.mark.parametrize(
    ("checks", "calls", "said"),
    [
        (None, [], ""),
        (check(6), ["job_pause 1 3000000000"], "never frozen for longer than 3.0 s"),
        (check(1.9), [f"job_set 1 mask={PIN} flags={PIN}"], "the job is pinned"),
    ],
)
def test_heed(jobs, engines, mtsctl, *, checks, calls, said):
    engines.says("podman", container(check=checks))
    shown = jobs("rules", "heed", A)
    assert (shown.status, mtsctl.calls) == (0, calls)
    assert said in shown.err
    assert bool(said) == bool(shown.err)
    assert engines.questions == [f"podman container inspect {A}"]


def test_heed_what_a_rule_says(jobs, engines, mtsctl):
    """max-pause=, also off, wins."""
    engines.says("podman", container(check=check(6)))
    shown = jobs("rules", "heed", f"{A}:keep")
    assert (shown.status, mtsctl.calls) == (0, [])
    assert "a pause may take 30.0 s" in shown.err
    assert "may become unhealthy; --max-pause 3s avoids it" in shown.err


def test_heed_what_is_no_job_any_more(jobs, engines, mtsctl):
    engines.says("podman", container("d" * 64, check=check(6)))
    shown = jobs("rules", "heed", "d" * 64)
    assert (shown.status, shown.err, mtsctl.calls, engines.questions) == (0, "", [], [])


def test_heed_a_container_that_no_engine_knows(jobs, engines, mtsctl):
    engines.fails("podman", "Error: no such container")
    shown = jobs("rules", "heed", A)
    assert (shown.status, mtsctl.calls) == (1, [])
    assert "podman: Error: no such container" in shown.err


@pytest.mark.parametrize("word", ["web", A[:12], f"{A}:", f"{A}:pin", f"{A}0", "", f"-{A[1:]}x"])
def test_heed_takes_whole_ids(jobs, engines, mtsctl, word):
    engines.says("podman", container(check=check(6)))
    assert jobs("rules", "heed", "--", word).status == 2
    assert (mtsctl.calls, engines.questions) == ([], [])


needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="it takes root to have a cgroup of another user"
)


def nobody_has(host, engines, checks):
    """The container is another user's."""
    os.chown(host.cgroups / PODMAN, 65534, 65534)
    answer = engines.folder / "answer"
    answer.write_text(json.dumps([container(check=checks)]))
    engines.script(
        "setpriv", f'[ "$7" = podman ] || [ "$8" = podman ] || exit 127; exec cat {answer}'
    )


@needs_root
@pytest.mark.parametrize(
    ("keys", "timeout", "pause"),
    [("", 1, 0), ("", 19, 0), ("", 20, 10), ("max_pause=2s", 3.9, 0), ("max_pause=2s", 4, 2)],
)
def test_a_users_check_is_heeded_within_the_limits_of_users(jobs, engines, mtsctl, host, *, keys,
                                                            timeout, pause):  # fmt: skip
    """Fault: --health-timeout=1s had root pin any number of containers of a user."""
    host.conf(f"[users]\njobs=5\n{keys}\n")
    nobody_has(host, engines, check(timeout))
    shown = jobs("rules", "heed", A)
    assert shown.status == 0
    assert mtsctl.calls == ([f"job_pause 1 {pause * SECOND}"] if pause else [])
    if not pause:
        assert "a user's container gets no pause limit below" in shown.err
        assert "it may become unhealthy" in shown.err


@needs_root
@pytest.mark.parametrize(("usec", "pause"), [(1000000, 0), (19000000, 0), (20000000, 10)])
def test_a_users_watchdog_is_heeded_within_the_limits_of_users(mtsctl, host, usec, pause):
    """Fault: any process of a user can have WATCHDOG_USEC=, and had root pin its cgroup."""
    host.cgroup("x/own")
    os.chown(host.cgroups / "x/own", 65534, 65534)
    host.process(FIRST, "/x/own", environ=[f"WATCHDOG_USEC={usec}"])
    host.conf("[rules]\nexclusions=off\n[rule own]\ncgroup=x/own\n")
    shown = mtsctl("rules", "apply", **host.fake)
    text = f" pause={pause * SECOND}" if pause else ""
    assert mtsctl.calls == [f"add flags=0 fd=open{text}"], shown.err
    assert pause or "a user's service gets no pause limit below" in shown.err


@needs_root
def test_a_user_has_one_health_check_looked_up_at_a_time(jobs, engines, host, tmp_path):
    """Fault: each cgroup that looks like a container started a process of root's at once."""
    nobody_has(host, engines, check(30))
    lock = (tmp_path / "65534").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    with ThreadPoolExecutor() as pool, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUNTIME_DIRECTORY", str(tmp_path))
        asked = pool.submit(jobs, "rules", "heed", A)
        time.sleep(1)
        assert not engines.questions
        lock.close()
        assert asked.result().status == 0
    assert engines.questions


def test_an_engine_has_no_terminal(engines, mtsctl, web, host, tmp_path):
    """Fault: a user's podman had that of root, and could type commands there (TIOCSTI)."""
    for engine in ("podman", "docker"):
        engines.script(engine, f"if (: </dev/tty) 2>/dev/null; then echo tty >>{tmp_path}/tty; fi")
    said = mtsctl.at_terminal("add", "--container", "web", **host.fake)
    assert "its answer to 'container inspect' is not understood" in said
    assert len(engines.questions) == 2
    assert not (tmp_path / "tty").exists()


@needs_root
def test_heed_the_container_of_another_user(jobs, engines, mtsctl, host):
    """Its engine knows the containers of its user alone."""
    nobody_has(host, engines, check(30))
    shown = jobs("rules", "heed", A)
    assert (shown.status, mtsctl.calls) == (0, ["job_pause 1 15000000000"]), shown.err
    assert engines.questions[0] == (
        "setpriv --reuid=65534 --regid=65534 --init-groups --reset-env "
        f"env XDG_RUNTIME_DIR=/run/user/65534 podman container inspect {A}"
    )


@pytest.fixture
def rule(host, mtsctl, engines, web, monkeypatch):
    """Of rules apply of a rule with more keys, as a service; Return: units that are started."""
    monkeypatch.setenv("NOTIFY_SOCKET", "/nonexistent")
    engines.script("systemctl", "exit 0")

    def run(*keys):
        host.conf("\n".join(["[rule web]", f"cgroup={PODMAN}", *keys]))
        shown = mtsctl("rules", "apply", **host.fake)
        assert shown.status == 0, shown.err
        return engines.questions

    return run


@pytest.mark.parametrize(
    ("keys", "instance"),
    [([], A), (["max-pause=20s"], f"{A}:keep"), (["max-pause=off"], f"{A}:keep")],
)
def test_a_rule_has_the_check_heeded(rule, mtsctl, keys, instance):
    """mts.service may not ask an engine: another one does."""
    assert rule(*keys) == [f"systemctl --no-block start mts-container@{instance}.service"]
    assert len(mtsctl.calls) == 1


def test_a_pinned_container_needs_no_check(rule):
    assert rule("pin=yes") == []


def test_a_cgroup_in_a_container_has_no_check(rule, host, mtsctl, engines):
    host.conf(f"[rule web]\ncgroup={PODMAN}/container\n")
    assert mtsctl("rules", "apply", **host.fake).status == 0
    assert (len(mtsctl.calls), engines.questions) == (1, [])


def test_a_service_that_does_not_start_is_said(rule, engines, host, mtsctl):
    engines.script("systemctl", "echo 'no such unit' >&2; exit 5")
    host.conf(f"[rule web]\ncgroup={PODMAN}\n")
    shown = mtsctl("rules", "apply", **host.fake)
    assert shown.status == 0
    assert f"the health check of container {A[:12]} is not heeded: no such unit" in shown.err


def test_names_in_status(jobs):
    out = jobs("status").out
    assert re.findall(r"^ +(\d) (\S+) ", out, re.M) == [
        ("1", "web"), ("2", "db"), ("3", "cache"), ("4", "other"),
    ]  # fmt: skip
    assert "CGROUP" not in out  # the names tell them apart
    listed = json.loads(jobs("status", "--json").out)["jobs"]
    assert [job["container"] for job in listed] == ["web", "db", "cache", None]
    assert listed[0]["name"] == f"libpod-{A}"[:63]


def test_names_in_top(jobs):
    for order in ("id", "name"):
        out = jobs("top", "-b", "-n", "1", "-o", order).out
        names = re.findall(r"^ +\d (\S+) ", out, re.M)
        assert names[-4:] == (
            ["web", "db", "cache", "other"] if order == "id" else ["cache", "db", "other", "web"]
        )


LOGIN = "user.slice/user-60001.slice/session-3.scope"
MANAGER = "user.slice/user-60002.slice/user@60002.service/app.slice/sim.scope"


@pytest.fixture
def tree(jobs, host):
    """
    A container of user 60001; a login of 60002, from which two came, one from the other, that have
    cgroups of the module's; a scope of 60001's own; and one that came from a job that is gone.
    """
    paths = [PODMAN, LOGIN, "mts/session-3.scope.1", "mts/session-3.scope.1.1", MANAGER]
    paths += ["mts/session-9.scope.1", "mts.slice/mts-jobs.slice/sim.scope.1"]
    for path in paths[1:]:
        host.cgroup(path)

    def run(*args, **fake):
        return jobs(*args, paths=paths, parents="0 0 2 3 0 999 5", users=2, **fake)

    return run


@pytest.mark.parametrize("user", ["root", "ada"])
def test_units(tree, user):
    """A job that came from another one is in its unit. As ada the kernel opens no cgroup by id."""
    fake = {"user": user, "fail": "cgroup_open=1"} if user == "ada" else {}
    listed = json.loads(tree("status", "--json", **fake).out)["jobs"]
    assert [job["unit"] for job in listed] == [
        f"libpod-{A}.scope", *["session-3.scope"] * 3, "sim.scope", "session-9.scope",
        "sim.scope",
    ]  # fmt: skip
    assert [job["container"] for job in listed] == ["web", *[None] * 6]


def test_the_unit_of_jobs_of_a_mtsd_of_a_user(jobs, host):
    """
    It makes cgroups beside that of its service. To systemd they are no units: the innermost one is
    the slice of that service, for all of these jobs. What tells them apart is their name.
    """
    apps = "user.slice/user-60001.slice/user@60001.service/app.slice"
    paths = [f"{apps}/mts/{name}" for name in ("sim", "sim.2")] + [f"{apps}/editor.scope"]
    for path in paths:
        host.cgroup(path)
    listed = json.loads(jobs("status", "--json", paths=paths, parents="0 0 0").out)["jobs"]
    assert [(job["name"], job["unit"]) for job in listed] == [
        ("sim", "app.slice"), ("sim.2", "app.slice"), ("editor.scope", "editor.scope"),
    ]  # fmt: skip


def test_sums_by_unit_and_container(tree):
    rows = r"^(\S+) +(60001|60002) +(\d) +0 +\d.* MiB"
    by_unit = [
        ("libpod", "60001", "1"),
        ("sessio", "60001", "1"),
        ("sessio", "60002", "2"),
        ("sessio", "60002", "1"),
        ("sim.sc", "60001", "2"),
    ]
    by_container = [("web", "60001", "1"), ("-", "60001", "3"), ("-", "60002", "3")]
    for by, wanted in (("unit", by_unit), ("container", by_container)):
        for command in (["status"], ["top", "-bn1", "-d10ms"]):
            out = tree(*command, "--by", by).out
            assert re.search(rf"^{by.upper()} +USER +JOBS +FROZEN +DEMAND", out, re.M)
            found = [(name[:6], user, jobs) for name, user, jobs in re.findall(rows, out, re.M)]
            assert found == wanted, out
            assert max(map(len, out.splitlines())) <= 80
            assert " ID " not in out
    out = tree("status", "--by", "user").out
    assert re.findall(r"^(\d+) +(\d) +0 ", out, re.M) == [("60001", "4"), ("60002", "3")]
    out = tree("status").out
    assert "\nUSER  " in out
    assert " ID " in out


def test_the_unit_of_a_process(tree, host):
    host.process(FIRST + 9, "/mts/session-3.scope.1.1")
    out = tree("why", str(FIRST + 9)).out
    assert re.search(r"^unit +session-3.scope$", out, re.M)
    assert json.loads(tree("why", "--json", str(FIRST + 9)).out)["job"]["unit"] == "session-3.scope"
    host.process(FIRST + 10, "/mts/session-9.scope.1")
    assert "\nunit       session-9.scope\n" in tree("why", str(FIRST + 10)).out


def test_names_in_why(jobs):
    out = jobs("why", str(FIRST)).out
    assert re.search(r"^container +web$", out, re.M)
    assert json.loads(jobs("why", "--json", str(FIRST)).out)["job"]["container"] == "web"


def test_a_user_sees_names_of_podman(jobs):
    """The kernel opens no cgroup by its id for him."""
    listed = json.loads(jobs("status", "--json", user="ada", fail="cgroup_open=1").out)["jobs"]
    assert listed[0]["container"] == "web"
    assert listed[3]["container"] is None


def test_an_exec_in_the_container_comes_first(jobs, host):
    """Its process was started by a monitor of its own, by way of a shell."""
    procs = host.cgroups / PODMAN / "container/cgroup.procs"
    host.process(FIRST + 5, f"/{PODMAN}/container")
    procs.write_text(f"{FIRST + 5}\n{FIRST}\n")
    host.process(FIRST + 6, "/x/other", comm="sh")
    monitor(host, FIRST + 7, "-c", A, "-u", "1" * 64, "-n", "web", "-e")
    reparent(host, FIRST + 5, FIRST + 6)
    reparent(host, FIRST + 6, FIRST + 7)
    assert json.loads(jobs("status", "--json").out)["jobs"][0]["container"] == "web"


@pytest.mark.parametrize(
    "arguments",
    [
        ["-c", B, "-n", "web"],
        ["-n", "web"],
        ["-c", A],
        ["-c", A, "-n"],
        ["-c", A, "-n", ""],
        ["-c", A, "-n", "a b"],
        ["-c", A, "-n", "x" * 300],
        ["-n", "web", "-c", B],
        [],
    ],
)
def test_a_monitor_that_does_not_say_the_name(jobs, host, arguments):
    line = "\0".join(["conmon", *arguments, ""])
    (host.proc / f"{FIRST + 100}/cmdline").write_text(line)
    shown = jobs("status", "--json")
    assert json.loads(shown.out)["jobs"][0]["container"] is None
    assert "libpod-" in jobs("status").out


def test_a_container_does_not_say_its_own_name(jobs, host):
    """Fault: what ran in it was taken for its monitor, if it called itself so."""
    path = host.proc / str(FIRST)
    (path / "comm").write_text("conmon\n")
    (path / "cmdline").write_text("\0".join(["conmon", "-c", A, "-n", "proxy", ""]))
    assert json.loads(jobs("status", "--json").out)["jobs"][0]["container"] == "web"


@pytest.mark.parametrize(
    "text", ["", "nonsense", "[]", '{"Name": 7}', '{"Name": ""}', '{"Name": "//db"}']
)
def test_a_file_that_does_not_say_the_name(jobs, text):
    (jobs.root / f"var/lib/docker/containers/{B}/config.v2.json").write_text(text)
    assert json.loads(jobs("status", "--json").out)["jobs"][1]["container"] is None


def test_docker_elsewhere(jobs):
    (jobs.root / "etc/docker").mkdir(parents=True)
    (jobs.root / "etc/docker/daemon.json").write_text('{"data-root": "/srv/docker"}')
    assert json.loads(jobs("status", "--json").out)["jobs"][1]["container"] is None
    docker(jobs.root, name="/elsewhere", folder="/srv/docker")
    assert json.loads(jobs("status", "--json").out)["jobs"][1]["container"] == "elsewhere"


def test_a_renamed_container(jobs):
    """No name is kept."""
    file = jobs.root / f"var/lib/docker/containers/{B}/config.v2.json"
    file.write_text('{"Name": "/new"}')
    assert json.loads(jobs("status", "--json").out)["jobs"][1]["container"] == "new"


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("web", 1),
        ("db", 2),
        ("container=cache", 3),
        (f"container={A}", 1),
        (f"container={A[:12]}", 1),
        (B[:20], 2),
        ("other", 4),
        ("name=other", 4),
    ],
)
def test_a_container_is_named_to_commands(jobs, mtsctl, word, number):
    assert jobs("remove", word).status == 0
    assert mtsctl.calls == [f"remove {number}"]


@pytest.mark.parametrize(
    ("word", "message", "status"),
    [
        ("name=web", "no job name=web", 1),
        ("container=other", "no job container=other", 1),
        ("container=", "an empty name", 2),
        (A[:11], "no job", 1),
        ("nosuch", "no job nosuch", 1),
    ],
)
def test_a_container_that_is_no_job(jobs, mtsctl, word, message, status):
    shown = jobs("pin", word)
    assert (shown.status, mtsctl.calls) == (status, [])
    assert message in shown.err


def test_a_name_of_two(jobs, host, mtsctl):
    host.cgroup("y/web")
    shown = jobs("remove", "web", paths=[PODMAN, "y/web"])
    assert (shown.status, mtsctl.calls) == (2, [])
    assert "web is the name of several jobs, such as 1 and 2" in shown.err
    assert "CGROUP" in jobs("status", paths=[PODMAN, "y/web"]).out
    assert jobs("remove", "container=web", paths=[PODMAN, "y/web"]).status == 0
    assert jobs("remove", "name=web", paths=[PODMAN, "y/web"]).status == 0
    assert mtsctl.calls == ["remove 1", "remove 2"]


# ---- rules -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("container=web", [PODMAN]),
        ("container=w*", [PODMAN]),
        ("container=web db", [PODMAN, DOCKER]),
        ("container=*", [PODMAN, DOCKER, NERDCTL]),
        ("container=*\ncgroup=system.slice/**", [DOCKER, NERDCTL]),
        ("container=none", []),
        ("container=web\neach=leaf", [f"{PODMAN}/container"]),
        ("container=web\nuser=4711", []),
    ],
)
def test_rules_by_the_name_of_a_container(jobs, host, rule, expected):
    for pid, path in ((FIRST + 20, DOCKER), (FIRST + 21, NERDCTL), (FIRST + 22, "x/other")):
        host.process(pid, f"/{path}")
    host.cgroup("")
    host.conf(f"[rule r]\n{rule}\n")
    shown = jobs("rules", "apply", paths=[])
    assert (shown.status, shown.err) == (0, "")
    added = re.findall(r"^(/\S+) is job \d+$", shown.out, re.M)
    assert added == [str(host.cgroups / path) for path in expected]


def test_rules_explain_containers(jobs, host):
    host.process(FIRST + 22, "/x/other")
    host.cgroup("")
    host.conf("[rule r]\ncontainer=d*\n")
    out = jobs("rules", "explain", PODMAN, paths=[]).out
    assert "container=d* does not match its container web" in out
    assert (
        "container=d*: it is in no container" in jobs("rules", "explain", "x/other", paths=[]).out
    )
    (host.proc / f"{FIRST + 100}/cmdline").write_text("")
    out = jobs("rules", "explain", PODMAN, paths=[]).out
    assert f"container=d*: the name of container {A[:12]} is not known" in out


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("container=a/b", "the name of a container has no slash: cgroup= takes a path"),
        ("container=", "a value is missing"),
        ("container=a\ncontainer=b", "container is given twice"),
        ("containers=a", "is it container?"),
        ("each=leaf\nuser=0", "name that with cgroup=, unit= or container="),
    ],
)
def test_bad_rules(mtsctl, host, rule, message):
    host.conf(f"[rule r]\n{rule}\n")
    shown = mtsctl("config", "check", **host.fake)
    assert shown.status == 2
    assert message in shown.err
