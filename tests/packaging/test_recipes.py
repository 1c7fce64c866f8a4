# SPDX-License-Identifier: GPL-2.0
"""Recipes for other systems: an RPM spec, Arch's PKGBUILD, and Nix expressions.

Debian has tools of these systems, so each recipe is read, and those of RPM and Arch are built. None
of them is installed: docs/development.md, "Release".
"""

import fnmatch
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench.lab import ROOT
from tests.packaging import versions

PACKAGING = ROOT / "packaging"
NIX = sorted((PACKAGING / "nix").glob("*.nix"))
# Macros that Debian's rpm does not have.
MACROS = {
    "_unitdir": "/usr/lib/systemd/system",
    "_journalcatalogdir": "/usr/lib/systemd/catalog",
    "_sysusersdir": "/usr/lib/sysusers.d",
    "_userunitdir": "/usr/lib/systemd/user",
    "_modulesloaddir": "/usr/lib/modules-load.d",
    "python3_sitelib": "/usr/lib/python3/dist-packages",
    "_libdir": "/usr/lib/x86_64-linux-gnu",
}
NAMES = {
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
}  # fmt: skip


def run(*command, **kwargs) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, **kwargs)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def make(checkout: Path) -> Path:
    assert run(checkout / "tools/recipes") == "build/recipes\n"
    return checkout / "build/recipes"


@pytest.fixture(scope="module")
def recipes(tmp_path_factory) -> Path:
    """What tools/recipes makes of the recipes as they are, whether committed or not."""
    here = tmp_path_factory.mktemp("recipes") / "mts"
    for name in ("tools/dist", "tools/recipes", "module/version.h"):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, here / name)
    shutil.copytree(PACKAGING, here / "packaging")
    (here / ".gitignore").write_text("/build/\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "a commit"]):
        run("git", "-C", here, *words, env={**os.environ, **NAMES})
    return make(here)


def test_recipes_have_the_version_and_the_checksum(recipes):
    tarball = recipes / f"mts-{versions.source()}.tar.xz"
    pkgbuild = (recipes / "PKGBUILD").read_text()
    assert f"\npkgver={versions.source()}\n" in pkgbuild
    assert hashlib.sha256(tarball.read_bytes()).hexdigest() in pkgbuild
    for path in recipes.iterdir():
        assert path == tarball or not re.search("@[A-Z0-9]+@", path.read_text()), path


# ---- RPM -------------------------------------------------------------------------


def rpm(command: str, recipes: Path, *words, **macros) -> str:
    """With the spec, where what Debian lacks is defined."""
    defined = {**MACROS, "_sourcedir": recipes, **macros}
    options = [word for name, value in defined.items() for word in ("--define", f"{name} {value}")]
    return run(command, *words, *options, recipes / "mts.spec")


def test_spec_names_the_packages(recipes):
    said = rpm("rpmspec", recipes, "-q", "--builtrpms", "--qf", "%{name} %{version} %{arch}\n")
    version = versions.source()
    assert said.splitlines() == [
        f"mts-tools {version} x86_64",
        f"mts-dkms {version} noarch",
        f"libmts {version} x86_64",
        f"libmts-devel {version} x86_64",
        f"python3-mts {version} noarch",
    ]


def test_rpmlint_is_content(recipes):
    said = run("rpmlint", "-c", PACKAGING / "rpm/rpmlint.toml", recipes / "mts.spec")
    assert "0 errors, 0 warnings" in said


def spec_files(recipes: Path) -> list[str]:
    """Patterns of the %files sections, without licences and documents."""
    text = rpm("rpmspec", recipes, "-P")
    lines = [
        line for part in re.split(r"^%files .*$", text, flags=re.M)[1:] for line in part.split("\n")
    ]
    return [line for line in lines if line.startswith("/")]


def test_spec_lists_what_is_installed(recipes, installed):
    patterns = spec_files(recipes)
    files = {f"/{path.relative_to(installed)}" for path in installed.rglob("*") if path.is_file()}
    files.add("/usr/lib/modules-load.d/mts.conf")
    for pattern in patterns:
        assert fnmatch.filter(files, pattern) or fnmatch.filter(files, f"{pattern}/*"), pattern
    for file in files:
        assert any(fnmatch.fnmatch(file, p) or file.startswith(f"{p}/") for p in patterns), file


# ---- Arch ------------------------------------------------------------------------


def test_shellcheck_is_content(recipes):
    scripts = [recipes / "PKGBUILD", *recipes.glob("*.install")]
    assert len(scripts) == 3
    run("shellcheck", *scripts)


def makepkg(folder: Path, *options: str) -> str:
    """It does not run as root. Debian has no pacman beside it."""
    user = ()
    if not os.geteuid():
        run("chown", "-R", "nobody", folder)
        user = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups")
    # Folders of pytest are for its user alone.
    for parent in [folder, *folder.parents][:-1]:
        if parent.stat().st_uid == os.geteuid() and not parent.stat().st_mode & 1:
            parent.chmod(parent.stat().st_mode | 0o111)
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "PACMAN": "true"}
    return run(*user, "makepkg", "--nodeps", *options, cwd=folder, env=env)


