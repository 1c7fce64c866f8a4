# SPDX-License-Identifier: GPL-2.0
"""mts.conf(5): config check and load, and set --save."""

import os
import shutil
import subprocess

import pytest

from tests.mtsctl.test_config import BIN, MAX_PAUSE, MIN_SLICE, MODE, SLICE, STEP, call

SECOND = 10**9
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="gives a file to another user")


def check(mtsctl, host, *args, **fake):
    return mtsctl("config", "check", *args, **host.fake, **fake)


def load(mtsctl, host, *args, **fake):
    return mtsctl("config", "load", *args, **host.fake, **fake)


# ---- what is well -----------------------------------------------------------------------


def test_no_configuration(mtsctl, host):
    for shown in (check(mtsctl, host), load(mtsctl, host, scenario="absent")):
        assert (shown.status, shown.err) == (0, "")
        assert f"neither {host.etc}/mts.conf nor {host.etc}/conf.d/*.conf exists" in shown.out


def test_every_key_of_set(mtsctl, host):
    """One table: what `get` prints is a section [mts]."""
    text = mtsctl("get", **host.fake).out
    file = host.conf("[mts]\n" + text)
    shown = check(mtsctl, host)
    assert (shown.status, shown.err) == (0, "")
    assert shown.out == "1 file: 14 settings, 0 rules; no error\n"
    assert mtsctl.calls == []
    assert load(mtsctl, host).status == 0
    assert load(mtsctl, host, str(file)).status == 0
    assert mtsctl("set", *text.split(), **host.fake).status == 0
    assert len(mtsctl.calls) == 3
    assert len(set(mtsctl.calls)) == 1


def test_layout_of_lines(mtsctl, host):
    host.conf(
        "\ufeff# a comment\n; another\n\n  # a third, after blanks\n[mts]\r\n  \n"
        "mode = always ; why not\nslice:3s\n\n[rule a]\ncgroup = a/b\n"
    )
    shown = load(mtsctl, host)
    assert (shown.status, shown.err) == (0, "")
    assert mtsctl.calls == [call(MODE | SLICE, mode=2, slice=3 * SECOND)]
    assert shown.out == "1 file: 2 settings, 1 rule; the settings hold now\n"


def test_users(mtsctl, host):
    host.conf("[users]\ngroup = none\njobs = 0\npins = 4096\nqueue = 0\nmax_pause = 24h\n")
    shown = check(mtsctl, host)
    assert (shown.status, shown.err) == (0, "")


def test_weights_of_users(mtsctl, host):
    """Names and numbers; a user that is in no file has the usual weight again."""
    host.conf("[weights]\nroot = 300\n4001 = 50\n7 = 100\n")
    shown = check(mtsctl, host)
    assert (shown.status, shown.err) == (0, "")
    assert shown.out == "1 file: 0 settings, 0 rules, 3 weights; no error\n"
    assert mtsctl.calls == []
    shown = load(mtsctl, host, weights="0:200 9:9 4001:50")
    assert (shown.status, shown.err) == (0, "")
    assert shown.out == "1 file: 0 settings, 0 rules, 3 weights; the settings hold now\n"
    assert mtsctl.calls == ["user_weight 9 100", "user_weight 0 300"]


def test_a_later_file_has_another_weight(mtsctl, host):
    host.conf("[weights]\n0 = 300\n7 = 50\n")
    host.conf("[weights]\nroot = 100\n7 = 60\n[mts]\nmode=off\n", "conf.d/10.conf")
    assert load(mtsctl, host).status == 0
    assert mtsctl.calls == ["user_weight 7 60", call(MODE, mode=0)]


def test_a_section_of_weights_is_removed(mtsctl, host):
    host.conf("[rule a]\ncgroup=a\n")
    shown = load(mtsctl, host, weights="0:200 9:9")
    assert (shown.status, shown.err) == (0, "")
    assert shown.out.endswith("; the settings hold now\n")
    assert mtsctl.calls == ["user_weight 0 100", "user_weight 9 100"]
    shown = load(mtsctl, host)
    assert (shown.status, shown.out) == (0, "1 file: 0 settings, 1 rule; nothing to set\n")


