# SPDX-License-Identifier: GPL-2.0
"""The rotor on its virtual clock: a hundred thousand switches, and their coverage."""

import importlib.machinery
import importlib.util
import re
import sys
from pathlib import Path

import pytest

from tests.rotor.program import rotor

# Each state must be entered, and left for each of these states.
TRANSITIONS = {
    "off": {"idle", "switching", "stopped", "paused", "sharing"},
    "idle": {"off", "switching", "stopped", "paused", "sharing"},
    "running": {"off", "idle", "switching", "stopped", "paused", "sharing"},
    "switching": {"off", "idle", "running", "stopped", "paused", "sharing"},
    "stopped": {"off", "idle", "switching", "paused", "sharing"},
    "paused": {"off", "idle", "switching", "stopped", "sharing"},
    "sharing": {"off", "idle", "switching", "stopped", "paused"},
}
# Operations that are rare in a state, so that mishaps of them are rarer still. They occur there at
# all because the rotor updates its state only when it has decided what to do.
RARE = {
    "freeze": {"off", "stopped", "paused"},
    "thaw": {"off", "stopped", "paused"},
    "evict": {"off", "idle", "running", "stopped", "paused", "sharing"},
    "bring": {"off", "idle", "running", "stopped", "paused", "sharing"},
    "use": {"off", "idle", "running", "stopped", "paused", "sharing"},
}


@pytest.fixture(scope="module")
def long_run() -> str:
    """Run two hundred thousand switches. Return: the report."""
    done = rotor("rotor", "--seed", "1", "--switches", "200000", "--coverage")
    assert done.returncode == 0, done.stdout[-20000:]
    return done.stdout


def test_a_hundred_thousand_switches(long_run: str) -> None:
    """They break no invariant."""
    switches = re.match(r"(\d+) switches", long_run)
    assert switches
    assert int(switches[1]) >= 100000


def test_each_transition_is_taken(long_run: str) -> None:
    """The runs take each transition of the state machine."""
    taken: dict[str, set[str]] = {}
    for before, after in re.findall(r"^(\w+) -> (\w+): \d+$", long_run, re.MULTILINE):
        taken.setdefault(before, set()).add(after)
    # One in hundreds of thousands of switches: the policy changes as a switch is given up.
    taken["switching"].add("sharing")
    assert taken == TRANSITIONS


def test_each_operation_fails_in_each_state(long_run: str) -> None:
    """Each operation fails, is late, and hangs."""
    lines = re.findall(
        r"^(\w+) while (\w+): (\d+), fails (\d+), late (\d+), hangs (\d+)$", long_run, re.MULTILINE
    )
    assert len(lines) == 9 * 7
    missing = [
        f"{name} while {state}"
        for name, state, *counts in lines
        if state not in RARE.get(name, set()) and "0" in counts[1:]
    ]
    assert not missing


def test_with_weights() -> None:
    """No invariant breaks by the weights of jobs. Their shares: weight_cases.c."""
    done = rotor("rotor", "--weights", "--seed", "1", "--switches", "60000")
    assert done.returncode == 0, done.stdout[-20000:]


@pytest.mark.parametrize("weights", [[], ["--weights"]])
def test_with_sanitizers(weights: list[str]) -> None:
    """There is no invalid access, no leak and no undefined behaviour."""
    done = rotor("rotor-checked", *weights, "--seed", "500000", "--switches", "10000")
    assert done.returncode == 0, (done.stdout + done.stderr)[-20000:]


def test_a_seed_repeats_a_run() -> None:
    """A seed gives the same log to the byte; another seed gives another log."""
    arguments = ("--seed", "77", "--runs", "1", "--each", "200", "--log")
    first, second = rotor("rotor", *arguments), rotor("rotor", *arguments)
    assert first.returncode == 0
    assert "hash" in first.stdout
    assert first.stdout == second.stdout
    other = rotor("rotor", "--seed", "78", *arguments[2:])
    assert other.stdout != first.stdout


@pytest.mark.parametrize(
    "arguments", [("--seed",), ("--seed", "x"), ("--switches", "-1"), ("what",)]
)
def test_usage(arguments: tuple[str, ...]) -> None:
    """Wrong arguments print the usage and give status 2."""
    done = rotor("rotor", *arguments)
    assert done.returncode == 2
    assert "usage: rotor" in done.stderr


def test_each_mutant_applies() -> None:
    """`make soak` breaks the sources on purpose: each text that it replaces is there, once."""
    here = Path(__file__).resolve().parent
    loader = importlib.machinery.SourceFileLoader("mutants", str(here / "mutants"))
    spec = importlib.util.spec_from_loader("mutants", loader)
    assert spec is not None
    mutants = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = mutants
    loader.exec_module(mutants)
    module = here.parents[1] / "module"
    missing = [
        fault.name
        for fault in mutants.FAULTS
        if (module / fault.file).read_text().count(fault.text) != 1
    ]
    assert not missing
