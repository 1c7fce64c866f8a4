# SPDX-License-Identifier: GPL-2.0
"""The laboratory without a guest: images, kernels' modules, verdicts, TAP."""

import gzip
import io
import lzma
import os
from pathlib import Path

import pytest

from bench.lab import LabError, guest, image, programs
from bench.lab import kernel as lab_kernel
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


# The note that says where QEMU is to jump to: size of the name, of the address, type; name.
PVH = b"\x04\0\0\0\x04\0\0\0\x12\0\0\0Xen\0"


def bz_image(payload):
    """A compressed kernel: two sectors of setup, 16 bytes, the payload and its size."""
    setup = bytearray(1024)
    setup[0x1F1] = 1
    setup[0x248:0x24C] = (16).to_bytes(4, "little")
    return bytes(setup) + bytes(16) + payload + len(payload).to_bytes(4, "little")


@pytest.mark.parametrize(
    ("payload", "uncompressed"),
    [
        (lzma.compress(b"\x7fELF and " + PVH), b"\x7fELF and " + PVH),
        (lzma.compress(b"\x7fELF without that note"), None),
        (gzip.compress(b"\x7fELF and " + PVH), None),
    ],
    ids=["direct", "not-direct", "other-compression"],
)
def test_kernel_is_booted_uncompressed_where_that_works(kernel, monkeypatch, payload, uncompressed):
    monkeypatch.setattr(lab_kernel, "KERNELS", kernel.tree.parent)
    kernel.image.parent.mkdir()
    kernel.image.write_bytes(bz_image(payload))
    for _ in range(2):  # made, and found
        booted = kernel.bootable()
        assert booted.name == ("vmlinux-9.9" if uncompressed else "vmlinuz-9.9")
        assert booted.read_bytes() == (uncompressed or bz_image(payload))


def test_kernel_elsewhere_is_left_alone(kernel):
    kernel.image.parent.mkdir()
    kernel.image.write_bytes(bz_image(lzma.compress(PVH)))
    assert kernel.bootable() == kernel.image


def build(path, kernel, files):
    (kernel.tree / "lib/modules/9.9/modules.builtin").write_text("a/null_blk.ko\n")
    image.build(path, kernel, files, {})
    return entries(path.read_bytes())


def test_dynamic_program_without_its_loader_is_refused(kernel, tmp_path):
    with pytest.raises(LabError, match="/bin/ls is not linked statically"):
        build(tmp_path / "image", kernel, {"bin/ls": Path("/bin/ls")})


def test_dynamic_program_comes_with_its_loader(kernel, tmp_path):
    files = programs.closure("/bin/ls")
    got = build(tmp_path / "image", kernel, files)
    assert files.keys() < got.keys()
    assert got["bin/ls"] == (0o100755, Path("/bin/ls").read_bytes())
    assert any(place.startswith("lib64/ld-linux") for place in files)


def test_image_is_the_same_to_the_byte(kernel, tmp_path):
    for name in ("one", "two"):
        build(tmp_path / name, kernel, {"lab/x": "text"})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def settings_of(path):
    lines = entries(path.read_bytes())["lab/settings"][1].decode().splitlines()
    return dict(line.split("=", 1) for line in lines)


def test_zram_is_told_to_init_with_its_modules(kernel, tmp_path):
    builtin = kernel.tree / "lib/modules/9.9/modules.builtin"
    builtin.write_text("null_blk.ko\nzram.ko\nzstd.ko\nzswap.ko\n")
    swap = guest.Swap("zram-zstd", 64)
    guest.Guest(guest.Spec(kernel, "", swap=swap, kernel_modules=("a",)), tmp_path / "g").close()
    got = settings_of(tmp_path / "g" / "initramfs.cpio")
    assert (got["LAB_ZRAM"], got["LAB_SWAP_MIB"]) == ("zstd", "64")
    assert got["LAB_MODULES"] == "'c b_b a'"
    builtin.write_text("null_blk.ko\n")
    with pytest.raises(LabError, match="no module zram"):
        guest.Guest(guest.Spec(kernel, "", swap=swap), tmp_path / "g")
    with pytest.raises(LabError, match="no disk model tape"):
        guest.Guest(guest.Spec(kernel, "", swap=guest.Swap("tape", 64)), tmp_path / "g")


