# SPDX-License-Identifier: GPL-2.0
"""The laboratory without a guest: images, kernels' modules, verdicts, TAP."""

import io
import shutil

import pytest

from bench.lab import LabError, guest, image
from bench.lab.kernel import Kernel
from tests.guest.harness import Output


def entries(data):
    """Name, mode and content of all that is in a newc archive."""
    found, at = {}, 0
    while True:
        assert data[at : at + 6] == b"070701"
        fields = [int(data[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        mode, size, name_size = fields[1], fields[6], fields[11]
        name = data[at + 110 : at + 109 + name_size].decode()
        at = (at + 110 + name_size + 3) & ~3
        if name == "TRAILER!!!":
            return found
        assert name not in found
        found[name] = (mode, data[at : at + size])
        at = (at + size + 3) & ~3


def test_archive_holds_what_was_put_in():
    out = io.BytesIO()
    archive = image.Archive(out)
    archive.file("a/b/file", b"12345", 0o755)
    archive.directory("a/c")
    archive.link("a/link", "b/file")
    archive.device("dev/console", 5, 1)
    archive.close()
    assert entries(out.getvalue()) == {
        "a": (0o040755, b""),
        "a/b": (0o040755, b""),
        "a/b/file": (0o100755, b"12345"),
        "a/c": (0o040755, b""),
        "a/link": (0o120777, b"b/file"),
        "dev": (0o040755, b""),
        "dev/console": (0o020600, b""),
    }


def test_dynamic_programs_are_told_from_static_ones():
    with open("/bin/sh", "rb") as dynamic, open(shutil.which("busybox"), "rb") as static:
        assert image.needs_interpreter(dynamic.read())
        assert not image.needs_interpreter(static.read())
    assert not image.needs_interpreter(b"#!/bin/sh\n")


@pytest.fixture
def kernel(tmp_path):
    modules = tmp_path / "lib" / "modules" / "9.9"
    modules.mkdir(parents=True)
    (modules / "modules.dep").write_text("x/a.ko: x/b-b.ko x/c.ko\nx/b-b.ko: x/c.ko\nx/c.ko:\n")
    (modules / "modules.builtin").write_text("kernel/fs/there.ko\n")
    (modules / "x").mkdir()
    for name in ("a", "b-b", "c"):
        (modules / "x" / f"{name}.ko").write_bytes(name.encode())
    return Kernel("9.9", tmp_path)


def test_modules_come_after_what_they_need(kernel):
    assert kernel.module_files(["a"]) == [("c", b"c"), ("b_b", b"b-b"), ("a", b"a")]


def test_module_that_is_built_in_needs_no_file(kernel):
    assert kernel.module_files(["there"]) == []


def test_module_that_is_not_there(kernel):
    with pytest.raises(LabError, match="no module nowhere"):
        kernel.module_files(["nowhere"])


@pytest.mark.parametrize(
    ("status", "error", "log", "good"),
    [
        (0, "", [], True),
        (1, "", [], False),
        (None, "", [], False),
        (0, "no end", [], False),
        (0, "", ["WARNING: x"], False),
    ],
)
def test_verdict(status, error, log, good):
    assert guest.Verdict(status, error, log, 1.0).good == good


def output(status, *lines):
    result = Output(status=status)
    for line in lines:
        result.line(line)
    return result


def test_tap_of_a_good_program():
    got = output(0, "1..2", "ok 1 - a", "ok 2 - b # SKIP no swap")
    assert not got.complaint()
    assert not got.results["a"].skipped
    assert got.results["b"].skipped


def test_tap_of_a_failed_test():
    got = output(1, "1..1", "# expected 1, got 2", "not ok 1 - a b # why")
    assert not got.complaint()
    assert not got.results["a b"].good
    assert got.results["a b"].why == "why"
    assert got.results["a b"].diagnosis == ["# expected 1, got 2"]


@pytest.mark.parametrize(
    ("got", "complaint"),
    [
        (output(None, "1..1"), "did not end"),
        (output(0, "1..2", "ok 1 - a"), "planned 2 tests and ran 1"),
        (output(0, "ok 1 - a"), "planned None"),
        (output(3, "1..1", "ok 1 - a"), "status 3"),
    ],
)
def test_tap_of_a_broken_program(got, complaint):
    assert complaint in got.complaint()
