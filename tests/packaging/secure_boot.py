# SPDX-License-Identifier: GPL-2.0
"""A guest that boots with Secure Boot: secure_boot.sh is its tests.

OVMF, which has Microsoft's keys, starts Debian's shim from a disk. That starts Debian's GRUB, and
that Debian's kernel, each of them signed. DKMS's key is in shim's list of the owner's keys (MOK), a
variable of the firmware: where mokutil and the owner's consent at the screen would put it.
"""

import re
import shutil
import struct
import subprocess
import uuid
from pathlib import Path

from bench.lab import BUILD, LabError, kernel
from bench.lab import guest as lab
from tests.guest import harness
from tests.packaging import versions

STEPS = Path(__file__).with_name("secure_boot.sh")
LOGS = BUILD / "secure-boot-logs"
PROGRAM = "secure_boot"  # of the report
OVMF = Path("/usr/share/OVMF")
CODE = OVMF / "OVMF_CODE_4M.secboot.fd"
VARIABLES = OVMF / "OVMF_VARS_4M.ms.fd"  # with Microsoft's keys, and Secure Boot on
SHIM = "usr/lib/shim/shimx64.efi.signed"
GRUB = "usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed"

_SHIM_GUID = uuid.UUID("605dab50-e046-4300-abb6-3dd810dd8b23")
_X509_GUID = uuid.UUID("a5c059a1-94e4-4aa7-87b5-ab155c2bf072")
# AUTHENTICATED_VARIABLE_HEADER of EDK2: mark, state, attributes, count, time, key, sizes of name
# and of data, GUID.
_HEADER = struct.Struct("<HBxIQ16xIII16s")
_MARK, _ADDED, _KEPT, _AT_BOOT = 0x55AA, 0x3F, 1, 2
_MIB = 2**20


def list_steps() -> list[str]:
    """Names of the tests, in order."""
    return re.findall(r"^test_([a-z0-9_]+)\(\) {", STEPS.read_text(), re.MULTILINE)


def what_is_missing() -> str:
    """Why there can be no such guest on this host; empty if there can."""
    if not CODE.exists():
        return "no firmware with Secure Boot: tools/setup test"
    missing = [name for name in ("mformat", "qemu-system-x86_64") if not shutil.which(name)]
    return f"no {missing[0]}: tools/setup test" if missing else ""


def signature_list(*certificates: bytes) -> bytes:
    """EFI_SIGNATURE_LISTs of certificates in DER (UEFI specification, 32.4.1)."""
    lists = b""
    for certificate in certificates:
        entry = _SHIM_GUID.bytes_le + certificate
        sizes = struct.pack("<III", 28 + len(entry), 0, len(entry))
        lists += _X509_GUID.bytes_le + sizes + entry
    return lists


def add_variable(store: bytearray, name: str, data: bytes) -> None:
    """Write a variable of shim, which programs do not see after the boot, into OVMF's variables."""
    (begin,) = struct.unpack_from("<H", store, 48)  # EFI_FIRMWARE_VOLUME_HEADER: its length
    (size,) = struct.unpack_from("<I", store, begin + 16)  # VARIABLE_STORE_HEADER, of 28 bytes
    at, end = begin + 28, begin + size
    while struct.unpack_from("<H", store, at) == (_MARK,):
        name_size, data_size = _HEADER.unpack_from(store, at)[5:7]
        at += (_HEADER.size + name_size + data_size + 3) & ~3
    text = name.encode("utf-16-le") + b"\0\0"
    new = _HEADER.pack(
        _MARK, _ADDED, _KEPT | _AT_BOOT, 0, 0, len(text), len(data), _SHIM_GUID.bytes_le
    )
    new += text + data
    if at + len(new) > end or store[at : at + len(new)].strip(b"\xff"):
        raise LabError(f"{VARIABLES}: no room for {name}, or of another form")
    store[at : at + len(new)] = new


