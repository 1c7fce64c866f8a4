# SPDX-License-Identifier: GPL-2.0
"""doctor: each thing that keeps the module from loading, or jobs from taking turns."""

import functools
import json
import random
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.packaging import versions

RELEASE = "6.1.0-57-amd64"
GIB = 1024 * 1024  # KiB
SECURE_BOOT = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
MARK = b"~Module signature appended~\n"
SHIM = "605dab50-e046-4300-abb6-3dd810dd8b23"
MOK_LIST = f"sys/firmware/efi/efivars/MokListRT-{SHIM}"
WHOLE_MOK_LIST = "sys/firmware/efi/mok-variables/MokListRT"
MOK_NEW = f"sys/firmware/efi/efivars/MokNew-{SHIM}"
DKMS_KEY = "var/lib/dkms/mok.pub"
KEYS = {"level", "check", "found", "remedy"}


@dataclass
class Finding:
    level: str
    found: str
    remedy: str | None


class Doctor:
    """mtsctl doctor on a host that lacks nothing, until a test takes something away."""

    def __init__(self, mtsctl, host, root):
        self.mtsctl = mtsctl
        self.host = host
        self.root = root
        self.write("lib/modules", RELEASE, "modules.dep", text="kernel/a.ko:\nupdates/mts.ko: \n")
        self.write("lib/modules", RELEASE, "updates/mts.ko", text="ELF")
        self.write("lib/modules", RELEASE, "build/Makefile")
        self.write("sys/module/mts/version", text=versions.source() + "\n")
        self.write("sys/module/module/parameters/sig_enforce", text="N\n")
        self.write("sys/kernel/security/lockdown", text="[none] integrity confidentiality\n")
        (root / "sys/firmware/efi/efivars").mkdir(parents=True)
        self.proc("sys/kernel/osrelease", RELEASE + "\n")
        self.proc("sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.148-1\n")
        self.proc("modules", "")
        self.proc("self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n")
        self.proc("pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
        self.proc("cmdline", "BOOT_IMAGE=/vmlinuz quiet\n")
        self.swaps(("/dev/sda2", 4 * GIB))
        self.controllers("cpuset cpu io memory pids")

    def write(self, *parts, text="", data=None):
        path = self.root.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if data is None else data)
        return path

    def proc(self, name, text):
        path = self.host.proc / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def swaps(self, *swaps):
        lines = [f"{name} partition {kib} 0 -2\n" for name, kib in swaps]
        self.proc("swaps", "Filename Type Size Used Priority\n" + "".join(lines))

    def controllers(self, words):
        (self.host.cgroups / "cgroup.controllers").write_text(words + "\n")

    def unload(self):
        """The module is installed, and not loaded."""
        (self.root / "sys/module/mts/version").unlink()
        (self.root / "sys/module/mts").rmdir()

    def uninstall(self, headers=True):
        self.unload()
        (self.root / "lib/modules" / RELEASE / "modules.dep").write_text("kernel/a.ko:\n")
        (self.root / "lib/modules" / RELEASE / "updates/mts.ko").unlink()
        if not headers:
            (self.root / "lib/modules" / RELEASE / "build/Makefile").unlink()

    def run(self, *args, before=(), **fake):
        return self.mtsctl(*before, "doctor", *args, root=self.root, **self.host.fake, **fake)

    def __call__(self, **fake):
        """The findings, by the names of the checks."""
        shown = self.run("--json", **fake)
        assert shown.err == ""
        said = json.loads(shown.out)
        assert set(said) == {"schema_version", "problems", "notes", "findings"}
        assert all(set(finding) == KEYS for finding in said["findings"])
        levels = [finding["level"] for finding in said["findings"]]
        assert (said["problems"], said["notes"]) == (levels.count("problem"), levels.count("note"))
        assert shown.status == (1 if said["problems"] else 0)
        # A problem without a remedy is of no use.
        assert all(its["remedy"] or its["level"] == "ok" for its in said["findings"])
        found = {f["check"]: Finding(f["level"], f["found"], f["remedy"]) for f in said["findings"]}
        assert len(found) == len(levels)
        return found

    def only(self, level, check, **fake):
        """The one finding that is not ok."""
        bad = {name: its for name, its in self(**fake).items() if its.level != "ok"}
        assert set(bad) == {check}, bad
        assert bad[check].level == level
        return bad[check]


