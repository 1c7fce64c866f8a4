# SPDX-License-Identifier: GPL-2.0
"""libmts as `make install` has it, compiled against by its pkg-config, and asked by programs."""

import contextlib
import ctypes
import errno
import os
import re
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.build import alone
from tests.engine import engine as host
from tests.engine.engine import ROOT, until
from tests.engine.test_users import ADA, GROUP, Host

SOURCES = ROOT / "userspace/libmts"
HEADER = (SOURCES / "mts.h").read_text()
FUNCTIONS = {*re.findall(r"^(?!\s)[^#/\n]*?\b(mts_\w+)\((?=[^*])", HEADER, re.MULTILINE)}
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
ENTER, PIN = 1, 4
SUBMIT = "=64sIIQQQQQIIQ"  # struct mts_job_submit
JOB_INFO = 320


def run(*words, **kwargs):
    return subprocess.run(words, capture_output=True, text=True, timeout=60, **kwargs)


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """A root with what is installed of the library."""
    root = tmp_path_factory.mktemp("libmts")
    make = ("make", "-s", "-C", SOURCES, "install", f"BUILD={host.BUILD}")
    with alone():
        done = run(*make, f"DESTDIR={root}", "PREFIX=/opt/mts")
    assert not done.returncode, done.stderr
    root.chmod(0o755)
    return root


def pkg_config(root, *words):
    environment = {
        **os.environ,
        "PKG_CONFIG_SYSROOT_DIR": str(root),
        "PKG_CONFIG_LIBDIR": f"{root}/opt/mts/lib/pkgconfig",
    }
    done = run("pkg-config", *words, "libmts", env=environment)
    assert not done.returncode, done.stderr
    return done.stdout.split()


@pytest.fixture
def compiled(installed, tmp_path):
    """Compile a program as its user does. Return: its path."""

    def make(source, compiler="gcc", *options):
        program = tmp_path / "program"
        flags = pkg_config(installed, "--cflags", "--libs")
        done = run(compiler, *WARNINGS, *options, "-o", program, source, *flags)
        assert not done.returncode, done.stderr
        return program

    return make


def environment(installed, mtsd):
    return {
        **os.environ,
        "LD_LIBRARY_PATH": f"{installed}/opt/mts/lib",
        "MTS_ENGINE": str(mtsd.dir / "socket"),
    }


# ---- what is installed -------------------------------------------------------------------


def test_pkg_config_names_the_version(installed):
    version = re.search(r'MTS_VERSION "(.*)"', (ROOT / "module/version.h").read_text())[1]
    assert pkg_config(installed, "--modversion") == [version]


def test_the_library_has_the_functions_of_the_header_and_no_other_symbol(installed):
    """Each with a version, so that one that changes its meaning can have another."""
    assert len(FUNCTIONS) > 20
    library = installed / "opt/mts/lib/libmts.so"
    said = run("nm", "-D", "--defined-only", library).stdout
    names = {line.split()[2] for line in said.splitlines() if line.split()[1] != "A"}
    assert names == {f"{name}@@LIBMTS_0" for name in FUNCTIONS}
    dynamic = run("readelf", "-d", library).stdout
    assert "Library soname: [libmts.so.0]" in dynamic
    assert re.findall(r"NEEDED.*\[(.*)\]", dynamic) == ["libc.so.6"]


def test_the_manual_has_each_function():
    page = (SOURCES / "libmts.3").read_text()
    synopsis = page.partition(".SH DESCRIPTION")[0]
    assert {*re.findall(r"(mts_\w+)\(", synopsis)} == FUNCTIONS


def test_the_manual_is_clean():
    done = run("mandoc", "-Tlint", "-Wwarning", SOURCES / "libmts.3")
    assert (done.returncode, done.stdout) == (0, "")


