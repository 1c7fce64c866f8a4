# SPDX-License-Identifier: GPL-2.0
"""Figures of runs, compared in pairs.

The policies run in turn, A B A B ..., so that what changes on the host meanwhile (temperature, a
disk that fills) meets all of them. A pair is a policy's run and the run of the first policy beside
it. Of the pairs' ratios the median is shown, with the interval of 95 % that scipy's bootstrap gives
(bias-corrected and accelerated; percentiles where that is not defined, as with equal ratios). With
five pairs it is wide, and honest.
"""

import statistics
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from bench.lab.experiment import Json

CONFIDENCE = 0.95
RESAMPLES = 2000  # the ends are then right to a hundredth of the spread


@dataclass(frozen=True)
class Figures:
    """Of one run."""

    rate: float  # of all work, a second: a run that was cut off has one, too
    seconds: float | None  # for all work; None: it was cut off
    pause: float  # s, the longest of a job
    jain: float | None  # of the jobs' progress, when the first of them had done its work
    moved: int  # pages, in and out
    killed: int  # jobs that ended by a signal, or failed
    starved: float  # s for which a job waited as reclaim found nothing
    hurt: str  # why the run was ended: the host hardly answered


def of_run(outcome: Json) -> Figures:
    """From the driver's outcome."""
    if hurt := outcome.get("hurt", ""):
        return Figures(0.0, None, 0.0, None, 0, 0, 0.0, hurt)
    jobs = outcome["jobs"]
    failed = [job for job in jobs if job["ended"] is not None and job["status"] != 0]
    vmstat = outcome["vmstat"]
    return Figures(
        rate=outcome["work"] / outcome["elapsed"],
        seconds=outcome["elapsed"] if outcome["finished"] else None,
        pause=max(job["longest_pause"] or 0.0 for job in jobs),
        jain=outcome["jain"],
        moved=vmstat["pswpin"] + vmstat["pswpout"],
        killed=len(failed),
        starved=outcome["without_memory"],
        hurt="",
    )


@dataclass(frozen=True)
class Interval:
    """A median, and where it lies with 95 % confidence."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.median:.3g}"
        return f"{self.median:.3g} ({self.low:.3g} to {self.high:.3g})"


def interval(values: Sequence[float]) -> Interval:
    """Of a sample; of a single value there is no interval."""
    median = statistics.median(values)
    if len(set(values)) < 2:
        return Interval(median, median, median)
    for method in ("BCa", "percentile"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = stats.bootstrap(
                (np.asarray(values),),
                np.median,
                confidence_level=CONFIDENCE,
                n_resamples=RESAMPLES,
                method=method,
                random_state=1,
            ).confidence_interval
        if np.isfinite([found.low, found.high]).all():
            break
    return Interval(median, float(found.low), float(found.high))


def ratios(first: Sequence[Figures], other: Sequence[Figures]) -> list[float]:
    """Work a second of each pair: the other's over the first's. A pair that hurt has none."""
    return [b.rate / a.rate for a, b in zip(first, other, strict=False) if a.rate and b.rate]