def test_more_weights_than_there_is_room_for(mtsctl, host):
    lines = [f"{user} = 99" for user in range(256)]
    host.conf("\n".join(["[weights]", *lines, "300 = 100"]))
    assert check(mtsctl, host).status == 0
    file = host.conf("\n".join(["[weights]", *lines, "256 = 7"]))
    shown = check(mtsctl, host)
    assert shown.status == 2
    assert f"{file}:258: 256=7: 256 users have a weight other than 100 already" in shown.err


@pytest.mark.parametrize("fail", ["user_weight=12+2", "config_set=12"])
def test_weights_are_taken_back_after_an_error(mtsctl, host, fail):
    host.conf("[weights]\n1 = 300\n2 = 50\n[mts]\nmode=off\n")
    shown = load(mtsctl, host, weights="1:200 9:9", fail=fail)
    assert (shown.status, shown.out) == (1, "")
    assert "Cannot allocate memory" in shown.err
    done = ["user_weight 9 100", "user_weight 1 300"]
    if fail == "config_set=12":
        back = ["user_weight 2 100", "user_weight 1 200", "user_weight 9 9"]
        assert mtsctl.calls == [*done, "user_weight 2 50", *back]
    else:
        assert mtsctl.calls == done


def test_weights_with_an_old_module(mtsctl, host):
    host.conf("[weights]\n1 = 300\n[mts]\nmode=off\n")
    shown = load(mtsctl, host, abi=3)
    assert shown.status == 1
    assert "older than mtsctl" in shown.err
    assert mtsctl.calls == []
    host.conf("[mts]\nmode=off\n")
    assert load(mtsctl, host, abi=3).status == 0


def test_the_last_file_wins(mtsctl, host):
    host.conf("[mts]\nmode=off\nslice=1s\nbin=64M\n")
    host.conf("[mts]\nslice=3s\n", "conf.d/20-b.conf")
    host.conf("[mts]\nslice=2s\nmode=always\n", "conf.d/10-a.conf")
    host.conf("[mts]\nslice=9s\n", "conf.d/30-c.txt")
    host.conf("[mts]\nslice=9s\n", "conf.d/.40-d.conf")
    assert load(mtsctl, host).status == 0
    assert mtsctl.calls == [call(MODE | SLICE | BIN, mode=2, slice=3 * SECOND, bin=64 << 20)]


def test_one_file_in_place_of_all(mtsctl, host):
    host.conf("[mts]\nmode=wrong\n")
    file = host.conf("[mts]\nstep=auto\n", "other")
    assert load(mtsctl, host, str(file)).status == 0
    assert mtsctl.calls == [call(STEP, step=0)]


def test_nothing_to_set(mtsctl, host):
    host.conf("[rule a]\ncgroup=a\n")
    shown = load(mtsctl, host, scenario="absent")
    assert (shown.status, shown.out) == (0, "1 file: 0 settings, 1 rule; nothing to set\n")


def test_a_link_to_a_file_is_read(mtsctl, host):
    target = host.conf("[mts]\nmode=off\n", "target")
    (host.etc / "mts.conf").symlink_to(target)
    assert load(mtsctl, host).status == 0
    assert mtsctl.calls == [call(MODE, mode=0)]


# ---- all or nothing ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        "[mts]\nbin=0\n",
        "[weights]\nroot=0\n",
        "[rule a]\ncgroup=..\n",
        "[rules]\nexclusions=maybe\n",
        "mode=off\n",
        "x",
    ],
)
def test_one_error_and_nothing_is_loaded(mtsctl, host, wrong):
    host.conf("[mts]\nmode=off\n")
    host.conf(wrong, "conf.d/10.conf")
    shown = load(mtsctl, host)
    assert shown.status == 2
    assert f"mtsctl: {host.etc}/conf.d/10.conf:" in shown.err
    assert "config load: nothing has changed" in shown.err
    assert mtsctl.calls == []


