# SPDX-License-Identifier: GPL-2.0
"""mtsctl rules: which cgroups become jobs, and why."""

import os
import re
import subprocess

import pytest

EACH, PIN, LEAF = 2, 4, 16
FIRST = 4_190_000
USER = "user.slice/user-1000.slice"
APPS = f"{USER}/user@1000.service/app.slice"


@pytest.fixture
def tree(host):
    """Adds cgroups, each with one process; returns the function."""
    # Not those of mtsctl and of what starts it, which are never jobs.
    pids = iter(range(FIRST, FIRST + 4000))

    def add(path, **process):
        host.cgroup(path)
        pid = next(pids)
        host.process(pid, "/" + path, **process)
        return pid

    host.cgroup("")
    return add


@pytest.fixture
def rules(mtsctl, host):
    def run(verb, *args, **fake):
        return mtsctl("rules", verb, *args, **host.fake, **fake)

    return run


def added(shown, host):
    """Paths of the cgroups that are added, in their order."""
    prefix = f"{host.cgroups}/"
    paths = re.findall(r"^(?:would add.* )?(/\S+) (?:is job \d+|by rule \S+)$", shown.out, re.M)
    return [path.removeprefix(prefix) for path in paths]


# ---- conditions ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("cgroup=a/one", ["a/one"]),
        ("cgroup=/a/one/", ["a/one"]),
        ("cgroup={cgroups}/a/one", ["a/one"]),
        ("cgroup=a/*", ["a/one", "a/two"]),
        ("cgroup=*/one", ["a/one", "b.slice/one"]),
        ("cgroup=**/one", ["a/one", "b.slice/c/d/one", "b.slice/one"]),
        ("cgroup=b.slice/**/one", ["b.slice/c/d/one", "b.slice/one"]),
        ("cgroup=a/one b.slice/c", ["a/one", "b.slice/c"]),
        ("cgroup=a", ["a"]),
        ("cgroup=**", ["a", "b.slice", "s.slice"]),
        ("cgroup=no/**", []),
        ("unit=x.service", ["s.slice/x.service"]),
        ("unit=*.service", ["s.slice/x.service", "s.slice/y@1.service"]),
        ("unit=y@?.service", ["s.slice/y@1.service"]),
        ("unit=b.slice", ["b.slice"]),
        ("unit=none.service", []),
        ("user=1002", ["b.slice/one"]),
        ("user=1002 1003", ["b.slice/one", "s.slice/x.service"]),
        ("user=daemon", ["s.slice/y@1.service"]),
        ("group=1003", ["s.slice/x.service"]),
        ("group=4711", ["a/two"]),
        ("group=daemon", ["s.slice/y@1.service"]),
        ("command=compiler", ["a/one"]),
        ("command=comp*", ["a/one"]),
        ("command=none", []),
        ("cgroup=**\nuser=1002", ["b.slice"]),
        ("cgroup=**\nuser=1002\ncommand=compiler", []),
        ("cgroup=a/**\nuser=1002", []),
    ],
)  # fmt: skip
def test_condition(rules, tree, host, condition, expected):
    tree("a/one", comm="compiler")
    # A user may be in thousands.
    tree("a/two", groups=(24, *range(70000, 73000), 4711))
    tree("b.slice/one", uid=1002)
    tree("b.slice/c/d/one")
    tree("s.slice/x.service", uid=1003)
    tree("s.slice/y@1.service", uid=1)
    host.cgroup("empty/one")
    host.conf(f"[rule r]\n{condition.format(cgroups=host.cgroups)}\n")
    shown = rules("apply")
    assert (shown.status, shown.err) == (0, "")
    assert added(shown, host) == expected
    dry = rules("apply", "--dry-run")
    assert added(dry, host) == expected


def peak(words, environment=None):
    """What it says, and the most memory that it and what starts it have had, KiB."""
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as process:
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return said, usage.ru_maxrss


