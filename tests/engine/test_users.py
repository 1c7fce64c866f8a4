# SPDX-License-Identifier: GPL-2.0
"""What a system-wide mtsd does for users who are not root: userspace/mtsd/rights.h."""

import contextlib
import errno
import json
import os
import random
import select
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest

from tests.engine import engine as host
from tests.engine.engine import MTSCTL, until

ADA, BOB, GROUP, OTHER_GROUP = 60001, 60002, 60100, 60200
OTHERS = range(70000, 70010)
SUBORDINATE = range(100000, 100060)  # ids of ada's, by subuid(5)
ENTER, EACH, PIN, LEAF, QUEUE, BATCH, USER, HERE = 1, 2, 4, 16, 32, 64, 128, 256
SECOND = 10**9
# userspace/mtsd/wire.h
TOO_MANY_JOBS, TOO_MANY_PINS, TOO_SHORT_PAUSE = errno.EDQUOT, errno.EUSERS, errno.ETIME
TOO_MUCH_WEIGHT = errno.EDOM
TOO_MANY_QUEUED, TOO_LARGE = errno.EMLINK, errno.EFBIG
USER_CALLERS, ALL_USERS_CALLERS = 8, 48
WEIGHTS = range(1, 101)  # that users may give
JOB_WEIGHT = host.command(0x17, 8, host.WRITE)
SUBMIT = host.command(0x16, 128, host.READ | host.WRITE)
GONE = host.command(0x24, 32, host.READ | host.WRITE)
DISK = host.command(0x25, 80, host.READ)


