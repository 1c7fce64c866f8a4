# SPDX-License-Identifier: GPL-2.0
"""bench/pagecost: which hosts it refuses; what it measures is the host's."""

import subprocess
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import pytest

from bench.lab import ROOT

TOOL = ROOT / "bench" / "pagecost"
HEAD = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
DISK = "/dev/vda5                               partition\t2097148\t\t0\t\t{}\n"
ZRAM = "/dev/zram0                              partition\t2097148\t\t0\t\t{}\n"


@pytest.fixture(scope="module")
def tool():
    loader = SourceFileLoader("pagecost", str(TOOL))
    module = module_from_spec(spec_from_loader("pagecost", loader))
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("option", ["--mib", "--rounds"])
def test_nothing_to_measure_is_refused(option):
    done = subprocess.run([TOOL, option, "0"], text=True, capture_output=True, timeout=60)
    assert done.returncode == 2
    assert f"{option}: less than 1" in done.stderr


@pytest.mark.parametrize(
    ("swaps", "why"),
    [
        (HEAD, "no swap: see --help"),
        (HEAD + DISK.format(-2), "pages would go to /dev/vda5, not to zram"),
        (HEAD + ZRAM.format(-3) + DISK.format(-2), "pages would go to /dev/vda5"),
        (HEAD + ZRAM.format(100) + DISK.format(-2), None),
    ],
)
def test_only_zram_will_do(tool, swaps, why):
    """What has the highest priority counts: pages go there first."""
    if why is None:
        tool.check_swap(swaps)
        return
    with pytest.raises(tool.CannotMeasureError, match=why):
        tool.check_swap(swaps)


def test_memory_that_stays_is_no_measurement(tool):
    """Memory that the kernel may not swap: nothing goes, and no cost is made of that."""

    class Stuck(bytearray):
        def madvise(self, _advice):
            pass

    with pytest.raises(tool.CannotMeasureError, match="only 0 of 4 MiB went"):
        tool.one_round(Stuck(4 << 20), random=False)


@pytest.fixture
def settings(tmp_path):
    """Of the kernel: two sizes."""
    for size, enabled in ((64, "always [inherit] madvise never"), (2048, "[always] never")):
        folder = tmp_path / f"hugepages-{size}kB"
        (folder / "stats").mkdir(parents=True)
        (folder / "enabled").write_text(enabled, "ascii")
        (folder / "stats" / "anon_fault_alloc").write_text("7\n", "ascii")
    return tmp_path


def test_other_sizes_of_huge_pages_are_off_meanwhile_and_as_before_afterwards(tool, settings):
    enabled = {size: settings / f"hugepages-{size}kB" / "enabled" for size in (64, 2048)}
    with tool.huge_pages("64K", settings) as allocated:
        assert allocated() == 7
        assert (enabled[64].read_text(), enabled[2048].read_text()) == ("madvise", "never")
    assert (enabled[64].read_text(), enabled[2048].read_text()) == ("inherit", "always")


def test_a_size_that_the_kernel_does_not_have(tool, settings):
    with (
        pytest.raises(tool.CannotMeasureError, match="no huge pages of 1M"),
        tool.huge_pages("1M", settings),
    ):
        pass