@pytest.mark.parametrize(
    ("errno", "status", "message"),
    [
        (34, 2, "config load: a value is out of range"),
        (22, 2, "older than"),
        (1, 4, "not permitted: run as root"),
        (12, 1, "config load: Cannot allocate memory"),
    ],
)
def test_the_module_refuses(mtsctl, host, errno, status, message):
    host.conf("[mts]\nmode=off\n")
    shown = load(mtsctl, host, fail=f"config_set={errno}")
    assert (shown.status, shown.out) == (status, "")
    assert message in shown.err


@pytest.mark.parametrize(("scenario", "status"), [("absent", 3), ("forbidden", 4)])
def test_load_without_the_module(mtsctl, host, scenario, status):
    host.conf("[mts]\nmode=off\n")
    assert load(mtsctl, host, scenario=scenario).status == status
    assert check(mtsctl, host, scenario=scenario).status == 0


def test_min_slice_against_slice(mtsctl, host):
    """As `set`: against the slice of the files, or else of the module, which has 2s."""
    file = host.conf("[mts]\n\nmin_slice=3s\n")
    assert check(mtsctl, host).status == 0
    shown = load(mtsctl, host)
    assert shown.status == 2
    assert f"{file}:3: min_slice=3s would be longer than slice, 2s: set both" in shown.err
    host.conf("[mts]\nslice=1s\n", "conf.d/1.conf")
    for run in (check, load):
        shown = run(mtsctl, host)
        assert shown.status == 2
        assert f"{file}:3: min_slice=3s would be longer than slice, 1s" in shown.err
    assert mtsctl.calls == []
    host.conf("[mts]\nslice=4s\n", "conf.d/1.conf")
    assert load(mtsctl, host).status == 0
    assert mtsctl.calls == [call(SLICE | MIN_SLICE, slice=4 * SECOND, min=3 * SECOND)]


# ---- what is wrong, where, and what to do --------------------------------------------------


