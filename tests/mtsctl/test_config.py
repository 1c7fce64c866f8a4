# SPDX-License-Identifier: GPL-2.0
"""get and set."""

import json

import pytest

MODE, PACK, EVICT, SLICE, BIN, MIN_SLICE, MAX_PAUSE, OVERHEAD, DEMAND = (1 << i for i in range(9))
INTERACTIVE, STEP, QUEUE, POLICY, SHARE = (1 << i for i in range(9, 14))
STEP_AUTO, STEP_BIN = 0, 0xFFFFFFFF
MIB = 1 << 20


def call(mask, **fields):
    keys = ("mode", "pack", "evict", "slice", "bin", "min", "pause", "overhead", "demand")
    keys += ("interactive", "step", "queue", "policy", "share")
    words = [f"{key}={fields.get(key, 0)}" for key in keys]
    return " ".join(["set", f"mask={mask:#x}", *words])


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["mode=off"], call(MODE, mode=0)),
        (["mode=auto"], call(MODE, mode=1)),
        (["mode=always"], call(MODE, mode=2)),
        (["mode=shadow"], call(MODE, mode=3)),
        (["pack=ffd"], call(PACK, pack=0)),
        (["pack=first-fit-decreasing"], call(PACK, pack=0)),
        (["pack=bfd"], call(PACK, pack=1)),
        (["pack=best-fit-decreasing"], call(PACK, pack=1)),
        (["pack=rw"], call(PACK, pack=2)),
        (["pack=reuven-wiseman"], call(PACK, pack=2)),
        (["evict=off"], call(EVICT, evict=0)),
        (["evict=need"], call(EVICT, evict=1)),
        (["evict=full"], call(EVICT, evict=2)),
        (["evict=auto"], call(EVICT, evict=3)),
        (["demand=used"], call(DEMAND, demand=1)),
        (["demand=allocated"], call(DEMAND, demand=0)),
        (["slice=2s"], call(SLICE, slice=2 * 10**9)),
        (["slice=10ms"], call(SLICE, slice=10**7)),
        (["slice=1m"], call(SLICE, slice=60 * 10**9)),
        (["bin=96M"], call(BIN, bin=96 * MIB)),
        (["bin=auto"], call(BIN, bin=0)),
        (["bin=40%"], call(BIN, bin=400 * MIB)),
        (["bin=12.5%"], call(BIN, bin=125 * MIB)),
        (["bin=1P"], call(BIN, bin=1 << 50)),
        (["min_slice=50ms"], call(MIN_SLICE, min=5 * 10**7)),
        (["max_pause=1s"], call(MAX_PAUSE, pause=10**9)),
        (["max_pause=auto"], call(MAX_PAUSE, pause=0)),
        (["overhead=5%"], call(OVERHEAD, overhead=50)),
        (["overhead=2.5%"], call(OVERHEAD, overhead=25)),
        (["overhead=0.1%"], call(OVERHEAD, overhead=1)),
        (["overhead=50.00%"], call(OVERHEAD, overhead=500)),
        (["overhead=0%"], call(OVERHEAD, overhead=0)),
        (["overhead=off"], call(OVERHEAD, overhead=0)),
        (["interactive=25%"], call(INTERACTIVE, interactive=250)),
        (["interactive=90%"], call(INTERACTIVE, interactive=900)),
        (["interactive=off"], call(INTERACTIVE, interactive=0)),
        (["step=bin"], call(STEP, step=STEP_BIN)),
        (["step=auto"], call(STEP, step=STEP_AUTO)),
        (["step=1M"], call(STEP, step=1)),
        (["step=1.5G"], call(STEP, step=1536)),
        (["step=1P"], call(STEP, step=1 << 30)),
        (["policy=turns"], call(POLICY, policy=0)),
        (["policy=none"], call(POLICY, policy=1)),
        (["policy=fair"], call(POLICY, policy=2)),
        (["policy=token"], call(POLICY, policy=3)),
        (["policy=auto"], call(POLICY, policy=4)),
        (["share=job"], call(SHARE, share=0)),
        (["share=user"], call(SHARE, share=1)),
        (["queue=auto"], call(QUEUE, queue=1)),
        (["queue=off"], call(QUEUE, queue=0)),
        (
            ["min_slice=3s", "slice=4s", "mode=always", "bin=1.5G"],
            call(MODE | SLICE | BIN | MIN_SLICE, mode=2, slice=4 * 10**9, bin=1536 * MIB,
                 min=3 * 10**9),
        ),
    ],
)  # fmt: skip
def test_set(mtsctl, host, args, expected):
    shown = mtsctl("set", *args, **host.fake)
    assert (shown.status, shown.out, shown.err) == (0, "", "")
    assert mtsctl.calls == [expected]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "nothing to set"),
        (["mode"], "'mode': write KEY=VALUE"),
        ([""], "write KEY=VALUE"),
        (["=1"], "unknown key in '=1'"),
        (["speed=1"], "unknown key in 'speed=1'"),
        (["a-very-long-key-that-is-none=1"], "unknown key"),
        (["mode="], "mode=: not one of off, auto, always or shadow"),
        (["mode=on"], "mode=on: not one of off, auto, always or shadow"),
        (["mode=AUTO"], "not one of"),
        (["pack=best"], "not one of ffd, bfd or rw"),
        (["evict=1"], "not one of off, need, full or auto"),
        (["slice="], "a value is missing"),
        (["slice=2"], "the unit is missing"),
        (["slice=-2s"], "negative"),
        (["slice=nan"], "not a number"),
        (["slice=1e9"], "unknown unit"),
        (["slice=9ms"], "not between 10ms and 60s"),
        (["slice=61s"], "not between 10ms and 60s"),
        (["slice=999999999999h"], "too large"),
        (["slice=2s "], "unknown unit"),
        (["slice=2s=3s"], "unknown unit"),
        (["max_pause=999ms"], "not between 1s and 24h"),
        (["min_slice=1ms"], "not between 10ms and 60s"),
        (["min_slice=3s"], "min_slice=3s would be longer than slice, 2s"),
        (["min_slice=3s", "slice=2500ms"], "would be longer than slice, 2500ms"),
        (["demand=some"], "demand=some: not one of allocated or used"),
        (["queue=on"], "queue=on: not one of off or auto"),
        (["policy=tpf"], "policy=tpf: not one of turns, none, fair, token or auto"),
        (["share=users"], "share=users: not one of job or user"),
        (["overhead="], "a value is missing"),
        (["overhead=5"], "overhead=5: not a percentage: write 5%"),
        (["overhead=none"], "not a number"),
        (["overhead=-5%"], "negative"),
        (["overhead=5%%"], "not a percentage"),
        (["overhead=0.05%"], "finer than steps of 0.1%"),
        (["overhead=2.55%"], "finer than steps of 0.1%"),
        (["overhead=50.1%"], "overhead=50.1%: not between 0% and 50%"),
        (["overhead=101%"], "more than 100%"),
        (["interactive=90.1%"], "interactive=90.1%: not between 0% and 90%"),
        (["interactive=64M"], "not a percentage"),
        (["overhead=off", "overhead=5%"], "overhead is given twice"),
        (["bin=0"], "not between 1M and 1P"),
        (["bin=1023K"], "not between 1M and 1P"),
        (["bin=1025T"], "not between 1M and 1P"),
        (["bin=16777217T"], "bin=16777217T: too large"),
        (["step=16777217T"], "step=16777217T: not bin, auto or a size: too large"),
        (["bin=96MB"], "decimal units"),
        (["bin=99999999999999999999"], "too large"),
        (["bin=0%"], "0% is no memory"),
        (["bin=101%"], "more than 100%"),
        (["bin=0.001%"], "not between 1M and 1P"),
        (["step="], "step=: not bin, auto or a size: a value is missing"),
        (["step=full"], "step=full: not bin, auto or a size: not a number"),
        (["step=off"], "not bin, auto or a size"),
        (["step=40%"], "not bin, auto or a size: unknown unit"),
        (["step=0"], "step=0: not between 1M and 1P"),
        (["step=1023K"], "not between 1M and 1P"),
        (["step=1025T"], "not between 1M and 1P"),
        (["step=1.2M"], "step=1.2M: not in whole MiB"),
        (["step=auto", "step=bin"], "step is given twice"),
        (["slice=1s", "slice=2s"], "slice is given twice"),
        (["mode=auto", "mode=auto"], "mode is given twice"),
        (["mode=auto", "slice=x"], "not a number"),
    ],
)
def test_set_refuses(mtsctl, host, args, message):
    shown = mtsctl("set", *args, **host.fake)
    assert shown.status == 2
    assert message in shown.err
    assert shown.out == ""
    assert mtsctl.calls == []