@pytest.fixture
def doctor(mtsctl, host, tmp_path):
    return Doctor(mtsctl, host, tmp_path / "root")


def test_nothing_is_wrong(doctor):
    found = doctor()
    assert {its.level for its in found.values()} == {"ok"}
    checks = {"kernel", "module", "device", "cgroups", "memory", "swap", "pressure", "turns"}
    assert set(found) == checks | {"killers"}
    assert found["module"].found == f"loaded, version {versions.source()}"


def test_a_line_each(doctor):
    doctor.swaps()
    shown = doctor.run()
    assert (shown.status, shown.err) == (1, "")
    assert shown.out.isascii()
    lines = shown.out.splitlines()
    assert len(lines) == len(doctor())
    for line in lines:
        assert re.match(r"(ok     |note   |problem)  [a-z]+ +\S", line), line
        assert (" -> " in line) == (not line.startswith("ok "))


def test_no_problem_is_status_0(doctor):
    doctor.swaps(("/dev/zram0", 4 * GIB))
    assert doctor.run().status == 0
    assert "note     swap " in doctor.run().out


def test_without_any_file(mtsctl, tmp_path):
    """A host of which nothing can be read."""
    shown = mtsctl("doctor", scenario="absent", proc=tmp_path, cgroups=tmp_path, root=tmp_path)
    assert (shown.status, shown.err) == (1, "")
    assert "problem  cgroups   cgroup v2 is not mounted -> mount -t cgroup2" in shown.out


# ---- the kernel and the module ---------------------------------------------------


@pytest.mark.parametrize("release", ["6.0.12", "5.10.0-28-amd64", "4.19.1"])
def test_old_kernel(doctor, release):
    doctor.unload()
    doctor.proc("sys/kernel/osrelease", release + "\n")
    found = doctor(scenario="absent")["kernel"]
    assert found.level == "problem"
    assert "needs Linux 6.1" in found.found


@pytest.mark.parametrize("release", ["6.1.0-57-amd64", "6.12.9", "7.2-1-arch", "10.0.1"])
def test_new_kernel(doctor, release):
    doctor.proc("sys/kernel/osrelease", release + "\n")
    assert doctor()["kernel"] == Finding("ok", release, None)


def test_preempt_rt(doctor):
    doctor.proc("sys/kernel/version", "#1 SMP PREEMPT_RT Debian 6.1.148-1\n")
    # It was loaded with rt=1.
    assert doctor()["kernel"].level == "ok"
    doctor.unload()
    assert "rt=1" in doctor(scenario="absent")["kernel"].remedy


def test_installed_but_not_loaded(doctor):
    doctor.unload()
    found = doctor.only("problem", "module", scenario="absent")
    assert found.found == "installed (updates/mts.ko), not loaded"
    assert found.remedy.startswith("modprobe mts")


@pytest.mark.parametrize("name", ["updates/dkms/mts.ko", "extra/mts.ko.xz", "mts.ko.zst"])
def test_installed_elsewhere(doctor, name):
    doctor.unload()
    doctor.write("lib/modules", RELEASE, "modules.dep", text=f"kernel/mmts.ko:\n{name}: a.ko\n")
    assert name in doctor(scenario="absent")["module"].found


@pytest.mark.parametrize("line", ["kernel/mmts.ko:", "kernel/mts.kob:", "mts.ko.bz2:", "mts.ko"])
def test_other_modules_are_not_mts(doctor, line):
    doctor.uninstall()
    doctor.write("lib/modules", RELEASE, "modules.dep", text=f"{line}\nkernel/a.ko: b/mts.ko\n")
    assert "not installed for" in doctor(scenario="absent")["module"].found


@pytest.mark.parametrize("name", ["updates/mts.ko", "updates/dkms/mts.ko.xz", "extra/mts.ko.zst"])
def test_depmod_was_not_called(doctor, name):
    doctor.uninstall()
    doctor.write("lib/modules", RELEASE, name)
    assert doctor(scenario="absent")["module"].remedy.startswith(f"depmod -a {RELEASE}")


def test_no_headers(doctor):
    doctor.uninstall(headers=False)
    found = doctor.only("problem", "module", scenario="absent")
    assert "headers are missing" in found.found
    assert f"linux-headers-{RELEASE}" in found.remedy
    assert "make install" in found.remedy


