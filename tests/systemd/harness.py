# SPDX-License-Identifier: GPL-2.0
"""A guest that boots systemd: Debian 13 with its kernel, and mts installed as `make install` does.

The disk is that of tools/systemd-root, and is left as it is: QEMU keeps what the guest writes for
as long as it runs. What a run adds (mts, the tests, what the guest is to do without) comes in the
initramfs, whose init.sh copies it onto the disk. The tests are functions test_* of guest/*.sh, and
guest/run.sh runs them, one after the other in the one boot. TAP and the verdict come through a
serial port of their own, as in the other guests (bench/lab/guest.py).
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from bench.lab import BUILD, ROOT, LabError, guest, image, kernel
from tests.build import alone
from tests.guest import harness

HERE = Path(__file__).parent
OUT = BUILD / "systemd"
DISK = OUT / "root.ext4"
LOGS = BUILD / "systemd-logs"
APPLETS = ("cp", "insmod", "mkdir", "mount", "rm", "sh", "sleep", "switch_root")  # of init.sh
UNITS = "etc/systemd/system"
INSTALLED = OUT / "installed"
PROGRAM = "systemd"  # of the report
FILES = ("run.sh", "lib.sh", "verdict.sh")
TESTS = sorted(
    path for path in (HERE / "guest").glob("*.sh") if path.name not in {*FILES, "init.sh"}
)

MEMORY_MIB = 1024
SWAP_MIB = 1024
TIMEOUT = 3000.0  # s; 20 minutes on two idle processors, and slow days

# One processor: what two do at the same time TCG does one after the other. While it is busy the
# clock counts instructions, 2 ns each, so that a loaded host makes the guest slow, and not late;
# while it waits for disks and timers the time is the host's.
PROFILE = guest.Profile(
    "systemd",
    ("-accel", "tcg,thread=single", "-icount", "shift=1,sleep=on", "-smp", "1", "-cpu", "max"),
    "loglevel=5 mitigations=off random.trust_cpu=on systemd.show_status=0",
)

# What only costs time in the guest's boot: its devices are there, it has no network.
MASKED = (
    *("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "fstrim.timer"),
    *("e2scrub_all.timer", "getty@tty1.service", "netavark-dhcp-proxy.service"),
    *("netavark-dhcp-proxy.socket", "systemd-binfmt.service", "systemd-hwdb-update.service"),
    *("systemd-journal-flush.service", "systemd-networkd.socket", "systemd-pstore.service"),
    *("systemd-sysusers.service", "systemd-timesyncd.service", "systemd-udev-trigger.service"),
    *("systemd-update-utmp.service", "podman-auto-update.timer", "podman-restart.service"),
    *("podman.socket", "serial-getty@ttyS0.service"),
)

STARTED = ("lab.service", "other.service")
SHELL = "lab-shell.service"


def list_tests() -> list[str]:
    """Names of all tests, test_shutdown last."""
    names = [
        name
        for path in TESTS
        for name in re.findall(r"^test_([a-z0-9_]+)\(\) {", path.read_text(), re.MULTILINE)
    ]
    return sorted(names, key="shutdown".__eq__)


def what_is_missing() -> str:
    """Why there can be no such guest on this host; empty if there can."""
    if "trixie" not in [its.tree.name for its in kernel.newer()]:
        return "no system of trixie: make newer"
    if os.geteuid():
        return "it takes root to make the guest's disk"
    tools = [
        name for name in ("mmdebstrap", "mkfs.ext4", "depmod", "mkswap") if not shutil.which(name)
    ]
    return f"no {tools[0]}: tools/setup systemd" if tools else ""


def build() -> kernel.Kernel:
    """Build the module, the tool, the programs and the disk."""
    with alone():
        for command in (
            [ROOT / "tools/newer-kernels", "trixie"],
            [ROOT / "tools/systemd-root"],
            ["make", "-s", "-C", ROOT, "mtsctl", "mtsd"],
            ["rm", "-rf", INSTALLED],
            ["make", "-s", "-C", ROOT, "install-mtsd", f"DESTDIR={INSTALLED}"],
            ["make", "-s", "-C", HERE],
        ):
            done = subprocess.run(
                command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
            )
            if done.returncode:
                raise LabError(f"{' '.join(map(str, command))} failed:\n{done.stdout}")
    release = (OUT / "release").read_text().strip()
    (found,) = (
        its for its in kernel.newer() if its.tree.name == "trixie" and its.release == release
    )
    return found


def of_howto() -> tuple[str, str]:
    """
    What the how-to has for a host of several users: the configuration, and root's commands.

    They are the second and the third block of code of the section; the commands end with a reboot.
    """
    _, section = (ROOT / "docs/howto.md").read_text().split("\n## A host of several users\n")
    section = section.split("\n## ")[0]
    _, conf, commands, _ = re.findall(r"(?:^ {7}.*\n|^\n(?= {7}))+", section, re.MULTILINE)
    commands = commands.replace("\n       ", "\n").strip()
    if not commands.endswith("\nsudo reboot"):
        raise LabError(f"the commands of the how-to do not end with a reboot:\n{commands}")
    conf = re.sub(r"^ {7}", "", conf, flags=re.MULTILINE)
    return conf.strip() + "\n", commands.removesuffix("sudo reboot")


def installed_files() -> dict[str, Path]:
    """What `make install` puts beside the module: {place: file}."""
    files = (path for path in INSTALLED.rglob("*") if path.is_file())
    places = {str(path.relative_to(INSTALLED)): path for path in files}
    return {place: path for place, path in places.items() if "/man/" not in place}


def install_module(its: kernel.Kernel) -> dict[str, Path]:
    """mts.ko and what depmod says of it: {place: file}."""
    place = Path("usr/lib/modules") / its.release
    updates = OUT / "root" / place / "updates"
    updates.mkdir(exist_ok=True)
    shutil.copy(its.mts, updates)
    subprocess.run(["depmod", "-b", OUT / "root", its.release], check=True)
    files = {f"{place}/updates/mts.ko": updates / "mts.ko"}
    for path in (OUT / "root" / place).glob("modules.*"):
        files[f"{place}/{path.name}"] = path
    return files


class Guest(guest.Guest):
    """One that boots from a disk."""

    disk = DISK

    def __init__(
        self,
        spec: guest.Spec,
        directory: Path,
        only: list[str],
        shell: bool,
        settings: tuple[str, ...] = (),
        **on,
    ) -> None:
        """
        only: the tests to be run, all if there are none; shell: a socket that one is behind.

        settings: lines that the how-to's configuration gets below [mts].
        """
        self._only = only
        self._shell = shell
        self._settings = settings
        self._directory = directory
        super().__init__(spec, directory, **on)

    def _options(self) -> list[str]:
        swap = self._directory / "swap.img"
        swap.unlink(missing_ok=True)
        with open(swap, "wb") as file:
            file.truncate(SWAP_MIB * 2**20)
        subprocess.run(["mkswap", "-q", swap], check=True, stderr=subprocess.DEVNULL)
        options = [
            # A test reboots the host. The disk is as it was then.
            *(option for option in super()._options() if option != "-no-reboot"),
            *("-drive", f"file={self.disk},if=virtio,format=raw,snapshot=on"),
            *("-drive", f"file={swap},if=virtio,format=raw,cache=unsafe"),
            *("-device", "virtio-rng-pci"),
        ]
        if self._shell:
            socket = self._directory / "shell.sock"
            options += ["-serial", f"unix:{socket},server=on,wait=off"]
        return options

    def _make_image(self) -> None:
        its = self._spec.kernel
        modules = its.module_files(
            ["virtio_pci", "virtio_blk", "virtio_rng", "ext4", "crc32c_generic"]
        )
        busybox = shutil.which("busybox")
        if not busybox:
            raise LabError("busybox is not installed: apt-get install busybox-static")
        with open(self._image, "wb") as out:
            archive = image.Archive(out)
            for directory in ("bin", "dev", "modules"):
                archive.directory(directory)
            archive.device("dev/console", 5, 1)
            archive.file("init", (HERE / "guest/init.sh").read_bytes(), 0o755)
            archive.file("bin/busybox", Path(busybox).read_bytes(), 0o755)
            for applet in APPLETS:
                archive.link(f"bin/{applet}", "busybox")
            for name, data in modules:
                archive.file(f"modules/{name}.ko", data)
            archive.file("modules/order", "".join(f"{name}\n" for name, _ in modules).encode())
            for place, source in self._overlay().items():
                archive.file(f"overlay/{place}", source.read_bytes(), source.stat().st_mode & 0o777)
            for place, text in self._texts().items():
                archive.file(f"overlay/{place}", text.encode())
            for unit in MASKED:
                archive.link(f"overlay/{UNITS}/{unit}", "/dev/null")
            for unit in (*STARTED, *((SHELL,) if self._shell else ())):
                archive.link(f"overlay/{UNITS}/multi-user.target.wants/{unit}", f"../{unit}")
            archive.close()

    def _overlay(self) -> dict[str, Path]:
        """Files of this host in the guest."""
        programs = (OUT / "programs").iterdir()
        return {
            **install_module(self._spec.kernel),
            **installed_files(),
            "usr/lib/systemd/system-shutdown/lab": HERE / "guest/verdict.sh",
            **{f"lab/{name}": HERE / "guest" / name for name in FILES},
            **{f"lab/tests/{path.name}": path for path in TESTS},
            **{f"lab/programs/{path.name}": path for path in programs},
            "lab/programs/busybox": Path(shutil.which("busybox") or ""),
        }

    def _texts(self) -> dict[str, str]:
        """More of them."""
        texts = {
            "etc/fstab": "/dev/vda / ext4 noatime 0 0\n",
            "etc/hostname": "lab\n",
            "etc/machine-id": "0123456789abcdef0123456789abcdef\n",
            "etc/modules-load.d/mts.conf": "mts\n",
            "etc/systemd/journald.conf.d/lab.conf": "[Journal]\nStorage=volatile\n",
            "lab/settings": f"BAD_LOG={guest.BAD_LOG!r}\n",
        }
        conf, texts["lab/howto.sh"] = of_howto()
        head = "\n".join(["[mts]", *self._settings, ""])
        texts["lab/mts.conf"] = conf.replace("[mts]\n", head, 1)
        for path in (HERE / "units").iterdir():
            texts[f"{UNITS}/{path.name}"] = path.read_text()
        if self._only:
            texts["lab/only"] = "".join(f"test_{name}\n" for name in self._only)
        return texts


def run(
    only: list[str] | None = None,
    logs: Path = LOGS,
    shell: bool = False,
    show: bool = False,
    settings: tuple[str, ...] = (),
) -> harness.Run:
    """Boot the guest, and run these tests, or all; show: print the report as it comes."""
    its = build()
    output = harness.Output()
    spec = guest.Spec(
        kernel=its, main="", profile=PROFILE, memory_mib=MEMORY_MIB, timeout=TIMEOUT,
        append="root=/dev/vda rw",
    )  # fmt: skip

    def on_report(line: str) -> None:
        if show:
            print(line, flush=True)
        report(output, line)

    with Guest(spec, logs, only or [], shell, settings, on_report=on_report) as its:
        its.start()
        verdict = its.wait()
    (logs / "swap.img").unlink()
    return harness.Run({PROGRAM: output}, verdict, logs)


def report(output: harness.Output, line: str) -> None:
    """Take a line of the guest's report."""
    if line.startswith("lab: exit"):
        output.status = int(line.removeprefix("lab: exit"))
    elif not line.startswith("lab: "):
        output.line(line)
