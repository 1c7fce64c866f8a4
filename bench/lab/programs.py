# SPDX-License-Identifier: GPL-2.0
"""Programs of the host's Debian packages in a guest: which files they need there.

    files = programs.closure("xz", "perl", data={"usr/share/words": Path("words")})

gives {place in the guest: file of the host} for image.build: the programs (in usr/bin, so that
they never meet busybox's in bin), their loader, and their shared libraries, without the host's
symbolic links. The image stays in the guest's memory for good, so it is worth looking at the
size: `python3 -m bench.lab.programs xz perl` prints it.
"""

import functools
import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from bench.lab import LabError, elf

# The Debian package of each program that a suite or a test uses: for the message when it is
# missing, and for tools/setup. One that is named by its path is listed by its last part.
PACKAGES = {
    "as": "binutils",
    "bzip2": "bzip2",
    "cc1": "gcc",
    "collect2": "gcc",
    "cyclictest": "rt-tests",
    "gcc": "gcc",
    "gzip": "gzip",
    "hackbench": "rt-tests",
    "ld": "binutils",
    "make": "make",
    "perl": "perl",
    "stress-ng": "stress-ng",
    "trace-cmd": "trace-cmd",
    "unshare": "util-linux",
    "xz": "xz-utils",
}

# Where Debian's loader looks without a cache (`ld.so --help`), which a guest does not have.
_DEFAULT = ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "lib", "usr/lib")
_ROOT = Path("/")


def find(program: str, root: Path = _ROOT) -> Path:
    """The host's file of a program that is named as in PATH, or by an absolute path."""
    name = Path(program).name
    if "/" in program:
        path = root / program.lstrip("/")
        found = str(path) if path.is_file() else None
    else:
        places = ("usr/bin", "bin", "usr/sbin", "sbin", "usr/games")
        found = shutil.which(program, path=os.pathsep.join(str(root / place) for place in places))
    if not found:
        package = PACKAGES.get(name)
        hint = f": apt-get install {package}" if package else ""
        raise LabError(f"{program} is not installed{hint}")
    return Path(found)


def closure(
    *programs: str, data: Mapping[str, Path] | None = None, root: Path = _ROOT
) -> dict[str, Path]:
    """What `programs` need in a guest: {place: file of the host}, in a settled order.

    programs: names, or absolute paths, which keep their place.
    data: more files, or directories with all that is below them, by their place. ELF files
        among them (what a program opens by itself while it runs) are resolved too.
    """
    files: dict[str, Path] = {}
    for program in programs:
        found = find(program, root)
        place = program.lstrip("/") if "/" in program else f"usr/bin/{program}"
        _add(files, place, found, root)
    for place, source in (data or {}).items():
        for inner, file in _below(place.strip("/"), source):
            _add(files, inner, file, root)
    return dict(sorted(files.items()))


def size(files: Mapping[str, Path]) -> int:
    """Bytes that the files take in the guest's memory: whole pages."""
    return sum(-(-path.stat().st_size // 4096) * 4096 for path in files.values())


@functools.cache
def gcc_part(name: str, root: Path = _ROOT) -> str:
    """The absolute path of a program inside gcc's own directory: cc1, collect2, lto-wrapper.

    Of several versions that the `gcc` of this host names: gcc-12 has its parts in .../12.
    """
    driver = find("gcc", root).resolve().name
    version = driver.rpartition("-")[2]
    for directory in ("usr/lib/gcc", "usr/libexec/gcc"):
        path = root / directory / "x86_64-linux-gnu" / version / name
        if path.is_file():
            return f"/{path.relative_to(root)}"
    raise LabError(f"gcc {version} has no {name}: apt-get install {PACKAGES['gcc']}")


def _add(files: dict[str, Path], place: str, source: Path, root: Path) -> None:
    """One file and, if it is ELF, the libraries that it needs and that are still missing."""
    waiting = [(place, source)]
    while waiting:
        place, source = waiting.pop()
        if place in files:
            continue
        files[place] = source.resolve()
        try:
            content = source.read_bytes()
        except OSError as error:
            raise LabError(f"{source}: {error.strerror}") from None
        wants = elf.needs(content, str(source))
        if wants:
            waiting += _needed(wants, source, root)


def _needed(wants: elf.Needs, source: Path, root: Path) -> Iterable[tuple[str, Path]]:
    if wants.interpreter:
        loader = root / wants.interpreter.lstrip("/")
        if not loader.is_file():
            raise LabError(f"{source}: its loader {wants.interpreter} is not there")
        yield wants.interpreter.lstrip("/"), loader
    own = [_expand(directory, source, root) for directory in wants.search]
    for name in wants.libraries:
        if name.startswith("ld-linux"):
            continue  # the loader, which is there already
        yield _library(name, own, source, root)


def _expand(directory: str, source: Path, root: Path) -> str:
    """A directory of DT_RUNPATH as a place. $ORIGIN is where the file really is."""
    origin = f"/{source.resolve().parent.relative_to(root.resolve())}"
    for word in ("$ORIGIN", "${ORIGIN}"):
        directory = directory.replace(word, origin)
    return os.path.normpath(directory).lstrip("/")


def _library(name: str, own: list[str], source: Path, root: Path) -> tuple[str, Path]:
    # A library of the program's own keeps its place, so that its $ORIGIN means the same;
    # the others go where a loader without a cache finds them.
    for directory in own:
        path = root / directory / name
        if path.is_file():
            return f"{directory}/{name}", path
    for directory in (*_DEFAULT, *_configured(root)):
        path = root / directory / name
        if path.is_file():
            return f"{_DEFAULT[0]}/{name}", path
    raise LabError(f"{source} needs {name}, which is in no directory of the loader's")


@functools.cache
def _configured(root: Path) -> tuple[str, ...]:
    """The directories of ld.so.conf.d (one a line, # comments)."""
    found = []
    for file in sorted((root / "etc/ld.so.conf.d").glob("*.conf")):
        for line in file.read_text(errors="replace").splitlines():
            directory = line.partition("#")[0].strip()
            if directory.startswith("/"):
                found.append(directory.strip("/"))
    return tuple(found)


def _below(place: str, source: Path) -> Iterable[tuple[str, Path]]:
    if source.is_dir():
        for path in sorted(source.rglob("*")):
            if path.is_file():
                yield f"{place}/{path.relative_to(source)}", path
    elif source.is_file():
        yield place, source
    else:
        raise LabError(f"{source}: no such file or directory")


def main() -> int:
    """Print what programs need in a guest, the largest file first, and the sum."""
    if len(sys.argv) < 2:
        print("usage: python3 -m bench.lab.programs PROGRAM...", file=sys.stderr)
        return 2
    try:
        files = closure(*sys.argv[1:])
    except LabError as error:
        print(f"programs: {error}", file=sys.stderr)
        return 1
    for place, path in sorted(files.items(), key=lambda item: -item[1].stat().st_size):
        print(f"{path.stat().st_size / 2**20:8.2f} MiB  /{place}")
    print(f"{size(files) / 2**20:8.2f} MiB  in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