MISTAKES = [
    ("[mts]\nslise=5s\n", 2, "unknown key 'slise': is it slice? Keys of [mts] are mode, policy"),
    ("[mts]\nmax-pause=5s\n", 2, "unknown key 'max-pause': is it max_pause?"),
    ("[mts]\ncolour=5s\n", 2, "unknown key 'colour': keys of [mts] are mode, policy, share"),
    ("[mts]\nMODE=off\n", 2, "unknown key 'MODE'"),
    ("[mts]\nmode=on\n", 2, "mode=on: not one of off, auto, always or shadow"),
    ("[mts]\nmode=\n", 2, "mode=: not one of"),
    ("[mts]\nslice=5\n", 2, "slice=5: the unit is missing"),
    ("[mts]\nslice=9ms\n", 2, "slice=9ms: not between 10ms and 60s"),
    ("[mts]\nmax_pause=25h\n", 2, "not between 1s and 24h"),
    ("[mts]\nbin=101%\n", 2, "more than 100%"),
    ("[mts]\nstep=1.2M\n", 2, "not in whole MiB"),
    ("[mts]\noverhead=0.05%\n", 2, "finer than steps of 0.1%"),
    ("[mts]\nmode=off\nslice=1s\nmode=off\n", 4, "mode is given twice in this file, first in"),
    ("[mts]\nmode=off\n[mts]\nmode=off\n", 4, "mode is given twice"),
    ("mode=off\n", 1, "mode= is in no section: write [mts] or [rule NAME] above it"),
    ("[mts]\nmode\n", 2, "not KEY=VALUE, [SECTION] or a comment (#)"),
    ("[mts]\nmode=off\n// x\n", 3, "not KEY=VALUE"),
    ("[mts]\nmode=off\nx", 3, "not KEY=VALUE"),
    ("[mts\n", 1, "the ']' of the section is missing"),
    ("[mts] mode=off\nslice=1s\n", 1, "'mode=off' behind the section: write it in a line of its"),
    ("[rule a]]\nuser=0\n", 1, "']' behind the section"),
    ("[mts]\n[rule a]\nuser=0\n", 1, "the section is empty: write KEY=VALUE below it"),
    ("[mts]\nmode=off\n[rule a]\n# user=0", 3, "the section is empty"),
    ("[mtss]\nmode=off\n", 1, "unknown section [mtss]: is it [mts]?"),
    ("[rule]\nuser=0\n", 1, "the rule has no name: write [rule NAME]"),
    ("[users]\njob=1\n", 2, "unknown key 'job': keys of [users] are group, jobs, pins, queue"),
    ("[users]\nqueue=4097\n", 2, "queue=4097: "),
    ("[users]\njobs=4097\n", 2, "jobs=4097: "),
    ("[users]\njobs=-1\n", 2, "jobs=-1: negative values make no sense here"),
    ("[users]\npins=some\n", 2, "pins=some: not a number"),
    ("[users]\nmax_pause=10\n", 2, "max_pause=10: "),
    ("[users]\nmax_pause=999ms\n", 2, "max_pause=999ms: not within 1s to 24h"),
    ("[users]\ngroup=\n", 2, "group=: a name is missing"),
    ("[users]\njobs=1\npins=1\njobs=2\n", 4, "jobs is given twice in this file, first in line 2"),
    ("[user]\njobs=1\n", 1, "unknown section [user]: is it [users]?"),
    ("[weight]\nroot=1\n", 1, "unknown section [weight]: is it [weights]?"),
    ("[weights]\n\nno-such=1\n", 3, "no-such: this host has no user 'no-such': write its name"),
    ("[weights]\n4294967295=1\n", 2, "this host has no user '4294967295'"),
    ("[weights]\nroot=0\n", 2, "root=0: "),
    ("[weights]\nroot=10001\n", 2, "a whole number from 1 to 10000"),
    ("[weights]\nroot=\n", 2, "a whole number from 1 to 10000"),
    ("[weights]\nroot=1\n7=1\n0=1\n", 4, "0 is given twice in this file, first in line 2"),
    ("[MTSCTL]\nmode=off\n", 1, "unknown section [MTSCTL]: there are [mts], [rules], [hooks]"),
    ("[]\nmode=off\n", 1, "unknown section []"),
    ("[mts]\nmode=off\n auto\n", 3, "begins with a blank: a value does not go on"),
    ("[mts]\n mode=off\n", 2, "begins with a blank"),
    ("[mts]\n# " + "x" * 300 + "\n", 2, "longer than"),
    ("[rule " + "x" * 45 + "]\nuser=0\n", 1, "the section's name is longer than 49 bytes"),
    ("[rule a b]\nuser=0\n", 1, "the name of rule 'a b': a name is made of letters"),
    ("[rule .a]\nuser=0\n", 1, "cannot start with a dot"),
    ("[rule 12]\nuser=0\n", 1, "the name of rule '12'"),
    ("[rule a]\nuser=0\n\n[rule a]\nuser=0\n", 4, "there is a rule a in "),
    ("[rules]\nexclude=off\n", 2, "the only key of [rules] is exclusions"),
    ("[rules]\nexclusions=no\n", 2, "exclusions=no: not one of on or off"),
    ("[rules]\nexclusions=on\nexclusions=on\n", 3, "exclusions is given twice"),
    ("[rule a]\ncgrop=x\n", 2, "unknown key 'cgrop': is it cgroup? Keys of a rule are"),
    ("[rule a]\nheight=3\n", 2, "unknown key 'height': is it weight? Keys of a rule are"),
    ("[rule a]\ncgroup=a\nuser=0\ncgroup=b\n", 4, "cgroup is given twice in this rule, first"),
    ("[rule a]\nuser=\n", 2, "user=: a value is missing"),
    ("[rule a]\ncgroup=/\n", 2, "cgroup=/: the root cgroup holds the whole host"),
    ("[rule a]\ncgroup=a/../b\n", 2, "no cgroup has such a path"),
    ("[rule a]\ncgroup=a//b\n", 2, "no cgroup has such a path"),
    ("[rule a]\ncgroup=./b\n", 2, "no cgroup has such a path"),
    ("[rule a]\ncgroup=" + "a " * 33 + "\n", 2, "cgroup= has more than 32 words"),
    ("[rule a]\nunit=a/b\n", 2, "the name of a unit has no slash: cgroup= takes a path"),
    ("[rule a]\ncommand=/bin/a\n", 2, "write the name of the program without its directory"),
    ("[rule a]\nuser=no-such-user\n", 2, "this host has no user 'no-such-user'"),
    ("[rule a]\nuser=-1\n", 2, "this host has no user '-1'"),
    ("[rule a]\ngroup=0 no-such\n", 2, "this host has no group 'no-such'"),
    ("[rule a]\nuser=0\neach=some\n", 3, "each=some: not one of self, child or leaf"),
    ("[rule a]\nuser=0\neach=leaf\n", 1, "each=leaf takes what is below a cgroup"),
    ("[rule a]\nuser=0\neach-process=self\n", 3, "each-process=self: not one of leaf or child"),
    ("[rule a]\nuser=0\npin=1\n", 3, "pin=1: not one of yes or no"),
    ("[rule a]\nuser=0\nmax-pause=auto\n", 3, "max-pause=auto: not a number"),
    ("[rule a]\nuser=0\nmax-pause=2\n", 3, "the unit is missing"),
    ("[rule a]\nuser=0\nnever=always\n", 3, "never=always: not one of yes or no"),
    ("[rule a]\nuser=0\nnever=yes\npin=yes\n", 1, "never=yes makes no job: leave out the other"),
    ("\n[rule a]\npin=yes\n", 2, "rule a has no condition: write one of cgroup, unit, container"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "message"), MISTAKES)
