# SPDX-License-Identifier: GPL-2.0
"""How fast a run does its work, and how sure that is.

A run reports (seconds, work done) now and then. What lies between two reports is a window. The
rate is all work of the windows over all of their time. Its 90 % interval is Student's t-interval
over the windows' residuals (the ratio estimator: Cochran, Sampling Techniques, 6.3): a window that
is longer, as its report came late, counts for more. Neighbours that resemble each other tell less
than they seem to; the interval grows by sqrt((1 + r) / (1 - r)), r their correlation (Law and
Kelton, Simulation Modeling and Analysis, 9.5).

It is the interval of this run's rate as long as the run goes on like that. It knows nothing of
other runs.
"""

import itertools
import math
from dataclasses import dataclass, field
from statistics import NormalDist

CONFIDENCE = 0.9
# Fewer windows say little about the spread: t is 6.3 for two of them, 2.1 for five.
WINDOWS = 5
WITHIN = 0.2  # of the rate: a half-width that is good enough
_MOST_ALIKE = 0.9  # a correlation; with few windows it is a guess


def t_quantile(p: float, freedom: int) -> float:
    """Of Student's distribution, to 0.003 from four degrees of freedom on.

    Abramowitz and Stegun, 26.7.5.
    """
    x = NormalDist().inv_cdf(p)
    return (
        x
        + (x**3 + x) / (4 * freedom)
        + (5 * x**5 + 16 * x**3 + 3 * x) / (96 * freedom**2)
        + (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / (384 * freedom**3)
    )


@dataclass(frozen=True)
class Estimate:
    """A rate in work a second."""

    rate: float
    half_width: float  # of its interval
    windows: int

    @property
    def low(self) -> float:
        """The interval's lower end; a rate is not negative."""
        return max(0.0, self.rate - self.half_width)

    @property
    def high(self) -> float:
        """Its upper end."""
        return self.rate + self.half_width

    @property
    def is_good(self) -> bool:
        """Is the interval narrow enough?"""
        return self.rate > 0 and self.half_width <= WITHIN * self.rate

    def times(self, work: float) -> tuple[float, float, float]:
        """Seconds for so much work: at that rate, and at the interval's upper and lower end."""
        return tuple(work / rate if rate else math.inf for rate in (self.rate, self.high, self.low))


@dataclass
class Rate:
    """Of one run; the first report begins the first window."""

    _last: tuple[float, float] | None = None
    _windows: list[tuple[float, float]] = field(default_factory=list)  # seconds, work

    def add(self, seconds: float, work: float) -> None:
        """A report: so much work was done after so many seconds."""
        if self._last:
            self._windows.append((seconds - self._last[0], work - self._last[1]))
        self._last = (seconds, work)

    def estimate(self) -> Estimate | None:
        """As of now; None while there are too few windows."""
        n = len(self._windows)
        if n < WINDOWS:
            return None
        time = sum(seconds for seconds, _ in self._windows)
        rate = sum(work for _, work in self._windows) / time
        residuals = [work - rate * seconds for seconds, work in self._windows]
        squares = sum(residual**2 for residual in residuals)
        error = math.sqrt(squares / (n - 1) * n) / time
        alike = math.sqrt((1 + (r := _alike(residuals, squares))) / (1 - r))
        t = t_quantile((1 + CONFIDENCE) / 2, n - 1)
        return Estimate(rate, t * error * alike, n)


def _alike(residuals: list[float], squares: float) -> float:
    """The correlation of neighbours; a negative one would narrow the interval and is not used."""
    products = sum(a * b for a, b in itertools.pairwise(residuals))
    return min(max(products / squares, 0.0), _MOST_ALIKE) if squares else 0.0
