# SPDX-License-Identifier: GPL-2.0
"""The protocol of uapi/mts.h over mtsd's socket, and mtsctl with it."""

import contextlib
import errno
import fcntl
import json
import os
import resource
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.engine import engine as host
from tests.engine.engine import until

USER = 128  # MTS_JOB_USER


@pytest.fixture
def mtsd(engine):
    engine.start("mode=off")
    return engine


@pytest.fixture
def client(mtsd):
    with mtsd.client() as it:
        yield it


def lines(done):
    assert not done.returncode, done.stderr
    return done.stdout


def status(mtsd):
    return json.loads(lines(mtsctl_json(mtsd, "status")))


def mtsctl_json(mtsd, *words):
    return mtsd.mtsctl(*words, "--json")


def add_request(flags=0, pause=0, weight=0, user=0):
    return struct.pack("=iIIIQQII", -1, flags, 0, 0, 0, pause, weight, user)


def config(mask=0, mode=0, step=0):
    return struct.pack("=IIIIQQQQIIII", mask, mode, *[0] * 2, *[0] * 4, 0, 0, 0, step)


# ---- the tool ----------------------------------------------------------------------------


def test_status_names_the_engine(mtsd):
    text = lines(mtsd.mtsctl("status"))
    assert "mtsd, in user space" in text
    assert "is not seen by mtsd" in text
    state = status(mtsd)
    assert state["engine"] == "userspace"
    assert state["state"] == "off"
    assert state["sees"] == []


def test_set_and_get(mtsd):
    lines(mtsd.mtsctl("set", "mode=always", "slice=2s", "bin=100M", "pack=bfd"))
    text = lines(mtsd.mtsctl("get"))
    for word in ("mode=always", "slice=2s", "bin=100M", "pack=bfd"):
        assert word in text.split()


def test_parameters_are_those_of_the_module(engine):
    engine.start("mode=always", "slice_ms=300", f"bin_bytes={1 << 30}")
    text = lines(engine.mtsctl("get")).split()
    assert {"mode=always", "slice=300ms", "bin=1G"} <= set(text)


@pytest.mark.parametrize("word", ["mode=often", "slice_ms=1", "bin_bytes=5", "speed=3", "mode"])
def test_a_wrong_parameter_is_refused(engine, word):
    done = subprocess.run([host.MTSD, "--run-dir", engine.dir, word], capture_output=True)
    assert done.returncode in (1, 2)
    assert done.stderr


def test_a_job_has_a_user(client, mtsd):
    mtsd.run("--name", "roots", "sleep", "60")
    assert until(lambda: [job["user"] for job in status(mtsd)["jobs"]] == [0])
    for flags, user, error in (
        (USER, 1000, 0),
        (USER, 0, 0),
        (USER, 2**32 - 1, errno.ERANGE),
        (0, 1000, errno.EINVAL),
    ):
        create = struct.pack("=64sIIQQII", b"made", flags, 0, 0, 0, 0, user)
        found, reply = client.call(host.JOB_CREATE, create)
        assert found == error
        if error:
            continue
        job = struct.unpack_from("I", reply, 68)[0]
        assert [it["user"] for it in status(mtsd)["jobs"] if it["id"] == job] == [user]
        assert not client.call(host.JOB_REMOVE, struct.pack("II", job, 0))[0]


def test_a_job_has_a_weight(client, mtsd):
    mtsd.run("--name", "heavy", "--weight", "400", "sleep", "60")
    assert until(lambda: [job["weight"] for job in status(mtsd)["jobs"]] == [400])
    lines(mtsd.mtsctl("weight", "heavy", "50"))
    assert [job["weight"] for job in status(mtsd)["jobs"]] == [50]
    number = status(mtsd)["jobs"][0]["id"]
    for weight, error in ((1, 0), (10000, 0), (10001, errno.ERANGE), (0, 0)):
        assert client.call(host.JOB_WEIGHT, struct.pack("=II", number, weight))[0] == error
    assert [job["weight"] for job in status(mtsd)["jobs"]] == [100]
    assert client.call(host.JOB_WEIGHT, struct.pack("=II", 9999, 100))[0] == errno.ENOENT