def test_mistake(mtsctl, host, text, line, message):
    file = host.conf(text)
    shown = check(mtsctl, host)
    assert (shown.status, shown.out) == (2, "")
    first = shown.err.splitlines()[0]
    assert first.startswith(f"mtsctl: {file}:{line}: ")
    assert message in first
    assert len(shown.err.splitlines()) == 1


def test_all_mistakes_are_named(mtsctl, host):
    host.conf("[mts]\nmode=on\nslice=5\n[rule a]\npin=si\n")
    host.conf("[mts]\nbin=0\n", "conf.d/1.conf")
    lines = check(mtsctl, host).err.splitlines()
    assert [line.split(": ")[1].rpartition("/")[2] for line in lines] == [
        "mts.conf:2", "mts.conf:3", "mts.conf:5", "1.conf:2",
    ]  # fmt: skip


# ---- hostile input ----------------------------------------------------------------------------


def test_too_many_mistakes(mtsctl, host):
    host.conf("x\n" * 1000)
    lines = check(mtsctl, host).err.splitlines()
    assert len(lines) == 21
    assert "too many errors: the rest of the file is not read" in lines[-1]


@pytest.mark.parametrize("text", ["#" * 99 + "\n", "x"])
def test_large_file(mtsctl, host, text):
    file = host.conf(text * (10_000_000 // len(text)))
    shown = check(mtsctl, host)
    assert shown.status == 2
    assert shown.err == f"mtsctl: {file}: the file is larger than 1024 KiB\n"


def test_a_megabyte_in_one_line(mtsctl, host):
    file = host.conf("[mts]\nbin=" + "9" * 1_000_000 + "\nmode=off\n")
    shown = check(mtsctl, host)
    assert (shown.status, shown.err.count("\n")) == (2, 1)
    assert f"{file}:2: longer than" in shown.err


def test_nul_bytes(mtsctl, host):
    file = host.conf("[mts]\nmode=off\0\nslice=1s\n")
    shown = check(mtsctl, host)
    assert shown.status == 2
    assert shown.err == f"mtsctl: {file}:2: a NUL byte: this is not a text file\n"


def test_random_bytes(mtsctl, host):
    file = host.conf("")
    file.write_bytes(bytes((i * 7919 + i // 251) % 256 for i in range(20_000)))
    shown = check(mtsctl, host)
    assert shown.status == 2
    assert all(" " <= c <= "~" for c in shown.err.replace("\n", ""))


def test_control_characters_are_not_printed(mtsctl, host):
    host.conf("[mts]\n\x1b[2Jx=1\n")
    shown = check(mtsctl, host)
    assert "unknown key '?[2Jx'" in shown.err
    assert "\x1b" not in shown.err


def test_links_in_a_loop(mtsctl, host):
    host.conf("[mts]\nmode=off\n")
    (host.etc / "conf.d").mkdir(0o755)
    (host.etc / "conf.d/a.conf").symlink_to("b.conf")
    (host.etc / "conf.d/b.conf").symlink_to("a.conf")
    shown = load(mtsctl, host)
    assert (shown.status, mtsctl.calls) == (1, [])
    assert "conf.d/a.conf: Too many levels of symbolic links" in shown.err


@pytest.mark.parametrize("name", ["mts.conf", "conf.d/a.conf"])
def test_a_link_that_leads_nowhere(mtsctl, host, name):
    file = host.conf("", name)
    file.unlink()
    file.symlink_to("nowhere")
    shown = load(mtsctl, host)
    assert shown.status == 1
    assert f"{file}: No such file or directory" in shown.err


def test_a_folder_that_is_a_link_to_itself(mtsctl, host):
    host.conf("[mts]\nmode=off\n")
    (host.etc / "conf.d").symlink_to("conf.d")
    assert load(mtsctl, host).status == 1
    assert mtsctl.calls == []


def test_not_a_file(mtsctl, host):
    host.conf("").unlink()
    (host.etc / "mts.conf").mkdir()
    shown = check(mtsctl, host)
    assert (shown.status, "not a regular file" in shown.err) == (2, True)
    (host.etc / "mts.conf").rmdir()
    os.mkfifo(host.etc / "mts.conf")
    shown = check(mtsctl, host)
    assert (shown.status, "not a regular file" in shown.err) == (2, True)


def test_no_such_file(mtsctl, host):
    shown = check(mtsctl, host, str(host.etc / "none"))
    assert shown.status == 1
    assert "none: No such file or directory" in shown.err


@pytest.mark.parametrize("mode", [0o664, 0o646, 0o666])
def test_others_can_write_the_file(mtsctl, host, mode):
    host.conf("[mts]\nmode=off\n").chmod(mode)
    shown = load(mtsctl, host)
    assert (shown.status, mtsctl.calls) == (2, [])
    assert (
        f"users other than its owner can write the file (mode 0{mode:o}): chmod go-w" in shown.err
    )


@pytest.mark.parametrize("folder", [".", "conf.d"])
def test_others_can_write_the_folder(mtsctl, host, folder):
    host.conf("[mts]\nmode=off\n", "conf.d/a.conf")
    (host.etc / folder).chmod(0o775)
    shown = load(mtsctl, host)
    assert (shown.status, mtsctl.calls) == (2, [])
    assert "users other than its owner can write the directory (mode 0775)" in shown.err


@ROOT
@pytest.mark.parametrize("name", ["mts.conf", "conf.d/a.conf", "conf.d", "."])
def test_not_roots(mtsctl, host, name):
    host.conf("[mts]\nmode=off\n")
    host.conf("[mts]\nslice=1s\n", "conf.d/a.conf")
    os.chown(host.etc / name, 65534, 0)
    shown = load(mtsctl, host)
    assert (shown.status, mtsctl.calls) == (2, [])
    assert "belongs to user 65534: it must be root's" in shown.err


@pytest.mark.parametrize("args", [[], ["show"], ["check", "a", "b"], ["load", "--force"]])
def test_bad_usage(mtsctl, host, args):
    shown = mtsctl("config", *args, **host.fake)
    assert (shown.status, shown.out) == (2, "")
    assert "Try 'mtsctl config --help'" in shown.err


# ---- set --save --------------------------------------------------------------------------------


def save(mtsctl, host, *args, **fake):
    return mtsctl("set", "--save", *args, **host.fake, **fake)


def saved(host):
    return (host.etc / "conf.d/50-saved.conf").read_text()


def test_save(mtsctl, host):
    shown = save(mtsctl, host, "slice=3s", "bin=40%")
    assert (shown.status, shown.out, shown.err) == (0, "", "")
    assert saved(host) == "# Settings of 'mtsctl set --save'.\n[mts]\nslice=3s\nbin=40%\n"
    assert (host.etc / "conf.d/50-saved.conf").stat().st_mode & 0o777 == 0o644
    assert os.listdir(host.etc / "conf.d") == ["50-saved.conf"]
    assert load(mtsctl, host).status == 0
    assert mtsctl.calls == [call(SLICE | BIN, slice=3 * SECOND, bin=400 << 20)] * 2


def test_save_keeps_the_others(mtsctl, host):
    before = "# mine\n[mts]\n# why\nslice = 1s\nmode = off\n\n[rule a]\ncgroup=a\nmax-pause=2s"
    host.conf(before, "conf.d/50-saved.conf")
    assert save(mtsctl, host, "mode=always", "max_pause=5s").status == 0
    assert saved(host) == (
        "# mine\n[mts]\nmax_pause=5s\n# why\nslice = 1s\nmode=always\n\n"
        "[rule a]\ncgroup=a\nmax-pause=2s\n"
    )
    assert save(mtsctl, host, "max_pause=auto").status == 0
    assert load(mtsctl, host).status == 0
    assert mtsctl.calls[-1] == call(SLICE | MODE | MAX_PAUSE, slice=SECOND, mode=2, pause=0)


def test_save_into_a_file_without_the_section(mtsctl, host):
    host.conf("[rule a]\ncgroup=a\n", "conf.d/50-saved.conf")
    assert save(mtsctl, host, "mode=off").status == 0
    assert saved(host) == "[rule a]\ncgroup=a\n[mts]\nmode=off\n"
    assert check(mtsctl, host).out == "1 file: 1 setting, 1 rule; no error\n"


@pytest.mark.parametrize(
    ("args", "fake", "status"),
    [
        (["mode=x"], {}, 2),
        (["mode=off"], {"fail": "config_set=34"}, 2),
        (["mode=off"], {"fail": "config_set=1"}, 4),
        (["mode=off"], {"scenario": "absent"}, 3),
        (["min_slice=3s"], {}, 2),
    ],
)
def test_nothing_is_saved_that_does_not_hold(mtsctl, host, args, fake, status):
    host.conf("[mts]\nslice = 1s\n", "conf.d/50-saved.conf")
    assert save(mtsctl, host, *args, **fake).status == status
    assert saved(host) == "[mts]\nslice = 1s\n"
    assert os.listdir(host.etc / "conf.d") == ["50-saved.conf"]


@pytest.mark.parametrize("text", ["[mts]\nslise=1s\n", "x\n", "[rule a]\n"])
def test_nothing_is_set_that_cannot_be_saved(mtsctl, host, text):
    file = host.conf(text, "conf.d/50-saved.conf")
    shown = save(mtsctl, host, "mode=off")
    assert (shown.status, mtsctl.calls) == (2, [])
    assert f"{file}:" in shown.err
    assert "set --save: nothing has changed: mend that file first" in shown.err
    assert file.read_text() == text


def test_save_where_others_can_write(mtsctl, host):
    host.conf("", "conf.d/50-saved.conf").chmod(0o666)
    assert save(mtsctl, host, "mode=off").status == 2
    (host.etc / "conf.d").chmod(0o777)
    assert save(mtsctl, host, "mode=off").status == 2
    assert mtsctl.calls == []


def test_save_says_what_a_later_file_changes(mtsctl, host):
    later = host.conf("# x\n[mts]\nslice=9s\n", "conf.d/90-site.conf")
    host.conf("[mts]\nmode=auto\n")
    shown = save(mtsctl, host, "slice=3s", "mode=off")
    assert shown.status == 0
    assert shown.err == (
        f"mtsctl: set --save: {later}:3 sets slice, too, and is read later: that value counts at "
        "the next boot\n"
    )


def test_save_beside_a_file_with_errors(mtsctl, host):
    host.conf("[mts]\nmode=on\n")
    shown = save(mtsctl, host, "slice=3s")
    assert shown.status == 0
    assert "mts.conf:2: mode=on" in shown.err
    assert "saved, but the configuration has errors" in shown.err
    assert "slice=3s" in saved(host)


def test_save_twice_at_once(mtsctl, host):
    """The later one wrote the file without the line of the earlier one."""
    words = ["mode=off", "pack=rw", "evict=full", "slice=3s", "bin=64M", "queue=auto", "step=2M"]
    for _ in range(4):
        shutil.rmtree(host.etc, ignore_errors=True)
        env = mtsctl.environment(**host.fake)
        begun = [subprocess.Popen([mtsctl.program, "set", "--save", w], env=env) for w in words]
        assert [one.wait(timeout=60) for one in begun] == [0] * len(words)
        assert sorted(saved(host).splitlines()[2:]) == sorted(words)
        assert os.listdir(host.etc / "conf.d") == ["50-saved.conf"]


def test_save_below_a_directory_that_others_can_write(mtsctl, host):
    """They could make conf.d a link to any directory of root's."""
    host.conf("[mts]\nslice=1s\n", "conf.d/50-saved.conf")
    host.etc.chmod(0o777)
    shown = save(mtsctl, host, "mode=off")
    assert (shown.status, mtsctl.calls, saved(host)) == (2, [], "[mts]\nslice=1s\n")
    assert f"{host.etc}: users other than its owner can write the directory" in shown.err


def test_save_after_a_save_that_was_killed(mtsctl, host):
    host.conf("[mts]\nslice=1s\n", "conf.d/50-saved.conf")
    (host.etc / "conf.d/.50-saved.conf.new").write_text("half")
    assert save(mtsctl, host, "mode=off").status == 0
    assert saved(host) == "[mts]\nmode=off\nslice=1s\n"
    assert os.listdir(host.etc / "conf.d") == ["50-saved.conf"]


@ROOT
def test_save_to_a_full_disk(mtsctl, host):
    """Of a file that is larger than the buffer, too."""
    before = "[mts]\nslice=1s\n" + "# a line that stays\n" * 3000
    host.etc.mkdir()
    how = ["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", host.etc]
    if subprocess.run(how, capture_output=True).returncode:
        pytest.skip("may not mount")
    try:
        file = host.conf(before, "conf.d/50-saved.conf")
        shown = save(mtsctl, host, "mode=off")
        assert (shown.status, mtsctl.calls) == (1, [])
        assert "No space left on device" in shown.err
        assert file.read_text() == before
        assert os.listdir(host.etc / "conf.d") == ["50-saved.conf"]
        subprocess.run(["mount", "-o", "remount,ro", host.etc], check=True)
        shown = save(mtsctl, host, "mode=off")
        assert (shown.status, mtsctl.calls) == (1, [])
        assert "Read-only file system" in shown.err
        assert file.read_text() == before
    finally:
        subprocess.run(["umount", host.etc], check=True)