@contextlib.contextmanager
def acting_as(uid, *groups):
    """The credentials that a connection has are those at the moment of connect(2)."""
    os.setgroups(groups)
    os.setegid(uid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups([])


class Host(host.Engine):
    """A mtsd of root, for all users. `place(uid)` is what systemd delegates to a user."""

    def __init__(self):
        super().__init__()
        self.dir.chmod(0o755)
        self.config = self.dir / "config"
        self.config.mkdir()
        self.configure()
        accounts = self.dir / "passwd"
        lines = [f"u{uid}:x:{uid}:{uid}::/:/bin/sh\n" for uid in (ADA, BOB, *OTHERS)]
        accounts.write_text(Path("/etc/passwd").read_text() + "".join(lines))
        script = 'mount --bind "$0" /etc/passwd && exec "$@"'
        self.before = ("unshare", "--mount", "sh", "-c", script, accounts)

    def configure(self, text=f"group={GROUP}"):
        (self.config / "mts.conf").write_text(f"[mts]\nmode=off\n[users]\n{text}\n")

    def start(self, *words):
        super().start("mode=off", f"--config={self.config}", *words)

    def halt(self):
        """It stands still on return, until SIGCONT."""
        self.process.send_signal(signal.SIGSTOP)
        how = os.WSTOPPED | os.WEXITED | os.WNOWAIT
        assert os.waitid(os.P_PID, self.process.pid, how).si_code == os.CLD_STOPPED

    def reload(self, text):
        """Another configuration, in force on return."""
        before = self.log.read_text().count("the configuration is read again")
        self.configure(text)
        self.process.send_signal(signal.SIGHUP)
        assert until(
            lambda: self.log.read_text().count("the configuration is read again") > before
        ), self.report()

    def as_user(self, uid, *groups):
        with acting_as(uid, *groups):
            return self.client()

    def member(self, uid=ADA):
        return self.as_user(uid, OTHER_GROUP, GROUP)

    def place(self, uid):
        top = self.outside / f"user-{uid}"
        if not top.exists():
            top.mkdir()
            for path in (top, top / "cgroup.procs", top / "cgroup.subtree_control"):
                os.chown(path, uid, uid)
        return top

    def cgroup(self, uid, name):
        """One that the user's systemd manager has made."""
        top = self.place(uid)
        with acting_as(uid):
            (top / name).mkdir(parents=True)
        return top / name

    def sleep(self, cgroup, uid):
        """A process in a cgroup."""
        as_user = f"setpriv --reuid={uid} --regid={uid} --clear-groups"
        command = f"echo 0 >'{cgroup}/cgroup.procs' && exec {as_user} sleep 1000"
        process = subprocess.Popen(["/bin/sh", "-c", command])
        self.jobs.append(process)
        assert until(lambda: comm_of(process.pid) == "sleep")
        return process

    def own_job(self, uid=ADA, name="job"):
        """A cgroup of the user with a process; its descriptor."""
        cgroup = self.cgroup(uid, name)
        self.sleep(cgroup, uid)
        return cgroup

    def all_jobs(self):
        with self.client() as root:
            return list_jobs(root)

    def cgroups(self):
        return [
            Path(path)
            for top in (self.base, self.outside)
            if top.is_dir()
            for path, _, _ in os.walk(top, topdown=False)
        ]

    def by_user(self, uid, *words, groups=(GROUP,), cgroup=None, engine=True, env=()):
        """What mtsctl of a user does."""
        enter = f"echo 0 >{cgroup}/cgroup.procs && " if cgroup else ""
        as_user = (
            f"setpriv --reuid={uid} --regid={uid} --groups={','.join(map(str, groups)) or uid}"
        )
        program = f"{MTSCTL} --engine={self.dir}/socket" if engine else str(MTSCTL)
        what = " ".join(map(str, words))
        environment = {k: v for k, v in os.environ.items() if k != "XDG_RUNTIME_DIR"}
        return subprocess.run(
            ["/bin/sh", "-c", f"{enter}exec {as_user} {program} {what}"],
            capture_output=True,
            text=True,
            timeout=60,
            env={**environment, **dict(env)},
        )


def comm_of(pid):
    return Path(f"/proc/{pid}/comm").read_text().strip()


@pytest.fixture
def mtsd(built):
    it = Host()
    it.start()
    yield it
    assert it.process.poll() is None, it.log.read_text()
    it.close()


def add(client, cgroup, flags=0, pause=0):
    """Errno, and the job's id."""
    fd = os.open(cgroup, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return add_fd(client, fd, flags, pause)
    finally:
        os.close(fd)


def add_fd(client, fd, flags=0, pause=0):
    """Root's mtsd goes by the descriptor of root, and by the id that users name."""
    cgroup_id = os.fstat(fd).st_ino
    request = struct.pack("=iIIIQQQ", -1, flags, 0, 0, cgroup_id, pause, 0)
    error, reply = client.call(host.JOB_ADD, request, fd)
    return error, 0 if error else struct.unpack_from("=I", reply, 8)[0]


def remove(client, job):
    return client.call(host.JOB_REMOVE, struct.pack("II", job, 0))[0]


def set_flags(client, job, mask, flags):
    return client.call(host.JOB_SET, struct.pack("4I", job, mask, flags, 0))[0]


def pause(client, job, ns):
    return client.call(host.JOB_PAUSE, struct.pack("=IIQ", job, 0, ns))[0]


def weight(client, job, number):
    return client.call(JOB_WEIGHT, struct.pack("II", job, number))[0]


def list_jobs(client):
    """{id: (name, flags, max_pause)}"""
    error, reply = client.call(host.JOBS, struct.pack("=QIIQII", 0, 4096, 0, 0, 320, 0))
    assert not error
    data = reply[32:]
    jobs = {}
    for at in range(0, len(data), 320):
        job, _, flags = struct.unpack_from("III", data, at)
        name = data[at + 120 : at + 184].split(b"\0")[0].decode()
        jobs[job] = (name, flags, struct.unpack_from("Q", data, at + 184)[0])
        assert struct.unpack_from("I", data, at + 312)[0] in WEIGHTS
    return jobs


def owners(client):
    """{id: user}"""
    error, reply = client.call(host.JOBS, struct.pack("=QIIQII", 0, 4096, 0, 0, 320, 0))
    assert not error
    return {
        struct.unpack_from("I", reply, at)[0]: struct.unpack_from("I", reply, at + 316)[0]
        for at in range(32, len(reply), 320)
    }


# ---- what members may --------------------------------------------------------------------


def test_a_member_adds_changes_and_removes_a_job_of_his_own(mtsd):
    with mtsd.member() as ada:
        error, job = add(ada, mtsd.own_job())
        assert not error
        assert not set_flags(ada, job, PIN, PIN)
        assert not pause(ada, job, 20 * SECOND)
        assert mtsd.all_jobs() == {job: ("job", PIN, 20 * SECOND)}
        assert not set_flags(ada, job, PIN, 0)
        assert not pause(ada, job, 0)
        assert list_jobs(ada) == {job: ("job", 0, 0)}
        assert not remove(ada, job)
        assert remove(ada, job) == errno.ENOENT
        assert not mtsd.all_jobs()


def test_the_primary_group_counts(mtsd):
    cgroup = mtsd.own_job()
    os.setegid(GROUP)
    os.seteuid(ADA)
    try:
        ada = mtsd.client()
    finally:
        os.seteuid(0)
        os.setegid(0)
    assert not add(ada, cgroup)[0]
    ada.close()


def test_every_user_reads(mtsd):
    error, job = 0, 0
    with mtsd.member() as ada:
        error, job = add(ada, mtsd.own_job())
    assert not error
    with mtsd.as_user(BOB) as bob:
        for number in (host.CONFIG_GET, host.STATUS, DISK, host.stats(296), host.stats(448)):
            assert not bob.call(number)[0]
        for number in (host.JOBS, host.BINS, host.USERS, GONE):
            assert not bob.call(number, struct.pack("=QIIQII", 0, 4, 0, 0, 0, 0))[0]
        assert list_jobs(bob) == {job: ("job", 0, 0)}


def test_what_only_root_may(mtsd):
    configuration = struct.pack("=IIIIQQQQIIII", 1, 2, *[0] * 10)
    create = struct.pack("=64sIIQQQ", b"a", 0, 0, 0, 0, 0)
    for groups in ((), (GROUP,)):
        with mtsd.as_user(ADA, *groups) as ada:
            before = ada.call(host.CONFIG_GET)
            assert ada.call(host.CONFIG_SET, configuration)[0] == errno.EPERM
            assert ada.call(host.THAW)[0] == errno.EPERM
            weight_of_ada = struct.pack("II", ADA, 50)
            assert ada.call(host.USER_WEIGHT, weight_of_ada)[0] == errno.EPERM
            assert ada.call(host.JOB_CREATE, create)[0] == errno.EPERM
            assert ada.call(host.JOB_TAKE, host.take_request(os.getpid()))[0] == errno.EPERM
            assert ada.call(host.CONFIG_GET) == before
            assert ada.state() == ("off", 0)
    assert not mtsd.all_jobs()


def test_one_who_is_no_member_changes_nothing(mtsd):
    with mtsd.member() as ada, mtsd.as_user(ADA, OTHER_GROUP) as stranger:
        cgroup = mtsd.own_job()
        assert add(stranger, cgroup)[0] == errno.EPERM
        job = add(ada, cgroup)[1]
        for error in (
            remove(stranger, job),
            set_flags(stranger, job, PIN, PIN),
            pause(stranger, job, 20 * SECOND),
            weight(stranger, job, 50),
        ):
            assert error == errno.EPERM
        assert mtsd.all_jobs() == {job: ("job", 0, 0)}


@pytest.mark.parametrize("text", ["group=none", "group=no-such-group", "jobs=many"])
def test_without_a_group_nobody_is_a_member(built, text):
    mtsd = Host()
    mtsd.configure(text)
    mtsd.start()
    with mtsd.as_user(ADA, 0, GROUP) as ada:
        assert add(ada, mtsd.own_job())[0] == errno.EPERM
        assert ada.state() == ("off", 0)
    if "no-such" in text:
        assert "there is no group no-such-group" in mtsd.log.read_text()
        assert "systemctl reload mtsd" in mtsd.log.read_text()
    mtsd.close()


def test_a_subordinate_id_of_a_member_is_no_member(mtsd):
    """Fault: each of ada's 65536 was a user, with as many jobs and pins as ada."""
    mtsd.reload(f"group={GROUP}\njobs=1\npins=1")
    for uid in SUBORDINATE[:3]:
        cgroup = mtsd.own_job(uid, f"of{uid}")
        with mtsd.member(uid) as ada:
            assert add(ada, cgroup, PIN)[0] == errno.EPERM
            assert ada.state() == ("off", 0)
    assert not mtsd.all_jobs()


# ---- whose a cgroup is -------------------------------------------------------------------


def test_the_cgroup_of_another_user(mtsd):
    cgroup = mtsd.own_job(BOB)
    with mtsd.member() as ada:
        assert add(ada, cgroup)[0] == errno.EACCES
        assert add(ada, cgroup.parent)[0] == errno.EACCES
    assert not mtsd.all_jobs()


def test_cgroups_of_root(mtsd):
    """Also the one that is delegated: the user owns the directory, but may not freeze it."""
    mtsd.own_job()
    with mtsd.member() as ada:
        for cgroup in (mtsd.place(ADA), mtsd.outside, mtsd.base):
            assert add(ada, cgroup)[0] == errno.EACCES, cgroup
        assert add(ada, host.mount())[0] == errno.EACCES
    assert not mtsd.all_jobs()


def test_a_process_of_another_user_in_the_own_cgroup(mtsd):
    with mtsd.member() as ada:
        cgroup = mtsd.own_job()
        mtsd.sleep(cgroup, 0)
        assert add(ada, cgroup)[0] == errno.EACCES
    assert not mtsd.all_jobs()


@pytest.mark.parametrize("name", ["below", ".below", "a/b/c"])
def test_a_process_of_root_in_a_cgroup_below(mtsd, name):
    with mtsd.member() as ada:
        cgroup = mtsd.own_job()
        with acting_as(ADA):
            (cgroup / name).mkdir(parents=True)
        mtsd.sleep(cgroup / name, 0)
        assert add(ada, cgroup)[0] == errno.EACCES
    assert not mtsd.all_jobs()


@pytest.mark.parametrize("ids", [(ADA, 0, 0), (ADA, ADA, 0), (0, ADA, ADA)])
def test_a_setuid_process(mtsd, ids):
    """Real, effective and saved: one that has become root for a moment can do so again."""
    cgroup = mtsd.own_job()
    script = (
        f"import os, time; open('{cgroup}/cgroup.procs', 'w').write('0'); "
        f"os.setresuid{ids}; print(flush=True); time.sleep(1000)"
    )
    process = subprocess.Popen(["python3", "-c", script], stdout=subprocess.PIPE)
    mtsd.jobs.append(process)
    process.stdout.readline()
    with mtsd.member() as ada:
        assert add(ada, cgroup)[0] == errno.EACCES
        process.kill()
        process.wait()
        assert not add(ada, cgroup)[0]
    process.stdout.close()


def test_the_caller_and_its_ancestors_are_not_frozen(mtsd):
    """A shell of the user, whose child asks."""
    cgroup = mtsd.own_job()
    below = mtsd.cgroup(ADA, "job/below")
    done = mtsd.by_user(ADA, "add", cgroup, cgroup=below)
    assert done.returncode == 1
    assert "mtsctl itself" in done.stderr
    assert not mtsd.all_jobs()


def test_a_threaded_cgroup(mtsd):
    """Its processes are in the list of the one above."""
    cgroup = mtsd.own_job()
    with acting_as(ADA):
        (cgroup / "threads").mkdir()
        (cgroup / "threads/cgroup.type").write_text("threaded")
    with mtsd.member() as ada:
        assert add(ada, cgroup / "threads")[0] == errno.EOPNOTSUPP
        assert not add(ada, cgroup)[0]
    (cgroup / "threads").rmdir()


def test_too_many_cgroups(mtsd):
    cgroup = mtsd.own_job()
    deep = cgroup / "/".join(["d"] * 40)
    with acting_as(ADA):
        deep.mkdir(parents=True)
    with mtsd.member() as ada:
        assert add(ada, cgroup)[0] == errno.E2BIG


# ---- whose a job is ----------------------------------------------------------------------


def test_the_job_of_another_user(mtsd):
    with mtsd.member() as ada, mtsd.member(BOB) as bob:
        job = add(bob, mtsd.own_job(BOB))[1]
        assert remove(ada, job) == errno.EACCES
        assert set_flags(ada, job, PIN, PIN) == errno.EACCES
        assert pause(ada, job, 20 * SECOND) == errno.EACCES
        assert mtsd.all_jobs() == {job: ("job", 0, 0)}


def test_a_job_that_root_has_made_of_the_own_cgroup(mtsd):
    """Else a user would get out of what a rule says."""
    cgroup = mtsd.own_job()
    with mtsd.client() as root, mtsd.member() as ada:
        job = add(root, cgroup)[1]
        assert remove(ada, job) == errno.EACCES
        assert set_flags(ada, job, PIN, PIN) == errno.EACCES
        assert pause(ada, job, 20 * SECOND) == errno.EACCES
        assert add(ada, cgroup)[0] == errno.EEXIST
        assert mtsd.all_jobs() == {job: ("job", 0, 0)}


def test_a_number_that_is_given_anew_is_another_job(mtsd):
    """Fault: after a start jobs have the same numbers, and the cgroup still named its user."""
    cgroup = mtsd.own_job()
    with mtsd.member() as ada:
        error, first = add(ada, cgroup)
        assert not error
    mtsd.stop()
    mtsd.start()
    with mtsd.client() as root, mtsd.member() as ada:
        assert add(root, cgroup) == (0, first)
        assert remove(ada, first) == weight(ada, first, 50) == errno.EACCES
        assert pause(ada, first, 20 * SECOND) == errno.EACCES
    assert list(mtsd.all_jobs()) == [first]


def test_root_takes_over_the_job_of_a_user(mtsd):
    cgroup = mtsd.own_job()
    with mtsd.client() as root, mtsd.member() as ada:
        first = add(ada, cgroup)[1]
        assert not remove(root, first)
        second = add(root, cgroup)[1]
        assert remove(ada, second) == errno.EACCES
        assert list(mtsd.all_jobs()) == [second]


def test_a_user_cannot_write_whose_a_job_is(mtsd):
    cgroup = mtsd.own_job()
    with mtsd.client() as root, mtsd.member() as ada:
        job = add(root, cgroup)[1]
        with acting_as(ADA):
            with pytest.raises(PermissionError):
                os.setxattr(cgroup, "trusted.mts.user", f"{ADA} {job}".encode())
            with contextlib.suppress(OSError):
                os.setxattr(cgroup, "user.mts.user", f"{ADA} {job}".encode())
        assert remove(ada, job) == errno.EACCES


def test_children_of_roots_job_in_the_own_cgroup_are_roots(mtsd):
    """Fault: a child counted as the user's, and could be unpinned, or taken out of the turns."""
    can_catch(mtsd)
    cgroup = mtsd.cgroup(ADA, "own/first")
    fd = os.open(cgroup, os.O_RDONLY | os.O_DIRECTORY)
    with mtsd.client() as root:
        error, reply = submit_here(root, fd, EACH)
        assert not error
        assert struct.unpack_from("64s", reply)[0].rstrip(b"\0") == b"first"
    os.close(fd)
    as_user = f"setpriv --reuid={ADA} --regid={ADA} --clear-groups"
    script = f"echo 0 >{cgroup}/cgroup.procs && exec {as_user} sh -c 'sleep 1000 & wait'"
    mtsd.jobs.append(subprocess.Popen(["/bin/sh", "-c", script]))
    assert until(lambda: "first.1" in names(mtsd)), mtsd.report()
    with mtsd.member() as ada:
        for job in mtsd.all_jobs():
            assert remove(ada, job) == pause(ada, job, 20 * SECOND) == errno.EACCES
            assert set_flags(ada, job, PIN, PIN) == errno.EACCES


# ---- whose share a job is of -------------------------------------------------------------


def test_the_user_of_a_job_is_who_owns_the_cgroup(mtsd):
    own, roots = mtsd.own_job(), mtsd.own_job(BOB)
    with mtsd.client() as root, mtsd.member() as ada:
        first, second = add(ada, own)[1], add(root, roots)[1]
        assert owners(ada) == {first: ADA, second: BOB}


@pytest.mark.parametrize("user", [BOB, 0, 2**32 - 1])
def test_a_user_cannot_name_another_user(mtsd, user):
    """What the job gets would be taken from that user's share."""
    cgroup = mtsd.own_job()
    number = cgroup.stat().st_ino
    with mtsd.member() as ada:
        for whose, flags, error in (
            (user, USER, errno.EPERM),
            (user or BOB, 0, errno.EINVAL),
            (ADA, USER, 0),
        ):
            request = struct.pack("=iIIIQQII", -1, flags, 0, 0, number, 0, 0, whose)
            assert ada.call(host.JOB_ADD, request)[0] == error
        assert list(owners(ada).values()) == [ADA]
        job = next(iter(owners(ada)))
        assert set_flags(ada, job, USER, USER) == errno.EPERM
        assert not remove(ada, job)
        submit = struct.pack("=64sIIQQQQQIIQ", b"", ENTER | USER, 0, number, 0, 0, 0, 0, 0, user, 0)
        assert ada.call(SUBMIT, submit)[0] == errno.EPERM
    assert not mtsd.all_jobs()


def work(mtsd, uid, name):
    """A job of the user's that writes to 24 MiB for ever, and that the user has enrolled."""
    cgroup = mtsd.cgroup(uid, name)
    counter = mtsd.counter(name)
    counter.touch()
    counter.chmod(0o666)
    as_user = f"setpriv --reuid={uid} --regid={uid} --clear-groups"
    command = f"echo 0 >{cgroup}/cgroup.procs && exec {as_user} {host.TOUCHER} 24 {counter}"
    mtsd.jobs.append(subprocess.Popen(["/bin/sh", "-c", command]))
    assert until(lambda: mtsd.is_full(name), 60)
    with mtsd.member(uid) as user:
        error, job = add(user, cgroup)
    assert not error
    return job


def slices(mtsd):
    """{id: (slices, their time)}"""
    jobs = json.loads(mtsd.mtsctl("status", "--json", check=True).stdout)["jobs"]
    return {job["id"]: (job["slices"], job["run_ns"]) for job in jobs}


def time_in_slices(mtsd, n):
    """{id: ns}, of at least so many slices of each job."""
    before = slices(mtsd)

    def had():
        return all(now[0] >= before[job][0] + n for job, now in slices(mtsd).items())

    assert until(had, 240, 0.2), mtsd.report()
    return {job: ns - before[job][1] for job, (_, ns) in slices(mtsd).items()}


def test_a_user_gains_no_time_by_more_jobs(mtsd, swap):
    """Ada has one job, Bob has four, of which one fits: each of them has half of the time."""
    first = work(mtsd, ADA, "first")
    bobs = [work(mtsd, BOB, f"bob{i}") for i in range(4)]
    words = ("mode=always", "step=bin", "bin=30M", "slice=300ms", "min_slice=50ms", "overhead=off")
    parts = {}
    for share in ("job", "user"):
        mtsd.mtsctl("set", *words, f"share={share}", check=True)
        assert until(mtsd.frozen, 30), mtsd.report()
        time_in_slices(mtsd, 2)
        ran = time_in_slices(mtsd, 6)
        assert set(ran) == {first, *bobs}
        parts[share] = ran[first] / sum(ran.values())
    assert 0.15 < parts["job"] < 0.25, parts
    assert 0.4 < parts["user"] < 0.6, parts


def test_a_user_of_weight_300_has_three_times_the_time(mtsd, swap):
    """Ada has one job, Bob has two, of which one fits: three quarters are Ada's, then half."""
    first = work(mtsd, ADA, "first")
    bobs = [work(mtsd, BOB, f"bob{i}") for i in range(2)]
    words = ("mode=always", "step=bin", "bin=30M", "slice=400ms", "min_slice=50ms", "overhead=off")
    mtsd.mtsctl("set", *words, "share=user", check=True)
    parts = {}
    for weight in ("300", "100"):
        mtsd.mtsctl("weight", "--user", str(ADA), weight, check=True)
        assert until(mtsd.frozen, 30), mtsd.report()
        time_in_slices(mtsd, 2)
        ran = time_in_slices(mtsd, 6)
        assert set(ran) == {first, *bobs}
        parts[weight] = ran[first] / sum(ran.values())
    assert 0.65 < parts["300"] < 0.85, parts
    assert 0.4 < parts["100"] < 0.6, parts


# ---- limits ------------------------------------------------------------------------------


def test_limits(mtsd):
    mtsd.reload(f"group={GROUP}\njobs=3\npins=1\nmax_pause=10s")
    cgroups = [mtsd.own_job(name=f"job{i}") for i in range(4)]
    with mtsd.member() as ada, mtsd.member() as again:
        assert add(ada, cgroups[0], pause=9 * SECOND)[0] == TOO_SHORT_PAUSE
        jobs = [add(ada, cgroup)[1] for cgroup in cgroups[:3]]
        assert all(jobs)
        assert add(again, cgroups[3])[0] == TOO_MANY_JOBS
        assert not set_flags(ada, jobs[0], PIN, PIN)
        assert not set_flags(ada, jobs[0], PIN, PIN)
        assert set_flags(again, jobs[1], PIN, PIN) == TOO_MANY_PINS
        assert pause(ada, jobs[1], 10 * SECOND - 1) == TOO_SHORT_PAUSE
        assert not pause(ada, jobs[1], 10 * SECOND)
        assert not weight(ada, jobs[1], 20)
        assert not weight(ada, jobs[1], 100)
        assert weight(ada, jobs[1], 101) == TOO_MUCH_WEIGHT
        assert not remove(ada, jobs[0])
        assert not add(ada, cgroups[3], PIN)[0]
        assert add(ada, cgroups[0])[0] == TOO_MANY_JOBS
    with mtsd.member(BOB) as bob:
        assert not add(bob, mtsd.own_job(BOB))[0]


def test_a_limit_that_is_lowered_keeps_nobody_from_less(mtsd):
    cgroups = [mtsd.own_job(name=f"job{i}") for i in range(3)]
    with mtsd.member() as ada:
        jobs = [add(ada, cgroup)[1] for cgroup in cgroups]
        assert not set_flags(ada, jobs[0], PIN, PIN)
        mtsd.reload(f"group={GROUP}\njobs=1\npins=0")
        assert set_flags(ada, jobs[1], PIN, PIN) == TOO_MANY_PINS
        assert not set_flags(ada, jobs[0], PIN, PIN)
        assert not set_flags(ada, jobs[0], PIN, 0)
        assert set_flags(ada, jobs[0], PIN, PIN) == TOO_MANY_PINS
        assert not pause(ada, jobs[1], 30 * SECOND)
        for job in jobs:
            assert not remove(ada, job)
        assert not mtsd.all_jobs()


def test_a_wrong_configuration_changes_nothing(mtsd):
    mtsd.reload(f"group={GROUP}\njobs=0")
    cgroup = mtsd.own_job()
    with mtsd.member() as ada:
        assert add(ada, cgroup)[0] == TOO_MANY_JOBS
        mtsd.configure(f"group={GROUP}\njobs=2\npins=many")
        mtsd.process.send_signal(signal.SIGHUP)
        assert until(lambda: "mts.conf:6: pins=many: not a number" in mtsd.log.read_text())
        assert add(ada, cgroup)[0] == TOO_MANY_JOBS


@pytest.mark.parametrize("flags", [EACH, LEAF, EACH | PIN])
def test_flags_that_only_root_may_set(mtsd, flags):
    """Of a job that is there: it has no place for the cgroups of children."""
    cgroup = mtsd.own_job()
    with mtsd.member() as ada:
        job = add(ada, cgroup)[1]
        assert set_flags(ada, job, flags, flags) == errno.EOPNOTSUPP
        assert mtsd.all_jobs() == {job: ("job", 0, 0)}


# ---- the queue ---------------------------------------------------------------------------


def submit(client, cgroup, *, flags=0, size=0, wait=0, command=0, fd=0, most=0):
    """Errno, and the job's id, of a process that is in the cgroup alone: itself."""
    request = struct.pack(
        "=64sIIQQQQQIIiI",
        *(b"x", ENTER | flags, 0, cgroup.stat().st_ino, 0, size, wait, command, 0, 0, fd, most),
    )
    error, reply = client.call(SUBMIT, request)
    return error, 0 if error else struct.unpack_from("=I", reply, 68)[0]


def submit_here(client, fd, flags=0, name=b"", number=-1):
    """Errno, and the reply, of root; the descriptor goes along, and `number` in the argument."""
    request = struct.pack("=64sIIQQQQQIIiI", name, HERE | flags, *[0] * 8, number, 0)
    return client.call(SUBMIT, request, fd)


def test_a_cgroup_of_root_in_the_queue(mtsd):
    """Fault: the number of the caller's descriptor was taken for one of mtsd's own."""
    cgroup = mtsd.own_job()
    fd = os.open(cgroup, os.O_RDONLY | os.O_DIRECTORY)
    with mtsd.client() as root:
        for number in range(40):
            assert submit_here(root, None, number=number)[0] == errno.EBADF
        assert not mtsd.all_jobs()
        error, reply = submit_here(root, fd, number=7)
        assert not error
        # Fault: the name that the job has was not told.
        assert reply[:64].rstrip(b"\0") == b"job"
        assert mtsd.all_jobs() == {struct.unpack_from("I", reply, 68)[0]: ("job", 0, 0)}
        assert submit_here(root, fd, name=64 * b"x")[0] == errno.EINVAL
    os.close(fd)


def test_a_removed_cgroup_is_no_other_one(mtsd):
    """Fault: its path was followed, and "x (deleted)" may be the name of another cgroup."""
    gone = mtsd.cgroup(ADA, "x")
    fd = os.open(gone, os.O_RDONLY | os.O_DIRECTORY)
    gone.rmdir()
    other = mtsd.own_job(ADA, "x (deleted)")
    with mtsd.client() as root:
        assert add_fd(root, fd)[0] == errno.ENODEV
        assert submit_here(root, fd)[0] == errno.ENODEV
        assert not mtsd.all_jobs()
        assert not add(root, other)[0]
    os.close(fd)


class Waiting:
    """A process of a user, alone in a cgroup, that asks and then writes a line."""

    def __init__(self, mtsd, name, uid=ADA, **wish):
        self.cgroup = mtsd.cgroup(uid, name)
        self.said = mtsd.dir / f"{name}.said"
        self.said.touch()
        os.chown(self.said, uid, uid)
        answer, ours = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            try:
                (self.cgroup / "cgroup.procs").write_text("0")
                os.setgroups([GROUP])
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
                with mtsd.client() as client:
                    error, job = submit(client, self.cgroup, **wish)
                self.said.write_text("began\n")
                os.write(ours, struct.pack("iI", error, job))
                time.sleep(1000)
            finally:
                os._exit(1)
        os.close(ours)
        self.answer = answer

    def result(self):
        """Errno and id, once it goes on."""
        return struct.unpack("iI", os.read(self.answer, 8))

    def goes_on(self):
        return self.said.read_text() == "began\n"

    def end(self):
        (self.cgroup / "cgroup.kill").write_text("1")
        os.waitpid(self.pid, 0)
        os.close(self.answer)


def infos(mtsd):
    """{name: (state, size, queue's place)}, as mtsctl shows them."""
    shown = json.loads(mtsd.mtsctl("status", "--json", check=True).stdout)["jobs"]
    return {job["name"]: job for job in shown}


def fill_memory(mtsd):
    """Of 64 MiB a job of root's has 50."""
    mtsd.mtsctl("set", "mode=auto", "bin=64M", check=True)
    mtsd.touch("first", 50)
    assert until(lambda: mtsd.is_full("first"), 60), mtsd.report()


def test_a_member_waits_in_the_queue(mtsd):
    fill_memory(mtsd)
    held = Waiting(mtsd, "held", flags=QUEUE, size=32 * host.MIB)
    assert until(lambda: infos(mtsd).get("held", {}).get("state") == "queued"), mtsd.report()
    time.sleep(0.5)
    assert not held.goes_on()
    assert infos(mtsd)["held"]["size"] == 32 * host.MIB
    assert not mtsd.by_user(ADA, "remove", "held").returncode
    assert held.result()[0] == 0
    assert held.goes_on()
    held.end()


def test_a_queued_job_begins_after_its_longest_wait(mtsd):
    fill_memory(mtsd)
    held = Waiting(mtsd, "held", flags=QUEUE, size=32 * host.MIB, wait=2 * SECOND)
    begin = time.monotonic()
    assert held.result()[0] == 0
    assert 1 < time.monotonic() - begin < 15
    held.end()


def test_a_queued_process_can_be_killed(mtsd):
    fill_memory(mtsd)
    held = Waiting(mtsd, "held", flags=QUEUE, size=32 * host.MIB)
    assert until(lambda: infos(mtsd).get("held", {}).get("state") == "queued")
    held.end()
    assert until(lambda: list(infos(mtsd)) == ["first"])
    assert not held.goes_on()


def test_a_user_has_few_jobs_in_the_queue(mtsd):
    """Else those of others, which come behind them, would wait for all of them."""
    mtsd.reload(f"group={GROUP}\nqueue=2")
    fill_memory(mtsd)
    held = []
    for number in range(2):
        held.append(Waiting(mtsd, f"held{number}", flags=QUEUE, size=32 * host.MIB))
        assert until(lambda n=number: infos(mtsd).get(f"held{n}", {}).get("state") == "queued", 30)
    one_more = Waiting(mtsd, "more", flags=QUEUE, size=32 * host.MIB)
    assert one_more.result() == (TOO_MANY_QUEUED, 0)
    theirs = Waiting(mtsd, "theirs", BOB, flags=QUEUE, size=32 * host.MIB)
    assert until(lambda: infos(mtsd).get("theirs", {}).get("state") == "queued")
    for it in (*held, one_more, theirs):
        it.end()


def test_jobs_in_the_queue_keep_nobody_from_asking(mtsd):
    """Fault: each held its connection. A user with as many as are allowed was told EAGAIN."""
    mtsd.reload(f"group={GROUP}\nqueue={USER_CALLERS}")
    fill_memory(mtsd)
    held = []
    for n in range(USER_CALLERS):
        held.append(Waiting(mtsd, f"held{n}", flags=QUEUE, size=32 * host.MIB))
        assert until(lambda n=n: infos(mtsd).get(f"held{n}", {}).get("state") == "queued", 30)
    for words in (("status",), ("remove", "held1")):
        done = mtsd.by_user(ADA, *words)
        assert not done.returncode, done.stderr
    # The reply has come before the end of the connection.
    assert held[1].result()[0] == 0
    for it in held:
        it.end()


def test_64_jobs_of_root_in_the_queue_keep_nobody_from_a_thaw(mtsd):
    """Fault: each held its connection, and there are 64: nothing could be asked any more."""
    fill_memory(mtsd)
    for n in range(64):
        mtsd.run("--name", f"held{n}", "--queue", "--size", "32M", "sleep", "1000")
        assert until(lambda n=n: (mtsd.base / f"held{n}").exists(), 30)
    assert until(lambda: len(infos(mtsd)) == 65, 30), mtsd.report()
    assert not mtsd.by_user(BOB, "status", groups=()).returncode
    mtsd.mtsctl("thaw", check=True)
    assert until(lambda: {job["state"] for job in infos(mtsd).values()} == {"running"})
    assert until(lambda: all(comm_of(job.pid) == "sleep" for job in mtsd.jobs[1:]))


def test_sizes_of_a_user_are_bounded(mtsd):
    """A job that claims all memory and then sleeps would keep the queue from all others."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    one = Waiting(mtsd, "one", size=memory // 2)
    assert one.result()[0] == 0
    two = Waiting(mtsd, "two", size=host.MIB)
    assert two.result() == (TOO_LARGE, 0)
    assert list(infos(mtsd)) == ["one"]
    three = Waiting(mtsd, "three", flags=QUEUE, size=1 << 50)
    assert three.result() == (TOO_LARGE, 0)
    for it in (one, two, three):
        it.end()


@pytest.mark.parametrize(
    ("wish", "error"),
    [
        ({"flags": QUEUE | PIN}, errno.EINVAL),
        ({"flags": QUEUE, "wait": 1}, errno.ERANGE),
        ({"flags": QUEUE, "size": 1}, errno.ERANGE),
        ({"fd": 5}, errno.EINVAL),
        ({"most": 5}, errno.EINVAL),
        ({"flags": 1 << 8}, errno.EINVAL),
        ({"flags": 1 << 3}, errno.EINVAL),
    ],
)
def test_wrong_submissions_of_a_member(mtsd, wish, error):
    asked = Waiting(mtsd, "asked", **wish)
    assert asked.result() == (error, 0)
    assert not mtsd.all_jobs()
    asked.end()


# ---- jobs of children --------------------------------------------------------------------


def can_catch(mtsd):
    shown = json.loads(mtsd.mtsctl("status", "--json", check=True).stdout)
    if shown["each_how"] == "none":
        pytest.skip("no process connector here")


def parent_of_many(mtsd, number, name="sim", uid=ADA):
    """`mtsctl run --here --each=child` of a shell that starts so many children."""
    scope = mtsd.cgroup(uid, f"{name}.scope")
    shell = f"i=0; while [ $i -lt {number} ]; do sleep 1000 & i=$((i+1)); done; wait"
    environment = {k: v for k, v in os.environ.items() if k != "XDG_RUNTIME_DIR"}
    process = subprocess.Popen(
        [
            *("/bin/sh", "-c"),
            f"echo 0 >{scope}/cgroup.procs && exec setpriv --reuid={uid} --regid={uid} "
            f"--groups={GROUP} {MTSCTL} --engine={mtsd.dir}/socket run --here --each=child "
            f"--name {name} sh -c '{shell}'",
        ],
        env=environment,
    )
    mtsd.jobs.append(process)
    return scope, process


def names(mtsd):
    return {name for name, _, _ in mtsd.all_jobs().values()}


HOLDS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* While the file exists. */
static void hold(const char *where)
{
	const char *file = getenv("HOLDS");

	while (!strcmp(getenv("HOLDS_IN"), where) && !truncate(file, 1))
		usleep(1000);
}

int mkdirat(int dir, const char *name, mode_t mode)
{
	int (*real)(int, const char *, mode_t) = dlsym(RTLD_NEXT, "mkdirat");

	hold("mkdirat");
	return real(dir, name, mode);
}

ssize_t write(int fd, const void *buf, size_t n)
{
	ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
	char link[32], path[4096] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof(path) - 1) > 0 && strstr(path, "/cgroup.procs"))
		hold("write");
	return real(fd, buf, n);
}
"""


def move_a_child_away(mtsd, where):
    """While mtsd makes a job of it."""
    library, flag = mtsd.dir / "holds.so", mtsd.dir / "holds"
    compile_it = ["gcc", "-shared", "-fPIC", "-Wall", "-o", library, "-xc", "-", "-ldl"]
    subprocess.run(compile_it, input=HOLDS, text=True, check=True)
    variables = (f"LD_PRELOAD={library}", f"HOLDS={flag}", f"HOLDS_IN={where}")
    mtsd.before = ("env", *variables, *mtsd.before)
    mtsd.start()
    can_catch(mtsd)
    flag.touch()
    flag.chmod(0o666)
    scope, _ = parent_of_many(mtsd, 1)
    assert until(lambda: flag.stat().st_size)
    procs = scope / "sim/cgroup.procs"
    (child,) = until(lambda: [p for p in procs.read_text().split() if comm_of(p) == "sleep"])
    elsewhere = mtsd.outside / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "cgroup.procs").write_text(child)
    flag.unlink()
    stats = ("stats", "--json")
    assert until(lambda: json.loads(mtsd.mtsctl(*stats).stdout)["each_missed"]), mtsd.report()
    assert (elsewhere / "cgroup.procs").read_text().split() == [child]
    assert until(lambda: names(mtsd) == {"sim"})


@pytest.mark.parametrize("where", ["mkdirat", "write"])
def test_a_process_that_is_elsewhere_is_no_child(built, where):
    """Fault: root's mtsd moved what had the child's number by then into the user's cgroup."""
    with contextlib.closing(Host()) as mtsd:
        move_a_child_away(mtsd, where)


def test_children_of_a_member_are_jobs_in_his_own_cgroup(mtsd):
    can_catch(mtsd)
    scope, process = parent_of_many(mtsd, 3)
    wanted = {"sim", "sim.1", "sim.2", "sim.3"}
    assert until(lambda: names(mtsd) == wanted), mtsd.report()
    for name in names(mtsd):
        path = scope / name
        assert until(lambda p=path: len((p / "cgroup.procs").read_text().split()) == 1), name
        for file in (path, path / "cgroup.freeze", path / "cgroup.procs"):
            assert (file.stat().st_uid, file.stat().st_gid) == (ADA, ADA)
    assert not [path for path in mtsd.base.iterdir() if path.is_dir()]
    # They are his own, and of nobody else.
    child = max(job for job, (name, _, _) in mtsd.all_jobs().items() if name != "sim")
    with mtsd.member(BOB) as bob, mtsd.member() as ada:
        assert pause(bob, child, 20 * SECOND) == errno.EACCES
        assert not pause(ada, child, 20 * SECOND)
    (scope / "cgroup.kill").write_text("1")
    process.wait()
    assert until(lambda: not names(mtsd))
    # What mts has made is gone, and what mtsctl has made is the user's.
    assert until(lambda: [p.name for p in scope.iterdir() if p.is_dir()] == ["sim"])


def test_children_stay_within_the_limit_of_their_user(mtsd):
    """Half of what the user has left is set aside. The others stay in the job of their parent."""
    can_catch(mtsd)
    mtsd.reload(f"group={GROUP}\njobs=9\npins=1")
    scope, process = parent_of_many(mtsd, 30)
    assert until(lambda: len(names(mtsd)) == 5), mtsd.report()
    assert until(lambda: len((scope / "sim/cgroup.procs").read_text().split()) > 20)
    time.sleep(0.5)
    assert len(names(mtsd)) == 5
    # 9 - 5: two for another one, and its two children; then one is left.
    with mtsd.member() as ada:
        error, _ = add(ada, mtsd.own_job(name="two"), EACH)
        assert error == errno.EXDEV
        assert not add(ada, mtsd.cgroup(ADA, "own/two"), EACH)[0]
        assert not add(ada, mtsd.own_job(name="three"))[0]
        assert not add(ada, mtsd.own_job(name="four"))[0]
        assert add(ada, mtsd.own_job(name="five"))[0] == TOO_MANY_JOBS
    assert not mtsd.by_user(BOB, "status").returncode
    (scope / "cgroup.kill").write_text("1")
    process.wait()


def test_children_whose_parent_is_gone_count(mtsd):
    """Fault: a user leaves children behind, again and again, until the table is full."""
    can_catch(mtsd)
    mtsd.reload(f"group={GROUP}\njobs=9\npins=1")
    for turn in range(4):
        _, process = parent_of_many(mtsd, 30, f"sim{turn}")
        until(lambda p=process: p.poll() is not None or len(names(mtsd)) >= 9, 3)
        time.sleep(0.3)
        process.kill()
        process.wait()
        assert len(mtsd.all_jobs()) <= 9
    with mtsd.member() as ada:
        assert until(lambda: len(names(mtsd)) <= 9)
        assert len(names(mtsd)) >= 7
        for number in range(9 - len(names(mtsd))):
            assert not add(ada, mtsd.own_job(name=f"rest{number}"))[0]
        assert add(ada, mtsd.own_job(name="beyond"))[0] == TOO_MANY_JOBS


def test_no_children_where_the_directory_is_not_the_users(mtsd):
    cgroup = mtsd.own_job()
    with mtsd.member() as ada:
        assert add(ada, cgroup, EACH)[0] == errno.EXDEV
    assert not mtsd.all_jobs()


# ---- mtsctl ------------------------------------------------------------------------------


def test_mtsctl_of_a_member(mtsd):
    cgroup = mtsd.own_job()
    done = mtsd.by_user(ADA, "add", cgroup)
    assert not done.returncode, done.stderr
    for words in (("pin", "job"), ("unpin", "job"), ("pause", "job", "20s"), ("status",)):
        done = mtsd.by_user(ADA, *words)
        assert not done.returncode, done.stderr
    shown = mtsd.by_user(BOB, "status", "--json", groups=())
    assert [job["name"] for job in json.loads(shown.stdout)["jobs"]] == ["job"]
    for words in (("get",), ("stats",), ("plan",), ("top", "-b", "-n", "1"), ("why", os.getpid())):
        done = mtsd.by_user(BOB, *words, groups=())
        assert not done.returncode, (words, done.stderr)
    assert not mtsd.by_user(ADA, "remove", "job").returncode


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("set", "mode=off"), "only root may do this"),
        (("thaw",), "only root may do this"),
        (("remove", "job"), "jobs that root or a rule has made are root's"),
        (("add", "--pid", "1"), "is in the root cgroup"),
        (("run", "true"), "no systemd manager of this user"),
        (("run", "--here", "true"), "cannot be a job"),
    ],
)
def test_what_mtsctl_says(mtsd, words, says):
    cgroup = mtsd.own_job()
    with mtsd.client() as root:
        assert not add(root, cgroup)[0]
    before = mtsd.all_jobs()
    done = mtsd.by_user(ADA, *words)
    assert done.returncode
    assert says in done.stderr
    assert mtsd.all_jobs() == before