def test_a_user_has_a_weight(client, mtsd):
    """Also one without jobs. The list is in the order of their numbers."""
    for user, weight, error in (
        (4000000000, 10000, 0),
        (0, 1, 0),
        (1000, 200, 0),
        (1000, 10001, errno.ERANGE),
        (2**32 - 1, 200, errno.ERANGE),
        (1001, 100, 0),
    ):
        assert client.call(host.USER_WEIGHT, struct.pack("=II", user, weight))[0] == error
    lines(mtsd.mtsctl("weight", "--user", "7", "300"))
    weights = {0: 1, 7: 300, 1000: 200, 4000000000: 10000}
    listed = [(it["user"], it["weight"]) for it in status(mtsd)["user_weights"]]
    assert listed == list(weights.items())
    for user in (0, 4000000000):
        assert not client.call(host.USER_WEIGHT, struct.pack("=II", user, 0))[0]
    lines(mtsd.mtsctl("weight", "--user", "7", "100"))
    assert status(mtsd)["user_weights"] == [{"user": 1000, "weight": 200}]


def test_the_weights_of_users_are_full(client, mtsd):
    for user in range(256):
        assert not client.call(host.USER_WEIGHT, struct.pack("=II", user, 50))[0]
    assert client.call(host.USER_WEIGHT, struct.pack("=II", 256, 50))[0] == errno.ENOSPC
    done = mtsd.mtsctl("weight", "--user", "256", "50")
    assert done.returncode == 1
    assert "256 users have another weight than 100 already" in done.stderr
    assert not client.call(host.USER_WEIGHT, struct.pack("=II", 3, 100))[0]
    assert not client.call(host.USER_WEIGHT, struct.pack("=II", 256, 50))[0]
    listed = [it["user"] for it in status(mtsd)["user_weights"]]
    assert listed == [user for user in range(257) if user != 3]


def test_weights_of_users_are_loaded(mtsd, tmp_path):
    """From a file: what it does not name is usual again; after an error nothing has changed."""
    file = tmp_path / "mts.conf"
    lines(mtsd.mtsctl("weight", "--user", "9", "9"))
    for text, error, weights in (
        ("[weights]\nroot = 300\n1000 = 50\n", 0, {0: 300, 1000: 50}),
        ("[weights]\nroot = 300\n1000 = 10001\n", 2, {0: 300, 1000: 50}),
        ("[weights]\n1000 = 60\n", 0, {1000: 60}),
        ("[mts]\nmode = off\n", 0, {}),
    ):
        file.write_text(text)
        assert mtsd.mtsctl("config", "load", file).returncode == error
        listed = {it["user"]: it["weight"] for it in status(mtsd)["user_weights"]}
        assert listed == weights


def test_run_executes_in_place(mtsd):
    job = mtsd.run("--name", "exits", "sh", "-c", "exit 7")
    assert job.wait(10) == 7
    assert until(lambda: not status(mtsd)["jobs"])
    # Its cgroup is removed with it.
    assert until(lambda: not (mtsd.base / "exits").exists())


def test_a_running_job_is_in_its_cgroup(mtsd):
    job = mtsd.run("--name", "sleeper", "--pin", "sleep", "60")
    procs = mtsd.base / "sleeper" / "cgroup.procs"
    assert until(lambda: procs.exists() and procs.read_text().split() == [str(job.pid)])
    (info,) = status(mtsd)["jobs"]
    assert info["name"] == "sleeper"
    assert info["pin"]
    lines(mtsd.mtsctl("unpin", "sleeper"))
    assert not status(mtsd)["jobs"][0]["pin"]
    lines(mtsd.mtsctl("pause", "sleeper", "2s"))
    assert status(mtsd)["jobs"][0]["max_pause_ns"] == 2_000_000_000
    lines(mtsd.mtsctl("remove", "sleeper"))
    assert not status(mtsd)["jobs"]
    assert job.poll() is None


