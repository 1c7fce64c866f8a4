# SPDX-License-Identifier: GPL-2.0
"""What dynamic programs need in a guest: ELF files read, libraries found, places chosen."""

import os
import shutil
import subprocess
import sys

import pytest

from bench.lab import LabError, elf, programs


def test_shell_needs_its_loader_and_library():
    with open("/bin/sh", "rb") as file:
        found = elf.needs(file.read())
    assert found.interpreter == "/lib64/ld-linux-x86-64.so.2"
    assert "libc.so.6" in found.libraries


def test_static_program_and_text_need_nothing():
    with open(shutil.which("busybox"), "rb") as file:
        assert elf.needs(file.read()) == elf.Needs()
    assert elf.needs(b"#!/bin/sh\n") is None
    assert elf.needs(b"") is None


def test_damaged_file_is_an_error():
    with open("/bin/sh", "rb") as file:
        data = file.read()
    for length in (6, 40, 200, 1000):
        with pytest.raises(LabError, match="here: a damaged"):
            elf.needs(data[:length], "here")


def test_closure_runs_where_nothing_else_is(tmp_path):
    """The closure is whole: the program works in it, with the loader's own idea of places."""
    files = programs.closure("xz")
    for place, source in files.items():
        target = tmp_path / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        target.chmod(0o755)
    loader = tmp_path / "lib64/ld-linux-x86-64.so.2"
    library = tmp_path / "lib/x86_64-linux-gnu"
    done = subprocess.run(
        [
            loader,
            "--inhibit-cache",
            "--library-path",
            library,
            tmp_path / "usr/bin/xz",
            "--version",
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "liblzma" in done.stdout
    assert set(files) == {
        "lib64/ld-linux-x86-64.so.2",
        "lib/x86_64-linux-gnu/libc.so.6",
        "lib/x86_64-linux-gnu/liblzma.so.5",
        "usr/bin/xz",
    }


def test_symbolic_links_are_followed_and_directories_taken_whole(tmp_path):
    (tmp_path / "data/deep").mkdir(parents=True)
    (tmp_path / "data/deep/words").write_text("one\n")
    (tmp_path / "data/link").symlink_to("deep/words")
    found = programs.closure(data={"/usr/share/x": tmp_path / "data"})
    assert found == {
        "usr/share/x/deep/words": tmp_path / "data/deep/words",
        "usr/share/x/link": tmp_path / "data/deep/words",
    }
    with pytest.raises(LabError, match="no such file"):
        programs.closure(data={"x": tmp_path / "nowhere"})


def test_missing_program_names_its_package(tmp_path):
    (tmp_path / "usr/bin").mkdir(parents=True)
    with pytest.raises(LabError, match=r"stress-ng is not installed: apt-get install stress-ng"):
        programs.find("stress-ng", root=tmp_path)
    with pytest.raises(LabError, match=r"hackbench is not installed: .* rt-tests"):
        programs.find("hackbench", root=tmp_path)
    with pytest.raises(LabError, match="no-such is not installed"):
        programs.find("no-such", root=tmp_path)


@pytest.fixture
def compiled(tmp_path):
    """A program with a library of its own below $ORIGIN, in a root of its own."""
    root = tmp_path / "root"
    for directory in ("opt/own", "usr/bin", "lib64", "usr/lib/x86_64-linux-gnu"):
        (root / directory).mkdir(parents=True)
    loader = "lib64/ld-linux-x86-64.so.2"
    shutil.copyfile(f"/{loader}", root / loader)
    libc = "lib/x86_64-linux-gnu/libc.so.6"
    shutil.copyfile(f"/{libc}", root / f"usr/{libc}")
    cc = os.environ.get("CC", "gcc")
    own = root / "opt/own"
    build = (
        (
            "int f(void) { return 3; }",
            ["-shared", "-Wl,-soname,libown.so", "-o", own / "libown.so"],
        ),
        (
            "int f(void); int main(void) { return f(); }",
            ["-o", root / "usr/bin/prog", "-Wl,-rpath,$ORIGIN/../../opt/own", f"-L{own}"],
        ),
    )
    for text, options in build:
        source = tmp_path / "source.c"
        source.write_text(text)
        libraries = [] if "-shared" in options else ["-lown"]
        subprocess.run([cc, source, *options, *libraries], check=True)
    return root


def test_own_libraries_keep_their_place_and_others_go_to_the_default(compiled):
    data = (compiled / "usr/bin/prog").read_bytes()
    wants = elf.needs(data)
    assert wants.search == ("$ORIGIN/../../opt/own",)
    found = programs.closure("prog", root=compiled)
    assert found["opt/own/libown.so"] == compiled / "opt/own/libown.so"
    assert found["lib/x86_64-linux-gnu/libc.so.6"] == (
        compiled / "usr/lib/x86_64-linux-gnu/libc.so.6"
    )


def test_library_that_is_nowhere_is_an_error(compiled):
    (compiled / "usr/lib/x86_64-linux-gnu/libc.so.6").unlink()
    with pytest.raises(LabError, match=r"libc\.so\.6"):
        programs.closure("prog", root=compiled)


def test_command_prints_sizes():
    done = subprocess.run(
        [sys.executable, "-m", "bench.lab.programs", "gzip"], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "MiB  in all" in done.stdout
