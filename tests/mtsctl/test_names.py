# SPDX-License-Identifier: GPL-2.0
"""How remove, pin, unpin and pause find a job, and what tells jobs apart."""

import json
import re

import pytest

NO_SUCH = 2  # ENOENT
CONTAINER = "docker-" + "0123456789abcdef" * 4 + ".scope"
# The same first 63 bytes, which are all that the module keeps of a name.
LONG = "a" * 63
ONE, OTHER = LONG + "-one.service", LONG + "-other.service"


@pytest.fixture
def jobs(mtsctl, host):
    """A call of mtsctl on a host where the given cgroups were added as the jobs 1, 2, ..."""

    def call(paths, *args, **fake):
        for path in paths:
            host.cgroup(path)
        listed = {"scenario": "cgroups", "jobs": " ".join(paths), **host.fake}
        return mtsctl(*args, **listed, **fake)

    return call


COMMANDS = [
    (["remove", "{}"], "remove {}"),
    (["pin", "{}"], "job_set {} mask=4 flags=4"),
    (["unpin", "{}"], "job_set {} mask=4 flags=0"),
    (["pause", "{}", "2s"], "job_pause {} 2000000000"),
    (["weight", "{}", "200"], "job_weight {} 200"),
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "meant",
    [
        ("{cgroups}/system.slice/batch.service", 2),
        ("{cgroups}/system.slice/batch.service/", 2),
        ("/system.slice/batch.service", 2),
        ("system.slice/batch.service", 2),
        ("system.slice//batch.service///", 2),
        ("./system.slice/x/../batch.service", 2),
        ("batch.service", 2),
        ("name=batch.service", 2),
        ("2", 2),
        ("id=2", 2),
        ("top.slice/", 1),
        ("./top.slice", 1),
        ("top.slice", 1),
        ("user.slice/twin", 4),
        ("/system.slice/twin", 5),
    ],
)
def test_a_job_is_what_add_took(jobs, mtsctl, host, command, meant):
    """Fault: `mtsctl pin PATH` found no job, although `mtsctl add PATH` had made one."""
    (args, call), (word, job) = command, meant
    host.cgroup("system.slice/x")
    word = word.format(cgroups=host.cgroups)
    paths = [
        "top.slice",
        "system.slice/batch.service",
        "elsewhere/other.service",
        "user.slice/twin",
        "system.slice/twin",
    ]
    shown = jobs(paths, *[a.format(word) for a in args])
    assert (shown.status, shown.out, shown.err) == (0, "", "")
    assert mtsctl.calls == [call.format(job)]


@pytest.mark.parametrize("word", ["{}", "system.slice/{}", "/system.slice/{}/", "name={}"])
@pytest.mark.parametrize(("args", "call"), COMMANDS)
def test_a_name_that_the_module_has_cut(jobs, mtsctl, args, call, word):
    """Fault: a container's unit, whose name is longer than 63 bytes, was no job."""
    paths = ["other", f"system.slice/{CONTAINER}"]
    shown = jobs(paths, *[a.format(word.format(CONTAINER)) for a in args])
    assert (shown.status, shown.err) == (0, "")
    assert mtsctl.calls == [call.format(2)]


def test_cut_names_of_two_jobs_are_told_apart(jobs, mtsctl):
    paths = [f"a/{ONE}", f"b/{OTHER}"]
    assert jobs(paths, "remove", OTHER).status == 0
    assert jobs(paths, "remove", f"a/{ONE}").status == 0
    assert mtsctl.calls == ["remove 2", "remove 1"]
    shown = jobs(paths, "remove", LONG)
    assert shown.status == 2
    assert "several jobs, such as 1 and 2: use the id, or the path of the cgroup" in shown.err


def test_a_longer_name_with_the_same_beginning_is_another(jobs, mtsctl):
    """It must never hit a job that has only the first 63 bytes in common."""
    shown = jobs([f"a/{ONE}"], "remove", OTHER)
    assert (shown.status, mtsctl.calls) == (1, [])
    assert f"no job {OTHER}" in shown.err


