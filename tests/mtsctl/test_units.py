# SPDX-License-Identifier: GPL-2.0
"""The C tests: parsers (tables, round trips, random bytes), ipc.c and the model of top."""

import random
import re
import subprocess
from fractions import Fraction

import pytest

U32, U64 = 2**32 - 1, 2**64 - 1
TOTAL = 1000000007  # of which test_parse takes shares
NUMBER = r"([0-9]+(?:\.[0-9]{1,18})?)"
SIZE = re.compile(NUMBER + r"(?:[bB]|([kKmMgGtTpP])(?:[iI][bB]?)?)?")
TIME = re.compile(NUMBER + r"(ns|us|ms|s|m|min|h)")
NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "min": 60 * 10**9}
NS["h"] = 3600 * 10**9


@pytest.mark.parametrize(
    "program",
    [
        *("test_parse", "test_watch", "test_ipc", "test_top", "test_glob", "test_program"),
        "test_paths",
    ],
)
def test_c_program(built, program):
    done = subprocess.run([built / program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


# ---- parsers of our own, as naive as can be; None: refused ----------------------------


def scaled(number, unit, largest=U64):
    """Rounded down; the smallest unit cannot be divided."""
    value = Fraction(number) * unit
    if value > largest or (unit == 1 and value.denominator != 1):
        return None
    return int(value)


def size(text):
    match = SIZE.fullmatch(text)
    return match and scaled(match[1], 1024 ** (" kmgtp".index((match[2] or " ").lower())))


def share(text, total):
    match = re.fullmatch(NUMBER + "%", text)
    if not match:
        return size(text)
    if not 0 < Fraction(match[1]) <= 100:
        return None
    # The whole percents and the rest are rounded down one by one.
    whole = int(Fraction(match[1]))
    return total * whole // 100 + int(total * (Fraction(match[1]) - whole)) // 100


def permille(text):
    match = re.fullmatch(NUMBER + "%", text)
    if not match or Fraction(match[1]) > 100 or (Fraction(match[1]) * 10).denominator != 1:
        return None
    return int(Fraction(match[1]) * 10)


def time(text):
    match = TIME.fullmatch(text)
    return match and scaled(match[1], NS[match[2]])


def interval(text):
    return time(text + "s" if re.fullmatch(NUMBER, text) else text)


def whole(text, smallest, largest):
    if re.fullmatch("[0-9]+", text) and smallest <= int(text) <= largest:
        return int(text)
    return None


def size_count(text):
    match = re.fullmatch("([^x]{1,63})x([0-9]+)", text)
    one, count = (match[1], int(match[2])) if match else (text, 1)
    return f"{size(one)}x{count}" if size(one) and 1 <= count <= 4096 else None


def expected(text):
    results = [
        size(text),
        share(text, TOTAL),
        permille(text),
        time(text),
        interval(text),
        whole(text, 1, 1000),
        whole(text, 1, 2**31 - 1),
        whole(text, 0, U32),
        size_count(text),
    ]
    return " ".join("-" if r is None else str(r) for r in results)


def random_text(rng):
    """A number with a unit, as people write them, and up to two mistakes in it."""
    digits = [*"0123456789", "00", "10", "007", "4096", "18446744073709551615", "4294967296"]
    number = "".join(rng.choice(digits) for _ in range(rng.randint(0, 3)))
    if rng.random() < 0.3:
        number += "." + "".join(rng.choice("0123456789") for _ in range(rng.randint(0, 19)))
    text = rng.choice(["", "", "", "", "0x", "-", "+", " ", "0"]) + number
    text += rng.choice([*"bKkMGtP%smhx", "Ki", "MiB", "ns", "us", "ms", "min", "", "", "e3"])
    if rng.random() < 0.3:
        text += "x" + rng.choice(["", "0", "1", "3", "010", "4096", "4097", "0x3", "-1", "3M"])
    for _ in range(rng.choice([0, 0, 1, 2])):
        at = rng.randint(0, len(text))
        text = text[:at] + rng.choice("0123456789.xXeE%+- kKMGTPiBsmhun") + text[at:]
    return text


def test_parsers_agree_with_naive_ones(built):
    """Fault: 0x3 was three jobs of 0 bytes. Whatever is random here comes from a fixed seed."""
    rng = random.Random(20261128)
    texts = sorted({random_text(rng) for _ in range(30000)})
    assert len(texts) > 15000
    done = subprocess.run(
        [built / "test_parse", "--print"],
        input="".join(text + "\n" for text in texts),
        capture_output=True,
        text=True,
        check=True,
    )
    found = done.stdout.splitlines()
    wrong = [
        f"'{text}': {line}, not {expected(text)}"
        for text, line in zip(texts, found, strict=True)
        if line != expected(text)
    ]
    assert not wrong, "\n".join(wrong[:40])
    # The texts are of both kinds, for every parser.
    for column in zip(*(line.split() for line in found), strict=True):
        assert len(set(column)) > 20
        assert "-" in column
