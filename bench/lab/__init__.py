# SPDX-License-Identifier: GPL-2.0
"""The laboratory: guests whose time, disk and memory are known exactly.

kernel.py      a stock Debian kernel, unpacked below build/kernel/
image.py       an initramfs of programs and kernel modules
programs.py    what dynamic programs need in a guest (elf.py reads their headers)
init.sh        the guest's PID 1
disks.py       the models of swap disks
guest.py       runs QEMU and reads what the guest reports

experiment.py  the words of suites (bench/suites/) and policies (bench/policies/)
sweep.py       which settings a command measures
runner.py      one setting: guest, driver (bench/driver/), result
packing.py     the batches of the policy `ideal`
pool.py        several runs side by side; progress.py shows them
rate.py        how fast a run does its work, and how sure that is
switches.py    how fast the switches of one run were
figures.py     the figures that every run has
results.py     results as files
compare.py     results side by side: medians, ranges, ratios, tables
score.py       the points of a report: which policies gain or lose
report.py      what bench/report says; report_page.py and report_markdown.py write it
bars.py        what mts must reach: the table; and whether it does; bars_markdown.py writes it
bars_points.py what runs for a bar, and what its results come to
bars_simulated.py the same, of what the simulator runs
bound.py       what no scheduler can exceed
pieces.py      the runs that bars need, each kept when it is over
charts.py      how its figures look; overview.py and curves.py draw them
calibrate.py   measures what the suites' programs demand
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


class LabError(Exception):
    """Something that the user can do something about; its text is the message."""


def shown(path: Path) -> str:
    """A path for messages: relative to the checkout if it lies below it."""
    whole = path.resolve()
    return str(whole.relative_to(ROOT) if whole.is_relative_to(ROOT) else path)