def test_run_in_a_cgroup_of_his_own(mtsd):
    """As systemd-run --user --scope starts it."""
    cgroup = mtsd.cgroup(ADA, "sim.scope")
    done = mtsd.by_user(ADA, "run", "--pin", "--", "sh", "-c", "'id -u; exit 7'", cgroup=cgroup)
    assert (done.returncode, done.stdout) == (7, f"{ADA}\n"), done.stderr
    assert until(lambda: not mtsd.all_jobs())
    process = subprocess.Popen(
        [
            *("/bin/sh", "-c"),
            f"echo 0 >{cgroup}/cgroup.procs && exec setpriv --reuid={ADA} --regid={ADA} "
            f"--groups={GROUP} {MTSCTL} --engine={mtsd.dir}/socket run --here sleep 1000",
        ]
    )
    mtsd.jobs.append(process)
    assert until(lambda: "sim.scope" in [name for name, _, _ in mtsd.all_jobs().values()])
    assert until(lambda: comm_of(process.pid) == "sleep")
    assert cgroup.joinpath("cgroup.procs").read_text() == f"{process.pid}\n"
    done = mtsd.by_user(ADA, "remove", "sim.scope")
    assert not done.returncode, done.stderr
    assert process.poll() is None


def test_run_beside_another_process(mtsd):
    cgroup = mtsd.own_job()
    done = mtsd.by_user(ADA, "run", "--here", "true", cgroup=cgroup)
    assert done.returncode == 125
    assert "other processes are in it" in done.stderr