def test_two_commands_of_one_name_are_numbered(mtsd):
    mtsd.run("sleep", "60")
    mtsd.run("sleep", "60")
    assert until(lambda: {j["name"] for j in status(mtsd)["jobs"]} == {"sleep", "sleep-2"})


def test_add_takes_a_cgroup_whole(mtsd):
    cgroup = mtsd.touch_outside("whole", 1, "nap")
    assert "is job 1" in lines(mtsd.mtsctl("add", cgroup))
    (info,) = status(mtsd)["jobs"]
    assert info["name"] == "whole"
    # Its last process exits: it is no job any more, and its cgroup stays.
    (cgroup / "cgroup.kill").write_text("1")
    mtsd.jobs[-1].wait()
    assert until(lambda: not status(mtsd)["jobs"])
    assert cgroup.is_dir()


def test_add_refuses(mtsd):
    cgroup = mtsd.touch_outside("outer", 1, "nap")
    (cgroup / "inner").mkdir()
    lines(mtsd.mtsctl("add", cgroup))
    for path, why in (
        (cgroup, "job already"),
        (cgroup / "inner", "above or below"),
        (mtsd.outside, "above or below"),
        (mtsd.base, "above or below"),
        (host.mount(), "not a cgroup v2 directory, or the root"),
        ("/tmp", "not a cgroup v2 directory"),
    ):
        done = mtsd.mtsctl("add", path)
        assert done.returncode == 1, path
        assert why in done.stderr
    (cgroup / "cgroup.kill").write_text("1")
    mtsd.jobs[-1].wait()
    until(lambda: host.remove(cgroup / "inner"))


