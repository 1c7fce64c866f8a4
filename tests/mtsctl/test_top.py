# SPDX-License-Identifier: GPL-2.0
"""top: what --batch prints, and the real program on a terminal that is rendered."""

import os
import re
import signal
import subprocess
import termios
import time

import pexpect
import pyte
import pytest

from tests.mtsctl.conftest import SCENARIOS, fill_output, until

UP, DOWN, END, HOME, PAGE_DOWN = "\x1b[A", "\x1b[B", "\x1b[4~", "\x1b[1~", "\x1b[6~"
KEYS = "h help  p pin  r remove  s slice  T thaw  o order: bin  g by job  q quit"
MTS_JOB_PIN = 4
MTS_CONFIG_SLICE = 8
ID_STEP = 1 << 40  # as in fake_ipc.c


def frames(shown):
    return shown.out.split("\nmts ")


# ---- --batch ---------------------------------------------------------------------


def test_batch(mtsctl):
    began = time.monotonic()
    shown = mtsctl("top", "-b", "-n", "3", "-d", "0.2", scenario="rotating")
    assert time.monotonic() - began > 0.6
    assert (shown.status, shown.err) == (0, "")
    assert shown.out.isascii()
    assert max(map(len, shown.out.splitlines())) <= 80
    assert len(frames(shown)) == 3
    out = frames(shown)[-1]
    assert out.startswith("running (overcommit), mode=auto slice=2s")
    assert "jobs    14, 5 frozen; round 12 takes 5.3 s, longest pause 4.3 s" in out
    assert "switch  last 100 ms, mean 100 ms; - of the last round, 5.2 % of all rounds" in out
    assert "disk/s  evicted 200 MiB, brought back 100 MiB; host out " in out
    assert "\npage    out 8.2 us, in -; 4.0 s ago\n" in out
    assert re.search(r"^  \* 1 \[#{31}  \] 93.0 MiB     4    2.0 s  1.3 s left$", out, re.M)
    assert re.search(r"^    0 \[-{31}  \] 93.0 MiB     3    2.0 s  in 2.5 s$", out, re.M)
    assert re.search(r"^ +1 alpha +frozen +0 60.0 MiB +0 B 60.0 MiB +4.5 s +-$", out, re.M)


def test_batch_of_groups(mtsctl):
    out = mtsctl("top", "-bn1", "-d0.01", scenario="groups").out
    assert "jobs    6, 3 frozen; 3 of 6 groups run; round 6.6 s, longest pause 3.6 s\n" in out
    assert re.search(r"^GROUP  of 96.0 MiB: ", out, re.M)
    rows = re.findall(r"^ *((?:\* )?\d) \[.* 1.0 s  (\S.*)$", out, re.M)
    # The second look at the module is a second later; the slice's end is as far off.
    assert rows == [
        ("* 0", "now"),
        ("1", "in 1.9 s"),
        ("* 2", "now"),
        ("3", "in 3.0 s"),
        ("* 4", "now"),
        ("5", "in 800 ms"),
    ]
    out = mtsctl("top", "-bn1", "-d0.01", scenario="groups-switching").out
    rows = re.findall(r"^ *((?:\* )?\d) \[.* 1.0 s  (now|coming)$", out, re.M)
    assert rows == [("* 1", "coming"), ("* 2", "now"), ("* 4", "now")]


@pytest.mark.parametrize(
    "scenario", [*SCENARIOS, "paused", "full", "torn", "groups", "groups-switching"]
)
def test_batch_of_everything(mtsctl, scenario):
    shown = mtsctl("top", "-b", "-n1", "-d.01", scenario=scenario)
    assert shown.status == 2  # a digit stands before the point
    shown = mtsctl("top", "-bn1", "-d0.01", scenario=scenario)
    assert (shown.status, shown.err) == (0, "")
    assert max(map(len, shown.out.splitlines())) <= 80
    jobs = {"empty": 0, "many": 200, "full": 4096, "newer": 14, "torn": 14, "switching": 14}
    jobs |= {"groups": 6, "groups-switching": 6}
    listed = re.findall(r"^ *\d+ \S+ +[a-z-]+ +(?:\d+|every|-) ", shown.out, re.M)
    assert len(listed) == jobs.get(scenario, 2 if scenario != "off" else 0)


