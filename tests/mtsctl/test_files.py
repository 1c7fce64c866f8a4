# SPDX-License-Identifier: GPL-2.0
"""The manual, the completion of bash, the static build, and what install installs."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest


def run(*args, **kwargs):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(args, capture_output=True, text=True, env=env, **kwargs)


SCHEMAS = Path(__file__).resolve().parents[2] / "userspace/schema"
PAGES = ["mtsctl-run.1", "mts.conf.5", "mts.7", "mts-events.7", "mtsctl.8"]


@pytest.mark.parametrize("page", PAGES)
def test_manual_is_clean(sources, page):
    assert shutil.which("mandoc"), "mandoc is missing: install mandoc"
    done = run("mandoc", "-Tlint", "-Wwarning", sources / page)
    assert (done.returncode, done.stdout) == (0, "")


def test_examples_of_mts_conf_are_good(mtsctl, host, sources):
    """Those of the manual, one after the other."""
    text = run("mandoc", "-Tascii", sources / "mts.conf.5").stdout
    lines = re.sub(".\b", "", text).partition("\nEXAMPLES\n")[2].splitlines()
    examples = "\n".join(line.strip() for line in lines if line.startswith(" " * 11) or not line)
    parts = [part for part in re.split(r"\n(?=\[mts\]|\[rule proxy\])", examples) if "[" in part]
    assert len(parts) == 2
    for part in parts:
        host.conf(part)
        shown = mtsctl("config", "check", **host.fake)
        assert (shown.status, shown.err) == (0, "")
        assert "0 rules" not in shown.out


def test_mts_conf_explains_every_key(mtsctl, host, sources):
    page = (sources / "mts.conf.5").read_text().replace("\\-", "-")
    host.conf("[rule a]\nx=1\n[mts]\ncolour=1\n")
    for line in mtsctl("config", "check", **host.fake).err.splitlines():
        for key in re.split(", | or ", re.search(r"are (cgroup.*|mode.*)$", line)[1]):
            assert re.search(rf"^\.(B[RI]?|BR) {key}(=| [,.]|$)|\\fB{key}=", page, re.M), key


def test_manual_explains_every_key(mtsctl, sources):
    text = re.sub(".\b", "", run("mandoc", "-Tascii", sources / "mtsctl.8").stdout)
    for line in mtsctl("get").out.splitlines():
        key = line.partition("=")[0]
        assert re.search(rf"^ +{key}=\S", text, re.M), key


def words_of_events(header):
    """Events, with their fields; and the words of each enumeration."""
    names = re.findall(r"DEFINE_EVENT\(\w+, (\w+),", header)
    words = []
    for name, body in re.findall(r"TRACE_EVENT\((\w+),(.*?)\n\);", header, re.S):
        names += [name, *re.findall(r"__field\(\w+, (\w+)\)", body)]
    for values in re.findall(r"#define MTS_\w+ \\\n((?:\tEM.*\n)+)", header):
        if "MTS_REASON" not in values:
            words += re.findall(r'"([a-z-]+)"', values)
    # A call of no kind makes no event.
    return {*names, *words} - {"none"}


def words_of_page(text):
    """What is set in bold, or as code."""
    text = text.replace("\\-", "-")
    found = re.findall(r"^\.BR? (\S+)|\\fB([\w-]+)\\fP|`([\w-]+)`", text, re.M)
    return {word for words in found for word in words if word}


@pytest.mark.parametrize("page", ["userspace/mtsctl/mts-events.7", "docs/tracing.md"])
def test_events_are_documented(sources, page):
    top = sources.parent.parent
    words = words_of_events((top / "module/events/trace.h").read_text())
    assert {"mts_hold", "mts_round", "bring_back_ns", "crowded-out", "overdue"} <= words
    assert words - words_of_page((top / page).read_text()) == set()


def test_static_build_and_install(sources, tmp_path):
    """Without shared libraries; nothing left by uninstall."""
    build, root = tmp_path / "build", tmp_path / "root"
    make = ["make", "-C", sources, "-j4", f"BUILD={build}", f"DESTDIR={root}", "PREFIX=/usr"]
    done = run(*make, "STATIC=1", "install")
    assert done.returncode == 0, done.stderr
    installed = {str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()}
    assert installed == {
        "usr/sbin/mtsctl",
        *(f"usr/share/man/man{page[-1]}/{page}" for page in PAGES),
        "usr/lib/systemd/system/mts.service",
        "usr/lib/systemd/system/mts-metrics.socket",
        "usr/lib/systemd/system/mts-metrics@.service",
        "usr/share/mts/mts.rules.yml",
        "usr/share/mts/mts-dashboard.json",
        "usr/lib/systemd/system/mts-hooks.service",
        "usr/lib/systemd/system/mts-container@.service",
        "usr/lib/systemd/catalog/mts.catalog",
        *(f"usr/share/mts/hooks/{hook}" for hook in ("notify", "mail", "webhook")),
        *(f"usr/share/mts/schema/{path.name}" for path in SCHEMAS.iterdir()),
        "usr/share/bash-completion/completions/mtsctl",
        "usr/share/zsh/site-functions/_mtsctl",
        "usr/share/fish/vendor_completions.d/mtsctl.fish",
    }
    unit = (root / "usr/lib/systemd/system/mts.service").read_text()
    assert "ExecStart=/usr/sbin/mtsctl rules watch\n" in unit
    hooks = (root / "usr/lib/systemd/system/mts-hooks.service").read_text()
    assert "ExecStart=/usr/sbin/mtsctl hooks watch\n" in hooks
    assert "@" not in unit + hooks
    program = root / "usr/sbin/mtsctl"
    assert "INTERP" not in run("readelf", "-lW", program).stdout

    # The flags are part of what is built.
    assert run(*make).returncode == 0
    assert "INTERP" in run("readelf", "-lW", build / "mtsctl").stdout
    assert run(*make, "uninstall").returncode == 0
    assert not [p for p in root.rglob("*") if p.is_file()]


def test_missing_jansson(sources, tmp_path):
    done = run("make", "-C", sources, f"BUILD={tmp_path}", "CFLAGS=-nostdinc")
    assert done.returncode != 0
    assert "libjansson-dev" in done.stderr


def test_missing_ncurses(sources, tmp_path):
    (tmp_path / "curses.h").write_text("#error none\n")
    done = run("make", "-C", sources, f"BUILD={tmp_path}/build", f"CFLAGS=-I{tmp_path}")
    assert done.returncode != 0
    assert "libncurses-dev" in done.stderr


def test_missing_inih(sources, tmp_path):
    (tmp_path / "ini.h").write_text("#error none\n")
    done = run("make", "-C", sources, f"BUILD={tmp_path}/build", f"CFLAGS=-I{tmp_path}")
    assert done.returncode != 0
    assert "libinih-dev" in done.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["st"], {"status", "stats"}),
        (["w"], {"why", "watch", "weight"}),
        (["hooks", "t"], {"test"}),
        (["hooks", "test", "s"], {"stop", "swap-full"}),
        (["log", "--s"], {"--since"}),
        (["watch", "--j"], {"--json"}),
        (["doc"], {"doctor"}),
        (["doctor", "--"], {"--json", "--help"}),
        (["set", "m"], {"mode=", "min_slice=", "max_pause="}),
        (["set", "mode", "=", "a"], {"auto", "always"}),
        (["set", "mode", "=", "s"], {"shadow"}),
        (["set", "pack", "="], {"ffd", "bfd", "rw"}),
        (["set", "--s"], {"--save"}),
        (["config", ""], {"check", "load", "--help"}),
        (["rules", "a"], {"apply"}),
        (["rules", "apply", "--"], {"--dry-run", "--file"}),
        (["set", "ov"], {"overhead="}),
        (["set", "overhead", "="], {"off"}),
        (["plan", "--overhead", ""], {"off"}),
        (["set", "st"], {"step="}),
        (["set", "step", "="], {"auto", "bin"}),
        (["plan", "--step", ""], {"auto", "bin"}),
        (["stats", "--p"], {"--prometheus", "--per-job"}),
        (["stats", "--ht"], {"--http"}),
        (["monitor", "--"], {"--interval", "--count", "--json", "--help"}),
        (["top", "--o"], {"--order"}),
        (["top", "--order", "f"], {"frozen", "faults"}),
        (["plan", "--evict", ""], {"off", "need", "full", "auto"}),
        (["plan", "--pa"], {"--pack"}),
        (["run", "--n"], {"--name"}),
        (["status", "--"], {"--all", "--by", "--json", "--help"}),
        (["remove", "al"], {"alpha"}),
        (["pin", "tw"], {"twin"}),
        (["pause", "tw"], {"twin"}),
        (["pause", "alpha", "o"], {"off"}),
        (["weight", "--"], {"--user", "--help"}),
        (["weight", "--user", "daem"], {"daemon"}),
        (["run", "--m"], {"--max-pause", "--max-wait"}),
        (["run", "--size", "6G", "--q"], {"--queue"}),
        (["set", "queue", "=", ""], {"off", "auto"}),
        (["add", "--max-pause", ""], {"off"}),
        (["plan", "--max-pause", ""], {"auto"}),
    ],
)
def test_completion(mtsctl, sources, tmp_path, words, expected):
    (tmp_path / "mtsctl").symlink_to(mtsctl.program)
    env = mtsctl.environment(scenario="rotating")
    env["PATH"] = f"{tmp_path}:{env['PATH']}"
    script = (
        f'. "{sources}/mtsctl.bash-completion"; COMP_WORDS=(mtsctl "$@"); COMP_CWORD=$#; '
        '_mtsctl; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", script, "bash", *words], env=env, capture_output=True, text=True
    )
    assert done.stderr == ""
    assert set(done.stdout.split()) == expected