def test_a_request_to_run_in_the_cgroup_of_another_process(mtsd):
    cgroup = mtsd.own_job()
    with mtsd.member() as ada:
        for cgroup_id, error in ((cgroup.stat().st_ino, errno.EBUSY), (0, errno.ENODEV)):
            request = struct.pack("=64sIIQQQQQIIiI", b"x", ENTER, 0, cgroup_id, *[0] * 8)
            assert ada.call(SUBMIT, request)[0] == error
    assert not mtsd.all_jobs()


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_systemd_run_makes_the_scope(mtsd):
    """A stand-in for systemd-run(1): it makes the scope of that name, and executes the rest."""
    tools, asked = mtsd.dir / "tools", mtsd.dir / "asked"
    manager = mtsd.dir / "run/systemd/private"
    tools.mkdir()
    manager.parent.mkdir(parents=True)
    for path in (asked, manager):
        path.touch()
        os.chown(path, ADA, ADA)
    script(
        tools / "systemd-run",
        f'echo "$@" >{asked}\n'
        'while [ "$1" != -- ]; do unit=${1#--unit=}; shift; done; shift\n'
        f"scope={mtsd.place(ADA)}/$unit\n"
        'mkdir $scope && echo $$ >$scope/cgroup.procs && exec "$@"',
    )
    command = script(
        mtsd.dir / "command",
        f"cat /proc/self/cgroup; {MTSCTL} --engine={mtsd.dir}/socket status --json",
    )
    done = mtsd.by_user(
        *(ADA, "run", "--name", "sim", "--max-pause", "30s", "--", command),
        cgroup=mtsd.own_job(name="session"),
        env={"XDG_RUNTIME_DIR": str(mtsd.dir / "run"), "PATH": f"{tools}:{os.environ['PATH']}"},
    )
    assert not done.returncode, done.stderr
    assert asked.read_text().startswith("--user --scope --quiet --collect")
    assert "run --here --name sim --max-pause 30s" in asked.read_text()
    assert f"user-{ADA}/sim.scope\n" in done.stdout
    jobs = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    assert [(job["name"], job["max_pause_ns"]) for job in jobs] == [("sim.scope", 30 * SECOND)]