def test_groups_take_no_memory(built, mtsctl, host):
    """Fault: all groups of all processes were kept. Here 500 processes are in 65536 each."""
    host.cgroup("a")
    host.cgroup("")
    host.process(FIRST, "/a", groups=range(100000, 100000 + 65536))
    pids = range(FIRST, FIRST + 500)
    for pid in pids[1:]:
        (host.proc / str(pid)).symlink_to(host.proc / str(FIRST))
    (host.cgroups / "a/cgroup.procs").write_text("".join(f"{pid}\n" for pid in pids))
    program = built.parent / "mtsctl-plain/mtsctl-fake"
    for condition, found in (("cgroup=a", 1), ("group=165535", 1), ("group=4711", 0)):
        host.conf(f"[rule r]\n{condition}\n")
        words = [program, "rules", "apply", "--dry-run"]
        said, most = peak(words, mtsctl.environment(**host.fake))
        assert said.count("would add") == found
        assert most < peak(["true"])[1] + (20 << 10)


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("user@1000.service", [f"{USER}/user@1000.service"]),
        ("x.scope", [f"{APPS}/x.scope"]),
        ("inside", []),
        ("cgroup.service", ["s.slice/_cgroup.service"]),
        (r"app-a\x2db.scope", [rf"{APPS}/app-a\x2db.scope"]),
        (r"app-*\x2d*.scope", [rf"{APPS}/app-a\x2db.scope"]),
    ],
)
def test_units_of_users_and_what_is_inside(rules, tree, host, unit, expected):
    tree(f"{APPS}/x.scope/inside")
    tree("s.slice/_cgroup.service")
    tree(rf"{APPS}/app-a\x2db.scope")
    host.conf(f"[rule r]\nunit={unit}\n")
    assert added(rules("apply"), host) == expected


def test_a_long_command_is_that_of_the_program(rules, tree, host):
    """The kernel cuts its name after 15 bytes."""
    pid = tree("a", comm="a-very-long-nam")
    (host.proc / f"{pid}/exe").symlink_to("/opt/a-very-long-name")
    host.conf("[rule r]\ncommand=a-very-long-name\n")
    assert added(rules("apply"), host) == ["a"]


# ---- what is a job ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cgroup=m", ["m"]),
        ("cgroup=m\neach=self", ["m"]),
        ("cgroup=m\neach=child", ["m/a", "m/b"]),
        ("cgroup=m\neach=leaf", ["m/a", "m/b/c", "m/b/d"]),
        ("cgroup=m/**\neach=leaf", ["m/a", "m/b/c", "m/b/d"]),
        ("cgroup=m/b\neach=leaf\nuser=7", ["m/b/d"]),
        ("cgroup=m\neach=child\nuser=7", ["m/b"]),
        ("unit=m\neach=leaf", []),
        ("cgroup=m/a\neach=child", []),
        ("cgroup=m/a\neach=leaf", ["m/a"]),
    ],
)
def test_each(rules, tree, host, text, expected):
    tree("m/a")
    tree("m/b/c")
    tree("m/b/d", uid=7)
    tree("n")
    host.conf(f"[rule r]\n{text}\n")
    assert added(rules("apply"), host) == expected


@pytest.mark.parametrize(
    ("options", "call"),
    [
        ("", "add flags=0 fd=open"),
        ("pin=yes", f"add flags={PIN} fd=open"),
        ("pin=no", "add flags=0 fd=open"),
        ("max-pause=5s", "add flags=0 fd=open pause=5000000000"),
        ("max-pause=off", "add flags=0 fd=open"),
        ("weight=250", "add flags=0 fd=open weight=250"),
        ("each-process=leaf", f"add flags={LEAF} fd=open"),
        ("each-process=child\npin=yes", f"add flags={EACH | PIN} fd=open"),
    ],
)
def test_options_are_those_of_add(rules, mtsctl, tree, *, host, options, call):
    tree("a")
    host.conf(f"[rule r]\ncgroup=a\n{options}\n")
    assert rules("apply").status == 0
    assert mtsctl.calls == [call]


