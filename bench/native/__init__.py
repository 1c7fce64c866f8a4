# SPDX-License-Identifier: GPL-2.0
"""Policies side by side on this host, at native speed and with gigabytes: bench/bench-host.

host.py      what the host is; memory made scarce; a swap of our own
suites.py    jobs, of work that was measured on this host
policies.py  how memory is shared: stock, mts, others
course.py    one run under watch
figures.py   medians of pairs of runs, and how sure they are
report.py    figures for people, and a picture

Sizes are bytes, times seconds of CLOCK_MONOTONIC, unless a name says otherwise.
"""


class NativeError(Exception):
    """Why nothing can be measured, and what to do about it."""
