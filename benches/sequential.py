"""Rules by which a comparison may end, as functions of simulated units. Needs NumPy and SciPy.

The spending recursion, the trimmed t and the look schedule are those of `crates/duetbench-stats`, written a second time, so
that a study of the rule does not rest on the code that applies it. Values are log ratios; an array of means or standard errors has
one row for each look and one column for each experiment.
"""

import functools
import sys
from dataclasses import dataclass

try:
    import numpy as np
    from scipy import optimize, stats
except ImportError:
    sys.exit(
        "this study needs NumPy and SciPy: `python3 -m venv venv && venv/bin/pip install numpy scipy`, then "
        "`venv/bin/python benches/verdict_rules.py`"
    )

THRESHOLD = 0.03
BAND = np.log1p(THRESHOLD)
LOOKS = (4, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160, 200, 256, 320, 400)
MORE_LOOKS = (4, 5, 6, 7, 8, 9, 10, 11, *LOOKS[4:])
INCONCLUSIVE, NO_CHANGE, WITHIN, REGRESSION, IMPROVEMENT, OPEN = range(6)
# Factors on a p-value that make up for what the t and the trimmed t do to normal boundaries; see the study's section on depth.
DEPTH = 0.065
# Points of the quadrature between two boundaries; twice as many change a nominal p by less than 1e-5 of itself.
GRID = 401


def looks(horizon, planned=LOOKS):
    return [n for n in planned if n < horizon] + [horizon]


def spent(at, error, power):
    """Error spent by each look; the last of them is the horizon."""
    share = np.array(at) / at[-1]
    return error * (np.log1p((np.e - 1) * share) if power == "pocock" else share**power)


@functools.lru_cache(maxsize=None)
def nominal(at, cumulative):
    """Two-sided nominal p of each look that spends so much by then, for normal values of known variance."""
    points, mass, before, found = np.zeros(1), np.ones(1), 0, []
    for n, error in zip(at, np.diff((0, *cumulative))):
        step = np.sqrt(n - before)

        def excess(z):
            beyond = stats.norm.sf((z * np.sqrt(n) - points) / step) + stats.norm.cdf((-z * np.sqrt(n) - points) / step)
            return np.log(mass @ beyond / error)

        z = optimize.brentq(excess, 0, stats.norm.isf(error / 2) + 1e-9)
        found.append(2 * stats.norm.sf(z))
        grid = np.linspace(-z * np.sqrt(n), z * np.sqrt(n), GRID)
        weights = np.ones(GRID)
        weights[1:-1:2], weights[2:-1:2] = 4, 2
        density = stats.norm.pdf((grid[:, None] - points) / step) @ mass / step
        points, mass, before = grid, weights * (grid[1] - grid[0]) / 3 * density, n
    return np.array(found)