# ---- hostile users -----------------------------------------------------------------------


def descriptors(mtsd):
    return len(os.listdir(f"/proc/{mtsd.process.pid}/fd"))


def test_descriptors_that_come_along_are_closed(mtsd):
    """Fault: of two descriptors that came with a request the second one stayed open."""
    with mtsd.as_user(ADA) as ada:
        assert ada.state() == ("off", 0)
        before = descriptors(mtsd)
        for number in (1, 2, 3, 4, 5, 100, 250):
            fds = [os.dup(0) for _ in range(number)]
            request = struct.pack("II", host.STATUS, 0)
            socket.send_fds(ada.socket, [request], fds)
            error, size = struct.unpack("iI", ada.read(8))
            assert (error, len(ada.read(size))) == (0, 264)
            for fd in fds:
                os.close(fd)
        assert descriptors(mtsd) == before


def connect_all(mtsd, uid, n):
    """Connections of a user, and how many of them are answered."""
    clients, answered = [], 0
    with acting_as(uid):
        for _ in range(n):
            client = mtsd.client()
            clients.append(client)
            with contextlib.suppress(OSError, EOFError, struct.error):
                answered += client.call(host.STATUS)[0] == 0
    return clients, answered


def is_open(client):
    """The other end has not closed it."""
    poll = select.poll()
    poll.register(client.socket, select.POLLIN)
    return not poll.poll(0)


