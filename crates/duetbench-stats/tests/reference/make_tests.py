"""Writes tests.json, the known answers that tests/it/rank_tests.rs and comparison.rs hold tests and comparisons against, and statistics.rs of duetbench-study effect sizes.

    python3 -m venv /tmp/scipy && /tmp/scipy/bin/pip install scipy==1.17.1
    /tmp/scipy/bin/python crates/duetbench-stats/tests/reference/make_tests.py

Takes some seconds. What SciPy does not have is worked out from its definition, by another way than the crate's where there is one.
"""

import itertools
import warnings

import numpy as np
import scipy
from scipy import stats

from known import write


def two_samples(a, b, alpha):
    """Welch's and Yuen's tests of b less a."""
    case = {"a": list(a), "b": list(b), "alpha": alpha}
    for name, trim in [("welch", 0), ("yuen", 0.1)]:
        test = stats.ttest_ind(b, a, equal_var=False, trim=trim)
        case[name] = {"t": test.statistic, "df": test.df, "p": test.pvalue}
        if trim == 0:
            case[name]["interval"] = list(test.confidence_interval(1 - alpha))
    return case


def two_sample_cases(rng):
    sizes = [(2, 2), (2, 7), (3, 3), (5, 9), (10, 10), (12, 31), (30, 19), (100, 11)]
    return [two_samples(rng.standard_t(3, size=n) * 0.02, rng.standard_t(4, size=m) * 0.05 + 0.02, 0.01) for n, m in sizes]


def sign_test(d):
    return {"d": list(d), "p": stats.binomtest(int(np.sum(d > 0)), int(np.sum(d != 0))).pvalue}


