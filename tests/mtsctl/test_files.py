# SPDX-License-Identifier: GPL-2.0
"""The manual, the completion, the static build, and what install installs."""

import os
import re
import shutil
import subprocess

import pytest


def run(*args, **kwargs):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(args, capture_output=True, text=True, env=env, **kwargs)


def test_manual_is_clean(sources):
    assert shutil.which("mandoc"), "mandoc is missing: install mandoc"
    done = run("mandoc", "-Tlint", "-Wwarning", sources / "mtsctl.8")
    assert (done.returncode, done.stdout) == (0, "")


def test_manual_explains_every_key(mtsctl, sources):
    text = re.sub(".\b", "", run("mandoc", "-Tascii", sources / "mtsctl.8").stdout)
    for line in mtsctl("get").out.splitlines():
        key = line.partition("=")[0]
        assert re.search(rf"^ +{key}=\S", text, re.M), key


def test_static_build_and_install(sources, tmp_path):
    """Without shared libraries; with a version of its own; nothing left by uninstall."""
    build, root = tmp_path / "build", tmp_path / "root"
    make = ["make", "-C", sources, "-j4", f"BUILD={build}", f"DESTDIR={root}", "PREFIX=/usr"]
    done = run(*make, "STATIC=1", "VERSION=9.8.7", "install")
    assert done.returncode == 0, done.stderr
    installed = {str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()}
    assert installed == {
        "usr/sbin/mtsctl",
        "usr/share/man/man8/mtsctl.8",
        "usr/share/man/man5/mts.conf.5",
        "usr/share/bash-completion/completions/mtsctl",
    }
    program = root / "usr/sbin/mtsctl"
    assert run(program, "--version").stdout == "mtsctl 9.8.7\n"
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
        (["w"], {"why", "watch"}),
        (["watch", "--j"], {"--json"}),
        (["set", "m"], {"mode=", "min_slice=", "max_pause="}),
        (["set", "mode", "=", "a"], {"auto", "always"}),
        (["set", "mode", "=", "s"], {"shadow"}),
        (["set", "pack", "="], {"ffd", "bfd", "rw"}),
        (["set", "ov"], {"overhead="}),
        (["set", "overhead", "="], {"off"}),
        (["plan", "--overhead", ""], {"off"}),
        (["set", "st"], {"step="}),
        (["set", "step", "="], {"auto", "bin"}),
        (["plan", "--step", ""], {"auto", "bin"}),
        (["stats", "--p"], {"--prometheus"}),
        (["monitor", "--"], {"--interval", "--count", "--json", "--help"}),
        (["top", "--o"], {"--order"}),
        (["top", "--order", "f"], {"frozen", "faults"}),
        (["plan", "--evict", ""], {"off", "need", "full", "auto"}),
        (["plan", "--pa"], {"--pack"}),
        (["run", "--n"], {"--name"}),
        (["status", "--"], {"--all", "--json", "--help"}),
        (["remove", "al"], {"alpha"}),
        (["pin", "tw"], {"twin"}),
        (["pause", "tw"], {"twin"}),
        (["pause", "alpha", "o"], {"off"}),
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


def test_completion_knows_every_option(mtsctl, sources):
    script = (sources / "mtsctl.bash-completion").read_text()
    commands = ["run", "add", "status", "top", "why", "plan", "get", "stats", "monitor", "watch"]
    for command in commands:
        for word in mtsctl(command, "--help").out.split():
            if word.startswith("--") and word.strip("-.").isalpha():
                assert word in script