def test_uninstall_leaves_nothing(tmp_path):
    for target in ("install", "uninstall"):
        with alone():
            done = run(
                *("make", "-s", "-C", SOURCES, target, f"BUILD={host.BUILD}"),
                *(f"DESTDIR={tmp_path}", "PREFIX=/usr"),
            )
        assert not done.returncode, done.stderr
        assert bool([path for path in tmp_path.rglob("*") if not path.is_dir()]) == (
            target == "install"
        )


# ---- programs ----------------------------------------------------------------------------


@pytest.fixture
def mtsd(engine):
    engine.start("mode=off")
    return engine


def talk(mtsd, program, environment):
    """The example, while it waits for its user, and what it says in the end."""
    process = subprocess.Popen(
        [program, "4"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    mtsd.jobs.append(process)
    job, pid = map(int, re.fullmatch(r"job (\d+), process (\d+)\n", process.stdout.readline())
                   .groups())  # fmt: skip
    assert pid == process.pid
    assert until(lambda: list_jobs(mtsd).get(job, ("", 0))[1] == PIN)
    name = list_jobs(mtsd)[job][0]
    assert (mtsd.base / name / "cgroup.procs").read_text() == f"{process.pid}\n"
    said, _ = process.communicate("\n", timeout=20)
    assert process.returncode == 0
    assert re.search(rf"^(continue\? )?{job} {re.escape(name)}: \d+ MiB, pinned$", said, re.M)
    assert said.endswith("0 of 1 jobs are frozen\n")
    assert until(lambda: not list_jobs(mtsd))


def list_jobs(mtsd):
    """{id: (name, flags)}"""
    with mtsd.client() as client:
        error, reply = client.call(host.JOBS, struct.pack("=QIIQII", 0, 4096, 0, 0, JOB_INFO, 0))
    assert not error
    return {
        struct.unpack_from("I", reply, at)[0]: (
            reply[at + 120 : at + 184].split(b"\0")[0].decode(),
            struct.unpack_from("I", reply, at + 8)[0],
        )
        for at in range(32, len(reply), JOB_INFO)
    }


def test_the_example(mtsd, installed, compiled):
    program = compiled(SOURCES / "example/steps.c", "gcc", "-std=gnu11", "-Wno-pedantic")
    talk(mtsd, program, environment(installed, mtsd))


def test_the_example_linked_statically(mtsd, installed, tmp_path):
    program = tmp_path / "program"
    cflags = pkg_config(installed, "--cflags")
    library = installed / "opt/mts/lib/libmts.a"
    source = SOURCES / "example/steps.c"
    done = run("gcc", "-static", "-o", program, source, *cflags, library)
    assert not done.returncode, done.stderr
    talk(mtsd, program, {**os.environ, "MTS_ENGINE": str(mtsd.dir / "socket")})


def test_the_example_without_a_scheduler(installed, compiled, tmp_path):
    program = compiled(SOURCES / "example/steps.c", "gcc", "-std=gnu11")
    env = {**os.environ, "LD_LIBRARY_PATH": f"{installed}/opt/mts/lib"}
    done = run(program, env={**env, "MTS_ENGINE": str(tmp_path / "none")})
    assert done.returncode == 1
    assert done.stderr == "steps: no scheduler: the module is not loaded, and no mtsd answers\n"


@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_from_cpp(mtsd, installed, compiled, tmp_path, standard):
    source = tmp_path / "program.cpp"
    source.write_text(
        """
        #include <mts/mts.h>
        #include <iostream>
        int main()
        {
            struct mts_connection *c;
            struct mts_status status = {};
            int err = mts_connect(nullptr, 10, &c);
            if (!err)
                err = mts_status_get(c, &status);
            if (err) {
                std::cerr << mts_strerror(nullptr, err);
                return 1;
            }
            std::cout << status.abi << ' ' << (status.state == MTS_STATE_OFF);
            mts_disconnect(c);
        }
        """
    )
    program = compiled(source, "g++", f"-std={standard}")
    done = run(program, env=environment(installed, mtsd))
    assert (done.returncode, done.stdout, done.stderr) == (0, "4 1", "")


@pytest.mark.parametrize("standard", ["c11", "c17"])
def test_the_header_needs_no_extension(installed, compiled, tmp_path, standard):
    source = tmp_path / "program.c"
    source.write_text("#include <mts/mts.h>\nint main(void) { return 0; }\n")
    compiled(source, "gcc", f"-std={standard}")


# ---- its functions -----------------------------------------------------------------------


class Library:
    """libmts.so, by ctypes; a connection, if there is one."""

    def __init__(self, installed):
        self.lib = ctypes.CDLL(f"{installed}/opt/mts/lib/libmts.so.0")
        self.lib.mts_strerror.restype = ctypes.c_char_p
        self.lib.mts_command_number.restype = ctypes.c_uint64
        self.lib.mts_is_for_users.restype = ctypes.c_bool

    def connect(self, engine, limit=10):
        """Errno, and the connection."""
        its = ctypes.c_void_p()
        error = self.lib.mts_connect(str(engine).encode(), limit, ctypes.byref(its))
        return -error, its

    def text(self, connection, error):
        return self.lib.mts_strerror(connection, error).decode()

    def enter(self, connection, name=b"", flags=0, weight=0):
        """Errno, and what has become of the structure."""
        its = ctypes.create_string_buffer(
            struct.pack(SUBMIT, name, flags, 0, 0, 0, 0, 0, 0, weight, 0, 0)
        )
        error = self.lib.mts_job_enter(connection, its)
        return -error, struct.unpack(SUBMIT, its.raw[:128])

    def jobs(self, connection, size=JOB_INFO):
        """Errno, how many, and all bytes."""
        at, count, generation = ctypes.c_void_p(), ctypes.c_uint32(77), ctypes.c_uint64()
        error = self.lib.mts_jobs_get(
            connection, ctypes.byref(at), ctypes.c_size_t(size), ctypes.byref(count),
            ctypes.byref(generation),
        )  # fmt: skip
        data = ctypes.string_at(at, size * count.value) if at else b""
        if at:
            ctypes.CDLL(None).free(at)
        return -error, count.value, data


@pytest.fixture
def lib(installed):
    return Library(installed)


@pytest.fixture
def connection(lib, mtsd):
    error, its = lib.connect(mtsd.dir / "socket")
    assert not error
    yield its
    lib.lib.mts_disconnect(its)


def make_empty(client, name):
    error, reply = client.call(host.JOB_CREATE, struct.pack("=64sIIQQII", name, *[0] * 6))
    assert not error
    return struct.unpack_from("=I", reply, 68)[0]


def test_wrong_engines(lib, tmp_path):
    assert lib.connect("kernel")[0] == errno.EINVAL
    assert lib.connect("./socket")[0] == errno.EINVAL
    assert lib.connect(tmp_path / "none")[0] == errno.ENOENT
    assert lib.connect("/" + 200 * "x")[0] == errno.ENAMETOOLONG
    lib.lib.mts_disconnect(None)


def test_texts_of_errors(lib, connection):
    for error in (errno.EDQUOT, errno.EUSERS, errno.ETIME, errno.EDOM, errno.EEXIST, errno.EBUSY):
        assert lib.text(connection, error) == lib.text(connection, -error)
        assert lib.text(connection, error) != os.strerror(error)
    assert lib.text(connection, errno.EFAULT) == os.strerror(errno.EFAULT)


def test_a_job_is_steered(lib, connection, mtsd):
    with mtsd.client() as client:
        job = make_empty(client, b"one")
    assert lib.lib.mts_job_set_pin(connection, job, True) == 0
    assert list_jobs(mtsd) == {job: ("one", PIN)}
    assert lib.lib.mts_job_set_pin(connection, job, False) == 0
    assert lib.lib.mts_job_set_pause(connection, job, ctypes.c_uint64(5 * 10**9)) == 0
    assert lib.lib.mts_job_set_weight(connection, job, 70) == 0
    info = ctypes.create_string_buffer(JOB_INFO)
    find = lib.lib.mts_job_find
    assert find(connection, b"one", info, ctypes.c_size_t(JOB_INFO)) == 0
    assert struct.unpack_from("I", info.raw)[0] == job
    assert struct.unpack_from("Q", info.raw, 184)[0] == 5 * 10**9
    assert struct.unpack_from("I", info.raw, 312)[0] == 70
    assert find(connection, b"two", info, ctypes.c_size_t(JOB_INFO)) == -errno.ENOENT
    assert lib.lib.mts_job_set_weight(connection, job, 10001) == -errno.ERANGE
    assert lib.lib.mts_job_forget(connection, job) == 0
    assert lib.lib.mts_job_forget(connection, job) == -errno.ENOENT
    assert list_jobs(mtsd) == {}


def test_users_have_weights(lib, connection, mtsd):
    def users():
        at, count = ctypes.c_void_p(), ctypes.c_uint32(77)
        get = lib.lib.mts_users_get
        assert get(connection, ctypes.byref(at), ctypes.byref(count)) == 0
        data = ctypes.string_at(at, 8 * count.value) if at else b""
        if at:
            ctypes.CDLL(None).free(at)
        return list(struct.iter_unpack("II", data))

    weigh = lib.lib.mts_user_set_weight
    assert users() == []
    assert [weigh(connection, 7, 300), weigh(connection, 0, 1)] == [0, 0]
    assert weigh(connection, 7, 10001) == -errno.ERANGE
    assert users() == [(0, 1), (7, 300)]
    # More than fit into the first answer.
    for user in range(1000, 1100):
        assert weigh(connection, user, 50) == 0
    assert users() == [(0, 1), (7, 300), *((user, 50) for user in range(1000, 1100))]
    for user in (0, 7, *range(1000, 1100)):
        assert weigh(connection, user, 0) == 0
    assert users() == []


def test_two_jobs_of_one_name(lib, connection, mtsd):
    twins = [mtsd.outside / parent / "twin" for parent in ("a", "b")]
    for twin in twins:
        twin.mkdir(parents=True)
        mtsd.mtsctl("add", twin, check=True)
    info = ctypes.create_string_buffer(JOB_INFO)
    error = lib.lib.mts_job_find(connection, b"twin", info, ctypes.c_size_t(JOB_INFO))
    for twin in twins:
        mtsd.mtsctl("remove", twin, check=True)
        twin.rmdir()
    assert (error, info.raw) == (-errno.ENOTUNIQ, bytes(JOB_INFO))


@pytest.mark.parametrize("size", [184, 224, JOB_INFO, JOB_INFO + 64, 4096])
def test_lists_of_an_older_or_newer_header(lib, connection, mtsd, size):
    with mtsd.client() as client:
        jobs = [make_empty(client, name) for name in (b"a", b"b", b"c")]
    error, count, data = lib.jobs(connection, size)
    assert (error, count) == (0, 3)
    assert [struct.unpack_from("I", data, i * size)[0] for i in range(3)] == jobs
    if size > JOB_INFO:
        assert not any(data[JOB_INFO:size])


@pytest.mark.parametrize("size", [0, 8, 176, 188, 4104])
def test_lists_of_a_wrong_size(lib, connection, size):
    assert lib.jobs(connection, size) == (errno.EINVAL, 77, b"")


@pytest.mark.parametrize("size", [296, 448, 1024])
def test_stats_of_an_older_or_newer_header(lib, connection, size):
    got = ctypes.create_string_buffer(b"\xff" * (size + 8), size + 8)
    assert lib.lib.mts_stats_get(connection, got, ctypes.c_size_t(size)) == 0
    assert got.raw[size:] == b"\xff" * 8
    assert struct.unpack_from("Q", got.raw)[0] < 1000
    if size == 1024:
        assert not any(got.raw[512:size])


@pytest.mark.parametrize("size", [0, 288, 300, 4104])
def test_stats_of_a_wrong_size(lib, connection, size):
    assert lib.lib.mts_stats_get(connection, None, ctypes.c_size_t(size)) == -errno.EINVAL


def test_wait_ends_when_a_job_comes_or_the_time_is_over(lib, connection, mtsd):
    status = ctypes.create_string_buffer(264)
    wait = lib.lib.mts_status_wait
    assert wait(connection, status, 10, 0) == 1
    # It has just been started.
    assert until(lambda: wait(connection, status, 10, 200) == 0)
    begin = time.monotonic()
    assert wait(connection, status, 10, 300) == 0
    assert 0.3 <= time.monotonic() - begin < 3
    thread = threading.Timer(0.3, lambda: mtsd.run("--name", "late", "sleep", "60"))
    thread.start()
    assert wait(connection, status, 10, -1) == 1
    assert struct.unpack_from("I", status.raw, 16)[0] == 1
    thread.join()


def in_child(function):
    """Its exit status."""
    child = os.fork()
    if not child:
        status = 99
        try:
            status = function()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_process_enters(lib, mtsd):
    def enter():
        error, connection = lib.connect(mtsd.dir / "socket")
        assert not error
        error, job = lib.enter(connection, b"entered", PIN, 30)
        assert not error
        assert job[0].rstrip(b"\0") == b"entered"
        own = Path("/proc/self/cgroup").read_text()
        assert f"/{mtsd.base.name}/entered\n" in own
        assert list_jobs(mtsd) == {job[2]: ("entered", PIN)}
        # A second time: the name is taken.
        assert lib.enter(connection, b"entered")[0] == errno.EEXIST
        return 7

    assert in_child(enter) == 7
    assert until(lambda: not list_jobs(mtsd))


def test_errors_of_enter_change_nothing(lib, connection, mtsd):
    own = Path("/proc/self/cgroup").read_text()
    for name, flags, weight, wanted in (
        (b"a/b", 0, 0, errno.EINVAL),
        (b"a", 1 << 3, 0, errno.EINVAL),
        (b"a", 0, 10001, errno.ERANGE),
    ):
        error, job = lib.enter(connection, name, flags, weight)
        assert error == wanted
        assert job[1] == flags
    assert Path("/proc/self/cgroup").read_text() == own
    assert list_jobs(mtsd) == {}


def test_a_child_does_not_enter_for_its_parent(lib, connection, mtsd):
    """Fault: mtsd moved the process that had connected, and that is the parent."""
    own = Path("/proc/self/cgroup").read_text()
    assert in_child(lambda: lib.enter(connection)[0]) == errno.ECHILD
    assert Path("/proc/self/cgroup").read_text() == own
    assert list_jobs(mtsd) == {}


def test_threads_with_a_connection_each(lib, mtsd):
    wrong = []

    def work(number):
        error, connection = lib.connect(mtsd.dir / "socket")
        for _ in range(50):
            found = lib.jobs(connection)
            if error or found[:2] != (0, 2):
                wrong.append((number, error, found))
        lib.lib.mts_disconnect(connection)

    with mtsd.client() as client:
        for name in (b"a", b"b"):
            make_empty(client, name)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_connection_that_mtsd_ends_is_made_anew(lib, connection, mtsd):
    """It was idle, and others needed its place. A request is carried out once."""
    numbers = set()
    for round_ in range(3):
        clients = [mtsd.client() for _ in range(64)]
        for client in clients:
            # One of them may be the idle one, on a busy host.
            with contextlib.suppress(EOFError):
                assert client.state() == ("off", 0)
        its = ctypes.create_string_buffer(struct.pack("=64sIIQQII", b"", *[0] * 6))
        assert lib.lib.mts_job_new(connection, its) == 0
        numbers.add(struct.unpack_from("=I", its.raw, 68)[0])
        for client in clients:
            client.close()
        assert {*list_jobs(mtsd)} == numbers
        assert len(numbers) == round_ + 1


def test_a_mtsd_that_ends_and_one_that_hangs(lib, mtsd):
    _, gone = lib.connect(mtsd.dir / "socket")
    _, stuck = lib.connect(mtsd.dir / "socket", 1)
    status = ctypes.create_string_buffer(264)
    mtsd.process.send_signal(19)
    begin = time.monotonic()
    assert lib.lib.mts_status_get(stuck, status) == -errno.ETIMEDOUT
    assert 0.5 < time.monotonic() - begin < 10
    mtsd.process.send_signal(18)
    mtsd.stop()
    assert lib.lib.mts_status_get(gone, status) == -errno.EPROTO
    assert lib.text(gone, errno.EPROTO) == "what answers is no mtsd, or it has ended"
    for it in (gone, stuck):
        lib.lib.mts_disconnect(it)


@pytest.mark.parametrize(
    "said",  # number of elements, those that come, and bytes more
    [(1, 1000, 0), (1, 1, 8), (2, 1, 0), (0, 1, 0), (65, 65, 0), (0xFFFFFFFF, 64, 0)],
)
@pytest.mark.parametrize("name", ["jobs", "bins", "gone"])
def test_a_list_that_is_longer_than_was_asked_for(lib, tmp_path, name, said):
    """What answers may be another user's program. The room is for 64 elements."""
    count, elements, more = said
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(tmp_path / "socket"))
    server.listen()

    def answer():
        peer, _ = server.accept()
        with peer:
            request = b""
            while len(request) < 40:
                request += peer.recv(40)
            size = struct.unpack_from("=I", request, 32)[0] or 24
            body = struct.pack("=QIIQII", 0, count, count, 0, size, 0)
            body += bytes(elements * size + more)
            with contextlib.suppress(OSError):
                peer.sendall(struct.pack("=iI", 0, len(body)) + body)
                peer.recv(1)

    def ask():
        error, its = lib.connect(tmp_path / "socket")
        assert not error
        at, found = ctypes.c_void_p(), ctypes.c_uint32()
        words = {
            "jobs": (ctypes.c_size_t(320), ctypes.byref(found), None),
            "bins": (ctypes.byref(found), None),
            "gone": (ctypes.byref(found),),
        }[name]
        return -getattr(lib.lib, f"mts_{name}_get")(its, ctypes.byref(at), *words)

    thread = threading.Thread(target=answer)
    thread.start()
    assert in_child(ask) == errno.EPROTO
    thread.join()
    server.close()


# ---- without root ------------------------------------------------------------------------


@pytest.fixture
def users(built):
    it = Host()
    it.start()
    yield it
    it.close()


def enter_as_ada(lib, mtsd, cgroup):
    """In a child that is ada, in this cgroup. Return: an errno."""

    def enter():
        (cgroup / "cgroup.procs").write_text("0")
        os.setgroups([GROUP])
        os.setresgid(ADA, ADA, ADA)
        os.setresuid(ADA, ADA, ADA)
        error, connection = lib.connect(mtsd.dir / "socket")
        assert not error
        assert lib.lib.mts_is_for_users(connection)
        error, _ = lib.enter(connection)
        if not error:
            assert [name for name, _ in list_jobs(mtsd).values()] == [cgroup.name]
        return error

    return in_child(enter)


def test_a_member_enters_in_his_own_cgroup(lib, users):
    assert enter_as_ada(lib, users, users.cgroup(ADA, "own")) == 0
    assert until(lambda: not list_jobs(users))


def test_a_member_does_not_enter_elsewhere(lib, users):
    shared = users.cgroup(ADA, "shared")
    users.sleep(shared, ADA)
    assert enter_as_ada(lib, users, shared) == errno.EBUSY
    (users.outside / "roots").mkdir()
    assert enter_as_ada(lib, users, users.outside / "roots") == errno.EACCES
    assert list_jobs(users) == {}
