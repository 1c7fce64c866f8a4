# SPDX-License-Identifier: GPL-2.0
"""Initramfs images: busybox, kernel modules, static programs, settings, and init.sh as PID 1.

The archive is the same to the byte for the same contents, so that a guest of a deterministic
clock does the same thing on every day and on every machine.
"""

import shlex
import shutil
import stat
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from bench.lab import LabError
from bench.lab.kernel import Kernel

INIT = Path(__file__).with_name("init.sh")
MODULES = ["null_blk"]  # with what it needs (configfs)
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


def needs_interpreter(data: bytes) -> bool:
    """Whether this is an ELF program (64 bits) that wants a dynamic linker."""
    if data[:5] != b"\x7fELF\x02":
        return False
    (table,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    kinds = (struct.unpack_from("<I", data, table + index * size)[0] for index in range(count))
    interpreter = 3  # PT_INTERP
    return interpreter in kinds


def build(
    path: Path,
    kernel: Kernel,
    files: Mapping[str, Path | str],
    settings: Mapping[str, str | int],
) -> None:
    """Write the image at `path`.

    files: place in the guest -> a file of the host, or a text (which becomes a script).
    settings: what init.sh reads, as shell variables.
    """
    busybox = shutil.which("busybox")
    if not busybox:
        raise LabError("busybox is not installed: apt-get install busybox-static")
    applets = subprocess.run([busybox, "--list"], check=True, text=True, stdout=subprocess.PIPE)
    modules = kernel.module_files(MODULES)
    settings = {**settings, "LAB_MODULES": " ".join(name for name, _ in modules)}
    with open(path, "wb") as out:
        archive = Archive(out)
        for directory in DIRECTORIES:
            archive.directory(directory)
        archive.device("dev/console", 5, 1)
        archive.file("init", INIT.read_bytes(), 0o755)
        _program(archive, "bin/busybox", Path(busybox))
        for applet in sorted(set(applets.stdout.split()) - {"busybox"}):
            archive.link(f"bin/{applet}", "busybox")
        for name, data in modules:
            archive.file(f"lab/modules/{name}.ko", data)
        lines = (f"{name}={shlex.quote(str(value))}\n" for name, value in settings.items())
        archive.file("lab/settings", "".join(lines).encode())
        for place, source in files.items():
            if isinstance(source, Path):
                _program(archive, place.lstrip("/"), source)
            else:
                archive.file(place.lstrip("/"), source.encode(), 0o755)
        archive.close()


def _program(archive: Archive, place: str, source: Path) -> None:
    try:
        data = source.read_bytes()
        mode = source.stat().st_mode & 0o777
    except OSError as error:
        raise LabError(f"{source}: {error.strerror}") from None
    if needs_interpreter(data):
        raise LabError(f"{source} is not linked statically: it cannot run in a guest")
    archive.file(place, data, mode)
