"""Writes bootstrap.json, the known answers that tests/it/bootstrap.rs holds the bootstrap intervals against.

    python3 -m venv /tmp/scipy && /tmp/scipy/bin/pip install scipy==1.17.1
    /tmp/scipy/bin/python crates/duetbench-stats/tests/reference/make_bootstrap.py

Distributions are enumerated wherever they can be: every resample with its probability. Takes about a minute.
"""

import itertools
import json
import math
import pathlib

import numpy as np
import scipy
from scipy import stats

CONFIDENCES = [0.8, 0.9, 0.95, 0.99]


def resamples(n):
    """How often each of n values is drawn in every different resample, and how probable that is."""
    draws = np.array(list(itertools.combinations_with_replacement(range(n), n)))
    counts = np.stack([(draws == i).sum(axis=1) for i in range(n)], axis=1)
    ways = np.array([math.factorial(k) for k in range(n + 1)], float)
    return counts, ways[n] / ways[counts].prod(axis=1) / float(n) ** n


def ends(values, shares, confidence):
    """The least value up to which, and the greatest from which on, there is at least the tail."""
    tail = (1 - confidence) / 2 * (1 - 1e-9)
    order = np.argsort(values, kind="stable")
    values, shares = np.asarray(values)[order], np.asarray(shares)[order]
    low = values[np.searchsorted(np.cumsum(shares), tail)]
    high = values[::-1][np.searchsorted(np.cumsum(shares[::-1]), tail)]
    return low, high


def cases(sample, values, shares, confidences=CONFIDENCES, **more):
    """One case for each confidence; an end without a bound is null."""
    made = []
    for confidence in confidences:
        low, high = (float(end) if np.isfinite(end) else None for end in ends(values, shares, confidence))
        made.append({"values": list(map(float, sample)), "confidence": confidence, "low": low, "high": high, **more})
    return made


def medians(x):
    counts, shares = resamples(len(x))
    draws = np.array([np.repeat(x, c) for c in counts])
    return cases(x, np.median(draws, axis=1), shares)


def medians_by_ranks(x):
    """For more values: the joint law of the two middle ranks from the binomial distributions of draws below them."""
    n, m = len(x), len(x) // 2
    x = np.sort(x)
    if n % 2:
        below = np.concatenate([[0], stats.binom.sf(m, n, np.arange(1, n + 1) / n)])
        return cases(x, x, np.diff(below))
    both = np.zeros((n + 1, n + 1))  # P(X_m <= x_i, X_{m+1} <= x_j), i <= j
    a = np.arange(m, n + 1)
    for i in range(1, n + 1):
        of_a = stats.binom.pmf(a, n, i / n)
        for j in range(i, n + 1):
            p = 0 if i == n else (j - i) / (n - i)
            both[i, j] = (of_a * np.where(a > m, 1, stats.binom.sf(m - a, n - a, p))).sum()
    values, shares = [], []
    for i in range(1, n + 1):
        for j in range(i, n + 1):
            before = both[i - 1, j] if i > 0 else 0
            # With equal ranks, what is below the diagonal is the smaller rank's.
            share = both[i, j] - before - (both[i, j - 1] - both[i - 1, j - 1] if j > i else 0)
            values.append((x[i - 1] + x[j - 1]) / 2)
            shares.append(share)
    assert abs(sum(shares) - 1) < 1e-12
    return cases(x, values, shares)