def test_no_headers_for_dkms(doctor):
    doctor.uninstall(headers=False)
    doctor.write(f"usr/src/mts-{versions.source()}/dkms.conf")
    assert "dkms autoinstall" in doctor(scenario="absent")["module"].remedy


def test_dkms_has_not_built_it(doctor):
    doctor.uninstall()
    doctor.write(f"usr/src/mts-{versions.source()}/dkms.conf")
    found = doctor(scenario="absent")["module"]
    assert found.found == f"not built for {RELEASE}"
    assert f"dkms install mts/{versions.source()} -k {RELEASE}" in found.remedy
    assert "make.log" in found.remedy


def test_not_installed(doctor):
    doctor.uninstall()
    assert "make install" in doctor(scenario="absent")["module"].remedy


def test_modules_are_disabled(doctor):
    doctor.unload()
    doctor.proc("sys/kernel/modules_disabled", "1\n")
    assert "kernel.modules_disabled" in doctor(scenario="absent")["module"].found
    doctor.proc("sys/kernel/modules_disabled", "0\n")
    assert "kernel.modules_disabled" not in doctor(scenario="absent")["module"].found


def test_kernel_without_modules(doctor):
    doctor.uninstall()
    (doctor.host.proc / "modules").unlink()
    found = doctor.only("problem", "module", scenario="absent")
    assert "loads no modules" in found.found


# ---- its signature ---------------------------------------------------------------


def enforce(doctor, how):
    if how == "sig_enforce":
        doctor.write("sys/module/module/parameters/sig_enforce", text="Y\n")
        return "module.sig_enforce=1"
    if how == "lockdown":
        text = "none [integrity] confidentiality\n"
        doctor.write("sys/kernel/security/lockdown", text=text)
        return "lockdown"
    doctor.write(SECURE_BOOT, data=b"\6\0\0\0\1")
    (doctor.root / "sys/kernel/security/lockdown").unlink()
    return "Secure Boot"


@dataclass(frozen=True)
class Key:
    """With which modules are signed."""

    folder: Path

    @property
    def certificate(self) -> bytes:
        return (self.folder / "its.der").read_bytes()

    def sign(self, module: bytes) -> bytes:
        """As scripts/sign-file of the kernel does."""
        done = subprocess.run(
            [
                *("openssl", "cms", "-sign", "-binary", "-noattr", "-nocerts", "-outform", "DER"),
                *("-signer", "its.pem", "-inkey", "its.key"),
            ],
            cwd=self.folder, input=module, stdout=subprocess.PIPE, check=True,
        )  # fmt: skip
        info = bytes((0, 0, 2, 0, 0, 0, 0, 0))
        return module + done.stdout + info + len(done.stdout).to_bytes(4, "big") + MARK


def make_key(folder: Path, name: str) -> Key:
    """As DKMS does, of a kind that takes less time."""
    folder.mkdir()
    run = functools.partial(subprocess.run, cwd=folder, check=True, capture_output=True)
    run([
        *("openssl", "req", "-new", "-x509", "-nodes", "-days", "36500", "-subj", f"/CN={name}"),
        *("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-keyout", "its.key"),
        *("-out", "its.pem"),
    ])  # fmt: skip
    run(["openssl", "x509", "-in", "its.pem", "-outform", "DER", "-out", "its.der"])
    return Key(folder)


@pytest.fixture(scope="module")
def keys(tmp_path_factory) -> tuple[Key, Key, Key]:
    """Two of the same name, as DKMS's are, and one of another."""
    folder = tmp_path_factory.mktemp("keys")
    names = ("DKMS module signing key", "DKMS module signing key", "Build of Ada")
    return tuple(make_key(folder / str(i), name) for i, name in enumerate(names))


