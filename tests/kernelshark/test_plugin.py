# SPDX-License-Identifier: GPL-2.0
"""KernelShark's plugin: what it draws of a recording made in a guest is what its events say.

trace-cmd's own text of the recording is one side; lanes.cpp, which has KernelShark's library load
the plugin and prints what it draws, the other.
"""

import base64
import dataclasses
import itertools
import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bench.lab import BUILD, guest
from tests.guest import harness

DRIVER = BUILD / "kernelshark" / "lanes"
PLUGIN = BUILD / "plugin-mts.so"
LOGS = harness.LOGS / "kernelshark"
GROUP = harness.Group("kernelshark", programs=(), tools=("trace-cmd",))  # what is in the guest
COLUMNS = 10000  # so wide that what is short is seen, too
CHARACTER, MARGIN = 10, 8  # columns, of a label
# The kernel's names are not wanted, and are most of a recording.
MAIN = """
mount --bind /dev/null /proc/kallsyms
mtsctl set mode=always slice=200ms min_slice=50ms bin=20M || exit 1
record() {
	mtsctl set step=$4 || exit 1
	/usr/bin/trace-cmd record -q -C mono -o "/tmp/$1.dat" \
		-e cgroup_attach_task -e sched_process_fork $3 \
		mtsctl run --each=child -- syn8 --total 72M --accesses "$2" >/tmp/said 2>&1 ||
		{ cat /tmp/said; exit 1; }
	{ echo "file $1"; base64 "/tmp/$1.dat" && echo end; } >/dev/ttyS1
}
# On a fast host too they take several slices; turns end when those that are left fit.
record turns 12M "-e mts" bin
record groups 6M "-e mts" 8M
record others 50K "" bin
"""
FREEZE, EVICT, BACK, THAW = "788cbe", "be322d", "1e785a", "969696"
FROZEN = "cdcdcd"
SLICE, PART, STRIP = (0, 700), (0, 450), (780, 980)  # heights
COLORS = 8  # of bins, over and over
EVENT = re.compile(
    r" *.+-(?P<pid>\d+) +\[\d+\] +(?P<s>\d+)\.(?P<ns>\d{9}): (?P<name>\w+): +(?P<rest>.*)"
)


@dataclass
class Event:
    """A line of the recording."""

    name: str
    pid: int
    at: int  # ns
    fields: dict[str, str]

    def number(self, name: str) -> int:
        return int(self.fields[name])


@dataclass
class Box:
    """What is drawn."""

    begin: int
    end: int
    height: tuple[int, int]
    color: str
    label: str = ""


@dataclass
class Picture:
    """All lanes, by PID; boxes in order of time."""

    first: int
    last: int
    lanes: dict[int, list[Box]] = field(default_factory=dict)

    def column(self, at: int) -> int:
        return (at - self.first) * COLUMNS // (self.last - self.first)

    def boxes(self, pid: int, height: tuple[int, int]) -> list[Box]:
        return [box for box in self.lanes[pid] if box.height == height]


def record() -> dict[str, Path]:
    """In a guest, by Debian's trace-cmd."""
    texts: dict[str, list[str]] = {}
    current: list[str] = []

    def report(line: str) -> None:
        nonlocal current
        if line.startswith("file "):
            current = texts.setdefault(line.split()[1], [])
        elif not line.startswith("lab: "):
            current.append(line)

    spec = dataclasses.replace(harness.spec(GROUP), main=MAIN, timeout=300.0)
    verdict = guest.run(spec, directory=LOGS, on_report=report)
    if not verdict.good:
        pytest.fail(f"{verdict}\nlogs: {LOGS}", pytrace=False)
    found = {}
    for name, lines in texts.items():
        assert lines.pop() == "end", name
        found[name] = LOGS / f"{name}.dat"
        found[name].write_bytes(base64.b64decode("".join(lines)))
    return found


def tell(recording: Path) -> list[Event]:
    """Its events, by trace-cmd."""
    command = ["trace-cmd", "report", "-t", "-i", recording]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = []
    for line in done.stdout.splitlines():
        if match := EVENT.fullmatch(line):
            fields = dict(re.findall(r"(\w+)=(\S*)", match["rest"]))
            at = int(match["s"]) * 10**9 + int(match["ns"])
            found.append(Event(match["name"], int(match["pid"]), at, fields))
    return found