def test_dry_run_says_the_options(rules, mtsctl, tree, host):
    tree("a")
    host.conf("[rule r]\ncgroup=a\npin=yes\nmax-pause=5s\neach-process=child\nweight=30\n")
    shown = rules("apply", "--dry-run")
    assert (
        f"would add --pin --each=child --max-pause 5s --weight 30 {host.cgroups}/a by rule r\n"
        in shown.out
    )
    assert "1 would be added, 0 are jobs already\n" in shown.out
    assert mtsctl.calls == []


# ---- precedence ------------------------------------------------------------------------------


def test_the_first_match_wins(rules, mtsctl, tree, host):
    tree("a/one")
    tree("a/two")
    host.conf("[rule first]\ncgroup=a/one\npin=yes\n[rule second]\ncgroup=a/*\n")
    assert "by rule first" in rules("apply", "--dry-run").out.splitlines()[0]
    assert rules("apply").status == 0
    assert mtsctl.calls == [f"add flags={PIN} fd=open", "add flags=0 fd=open"]


def test_mts_conf_comes_before_the_folder(rules, tree, host):
    tree("a")
    host.conf("[rule z]\ncgroup=a\n", "conf.d/20.conf")
    host.conf("[rule y]\ncgroup=a\n", "conf.d/10.conf")
    assert "by rule y" in rules("apply", "--dry-run").out
    host.conf("[rule x]\ncgroup=a\n")
    assert "by rule x" in rules("apply", "--dry-run").out


def test_never(rules, tree, host):
    tree("s/db/inside")
    tree("s/web")
    host.conf("[rule no]\ncgroup=s/db\nnever=yes\n[rule all]\ncgroup=s/* s/db/*\n")
    assert added(rules("apply"), host) == ["s/web"]


@pytest.mark.parametrize("never", [True, False])
def test_an_earlier_rule_below_keeps_a_cgroup_from_being_taken_whole(rules, tree, host, never):
    tree("s/db")
    tree("s/web")
    tree("s/t/mail")
    host.conf(
        f"[rule db]\ncgroup=s/db\n{'never=yes' if never else 'pin=yes'}\n[rule all]\ncgroup=s s/*\n"
    )
    expected = ["s/t", "s/web"] if never else ["s/db", "s/t", "s/web"]
    assert added(rules("apply"), host) == expected
    shown = rules("explain", "s")
    assert "result             no job: rule all takes it, but an earlier rule, db, has /s/db" in (
        shown.out
    )


def test_a_later_rule_below_does_not(rules, tree, host):
    tree("s/db")
    tree("s/web")
    host.conf("[rule all]\ncgroup=s\n[rule db]\ncgroup=s/db\npin=yes\n")
    assert added(rules("apply"), host) == ["s"]
    shown = rules("explain", "s/db")
    assert f"a part of the job /s by rule all ({host.etc}/mts.conf:1)" in shown.out


# ---- exclusions ------------------------------------------------------------------------------


EXCLUDED = [
    ("init.scope", {}, "PID 1 is in it"),
    (f"{USER}/user@1000.service/init.scope", {}, "the session manager of a user"),
    ("system.slice/systemd-journald.service", {}, "a part of systemd"),
    ("system.slice/dbus.service", {}, "the system bus"),
    (f"{APPS}/dbus.service", {}, "the bus of a user's session"),
    ("system.slice/ssh.service", {}, "so they would wait"),
    ("system.slice/docker.service/inside", {}, "a container engine"),
    ("system.slice/gdm3.service", {}, "a display manager"),
    ("system.slice/mtsd.service", {}, "a part of mts"),
    (
        f"{USER}/session-3.scope",
        {"comm": "sshd", "uid": 0},
        f"it holds sshd ({FIRST}): mts does not",
    ),
    (f"{APPS}/shell", {"comm": "gnome-shell"}, "a display server"),
    (f"{APPS}/x", {"comm": "Xorg", "uid": 0}, "a display server"),
    (f"{APPS}/x", {"comm": "kwin_wayland"}, "all its windows would stand still"),
    (f"{APPS}/x", {"comm": "systemd"}, "a session manager"),
    ("machine.slice/x.scope", {"comm": "conmon"}, "a container engine or its monitor"),
    ("x", {"comm": "containerd-shim", "uid": 0}, "a container engine"),
    ("x", {"comm": "dropbear", "uid": 0}, "so they would wait"),
    ("x", {"comm": "mtsd"}, "a part of mts"),
    ("x", {"comm": "k3s-server", "uid": 0}, "a container engine"),
    ("x", {"comm": "sssd_nss", "uid": 0}, "looked up"),
    ("x", {"comm": "nscd", "uid": 28}, "looked up"),
    ("x", {"comm": "rsyslogd", "uid": 104}, "what logs waits for it"),
    ("x", {"comm": "NetworkManager", "uid": 0}, "the network"),
    ("x", {"comm": "multipathd", "uid": 0}, "disks"),
    ("x", {"comm": "Runner.Worker"}, "a CI agent"),
    ("x", {"comm": "gitlab-runner", "uid": 0}, "a CI agent"),
]


