# SPDX-License-Identifier: GPL-2.0
"""A guest that boots a host with the Debian packages: guest.sh is its tests, or upgraded.sh.

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
UPGRADED = HERE / "upgraded.sh"  # after that
LOGS = BUILD / "packaging-logs"


def list_steps(steps: Path) -> list[str]:
    """Names of the tests, in order."""
    return re.findall(r"^test_([a-z0-9_]+)\(\) {", steps.read_text(), re.MULTILINE)


class Guest(harness.Guest):
    """With the packages."""

    def __init__(self, spec: lab.Spec, steps: Path, disk: Path, packages: Path, **on) -> None:
        """disk: has them installed; packages: the same ones, for upgrades."""
        self.disk = disk
        self._packages = packages
        super().__init__(spec, LOGS / steps.stem, list_steps(steps), False, **on)

    def _overlay(self) -> dict[str, Path]:
        place = ROOT / "tests/systemd/guest"
        return {
            "usr/lib/systemd/system-shutdown/lab": place / "verdict.sh",
            **{f"lab/{name}": place / name for name in harness.FILES},
            **{f"lab/tests/{its.name}": its for its in (STEPS, UPGRADED)},
            **{f"lab/programs/{its.name}": its for its in (harness.OUT / "programs").iterdir()},
            **{f"lab/debs/{its.name}": its for its in self._packages.glob("*.deb")},
        }

    def _texts(self) -> dict[str, str]:
        return {
            place: text
            for place, text in super()._texts().items()
            if place != "etc/modules-load.d/mts.conf" and not place.startswith("usr/local/")
        }


def boot(steps: Path, system: Path, disk: Path, packages: Path) -> Run:
    """Run the tests of a file in the guest, with the kernel that is in the folder `system`."""
    with alone():
        subprocess.run(["make", "-s", "-C", ROOT / "tests/systemd"], check=True)
    (image,) = (system / "boot").glob("vmlinuz-*")
    spec = lab.Spec(
        kernel=kernel.Kernel(image.name.removeprefix("vmlinuz-"), system), main="",
        profile=harness.PROFILE, memory_mib=harness.MEMORY_MIB, timeout=harness.TIMEOUT,
        append="root=/dev/vda rw",
    )  # fmt: skip
    output = Output()

    def on_report(line: str) -> None:
        harness.report(output, line)

    with Guest(spec, steps, disk, packages, on_report=on_report) as its:
        its.start()
        verdict = its.wait()
    return Run({harness.PROGRAM: output}, verdict, LOGS / steps.stem)
