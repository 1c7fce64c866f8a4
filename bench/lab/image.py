# SPDX-License-Identifier: GPL-2.0
"""Initramfs images: busybox, kernel modules, programs, settings, and init.sh as PID 1.

Programs are static, or come with their loader and libraries (programs.py finds those).

The archive is the same to the byte for the same contents, so that a guest of a deterministic
clock does the same thing on every day and on every machine.
"""

import shlex
import shutil
import stat
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from bench.lab import LabError, elf
from bench.lab.kernel import Kernel

INIT = Path(__file__).with_name("init.sh")
DIRECTORIES = ("bin", "dev", "lab/modules", "proc", "root", "run", "sys", "tmp", "var")


class Archive:
    """Writes a cpio archive of the kind that the kernel unpacks (newc, no compression)."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._inode = 0
        self._directories: set[str] = set()

    def directory(self, path: str) -> None:
        """A directory and those above it; one that exists is left as it is."""
        for parent in [*reversed(PurePosixPath(path).parents), PurePosixPath(path)]:
            name = str(parent)
            if name != "." and name not in self._directories:
                self._directories.add(name)
                self._entry(name, stat.S_IFDIR | 0o755)

    def file(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """A regular file."""
        self._in_directory(path, stat.S_IFREG | mode, data)

    def link(self, path: str, target: str) -> None:
        """A symbolic link."""
        self._in_directory(path, stat.S_IFLNK | 0o777, target.encode())

    def device(self, path: str, major: int, minor: int) -> None:
        """A character device."""
        self._in_directory(path, stat.S_IFCHR | 0o600, device=(major, minor))

    def close(self) -> None:
        """Write the end mark. The file below stays open."""
        self._entry("TRAILER!!!", 0)

    def _in_directory(
        self, path: str, mode: int, data: bytes = b"", device: tuple[int, int] = (0, 0)
    ) -> None:
        self.directory(str(PurePosixPath(path).parent))
        self._entry(path, mode, data, device)

    def _entry(
        self, path: str, mode: int, data: bytes = b"", device: tuple[int, int] = (0, 0)
    ) -> None:
        self._inode += 1
        name = path.encode() + b"\0"
        fields = (
            self._inode,
            mode,
            0,  # owner
            0,  # group
            1,  # links
            0,  # time
            len(data),
            0,  # device of the archive
            0,
            *device,
            len(name),
            0,  # no checksum
        )
        self._write(b"070701" + b"".join(b"%08X" % field for field in fields) + name)
        self._write(data)

    def _write(self, data: bytes) -> None:
        self._out.write(data + bytes(-len(data) % 4))


def build(
    path: Path,
    kernel: Kernel,
    files: Mapping[str, Path | str],
    settings: Mapping[str, str | int],
    modules: Sequence[str] = ("null_blk",),
) -> None:
    """Write the image at `path`.

    files: place in the guest -> a file of the host, or a text (which becomes a script).
    settings: what init.sh reads, as shell variables.
    modules: of the kernel, by name; what they need comes with them.

    LabError if a program is dynamic and its loader is not among the files.
    """
    busybox = shutil.which("busybox")
    if not busybox:
        raise LabError("busybox is not installed: apt-get install busybox-static")
    applets = subprocess.run([busybox, "--list"], check=True, text=True, stdout=subprocess.PIPE)
    loaded = kernel.module_files(list(modules))
    settings = {**settings, "LAB_MODULES": " ".join(name for name, _ in loaded)}
    places = {place.lstrip("/") for place in files}
    with open(path, "wb") as out:
        archive = Archive(out)
        for directory in DIRECTORIES:
            archive.directory(directory)
        archive.device("dev/console", 5, 1)
        archive.file("init", INIT.read_bytes(), 0o755)
        _program(archive, "bin/busybox", Path(busybox), places)
        for applet in sorted(set(applets.stdout.split()) - {"busybox"}):
            if f"bin/{applet}" not in places:  # else the file is what is meant
                archive.link(f"bin/{applet}", "busybox")
        for name, data in loaded:
            archive.file(f"lab/modules/{name}.ko", data)
        lines = (f"{name}={shlex.quote(str(value))}\n" for name, value in settings.items())
        archive.file("lab/settings", "".join(lines).encode())
        for place, source in files.items():
            if isinstance(source, Path):
                _program(archive, place.lstrip("/"), source, places)
            else:
                archive.file(place.lstrip("/"), source.encode(), 0o755)
        archive.close()


def _program(archive: Archive, place: str, source: Path, places: set[str]) -> None:
    try:
        data = source.read_bytes()
        mode = source.stat().st_mode & 0o777
    except OSError as error:
        raise LabError(f"{source}: {error.strerror}") from None
    wants = elf.needs(data, str(source))
    if wants and wants.interpreter and wants.interpreter.lstrip("/") not in places:
        raise LabError(f"{source} is not linked statically: it cannot run in a guest")
    archive.file(place, data, mode)
