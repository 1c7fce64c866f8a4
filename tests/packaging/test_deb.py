# SPDX-License-Identifier: GPL-2.0
"""What packages are made of: one version, DKMS's files, what is installed; and tools/dist.

Nothing is packaged here: test_apt.py builds, installs and removes the packages.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bench.lab import ROOT
from tests.packaging import versions

PACKAGING = ROOT / "packaging"
DEBIAN = PACKAGING / "debian"
SOURCES = Path("usr/src") / f"mts-{versions.source()}"


def run(*command, **kwargs) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, **kwargs)


# ---- the version -----------------------------------------------------------------


MANUALS = (
    "mtsctl/mtsctl-run.1",
    "mtsctl/mts.conf.5",
    "mtsctl/mts.7",
    "mtsctl/mts-events.7",
    "mtsctl/mtsctl.8",
    "mtsd/mtsd.8",
    "libmts/libmts.3",
)


def test_no_other_file_has_a_version_of_its_own():
    """Programs, the module and DKMS take it from module/version.h."""
    folders = (ROOT / "module", ROOT / "userspace", ROOT / "tools", PACKAGING)
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    named = re.compile(rb"(?<![\d.])" + re.escape(versions.source().encode()) + rb"(?![\d.])")
    # They cannot include it. They have tests below.
    known = {"module/version.h", "packaging/debian/changelog"}
    known |= {f"userspace/{name}" for name in MANUALS}
    has = {
        str(path.relative_to(ROOT))
        for path in [*files, ROOT / "Makefile"]
        if path.suffix not in {".o", ".ko", ".pyc"}
        and not path.name.startswith(".")
        and named.search(path.read_bytes())
    }
    assert has == known


@pytest.mark.parametrize("name", MANUALS)
def test_manuals_name_the_version(name):
    first = (ROOT / "userspace" / name).read_text().splitlines()[1]
    assert f'"mts {versions.source()}"' in first


def test_newest_package_is_of_this_version():
    first = (DEBIAN / "changelog").read_text().splitlines()[0]
    assert re.fullmatch(rf"mts \({re.escape(versions.source())}-\d+\) unstable; urgency=.*", first)


def test_newest_release_is_of_this_version():
    """In CHANGELOG.md, unless what comes next is still unreleased."""
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased" or headings[0].split()[0] == versions.source()


def test_dkms_can_sign():
    """DKMS makes its key with openssl, which it does not need: without it nothing is signed."""
    paragraphs = (DEBIAN / "control").read_text().split("\n\n")
    (its,) = (text for text in paragraphs if text.startswith("Package: mts-dkms\n"))
    (depends,) = re.findall(r"^Depends: (.*)$", its, re.MULTILINE)
    assert "openssl" in depends.split(", ")


# ---- what is installed -----------------------------------------------------------


def lines(path: Path) -> list[list[str]]:
    """The words of each line of debhelper's files."""
    text = path.read_text().splitlines()
    return [line.split() for line in text if line and not line.startswith("#")]


def test_packages_have_what_is_installed(installed):
    """Each file is in one package, and each name in debian/*.install is a file or a folder."""
    patterns = [words[0] for path in DEBIAN.glob("*.install") for words in lines(path)]
    assert patterns
    taken = []
    for pattern in patterns:
        found = [*installed.glob(pattern)] or [*ROOT.glob(pattern)]
        assert found, pattern
        for path in found:
            taken += [path] if path.is_file() else [its for its in path.rglob("*") if its.is_file()]
    # debhelper's names for them: that of a template has its @ in front.
    named = {
        "mts.service": "mts-tools.mts.service",
        "mts-container@.service": "mts-tools@.mts-container.service",
        "mts-hooks.service": "mts-tools.mts-hooks.service",
        "mts-users.service": "mts-tools.mts-users.service",
        "mtsd.service": "mts-tools.mtsd.service",
        "mts-metrics.socket": "mts-tools.mts-metrics.socket",
        "mts-metrics@.service": "mts-tools@.mts-metrics.service",
    }
    units = [f"usr/lib/systemd/system/{name}" for name in named]
    cleaned = (DEBIAN / "clean").read_text().split()
    rules = (DEBIAN / "rules").read_text()
    assert "UNITS := debian/tmp/usr/lib/systemd/system\n" in rules
    for unit in units:
        name = named[Path(unit).name]
        assert f"mv $(UNITS)/{Path(unit).name} debian/{name}\n" in rules
        assert f"debian/{name}" in cleaned
    assert "mv debian/tmp/usr/lib/sysusers.d/mts.conf debian/mts-tools.sysusers\n" in rules
    assert "debian/mts-tools.sysusers" in cleaned
    units.append("usr/lib/sysusers.d/mts.conf")
    everything = [path for path in installed.rglob("*") if path.is_file()]
    mine = [path for path in taken if path.is_relative_to(installed)]
    assert sorted([*mine, *(installed / unit for unit in units)]) == sorted(everything)


