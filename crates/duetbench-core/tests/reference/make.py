"""Writes scipy.json, the known answers that tests/it/reference.rs holds the methods of `stats` against.

    python3 -m venv /tmp/scipy && /tmp/scipy/bin/pip install scipy==1.17.1
    /tmp/scipy/bin/python crates/duetbench-core/tests/reference/make.py
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
        "adjusted_p_values": [list(probabilities), list(stats.false_discovery_control(probabilities))],
    }
    path = pathlib.Path(__file__).with_name("scipy.json")
    methods = []
    for name, cases in answers.items():
        lines = json.dumps(cases) if isinstance(cases, str) else "[\n" + ",\n".join(json.dumps(c, default=float) for c in cases) + "]"
        methods.append(f'"{name}": {lines}')
    path.write_text("{\n" + ",\n".join(methods) + "\n}\n")


main()
