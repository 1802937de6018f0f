"""Writes scipy.json, the known answers that tests/it/against_scipy.rs holds the methods against, and simulations that tests of duetbench-core are held against.

    python3 -m venv /tmp/scipy && /tmp/scipy/bin/pip install scipy==1.17.1
    /tmp/scipy/bin/python crates/duetbench-stats/tests/reference/make.py

Takes some minutes, for the simulations and for grids that are finer than need be.
"""

import functools

import numpy as np
import scipy
from scipy import optimize, stats

from known import write


def factor(df, alpha, power):
    """Noncentrality at which a two-sided t test has this power."""
    critical = stats.t.isf(alpha / 2, df)
    # Where the other tail is too small for SciPy it is NaN.
    other_tail = lambda k: np.nan_to_num(stats.nct.cdf(-critical, df, k))
    missing = lambda k: stats.nct.sf(critical, df, k) + other_tail(k) - power
    return optimize.brentq(missing, 1e-6, 3 * critical + 10, xtol=1e-13, rtol=1e-13)


def trimmed_df(n):
    return n - 2 * (n // 10) - 1


def smallest_sample(spread, distance, alpha, power):
    n = 2
    while factor(trimmed_df(n), alpha, power) * spread > distance * np.sqrt(n):
        n += 1
    return n


def trimmed_t(values, alpha):
    """Mean, standard error, p and interval; by SciPy's own one-sample methods wherever they apply."""
    n, g = len(values), len(values) // 10
    winsorised = np.asarray(stats.mstats.winsorize(values, limits=(g / n, g / n)))
    mean = stats.trim_mean(values, g / n)
    error = winsorised.std(ddof=1) / ((1 - 2 * g / n) * np.sqrt(n))
    df = n - 2 * g - 1
    p = 2 * stats.t.sf(abs(mean / error), df)
    low, high = mean + np.array([-1, 1]) * stats.t.isf(alpha / 2, df) * error
    if g == 0:
        test = stats.ttest_1samp(values, 0)
        scipys = [test.pvalue, *test.confidence_interval(1 - alpha)]
        assert np.allclose(scipys, [p, low, high], rtol=1e-12)
    elif n % 10 == 0:
        scipys = stats.mstats.trimmed_mean_ci(values, limits=(0.1, 0.1), alpha=alpha)
        assert np.allclose(scipys, [low, high], rtol=1e-12)
    return {"values": list(values), "alpha": alpha, "mean": mean, "error": error, "df": df, "p": p, "low": low, "high": high}


def looks(horizon):
    planned = [4, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160, 200]
    return [n for n in planned if n < horizon] + [horizon]


@functools.cache
def nominal_p(horizon, n, alpha, power=1.5, everything=False):
    """Nominal p of the look after n values, which may spend everything that is left: densities by Simpson's rule on a fine grid
    over both signs of the sum."""
    taken = [m for m in looks(horizon) if m < n] + [n]
    spent = alpha * (np.array([0, *taken]) / horizon) ** power
    if everything:
        spent[-1] = alpha
    points, masses, values = np.zeros(1), np.ones(1), 0
    for m, exit in zip(taken, np.diff(spent)):
        step = np.sqrt(m - values)
        tails = lambda z: masses @ (stats.norm.sf((z * np.sqrt(m) - points) / step) + stats.norm.cdf((-z * np.sqrt(m) - points) / step))
        # On a logarithmic scale, and only where the tails do not vanish altogether.
        z = optimize.brentq(lambda z: np.log(tails(z) / exit), 0, stats.norm.isf(exit / 2) + 1e-9, xtol=1e-14, rtol=1e-14)
        if m < n:
            grid = np.linspace(-z * np.sqrt(m), z * np.sqrt(m), 2001)
            weights = np.ones(2001)
            weights[1:-1:2], weights[2:-1:2] = 4, 2
            densities = stats.norm.pdf((grid[:, None] - points) / step) @ masses / step
            points, masses, values = grid, weights * (grid[1] - grid[0]) / 3 * densities, m
    return 2 * stats.norm.sf(z)


def nominal_p_cases():
    alphas = [0.5, 0.05, 0.01, 0.001, 1e-6, 1e-12]
    # The last of these are not planned: the experiment ended after them.
    ends = {5: [4, 5], 10: [*looks(10), 7], 20: [*looks(20), 3, 5, 9, 17], 21: [20, 21], 30: looks(30), 200: [6, 25, 100, 200, 33, 161]}
    return [[horizon, n, a, nominal_p(horizon, n, a)] for horizon, ns in ends.items() for n in ns for a in alphas]


def t_by_column(values):
    """Trimmed mean of every column, its standard error, and their degrees of freedom."""
    n, g = len(values), len(values) // 10
    ascending = np.sort(values, axis=0)
    winsorised = np.clip(ascending, ascending[g], ascending[n - 1 - g])
    error = winsorised.std(axis=0, ddof=1) / ((1 - 2 * g / n) * np.sqrt(n))
    return ascending[g : n - g].mean(axis=0), error, n - 2 * g - 1


def p_by_column(values):
    """Two-sided p of the trimmed t of every column."""
    mean, error, df = t_by_column(values)
    return 2 * stats.t.sf(np.abs(mean / error), df)


def stopping(horizon, effect, draws=1_000_000):
    """Share of the experiments that stop, and mean number of values, when values are normal with this mean and spread 1."""
    alphas = [0.05, 0.01, 0.001]
    values = np.random.default_rng(20190409).standard_normal((horizon, draws)) + effect
    stopped_at = np.zeros((len(alphas), draws))
    for n in looks(horizon):
        p = p_by_column(values[:n])
        for of_alpha, alpha in zip(stopped_at, alphas):
            of_alpha[(of_alpha == 0) & (p <= nominal_p(horizon, n, alpha))] = n
    shares, means = np.mean(stopped_at > 0, axis=1), np.mean(np.where(stopped_at > 0, stopped_at, horizon), axis=1)
    return [[horizon, effect, *case] for case in zip(alphas, shares, means)]


def kept_by_t(alpha):
    """The level at which boundaries for a known variance must be set for a t test to keep alpha."""
    return optimize.brentq(lambda level: level * (1 - 0.065 * np.log(level)) - alpha, alpha / 10, alpha, xtol=1e-16)


WORDS = ["inconclusive", "no_change", "regression", "improvement", "slower_within_tolerance", "faster_within_tolerance", "slower_size_open", "faster_size_open"]


def verdicts(values, alpha, threshold):
    """What the first look that settles a column says, or the last one (an index of WORDS), and after how many values."""
    horizon, band = len(values), np.log1p(threshold)
    says, after = np.zeros(values.shape[1], int), np.full(values.shape[1], horizon)
    changed, open_ = np.zeros(values.shape[1], bool), np.ones(values.shape[1], bool)
    for n in looks(horizon):
        mean, error, df = t_by_column(values[:n])
        changed |= 2 * stats.t.sf(np.abs(mean / error), df) <= nominal_p(horizon, n, kept_by_t(alpha))
        half = error * stats.t.isf(nominal_p(horizon, n, kept_by_t(10 * alpha), 1.0) / 2, df)
        slower, faster = changed & (mean - half > 0), changed & (mean + half < 0)
        within = (mean - half > -band) & (mean + half < band)
        now = np.select([slower & (mean - half > band), faster & (mean + half < -band), slower & within, faster & within, slower, faster, within],
                        [2, 3, 4, 5, 6, 7, 1])
        settles = (now > 0) & (now < 6)
        if n < horizon:
            # An open column ends too if the last look would hardly tell: the side of the threshold (chance below a tenth), or anything (one in twenty).
            at_end = lambda level, power: stats.t.isf(nominal_p(horizon, horizon, kept_by_t(level), power) / 2, trimmed_df(horizon))
            size, change = (at_end(*test) * error * np.sqrt(n / horizon) for test in ((10 * alpha, 1.0), (alpha, 1.5)))
            to_come = error * np.sqrt(1 - n / horizon)
            above = lambda end, half: stats.t.sf((end + half - mean) / to_come, df)
            below = lambda end, half: stats.t.cdf((end - half - mean) / to_come, df)
            inside = np.maximum(above(-band, size) + below(band, size) - 1, 0)
            settles |= (now >= 6) & (above(band, size) + below(-band, size) + inside < 0.1)
            settles |= (now == 0) & (above(0, change) + below(0, change) + inside < 0.05)
        new = open_ & (settles | (n == horizon))
        says[new], after[new] = now[new], n
        open_ &= ~new
    return says, after


def build_pairs(change, sd_build, sd_fork, draws=200_000):
    """32 build pairs at most, the first four with two fork pairs: shares of the verdicts, and mean number of fork pairs."""
    rng = np.random.default_rng(20190409)
    forks = rng.standard_normal((32, 2, draws)) * sd_fork
    values = np.log1p(change) + rng.standard_normal((32, draws)) * sd_build
    values += np.where(np.arange(32)[:, None] < 4, forks.mean(axis=1), forks[:, 0])
    says, after = verdicts(values, 0.01, 0.03)
    return [change, sd_build, sd_fork, *(np.mean(says == v) for v in range(len(WORDS))), np.mean(after + np.minimum(after, 4))]


def forks_for_units(sd_build, sd_fork, draws=200_000):
    """Equal versions called changed: 20 forks of a single build pair, at most; p of 32 forks of 8 build pairs up to 1 %."""
    rng = np.random.default_rng(20190409)
    single = rng.standard_normal(draws) * sd_build + rng.standard_normal((20, draws)) * sd_fork
    of_single = np.mean(verdicts(single, 0.01, 0.03)[0] > 1)
    eight = np.repeat(rng.standard_normal((8, draws)) * sd_build, 4, axis=0) + rng.standard_normal((32, draws)) * sd_fork
    of_units = eight.reshape(8, 4, draws).mean(axis=1)
    return [sd_build, sd_fork, of_single, np.mean(p_by_column(eight) <= 0.01), np.mean(p_by_column(of_units) <= 0.01)]


def variance_components(groups):
    """By quadratic forms: each sum of squares is y'Ay and expects tr(A V), where V is linear in the components."""
    values, of = np.concatenate(groups), np.repeat(np.arange(len(groups)), [len(g) for g in groups])
    same = (of[:, None] == of).astype(float)
    onto_groups, onto_mean = same / same.sum(axis=0), np.full_like(same, 1 / len(values))
    forms = [onto_groups - onto_mean, np.eye(len(values)) - onto_groups]
    expects = [[np.trace(a @ same), np.trace(a)] for a in forms]
    between, within = np.linalg.solve(expects, [values @ a @ values for a in forms])
    return {"groups": [list(g) for g in groups], "between": max(between, 0), "within": within}


def repetitions(v_outer, v_inner, c_outer, c_inner):
    """Variance of a mean that may cost 1, as a function of the inner repetitions for each outer one, at its least."""
    variance = lambda log_n: (v_outer + v_inner / np.exp(log_n)) * (c_outer + c_inner * np.exp(log_n))
    best = np.exp(optimize.minimize_scalar(variance, bounds=(-20, 20), method="bounded", options={"xatol": 1e-12}).x)
    return [v_outer, v_inner, c_outer, c_inner, max(1, round(best))]


def confirming_units(values):
    """Half the units, 3 at least, with which a one-sided test at 0.25 % sees what is left of this change with power 95 %; 20 at most
    for all of them together."""
    mean, error, _ = t_by_column(np.array(values)[:, None])
    change, spread = abs(mean[0]), error[0] * np.sqrt(len(values))
    left = max(change - error[0], change / 2)
    power = lambda n: stats.nct.sf(stats.t.isf(0.0025, trimmed_df(n)), trimmed_df(n), left * np.sqrt(n) / spread)
    return [list(values), max(3, -(-next((n for n in range(2, 20) if power(n) >= 0.95), 20) // 2))]


def main():
    rng = np.random.default_rng(20190409)
    dfs = [1, 2, 3, 5, 9, 30, 200, 9999]
    alphas = [0.5, 0.05, 0.01, 1e-4, 1e-10]
    probabilities = rng.uniform(size=40) ** 3
    answers = {
        "made_with": f"scipy {scipy.__version__}",
        "two_sided_p": [[t, df, 2 * stats.t.sf(t, df)] for df in dfs for t in [0, 0.1, 1, 2.5, 7, 50]],
        "critical_t": [[a, df, stats.t.isf(a / 2, df)] for df in dfs for a in alphas],
        "noncentral_t_survival": [
            [t, df, ncp, stats.nct.sf(t, df, ncp)]
            for df in [1, 2, 4, 9, 50, 500]
            for t in [0.5, 2.5, 9.9]
            for ncp in [-3, 0, 1, 4, 12]
        ],
        "detectable_factor": [
            [df, a, power, factor(df, a, power)] for df in [2, 3, 4, 7, 9, 23, 99, 1000] for a in [0.05, 0.01, 0.001] for power in [0.5, 0.8, 0.95]
        ],
        "smallest_sample": [
            [spread, distance, smallest_sample(spread, distance, 0.01, 0.8)]
            for spread, distance in [(0.001, 0.03), (0.01, 0.03), (0.02, 0.03), (0.03, 0.03), (0.05, 0.03), (0.1, 0.03), (0.3, 0.03)]
        ],
        "trimmed_t": [trimmed_t(rng.standard_t(3, size=n) * 0.02 + 0.01, 0.01) for n in [2, 3, 5, 9, 10, 12, 19, 20, 25, 30, 57, 200]],
        "nominal_p": nominal_p_cases(),
        "nominal_p_of_an_end": [
            [horizon, n, a, power, nominal_p(horizon, n, a, power, everything=True)]
            for horizon, ns in [(20, [3, 4, 9, 10, 13]), (32, [6, 16, 31])] for n in ns for a in [0.1, 0.01, 1e-4] for power in [1.0, 1.5]
        ],
        "stopping": [case for horizon, effect in [(10, 0), (20, 0), (20, 0.5), (20, 1), (20, 1.5), (20, 3), (30, 0)] for case in stopping(horizon, effect)],
        "build_pairs": [build_pairs(change, 0.025, 0.012) for change in [0, 0.01, 0.02, 0.03, 0.05, 0.1]] + [build_pairs(change, 0.12, 0.04) for change in [0, 0.1]],
        "forks_for_units": [forks_for_units(0.025, 0.012)],
        "variance_components": [
            variance_components([rng.normal(rng.normal(0.01, sd), 0.012, size=n) for n in sizes])
            for sd in [0, 0.004, 0.025]
            for sizes in [[2, 2], [1, 1, 2], [2] * 4 + [1] * 28, [3, 1, 4, 1, 5]]
        ],
        "repetitions": [repetitions(v, 1, c, 1) for v in [0.001, 0.2, 3, 100] for c in [0.01, 1, 15, 7000]],
        "confirming_units": [
            confirming_units([change * (1 + spread * d) for d in [-3, -2, -1, 0, 0, 1, 2, 3]])
            for change, spread in [(0.1, 0.25), (0.14, 0.25), (0.2, 0.22), (-0.1, 0.25)]
        ],
        "adjusted_p_values": [list(probabilities), list(stats.false_discovery_control(probabilities))],
    }
    write("scipy.json", answers)


main()