@pytest.mark.parametrize(("path", "process", "why"), EXCLUDED)
def test_excluded(rules, mtsctl, tree, *, host, path, process, why):
    pid = tree(path, **process)
    tree("other/x")
    host.conf("[rule all]\ncgroup=**\neach=leaf\npin=yes\n")
    assert added(rules("apply"), host) == ["other/x"]
    for text in (path, str(pid)):
        shown = rules("explain", text)
        assert shown.status == 0
        assert re.search(r"^  excluded +yes: .*" + re.escape(why), shown.out, re.M)
        assert "no job: it is excluded before all rules" in shown.out
    dry = rules("apply", "--dry-run").out
    assert f"excluded /{path}: " in dry
    assert why in dry
    assert "excluded           1 cgroup that a rule would take" in rules("check").out
    host.conf("[rules]\nexclusions=off\n", "conf.d/off.conf")
    assert path in added(rules("apply"), host)
    assert "excluded           no (exclusions=off)" in rules("explain", path).out


@pytest.mark.parametrize(
    ("path", "process"),
    [
        ("a/init.scope", {}),
        ("system.slice/postgres.service", {}),
        ("x", {"comm": "sshd", "uid": 1000}),
        ("x", {"comm": "systemd-run", "uid": 1000}),
        ("x", {"comm": "swayer"}),
        ("x", {"comm": "dropbear", "uid": 1000}),
        ("x", {"comm": "sssd_nss", "uid": 1000}),
    ],
)
def test_not_excluded(rules, tree, host, path, process):
    tree(path, **process)
    host.conf("[rule all]\ncgroup=**\neach=leaf\n")
    assert added(rules("apply"), host) == [path]


def test_what_is_excluded_is_in_no_job_above_it(rules, tree, host):
    """Whatever rule takes the slice: its session manager is not frozen."""
    tree(f"{USER}/user@1000.service/init.scope", comm="systemd")
    tree(f"{APPS}/a.scope")
    tree("user.slice/user-1001.slice/session-1.scope")
    host.conf("[rule all]\ncgroup=user.slice/**\n")
    assert added(rules("apply"), host) == [APPS, "user.slice/user-1001.slice"]
    shown = rules("explain", USER)
    assert f"but /{USER}/user@1000.service/init.scope below it is excluded" in shown.out


def test_pid_1_and_what_started_mtsctl_whatever_is_set(mtsctl, rules, tree, host):
    """The module refuses them, too: a shell that runs mtsctl would freeze with it."""
    host.cgroup("a")
    host.process(1, "/a", comm="init")
    shell = tree("b", comm="bash")
    tree("c")
    host.conf("[rules]\nexclusions=off\n[rule all]\ncgroup=*\n")
    assert added(rules("apply"), host) == ["b", "c"]
    assert "it holds init (1): PID 1, mtsctl, and what started" in rules("explain", "1").out
    script = f'mkdir $0/$$; echo "PPid: {shell}" >$0/$$/status; exec "$@"'
    done = subprocess.run(
        ["sh", "-c", script, host.proc, mtsctl.program, "rules", "apply", "--dry-run"],
        env=mtsctl.environment(**host.fake), capture_output=True, text=True,
    )  # fmt: skip
    assert re.findall(r"would add .*/(\w) by", done.stdout) == ["c"]


