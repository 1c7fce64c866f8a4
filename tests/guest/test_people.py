# SPDX-License-Identifier: GPL-2.0
"""A real shell, editor, display server and X client."""

from pathlib import Path

from tests.guest import harness

XORG = "/usr/lib/xorg/Xorg"
MODULES = Path("/usr/lib/xorg/modules")
DATA = (
    ("usr/share/X11/xkb", Path("/usr/share/X11/xkb")),
    ("etc/X11/app-defaults/XTerm", Path("/etc/X11/app-defaults/XTerm")),
    *(
        (f"usr/lib/xorg/modules/{name}", MODULES / name)
        for name in ("drivers/dummy_drv.so", "input/evdev_drv.so", "libwfb.so")
    ),
)
# xserver-xorg-core, xserver-xorg-video-dummy, xserver-xorg-input-evdev, xterm, x11-xkb-utils,
# xkb-data; where they are not installed the X client's test is skipped.
HAS_X = all(path.exists() for path in (Path(XORG), *(path for _, path in DATA)))

GROUP = harness.Group(
    "people",
    programs=("test_people",),
    memory_mib=1280,
    kernel_modules=("evdev", "uinput"),
    tools=(XORG, "xterm", "xkbcomp") if HAS_X else (),
    data=DATA if HAS_X else (),
    slow="what test_interactive tests with programs of its own, once more with real ones",
)


def test_case(guest_case: harness.Case) -> None:
    """One test of one program."""
    guest_case.check()


def test_guest(guest_run: harness.Run) -> None:
    """The program ended well, and the kernel had no complaint."""
    guest_run.check()
