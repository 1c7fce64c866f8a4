# SPDX-License-Identifier: GPL-2.0
"""Sizes, times and jobs, as mtsctl takes them."""

import datetime
import os

from mts.records import Job

# As mtsctl takes it, "6G" or "50%"; or bytes.
Size = str | int
# As mtsctl takes it, "2s" or "1500ms"; or seconds; or a timedelta.
Time = str | float | datetime.timedelta
# Its name, or the path of its cgroup; its id; or the record.
JobName = str | int | Job
Word = str | os.PathLike[str]


def size(value: Size) -> str:
    """A size.

    >>> size("6G"), size(4096)
    ('6G', '4096')
    """
    return str(value)


def time(value: Time) -> str:
    """A time.

    >>> time("2s"), time(1.5), time(datetime.timedelta(minutes=1))
    ('2s', '1500000000ns', '60000000000ns')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, datetime.timedelta):
        return f"{value // datetime.timedelta(microseconds=1) * 1000}ns"
    return f"{round(value * 10**9)}ns"


def limit(value: Time | None) -> str:
    """A pause limit; None: there is none.

    >>> limit(None), limit(2)
    ('off', '2000000000ns')
    """
    return "off" if value is None else time(value)


def job(value: JobName) -> str:
    """Name a job.

    >>> job("make"), job(7)
    ('make', 'id=7')
    """
    if isinstance(value, Job):
        return f"id={value.id}"
    return f"id={value}" if isinstance(value, int) else value


def each(how: bool | str) -> list[str]:
    """The option --each.

    >>> each(False), each(True), each("child")
    ([], ['--each'], ['--each=child'])
    """
    if isinstance(how, str):
        return [f"--each={how}"]
    return ["--each"] if how else []