@pytest.mark.parametrize(
    ("usec", "option", "expected"),
    [
        (10_000_000, "", []),
        (1_199_000_000, "", []),
        (1_200_000_000, "", ["u"]),
        (10_000_000, "max-pause=5s", ["u"]),
        (10_000_000, "max-pause=6s", []),
        (10_000_000, "max-pause=off", ["u"]),
        (10_000_000, "pin=yes", ["u"]),
    ],
)
def test_watchdogs_that_are_shorter_than_the_pauses(rules, tree, host, *, usec, option, expected):
    tree("u/inside", environ=[f"WATCHDOG_USEC={usec}"])
    host.conf(f"[rule r]\ncgroup=u\n{option}\n")
    assert added(rules("apply"), host) == expected
    shown = rules("explain", "u")
    assert ("excluded           yes: systemd's watchdog kills it" in shown.out) == (not expected)
    assert ("a shorter max-pause= allows it" in shown.out) == (not expected)
    assert ("excluded /u: systemd's" in rules("apply", "--dry-run").out) == (not expected)


@pytest.mark.parametrize(("pause", "expected"), [("20s", ["u"]), ("21s", []), ("auto", [])])
def test_watchdogs_and_the_pause_of_all(rules, mtsctl, tree, *, host, pause, expected):
    tree("u", environ=["WATCHDOG_USEC=40000000"])
    host.conf(f"[mts]\nmax_pause={pause}\n[rule r]\ncgroup=u\n")
    shown = rules("apply")
    assert added(shown, host) == expected
    # As `add` does.
    assert mtsctl.calls == ["add flags=0 fd=open pause=20000000000"] * len(expected)


# ---- apply ----------------------------------------------------------------------------------


def test_apply_again_adds_what_is_new(rules, mtsctl, tree, host):
    for path in ("a", "b/x", "c/y", "d"):
        tree(path)
    host.conf("[rule all]\ncgroup=a b/x c d\n")
    shown = rules("apply", scenario="cgroups", jobs="a b c/y")
    assert added(shown, host) == ["d"]
    assert "1 added, 2 are jobs already\n" in shown.out
    assert f"{host.cgroups}/c: there is a job below it already" in shown.err
    assert shown.status == 0
    assert len(mtsctl.calls) == 1


def test_apply_goes_on_after_a_failure(rules, mtsctl, tree, host):
    for path in ("a", "b", "c"):
        tree(path)
    host.conf("[rule all]\ncgroup=*\n")
    shown = rules("apply", fail="job_add=17*1")
    assert shown.status == 1
    assert added(shown, host) == ["b", "c"]
    assert f"add: {host.cgroups}/a: it is a job already" in shown.err
    assert "2 added, 0 are jobs already, 1 failed\n" in shown.out


def test_apply_without_permission_stops(rules, mtsctl, tree, host):
    for path in ("a", "b", "c"):
        tree(path)
    host.conf("[rule all]\ncgroup=*\n")
    shown = rules("apply", fail="job_add=1")
    assert shown.status == 4
    assert shown.err.count("not permitted") == 1


@pytest.mark.parametrize(("scenario", "status"), [("absent", 3), ("forbidden", 4)])
def test_without_the_module(rules, tree, host, scenario, status):
    tree("a")
    host.conf("[rule all]\ncgroup=*\n")
    assert rules("apply", scenario=scenario).status == status
    for args in (["apply", "--dry-run"], ["check"], ["explain", "a"]):
        shown = rules(*args, scenario=scenario)
        assert (shown.status, shown.err) == (0, "")


@pytest.mark.parametrize("args", [["check"], ["apply"], ["apply", "--dry-run"], ["explain", "a"]])
def test_a_configuration_with_an_error(rules, mtsctl, tree, host, args):
    tree("a")
    file = host.conf("[rule all]\ncgroup=*\nusr=0\n")
    shown = rules(*args)
    assert (shown.status, shown.out, mtsctl.calls) == (2, "", [])
    assert f"{file}:3: unknown key 'usr': is it user?" in shown.err