def install_signed(doctor, key, suffix="", pack=None):
    """The module is installed, signed and not loaded, where Secure Boot is on."""
    doctor.unload()
    enforce(doctor, "lockdown")
    doctor.write(SECURE_BOOT, data=b"\6\0\0\0\1")
    data = key.sign(b"ELF" * 5000)
    if pack:
        data = subprocess.run([*pack, "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout
    doctor.write("lib/modules", RELEASE, "modules.dep", text=f"updates/mts.ko{suffix}:\n")
    doctor.write("lib/modules", RELEASE, f"updates/mts.ko{suffix}", data=data)


def enrol(doctor, *keys, place=MOK_LIST):
    """In the list that shim gives to the kernel; before each is the kind, and whose it is."""
    lists = b"".join(b"\0" * 44 + key.certificate for key in keys)
    doctor.write(place, data=(b"\6\0\0\0" if place == MOK_LIST else b"") + lists)


@pytest.mark.parametrize("how", ["sig_enforce", "lockdown", "Secure Boot"])
def test_unsigned(doctor, how):
    """Fault: keys were to be enrolled where the kernel does not look at them."""
    doctor.unload()
    why = enforce(doctor, how)
    found = doctor(scenario="absent")["signature"]
    assert found.level == "problem"
    assert "not signed" in found.found
    assert why in found.found
    is_on = how == "Secure Boot"
    assert ("mokutil --import" in found.remedy) == is_on
    assert ("Enroll MOK" in found.remedy) == is_on
    assert ("count with Secure Boot only" in found.remedy) != is_on


def test_an_enrolled_key_does_not_count_without_secure_boot(doctor, keys):
    """Fault: it was said to be enrolled, and the kernel refuses the module."""
    install_signed(doctor, keys[0])
    doctor.write(SECURE_BOOT, data=b"\6\0\0\0\0")
    enrol(doctor, keys[0])
    found = doctor(scenario="absent")["signature"]
    assert found.level == "note"
    assert "count with Secure Boot only" in found.remedy


def test_what_is_loaded_was_taken(doctor):
    """Fault: nothing was said, just when all is well."""
    doctor.write(SECURE_BOOT, data=b"\6\0\0\0\1")
    enforce(doctor, "lockdown")
    found = doctor()["signature"]
    assert found.level == "ok"
    assert "the kernel has taken mts" in found.found


def test_a_user_does_not_see_the_keys_of_the_kernel(doctor, keys):
    """Fault: one of the kernel's own was said not to be enrolled, as shim's list is not empty."""
    install_signed(doctor, keys[2])
    enrol(doctor, keys[0])
    assert doctor(scenario="absent")["signature"].level == "note"


def test_another_key_than_that_of_dkms(doctor, keys):
    """Fault: DKMS's certificate was to be enrolled, and the module would not load then either."""
    install_signed(doctor, keys[2])
    doctor.proc(
        "keys", "1 I--Q--- 1 perm 1f010000 0 0 asymmetri Debian Secure Boot CA: 6c: X509.rsa\n"
    )
    enrol(doctor, keys[1])
    doctor.write(DKMS_KEY, data=keys[0].certificate)
    doctor.write(f"usr/src/mts-{versions.source()}/dkms.conf")
    found = doctor(scenario="absent")["signature"]
    assert found.level == "problem"
    assert found.remedy.startswith("dkms remove mts/")
    assert f"mokutil --import /{DKMS_KEY}" in found.remedy


def test_unsigned_by_dkms(doctor):
    """It signs nothing where there is no openssl, and says so in its log only."""
    doctor.unload()
    enforce(doctor, "lockdown")
    doctor.write(SECURE_BOOT, data=b"\6\0\0\0\1")
    doctor.write(f"usr/src/mts-{versions.source()}/dkms.conf")
    remedy = doctor(scenario="absent")["signature"].remedy
    assert "openssl" in remedy
    assert f"dkms install mts/{versions.source()} -k {RELEASE}" in remedy
    assert remedy.endswith("; or use mtsd")


def test_without_uefi_no_key_can_be_enrolled(doctor):
    doctor.unload()
    enforce(doctor, "sig_enforce")
    (doctor.root / "sys/firmware/efi/efivars").rmdir()
    (doctor.root / "sys/firmware/efi").rmdir()
    remedy = doctor(scenario="absent")["signature"].remedy
    assert "without UEFI" in remedy
    assert "mokutil" not in remedy


@pytest.mark.parametrize("place", [MOK_LIST, WHOLE_MOK_LIST])
def test_signed_by_an_enrolled_key(doctor, keys, place):
    install_signed(doctor, keys[0])
    enrol(doctor, keys[2], keys[1], keys[0], place=place)
    found = doctor(scenario="absent")["signature"]
    assert found.level == "ok"
    assert "(Secure Boot)" in found.found
    assert "the key of mts.ko (DKMS module signing key) is enrolled" in found.found


@pytest.mark.parametrize("enrolled", [[], [1], [2], [2, 1]])
def test_signed_by_a_key_that_is_not_enrolled(doctor, keys, enrolled):
    """Also where that of another host's DKMS is, which has the same name."""
    install_signed(doctor, keys[0])
    doctor.proc(
        "keys", "1 I--Q--- 1 perm 1f010000 0 0 asymmetri Debian Secure Boot CA: 6c: X509.rsa\n"
    )
    if enrolled:
        enrol(doctor, *(keys[i] for i in enrolled))
    doctor.write(DKMS_KEY, data=keys[0].certificate)
    found = doctor(scenario="absent")["signature"]
    assert found.level == "problem"
    assert "(DKMS module signing key) is not enrolled" in found.found
    assert found.remedy.startswith(f"mokutil --import /{DKMS_KEY}; reboot, choose Enroll MOK")


def test_key_of_ubuntu(doctor, keys):
    install_signed(doctor, keys[0])
    enrol(doctor, keys[1])
    doctor.write("var/lib/shim-signed/mok/MOK.der", data=keys[0].certificate)
    remedy = doctor(scenario="absent")["signature"].remedy
    assert remedy.startswith("mokutil --import /var/lib/shim-signed/mok/MOK.der; ")


def test_key_waits_for_consent(doctor, keys):
    install_signed(doctor, keys[0])
    enrol(doctor, keys[1])
    doctor.write(DKMS_KEY, data=keys[0].certificate)
    doctor.write(MOK_NEW, data=b"\7\0\0\0" + keys[0].certificate)
    found = doctor(scenario="absent")["signature"]
    assert (found.level, "mokutil" in found.remedy) == ("problem", False)
    assert "reboot, choose Enroll MOK" in found.remedy


def test_signed_by_an_older_key_of_dkms(doctor, keys):
    """Its new one is enrolled: to enrol something else would not help."""
    install_signed(doctor, keys[0])
    enrol(doctor, keys[1])
    doctor.write(DKMS_KEY, data=keys[1].certificate)
    found = doctor(scenario="absent")["signature"]
    assert found.level == "problem"
    assert "mokutil" not in found.remedy
    assert f"dkms install mts/{versions.source()} -k {RELEASE}" in found.remedy


@pytest.mark.parametrize("by_shim", [True, False])
def test_signed_by_a_key_of_the_kernel(doctor, keys, by_shim):
    """Of the same name at least: more is not to be seen."""
    install_signed(doctor, keys[2])
    if by_shim:
        enrol(doctor, keys[0])
    doctor.proc(
        "keys", "1 I--Q--- 1 perm 1f010000 0 0 asymmetri Build of Ada: 6c: X509.rsa 6c []\n"
    )
    found = doctor(scenario="absent")["signature"]
    assert (found.level, "mts.ko is signed (Build of Ada)" in found.found) == ("note", True)


def test_signed_and_no_key_is_to_be_seen(doctor, keys):
    install_signed(doctor, keys[0])
    assert doctor(scenario="absent")["signature"].level == "note"


@pytest.mark.parametrize(("suffix", "pack"), [(".xz", "xz"), (".gz", "gzip"), (".zst", "zstd")])
def test_signature_of_a_packed_module(doctor, keys, suffix, pack):
    if not shutil.which(pack):
        pytest.skip(f"no {pack}: tools/setup test")
    install_signed(doctor, keys[0], suffix, [pack])
    enrol(doctor, keys[0])
    assert doctor(scenario="absent")["signature"].level == "ok"
    enrol(doctor, keys[1])
    assert doctor(scenario="absent")["signature"].level == "problem"


@pytest.mark.parametrize(("suffix", "pack"), [(".xz", "xz"), (".gz", "gzip"), (".zst", "zstd")])
@pytest.mark.parametrize("how", ["cut", "empty", "flipped", "another"])
def test_a_damaged_module_is_not_called_unsigned(doctor, keys, suffix, pack, how):
    if not shutil.which(pack):
        pytest.skip(f"no {pack}: tools/setup test")
    install_signed(doctor, keys[0], suffix, [pack])
    enrol(doctor, keys[0])
    module = doctor.root / "lib/modules" / RELEASE / f"updates/mts.ko{suffix}"
    whole = module.read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes(byte ^ 0xFF for byte in whole[middle:])
    data = {"cut": whole[:-5], "empty": b"", "flipped": flipped, "another": b"ELF" * 5000}
    module.write_bytes(data[how])
    found = doctor(scenario="absent")["signature"]
    assert "not signed" not in found.found
    assert found.level == "problem"
    assert f"{pack} cannot unpack mts.ko{suffix}: it is damaged" in found.found
    assert found.remedy == "install it again"
    doctor.write(f"usr/src/mts-{versions.source()}/dkms.conf")
    remedy = doctor(scenario="absent")["signature"].remedy
    assert remedy.startswith("dkms remove mts/")
    assert "mokutil" not in remedy


def test_signature_of_a_packed_module_without_the_packer(doctor, keys, tmp_path, monkeypatch):
    """Nothing is known of the module then."""
    if not shutil.which("xz"):
        pytest.skip("no xz: tools/setup test")
    install_signed(doctor, keys[0], ".xz", ["xz"])
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "tail"):
        (programs / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(programs))
    found = doctor(scenario="absent")["signature"]
    assert (found.level, "modinfo -F signer" in found.remedy) == ("note", True)
    assert "cannot be read: xz is not installed" in found.found


def test_signature_of_a_packed_module_that_cannot_be_unpacked(doctor):
    doctor.unload()
    enforce(doctor, "sig_enforce")
    doctor.write("lib/modules", RELEASE, "modules.dep", text="updates/mts.ko.xz:\n")
    found = doctor(scenario="absent")["signature"]
    assert (found.level, "modinfo -F signer" in found.remedy) == ("note", True)


def test_signature_is_at_the_end(doctor, keys):
    doctor.unload()
    enforce(doctor, "lockdown")
    doctor.write("lib/modules", RELEASE, "updates/mts.ko", data=keys[0].sign(b"ELF") + b"\n")
    assert "not signed" in doctor(scenario="absent")["signature"].found


def test_signature_that_is_broken(doctor, keys):
    """Nothing is read beyond it, and no other key is taken for the right one."""
    install_signed(doctor, keys[0])
    enrol(doctor, keys[1])
    module = doctor.root / "lib/modules" / RELEASE / "updates/mts.ko"
    whole = module.read_bytes()
    begin = len(whole) - len(MARK) - 12 - int.from_bytes(whole[-32:-28], "big")
    chance = random.Random(1)
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            data[chance.randrange(begin, len(whole) - len(MARK))] = chance.choice((0, 0x84, 0xFF))
        module.write_bytes(data[chance.choice((0, begin, begin + 20)) :])
        assert doctor(scenario="absent")["signature"].level in {"note", "problem"}


def test_signature_before_it_is_installed(doctor):
    doctor.uninstall()
    enforce(doctor, "Secure Boot")
    found = doctor(scenario="absent")["signature"]
    assert (found.level, "mokutil --import" in found.remedy) == ("note", True)


@pytest.mark.parametrize("value", [b"\6\0\0\0\0", b"\6\0\0\0", b""])
def test_no_secure_boot(doctor, value):
    doctor.unload()
    enforce(doctor, "Secure Boot")
    doctor.write(SECURE_BOOT, data=value)
    assert doctor(scenario="absent")["signature"].level == "ok"


def test_secure_boot_without_lockdown(doctor):
    """Stock kernels lock down where Secure Boot is on; this one says that it does not."""
    doctor.unload()
    doctor.write(SECURE_BOOT, data=b"\6\0\0\0\1")
    assert doctor(scenario="absent")["signature"].level == "ok"


# ---- what answers ----------------------------------------------------------------


def test_no_device(doctor):
    assert "/dev/mts is missing" in doctor.only("problem", "device", scenario="absent").found


def test_not_as_root(doctor):
    found = doctor.only("note", "device", scenario="forbidden", user="ada")
    assert "only root" in found.found


def test_forbidden_to_root(doctor):
    assert "also to root" in doctor.only("problem", "device", scenario="forbidden").found


@pytest.mark.parametrize(
    ("abi", "remedy"), [(1, "rmmod mts && modprobe mts"), (3, "rmmod mts"), (7, "mtsctl of the")]
)
def test_another_abi(doctor, abi, remedy):
    found = doctor.only("note", "device", abi=abi)
    assert f"ABI {abi}, and mtsctl has 4" in found.found
    assert remedy in found.remedy


@pytest.mark.parametrize("call", ["open", "status", "config_get", "disk"])
def test_a_call_fails(doctor, call):
    found = doctor.only("problem", "device", fail=f"{call}=5")
    assert found.found == "/dev/mts: Input/output error"


def test_mtsd_needs_no_module(doctor):
    doctor.uninstall(headers=False)
    enforce(doctor, "lockdown")
    found = doctor(scenario="userspace")
    assert found["module"].level == "note"
    assert found["device"] == Finding("ok", "mtsd answers mtsctl, ABI 4", None)
    assert "problem" not in {its.level for its in found.values()}


def test_who_asks_mtsd_needs_no_module(doctor):
    doctor.uninstall()
    shown = doctor.run(before=["--engine", "userspace"], scenario="userspace")
    assert shown.status == 0
    assert " module " not in shown.out


def test_no_mtsd(doctor):
    shown = doctor.run(before=["--engine", "userspace"], scenario="absent")
    assert shown.status == 1
    assert "no mtsd answers: No such file or directory -> systemctl start mtsd" in shown.out


def test_stopped(doctor):
    found = doctor.only("problem", "turns", scenario="oom")
    assert found.found == "stopped: the kernel ran out of memory: everything was thawed"
    assert found.remedy == "mtsctl set mode=auto"


def test_mode_is_off(doctor):
    found = doctor.only("note", "turns", config_mode=0)
    assert found.found == "mode=off: no job is ever frozen"
    assert "mode=shadow" in doctor.only("note", "turns", config_mode=3).found


def test_another_policy(doctor):
    found = doctor.only("note", "turns", config_policy=2, scenario="fair")
    assert found.found.startswith("policy=fair: jobs take none; sharing: jobs that swap more")
    assert found.remedy == "mtsctl set policy=turns, where turns are wanted"


def test_a_chosen_policy(doctor):
    found = doctor(config_policy=4, scenario="chosen-none")["turns"]
    assert found.level == "ok"
    assert "no policy would gain the jobs anything" in found.found


# ---- the host --------------------------------------------------------------------

V1 = "cgroup /sys/fs/cgroup/{0} cgroup rw,nosuid,{0} 0 0\n"


def test_cgroup_v1(doctor):
    doctor.unload()
    doctor.proc("self/mounts", V1.format("memory") + V1.format("cpu"))
    found = doctor(scenario="absent")
    assert found["cgroups"].level == "problem"
    assert "only v1 is" in found["cgroups"].found
    assert "systemd.unified_cgroup_hierarchy=1" in found["cgroups"].remedy


def test_hybrid(doctor):
    doctor.unload()
    unified = "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"
    doctor.proc("self/mounts", V1.format("cpu") + unified + V1.format("memory"))
    doctor.controllers("")
    found = doctor(scenario="absent")
    assert "a hybrid host" in found["memory"].found
    assert "systemd.unified_cgroup_hierarchy=1" in found["memory"].remedy
    assert found["memory"].level == "problem"
    assert doctor(scenario="userspace")["memory"].level == "note"


def test_v1_without_the_memory_controller(doctor):
    doctor.proc("self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n" + V1.format("net_cls"))
    assert doctor()["memory"].level == "ok"


def test_cgroup_v2_elsewhere(doctor):
    doctor.proc("self/mounts", "cgroup2 /cg2 cgroup2 rw 0 0\n")
    # Where it is loaded, it has found them.
    assert doctor()["cgroups"].level == "ok"
    doctor.unload()
    assert "cgroup_base=/cg2/mts" in doctor(scenario="absent")["cgroups"].remedy


@pytest.mark.parametrize("words", ["cpuset cpu io pids", "", "memory2 xmemory"])
def test_no_memory_controller(doctor, words):
    doctor.controllers(words)
    found = doctor.only("problem", "memory")
    assert "cgroup_disable=memory" in found.remedy


@pytest.mark.parametrize(
    ("cmdline", "remedy"),
    [
        ("quiet psi=0\n", "boot without psi=0"),
        ("psi=0", "boot without psi=0"),
        ("quiet xpsi=0 psi=00\n", "boot with psi=1"),
        ("", "boot with psi=1"),
    ],
)
def test_no_pressure_accounts(doctor, cmdline, remedy):
    (doctor.host.proc / "pressure/memory").unlink()
    doctor.proc("cmdline", cmdline)
    assert doctor.only("note", "pressure").remedy.startswith(remedy)


def test_no_swap(doctor):
    doctor.swaps()
    assert "swapon" in doctor.only("problem", "swap").remedy


def test_swap_on_zram_only(doctor):
    doctor.swaps(("/dev/zram0", GIB), ("/dev/zram1", GIB))
    found = doctor.only("note", "swap")
    assert "2.0 GiB, all of it zram" in found.found
    doctor.swaps(("/dev/zram0", GIB), ("/swapfile", 3 * GIB))
    assert doctor()["swap"] == Finding("ok", "4.0 GiB, in part zram", None)


def test_little_swap(doctor):
    """The host of these tests has 1000 MiB of memory."""
    doctor.swaps(("/swapfile", 999 * 1024))
    assert "999 MiB, less than the 1000 MiB of memory" in doctor.only("note", "swap").found
    doctor.swaps(("/swapfile", 1000 * 1024))
    assert doctor()["swap"].level == "ok"


@pytest.mark.parametrize(
    ("comm", "args"),
    [
        ("earlyoom", ["/usr/bin/earlyoom", "-r", "3600"]),
        ("systemd-oomd", ["/lib/systemd/systemd-oomd"]),
        ("nohang", ["/usr/bin/python3", "/usr/bin/nohang"]),
        ("python3", ["python3", "/usr/sbin/nohang", "--monitor"]),
    ],
)
def test_killers(doctor, comm, args):
    doctor.host.process(4711, "/some", comm=comm)
    doctor.host.process(4712, "/some", comm=comm)
    for pid in (4711, 4712):
        doctor.proc(f"{pid}/cmdline", "\0".join([*args, ""]))
    found = doctor.only("note", "killers")
    name = "nohang" if comm == "python3" else comm
    assert re.match(rf"{name} \(471[12]\) kills ", found.found)


@pytest.mark.parametrize(
    ("comm", "args"),
    [
        ("python3", ["python3"]),
        ("python3", ["python3", "earlyoom.py"]),
        ("earlyoomx", ["earlyoom"]),
        ("vi", ["vi", "/usr/sbin/nohang"]),
    ],
)
def test_others_do_not_kill(doctor, comm, args):
    doctor.host.process(4711, "/some", comm=comm)
    doctor.proc("4711/cmdline", "\0".join([*args, ""]))
    assert doctor()["killers"].level == "ok"


# ---- swap that is slow -----------------------------------------------------------


def test_swap_is_fast_enough(doctor):
    found = doctor(scenario="rotating", page_ns=10000)["pauses"]
    assert found == Finding("ok", "swap takes 10.0 us for a page out and 10.0 us for one in", None)


def test_pauses_cannot_hold(doctor):
    """96 MiB in a bin: 24576 pages at 1 ms each way are 49 s for a switch; a pause has two."""
    found = doctor.only("problem", "pauses", scenario="rotating", page_ns=1000000)
    # (30 s - 0.5 s - 0.1 s) / 2 are 7350 pages out and in.
    assert "bins above 28.7 MiB exceed pauses of 30.0 s" in found.found
    assert "a bin may hold 96.0 MiB" in found.found
    assert "max_pause=" in found.remedy


def test_pauses_would_not_hold(doctor):
    """No jobs need turns now."""
    doctor.only("note", "pauses", scenario="idle", page_ns=1000000)


def test_small_groups_keep_the_pauses(doctor):
    found = doctor(scenario="rotating", page_ns=1000000, config_step=0)["pauses"]
    assert found.level == "ok"


def test_turns_were_given_up(doctor):
    found = doctor.only("problem", "pauses", scenario="slow-swap")
    assert "8.2 us for a page out and 152 us for one in: too slow" in found.found
    assert found.remedy.startswith("mtsctl set step=auto, faster swap")
    auto = doctor.only("problem", "pauses", scenario="slow-swap", config_step=0)
    assert "step=" not in auto.remedy
