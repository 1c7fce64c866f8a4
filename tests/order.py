# SPDX-License-Identifier: GPL-2.0
"""The order of the test files: those that take longest begin.

`make test` gives a file to each worker, and the next one to the first that is ready. A long file
that begins last has the other workers wait for one.
"""

# Above half a minute; below tests/, the longest first.
LONGEST = (
    "guest/test_fail_open.py",
    "guest/test_processors.py",
    "bench/test_smoke.py",
    "guest/test_rotation.py",
    "guest/test_sharing.py",
    "guest/test_outside.py",
    "rotor/test_rotor.py",
    "engine/test_users.py",
    "guest/test_interactive.py",
    "guest/test_protocol.py",
    "engine/test_guest.py",
    "bench/test_rivals.py",
    "unit/test_cost.py",
    "kernelshark/test_plugin.py",
    "guest/test_tool.py",
    "bench/test_native.py",
    "bench/test_driver.py",
    "mtsctl/test_http.py",
    "tools/test_newer_kernels.py",
    "mtsctl/test_monitoring.py",
    "engine/test_guardian.py",
    "mtsctl/test_hooks.py",
    "mtsctl/test_containers.py",
    "bench/test_report.py",
    "engine/test_libmts.py",
    "engine/test_protocol.py",
    "engine/test_queue.py",
    "guest/test_queue.py",
)


def rank(name: str) -> int:
    """A file's place, for sorting: the others keep their order, behind these."""
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)