def test_queue(mtsctl):
    out = mtsctl("top", "-bn1", "-d", "10ms", scenario="queue").out
    # the second of two samples, a second apart
    assert (
        "queue   3; next sim: needs 40.0 MiB, starts in 4m 59s, at the latest in 58m 29s\n" in out
    )
    assert "\nqueue" not in mtsctl("top", "-bn1", "-d", "10ms").out


def test_batch_by_user(mtsctl):
    out = mtsctl("top", "-bn1", "-d", "10ms", "--by", "user", scenario="rotating", users=3).out
    assert max(map(len, out.splitlines())) <= 80
    rows = re.findall(r"^(\d+) +(\d+) +(\d+) ", out, re.M)
    assert [row[0] for row in rows] == ["60001", "60002", "60003"]
    assert sum(int(row[1]) for row in rows) == 14
    assert sum(int(row[2]) for row in rows) == 5
    assert "JOB " not in out
    fake = {"scenario": "rotating", "users": 3, "weights": "60002:300 60004:50"}
    out = mtsctl("top", "-bn1", "-d", "10ms", "--by", "user", **fake).out
    assert max(map(len, out.splitlines())) <= 80
    rows = re.findall(r"^(6\d+(?: \[\d+\])?) +\d", out, re.M)
    assert rows == ["60001", "60002 [300]", "60003"]
    assert mtsctl("top", "-bn1", "-d", "10ms", "-g", "job", scenario="rotating").out.count("alpha")


def test_order(mtsctl):
    out = mtsctl("top", "-bn1", "-d", "10ms", "-o", "demand", scenario="rotating").out
    names = re.findall(r"^ +\d+ (\S+) +[a-z-]+ +(?:\d+|every|-) ", out, re.M)
    assert names[:4] == ["debugged", "beta", "alpha", "make"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-n", "0"], "--count 0: "),
        (["-n", "x"], "--count x: not a number"),
        (["-n"], "-n needs a value"),
        (["-d", "0"], "--delay 0: not between 10ms and 24h"),
        (["-d", "-1"], "--delay -1: negative"),
        (["-o", "size"], "--order size: not one of bin, id, name, state, user"),
        (["--by", "bin"], "--by bin: not one of job, user, unit or container"),
        (["-g"], "-g needs a value"),
        (["x"], "unexpected 'x'"),
    ],
)
def test_bad_usage(mtsctl, args, message):
    shown = mtsctl("top", "-b", *args)
    assert shown.status == 2
    assert message in shown.err


def test_what_the_cgroups_and_the_host_say(mtsctl, host):
    """Memory as it is now, not as the module knew it; faults and swapping as differences."""
    mib = 1 << 20
    job = host.cgroup("job-2", current=30 * mib, swap=60 * mib, file=2 * mib, pgmajfault=100)
    host.vitals(swap_free_kib=300 * 1024, pswpin=0, pswpout=0, pgmajfault=10)
    process = subprocess.Popen(
        [mtsctl.program, "top", "-b", "-n", "2", "-d", "1"],
        env=mtsctl.environment(scenario="rotating", **host.fake),
        stdout=subprocess.PIPE,
        text=True,
    )
    while "FAULT/s" not in process.stdout.readline():
        pass
    stat = (job / "memory.stat").read_text()
    (job / "memory.stat").write_text(stat.replace("pgmajfault 100", "pgmajfault 142"))
    host.vitals(
        swap_free_kib=300 * 1024, pswpin=212, zswpin=300, pswpout=56, zswpout=200, pgmajfault=52
    )
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert re.search(r"^ +2 beta +running +1 90.0 MiB 28.0 MiB 60.0 MiB +42$", out, re.M)
    assert "host out 1.0 MiB, in 2.0 MiB" in out
    assert "memory  800 MiB available, 300 MiB of swap free; 42 major faults/s" in out
    assert re.search(r"^  \* 1 \[#{10}-{21}  \]", out, re.M)


