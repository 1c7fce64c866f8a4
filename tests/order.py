# SPDX-License-Identifier: GPL-2.0
"""The order of the test files: those that take longest begin.

`make test` gives a file to each of two workers, and the next one to whoever is ready. A long file
that begins last has one worker wait for the other.
"""

# Above half a minute; below tests/, the longest first.
LONGEST = (
    "guest/test_fail_open.py",
    "guest/test_rotation.py",
    "guest/test_outside.py",
    "guest/test_interactive.py",
    "engine/test_guest.py",
    "guest/test_sharing.py",
    "guest/test_protocol.py",
    "bench/test_smoke.py",
    "rotor/test_rotor.py",
    "engine/test_users.py",
    "unit/test_cost.py",
    "guest/test_processors.py",
    "kernelshark/test_plugin.py",
    "bench/test_native.py",
    "bench/test_rivals.py",
    "guest/test_tool.py",
    "guest/test_queue.py",
    "engine/test_queue.py",
    "engine/test_rotation.py",
    "engine/test_guardian.py",
    "engine/test_protocol.py",
    "mtsctl/test_http.py",
    "mtsctl/test_monitoring.py",
)


def rank(name: str) -> int:
    """A file's place, for sorting: the others keep their order, behind these."""
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)