def test_every_unit_ends_with_its_package_and_starts_anew_in_an_upgrade(installed, tmp_path):
    """Faults: root's daemons ran on from removed programs, and an upgrade ended them for good."""
    if not shutil.which("dh_installsystemd"):
        pytest.skip("no debhelper: tools/setup deb")
    shutil.copytree(DEBIAN, tmp_path / "debian")
    rules = (DEBIAN / "rules").read_text()
    moves = re.findall(r"^\tmv \$\(UNITS\)/(\S+) (debian/\S+)$", rules, re.MULTILINE)
    for unit, its in moves:
        shutil.copy(installed / "usr/lib/systemd/system" / unit, tmp_path / its)
    done = run("make", "-f", "debian/rules", "override_dh_installsystemd", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    scripts = tmp_path / "debian/.debhelper/generated/mts-tools"

    def units(script, action):
        path = scripts / f"{script}.service"
        text = path.read_text() if path.exists() else ""
        lines = re.findall(rf"deb-systemd-invoke {action} (.*) >", text)
        return {unit.strip("'") for line in lines for unit in line.split()}

    daemons = {unit for unit, _ in moves if "@" not in unit}
    assert {"mts.service", "mts-hooks.service", "mts-users.service"} <= daemons
    assert units("prerm", "stop") == daemons
    assert not units("preinst", "stop")
    # A restart would make mtsd forget its jobs.
    assert units("postinst", r"\$_dh_action") == daemons - {"mtsd.service"}


def test_units_that_read_mts_conf_at_boot_wait_for_users_and_groups(installed):
    """Fault: where groups come from elsewhere, mtsd found none, and only root might change jobs."""
    for name in ("mts", "mts-hooks", "mts-users", "mtsd"):
        unit = (installed / f"usr/lib/systemd/system/{name}.service").read_text()
        (after,) = re.findall(r"^After=(.*)$", unit, re.MULTILINE) or [""]
        assert "nss-user-lookup.target" in after.split(), name


def test_dkms_has_all_sources_of_the_module(installed):
    def sources(folder: Path) -> set[str]:
        return {
            str(path.relative_to(folder))
            for path in folder.rglob("*")
            if (path.suffix in {".c", ".h"} and not path.name.endswith(".mod.c"))
            or path.name == "Kbuild"
        }

    assert sources(installed / SOURCES) == sources(ROOT / "module")
    files = {path.name for path in (installed / SOURCES).iterdir() if path.is_file()}
    assert {"Kbuild", "dkms.conf", "main.c"} <= files


def dkms(installed: Path, name: str) -> str:
    """A value of dkms.conf, as dkms reads it."""
    script = f'kernel_source_dir=/K dkms_tree=/T; . ./dkms.conf; printf %s "${{{name}}}"'
    done = run("bash", "-euc", script, cwd=installed / SOURCES)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_dkms_builds_and_names_the_module(installed):
    assert dkms(installed, "PACKAGE_NAME") == "mts"
    assert dkms(installed, "PACKAGE_VERSION") == versions.source()
    name = dkms(installed, "BUILT_MODULE_NAME[0]")
    assert f"obj-m := {name}.o\n" in (installed / SOURCES / "Kbuild").read_text()
    words = dkms(installed, "MAKE[0]").split()
    assert words[:3] == ["make", "-C", "/K"]
    assert f"M=/T/mts/{versions.source()}/build" in words
    assert "WERROR=" in words  # a newer compiler's warnings are no errors


@pytest.mark.parametrize("release", ["6.1.0-57-amd64", "6.12.9-amd64", "7.2-1-arch", "10.0.1"])
def test_dkms_builds_for(installed, release):
    assert re.search(dkms(installed, "BUILD_EXCLUSIVE_KERNEL"), release)


@pytest.mark.parametrize("release", ["5.10.0-28-amd64", "6.0.0-6-amd64", "4.19", "1.6.12"])
def test_dkms_leaves_older_kernels_alone(installed, release):
    assert not re.search(dkms(installed, "BUILD_EXCLUSIVE_KERNEL"), release)


def test_pip_has_the_version(tmp_path):
    """Of a copy, because setuptools leaves files."""
    for name in ("userspace/python/setup.py", "userspace/python/pyproject.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "userspace/python/mts").mkdir()
    (tmp_path / "module").mkdir()
    (tmp_path / "module/version.h").write_text('#define MTS_VERSION "7.8.9"\n')
    words = ("/usr/bin/python3", "setup.py", "--name", "--version")
    done = run(*words, cwd=tmp_path / "userspace/python")
    assert done.stdout.split() == ["mts", "7.8.9"], done.stderr


def test_python_finds_what_is_installed(installed):
    """The folder that make takes by itself is one of those of this host's Python."""
    for prefix in ("/usr", "/usr/local"):
        where = run("/usr/bin/python3", ROOT / "userspace/python/where.py", prefix).stdout.strip()
        assert where.startswith(f"{prefix}/lib/python3.")
    paths = run("/usr/bin/python3", "-c", "import sys; print(*sys.path)").stdout.split()
    assert where in paths
    mine = {path.name for path in (ROOT / "userspace/python/mts").iterdir() if path.is_file()}
    has = {path.name for path in (installed / "usr/lib/python3/dist-packages/mts").iterdir()}
    assert has == mine


# ---- tools/dist ------------------------------------------------------------------


@pytest.fixture
def checkout(tmp_path) -> Path:
    """A repository with one commit: a version, and a file."""
    here = tmp_path / "checkout"
    (here / "tools").mkdir(parents=True)
    (here / "module").mkdir()
    shutil.copy(ROOT / "tools/dist", here / "tools")
    (here / "module/version.h").write_text('#define MTS_VERSION "1.2.3"\n')
    (here / ".gitignore").write_text("/build/\n")
    git(here, "init", "-q")
    commit(here)
    return here


def git(here: Path, *words: str) -> None:
    names = {
        f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    date = {"GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z"}
    env = {**os.environ, **names, **date}
    subprocess.run(["git", "-C", here, *words], check=True, env=env, capture_output=True)


def commit(here: Path) -> None:
    git(here, "add", "-A")
    git(here, "commit", "-q", "-m", "a commit")


def dist(here: Path, *words: str, **environment: str) -> subprocess.CompletedProcess:
    return run(here / "tools/dist", *words, env={**os.environ, **environment})


def test_dist_is_reproducible(checkout):
    done = dist(checkout)
    assert done.stdout == "build/mts-1.2.3.tar.xz\n", done.stderr
    tarball = checkout / "build/mts-1.2.3.tar.xz"
    first = tarball.read_bytes()
    assert run("tar", "-tf", tarball).stdout.splitlines() == [
        "mts-1.2.3/",
        *("mts-1.2.3/.gitignore", "mts-1.2.3/module/", "mts-1.2.3/module/version.h"),
        *("mts-1.2.3/tools/", "mts-1.2.3/tools/dist"),
    ]
    tarball.unlink()
    git(checkout, "config", "tar.umask", "0077")
    (checkout / "module/version.h").touch()
    assert dist(checkout, XZ_DEFAULTS="--check=none", TZ="Asia/Tokyo").returncode == 0
    assert tarball.read_bytes() == first


def test_dist_is_of_the_commit_asked_for(checkout):
    git(checkout, "tag", "-a", "-m", "a release", "v1.2.3")
    (checkout / "module/version.h").write_text('#define MTS_VERSION "1.3.0"\n')
    commit(checkout)
    assert dist(checkout).stdout == "build/mts-1.3.0.tar.xz\n"
    assert dist(checkout, "v1.2.3").stdout == "build/mts-1.2.3.tar.xz\n"


def test_dist_says_that_changes_are_left_out(checkout):
    (checkout / "module/version.h").write_text('#define MTS_VERSION "9.9.9"\n')
    done = dist(checkout)
    assert done.stdout == "build/mts-1.2.3.tar.xz\n"
    assert "not committed" in done.stderr


def test_dist_refuses_a_tag_of_another_version(checkout):
    git(checkout, "tag", "-a", "-m", "a release", "v1.2.4")
    done = dist(checkout)
    assert (done.returncode, done.stdout) == (1, "")
    assert "the tag is v1.2.4, and module/version.h has 1.2.3" in done.stderr


def test_dist_refuses_what_is_no_commit(checkout):
    assert dist(checkout, "v7").returncode == 1
