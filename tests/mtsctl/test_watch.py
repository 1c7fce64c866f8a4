# SPDX-License-Identifier: GPL-2.0
"""watch, as far as it goes without a kernel; tests/guest/test_mtsctl.c has the rest."""

import os
import re
import subprocess

import pytest


def test_no_tracefs(mtsctl, tmp_path):
    shown = mtsctl("watch", tracing=tmp_path)
    assert (shown.status, shown.out) == (1, "")
    assert f"mount -t tracefs trace {tmp_path}" in shown.err


def test_lockdown_has_no_tracefs(mtsctl, tmp_path):
    """With lockdown=confidentiality it is mounted and empty: watch looks for what has changed."""
    lockdown = tmp_path / "sys/kernel/security/lockdown"
    lockdown.parent.mkdir(parents=True)
    lockdown.write_text("none [integrity] confidentiality\n")
    fake = {"tracing": tmp_path, "root": tmp_path}
    assert mtsctl("watch", **fake).status == 1
    lockdown.write_text("none integrity [confidentiality]\n")
    watch = subprocess.Popen(
        [mtsctl.program, "watch"],
        env=mtsctl.environment(**fake),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    with pytest.raises(subprocess.TimeoutExpired):
        watch.wait(timeout=2)
    watch.terminate()
    assert watch.communicate(timeout=30)[1] == b""


def test_no_events(mtsctl, tmp_path):
    """No instance is left in tracefs, except that of another watch."""
    instances = tmp_path / "instances"
    instances.mkdir()
    (instances / f"mtsctl.{os.getpid()}").mkdir()
    (instances / "mtsctl.4194305").mkdir()  # no process: beyond the largest pid
    (instances / "mtsctl.1x").mkdir()
    shown = mtsctl("watch", tracing=tmp_path)
    assert (shown.status, shown.out) == (1, "")
    assert "older than mtsctl" in shown.err
    left = {path.name for path in instances.iterdir()}
    assert left == {f"mtsctl.{os.getpid()}", "mtsctl.1x"}


def test_reasons_have_one_name(sources):
    """The trace events say them as status does."""
    events = (sources.parents[1] / "module/events/trace.h").read_text()
    said = dict(re.findall(r'\tEM(?:_LAST)?\(MTS_REASON_(\w+), "([\w-]+)"\)', events))
    words = dict(re.findall(r'\{ "([\w-]+)", MTS_REASON_(\w+),', (sources / "words.c").read_text()))
    assert said == {number: word for word, number in words.items()}