def test_a_cut_name_whose_cgroup_cannot_be_looked_at(jobs, mtsctl):
    shown = jobs([f"a/{ONE}"], "remove", ONE, fail="cgroup_open=1")
    assert (shown.status, mtsctl.calls) == (1, [])
    assert "job 1 has the first 63 bytes of this name" in shown.err
    assert "use the id, or the path of the cgroup" in shown.err


# ---- digits ---------------------------------------------------------------------------


def test_digits_that_are_an_id_and_a_name_are_refused(jobs, mtsctl):
    """Fault: `mtsctl remove 2` removed job 2 where the job named 2 was meant, or the reverse."""
    paths = ["first", "second", "a/2"]
    shown = jobs(paths, "remove", "2")
    assert (shown.status, mtsctl.calls) == (2, [])
    assert "2 is the id of job second, and the name of job 3" in shown.err
    assert "write id=2 or name=2" in shown.err
    assert jobs(paths, "remove", "id=2").status == 0
    assert jobs(paths, "remove", "name=2").status == 0
    assert jobs(paths, "remove", "a/2").status == 0
    assert jobs(paths, "remove", "3").status == 0
    assert mtsctl.calls == ["remove 2", "remove 3", "remove 3", "remove 3"]


def test_digits_are_never_a_name(jobs, mtsctl):
    """A script may hold the id of a job that is gone: it must not hit a job of such a name."""
    shown = jobs(["a/123"], "remove", "123")
    assert (shown.status, mtsctl.calls) == (1, [])
    assert "no job 123: digits alone are an id" in shown.err
    assert "for the job named 123 write name=123 or id=1" in shown.err
    assert jobs(["a/123"], "remove", "name=123").status == 0
    assert mtsctl.calls == ["remove 1"]


def test_digits_that_are_id_and_name_of_the_same_job(jobs, mtsctl):
    assert jobs(["a/1"], "remove", "1").status == 0
    assert mtsctl.calls == ["remove 1"]


@pytest.mark.parametrize(
    "refused",
    [
        ("", 2, "an empty name"),
        ("name=", 2, "an empty name"),
        ("id=", 2, "id=: not an id: write digits, as in id=7"),
        ("id=0x1", 2, "id=0x1: not an id"),
        ("id=99", 1, "no job id=99"),
        ("name=99", 1, "no job name=99"),
        ("no/such", 1, "no/such: No such file or directory: name the cgroup of a job"),
        ("/proc/self", 1, "/proc/self: not a directory of cgroup v2"),
        ("a/x", 1, "no job a/x: this cgroup is not a job"),
        ("a/job/below", 1, "lies below job job (1)"),
        ("../a", 1, "No such file"),
    ],
)
@pytest.mark.parametrize("args", [args for args, _ in COMMANDS])
def test_no_such_job_says_why(jobs, mtsctl, host, args, refused):
    word, status, message = refused
    host.cgroup("a/x")
    host.cgroup("a/job/below")
    shown = jobs(["a/job"], *[a.format(word) for a in args])
    assert (shown.status, mtsctl.calls) == (status, [])
    assert message in shown.err


@pytest.mark.parametrize("named", ["sys/kernel", "/sys/kernel"])
def test_a_path_below_the_root_that_another_file_system_has_too(mtsctl, host, named):
    """Fault: `add /home/x.scope` took the directory /home/x.scope of the host for the cgroup."""
    directory = host.cgroup("sys/kernel")
    shown = mtsctl("add", named, **host.fake)
    assert (shown.status, shown.out) == (0, f"{directory} is job 7\n")


# ---- all or nothing -------------------------------------------------------------------