def signed_rank(d):
    exact = len(d) <= 50 and len(set(np.abs(d))) == len(d) and np.all(d != 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        test = stats.wilcoxon(d, correction=True, method="exact" if exact else "asymptotic")
    return {"d": list(d), "p": test.pvalue}


def signed_rank_exact(d):
    """Over all signs that the sizes may have, zeros left out."""
    all_signs = stats.PermutationMethod(n_resamples=np.inf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        test = stats.wilcoxon(d, method=all_signs)
    return {"d": list(d), "p": test.pvalue}


def paired_cases(rng):
    """Differences with and without zeros and ties."""
    whole = [np.round(rng.normal(0.6, 2, size=n)) for n in [6, 9, 20, 47, 80]]
    return [rng.normal(0.3, 1, size=n) for n in [1, 2, 5, 8, 13, 30, 49, 50, 51, 120]] + whole


def groups_of(rng, whole):
    cases = []
    for sizes, apart in [((2, 2), 0), ((1, 4, 3), 0.5), ((5, 5, 5), 0), ((9, 12, 30, 7), 1), ((40, 40, 40, 40, 40), 0.2), ((60, 61), 3)]:
        groups = [rng.normal(i * apart, 1, size=n) for i, n in enumerate(sizes)]
        cases.append([np.round(2 * g) for g in groups] if whole else groups)
    return cases


def kruskal(groups):
    test = stats.kruskal(*groups)
    return {"groups": [list(g) for g in groups], "h": test.statistic, "p": test.pvalue}


def dunn(groups):
    """By Dunn's formula; that its variance is that of the ranks is seen from the ranks themselves."""
    ranks, of = stats.rankdata(np.concatenate(groups)), np.repeat(np.arange(len(groups)), [len(g) for g in groups])
    variance = ranks.var(ddof=1)
    pairs = []
    for i, j in itertools.combinations(range(len(groups)), 2):
        a, b = ranks[of == i], ranks[of == j]
        z = (a.mean() - b.mean()) / np.sqrt(variance * (1 / len(a) + 1 / len(b)))
        pairs.append([i, j, z, 2 * stats.norm.sf(abs(z))])
    return {"groups": [list(g) for g in groups], "pairs": pairs}


def cliff(a, b):
    """From all pairs, and by SciPy's U, which counts the same."""
    delta = np.mean(np.sign(np.subtract.outer(a, b)))
    assert np.isclose(delta, 2 * stats.mannwhitneyu(a, b).statistic / len(a) / len(b) - 1)
    return {"a": list(a), "b": list(b), "delta": delta}


def holm(p):
    """By closed testing: an hypothesis is rejected when every intersection it belongs to is, by Bonferroni's inequality."""
    subsets = [s for n in range(1, len(p) + 1) for s in itertools.combinations(range(len(p)), n)]
    level = {s: min(1, len(s) * min(p[i] for i in s)) for s in subsets}
    return [list(p), [max(level[s] for s in subsets if i in s) for i in range(len(p))]]


def nested(shape, sds, rng):
    """By quadratic forms: each sum of squares is y'Ay and expects tr(A V), where V is linear in the components."""
    values, size = np.zeros(shape), int(np.prod(shape))
    for level, sd in enumerate(sds):
        values = values + sd * rng.normal(size=[*shape[: level + 1], *[1] * (len(shape) - level - 1)])
    y = values.ravel()
    same = [(np.arange(size)[:, None] // int(np.prod(shape[l:])) == np.arange(size) // int(np.prod(shape[l:]))).astype(float) for l in range(len(shape) + 1)]
    onto = [s / s.sum(axis=0) for s in same]
    forms = [onto[l + 1] - onto[l] for l in range(len(shape))]
    expects = [[np.trace(a @ s) for s in same[1:]] for a in forms]
    components = np.linalg.solve(expects, [y @ a @ y for a in forms])
    return {"shape": list(shape), "values": list(y), "components": [max(c, 0) for c in components]}


def trimmed_interval(mean, error, df, confidence):
    half_width = stats.t.isf((1 - confidence) / 2, df) * error
    return [float(np.exp(mean + k * half_width)) for k in (0, -1, 1)]


def comparison(base, head, confidence):
    """Ratios with intervals, from logarithms: paired where there are as many of both, and of two samples in any case."""
    b, h = np.log(base), np.log(head)
    case = {"base": list(base), "head": list(head), "confidence": confidence}
    if len(base) == len(head):
        n, g, d = len(b), len(b) // 10, h - b
        error = np.asarray(stats.mstats.winsorize(d, limits=(g / n, g / n))).std(ddof=1) / ((1 - 2 * g / n) * np.sqrt(n))
        case["paired"] = trimmed_interval(stats.trim_mean(d, g / n), error, n - 2 * g - 1, confidence)
    for name, trim in [("welch", 0), ("yuen", 0.1)]:
        test = stats.ttest_ind(h, b, equal_var=False, trim=trim)
        mean = stats.trim_mean(h, trim) - stats.trim_mean(b, trim)
        case[name] = trimmed_interval(mean, mean / test.statistic, test.df, confidence)
    return case


def comparisons(rng):
    """Times of processes that vary by 2 %, of a head that is 3 % slower and varies more."""
    sizes = [(3, 3), (6, 6), (9, 9), (10, 10), (25, 25), (4, 12), (31, 7)]
    times = lambda n, ratio, sd: np.round(ratio * np.exp(sd * rng.normal(size=n)), 4)
    return [comparison(times(n, 10, 0.02), times(m, 10.3, 0.03), confidence) for n, m in sizes for confidence in (0.9, 0.99)]


def main():
    rng = np.random.default_rng(20061122)
    grouped = groups_of(rng, False) + groups_of(rng, True)
    samples = [(rng.normal(0, 1, size=n), rng.normal(shift, 1, size=m)) for n, m, shift in [(1, 1, 0), (3, 8, 1), (40, 25, 0.2), (60, 60, -2)]]
    samples += [(np.round(a), np.round(b)) for a, b in samples]
    answers = {
        "made_with": f"scipy {scipy.__version__}",
        "two_samples": two_sample_cases(rng),
        "sign_test": [sign_test(d) for d in paired_cases(rng)],
        "signed_rank": [signed_rank(d) for d in paired_cases(rng)],
        "kruskal": [kruskal(groups) for groups in grouped],
        "dunn": [dunn(groups) for groups in grouped],
        "cliff": [cliff(a, b) for a, b in samples],
        "holm": [holm(p) for p in [[0.3], [0.02, 0.02, 0.9], list(rng.uniform(size=7) ** 3), list(rng.uniform(size=10) ** 4)]],
        "nested": [
            nested(shape, sds, rng)
            for shape, sds in [((5,), [1]), ((4, 3), [1, 0.5]), ((3, 4, 2), [0, 0, 1]), ((3, 3, 5, 5), [0.5, 0.2, 0.3, 1]), ((2, 2, 2, 2, 2), [1, 0, 1, 0, 1])]
        ],
        "signed_rank_exact": [
            signed_rank_exact(np.round(np.random.default_rng(n).normal(shift, 2, size=n), digits))
            for n in [2, 5, 8, 11, 12, 14]
            for shift in [0, 1.5, 3]
            for digits in [0, 12]
        ],
        "comparisons": comparisons(np.random.default_rng(1987)),
    }
    write("tests.json", answers)


main()
