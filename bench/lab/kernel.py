# SPDX-License-Identifier: GPL-2.0
"""Stock Debian kernels for guests, unpacked below build/kernel/<release>/, never installed.

The kernel taken is the one whose headers are installed, because the module is built against
those: `apt-get download linux-image-<release>`, unpacked with dpkg-deb. Trees that something
else put there are found by their release as well, and so are the kernels of newer Debian suites
that tools/newer-kernels (`make newer`) has put below build/newer/<suite>/, with mts.ko for each.
tools/rt-kernel puts Debian's PREEMPT_RT kernel in build/rt/; it is used only if asked for by name.
"""

import argparse
import fcntl
import lzma
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.lab import BUILD, ROOT, LabError

KERNELS = BUILD / "kernel"
NEWER = BUILD / "newer"
RT = BUILD / "rt"
MTS = "mts.ko"
HEADERS = Path("/usr/src")


@dataclass(frozen=True)
class Kernel:
    """An unpacked kernel package: tree/boot/vmlinuz-<release>, tree/lib/modules/<release>/."""

    release: str
    tree: Path

    @property
    def image(self) -> Path:
        """As the package has it: compressed."""
        return self.tree / "boot" / f"vmlinuz-{self.release}"

    def bootable(self) -> Path:
        """What QEMU boots: the kernel uncompressed, made when it is first asked for.

        An emulated processor takes 5 s to decompress it. Only below build/kernel/; elsewhere, and
        where this cannot be done, the image.
        """
        path = self.tree / "boot" / f"vmlinux-{self.release}"
        if self.tree.parent == KERNELS and not path.exists():
            data = uncompressed(self.image.read_bytes())
            if data is None:
                return self.image
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
                file.write(data)
            os.replace(file.name, path)  # others may do the same now
        return path if path.exists() else self.image

    @property
    def modules(self) -> Path:
        """The directory of modules.dep."""
        for base in ("lib", "usr/lib"):
            path = self.tree / base / "modules" / self.release
            if path.is_dir():
                return path
        raise LabError(f"{self.tree}: no modules of {self.release} in it")

    @property
    def mts(self) -> Path:
        """mts.ko for it. LabError if it is not built."""
        if self.tree.parent == NEWER:
            path, made_by = self.tree / MTS, f"tools/newer-kernels {self.tree.name}"
        elif self.tree.parent == RT:
            path, made_by = RT / MTS, "tools/rt-kernel"
        else:
            path, made_by = ROOT / "module" / MTS, "make guest-module static"
        if not path.exists():
            raise LabError(f"{path.relative_to(ROOT)} is not built: {made_by}")
        return path

    def module_files(self, names: list[str]) -> list[tuple[str, bytes]]:
        """Name and content of the modules named and of all they need, in order of loading.

        Modules that are built into the kernel are left out.
        """
        depends, builtin = self._index()
        order: list[str] = []
        for name in names:
            key = name.replace("-", "_")
            if key in builtin:
                continue
            if key not in depends:
                raise LabError(f"kernel {self.release} has no module {name}")
            path, needs = depends[key]
            # modules.dep lists what a module needs with the deepest last
            for need in [*reversed(needs), path]:
                if need not in order:
                    order.append(need)
        return [(_module_name(path), _module_data(self.modules / path)) for path in order]

    def zswap_modules(self) -> tuple[str, ...]:
        """What zswap may keep pages with, for module_files(): it depends on the release."""
        depends, builtin = self._index()
        known = {*depends, *builtin}
        return tuple(name for name in ("zbud", "z3fold", "zsmalloc") if name in known)

    def _index(self) -> tuple[dict[str, tuple[str, list[str]]], set[str]]:
        depends = {}
        for line in (self.modules / "modules.dep").read_text().splitlines():
            path, _, needs = line.partition(":")
            depends[_module_name(path)] = (path, needs.split())
        builtin = {
            _module_name(line)
            for line in (self.modules / "modules.builtin").read_text().splitlines()
        }
        return depends, builtin


def uncompressed(image: bytes) -> bytes | None:
    """The kernel in a bzImage, if QEMU can boot it directly (PVH); None: it cannot.

    The fields are those of Documentation/x86/boot.rst: the protected-mode code begins behind
    setup_sects sectors, the payload, an ELF file, behind payload_offset bytes of that.
    """
    sectors, offset = image[0x1F1], int.from_bytes(image[0x248:0x24C], "little")
    payload = image[(sectors + 1) * 512 + offset :]
    if not payload.startswith(b"\xfd7zXZ\0"):
        return None
    data = lzma.LZMADecompressor().decompress(payload)
    # the ELF note XEN_ELFNOTE_PHYS32_ENTRY, of 4 or 8 bytes: where QEMU is to jump to
    notes = (struct.pack("<III4s", 4, size, 18, b"Xen\0") for size in (4, 8))
    return data if any(note in data for note in notes) else None