@pytest.mark.parametrize(("errno", "message"), [(34, "a value is out of range"), (22, "words")])
def test_module_refuses(mtsctl, errno, message):
    shown = mtsctl("set", "mode=auto", fail=f"config_set={errno}")
    assert shown.status == 2
    assert message in shown.err
    assert "nothing has changed" in shown.err


def test_share_without_meminfo(mtsctl, host):
    (host.proc / "meminfo").write_text("MemTotal: 5 kB\n")
    shown = mtsctl("set", "bin=40%", **host.fake)
    assert shown.status == 1
    assert "give a size" in shown.err
    assert mtsctl.calls == []


def test_get(mtsctl):
    assert mtsctl("get").out == (
        "mode=auto\npolicy=turns\nshare=job\npack=bfd\nevict=need\ndemand=used\nslice=2s\nmin_slice=100ms\nmax_pause=30s\n"
        "overhead=2.5%\ninteractive=25%\nbin=auto\nqueue=off\nstep=bin\n"
    )


def test_an_old_module_has_no_step_and_no_policy(mtsctl):
    """What `get` shows, `set` takes: of a module before ABI 4, too."""
    assert "step" not in mtsctl("get", abi=3).out
    assert "policy" not in mtsctl("get", abi=3).out
    assert "share" not in mtsctl("get", abi=3).out
    old = json.loads(mtsctl("get", "--json", abi=3).out)
    assert (old["step"], old["policy"], old["share"]) == (None, None, None)


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        (
            {"slice": 2500000000, "bin": 96 * MIB, "overhead": 50, "step": 512},
            ("slice=2500ms", "bin=96M", "overhead=5%", "step=512M"),
        ),
        (
            {"slice": 100000001, "bin": MIB + 1, "overhead": 1, "step": STEP_AUTO},
            ("slice=100000001ns", "bin=1048577", "overhead=0.1%", "step=auto"),
        ),
        (
            {"slice": 60 * 10**9, "bin": 1 << 50, "overhead": 0, "step": STEP_BIN},
            ("slice=60s", "bin=1P", "overhead=off", "step=bin"),
        ),
    ],
)
def test_set_takes_what_get_shows(mtsctl, fields, shown):
    out = mtsctl("get", **{f"config_{key}": value for key, value in fields.items()}).out
    assert set(shown) < set(out.split())
    assert mtsctl("set", *out.split()).status == 0
    rest = {"mode": 1, "pack": 1, "evict": 1, "demand": 1, "interactive": 250}
    assert mtsctl.calls == [call(0x3FFF, min=10**8, pause=30 * 10**9, **rest, **fields)]


def test_get_json(mtsctl):
    assert json.loads(mtsctl("get", "--json").out) == {
        "schema_version": 1,
        "mode": "auto",
        "policy": "turns",
        "share": "job",
        "pack": "bfd",
        "evict": "need",
        "demand": "used",
        "slice_ns": 2 * 10**9,
        "min_slice_ns": 10**8,
        "max_pause_ns": 30 * 10**9,
        "overhead": 25,  # per mille
        "interactive": 250,
        "bin_bytes": None,
        "step": "bin",
        "queue": "off",
    }
    assert json.loads(mtsctl("get", "--json", config_bin=MIB).out)["bin_bytes"] == MIB
    assert json.loads(mtsctl("get", "--json", config_step=STEP_AUTO).out)["step"] == "auto"
    assert json.loads(mtsctl("get", "--json", config_step=512).out)["step"] == 512 * MIB
