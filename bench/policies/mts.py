# SPDX-License-Identifier: GPL-2.0
"""The module."""

from bench.lab import BUILD
from bench.lab.experiment import Policy
from bench.policies.kernel import CLASSIC_LRU

# mode and slice are the module's defaults, but for what the suite asks for.
_SETUP = f"""{CLASSIC_LRU}
[ -z "$LAB_MTS_SETTINGS" ] || mtsctl set $LAB_MTS_SETTINGS"""

_AFTER = """stats=$(mtsctl stats --json) && status=$(mtsctl status --json --all) &&
config=$(mtsctl get --json) &&
printf '{"stats": %s, "status": %s, "config": %s}' "$stats" "$status" "$config\""""

POLICIES = (
    Policy(
        "mts",
        "the medium-term scheduler",
        start="mts",
        module=True,
        files={"bin/mtsctl": BUILD / "static" / "mtsctl"},
        setup=_SETUP,
        after=_AFTER,
        watch=("mts_",),
    ),
)
