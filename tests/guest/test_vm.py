# SPDX-License-Identifier: GPL-2.0
"""Virtual machines as jobs: vhost, and KVM on QEMU's emulated processor."""

from tests.guest import harness

GROUP = harness.Group(
    "vm",
    programs=("test_vm",),
    kernel_modules=("vhost_vsock", "kvm_amd"),
    slow="a guest with modules of its own, for what differs between kernels",
)


def test_case(guest_case: harness.Case) -> None:
    """One test of one program."""
    guest_case.check()


def test_guest(guest_run: harness.Run) -> None:
    """The programs ended well, and the kernel had no complaint."""
    guest_run.check()