def test_a_user_has_few_connections(mtsd):
    """One more takes the place of the one that has asked nothing for longest."""
    clients, answered = connect_all(mtsd, ADA, 40)
    assert answered == 40
    assert [is_open(client) for client in clients] == [False] * 32 + [True] * USER_CALLERS
    with mtsd.as_user(BOB) as bob, mtsd.client() as root:
        assert bob.state() == root.state() == ("off", 0)
    for client in clients:
        client.close()
    with mtsd.as_user(ADA) as ada:
        assert ada.state() == ("off", 0)


def test_a_request_to_a_connection_that_has_ended_is_not_carried_out(mtsd):
    """Sent before, it is answered with EAGAIN; later it cannot be sent."""
    cgroup = mtsd.own_job()
    clients, _ = connect_all(mtsd, ADA, USER_CALLERS)
    # mtsd is to find the request and the new callers at once
    mtsd.halt()
    more = [mtsd.as_user(ADA) for _ in range(USER_CALLERS)]
    mtsd.process.send_signal(signal.SIGCONT)
    for client in more:
        assert client.state() == ("off", 0)
    for client in clients:
        with pytest.raises((EOFError, OSError)):
            add(client, cgroup)
    assert not mtsd.all_jobs()
    for client in [*clients, *more]:
        client.close()