def test_add_refuses_its_caller_and_mtsd(mtsd):
    cgroup = mtsd.outside / "own"
    cgroup.mkdir()
    (cgroup / "cgroup.procs").write_text(str(mtsd.guardian()))
    done = mtsd.mtsctl("add", cgroup)
    assert done.returncode == 1
    assert "never be frozen" in done.stderr
    (mtsd.outside / "cgroup.procs").write_text(str(mtsd.guardian()))
    script = (
        f"echo 0 >{cgroup}/cgroup.procs; {host.MTSCTL} add {cgroup}; s=$?;"
        f"echo 0 >{host.mount()}/cgroup.procs; exit $s"
    )
    done = subprocess.run(
        ["sh", "-c", script],
        env={**os.environ, "MTS_ENGINE": str(mtsd.dir / "socket")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "never be frozen" in done.stderr
    (host.mount() / "cgroup.procs").write_text(str(mtsd.guardian()))


def test_each_child_gets_a_job(mtsd):
    if status(mtsd)["each_how"] == "none":
        pytest.skip("no process connector here")
    mtsd.run("--each=child", "--name", "parent", "sh", "-c", "sleep 60 & sleep 60 & wait")
    names = {"parent", "parent.1", "parent.2"}
    assert until(lambda: {j["name"] for j in status(mtsd)["jobs"]} == names)
    for name in names:
        assert until(lambda n=name: len((mtsd.base / n / "cgroup.procs").read_text().split()) == 1)


@pytest.mark.parametrize(
    "words",
    [
        ("plan",),
        ("stats",),
        ("stats", "--json"),
        ("stats", "--prometheus"),
        ("stats", "--prometheus", "--per-job"),
        ("top", "-b", "-n", "1"),
        ("status", "--json"),
        ("monitor", "--count", "1", "--interval", "100ms"),
        ("thaw",),
    ],
    ids=" ".join,
)
def test_every_command_works(mtsd, words):
    mtsd.run("--name", "one", "sleep", "60")
    assert until(lambda: status(mtsd)["jobs"])
    assert lines(mtsd.mtsctl(*words))


# As mts-metrics@.service runs it: root by name, without a capability.
NO_CAPABILITY = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs")


def answer_http(mtsd, **kwargs):
    return subprocess.Popen(
        [*NO_CAPABILITY, host.MTSCTL, "--engine", mtsd.dir / "socket", "stats", "--http"],
        stdin=subprocess.PIPE, **kwargs,
    )  # fmt: skip


def test_metrics_need_no_capability(mtsd):
    process = answer_http(mtsd, stdout=subprocess.PIPE, text=True)
    said, _ = process.communicate("GET /metrics HTTP/1.1\n\n", timeout=60)
    assert process.returncode == 0
    assert "\nmts_up 1\n" in said
    assert 'engine="userspace"' in said


def test_metrics_that_nobody_reads_hold_no_place(mtsd):
    """Fault: a client that is slow would keep one of mtsd's places for callers."""
    theirs, ours = os.pipe()
    fcntl.fcntl(ours, fcntl.F_SETPIPE_SZ, 4096)
    process = answer_http(mtsd, stdout=ours)
    os.close(ours)
    fds = f"/proc/{process.pid}/fd"

    def sockets():
        links = [os.readlink(path) for path in Path(fds).iterdir()]
        return [link for link in links if link.startswith("socket:")]

    process.stdin.write(b"GET /metrics HTTP/1.1\n\n")
    process.stdin.flush()
    # It has begun to answer, and cannot go on.
    assert os.read(theirs, 4) == b"HTTP"
    time.sleep(0.2)
    assert process.poll() is None
    assert not sockets()
    rest = b""
    while part := os.read(theirs, 4096):
        rest += part
    os.close(theirs)
    process.stdin.close()
    assert process.wait(30) == 0
    assert b"\nmts_up 1\n" in rest
    assert len(rest) > 8192


def test_watch_looks_for_what_has_changed(mtsd):
    """Because mtsd has no trace events."""
    words = [host.MTSCTL, "--engine", mtsd.dir / "socket", "watch", "--json"]
    mtsd.run("--name", "before", "sleep", "600")
    assert until(lambda: status(mtsd)["jobs"])
    watch = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)
    job = mtsd.run("--name", "asked", "--pin", "sleep", "60")
    event = json.loads(watch.stdout.readline())
    assert event["event"] == "mts_job"
    assert 0 <= time.clock_gettime(time.CLOCK_MONOTONIC) - event["timestamp"] < 5
    fields = event["fields"]
    assert (fields["name"], fields["what"], fields["pin"]) == ("asked", "enrolled", 1)
    # It is enrolled before it enters its cgroup, and one that never had a process stays.
    assert until(lambda: Path(f"/proc/{job.pid}/comm").read_text() == "sleep\n")
    job.kill()
    event = json.loads(watch.stdout.readline())
    fields = event["fields"]
    assert (fields["name"], fields["what"]) == ("asked", "forgotten")
    lines(mtsd.mtsctl("thaw"))
    event = json.loads(watch.stdout.readline())
    assert (event["event"], event["fields"]["reason"]) == ("mts_stop", "user")
    watch.send_signal(2)
    said = watch.communicate(timeout=10)
    assert (watch.returncode, said) == (0, ("", ""))


def test_watch_ends_with_mtsd(mtsd):
    words = [host.MTSCTL, "--engine", mtsd.dir / "socket", "watch"]
    watch = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)
    mtsd.stop()
    said, why = watch.communicate(timeout=10)
    assert (watch.returncode, said) == (3, "")
    assert "mtsd has ended" in why
    mtsd.start()


def test_why_says_in_which_job_a_process_is(mtsd):
    job = mtsd.run("--name", "asked", "sleep", "60")
    procs = mtsd.base / "asked" / "cgroup.procs"
    assert until(lambda: procs.exists() and procs.read_text())
    assert "asked" in lines(mtsd.mtsctl("why", job.pid))


def test_without_mtsd_mtsctl_says_so(built, tmp_path):
    done = subprocess.run(
        [host.MTSCTL, "--engine", tmp_path / "socket", "status"], capture_output=True, text=True
    )
    assert done.returncode == 3
    assert "no mtsd answers" in done.stderr


