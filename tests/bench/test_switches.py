# SPDX-License-Identifier: GPL-2.0
"""How fast switches were, from made-up trace events."""

import json
import subprocess
import sys

from bench.lab import ROOT, results, switches
from bench.lab.experiment import Setting

MIB = 1 << 20
SETTING = Setting(suite="syn8", policy="mts", overcommit=1.7, limit=100.0)


def event(name, **fields):
    return {"timestamp": 0.0, "event": name, "fields": fields}


def switch(out_mib, back_mib, *, err=0, ms=100):
    """One that takes so long each way."""
    return [
        event("mts_switch_begin"),
        event("mts_evict", got_bytes=out_mib * MIB // 2),
        event("mts_evict", got_bytes=out_mib * MIB // 2),
        event("mts_bring_back", pages=back_mib * MIB // switches.PAGE),
        event("mts_switch_end", evict_ns=ms * 10**6, bring_back_ns=2 * ms * 10**6, err=err),
    ]


def test_a_pace_is_what_went_over_what_it_took():
    """All that is evicted and brought back between a switch's begin and end is its own."""
    events = [event("mts_evict", got_bytes=MIB), *switch(40, 20), event("mts_evict", got_bytes=1)]
    (found,) = switches.switches(events)
    assert (found.evicted, found.brought_back) == (40 * MIB, 20 * MIB)
    assert switches.table([found]).splitlines()[2] == "| 1 | 419 | 105 |"


def test_what_was_cut_short_or_moved_hardly_anything_tells_nothing():
    events = [*switch(40, 40, err=-125), *switch(2, 40)]
    (found,) = switches.switches(events)
    assert "| 1 | - | 210 |" in switches.table([found])


def test_first_and_last_are_compared():
    slow = [s for _ in range(10) for s in switch(40, 40, ms=200)]
    fast = [s for _ in range(10) for s in switch(40, 40)]
    text = switches.table(switches.switches([*slow, *fast]))
    assert "| first ten | 210 | 105 |" in text
    assert "| last ten | 419 | 210 |" in text
    assert "| 20 |" in text
    assert "| 30 |" not in text


def test_the_command(tmp_path):
    """It reads a result, and says what it lacks."""
    made = {"schema": results.SCHEMA, "setting": results.setting_json(SETTING)}
    path = tmp_path / "one.json"

    def run():
        command = [sys.executable, "-m", "bench.lab.switches", path]
        return subprocess.run(command, text=True, capture_output=True, check=False, cwd=ROOT)

    path.write_text(json.dumps({**made, "policy": {"events": switch(40, 20)}}))
    assert "| 1 | 419 | 105 |" in run().stdout
    path.write_text(json.dumps({**made, "policy": None}))
    done = run()
    assert done.returncode == 2
    assert done.stderr.rstrip().endswith("no trace events in it: run it with --param events=1")
