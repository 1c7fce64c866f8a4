# SPDX-License-Identifier: GPL-2.0
"""The kernel's own selftests of cgroup v2 see no difference between a kernel with mts and without.

test_freezer, test_kill, test_core and test_memcontrol of Debian's linux-source-6.1 run

    without         the module is not loaded
    idle            it is, and its jobs fit
    rotating        its jobs take turns beside the selftests
    job-frozen      the selftest is in a job that takes turns, evict=off
    job-evicted     the same, evict=full

In the last two the job's cgroup is the root of a cgroup namespace, so that the selftest's own
cgroups are below the job. Three more ways without the module say what the kernel does by itself:

    nested          in a cgroup that is the root of a cgroup namespace
    frozen-by-hand  the same, and a shell freezes and thaws that cgroup
    evicted-by-hand the same, and it writes to memory.reclaim while the cgroup is frozen

What differs all the same is named below, test by test, with its cause.

Alone: python3 -m pytest tests/guest/test_kernel_selftests.py
"""

import functools
import json
import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mode

import pytest

from bench.lab import BUILD, ROOT, guest, kernel, programs
from tests.build import alone
from tests.guest import harness

pytestmark = pytest.mark.slow("each part of it has tests of its own; it takes five minutes")

SCRIPTS = Path(__file__).parent / "kernel_selftests"
# So many tests, of which so many pass without mts: what passes nowhere tests nothing.
PROGRAMS = {
    "test_freezer": (10, 10),
    "test_kill": (3, 3),
    "test_core": (12, 12),
    "test_memcontrol": (14, 13),
}
GUESTS = {
    "without": ("without", "nested", "frozen-by-hand", "evicted-by-hand"),
    "with": ("idle", "rotating", "job-frozen", "job-evicted"),
}
LAYOUT_OF = {
    "idle": "without",
    "rotating": "without",
    "job-frozen": "nested",
    "job-evicted": "nested",
    "frozen-by-hand": "nested",
    "evicted-by-hand": "nested",
}

# With memory_recursiveprot, memory.low of the parent protects the third child as well, and 6.1's
# test does not expect that.
FAIL_ANYWHERE = {"test_memcg_low"}
# A threaded cgroup must not have a parent with the memory controller in its
# cgroup.subtree_control, unless that is the real root.
FAIL_NESTED = {"test_cgcore_no_internal_process_constraint_on_threads"}
# What a cgroup of the job gives up by its own memory.reclaim or memory.max is in swap, and is
# brought back when the job's turn comes: mts does not know why a page is there. A page that is back
# keeps its place in swap, so that it counts in memory.current and in memory.swap.current.
FAIL_BROUGHT_BACK = {"test_memcg_reclaim", "test_memcg_swap_max"}
# They compare memory.current with what a process has allocated or read. What has been evicted is
# not charged, and page cache comes back only when it is read again.
FAIL_EVICTED = {
    "test_memcg_current",
    "test_memcg_min",
    "test_memcg_high",
    "test_memcg_max",
    "test_memcg_reclaim",
    "test_memcg_swap_max",
}
MAY_FAIL = defaultdict(
    set,
    {
        "job-frozen": FAIL_BROUGHT_BACK,
        "job-evicted": FAIL_EVICTED,
        "evicted-by-hand": FAIL_EVICTED,
    },
)
# They take the first event of cgroup.events for that of their own write to cgroup.freeze. An event
# that comes of a thaw of the cgroup above lets them look too early. So where that is frozen and
# thawed they pass in most of their runs, and not in each of them.
MOSTLY = {
    "test_cgfreezer_simple",
    "test_cgfreezer_tree",
    "test_cgfreezer_forkbomb",
    "test_cgfreezer_migrate",
    "test_cgfreezer_ptrace",
    "test_cgfreezer_stopped",
    "test_cgfreezer_ptraced",
    "test_cgfreezer_vfork",
}
FROZEN_WAYS = ("job-frozen", "job-evicted", "frozen-by-hand", "evicted-by-hand")

_RESULT = re.compile(r"(?P<verdict>ok|not ok) \d+ (?P<skip># SKIP )?(?P<name>\w+)")


@dataclass
class Part:
    """What one program did in one way."""

    results: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    status: int | None = None
    jobs: list[dict] = field(default_factory=list)  # while it ran, or at its end
    before: dict | None = None  # statistics
    after: dict | None = None

    def verdicts(self) -> dict[str, set[str]]:
        """Those of all runs."""
        return {name: set(said) for name, said in self.results.items()}

    def grew(self, counter: str) -> int:
        """By how much, while it ran."""
        assert self.before
        assert self.after
        return self.after[counter] - self.before[counter]


@dataclass
class Run:
    """One boot: its ways."""

    parts: dict[tuple[str, str], Part] = field(default_factory=lambda: defaultdict(Part))
    verdict: guest.Verdict | None = None
    _way: str = ""
    _now: Part | None = None
    _stats: dict | None = None

    def report(self, line: str) -> None:
        """Take a line of ways.sh, or of a selftest's TAP."""
        if found := _RESULT.fullmatch(line):
            assert self._now
            said = "skip" if found["skip"] else found["verdict"]
            self._now.results[found["name"]].append(said)
            return
        mark, _, rest = line.partition(" ")
        word, _, rest = rest.partition(" ")
        if mark == "selftests:":
            self._own(word, rest)

    def _own(self, word: str, rest: str) -> None:
        if word == "way":
            self._way, self._now = rest, None
        elif word == "begin":
            self._now = self.parts[self._way, rest]
            self._now.before = self._stats
        elif word == "end":
            assert self._now
            self._now.status = int(rest.split()[1])
        elif word == "jobs":
            assert self._now
            self._now.jobs.append(json.loads(rest))
        elif word == "stats":
            self._stats = json.loads(rest)
            if self._now:
                self._now.after = self._stats