@pytest.fixture
def arch(recipes, tmp_path) -> Path:
    return Path(shutil.copytree(recipes, tmp_path / "arch"))


def test_makepkg_reads_it(arch):
    said = makepkg(arch, "--printsrcinfo")
    assert f"\n\tpkgver = {versions.source()}\n" in said
    assert re.findall(r"^pkgname = (.*)$", said, re.M) == [
        "mts-tools",
        "mts-dkms",
        "libmts",
        "python-mts",
    ]
    assert re.findall(r"^\tinstall = (.*)$", said, re.M) == [
        "mts-tools.install",
        "mts-dkms.install",
    ]


def test_makepkg_takes_the_tarball(arch):
    makepkg(arch, "--verifysource")


# ---- Nix -------------------------------------------------------------------------

# As much of nixpkgs as the expressions use.
PKGS = """
  let
    lib = {
      cleanSource = path: path;
      licenses.gpl2Only = "GPL-2.0-only";
      platforms.linux = "linux";
      versionOlder = a: b: builtins.compareVersions a b < 0;
    };
    all = {
      inherit lib;
      stdenv.mkDerivation = its: its;
      inih = "inih"; jansson = "jansson"; ncurses = "ncurses";
    };
  in all // {
    callPackage = path: given:
      let function = import path;
      in function (builtins.intersectAttrs (builtins.functionArgs function) all // given);
  }
"""
KERNEL = """{
  version = "%s"; modDirVersion = "6.12.9"; dev = "/kernel"; makeFlags = [ ];
  moduleBuildDependencies = [ ];
}"""


def evaluate(what: str, kernel: str = "6.12.9") -> str:
    expression = (
        f"let its = import {PACKAGING}/nix {{ pkgs = {PKGS}; kernel = {KERNEL % kernel}; }};"
        f" in {what}"
    )
    words = ("nix-instantiate", "--eval", "--strict", "--store", "dummy://", "-E", expression)
    return run(*words).strip()


@pytest.mark.parametrize("path", NIX, ids=lambda path: path.name)
def test_nix_reads_it(path):
    run("nix-instantiate", "--parse", path)


def test_nix_takes_the_version_from_the_sources():
    version = versions.source()
    assert evaluate("its.tools.version") == f'"{version}"'
    assert evaluate("its.module.version") == f'"{version}-6.12.9"'


def test_nix_builds_what_make_has():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    said = evaluate("its.tools.buildFlags ++ its.tools.installTargets ++ its.module.buildFlags")
    named = re.findall(r'"(.*?)"', said)
    assert named == ["mtsctl", "mtsd", "libmts", "install-mtsd", "install-libmts", "module"]
    assert {*named} <= {*targets}
    assert '"KDIR=/kernel/lib/modules/6.12.9/build"' in evaluate("its.module.makeFlags")


@pytest.mark.parametrize(("kernel", "broken"), [("6.0.9", "true"), ("6.1", "false")])
def test_nix_knows_which_kernels_are_too_old(kernel, broken):
    assert evaluate("its.module.meta.broken", kernel) == broken


# ---- built -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """Of the commit that this checkout has."""
    if not (ROOT / ".git").exists():
        pytest.skip("packages are those of a commit")
    checkout = tmp_path_factory.mktemp("whole") / "mts"
    run("git", "clone", "-q", ROOT, checkout)
    return make(checkout)


SLOW = pytest.mark.slow("it builds the tools twice")


@SLOW
def test_rpms(whole, installed, tmp_path):
    rpm("rpmbuild", whole, "-ba", "--nodeps", _topdir=tmp_path)
    packages = [*(tmp_path / "RPMS").glob("*/*.rpm")]
    assert len(packages) == 5
    has = {name for package in packages for name in run("rpm", "-qlp", package).splitlines()}
    files = {f"/{path.relative_to(installed)}" for path in installed.rglob("*") if path.is_file()}
    assert files - has == set()


@SLOW
def test_packages_of_arch(whole, installed, tmp_path):
    folder = Path(shutil.copytree(whole, tmp_path / "arch"))
    makepkg(folder)
    has = set()
    packages = [*folder.glob("*mts-*.pkg.tar*")]
    assert len(packages) == 4
    for package in packages:
        has |= {name for name in run("bsdtar", "-tf", package).splitlines() if name[-1] != "/"}
    names = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
    # Arch has one folder for programs, and packs manuals.
    names = {re.sub("^usr/sbin/", "usr/bin/", name) for name in names}
    # It has one folder for libraries, too.
    names = {re.sub("^usr/lib/x86_64-linux-gnu/", "usr/lib/", name) for name in names}
    # A package of Python is where this host's Python has those of a prefix.
    words = (sys.executable, ROOT / "userspace/python/where.py", "/usr")
    place = run(*words).strip().lstrip("/")
    names = {re.sub("^usr/lib/python3/dist-packages", place, name) for name in names}
    names = {f"{name}.gz" if "/man/" in name else name for name in names}
    assert names - has == set()
