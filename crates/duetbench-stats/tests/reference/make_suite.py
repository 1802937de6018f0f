"""Writes suite.json, the known answers that tests/it/against_scipy.rs here and suite.rs of duetbench-core hold statements about whole suites against.

    python3 -m venv /tmp/scipy && /tmp/scipy/bin/pip install scipy==1.17.1
    /tmp/scipy/bin/python crates/duetbench-stats/tests/reference/make_suite.py

Takes some seconds.
"""


import numpy as np
import scipy
from scipy import optimize, special, stats

from known import write


def factor(df, alpha, power):
    """Noncentrality at which a two-sided t test has this power."""
    critical = stats.t.isf(alpha / 2, df)
    missing = lambda k: stats.nct.sf(critical, df, k) + np.nan_to_num(stats.nct.cdf(-critical, df, k)) - power
    return optimize.brentq(missing, 1e-6, 3 * critical + 10, xtol=1e-13, rtol=1e-13)


def suite(benchmarks, units, identical, rng):
    """Log ratios by benchmark and unit; the mean over benchmarks of each unit is tested, by SciPy's winsorising and trimming."""
    d = rng.normal(0.01, 0.02, size=(benchmarks, units)) + rng.normal(0, 0.02, size=(benchmarks, 1)) + rng.normal(0, 0.01, size=units)
    means = d.sum(axis=0) / (benchmarks + identical)
    n, g = units, units // 10
    winsorised = np.asarray(stats.mstats.winsorize(means, limits=(g / n, g / n)))
    mean, error, df = stats.trim_mean(means, g / n), winsorised.std(ddof=1) / ((1 - 2 * g / n) * np.sqrt(n)), n - 2 * g - 1
    half = stats.t.isf(0.005, df) * error
    if g == 0:
        assert np.allclose(stats.ttest_1samp(means, 0).confidence_interval(0.99), [mean - half, mean + half], rtol=1e-12)
    return {
        "log_ratios": [list(row) for row in d],
        "identical": identical,
        "ratio": np.exp(mean),
        "low": np.exp(mean - half),
        "high": np.exp(mean + half),
        "p": 2 * stats.t.sf(abs(mean / error), df),
        "detects": np.exp(factor(df, 0.01, 0.8) * error) - 1,
    }


def lag_one(n):
    """Mean and variance for normal values, of which the ratio and its denominator are independent: by moments of quadratic forms."""
    centre = np.eye(n) - 1 / n
    a = centre @ (np.eye(n, k=1) + np.eye(n, k=-1)) @ centre / 2
    mean = np.trace(a) / (n - 1)
    return [n, mean, (2 * np.trace(a @ a) + np.trace(a) ** 2) / ((n - 1) * (n + 1)) - mean**2]


def skewed(values):
    """The p-value of D'Agostino's test is the level at which its limit is the sample's own skewness."""
    return {"values": list(values), "skewness": stats.skew(values), "p": stats.skewtest(values).pvalue}


def excess(values):
    return {"values": list(values), "excess": stats.kstest(values, "uniform", alternative="greater").statistic}


def spread_prior(variances, dfs):
    """Smyth's moments of log variances, each equation solved by bracketing."""
    half, logs = dfs / 2, np.log(variances)
    e = logs - special.digamma(half) + np.log(half)
    excess = e.var(ddof=1) - np.mean(special.polygamma(1, half))
    if excess <= 0:
        d0, s0 = 1e6, np.sum(dfs * variances) / np.sum(dfs)
    else:
        d0 = 2 * np.exp(optimize.brentq(lambda y: np.log(special.polygamma(1, np.exp(y))) - np.log(excess), -20, 20, xtol=1e-15))
        s0 = np.exp(e.mean() + special.digamma(d0 / 2) - np.log(d0 / 2))
    moderated = (d0 * s0 + dfs * variances) / (d0 + dfs)
    worth = np.minimum(d0 + dfs, np.sum(dfs))
    return {"variances": list(variances), "dfs": list(dfs), "d0": d0, "s0": s0, "moderated": list(moderated), "worth": list(worth)}


def spread_priors(rng):
    cases = [spread_prior(np.array([1.0, 2, 9, 4, 0.5, 3]), np.full(6, 7.0))]
    for n, d0 in [(5, 2), (20, 4), (100, 10), (40, 1e9)]:
        dfs = rng.choice([3.0, 5, 9, 25], size=n)
        true = 6e-4 * (d0 / rng.chisquare(d0, size=n) if d0 < 1e6 else np.ones(n))
        cases.append(spread_prior(true * rng.chisquare(dfs) / dfs, dfs))
    return cases


def main():
    rng = np.random.default_rng(20190409)
    answers = {
        "made_with": f"scipy {scipy.__version__}",
        "suite": [suite(*shape, rng) for shape in [(5, 12, 0), (3, 4, 2), (20, 32, 0), (2, 6, 1)]],
        "lag_one": [lag_one(n) for n in [3, 4, 5, 8, 20, 32]],
        "skewness": [skewed(rng.standard_t(3, size=n) ** power) for n in [8, 9, 13, 20, 32, 200] for power in [1, 2]],
        "excess": [excess(rng.uniform(size=n) ** 1.5) for n in [1, 2, 7, 35, 300]],
        "excess_limit": [[n, a, stats.ksone.isf(a, n)] for n in [1, 2, 5, 12, 35, 100, 400] for a in [0.2, 0.05, 0.01, 1e-4]],
        "spread_prior": spread_priors(rng),
    }
    write("suite.json", answers)


main()
