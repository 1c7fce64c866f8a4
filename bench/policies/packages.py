# SPDX-License-Identifier: GPL-2.0
"""Programs of others that are fetched, not installed: below build/rivals/.

A wheel of PyPI is pinned by version and by the hash of its file; a Debian package is whatever
the host's release has (apt-get checks it against the signed list). Both are fetched by their
ordinary clients once, when a policy's files are asked for the first time.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from bench.lab import BUILD, LabError, programs

RIVALS = BUILD / "rivals"

# Run by the Python that the guest gets. Imports a module, does what `then` says, and tells
# which files of the standard library that took.
_NEEDED = """
import json, sys, sysconfig
sys.path.insert(0, sys.argv[1])
import site
exec(sys.argv[2])
library = sysconfig.get_path("stdlib") + "/"
# os is inside the interpreter, but its file is what Python knows its library by
found = [library + "os.py"]
found += [getattr(vars(module).get("__spec__"), "origin", None) for module in sys.modules.values()]
print(json.dumps(sorted({path for path in found if path and path.startswith(library)})))
"""
# Without a date, and not checked against its source, which stays outside.
_COMPILE = """
import json, py_compile, sys
for source, target in json.load(sys.stdin):
    py_compile.compile(source, target, "/" + source.lstrip("/"), doraise=True, quiet=2,
                       invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
"""


class Files(Mapping[str, Path | str]):
    """A policy's files, found when they are first looked at: importing fetches nothing."""

    def __init__(self, find: Callable[[], Mapping[str, Path | str]]) -> None:
        self._find = find

    @cached_property
    def _files(self) -> Mapping[str, Path | str]:
        return self._find()

    def __getitem__(self, place: str) -> Path | str:
        return self._files[place]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def once(name: str, make: Callable[[Path], None], rivals: Path | None = None) -> Path:
    """The directory build/rivals/<name>; `make` fills it the first time, wholly or not at all."""
    rivals = rivals or RIVALS
    path = rivals / name
    rivals.mkdir(parents=True, exist_ok=True)
    with open(rivals / ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            scratch = Path(tempfile.mkdtemp(dir=rivals, prefix=".new-"))
            try:
                make(scratch)
                scratch.chmod(0o755)
                os.rename(scratch, path)
            except BaseException:
                shutil.rmtree(scratch)
                raise
    return path


def wheel(name: str, version: str, sha256: str) -> Path:
    """A wheel from PyPI, unpacked: `pip download` of this version, of this hash alone."""

    def fetch(directory: Path) -> None:
        print(f"rivals: fetching {name} {version}", file=sys.stderr, flush=True)
        wanted = directory / "wanted.txt"
        wanted.write_text(f"{name}=={version} --hash=sha256:{sha256}\n")
        _run(
            *_pip(),
            *("download", "--quiet", "--disable-pip-version-check", "--no-deps"),
            *("--only-binary=:all:", "--require-hashes", "--dest", str(directory)),
            *("--requirement", str(wanted)),
        )
        wanted.unlink()
        (archive,) = directory.glob("*.whl")
        shutil.unpack_archive(archive, directory, "zip")
        archive.unlink()

    return once(f"{name}-{version}", fetch)


def debian(package: str) -> Path:
    """A package of this host's Debian release, unpacked; none of its scripts is run."""

    def fetch(directory: Path) -> None:
        print(f"rivals: fetching {package}", file=sys.stderr, flush=True)
        as_root = ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []
        _run("apt-get", "-q", *as_root, "download", package, directory=directory)
        (archive,) = directory.glob("*.deb")
        _run("dpkg-deb", "-x", str(archive), str(directory))
        # epoch:version, as in its name, where the colon is written %3a
        (directory / "VERSION").write_text(archive.name.split("_")[1].replace("%3a", ":") + "\n")
        archive.unlink()

    return once(package, fetch)


def python_with(package: Path, then: str) -> dict[str, Path]:
    """The host's Debian Python in a guest, with the unpacked wheel and what it imports.

    package: where wheel() has put it; it goes where pip puts packages for Debian's Python.
    then: Python statements that bring in all it ever imports.

    Sources are left at home: the guest gets bytecode, which takes half the memory, and which
    pip and Debian make at installation as well.
    """
    python = programs.find("python3")
    said = json.loads(_run(str(python), "-I", "-B", "-S", "-c", _NEEDED, str(package), then))
    version = python.resolve().name
    modules = {path.lstrip("/"): Path(path) for path in said}
    for path in sorted(package.rglob("*")):
        if path.is_file():
            place = path.relative_to(package)
            modules[f"usr/local/lib/{version}/dist-packages/{place}"] = path
    files: dict[str, Path] = {}
    sources = {place: path for place, path in modules.items() if place.endswith(".py")}
    files.update({place: path for place, path in modules.items() if place not in sources})
    files.update(_bytecode(python, package.name, sources))
    return programs.closure("python3", data=files)


def _bytecode(python: Path, name: str, sources: Mapping[str, Path]) -> dict[str, Path]:
    told = hashlib.sha256(_run(str(python), "-I", "-V").encode())
    for place, source in sorted(sources.items()):
        told.update(f"{place}\0".encode() + source.read_bytes())

    def compile_all(directory: Path) -> None:
        pairs = [
            (str(source), str(directory / f"{place}c")) for place, source in sorted(sources.items())
        ]
        _run(str(python), "-I", "-c", _COMPILE, text=json.dumps(pairs))

    directory = once(f"{name}-bytecode-{told.hexdigest()[:12]}", compile_all)
    return {f"{place}c": directory / f"{place}c" for place in sources}


def _pip() -> tuple[str, ...]:
    """Pip of this Python; without one, of a virtual environment made for it."""
    try:
        _run(sys.executable, "-m", "pip", "--version")
    except LabError:
        venv = once("pip", lambda path: _run(sys.executable, "-m", "venv", str(path)) and None)
        return (str(venv / "bin" / "python3"), "-m", "pip")
    return (sys.executable, "-m", "pip")


def _run(*command: str, directory: Path | None = None, text: str | None = None) -> str:
    try:
        done = subprocess.run(
            command, cwd=directory, input=text, text=True, capture_output=True, check=True
        )
    except FileNotFoundError:
        raise LabError(f"{command[0]} is not installed") from None
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout).strip()
        raise LabError(f"{command[0]} failed: {said}") from None
    return done.stdout