def spec(name: str) -> guest.Spec:
    """The guest of that name."""
    selftests = {f"lab/selftests/{it}": BUILD / "selftests" / it for it in PROGRAMS}
    scripts = {f"lab/selftests/{it.name}": it for it in SCRIPTS.glob("*.sh")}
    tools = {f"bin/{it}": harness.STATIC / it for it in ("mtsctl", "consumers")}
    hosts = {"etc/hosts": "127.0.0.1 localhost\n::1 localhost\n"}
    return guest.Spec(
        kernel=kernel.obtain(),
        main=f"/lab/selftests/ways.sh {name}",
        memory_mib=1280,
        swap=guest.Swap("ssd", 512),
        repeatable=False,
        files={**programs.closure("unshare"), **selftests, **scripts, **tools, **hosts},
        module=harness.MODULE if name == "with" else None,
        # ext4 asks for the checksum by a name that modprobe would know.
        kernel_modules=("loop", "crc32c_generic", "ext4"),
        profile=guest.icount(2),
        append="loglevel=5",
        # What is said when a cgroup is out of memory has a call trace, and is no complaint.
        bad_log=guest.BAD_LOG.replace("|Call Trace", ""),
        timeout=3000,
    )


@functools.cache
def run(name: str) -> Run:
    """Boot that guest, once."""
    harness.build("static", "guest-module")
    with alone():
        subprocess.run([ROOT / "tools/kernel-selftests"], check=True)
    booted = Run()
    logs = harness.LOGS / f"kernel-selftests-{name}"
    booted.verdict = guest.run(spec(name), directory=logs, on_report=booted.report)
    return booted


def part(way: str, program: str) -> Part:
    """What that program did in that way."""
    (name,) = (name for name, ways in GUESTS.items() if way in ways)
    found = run(name).parts.get((way, program))
    if not found or found.status is None:
        pytest.fail(f"{program} was not reached, or did not end: {run(name).verdict}")
    return found


@pytest.mark.parametrize("name", GUESTS)
def test_guest(name: str) -> None:
    """The kernel has no complaint, and each way was gone to its end."""
    verdict = run(name).verdict
    assert verdict
    assert verdict.good, verdict


@pytest.mark.parametrize("program", PROGRAMS)
def test_without(program: str) -> None:
    """Without mts all pass but those that are known to fail: the others are compared with that."""
    verdicts = part("without", program).verdicts()
    passed = [name for name, said in verdicts.items() if said == {"ok"}]
    assert (len(verdicts), len(passed)) == PROGRAMS[program]
    assert set(verdicts) - set(passed) <= FAIL_ANYWHERE


@pytest.mark.parametrize("program", PROGRAMS)
def test_nested(program: str) -> None:
    """The kernel alone makes a difference between the root and another cgroup in one test."""
    expected = part("without", program).verdicts()
    for name in FAIL_NESTED & set(expected):
        expected[name] = {"not ok"}
    assert part("nested", program).verdicts() == expected


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("way", LAYOUT_OF)
def test_same(way: str, program: str) -> None:
    """The same results as without mts, in each run."""
    expected = part(LAYOUT_OF[way], program).verdicts()
    its = part(way, program)
    seen = its.verdicts()
    if way in FROZEN_WAYS:
        seen |= {name: {mode(its.results[name])} for name in MOSTLY & set(seen)}
    for name in MAY_FAIL[way] & set(seen):
        del expected[name], seen[name]
    assert seen == expected


def test_what_fails_evicted_fails_by_hand() -> None:
    """The freezer and memory.reclaim have these tests fail; mts has no part in it."""
    results = part("evicted-by-hand", "test_memcontrol").results
    assert {name for name in FAIL_EVICTED if results[name] == ["not ok"]} == FAIL_EVICTED


def test_reclaimed_memory_is_brought_back() -> None:
    """With evict=off what comes back is what test_memcg_reclaim has sent out: it has 50 MiB."""
    its = part("job-frozen", "test_memcontrol")
    assert its.results["test_memcg_reclaim"] == ["not ok"]
    assert 25 << 20 < its.grew("brought_back") * 4096 < 100 << 20


@pytest.mark.parametrize("program", PROGRAMS)
def test_is_idle(program: str) -> None:
    """In that way nothing was frozen."""
    its = part("idle", program)
    (at,) = its.jobs
    assert (at["state"], at["reason"], len(at["jobs"])) == ("idle", "fits", 3)
    assert its.grew("freezes") == 0


@pytest.mark.parametrize("program", PROGRAMS)
def test_is_rotating(program: str) -> None:
    """In that way bins were switched, and nothing had to be thawed by a fail-safe."""
    its = part("rotating", program)
    assert its.grew("switches") >= 3
    assert its.grew("failsafe_thaws") == its.grew("freeze_timeouts") == 0


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("way", ["job-frozen", "job-evicted"])
def test_took_turns(way: str, program: str) -> None:
    """In these ways the job of the selftest was frozen between slices, and evicted or not."""
    its = part(way, program)
    (at,) = its.jobs
    (job,) = (job for job in at["jobs"] if job["name"].startswith(program))
    assert job["slices"] >= 3
    # As long as it has run, but for the pause that it is not yet through.
    assert job["frozen_total_ns"] > job["run_ns"] / 2
    assert job["freeze_failures"] == 0
    assert (job["evicted"] > 0) == (way == "job-evicted")
    assert its.grew("failsafe_thaws") == its.grew("freeze_timeouts") == 0