def test_one_that_is_no_job_keeps_all_from_being_changed(jobs, mtsctl):
    """Fault: `mtsctl remove a b nosuch` did not say that a and b were still jobs."""
    shown = jobs(["a", "b"], "remove", "a", "b", "nosuch")
    assert (shown.status, mtsctl.calls) == (1, [])
    assert "no job nosuch" in shown.err
    assert "nothing has changed" in shown.err
    assert "nothing has changed" not in jobs(["a"], "remove", "nosuch").err


@pytest.mark.parametrize(
    ("failure", "done", "status"),
    [
        (f"job_remove={NO_SUCH}*1", "done for 2 of 3 jobs", 1),
        (f"job_remove={NO_SUCH}", "done for 0 of 3 jobs", 1),
        ("job_remove=1+1", "done for 1 of 3 jobs", 4),
    ],
)
def test_a_failure_on_the_way_says_how_many_are_done(jobs, failure, done, status):
    shown = jobs(["a", "b", "c"], "remove", "a", "b", "a", "c", fail=failure)
    assert shown.status == status
    assert done in shown.err


def test_pause_says_which_word_is_the_time(jobs, mtsctl):
    """Fault: `mtsctl pause 2s a` said "a: not a number" and not what a should have been."""
    shown = jobs(["a"], "pause", "2s", "a")
    assert (shown.status, mtsctl.calls) == (2, [])
    assert "the time comes last: a: not a number" in shown.err


# ---- what tells jobs apart --------------------------------------------------------------


@pytest.mark.parametrize("word", ["{}", "{}/", "./{}//", "/x/../{}"])
def test_add_says_that_a_name_is_cut(mtsctl, host, word):
    """Fault: nothing said that `status` would show another name than that of the unit."""
    host.cgroup("x")
    host.cgroup(f"system.slice/{CONTAINER}")
    shown = mtsctl("add", word.format(f"system.slice/{CONTAINER}"), **host.fake)
    assert shown.status == 0
    assert shown.out.endswith(" is job 7\n")
    assert f"the name is longer than 63 bytes: the job is named {CONTAINER[:63]}" in shown.err
    assert "id, 7, or the path" in shown.err


def test_add_says_nothing_of_a_name_that_fits(mtsctl, host):
    host.cgroup(LONG)
    assert mtsctl("add", LONG, **host.fake).err == ""


def test_add_says_how_to_name_a_job_of_digits(mtsctl, host):
    host.cgroup("a/123")
    shown = mtsctl("add", "a/123", **host.fake)
    assert shown.status == 0
    assert "digits alone are an id: write name=123 or 7" in shown.err


def test_status_json_has_the_path_of_the_cgroup(jobs):
    """Fault: two jobs with the same cut name differed in nothing that a script could use."""
    paths = [f"a/{ONE}", f"a/{OTHER}", "b/c"]
    listed = json.loads(jobs(paths, "status", "--json").out)["jobs"]
    assert [j["cgroup"] for j in listed] == ["/" + p for p in paths]
    assert len({j["cgroup_id"] for j in listed}) == 3
    unknown = json.loads(jobs(paths, "status", "--json", fail="cgroup_open=1").out)["jobs"]
    assert [j["cgroup"] for j in unknown] == [None] * 3


def test_status_lists_the_cgroups_of_jobs_that_names_do_not_tell_apart(jobs, host):
    paths = [f"a/{ONE}", f"a/{OTHER}", "b/c", "b/d", "a/c"]
    out = jobs(paths, "status").out
    lines = re.findall(r"^ +(\d+) (/.*)$", out, re.M)
    assert lines == [("1", f"/a/{ONE}"), ("2", f"/a/{OTHER}"), ("3", "/b/c"), ("5", "/a/c")]
    unknown = jobs(paths, "status", fail="cgroup_open=1").out
    inode = (host.cgroups / "b/c").stat().st_ino
    assert re.search(rf"^ +3 cgroup id {inode}$", unknown, re.M)
    assert "CGROUP" not in jobs(["b/c", "b/d"], "status").out