def test_another_file(rules, tree, host):
    tree("a")
    host.conf("[rule all]\nusr=0\n")
    file = host.conf("[rule mine]\ncgroup=a\n", "draft")
    assert "by rule mine" in rules("apply", "--dry-run", "--file", file).out
    assert "mine" in rules("explain", "--file", file, "a").out
    assert "mine               takes 1 cgroup now" in rules("check", file).out
    assert "mine               takes 1 cgroup now" in rules("check", "--file", file).out


def test_no_cgroups(rules, host):
    host.cgroups.rmdir()
    host.conf("[rule all]\ncgroup=a\n")
    shown = rules("check")
    assert shown.status == 1
    assert "the cgroups of this host cannot be read: No such file" in shown.err


# ---- check and explain -------------------------------------------------------------------------


def test_check_says_what_each_rule_takes(rules, tree, host):
    for path in ("a/1", "a/2", "b"):
        tree(path)
    host.conf(
        "[rule no]\ncgroup=c\nnever=yes\n[rule as]\ncgroup=a/*\n[rule b]\ncgroup=b\n"
        "[rule late]\ncgroup=a/1\n"
    )
    shown = rules("check")
    assert (shown.status, shown.err) == (0, "")
    assert shown.out == (
        "1 file: 0 settings, 4 rules; no error\n"
        "  no                 keeps what it matches from being a job\n"
        "  as                 takes 2 cgroups now\n"
        "  b                  takes 1 cgroup now\n"
        "  late               takes 0 cgroups now\n"
    )


def test_explain(rules, tree, host):
    pid = tree("s.slice/a.service/in", comm="make", uid=1)
    file = host.conf(
        "[rule path]\ncgroup=b/**\n[rule unit]\nunit=b.service\n[rule user]\nuser=2\n"
        "[rule group]\ngroup=2\n[rule what]\ncommand=cc\n[rule child]\ncgroup=b\neach=child\n"
        "[rule it]\ncgroup=**/in\nuser=1\ncommand=make\nmax-pause=2s\n[rule late]\nuser=1\n"
    )
    for text in ("s.slice/a.service/in", "/s.slice/a.service/in", str(pid)):
        shown = rules("explain", text)
        assert (shown.status, shown.err) == (0, "")
        assert shown.out == (
            "/s.slice/a.service/in\n"
            "  excluded           no\n"
            "  path               no: cgroup=b/** does not match its path\n"
            "  unit               no: unit=b.service does not match its unit a.service\n"
            "  user               no: user=2: none of its processes has it\n"
            "  group              no: group=2: none of its processes has it\n"
            "  what               no: command=cc: none of its processes has it\n"
            "  child              no: each=child: the cgroup above it does not match\n"
            "  it                 yes: all of its conditions hold\n"
            "  late               yes: all of its conditions hold\n"
            f"  result             a job by rule it --max-pause 2s ({file}:14)\n"
        )