def freedom(n):
    """Degrees of freedom of the trimmed t."""
    return n - 2 * (n // 10) - 1


def critical(at, cumulative):
    """Critical t of each look, a column."""
    p_values = nominal(tuple(at), tuple(np.asarray(cumulative).tolist()))
    return np.array([stats.t.isf(p / 2, freedom(n)) for p, n in zip(p_values, at)])[:, None]


def trimmed(units):
    """10 %-trimmed mean of each row and Yuen's standard error; below ten units the plain ones."""
    n = units.shape[1]
    cut = n // 10
    if cut == 0:
        return units.mean(1), units.std(1, ddof=1) / np.sqrt(n)
    ordered = np.sort(units, axis=1)
    winsorised = np.clip(ordered, ordered[:, cut : cut + 1], ordered[:, n - 1 - cut : n - cut])
    return ordered[:, cut : n - cut].mean(1), winsorised.std(1, ddof=1) / ((1 - 2 * cut / n) * np.sqrt(n))


def seen(units, at):
    """Means and standard errors at every look."""
    both = [trimmed(units[:, :n]) for n in at]
    return np.array([mean for mean, _ in both]), np.array([error for _, error in both])


def draw(random, experiments, design):
    """Units of equal versions. The first four build pairs have two fork pairs each, as in a default run."""
    of_builds, of_forks, units = design
    forks = of_forks * random.standard_normal((experiments, units))
    if of_builds == 0:
        return forks
    forks[:, :4] /= np.sqrt(2)
    return forks + of_builds * random.standard_normal((experiments, units))


def promised(error):
    """The nominal error that the correction for depth turns into this one."""
    return optimize.brentq(lambda p: corrected(p) - error, error / 4, error)


def corrected(p_value):
    """A sequential p-value that is at most `a` with probability of about `a`, however small."""
    return p_value * (1 - DEPTH * np.log(p_value))


@dataclass(frozen=True)
class Rule:
    """One boundary: whether the interval lies inside the band, or beyond it. A change must be shown besides."""

    error: float = 0.10
    power: float | str = 1.0
    alpha: float = 0.01
    no_change_error: float | None = None
    regression_error: float | None = None
    exact: bool = True
    prospect: float = 0.1
    answer: float = 0.05
    planned: tuple = LOOKS

    def nominal(self, error):
        return promised(error) if self.exact else error

    def boundaries(self, at, ends_early=None):
        """Critical t: of a change, of the band, and of what lies beyond it. A run that the clock ends
        at its last look may be told the horizon it had (`ends_early`), and spends there all that is left."""

        def of(error, power):
            level = self.nominal(error)
            if ends_early is None:
                return critical(at, spent(at, level, power))
            return critical(at, [*spent([*at, ends_early], level, power)[: len(at) - 1], level])

        shown = of(self.error, self.power)
        inside = of(self.no_change_error, self.power) if self.no_change_error else shown
        beyond = of(self.regression_error, self.power) if self.regression_error else shown
        return of(self.alpha, 1.5), inside, beyond

    def judge(self, means, errors, at, ends_early=None):
        change, inside, beyond = self.boundaries(at, ends_early)
        changed = np.logical_or.accumulate(np.abs(means) >= change * errors, axis=0)
        within = np.abs(means) + inside * errors < BAND
        slower, faster = changed & (means - beyond * errors > BAND), changed & (means + beyond * errors < -BAND)
        words = np.select([within & changed, within, slower, faster, changed], [WITHIN, NO_CHANGE, REGRESSION, IMPROVEMENT, OPEN])
        ends = within | slower | faster
        if ends_early is None:
            rest = Rest(means, errors, at)
            to_lie_within = rest.within(inside[-1])
            ends[:-1] |= (words == OPEN)[:-1] & (rest.beyond(inside[-1], BAND) + to_lie_within < self.prospect)
            ends[:-1] |= (words == INCONCLUSIVE)[:-1] & (rest.beyond(change[-1], 0) + to_lie_within < self.answer)
        return ended(words, ends, at)


@dataclass(frozen=True)
class Former:
    """A change is called as soon as the interval excludes `least`, and none where it lies inside the band."""

    least: float = 0.0
    no_change_error: float | None = None
    alpha: float = 0.01
    planned: tuple = LOOKS

    def judge(self, means, errors, at):
        change = critical(at, spent(at, self.alpha, 1.5))
        inside = critical(at, spent(at, self.no_change_error or self.alpha, 1.5))
        changed = np.logical_or.accumulate(np.abs(means) >= change * errors, axis=0)
        within = np.abs(means) + inside * errors < BAND
        slower, faster = changed & (means - change * errors > self.least), changed & (means + change * errors < -self.least)
        words = np.select([within, slower, faster], [NO_CHANGE, REGRESSION, IMPROVEMENT])
        return ended(words, (within | slower | faster) & ~vague(means, change * errors), at)


class Rest:
    """Chances, at every look but the last, of what the interval of the last one will be, given its critical t."""

    def __init__(self, means, errors, at):
        n = np.array(at[:-1])[:, None]
        self.t = stats.t(np.array([freedom(one) for one in at[:-1]])[:, None])
        self.means, self.scales = means[:-1], errors[:-1] * np.sqrt(1 - n / at[-1])
        self.errors = errors[:-1] * np.sqrt(n / at[-1])

    def below(self, last, end):
        return self.t.cdf((end - last * self.errors - self.means) / self.scales)

    def above(self, last, end):
        return self.t.sf((end + last * self.errors - self.means) / self.scales)

    def beyond(self, last, distance):
        return self.above(last, distance) + self.below(last, -distance)

    def within(self, last):
        return np.maximum(self.above(last, -BAND) + self.below(last, BAND) - 1, 0)


def vague(means, half_widths):
    return half_widths > np.maximum(np.abs(means) / 2, 3 * BAND)


def ended(words, settled, at):
    """The word with which each experiment ends, its units, and the number of that look."""
    settled = settled.copy()
    settled[-1] = True
    look = settled.argmax(0)
    return words[look, np.arange(words.shape[1])], np.array(at)[look], look


def widened(degrees, quantile=0.35):
    """Factor on a spread that was estimated where a run ended, which is rather where it came out small."""
    return np.sqrt(degrees / stats.chi2.ppf(quantile, degrees))


@functools.lru_cache(maxsize=None)
def factor(degrees, p_value, power):
    """Standard errors by which a true effect must lie beyond a boundary to be seen there with this power."""
    least = stats.t.isf(p_value / 2, degrees)
    return optimize.brentq(lambda k: stats.nct.sf(least, degrees, k) - power, 1e-6, 3 * least + 30)