def stuck(mtsd, uid):
    """One whose caller takes no reply, while mtsd sends it, for 10 s: it cannot leave."""
    client = mtsd.as_user(uid, GROUP)
    request = struct.pack("II", host.stats(4096), 0)
    client.socket.settimeout(0.2)
    with contextlib.suppress(TimeoutError):
        while True:
            client.socket.sendall(request)
    return client


@pytest.mark.parametrize("parts", [1, 2])
def test_one_who_is_refused_is_told_eagain(mtsd, parts):
    """Fault: what had been sent by then ended the connection before the reply was read."""
    clients = [stuck(mtsd, ADA) for _ in range(USER_CALLERS)]
    request = struct.pack("II", host.STATUS, 0)
    for _ in range(5):
        with mtsd.as_user(ADA) as one:
            for part in range(parts):
                with contextlib.suppress(BrokenPipeError):
                    one.socket.sendall(request[part::parts] if parts == 1 else request[:4])
                time.sleep(0.01)
            assert struct.unpack("iI", one.read(8)) == (errno.EAGAIN, 0)
            assert one.socket.recv(1) == b""
    done = mtsd.by_user(ADA, "status")
    assert done.returncode
    assert "too many callers ask at a time" in done.stderr
    for client in clients:
        client.close()


def test_10000_connections_of_a_user(mtsd):
    """Most are refused. Others are answered in the meantime."""
    held, _ = connect_all(mtsd, ADA, USER_CALLERS)
    begin = time.monotonic()
    for n in range(10000):
        with acting_as(ADA), socket.socket(socket.AF_UNIX) as one:
            one.connect(str(mtsd.dir / "socket"))
        if n % 1000 == 0:
            with mtsd.as_user(BOB) as bob, mtsd.client() as root:
                assert bob.state() == root.state() == ("off", 0)
    assert time.monotonic() - begin < 60
    for client in held:
        client.close()


def test_users_together_leave_room_for_root(mtsd):
    clients, answered = [], 0
    for uid in OTHERS:
        more, n = connect_all(mtsd, uid, USER_CALLERS)
        clients += more
        answered += n
    assert answered == 10 * USER_CALLERS
    assert sum(map(is_open, clients)) == ALL_USERS_CALLERS
    roots = [mtsd.client() for _ in range(64 - ALL_USERS_CALLERS)]
    assert all(root.state() == ("off", 0) for root in roots)
    assert sum(map(is_open, clients)) == ALL_USERS_CALLERS
    assert all(map(is_open, roots))
    for client in [*clients, *roots]:
        client.close()