def ranks():
    found = []
    for n in [*range(1, 62), 75, 100, 101, 201, 301, 499, 500, 1000, 1001]:
        for tail in [0.1, 0.05, 0.025, 0.005, 0.0005]:
            k = np.arange(1, n + 1) / n
            first = lambda needed: int(np.argmax(stats.binom.sf(needed - 1, n, k) >= tail * (1 - 1e-9))) + 1
            found.append([n, tail, first((n + 1) // 2), first(n // 2 + 1)])
    return found


def means(x):
    counts, shares = resamples(len(x))
    return cases(x, counts @ x / len(x), shares)


def means_of_integers(x):
    """For integers in any number: the distribution of one draw, convolved with itself."""
    x = np.asarray(x)
    draw = np.bincount(x - x.min(), minlength=1) / len(x)
    total = np.ones(1)
    for _ in x:
        total = np.convolve(total, draw)
    return cases(x, x.min() + np.arange(len(total)) / len(x), total)


def means_on_a_fine_grid(x, cells=2**19):
    """For any numbers: as above, each rounded to a grid that is much finer than the one of `stats`."""
    n, s = len(x), x.std()
    step = 20 * s * np.sqrt(n) / cells
    at = (x - x.mean()) / step
    draw = np.zeros(cells)
    np.add.at(draw, np.floor(at).astype(int) % cells, (1 - at % 1) / n)
    np.add.at(draw, (np.floor(at).astype(int) + 1) % cells, at % 1 / n)
    total = np.fft.fftshift(np.fft.irfft(np.fft.rfft(draw) ** n, cells))
    return cases(x, x.mean() + (np.arange(cells) - cells // 2) * step / n, total)


def t_values(x, counts, zero_spread=None):
    n, m = len(x), x.mean()
    mean = counts @ x / n
    squares = counts @ (x - m) ** 2 / n - (mean - m) ** 2
    spread = np.sqrt(np.maximum(0, squares))
    same = np.array([len(set(x[c > 0])) == 1 for c in counts])
    distance = np.where(np.abs(mean - m) < 1e-12 * np.abs(x).max(), 0, mean - m)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = distance / np.where(same, zero_spread or 0, spread)
    return np.where(distance == 0, 0, t)


def studentised(x, zero_spread=None):
    counts, shares = resamples(len(x))
    t = t_values(x, counts, zero_spread)
    # The interval turns t round: its lower end comes of the greatest values.
    return cases(x, x.mean() - t * x.std(), shares, zero_spread=zero_spread)


def studentised_by_drawing(x, draws=4_000_000):
    """For more values: many resamples; the ends are known to about 0.3 % of the width."""
    rng, n, found = np.random.default_rng(20190409), len(x), []
    for _ in range(draws // 100_000):
        sample = x[rng.integers(0, n, (100_000, n))]
        found.append((sample.mean(axis=1) - x.mean()) / sample.std(axis=1))
    t = np.concatenate(found)
    return cases(x, x.mean() - t * x.std(), np.full(len(t), 1 / len(t)), [0.95, 0.99])


def nested_means(shape, x):
    """Sums of integers with their shares, level by level."""

    def sums(shape, x):
        if not shape:
            return {x[0]: 1.0}
        draw, size = {}, len(x) // shape[0]
        for part in range(shape[0]):
            for value, share in sums(shape[1:], x[part * size : (part + 1) * size]).items():
                draw[value] = draw.get(value, 0) + share / shape[0]
        total = {0: 1.0}
        for _ in range(shape[0]):
            further = {}
            for (a, p), (b, q) in itertools.product(total.items(), draw.items()):
                further[a + b] = further.get(a + b, 0) + p * q
            total = further
        return total

    total = sums(shape, [int(v) for v in x])
    return cases(x, np.array(list(total)) / len(x), list(total.values()), shape=list(shape))


def sample(rng, n, kind):
    if kind == "normal":
        return 100 + rng.standard_normal(n)
    if kind == "skewed":
        return 20 + rng.exponential(size=n)
    if kind == "rounded":
        return np.round(22 + rng.standard_normal(n) * 0.03, 2)
    return np.concatenate([50 + rng.standard_normal(n - 1), [65]])  # one far out


def main():
    rng = np.random.default_rng(20190409)
    kinds = ["normal", "skewed", "rounded", "outlier"]
    draw = lambda n: [sample(rng, n, kind) for kind in kinds]
    each = lambda method, sizes: [case for n in sizes for x in draw(n) for case in method(x)]
    integers = [np.round(rng.exponential(size=n) * 20).astype(int) for n in [9, 12, 20, 40]]
    shapes = [(2, 3), (3, 2), (2, 2, 2), (3, 4), (5, 6), (3, 3, 3)]
    small = [(3, 3), (2, 2, 2), (2, 4), (4, 2), (3, 2)]
    pairs = [((3,), (4,)), ((4,), (3,)), ((2, 2), (3,)), ((2, 2), (2, 2)), ((2, 3), (3,))]
    skewed = lambda shape: 20 + rng.exponential(size=math.prod(shape)) * 3
    answers = {
        "made_with": f"numpy {np.__version__}, scipy {scipy.__version__}",
        "median_ranks": ranks(),
        "median": each(medians, range(1, 9)) + each(medians_by_ranks, [9, 10, 25, 30, 60])
        + [case for n in [4, 6, 8] for case in medians(np.arange(n))] + [case for n in [10, 20, 30] for case in medians_by_ranks(np.arange(n))],
        "mean": each(means, range(2, 9)),
        "mean_of_nine_or_ten": each(means, [9, 10]),
        "mean_of_integers": [case for x in integers for case in means_of_integers(x)],
        "mean_on_a_grid": [case for n in [15, 30, 75] for x in (sample(rng, n, k) for k in ["normal", "skewed", "outlier"]) for case in means_on_a_fine_grid(x)],
        "studentised": each(studentised, range(3, 9)),
        "studentised_published": [case for n in [3, 5, 6] for case in studentised(np.round(1e-5 * sample(rng, n, "normal"), 7), 1e-6)],
        "studentised_of_nine_or_ten": [case for n in [9, 10] for x in (sample(rng, n, k) for k in ["normal", "skewed"]) for case in studentised(x)],
        "studentised_by_drawing": [case for n in [20, 60] for x in (sample(rng, n, k) for k in ["normal", "skewed"]) for case in studentised_by_drawing(x)],
        "nested_mean": [case for s in shapes for case in nested_means(s, np.round(rng.exponential(size=math.prod(s)) * 9))],
    }
    # Other methods were once given these; the draws behind them stay the same.
    for shape in small + 2 * [shape for pair in pairs for shape in pair]:
        skewed(shape)
    answers |= {
        "mean_with_outlier": [case for far in [3, 30, 300, 3000] for case in means(np.append(np.sort(50 + rng.standard_normal(9)), 50 + far))],
        "mean_of_many": [case for mean in [10, 30] for case in means_on_a_fine_grid(np.round(mean + rng.standard_normal(400), 4))],
    }
    path = pathlib.Path(__file__).with_name("bootstrap.json")
    methods = []
    for name, cases in answers.items():
        lines = json.dumps(cases) if isinstance(cases, str) else "[\n" + ",\n".join(json.dumps(c) for c in cases) + "]"
        methods.append(f'"{name}": {lines}')
    path.write_text("{\n" + ",\n".join(methods) + "\n}\n")


main()
