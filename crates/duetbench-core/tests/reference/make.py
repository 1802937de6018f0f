"""Writes scipy.json, the known answers that tests/it/reference.rs holds the methods of `stats` against.

    python3 -m venv /tmp/scipy && /tmp/scipy/bin/pip install scipy==1.17.1
    /tmp/scipy/bin/python crates/duetbench-core/tests/reference/make.py

Takes some minutes, for the simulations and for grids that are finer than need be.
"""

import json
import pathlib

import numpy as np
import scipy
from scipy import optimize, stats


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


def nominal_p(horizon, n, alpha):
    """Nominal p of the look after n values: densities by Simpson's rule on a fine grid over both signs of the sum."""
    taken = [m for m in looks(horizon) if m < n] + [n]
    spent = alpha * (np.array([0, *taken]) / horizon) ** 1.5
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


def p_by_column(values):
    """Two-sided p of the trimmed t of every column."""
    n, g = len(values), len(values) // 10
    ascending = np.sort(values, axis=0)
    winsorised = np.clip(ascending, ascending[g], ascending[n - 1 - g])
    error = winsorised.std(axis=0, ddof=1) / ((1 - 2 * g / n) * np.sqrt(n))
    return 2 * stats.t.sf(np.abs(ascending[g : n - g].mean(axis=0) / error), n - 2 * g - 1)


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
        "stopping": [case for horizon, effect in [(10, 0), (20, 0), (20, 0.5), (20, 1), (20, 1.5), (20, 3), (30, 0)] for case in stopping(horizon, effect)],
        "adjusted_p_values": [list(probabilities), list(stats.false_discovery_control(probabilities))],
    }
    path = pathlib.Path(__file__).with_name("scipy.json")
    methods = []
    for name, cases in answers.items():
        lines = json.dumps(cases) if isinstance(cases, str) else "[\n" + ",\n".join(json.dumps(c, default=float) for c in cases) + "]"
        methods.append(f'"{name}": {lines}')
    path.write_text("{\n" + ",\n".join(methods) + "\n}\n")


main()
