# SPDX-License-Identifier: GPL-2.0
"""The result of a run: one JSON file, and functions for a folder of them.

{ "schema": 1,
  "setting": { all of experiment.Setting; params as an object },
  "kernel": release, "qemu": version, "commit": hash, "dirty": whether the checkout differs,
  "guest": { "memory_mib", "swap_mib", "free_mib", "pinned_mib" },
  "figures": { those of figures.py, "suite": { the suite's own } },
  "jobs": [ the driver's, without their output ], "series": [ the driver's, one a second ],
  "jain_series": [ one each 5 s ], "vmstat": {...}, "disk": {...}, "threads": {...}, "psi": {...},
  "policy": what the policy says of itself (Policy.after), or null,
  "daemon": whether the policy's daemon ended early, or null, "warnings": [ of the driver ],
  "real_seconds": n }

Two runs of one setting differ in "real_seconds" alone.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bench.lab import ROOT, LabError, figures
from bench.lab.experiment import Json, Outcome, Setting, Suite

SCHEMA = 1
_KEPT = ("series", "jain_series", "vmstat", "disk", "threads", "psi", "policy", "daemon")


@dataclass(frozen=True)
class Origin:
    """What the results of one command have in common."""

    qemu: str  # version
    commit: str  # hash
    dirty: bool  # tracked files differ from it, or there are others


def origin() -> Origin:
    """Of this checkout on this machine."""
    program = shutil.which("qemu-system-x86_64")
    if not program:
        raise LabError("QEMU is not installed: apt-get install qemu-system-x86")
    said = subprocess.run([program, "--version"], text=True, capture_output=True, check=False)
    version = re.search(r"version (\S+)", said.stdout)
    return Origin(
        qemu=version[1] if version else "unknown",
        commit=_git("rev-parse", "HEAD") or "unknown",
        dirty=_git("status", "--porcelain") != "",
    )


def _git(*arguments: str) -> str | None:
    """The output of git; None if there is no git, or no repository."""
    try:
        done = subprocess.run(
            ["git", "-C", ROOT, *arguments], text=True, capture_output=True, check=False
        )
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def setting_json(setting: Setting) -> Json:
    """A setting as the files have it."""
    return {**dataclasses.asdict(setting), "params": dict(setting.params)}


def setting_of(result: Json) -> Setting:
    """The setting of a result."""
    values = {**result["setting"]}
    values["params"] = tuple(sorted(values["params"].items()))
    return Setting(**values)


def make(
    setting: Setting, suite: Suite, outcome: Outcome, *, guest: Json, kernel: str, where: Origin
) -> Json:
    """The result of a run, but for "real_seconds".

    guest: "memory_mib" and "swap_mib".
    """
    data = outcome.data
    jobs = [{key: job[key] for key in job if key != "output"} for job in data["jobs"]]
    result: Json = {
        "schema": SCHEMA,
        "setting": setting_json(setting),
        "kernel": kernel,
        **dataclasses.asdict(where),
        "guest": {**guest, "free_mib": data["free_mib"], "pinned_mib": data["pinned_mib"]},
        "figures": {**figures.common(data), "suite": suite.figures(setting, outcome)},
        "jobs": jobs,
    }
    return {
        **result,
        **{key: data.get(key) for key in _KEPT},
        "warnings": data.get("warnings", []),
    }


def file_name(setting: Setting) -> Path:
    """Where in a folder of results the file of a setting is; different settings, different files.

    The hash stands for what the name does not say.
    """
    text = json.dumps(setting_json(setting), sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    words = (
        setting.policy,
        setting.disk,
        f"x{setting.overcommit:g}",
        *(f"{name}={value}" for name, value in setting.params),
        f"seed{setting.seed}",
        digest,
    )
    name = re.sub(r"[^A-Za-z0-9.=+-]", "_", "-".join(words))
    return Path(setting.suite) / f"{name[-200:]}.json"


def write(result: Json, path: Path) -> None:
    """Write a result; readers see the old file or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=".result-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            json.dump(result, out, indent=1)
            out.write("\n")
            os.fchmod(out.fileno(), 0o644)
        os.replace(scratch, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(scratch)
        raise


def read(path: Path) -> Json:
    """One result. LabError if the file holds none."""
    try:
        result: Json = json.loads(path.read_text(encoding="utf-8"))
        schema = result["schema"]
        setting_of(result)
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise LabError(f"{path}: not a result of bench/run") from None
    if schema != SCHEMA:
        raise LabError(f"{path}: schema {schema}, and only {SCHEMA} is understood here")
    return result


def load(folder: Path) -> list[Json]:
    """All results below a folder, in an order that depends on their settings alone."""
    if not folder.is_dir():
        raise LabError(f"{folder}: no such folder")
    found = [read(path) for path in folder.rglob("*.json") if not path.name.startswith(".")]
    return in_order(found)


def in_order(found: Iterable[Json]) -> list[Json]:
    """Results sorted by their settings."""

    def key(result: Json) -> tuple[object, ...]:
        setting = setting_of(result)
        first = (setting.suite, setting.disk, setting.shift, setting.kernel, setting.free_mib)
        params = json.dumps(setting.params, default=str)
        return (*first, setting.overcommit, params, setting.policy, setting.seed, setting.limit)

    return sorted(found, key=key)
