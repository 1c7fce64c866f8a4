# SPDX-License-Identifier: GPL-2.0
"""Completion in bash, zsh and fish: what mtsctl's own help names, and the values of options."""

import os
import re
import shlex
import subprocess
import time

import pexpect
import pytest

from tests.mtsctl.test_usage import COMMANDS

SHELLS = ("bash", "zsh", "fish")
BASH = """
. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_mtsctl; printf "%s\\n" "${COMPREPLY[@]}"
"""
# Writes what the completion offers into $HITS.
ZSH = r"""
autoload -U compinit; compinit -D -u
compadd() {
  local -a hits
  [[ " ${@[1,(i)(-|--)]}" != *\ -[OAD]* ]] || { builtin compadd "$@"; return }
  builtin compadd -A hits "$@"; print -rl -- $hits >>$HITS
  builtin compadd "$@"
}
bindkey '^I' complete-word
"""


class Bash:
    def __init__(self, sources, env):
        self.script = sources / "mtsctl.bash-completion"
        self.env = env

    def __call__(self, *words):
        done = subprocess.run(
            ["bash", "-c", BASH, "bash", self.script, "mtsctl", *words],
            env=self.env, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.stderr == ""
        return done.stdout.split()


class Fish:
    def __init__(self, sources, env):
        self.script = sources / "mtsctl.fish"
        self.env = env

    def lines(self, *words):
        line = " ".join(["mtsctl", *words])
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"source {self.script}; complete -C {shlex.quote(line)}"],
            env=self.env, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.stderr == ""
        return done.stdout.splitlines()

    def __call__(self, *words):
        return [line.split("\t")[0] for line in self.lines(*words)]


class Zsh:
    """A shell at a terminal: only there completion works."""

    def __init__(self, sources, env, folder):
        functions = folder / "functions"
        functions.mkdir()
        (functions / "_mtsctl").symlink_to(sources / "mtsctl.zsh-completion")
        self.hits = folder / "hits"
        self.done = folder / "done"
        env = {**env, "HITS": str(self.hits), "TERM": "dumb", "HOME": str(folder)}
        self.shell = pexpect.spawn("zsh", ["-f", "-i"], env=env, timeout=60, encoding="utf-8")
        (folder / "setup").write_text(f"fpath=({functions} $fpath)\n{ZSH}")
        self.shell.sendline(f". {folder}/setup")
        self.wait()

    def wait(self):
        """Until what was sent before is done."""
        self.done.unlink(missing_ok=True)
        self.shell.sendline(f"\x15: >{self.done}")
        for _ in range(600):
            if self.done.exists():
                return
            # What it prints is to be read, or it waits.
            self.shell.expect([r".+", pexpect.TIMEOUT], timeout=0.05)
            time.sleep(0.01)
        raise AssertionError(f"zsh does not answer: {self.shell.before}")

    def __call__(self, *words):
        self.hits.write_text("")
        self.shell.send(" ".join(["mtsctl", *words]) + "\t")
        self.wait()
        return [word for word in self.hits.read_text().splitlines() if word.strip()]

    def close(self):
        self.shell.close(force=True)


@pytest.fixture(scope="module")
def shells(built, sources, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shells")
    (folder / "mtsctl").symlink_to(built / "mtsctl-fake")
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "MTS_FAKE": "rotating"}
    env["ASAN_OPTIONS"] = "detect_leaks=0"
    zsh = Zsh(sources, env, folder)
    yield {"bash": Bash(sources, env), "fish": Fish(sources, env), "zsh": zsh}
    zsh.close()


@pytest.mark.parametrize(
    ("shell", "name"),
    [("bash", "bash-completion"), ("zsh", "zsh-completion"), ("fish", "fish")],
)
def test_syntax(sources, shell, name):
    done = subprocess.run([shell, "-n", sources / f"mtsctl.{name}"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command(shells, shell):
    hits = {word for word in shells[shell]("") if not word.startswith("-")}
    assert hits == {*COMMANDS, "help"}


def options_of(mtsctl, command):
    """Of its help: where a line begins with them."""
    text = mtsctl(command, "--help").out.partition("\n\n")[2]
    names = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.MULTILINE)
    return {*names, "--help"}


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ("rules", "hooks")])
@pytest.mark.parametrize("shell", SHELLS)
def test_every_option(shells, mtsctl, shell, command):
    hits = {word.partition("=")[0] for word in shells[shell](command, "--")}
    # With which the options of run end.
    assert hits - {"--"} == options_of(mtsctl, command)