class Guest(lab.Guest):
    """One that the firmware boots."""

    def __init__(self, spec: lab.Spec, directory: Path, key: bytes, **on) -> None:
        """key: the certificate that is enrolled."""
        self._directory = directory
        self._key = key
        super().__init__(spec, directory, **on)

    def _options(self) -> list[str]:
        options = super()._options()
        variables = self._directory / "variables.fd"
        store = bytearray(VARIABLES.read_bytes())
        add_variable(store, "MokList", signature_list(self._key))
        variables.write_bytes(store)
        return [
            *options[: options.index("-kernel")],
            *("-machine", "q35,smm=on", "-global", "ICH9-LPC.disable_s3=1"),
            *("-global", "driver=cfi.pflash01,property=secure,value=on"),
            *("-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={CODE}"),
            *("-drive", f"if=pflash,unit=1,format=raw,file={variables}"),
            *("-drive", f"if=virtio,format=raw,readonly=on,file={self._make_disk()}"),
        ]

    def _make_disk(self) -> Path:
        """What the firmware boots from: FAT, without partitions."""
        disk = self._directory / "boot.img"
        menu = self._directory / "grub.cfg"
        menu.write_text(f"linux /vmlinuz {self.command_line()}\ninitrd /initrd\nboot\n")
        its = self._spec.kernel
        files = {
            "EFI/BOOT/BOOTX64.EFI": its.tree / SHIM,
            "EFI/BOOT/grubx64.efi": its.tree / GRUB,
            "EFI/debian/grub.cfg": menu,
            "vmlinuz": its.image,
            "initrd": self._image,
        }
        sectors = (sum(path.stat().st_size for path in files.values()) + 40 * _MIB) // 512
        disk.unlink(missing_ok=True)
        run = [
            ["mformat", "-C", "-F", "-T", str(sectors), "-h", "64", "-s", "32", "::"],
            ["mmd", "::/EFI", "::/EFI/BOOT", "::/EFI/debian"],
            *(["mcopy", str(path), f"::/{place}"] for place, path in files.items()),
        ]
        for program, *rest in run:
            subprocess.run([program, "-i", disk, *rest], check=True)
        return disk


def boot(system: Path, out: Path) -> harness.Run:
    """Run the tests with the kernel of the system, and what root.sh has written into `out`."""
    harness.build("static")
    (image,) = (system / "boot").glob("vmlinuz-*")
    its = kernel.Kernel(image.name.removeprefix("vmlinuz-"), system)
    (module,) = out.glob("mts.ko*")
    static = {f"bin/{name}": harness.STATIC / name for name in ("mtsctl", "mtsd", "syn8")}
    spec = lab.Spec(
        kernel=its,
        main=f"steps='{' '.join(list_steps())}'\n{STEPS.read_text()}",
        profile=lab.icount(4),
        memory_mib=1024,
        swap=lab.Swap("ssd", 512),
        files={
            **static,
            f"lab/dkms/{module.name}": module,
            "lab/unsigned/mts.ko": out / "unsigned.ko",
            "lab/other/mts.ko": out / "other.ko",
            "lab/dkms.der": out / "dkms.der",
            "lab/other.der": out / "other.der",
            f"usr/src/mts-{versions.source()}/dkms.conf": "",
        },
        kernel_modules=("efivarfs", "evdev"),
        append="loglevel=5",
        timeout=900.0,
    )
    output = harness.Output(status=0)

    ready = False  # before that the firmware writes there, too

    def report(line: str) -> None:
        nonlocal ready
        if ready and not line.startswith("lab: "):
            output.line(line)
        ready = ready or line.endswith("lab: ready")

    logs = LOGS / its.release
    with Guest(spec, logs, (out / "dkms.der").read_bytes(), on_report=report) as guest:
        guest.start()
        verdict = guest.wait()
    return harness.Run({PROGRAM: output}, verdict, logs)