def draw(recording: Path) -> Picture:
    """What KernelShark would show."""
    command = [DRIVER, PLUGIN, recording, str(COLUMNS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    time = next(words for words in lines if words[0] == "time")
    drawn = Picture(int(time[1]), int(time[2]))
    lane: list[Box] = []
    for word, *words in lines:
        if word == "lane":
            lane = drawn.lanes.setdefault(int(words[0]), [])
        elif word == "box":
            x0, x1, y0, y1 = map(int, words[:4])
            lane.append(Box(x0, x1, (y0, y1), words[4]))
        elif word == "text":
            lane[-1].label = " ".join(words[1:])
    for lane in drawn.lanes.values():
        lane.sort(key=lambda box: (box.begin, box.end))
    return drawn


@dataclass
class Recording:
    """Both sides of one."""

    events: list[Event]
    drawn: Picture

    def all(self, name: str) -> list[Event]:
        """The events of that name."""
        return [event for event in self.events if event.name == name]

    @property
    def rotor(self) -> int:
        """The PID of the rotor's thread."""
        (pid,) = {event.pid for event in self.all("mts_slice_begin")}
        return pid

    @property
    def cgroups(self) -> dict[int, int]:
        """The last of each process: where it was put, or where its parent was."""
        found: dict[int, int] = {}
        for event in self.events:
            if event.name == "cgroup_attach_task":
                found[event.number("pid")] = event.number("dst_id")
            elif event.name == "sched_process_fork" and event.pid in found:
                found[event.number("child_pid")] = found[event.pid]
        return found

    def near(self, box: Box, begin: int, end: int) -> bool:
        """Is that its time? A column is lost at either end."""
        first, last = self.drawn.column(begin), self.drawn.column(end)
        return abs(box.begin - first) <= 1 and abs(box.end - last) <= 1


@pytest.fixture(scope="module")
def recordings() -> dict[str, Recording]:
    """With the events of mts, and without."""
    harness.build("guest-module", "static", "kernelshark")
    harness.build("-C", "tests/kernelshark")
    return {name: Recording(tell(path), draw(path)) for name, path in record().items()}


@pytest.fixture(params=["turns", "groups"])
def turns(request: pytest.FixtureRequest, recordings: dict[str, Recording]) -> Recording:
    """Jobs that take turns, in disjoint bins and in bins that overlap."""
    return recordings[request.param]


def test_slices(turns):
    """Each in its bin's colour, with its number, from its begin to its end."""
    begins = turns.all("mts_slice_begin")
    ends = turns.all("mts_slice_end")
    boxes = turns.drawn.boxes(turns.rotor, SLICE)
    assert len(begins) == len(ends) == len(boxes) >= 4
    colors = {}
    for begin, end, box in zip(begins, ends, boxes, strict=True):
        assert turns.near(box, begin.at, end.at), (begin, end, box)
        label = f"bin {begin.number('bin')}"
        wide = box.end - box.begin > len(label) * CHARACTER + MARGIN
        assert box.label == (label if wide else "")
        assert colors.setdefault(begin.number("bin"), box.color) == box.color
    assert len(colors) >= 2
    assert len(set(colors.values())) == min(len(colors), COLORS)
    assert any(box.label for box in boxes)


def test_parts_of_switches(turns):
    """One after the other, of what is wider than a pixel, from the switch's begin to its end."""
    found = turns.drawn.boxes(turns.rotor, PART)
    expected = []
    for event in turns.all("mts_switch_end"):
        at = event.at - event.number("took_ns")
        for color, name in ((FREEZE, "freeze_ns"), (EVICT, "evict_ns"), (BACK, "bring_back_ns")):
            expected.append((color, at, at + event.number(name)))
            at += event.number(name)
        expected.append((THAW, at, event.at))
    drawn = turns.drawn
    wide = [part for part in expected if drawn.column(part[2]) - drawn.column(part[1]) >= 2]
    assert {color for color, _, _ in wide} & {EVICT, BACK}
    for color, begin, end in wide:
        assert any(box.color == color and turns.near(box, begin, end) for box in found), (
            color,
            begin,
        )
    for box in found:
        assert any(box.color == part[0] and turns.near(box, *part[1:]) for part in expected), box


def test_frozen_jobs(turns):
    """Grey on the lanes of its tasks from when it is frozen until it is thawed, and only then."""
    frozen: dict[int, list[tuple[int, int]]] = defaultdict(list)
    since: dict[int, int] = {}
    for event in turns.events:
        if event.name == "mts_freeze":
            since[event.number("cgroup_id")] = event.at
        elif event.name == "mts_thaw" and event.number("cgroup_id") in since:
            cgroup = event.number("cgroup_id")
            frozen[cgroup].append((since.pop(cgroup), event.at))
    assert len(frozen) >= 5
    drawn = turns.drawn
    for pid, cgroup in turns.cgroups.items():
        boxes = [box for box in drawn.boxes(pid, STRIP) if box.color == FROZEN]
        assert len(boxes) == len(frozen[cgroup]), pid
        for box, times in zip(boxes, frozen[cgroup], strict=True):
            assert turns.near(box, *times), (pid, box)


def test_jobs_have_the_slices_colour(turns):
    """While they run, that of the slice on the rotor's lane, in bins that overlap too."""
    drawn = turns.drawn
    checked = 0
    for pid in turns.cgroups:
        for box in drawn.boxes(pid, STRIP):
            for turn in drawn.boxes(turns.rotor, SLICE):
                both = min(box.end, turn.end) - max(box.begin, turn.begin)
                if box.color != FROZEN and both > 2:
                    assert box.color == turn.color, (pid, box, turn)
                    checked += 1
    assert checked >= 5


def test_a_job_runs_on_in_the_next_bin(recordings):
    """Where bins overlap, a strip changes its colour and the job was never frozen."""
    drawn = recordings["groups"].drawn
    found = 0
    for pid in recordings["groups"].cgroups:
        boxes = drawn.boxes(pid, STRIP)
        for before, box in itertools.pairwise(boxes):
            runs = FROZEN not in (before.color, box.color)
            found += runs and before.color != box.color and box.begin - before.end <= 1
    assert found >= 2


def test_nothing_is_drawn_of_a_job_that_is_gone(turns):
    """Its task's lane ends with it, though its bin goes on."""
    drawn = turns.drawn
    gone = {
        event.number("cgroup_id"): event.at
        for event in turns.all("mts_job")
        if event.fields["what"] == "forgotten"
    }
    ended = 0
    for pid, cgroup in turns.cgroups.items():
        if cgroup in gone and drawn.boxes(pid, STRIP):
            assert drawn.boxes(pid, STRIP)[-1].end <= drawn.column(gone[cgroup]) + 1, pid
            ended += 1
    assert ended >= 5


def test_a_recording_of_others_stays_as_it_is(recordings):
    """The plugin has nothing to say where the events of mts are not."""
    assert recordings["others"].events
    assert recordings["others"].drawn.lanes
    assert not any(recordings["others"].drawn.lanes.values())