@pytest.mark.parametrize("shell", SHELLS)
def test_options_of_rules(shells, mtsctl, shell):
    found = set()
    for what in ("check", "explain", "apply", "watch"):
        found |= {*shells[shell]("rules", what, "--")}
    assert found | {"--help"} == options_of(mtsctl, "rules")


@pytest.mark.parametrize("shell", SHELLS)
def test_options_of_hooks(shells, mtsctl, shell):
    found = set()
    for what in ("list", "test", "watch"):
        found |= {*shells[shell]("hooks", what, "--")}
    assert found | {"--help"} == options_of(mtsctl, "hooks")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_descriptions_are_those_of_the_help(shells, mtsctl, sources, shell):
    wanted = dict(re.findall(r"^  (\w+) +(.*)$", mtsctl("help").out, re.MULTILINE))
    if shell == "fish":
        lines = shells["fish"].lines("")
        found = dict(line.split("\t") for line in lines if not line.startswith("-"))
    else:
        text = (sources / "mtsctl.zsh-completion").read_text()
        (commands,) = re.findall(r"of_mtsctl=\(\n(.*?)\n\t\)", text, re.DOTALL)
        words = (word.replace("\\:", ":") for word in shlex.split(commands))
        found = dict(word.split(":", 1) for word in words)
    assert found == wanted


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["st"], {"status", "stats"}),
        (["config", "l"], {"load"}),
        (["rules", "a"], {"apply"}),
        (["hooks", "t"], {"test"}),
        (["hooks", "test", "b"], {"begin"}),
        (["log", "--since", "t"], {"today"}),
        (["rules", "apply", "--d"], {"--dry-run"}),
        (["plan", "--pack", ""], {"ffd", "bfd", "rw"}),
        (["plan", "--evict", ""], {"off", "need", "full", "auto"}),
        (["plan", "--step", ""], {"bin", "auto"}),
        (["plan", "--max-pause", ""], {"auto"}),
        (["add", "--max-pause", ""], {"off"}),
        (["top", "--order", "f"], {"frozen", "faults"}),
        (["top", "--by", "u"], {"user", "unit"}),
        (["status", "--by", "c"], {"container"}),
        (["remove", "al"], {"alpha"}),
        (["pin", "tw"], {"twin"}),
        (["pause", "alpha", "o"], {"off"}),
        (["weight", "al"], {"alpha"}),
        (["weight", "--user", "daem"], {"daemon"}),
        (["run", "--size", "6G", "--q"], {"--queue"}),
        (["help", "wa"], {"watch"}),
    ],
)
@pytest.mark.parametrize("shell", SHELLS)
def test_words(shells, shell, words, expected):
    assert {*shells[shell](*words)} == expected


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--engine", "user", "sta"], {"status", "stats"}),
        (["--user", "why", "--j"], {"--json"}),
        (["--engine", "us"], {"userspace", "user"}),
    ],
)
def test_words_before_the_command(shells, shell, words, expected):
    assert {*shells[shell](*words)} == expected


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_values_of_settings(shells, mtsctl, shell):
    keys = {line.partition("=")[0] for line in mtsctl("get").out.splitlines()}
    offered = shells[shell]("set", "")
    assert {word.partition("=")[0] for word in offered if not word.startswith("-")} == keys
    values = {word.removeprefix("mode=") for word in shells[shell]("set", "mode=")}
    assert values == {"off", "auto", "always", "shadow"}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_command_of_run_is_completed(shells, shell):
    assert "mtsctl" in shells[shell]("run", "mtsc")
    assert "mtsctl" in shells[shell]("run", "--name", "x", "--", "mtsc")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--engine", "=", "us"], {"userspace", "user"}),
        (["--engine", "="], {"module", "userspace", "user"}),
        (["--engine", "=", "user", "plan", "--q"], {"--queue"}),
        (["--us"], {"--user"}),
    ],
)
def test_bash_splits_an_engine_at_its_sign(shells, words, expected):
    assert {*shells["bash"](*words)} == expected