@pytest.mark.parametrize(
    ("text", "cgroup", "reason", "result"),
    [
        ("cgroup=a\neach=leaf", "a", "each=leaf: there are cgroups below it", "no rule takes it"),
        (
            "user=1000",
            "a",
            "without cgroup=, unit= and container= a rule takes only",
            "no rule takes it",
        ),
        ("cgroup=**", "empty", "no process is in it or below it", "no rule takes it"),
        ("cgroup=**", "{cgroups}", "the root cgroup holds the whole host", "no rule takes it"),
        ("unit=x", "a", "unit=x: it is in no unit", "no rule takes it"),
        ("cgroup=a\nnever=yes", "a/b", "yes", "rule r says never=yes"),
    ],
)
def test_explain_why_not(rules, tree, host, *, text, cgroup, reason, result):
    tree("a/b")
    host.cgroup("empty")
    host.conf(f"[rule r]\n{text}\n")
    shown = rules("explain", cgroup.format(cgroups=host.cgroups))
    assert shown.status == 0
    assert reason in re.search(r"^  r  +(.*)$", shown.out, re.M)[1]
    assert f"  result             no job: {result}\n" in shown.out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("99", "no process 99"),
        ("50", "the cgroup of process 50 is not among those of this host"),
        ("51", "the cgroup of process 51 is not among those of this host"),
        ("none", "none: No such file or directory: name a process by its id, or a cgroup"),
        ("/proc/self", "name a process by its id, or a cgroup"),
        ("", "name a process by its id, or a cgroup"),
    ],
)
def test_explain_what_there_is_not(rules, tree, host, text, message):
    host.process(50, "/../outside")
    host.process(51, "/gone (deleted)")
    host.conf("[rule r]\ncgroup=a\n")
    shown = rules("explain", text)
    assert (shown.status, shown.out) == (1, "")
    assert message in shown.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "'': say check, explain, apply or watch"),
        (["list"], "'list': say check, explain, apply or watch"),
        (["apply", "a"], "unexpected 'a'"),
        (["check", "a", "b"], "unexpected 'b'"),
        (["check", "--file", "a", "b"], "unexpected 'b'"),
        (["explain"], "explain: name a process or a cgroup"),
        (["explain", "a", "b"], "unexpected 'b'"),
        (["check", "--dry-run"], "--dry-run is for apply"),
        (["apply", "--file"], "--file needs a value"),
    ],
)
def test_bad_usage(mtsctl, host, args, message):
    shown = mtsctl("rules", *args, **host.fake)
    assert (shown.status, shown.out) == (2, "")
    assert message in shown.err


# ---- hostile trees -----------------------------------------------------------------------------


def test_names_of_users(rules, tree, host):
    """A user names his cgroups as he likes."""
    tree("a/\x1b[2J b\n.scope")
    host.conf("[rule r]\ncgroup=a/**\n")
    for args in (["apply", "--dry-run"], ["explain", "a/\x1b[2J b\n.scope"], ["apply"]):
        shown = rules(*args)
        assert shown.status == 0
        assert "\x1b" not in shown.out + shown.err


def test_a_deep_tree(rules, tree, host):
    """Beyond 64 levels nothing is looked at, as nothing is by `add`."""
    path = "/".join(["d"] * 300)
    tree(path)
    host.cgroup("d")
    host.process(FIRST - 1, "/d")
    host.conf("[rule r]\ncgroup=d\n")
    assert added(rules("apply"), host) == ["d"]


def test_a_cgroup_whose_name_begins_with_a_dot(rules, tree, host):
    """A user hid his processes in one, and what is excluded was frozen with the cgroup above."""
    tree("a/.hidden")
    tree("b/.hidden", comm="sshd", uid=0)
    tree("c/.hidden", environ=["WATCHDOG_USEC=1000000"])
    host.conf("[rule r]\ncgroup=*\n")
    assert added(rules("apply"), host) == ["a"]


def test_names_of_cgroups_do_not_reach_the_terminal(rules, tree, host):
    tree("a\x1b]0;x\x07\x9b1m")
    host.conf("[rule r]\ncgroup=*\n")
    for fake in ({"fail": "job_add=95"}, {"fail": "job_add=17"}, {}):
        shown = rules("apply", **fake)
        text = shown.out + shown.err
        assert "/a?]0;x?" in text
        assert not re.search(r"[^ -~\n]", text)


def test_links_are_not_followed(rules, tree, host):
    tree("a/b")
    (host.cgroups / "a/loop").symlink_to(".")
    host.conf("[rule r]\ncgroup=**/b\n")
    assert added(rules("apply"), host) == ["a/b"]


def test_many_cgroups(rules, tree, host):
    for i in range(300):
        tree(f"m/{i:03}")
    host.conf(
        "".join(f"[rule r{i}]\ncgroup=m/{i}**\n" for i in range(10)) + "[rule m]\ncgroup=m/*\n"
    )
    assert len(added(rules("apply", "--dry-run"), host)) == 300