def test_zswap_takes_what_the_release_has(kernel):
    assert kernel.zswap_modules() == ()
    (kernel.tree / "lib/modules/9.9/modules.builtin").write_text("lib/zsmalloc.ko\nzram.ko\n")
    assert kernel.zswap_modules() == ("zsmalloc",)


def test_memory_grows_with_the_image(kernel, tmp_path):
    (kernel.tree / "lib/modules/9.9/modules.builtin").write_text("null_blk.ko\n")
    (tmp_path / "large").write_bytes(bytes(20 * 2**20))
    files = {"lab/large": tmp_path / "large"}
    sizes = [
        guest.Guest(guest.Spec(kernel, "", memory_mib=301, **more), tmp_path / "g").memory_mib
        for more in ({"files": files}, {"image_copies": 2}, {"image_copies": 2, "files": files})
    ]
    assert sizes[0] == 301
    assert sizes[1] % 8 == sizes[2] % 8 == 0
    assert 301 < sizes[1] < 320
    assert sizes[2] == sizes[1] + 40


def test_command_line_ends_with_what_was_asked_for(kernel, tmp_path):
    (kernel.tree / "lib/modules/9.9/modules.builtin").write_text("null_blk.ko\n")
    made = guest.Guest(guest.Spec(kernel, "", append="zswap.enabled=1"), tmp_path / "g")
    assert made.command_line().endswith(" loglevel=5 zswap.enabled=1")


@pytest.fixture
def run_as(kernel, tmp_path, monkeypatch):
    """Runs a guest of which QEMU is a shell script. With the clock that is asked for."""
    (kernel.tree / "lib/modules/9.9/modules.builtin").write_text("null_blk.ko\n")
    qemu = tmp_path / "bin/qemu-system-x86_64"
    qemu.parent.mkdir()
    monkeypatch.setenv("PATH", f"{qemu.parent}:{os.environ['PATH']}")

    def run(script, profile, timeout):
        qemu.write_text(f"#!/bin/sh\n{script}\n")
        qemu.chmod(0o755)
        spec = guest.Spec(kernel, "", profile=profile, timeout=timeout)
        return guest.run(spec, tmp_path / "g").error

    return run


SPIN = "while :; do :; done"


def test_a_guest_has_so_many_real_seconds(run_as):
    assert run_as("exec sleep 50", guest.FUNCTIONAL, 0.5) == "no end after 0.5 s: killed"


def test_a_counted_guest_has_so_much_processor_time(run_as):
    assert run_as(SPIN, guest.icount(), 0.5) == "no end after 0.5 s: killed"
    # What waits for a processor of a loaded host spends none.
    assert run_as("sleep 2", guest.icount(), 0.5) == "the guest ended without a report"


def test_a_counted_guest_that_computes_nothing_is_stuck(run_as, monkeypatch):
    monkeypatch.setattr(guest, "_STUCK", 1.0)
    assert run_as("exec sleep 50", guest.icount(), 60) == "nothing computed in 1 s: killed"


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


@pytest.mark.parametrize(("repeatable", "booted"), [(True, "vmlinuz-9.9"), (False, "vmlinux-9.9")])
def test_what_is_measured_boots_the_kernel_as_packaged(kernel, repeatable, booted):
    """QEMU's boot of an uncompressed kernel is not the same to the nanosecond each time."""
    (kernel.tree / "boot").mkdir()
    (kernel.tree / "boot" / "vmlinux-9.9").write_bytes(PVH)
    spec = guest.Spec(kernel=kernel, main="", repeatable=repeatable)
    assert spec.boots().name == booted
