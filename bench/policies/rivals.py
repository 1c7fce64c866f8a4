# SPDX-License-Identifier: GPL-2.0
"""Other remedies against thrashing. README.md says more.

Daemons are started with `exec`, so that the driver is their parent: thrash-protect never stops
its own parent.
"""

from pathlib import Path

from bench.lab import programs
from bench.lab.experiment import Policy
from bench.policies import packages
from bench.policies.kernel import CLASSIC_LRU

THRASH_PROTECT = "1.1.2"
THRASH_PROTECT_SHA256 = "d8de0eb3a1efae17752aa7d17528912749447cc317a95352cc0547bc2d136c56"

# What pip makes of its entry point.
_LAUNCHER = """#!/usr/bin/python3
import sys
from thrash_protect import main
sys.exit(main())
"""
# Its imports, at its start and in its functions.
_IMPORTS = """
import thrash_protect
import ctypes, stat, encodings.ascii, encodings.latin_1, encodings.utf_8
thrash_protect.init_config(thrash_protect.create_argument_parser().parse_args([]))
"""

# 1.1.2 takes the count of major faults since the boot without its first digit, and dies of a
# ValueError while there are fewer than ten of them, as in a guest that has only just booted. No
# host in use is like that, so the guest makes some: a shell's few pages go to swap and come back.
_MAJOR_FAULTS = """mkdir -p /var/log /sys/fs/cgroup/aged && (
echo 0 >/sys/fs/cgroup/aged/cgroup.procs || exit 1
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	[ "$(sed -n 's/^pgmajfault //p' /proc/vmstat)" -lt 20 ] || exit 0
	echo 16M >/sys/fs/cgroup/aged/memory.reclaim 2>/dev/null
done
exit 1
) && rmdir /sys/fs/cgroup/aged"""

# How it finds what it needs; the rest of its environment is the guest's.
_PATHS = "PATH=/usr/sbin:/usr/bin:/sbin:/bin"


def thrash_protect_files() -> dict[str, Path | str]:
    """thrash-protect with Python, and ps, which it runs at every thaw to write its log."""
    package = packages.wheel("thrash-protect", THRASH_PROTECT, THRASH_PROTECT_SHA256)
    return {
        **packages.python_with(package, _IMPORTS),
        **programs.closure("ps"),
        "usr/local/bin/thrash-protect": _LAUNCHER,
    }


def earlyoom_files() -> dict[str, Path | str]:
    """Debian's earlyoom, with its defaults file."""
    package = packages.debian("earlyoom")
    return {
        **programs.closure(data={"usr/bin/earlyoom": package / "usr/bin/earlyoom"}),
        "etc/default/earlyoom": package / "etc/default/earlyoom",
    }


def _earlyoom(name: str, title: str, options: str) -> Policy:
    return Policy(
        name=name,
        title=title,
        files=packages.Files(earlyoom_files),
        setup=CLASSIC_LRU,
        # as earlyoom.service does, but as root
        daemon=f". /etc/default/earlyoom; exec /usr/bin/earlyoom $EARLYOOM_ARGS {options}".strip(),
        watch=("earlyoom",),
    )


POLICIES = (
    Policy(
        name="thrash-protect",
        title=f"thrash-protect {THRASH_PROTECT}",
        files=packages.Files(thrash_protect_files),
        setup=f"{CLASSIC_LRU}\n{_MAJOR_FAULTS}",
        daemon=f"{_PATHS} exec /usr/local/bin/thrash-protect",
        # every process it stopped is a line of its log
        after=(
            "awk '/ - frozen / { f++ } / - unfrozen / { u++ }"
            ' END { printf "{\\"stopped\\": %d, \\"continued\\": %d}\\n", f, u }\''
            " /var/log/thrash-protect.log"
        ),
        watch=("thrash-protect", "python3"),
    ),
    _earlyoom("earlyoom", "earlyoom, Debian's defaults", ""),
    _earlyoom("earlyoom-memory", "earlyoom, whatever swap is free", "-s 100,100"),
)
