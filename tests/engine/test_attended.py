# SPDX-License-Identifier: GPL-2.0
"""Which processes mtsd takes to be attended: a user or a program outside may wait for them."""

import contextlib
import ctypes
import os
import pty
import socket
import subprocess
import sys
import time

import pytest

from bench.lab import BUILD
from tests import build

ROOT = build.Path(__file__).resolve().parents[2]
INCLUDES = ("userspace/context/real/fake", "userspace/context/real", "module", "userspace")
# What process.c needs of the engine for that.
STUB = """
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
ssize_t mts_read_at(int dir, const char *path, char *buf, size_t size)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -errno : read(fd, buf, size - 1);
	if (fd >= 0)
		close(fd);
	if (n >= 0)
		buf[n] = 0;
	return n;
}
unsigned long long mts_keyed_value(const char *text, const char *key)
{
	_exit(1);
}
"""


@pytest.fixture(scope="module")
def is_attended():
    library = BUILD / "attended.so"
    with build.alone():
        subprocess.run(
            [
                *("gcc", "-shared", "-fPIC", "-Wl,-z,lazy", "-o", library),
                *(f"-I{ROOT / folder}" for folder in INCLUDES),
                *(ROOT / "userspace/engine/process.c", "-x", "c", "-"),
            ],
            input=STUB,
            text=True,
            check=True,
        )
    ask = ctypes.CDLL(str(library)).mts_process_is_attended
    ask.restype = ctypes.c_bool
    return lambda pid, files=4096: ask(pid, ctypes.byref(ctypes.c_uint32(files)))


# Its main thread is gone, and another one has the files.
WITHOUT_MAIN_THREAD = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(60,)).start()
ctypes.CDLL(None).pthread_exit(None)
"""


@pytest.fixture
def start():
    """Start a process in a session of its own, with these files. Return: its number."""
    children = []

    def it(*command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **more):
        child = subprocess.Popen(
            command or ("sleep", "60"),
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            **more,
        )
        children.append(child)
        return child.pid

    yield it
    for child in children:
        child.kill()
        child.wait()


def test_a_job_with_files_alone_is_not_attended(is_attended, start, tmp_path):
    with open(tmp_path / "out", "w") as out:
        assert not is_attended(start(stdout=out))
    with open("/dev/zero") as zeros:
        assert not is_attended(start(stdin=zeros))


def test_not_all_of_a_million_files_are_looked_at(is_attended, start):
    """Fault: each was, of each process of a job, with mts_lock held."""
    with contextlib.ExitStack() as opened:
        files = [opened.enter_context(open("/dev/null")).fileno() for _ in range(200)]
        pid = start(pass_fds=files)
    assert not is_attended(pid, 203)
    assert is_attended(pid, 202)


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_a_pipe_as_a_standard_stream_is_attended(is_attended, start, stream):
    """As `ssh host command`, cron and CI services start commands."""
    assert is_attended(start(**{stream: subprocess.PIPE}))


def test_another_pipe_is_its_own(is_attended, start):
    ends = os.pipe()
    assert not is_attended(start(pass_fds=ends))


def test_a_socket_is_attended(is_attended, start):
    with socket.socket(socket.AF_UNIX) as one:
        assert is_attended(start(pass_fds=(one.fileno(),)))


def test_a_terminal_and_a_device_are_attended(is_attended, start):
    of_terminal, terminal = pty.openpty()
    assert is_attended(start(pass_fds=(terminal,)))
    assert is_attended(start(pass_fds=(of_terminal,)))


def test_what_another_thread_than_the_first_has_open_counts(is_attended, start):
    with socket.socket(socket.AF_UNIX) as one:
        command = (sys.executable, "-c", WITHOUT_MAIN_THREAD)
        with_socket = start(*command, pass_fds=(one.fileno(),))
        without = start(*command)
        for pid in (with_socket, without):
            until = time.monotonic() + 20
            while "State:\tZ" not in build.Path(f"/proc/{pid}/status").read_text():
                assert time.monotonic() < until, "its main thread has not ended"
                time.sleep(0.05)
        assert is_attended(with_socket)
        assert not is_attended(without)


def test_a_process_that_is_gone_is_not(is_attended):
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert not is_attended(gone.pid)