def test_subordinate_ids_take_no_place_of_users(mtsd):
    """Fault: seven of them had all places that there are for users."""
    users = [mtsd.as_user(uid) for uid in OTHERS]
    assert all(user.state() == ("off", 0) for user in users)
    clients = []
    for uid in SUBORDINATE:
        more, answered = connect_all(mtsd, uid, 1)
        assert answered
        clients += more
    with mtsd.member() as ada:
        assert ada.state() == ("off", 0)
    assert all(user.state() == ("off", 0) for user in users)
    assert sum(map(is_open, clients)) == ALL_USERS_CALLERS - len(OTHERS) - 1
    for client in [*clients, *users]:
        client.close()


class Slow:
    """A descriptor whose last close takes a minute: a TCP socket that lingers."""

    def __init__(self):
        server = socket.create_server(("127.0.0.1", 0))
        self.socket = socket.create_connection(server.getsockname())
        self.peer, _ = server.accept()
        server.close()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 60))
        self.socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                self.socket.send(bytes(1 << 16))


def test_a_descriptor_that_is_slow_to_close_keeps_only_its_own_connection(mtsd):
    slow = [Slow() for _ in range(3)]
    request = struct.pack("II", host.STATUS, 0)
    for it in slow:
        with mtsd.as_user(ADA) as ada:
            # mtsd is to be the one that closes it last, so it must not have read it before
            mtsd.halt()
            socket.send_fds(ada.socket, [request], [it.socket.fileno()])
            it.socket.close()
            mtsd.process.send_signal(signal.SIGCONT)
    for _ in range(20):
        with mtsd.as_user(BOB) as bob, mtsd.as_user(ADA) as ada, mtsd.client() as root:
            assert bob.state() == ada.state() == root.state() == ("off", 0)
    begin = time.monotonic()
    assert mtsd.stop() == 0
    assert time.monotonic() - begin < 10
    for it in slow:
        it.peer.close()
    mtsd.start()


def test_root_is_answered_whatever_a_user_who_is_refused_has_sent(mtsd):
    """Fault: the thread that accepts ended with the connection, and waited for the descriptor."""
    places = [stuck(mtsd, ADA) for _ in range(USER_CALLERS)]
    slow = Slow()
    # mtsd is to find the request, and to be the one that closes the descriptor last
    mtsd.halt()
    with mtsd.as_user(ADA) as ada:
        socket.send_fds(ada.socket, [struct.pack("II", host.STATUS, 0)], [slow.socket.fileno()])
    slow.socket.close()
    mtsd.process.send_signal(signal.SIGCONT)
    with mtsd.as_user(BOB) as bob:
        bob.socket.settimeout(1)
        with pytest.raises(TimeoutError):
            bob.state()
    begin = time.monotonic()
    for command in ("status", "thaw", "status"):
        mtsd.mtsctl(command, check=True)
    assert time.monotonic() - begin < 5
    slow.peer.close()
    for client in places:
        client.close()
    assert mtsd.stop() == 0
    mtsd.start()


def test_only_root_opens_the_socket_of_root(mtsd):
    path = mtsd.dir / "socket.root"
    assert path.stat().st_mode & 0o777 == 0o600
    with acting_as(ADA), socket.socket(socket.AF_UNIX) as one, pytest.raises(PermissionError):
        one.connect(str(path))
    assert mtsd.stop() == 0
    assert not path.exists()
    mtsd.start()


def random_fd(random_, own, foreign):
    make = random_.choice(
        (
            lambda: os.open(own, os.O_RDONLY),
            lambda: os.open(foreign, os.O_RDONLY),
            lambda: os.open(own, os.O_PATH),
            lambda: os.open(own / "cgroup.procs", os.O_RDONLY),
            lambda: os.open(random_.choice(("/", "/proc", "/sys", "/dev/null")), os.O_RDONLY),
            lambda: socket.socket(socket.AF_UNIX).detach(),
            lambda: os.memfd_create("x"),
            lambda: os.open(host.mount(), os.O_RDONLY),
        )
    )
    return make()


NUMBERS = (
    0x01,
    0x02,
    0x10,
    0x11,
    0x12,
    0x13,
    0x14,
    0x15,
    0x16,
    0x17,
    0x18,
    0x20,
    0x21,
    0x22,
    0x23,
    0x24,
    0x25,
    0x27,
    0x30,
)


def random_message(random_, ids):
    """Something like a request, or not at all."""
    known = (
        *(host.CONFIG_GET, host.CONFIG_SET, host.JOB_CREATE, host.JOB_ADD, host.JOB_REMOVE),
        *(host.JOB_SET, host.JOB_PAUSE, host.JOB_TAKE, host.STATUS, host.JOBS, host.BINS),
        *(host.THAW, SUBMIT, GONE, DISK, JOB_WEIGHT, host.USER_WEIGHT, host.USERS),
    )
    number = random_.choice(known)
    if random_.random() < 0.1:
        number = host.command(
            random_.choice(NUMBERS), random_.randrange(1 << 14), random_.randrange(4)
        )
    elif random_.random() < 0.1:
        number = random_.randrange(1 << 32)
    size = number >> 16 & 0x3FFF if number >> 30 & 1 else 0
    argument = bytearray(random_.choice((bytes(size), random_.randbytes(size))))
    if size >= 4 and random_.random() < 0.8:
        struct.pack_into("I", argument, 0, random_.choice(ids))
    for _ in range(random_.randrange(4)):
        if size >= 8:
            at = random_.randrange(size // 4) * 4
            struct.pack_into(
                "I", argument, at, random_.choice((0, 1, 2, 4, 16, 32, USER, BOB, 1 << 31))
            )
    stated = size if random_.random() < 0.9 else random_.randrange(1 << 15)
    message = struct.pack("II", number, stated) + bytes(argument)
    if random_.random() < 0.1:
        message = message[: random_.randrange(len(message))]
    return message


@pytest.mark.parametrize("seed", range(6))
def test_garbage(mtsd, seed):
    """A member sends anything at all. mtsd lives on, and no other job has changed."""
    random_ = random.Random(seed)
    own, theirs, roots = mtsd.own_job(), mtsd.own_job(BOB, "theirs"), mtsd.own_job(BOB, "roots")
    with mtsd.client() as root, mtsd.member(BOB) as bob:
        foreign = [add(bob, theirs)[1], add(root, roots)[1]]
        assert all(foreign)
        assert not pause(bob, foreign[0], 40 * SECOND)
        assert not set_flags(root, foreign[1], PIN, PIN)
        before = {job: it for job, it in mtsd.all_jobs().items() if job in foreign}
        configuration = root.call(host.CONFIG_GET)
    open_before = None
    for turn in range(60):
        with mtsd.member() as ada:
            ada.socket.settimeout(0.02)
            for _ in range(random_.randrange(1, 20)):
                message = random_message(random_, [*foreign, *range(12)])
                fds = [
                    random_fd(random_, own, theirs) for _ in range(random_.choice((0, 0, 1, 2, 9)))
                ]
                try:
                    if fds:
                        socket.send_fds(ada.socket, [message or b"x"], fds)
                    else:
                        ada.socket.sendall(message)
                except OSError:
                    break
                finally:
                    for fd in fds:
                        os.close(fd)
                with contextlib.suppress(OSError):
                    ada.socket.recv(1 << 16)
        if turn == 10:
            open_before = descriptors(mtsd)
    with mtsd.client() as root:
        assert root.call(host.CONFIG_GET) == configuration
        assert root.state() == ("off", 0)
    now = mtsd.all_jobs()
    assert {job: it for job, it in now.items() if job in foreign} == before
    assert {name for job, (name, _, _) in now.items() if job not in foreign} <= {"job"}
    with mtsd.client() as root:
        assert all(user == (BOB if job in foreign else ADA) for job, user in owners(root).items())
    # Each job has some, and a connection; none is left of a request.
    assert until(lambda: descriptors(mtsd) <= open_before + 8)
