# SPDX-License-Identifier: GPL-2.0
"""The Debian packages: built twice, checked, installed in systems of Debian, and purged."""

import os
import re
import shutil
import subprocess
import zlib
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.lab import BUILD, ROOT
from tests.build import alone
from tests.guest import harness as guests
from tests.packaging import secure_boot, versions
from tests.packaging.host import STEPS, UPGRADED, boot, list_steps
from tests.systemd.harness import PROGRAM

pytestmark = [
    pytest.mark.slow("it downloads Debian systems, and DKMS builds the module in each"),
    pytest.mark.skipif(os.geteuid() != 0, reason="it takes root to make systems"),
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="packages are those of a commit"),
]

# A host: a kernel, systemd, what the packages need, so that they bring nothing else, and what boots
# with Secure Boot.
SYSTEM = (
    *("dkms", "linux-headers-amd64", "linux-image-amd64", "libinih1", "libjansson4", "libncurses6"),
    *("systemd-sysv", "dbus", "libpam-systemd", "login", "passwd", "procps", "kmod", "util-linux"),
    *("python3", "autopkgtest", "gcc", "libc6-dev", "pkgconf"),
    *("openssl", "shim-signed", "grub-efi-amd64-signed"),
)
# To which its kernel is upgraded: packages in the system's /var/cache/kernels, not installed.
UPGRADE = ("linux-image-cloud-amd64", "linux-headers-cloud-amd64")
DOWNLOAD = f"""--customize-hook=
    mkdir -p "$1/var/cache/kernels/partial" &&
    APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-get -q -y --no-install-recommends --download-only \\
        -o Dir::Cache::Archives="$1/var/cache/kernels" install {" ".join(UPGRADE)}"""
SUITES = ("bookworm", "trixie")


def run(*command, **kwargs) -> str:
    """What it says; CalledProcessError has that, too."""
    done = subprocess.run(
        command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kwargs
    )
    assert done.returncode == 0, f"{command}: {done.stdout}"
    return done.stdout


def build(checkout: Path) -> Path:
    """The packages of the commit that this checkout has, from a clone of it."""
    commit = run("git", "-C", ROOT, "rev-parse", "HEAD").strip()
    run("git", "clone", "-q", "--no-checkout", ROOT, checkout)
    run("git", "-C", checkout, "checkout", "-q", "--detach", commit)
    environment = {name: its for name, its in os.environ.items() if not name.startswith("MAKE")}
    run("make", "-s", "-C", checkout, "deb", env=environment)
    return checkout / "build/deb"


@pytest.fixture(scope="module")
def packages(tmp_path_factory) -> Path:
    """A folder with the packages, their sources and .changes."""
    return build(tmp_path_factory.mktemp("deb") / "mts")


def test_packages(packages):
    version = versions.source()
    names = {path.name for path in packages.glob("*.deb")}
    assert names == {
        f"libmts-dev_{version}-1_amd64.deb",
        f"libmts0_{version}-1_amd64.deb",
        f"mts-dkms_{version}-1_all.deb",
        f"mts-tools_{version}-1_amd64.deb",
        f"python3-mts_{version}-1_all.deb",
    }


def test_lintian_is_content(packages):
    (changes,) = packages.glob("*.changes")
    said = run("lintian", "--allow-root", "--fail-on", "error", "--fail-on", "warning", changes)
    assert said == ""


def test_two_builds_give_the_same_bytes(packages, tmp_path):
    """In folders whose names differ, also in length."""
    again = build(tmp_path / "another-folder" / "mts")
    names = sorted(
        path.name for path in packages.iterdir() if re.search(r"\.(deb|xz|dsc)$", path.name)
    )
    assert len(names) == 8
    differ = [
        name for name in names if (packages / name).read_bytes() != (again / name).read_bytes()
    ]
    assert differ == []


def system(suite: str) -> Path:
    """A Debian system with what the packages need; kept until they need something else."""
    made_of = repr((SYSTEM, DOWNLOAD)).encode()
    root = BUILD / "packaging" / f"{suite}-{zlib.crc32(made_of):08x}"
    if not root.is_dir():
        if not shutil.which("mmdebstrap"):
            pytest.skip("no mmdebstrap: tools/setup newer")
        run(ROOT / "tools/debian-root", suite, root, ",".join(SYSTEM), DOWNLOAD)
    return root