@pytest.mark.parametrize("value", ["", "kernel", "./socket"])
def test_a_wrong_engine_is_refused(built, value):
    done = subprocess.run(
        [host.MTSCTL, f"--engine={value}", "status"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "--engine" in done.stderr


# ---- the wire ----------------------------------------------------------------------------


def test_unknown_commands(client):
    assert client.call(host.command(0x7F, 0, 0))[0] == errno.ENOTTY
    assert client.call(host.stats(8))[0] == errno.ENOTTY
    assert client.call(host.stats(300))[0] == errno.ENOTTY


def test_stats_of_another_size(client):
    old, new = client.call(host.stats(296))[1], client.call(host.stats(1024))[1]
    assert len(old) == 296
    assert len(new) == 1024
    assert not any(new[352:])


def test_an_argument_of_another_size(client):
    assert client.call(host.CONFIG_SET, bytes(60))[0] == errno.EINVAL
    assert client.call(host.STATUS, bytes(8))[0] == errno.EINVAL
    # The connection is still good.
    assert client.state() == ("off", 0)


@pytest.mark.parametrize(
    ("argument", "error"),
    [
        (config(mask=1 << 14), errno.EINVAL),
        (config(mask=1 << 10, step=(1 << 30) + 1), errno.ERANGE),
        (config(mask=1, mode=4), errno.EINVAL),
        (config(mask=8), errno.ERANGE),
    ],
)
def test_a_wrong_configuration(client, argument, error):
    before = client.call(host.CONFIG_GET)
    assert client.call(host.CONFIG_SET, argument)[0] == error
    assert client.call(host.CONFIG_GET) == before


@pytest.mark.parametrize(
    ("name", "flags", "error"),
    [
        (b"a/b", 0, errno.EINVAL),
        (b".a", 0, errno.EINVAL),
        (b"n" * 64, 0, errno.EINVAL),
        (b"a", 1 << 3, errno.EINVAL),
    ],
)
def test_a_wrong_job(client, name, flags, error):
    argument = struct.pack("=64sIIQQQ", name, flags, 0, 0, 0, 0)
    assert client.call(host.JOB_CREATE, argument)[0] == error


def test_a_job_without_a_process_stays_until_it_is_removed(client, mtsd):
    error, reply = client.call(host.JOB_CREATE, struct.pack("=64sIIQQQ", b"empty", 0, 0, 0, 0, 0))
    assert not error
    job, inode = struct.unpack_from("=IQ", reply, 68)
    assert (mtsd.base / "empty").stat().st_ino == inode
    assert client.call(host.JOB_REMOVE, struct.pack("II", job + 1, 0))[0] == errno.ENOENT
    assert client.call(host.JOB_REMOVE, struct.pack("II", job, 1))[0] == errno.EINVAL
    assert not client.call(host.JOB_REMOVE, struct.pack("II", job, 0))[0]
    assert not (mtsd.base / "empty").exists()


def test_add_needs_a_descriptor(client):
    assert client.call(host.JOB_ADD, add_request())[0] == errno.EBADF
    assert client.call(host.JOB_ADD, add_request(user=1))[0] == errno.EINVAL
    assert client.call(host.JOB_ADD, add_request(pause=1))[0] == errno.ERANGE
    with Path("/proc/self/status").open() as file:
        assert client.call(host.JOB_ADD, add_request(), file.fileno())[0] == errno.EINVAL


def listing(client, number, count, size):
    error, reply = client.call(number, struct.pack("=QIIQII", 0, count, 0, 0, size, 0))
    if error:
        return error, 0, b""
    written, total = struct.unpack_from("II", reply, 8)
    return written, total, reply[32:]


def test_lists_of_any_size(client, mtsd):
    for name in (b"a", b"b", b"c"):
        assert not client.call(host.JOB_CREATE, struct.pack("=64sIIQQQ", name, *[0] * 5))[0]
    for size in (0, 184, 224, 4096):
        written, total, data = listing(client, host.JOBS, 2, size)
        assert (written, total) == (2, 3)
        assert len(data) == 2 * (size or 184)
        assert data[120:121] == b"a"
    assert listing(client, host.JOBS, 0, 0) == (0, 3, b"")
    assert listing(client, host.JOBS, 1 << 31, 224)[0] == 3
    for size in (8, 183, 188, 4104):
        assert listing(client, host.JOBS, 2, size)[0] == errno.EINVAL


def test_rubbish_ends_the_connection_only(client, mtsd):
    with mtsd.client() as other:
        other.socket.sendall(b"\xff" * 64)
        with pytest.raises((EOFError, ConnectionError)):
            other.read(1 << 20)
    assert client.state() == ("off", 0)


def test_many_callers(mtsd):
    clients = [mtsd.client() for _ in range(64)]
    for client in clients:
        assert client.state() == ("off", 0)
    # One more takes the place of the one that has asked nothing for longest.
    clients.append(mtsd.client())
    assert clients[64].state() == ("off", 0)
    with pytest.raises((EOFError, OSError)):
        clients[0].state()
    assert all(client.state() == ("off", 0) for client in clients[1:])
    for client in clients:
        client.close()
    assert until(lambda: not mtsd.mtsctl("status").returncode)


def test_a_caller_that_left_has_no_place(mtsd):
    """Its thread may not have had a processor since."""
    for _ in range(20):
        clients = [mtsd.client() for _ in range(64)]
        for client in clients:
            assert listing(client, host.JOBS, 0, 0) == (0, 0, b"")
        for client in clients:
            client.close()


def test_the_memory_of_a_cgroup_with_a_dot_counts(mtsd):
    """Fault: processes in a cgroup ".x" below a job were not seen."""
    (mtsd.outside / "job" / ".x").mkdir(parents=True)
    enter = f"echo 0 >{mtsd.outside}/job/.x/cgroup.procs"
    toucher = f"{host.TOUCHER} 50 {mtsd.counter('job')}"
    process = subprocess.Popen(["/bin/sh", "-c", f"{enter} && exec {toucher}"])
    mtsd.jobs.append(process)
    assert until(lambda: mtsd.is_full("job"))
    lines(mtsd.mtsctl("add", mtsd.outside / "job"))
    assert until(lambda: status(mtsd)["jobs"][0]["demand"] > 40 * host.MIB), mtsd.report()
    process.kill()
    process.wait()
    assert until(lambda: host.remove(mtsd.outside / "job" / ".x"))


def test_another_user_changes_nothing(mtsd):
    """A run directory that users may not enter."""
    script = (
        "import os, sys; sys.path[0] = sys.argv[1];"
        "os.setresuid(65534, 65534, 65534);"
        "from tests.engine import engine as host;"
        "host.Client(sys.argv[2])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, host.ROOT, mtsd.dir / "socket"],
        capture_output=True,
        text=True,
    )
    assert "PermissionError" in done.stderr


def test_a_thread_that_cannot_be_made_ends_no_more_than_its_connection(engine):
    """Fault: mtsd ended, and with it all jobs. Here there is no memory for the thread's stack."""
    engine.start()
    pid = engine.process.pid
    _, most = resource.prlimit(pid, resource.RLIMIT_AS)
    with engine.client() as first, contextlib.ExitStack() as others:
        assert first.state() == ("idle", 0)
        resource.prlimit(pid, resource.RLIMIT_AS, (1, most))

        def fill():
            for _ in range(60):
                others.enter_context(engine.client()).state()

        with pytest.raises((EOFError, ConnectionError)):
            fill()
        assert first.state() == ("idle", 0)
        resource.prlimit(pid, resource.RLIMIT_AS, (most, most))
        with engine.client() as another:
            assert another.state() == ("idle", 0)
    assert engine.process.poll() is None