def _module_name(path: str) -> str:
    return Path(path).name.split(".ko")[0].replace("-", "_")


def _module_data(path: Path) -> bytes:
    data = path.read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(data)
    if path.suffix == ".ko":
        return data
    raise LabError(f"{path}: a module compressed in a way that is not handled here")


def _release_key(release: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", release)]


def installed_headers(series: str) -> str | None:
    """The newest release of `series` (such as 6.1) whose Debian headers are installed."""
    found = [
        path.name.removeprefix("linux-headers-")
        for path in HEADERS.glob(f"linux-headers-{series}[.-]*-amd64")
        if (path / "Makefile").exists() and not path.name.endswith("-rt-amd64")
    ]
    return max(found, key=_release_key, default=None)


def newer() -> list[Kernel]:
    """What tools/newer-kernels has made: the tree is named after the suite."""
    images = NEWER.glob("*/boot/vmlinuz-*")
    return [
        Kernel(image.name.removeprefix("vmlinuz-"), image.parents[1])
        for image in images
        if image.parents[1].suffix != ".part"  # half made
    ]


def preempt_rt() -> list[Kernel]:
    """What tools/rt-kernel has made: one, or none."""
    images = RT.glob("kernel/boot/vmlinuz-*")
    return [Kernel(image.name.removeprefix("vmlinuz-"), image.parents[1]) for image in images]


def unpacked(series: str) -> list[Kernel]:
    """The kernels of `series` below build/kernel/ and build/newer/, oldest first."""
    found = [*(Kernel(path.name, path) for path in KERNELS.glob("*")), *newer()]
    return sorted(
        (
            kernel
            for kernel in found
            if re.fullmatch(rf"{re.escape(series)}([.-].*)?", kernel.release)
            and kernel.image.exists()
        ),
        key=lambda kernel: _release_key(kernel.release),
    )


def obtain(series: str = "6.1") -> Kernel:
    """The kernel of `series` that fits the installed headers, fetched if it is not there.

    `series` may be a whole release (6.1.0-56-amd64). A series without installed headers is
    looked for below build/kernel/ and build/newer/ only.
    """
    release = series if series.endswith("-amd64") else installed_headers(series)
    if there := unpacked(release or series):
        return there[-1]
    if not release:
        raise LabError(
            f"kernel {series}: no headers of it in {HEADERS} (linux-headers-amd64 of the Debian "
            f"that has it), and none is unpacked in {KERNELS} or {NEWER} (make newer)"
        )
    kernel = Kernel(release, KERNELS / release)
    KERNELS.mkdir(parents=True, exist_ok=True)
    with open(KERNELS / ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kernel.image.exists():
            _fetch(kernel)
    return kernel


def _fetch(kernel: Kernel) -> None:
    package = f"linux-image-{kernel.release}"
    print(f"kernel: fetching {package}", file=sys.stderr, flush=True)
    scratch = Path(tempfile.mkdtemp(dir=KERNELS, prefix=".fetch-"))
    try:
        download = ["apt-get", "-q", "download", package]
        if os.geteuid() == 0:  # else apt complains that its own user may not write here
            download[1:1] = ["-o", "APT::Sandbox::User=root"]
        _run(
            download,
            scratch,
            "if the package is gone there is a newer kernel: apt-get update && "
            "apt-get install linux-headers-amd64",
        )
        (package_file,) = scratch.glob("*.deb")
        tree = scratch / "tree"
        _run(["dpkg-deb", "-x", str(package_file), str(tree)], scratch)
        _run([_tool("depmod"), "-b", str(tree), kernel.release], scratch)
        os.rename(tree, kernel.tree)
    finally:
        shutil.rmtree(scratch)


def _tool(name: str) -> str:
    """A program that an ordinary user's PATH may lack."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    if not found:
        raise LabError(f"{name} is not installed")
    return found


def _run(command: list[str], directory: Path, hint: str = "") -> None:
    done = subprocess.run(
        command, cwd=directory, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode:
        said = done.stdout.strip()
        raise LabError("\n".join(filter(None, [f"{' '.join(command)} failed:", said, hint])))


def main() -> int:
    """Fetch a kernel and print where it is."""
    parser = argparse.ArgumentParser(prog="python3 -m bench.lab.kernel", description=main.__doc__)
    parser.add_argument("series", nargs="?", default="6.1", help="default: %(default)s")
    try:
        print(obtain(parser.parse_args().series).tree)
    except LabError as error:
        print(f"kernel: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