@dataclass(frozen=True)
class Host:
    """On which the packages were installed, and then purged."""

    suite: str
    root: Path  # before
    out: Path  # what root.sh has written

    def lines(self, name: str) -> list[str]:
        return (self.out / name).read_text().splitlines()


@pytest.fixture(scope="module", params=SUITES)
def host(request, packages, tmp_path_factory) -> Host:
    with alone():
        root = system(request.param)
    out = tmp_path_factory.mktemp(request.param)
    run(
        *("unshare", "--mount", "--pid", "--fork", "--kill-child"),
        *("bash", ROOT / "tests/packaging/root.sh", root, packages, out),
    )
    return Host(request.param, root, out)


def test_dkms_has_installed_the_module(host):
    """For each kernel whose headers there are: one."""
    (line,) = host.lines("status")
    assert re.match(rf"mts/{re.escape(versions.source())}, [67]\..*, x86_64: installed", line)


def test_dkms_builds_the_module_when_a_kernel_is_added(host):
    """By itself, for each kernel that there is then."""
    version = re.escape(versions.source())
    old, new = sorted(host.lines("upgraded"), key=lambda line: "cloud" in line)
    assert re.match(rf"mts/{version}, [67]\.[^ ]*-amd64, x86_64: installed", old)
    assert re.match(rf"mts/{version}, [67]\.[^ ]*-cloud-amd64, x86_64: installed", new)


def test_dkms_has_signed_the_module(host):
    (module,) = host.out.glob("mts.ko*")
    key = run("modinfo", "-F", "sig_key", module).strip().replace(":", "")
    certificate = ("-inform", "DER", "-in", host.out / "dkms.der")
    assert run("openssl", "x509", *certificate, "-noout", "-serial").strip() == f"serial={key}"


def test_each_part_has_the_version(host):
    version = versions.source()
    assert host.lines("installed") == [
        version,
        f"mtsctl {version}",
        f"mtsd {version}",
        f"{version}-1 and no module: NotLoadedError",
    ]


def test_purge_leaves_nothing(host):
    before, after = host.lines("before"), host.lines("after")
    assert len(before) > 10000
    assert sorted({*after} - {*before}) == []
    assert sorted({*before} - {*after}) == []


def boot_one_suite(steps: Path, host: Host, system: Path, packages: Path) -> guests.Run:
    """The tests of a file in the guest, with the kernel of the folder `system`."""
    if host.suite != "trixie":
        pytest.skip("one suite is enough")
    if not shutil.which("qemu-system-x86_64"):
        pytest.skip("no QEMU: tools/setup systemd")
    return boot(steps, system, host.out / "host.ext4", packages)


@pytest.fixture(scope="module")
def booted(host, packages) -> guests.Run:
    """That host, with jobs that take turns while the packages are upgraded and removed."""
    return boot_one_suite(STEPS, host, host.root, packages)


@pytest.mark.parametrize("name", list_steps(STEPS))
def test_step(booted, name):
    guests.Case(booted, PROGRAM, name).check()


def test_guest(booted):
    """The kernel had no complaint, and nothing stayed frozen."""
    booted.check()


@pytest.fixture(scope="module")
def upgraded(host, packages) -> guests.Run:
    """That host with its new kernel."""
    return boot_one_suite(UPGRADED, host, host.out / "kernel", packages)


@pytest.mark.parametrize("name", list_steps(UPGRADED))
def test_step_after_an_upgrade_of_the_kernel(upgraded, name):
    guests.Case(upgraded, PROGRAM, name).check()


def test_guest_with_the_new_kernel(upgraded):
    upgraded.check()


@pytest.fixture(scope="module")
def secure(host) -> guests.Run:
    """The suite's kernel with Secure Boot, and the key of that host's DKMS enrolled."""
    if missing := secure_boot.what_is_missing():
        pytest.skip(missing)
    return secure_boot.boot(host.root, host.out)


@pytest.mark.parametrize("name", secure_boot.list_steps())
def test_secure_boot(secure, name):
    guests.Case(secure, secure_boot.PROGRAM, name).check()


def test_secure_boot_guest(secure):
    """The kernel had no complaint."""
    secure.check()
