# SPDX-License-Identifier: GPL-2.0
"""A guest that boots a host with the Debian packages: guest.sh is its tests.

root.sh makes its disk. Else it is the guest of tests/systemd.
"""

import re
import subprocess
from pathlib import Path

from bench.lab import BUILD, ROOT, kernel
from bench.lab import guest as lab
from tests.build import alone
from tests.guest.harness import Output, Run
from tests.systemd import harness

HERE = Path(__file__).parent
STEPS = HERE / "guest.sh"
LOGS = BUILD / "packaging-logs"


def list_steps() -> list[str]:
    """Names of the tests, in order."""
    return re.findall(r"^test_([a-z0-9_]+)\(\) {", STEPS.read_text(), re.MULTILINE)


class Guest(harness.Guest):
    """With the packages."""

    def __init__(self, spec: lab.Spec, disk: Path, packages: Path, **on) -> None:
        """disk: has them installed; packages: the same ones, for upgrades."""
        self.disk = disk
        self._packages = packages
        super().__init__(spec, LOGS, list_steps(), False, **on)

    def _overlay(self) -> dict[str, Path]:
        place = ROOT / "tests/systemd/guest"
        return {
            "usr/lib/systemd/system-shutdown/lab": place / "verdict.sh",
            **{f"lab/{name}": place / name for name in harness.FILES},
            "lab/tests/packages.sh": STEPS,
            **{f"lab/programs/{its.name}": its for its in (harness.OUT / "programs").iterdir()},
            **{f"lab/debs/{its.name}": its for its in self._packages.glob("*.deb")},
        }

    def _texts(self) -> dict[str, str]:
        return {
            place: text
            for place, text in super()._texts().items()
            if place != "etc/modules-load.d/mts.conf" and not place.startswith("usr/local/")
        }


def boot(system: Path, disk: Path, packages: Path) -> Run:
    """Run the tests in the guest, with the kernel of the system from which the disk was made."""
    with alone():
        subprocess.run(["make", "-s", "-C", ROOT / "tests/systemd"], check=True)
    (image,) = (system / "boot").glob("vmlinuz-*")
    spec = lab.Spec(
        kernel=kernel.Kernel(image.name.removeprefix("vmlinuz-"), system), main="",
        profile=harness.PROFILE, memory_mib=harness.MEMORY_MIB, timeout=harness.TIMEOUT,
        append="root=/dev/vda rw",
    )  # fmt: skip
    output = Output()
    with Guest(spec, disk, packages, on_report=lambda line: harness.report(output, line)) as its:
        its.start()
        verdict = its.wait()
    return Run({harness.PROGRAM: output}, verdict, LOGS)
