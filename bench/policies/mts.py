# SPDX-License-Identifier: GPL-2.0
"""mts: the module; and mtsd, which does the same from user space."""

from bench.lab import BUILD
from bench.lab.experiment import Policy
from bench.policies.kernel import CLASSIC_LRU, MGLRU, ZSWAP, ZSWAP_ON

# mode and slice are the module's defaults, unless the suite sets others.
_SETUP = """
if [ -n "$LAB_MTS_EVENTS" ]; then
	mtsctl watch --json >"$LAB_MTS_EVENTS" &
	echo $! >"$LAB_MTS_EVENTS.pid"
fi
[ -z "$LAB_MTS_SETTINGS" ] || mtsctl set $LAB_MTS_SETTINGS"""

# An event is a line: an object of the list.
_EVENTS = """if [ -n "$LAB_MTS_EVENTS" ]; then
	pid=$(cat "$LAB_MTS_EVENTS.pid") && kill "$pid"
	while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
	events=", \\"events\\": [$(sed '$!s/$/,/' "$LAB_MTS_EVENTS")]"
fi
"""
_AFTER = """stats=$(mtsctl stats --json) && status=$(mtsctl status --json --all) &&
config=$(mtsctl get --json) &&
printf '{"stats": %s, "status": %s, "config": %s%s}' "$stats" "$status" "$config" "$events\""""

# It ends, and with it every job that is to come, if it does not take the suite's settings.
_MTSD = """{
	until mtsctl status >/dev/null 2>&1; do sleep 0.1; done
	[ -z "$LAB_MTS_SETTINGS" ] || mtsctl set $LAB_MTS_SETTINGS || kill $$
} &
exec mtsd"""


def _policy(
    name: str, title: str, kernel: str, *, zswap: bool = False, settings: str = ""
) -> Policy:
    """After these commands, which set up what the kernel has of its own; and with settings."""
    return Policy(
        name,
        title,
        start="mts",
        module=True,
        files={"bin/mtsctl": BUILD / "static" / "mtsctl"},
        setup=kernel + _SETUP + (f"\nmtsctl set {settings}" if settings else ""),
        zswap=zswap,
        append=ZSWAP_ON if zswap else "",
        after=_EVENTS + _AFTER,
        watch=("mts_",),
    )


def _userspace(name: str, title: str, append: str = "") -> Policy:
    return Policy(
        name,
        title,
        start="mts",
        files={f"bin/{word}": BUILD / "static" / word for word in ("mtsctl", "mtsd")},
        setup=CLASSIC_LRU,
        daemon=_MTSD,
        append=append,
        after=_AFTER,
        watch=("mtsd", "mts_"),
    )


POLICIES = (
    _policy("mts", "the medium-term scheduler", CLASSIC_LRU),
    _policy(
        "bin",
        "mts with step=bin: bins are disjoint, as Reuven and Wiseman's",
        CLASSIC_LRU,
        settings="step=bin",
    ),
    _policy("mts+mglru", "mts where the multi-generational LRU is on, as in newer kernels", MGLRU),
    _policy("mts+zswap", "mts where zswap is on: 20 % of what is free", ZSWAP, zswap=True),
    _policy("fair", "mts with policy=fair: swap fairness", CLASSIC_LRU, settings="policy=fair"),
    _policy(
        "token", "mts with policy=token: thrashing protection", CLASSIC_LRU, settings="policy=token"
    ),
    _policy(
        "auto",
        "mts with policy=auto: it chooses among turns, none, fair and token",
        CLASSIC_LRU,
        settings="policy=auto",
    ),
    _policy(
        "none",
        "mts with policy=none: a cgroup a job, and no more",
        CLASSIC_LRU,
        settings="policy=none",
    ),
    _policy(
        "off", "mts with mode=off: a cgroup a job, and no turns", CLASSIC_LRU, settings="mode=off"
    ),
    _userspace("userspace", "mtsd: the medium-term scheduler in user space"),
    _userspace(
        "userspace-pageout",
        "mtsd where cgroup v2 has no memory controller: it evicts by process_madvise",
        "cgroup_disable=memory",
    ),
)