def test_module_goes_while_batch_runs(mtsctl):
    shown = mtsctl("top", "-b", "-d", "0.05", fail="open=2+3")
    assert shown.status == 3
    assert len(frames(shown)) == 2  # the first sample has no frame
    assert "no such device: is the module loaded?" in shown.err


def test_batch_ends_by_signal(mtsctl):
    process = subprocess.Popen(
        [mtsctl.program, "top", "-b", "-d", "0.05"],
        env=mtsctl.environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 0


def test_batch_ends_by_signal_while_nobody_reads(mtsctl):
    process = subprocess.Popen(
        [mtsctl.program, "top", "-b", "-d", "0.05"],
        env=mtsctl.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.read(1)
    fill_output(process)
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 0
    assert process.stderr.read() == b""
    process.stdout.close()
    process.stderr.close()


def test_batch_to_a_full_disk(mtsctl):
    done = mtsctl.to_full_disk("top", "-b", "-n", "1", "-d", "0.05")
    assert done.returncode == 1
    assert done.stderr.startswith("mtsctl: standard output: ")


# ---- on a terminal -----------------------------------------------------------------


class Terminal:
    """mtsctl top on a pseudo-terminal, and the screen that its output makes."""

    # Lives on, so that the terminal can be looked at afterwards.
    SCRIPT = 'trap : INT; stty -g; "$0" "$@"; echo "exit $?"; stty -g; sleep 60'

    def __init__(self, mtsctl, *args, size=(24, 80), term="linux", no_color=None, **fake):
        env = mtsctl.environment(**fake)
        for name in ("NO_COLOR", "LINES", "COLUMNS"):
            env.pop(name, None)
        env["TERM"] = term
        if no_color:
            env["NO_COLOR"] = no_color
        self.screen = pyte.Screen(size[1], size[0])
        self.stream = pyte.ByteStream(self.screen)
        self.output = b""
        self.child = pexpect.spawn(
            "sh",
            ["-c", self.SCRIPT, str(mtsctl.program), "top", *args],
            env=env,
            dimensions=size,
            timeout=30,
        )

    def read(self, seconds):
        try:
            data = self.child.read_nonblocking(65536, seconds)
        except (pexpect.TIMEOUT, pexpect.EOF):
            return
        self.output += data
        self.stream.feed(data)

    @property
    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def wait(self, text, seconds=20):
        """Until the screen shows the text; the screen as text."""
        end = time.monotonic() + seconds
        while text not in "\n".join(self.lines):
            assert time.monotonic() < end, "\n".join([f"no {text!r} in", *self.lines])
            self.read(0.1)
        return "\n".join(self.lines)

    def press(self, keys):
        self.child.send(keys)

    def program(self):
        """The process id of mtsctl."""
        children = f"/proc/{self.child.pid}/task/{self.child.pid}/children"
        with open(children) as file:
            return int(file.read().split()[0])

    def ended(self):
        """The exit status; the terminal is as it was."""
        self.wait("exit ")
        while len(modes := re.findall(rb"^[0-9a-f]+(?::[0-9a-f]+){10,}", self.output, re.M)) < 2:
            self.read(0.1)
        assert modes[0] == modes[1]
        assert self.output.rindex(b"\x1b[?25h") > self.output.rindex(b"\x1b[?25l")
        return int(re.search(rb"exit (\d+)", self.output)[1])


@pytest.fixture
def terminal(mtsctl):
    terminals = []

    def make(*args, **kwargs):
        terminals.append(Terminal(mtsctl, *args, **kwargs))
        return terminals[-1]

    yield make
    for one in terminals:
        one.child.close(force=True)


def test_80_by_24(terminal):
    top = terminal(scenario="rotating")
    top.wait("evicted 200 MiB")
    top.wait(KEYS)
    assert top.lines[0].startswith("mts running (overcommit), mode=auto slice=2s")
    assert top.lines[8].startswith("  BIN  of 96.0 MiB: # memory, - swap        DEMAND  JOBS")
    assert top.lines[10].startswith("  * 1 [####")
    assert top.lines[10].endswith("1.3 s left")
    assert top.lines[15].startswith("  ID JOB           STATE")
    assert top.lines[16].startswith("   1 alpha         frozen          0")
    assert top.lines[23] == KEYS
    top.press("q")
    assert top.ended() == 0


def test_colours(terminal):
    top = terminal(scenario="rotating")
    top.wait(KEYS)
    bar = top.screen.buffer[10]
    assert bar[10].data == "#"
    assert bar[10].fg == "green"
    assert bar[2].bold
    assert top.screen.buffer[9][10].fg == "blue"
    assert top.screen.buffer[16][3].reverse  # the selected job


@pytest.mark.parametrize("term", ["vt100", "xterm-mono"])
def test_no_colours(terminal, term):
    top = terminal(term=term, scenario="rotating")
    text = top.wait(KEYS)
    assert "  * 1 [####" in text
    assert not re.search(rb"\x1b\[[0-9;]*(3[0-7]|38;)[0-9;]*m", top.output)
    top.press("q")
    top.wait("exit 0")


def test_no_color_is_heeded(terminal):
    top = terminal(no_color="1", scenario="rotating")
    top.wait(KEYS)
    assert top.screen.buffer[10][10].fg == "default"


@pytest.mark.parametrize(
    ("term", "message"),
    [
        ("dumb", "TERM=dumb: it cannot move its cursor: use --batch"),
        ("no-such", "TERM=no-such: no such terminal in the terminfo database"),
        ("", "TERM is not set: set it, or use --batch"),
    ],
)
def test_terminal_that_will_not_do(terminal, term, message):
    top = terminal(term=term)
    text = top.wait("exit 2")
    assert message in text.replace("\n", "")


def test_not_a_terminal(mtsctl):
    shown = mtsctl("top")
    assert shown.status == 2
    assert "not on a terminal: use --batch" in shown.err
    assert shown.out == ""


def test_keys_select_and_act(terminal, mtsctl):
    top = terminal(scenario="rotating")
    top.wait(KEYS)
    top.press(DOWN)
    top.press("p")
    assert "3 gamma is pinned: never frozen" in top.wait("is pinned")
    top.press("p")
    top.wait("3 gamma is no longer pinned")
    top.press(UP + "r")
    top.wait("remove job 1, so that it is never frozen? (y/n)")
    top.press("n")
    top.wait("nothing was done")
    top.press("ry")
    top.wait("1 is no longer a job")
    top.wait("   3 gamma")
    assert "alpha" not in "\n".join(top.lines)
    top.press("T")
    top.wait("thaw everything and stop the rotation? (y/n)")
    top.press("y")
    top.wait("everything is thawed")
    top.press("q")
    assert top.ended() == 0
    assert mtsctl.calls == [
        f"job_set 3 mask={MTS_JOB_PIN} flags={MTS_JOB_PIN}",
        f"job_set 3 mask={MTS_JOB_PIN} flags=0",
        "remove 1",
        "thaw",
    ]


def test_keys_set_the_slice(terminal, mtsctl):
    top = terminal(scenario="rotating")
    top.wait(KEYS)
    top.press("s12x\x7fms")
    top.wait("slice of a full bin (10ms to 60s): 12ms_")
    top.press("\r")
    top.wait("slice=12ms")
    top.press("s2m\r")
    top.wait("slice=2m: not between 10ms and 60s")
    top.press("sabc\r")
    top.wait("slice=abc: not a number")
    top.press("s5\x1b")
    top.wait(KEYS)
    top.press("s\r")
    top.wait(KEYS)
    assert len(mtsctl.calls) == 1
    assert mtsctl.calls[0].startswith(f"set mask={MTS_CONFIG_SLICE:#x} ")
    assert " slice=12000000 " in mtsctl.calls[0]


@pytest.mark.parametrize(
    ("call", "keys", "message"),
    [
        ("job_set=1", "p", "cannot pin 1: not permitted: run as root"),
        ("job_set=2", "p", "cannot pin 1: the job is gone"),
        ("job_remove=2", "ry", "cannot remove 1: the job is gone"),
        ("config_set=34", "s1s\r", "cannot set slice=1s: out of range"),
        ("thaw=5", "Ty", "cannot thaw: Input/output error"),
    ],
)
def test_keys_that_fail(terminal, call, keys, message):
    top = terminal(scenario="rotating", fail=call)
    top.wait(KEYS)
    top.press(keys)
    top.wait(message)
    top.press("q")
    assert top.ended() == 0


def test_help_and_order(terminal):
    top = terminal(scenario="rotating")
    top.wait(KEYS)
    top.press("h")
    text = top.wait("any key goes back")
    assert "pin it (never freeze it), or unpin it" in text
    assert "the order is by faults, or jobs are summed up." in text
    top.press("x")
    top.wait(KEYS)
    top.press("O")
    top.wait("o order: faults")
    top.press("oooo")
    top.wait("o order: state")


def test_users_instead_of_jobs(terminal, mtsctl):
    top = terminal(scenario="rotating", users=3)
    top.wait(KEYS)
    top.press("p")  # alpha, of the first of them
    top.wait("1 alpha is pinned")
    top.press("g")
    text = top.wait("g by user  q quit")
    assert re.search(r"^USER +JOBS FROZEN +DEMAND RESIDENT +SWAPPED LONGEST FAULT/s$", text, re.M)
    assert re.search(r"^60001 +5 +\d ", text, re.M)
    assert not re.search(r"^ +1 alpha", text, re.M)
    top.press(DOWN + "p")
    top.wait("that is for one job: g shows jobs one by one")
    top.press("r")
    top.wait("that is for one job: g shows jobs one by one")
    top.press("o")
    top.wait("h help  s slice  T thaw  o order: id  g by user  q quit")
    top.press("g")
    top.wait("g by unit  q quit")
    top.press("g")
    top.wait("g by container  q quit")
    top.press("G" * 3)
    top.wait("g by job")
    # What is selected now is of the selected group, the second one.
    top.press("p")
    top.wait("2 beta is pinned")
    assert len(mtsctl.calls) == 2
    top.press("q")
    assert top.ended() == 0


def selected(top):
    """The user whose row is selected."""
    top.read(0.1)
    for y, line in enumerate(top.lines):
        if re.match(r"6000\d ", line) and top.screen.buffer[y][0].reverse:
            return line.split()[0]
    return None


def users_in_order(top):
    top.read(0.1)
    return re.findall(r"^(6000\d) ", "\n".join(top.lines), re.M)


def test_the_selection_stays_with_its_group(terminal, tmp_path):
    """The group's first job ends, and so it gets another row."""
    now = tmp_path / "now"
    now.write_text("rotating \n")
    top = terminal("-d", "0.1", "-o", "demand", scenario="rotating", users=3, now=now)
    top.wait(KEYS.replace("bin", "demand"))
    top.press("g" + HOME)
    top.wait("g by user")
    before = users_in_order(top)
    until(lambda: selected(top) == before[0], 20)
    top.press(DOWN)
    until(lambda: selected(top) == before[1], 20)
    # Job 1, without which the user needs less memory than the next.
    now.write_text("rotating gone=1\n")
    until(lambda: users_in_order(top) != before, 20)
    assert selected(top) == before[1] == "60001", "\n".join(top.lines)


def faults(top):
    """FAULT/s of the user 60001; None: no such row."""
    row = re.search(r"^60001 .* (\S+)$", "\n".join(top.lines), re.M)
    return row and row[1]


def test_faults_of_a_group_are_of_all_its_jobs(terminal, host):
    """Above 256 jobs, those that are not on the screen have not been looked at before g."""
    for job in (1, 4000):
        host.cgroup(f"job-{job}", current=1 << 20, pgmajfault=7)
    top = terminal("-d", "2", scenario="full", users=1, **host.fake)
    top.wait(KEYS)
    top.wait("  0 B               0\n")
    for _ in range(2):  # the first sample, of which not all is shown yet, has all jobs
        clock = top.lines[0]
        until(lambda: top.read(0.1) or top.lines[0] != clock, 20)  # noqa: B023
    top.press("g")
    top.wait("g by user")
    assert faults(top) == "-"
    until(lambda: top.read(0.1) or faults(top) == "0", 20)


@pytest.mark.parametrize("by", ["user", "job"])
def test_the_first_frame_has_faults_of_thousands_of_jobs(mtsctl, host, by):
    for job in (1, 4000):
        host.cgroup(f"job-{job}", current=1 << 20, pgmajfault=7)
    args = ("top", "-bn1", "-d10ms", "--by", by)
    out = mtsctl(*args, scenario="full", users=1, **host.fake).out
    wanted = {"user": r"^60001 +4096 .* 0$", "job": r"^ *4000 job.4000 .* 0$"}
    assert re.search(wanted[by], out, re.M)


def test_the_selection_stays_with_its_job(terminal):
    top = terminal(scenario="rotating")
    top.wait(KEYS)
    top.press(END)
    top.wait("  10 newcomer")
    top.press("o")
    top.wait("o order: id")
    top.press("p")
    top.wait("10 newcomer is pinned")


def test_4096_jobs(terminal):
    top = terminal(scenario="full")
    text = top.wait(KEYS)
    assert "  * 0 [####" in text
    assert "  ... 37 more bins" in text
    top.press(END)
    top.wait("4096 job.4096")
    top.press(HOME)
    top.wait("   1 job.1 ")
    top.press(PAGE_DOWN)
    top.wait("  12 job.12 ")
    top.press("q")
    assert top.ended() == 0


def test_no_jobs(terminal):
    top = terminal(scenario="empty")
    top.wait("no jobs: mtsctl run, mtsctl add")
    top.press("pr" + DOWN + UP + END)
    top.wait(KEYS)
    top.press("q")
    assert top.ended() == 0


def resize(top, rows, columns):
    top.screen.resize(rows, columns)
    top.child.setwinsize(rows, columns)


def test_resize(terminal):
    top = terminal(scenario="rotating")
    top.wait(KEYS)
    for rows, columns in [(40, 132), (10, 40), (3, 20), (1, 1), (2, 200), (24, 80)]:
        resize(top, rows, columns)
        end = time.monotonic() + 20
        while top.lines[-1] != KEYS[: columns - 1] and columns > 1:
            assert time.monotonic() < end, top.lines
            top.read(0.1)
        if columns == 132:
            assert any(len(line) > 120 and line.endswith("1.3 s left") for line in top.lines)
    assert top.lines[10].startswith("  * 1 [####")
    top.press("q")
    assert top.ended() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_give_the_terminal_back(terminal, number):
    top = terminal(scenario="rotating")
    top.wait(KEYS)
    os.kill(top.program(), number)
    assert top.ended() == 0


def test_control_c(terminal):
    top = terminal(scenario="rotating")
    top.wait(KEYS)
    assert not termios.tcgetattr(top.child.child_fd)[3] & termios.ECHO
    top.press("\x03")
    assert top.ended() == 0
    assert termios.tcgetattr(top.child.child_fd)[3] & termios.ECHO


def test_module_goes(terminal):
    top = terminal("-d", "0.1", scenario="rotating", fail="open=2+5")
    text = top.wait("exit 3")
    assert "/dev/mts: no such device: is the module loaded?" in text.replace("\n", "")
    assert top.ended() == 3


def test_module_is_not_loaded(terminal):
    top = terminal(scenario="absent")
    text = top.wait("exit 3")
    assert "is the module loaded?" in text.replace("\n", "")
    assert b"\x1b[" not in top.output  # the terminal was left alone


def test_count(terminal):
    top = terminal("-n", "3", "-d", "0.1")
    assert top.ended() == 0
