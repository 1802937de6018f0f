"""The experiments of `verdict_rules.py`. Every function returns rows: dictionaries of plain numbers, shares as fractions."""

import csv

import numpy as np
from scipy import optimize, special, stats

from sequential import (
    BAND,
    DEPTH,
    IMPROVEMENT,
    INCONCLUSIVE,
    NO_CHANGE,
    OPEN,
    REGRESSION,
    WITHIN,
    Former,
    Rule,
    corrected,
    draw,
    factor,
    freedom,
    looks,
    nominal,
    promised,
    seen,
    spent,
    trimmed,
    vague,
    ended,
    widened,
    critical,
)
from study import STUDIES

CHOSEN = Rule()
BEFORE = Former()
THIRD = Former(least=BAND / 3, no_change_error=0.05)
NARROW = Rule(error=0.05)
# Standard deviations of units by build pair and by fork pair, and the horizon: build pairs, and fork pairs of one build.
DESIGNS = [(0.025, 0.012, 32), (0.010, 0.007, 32), (0.05, 0.02, 32), (0.002, 0.002, 32), (0, 0.005, 20), (0, 0.01, 20), (0, 0.03, 20)]
DEFAULT = DESIGNS[0]
CHANGES = [0, 0.01, 0.015, 0.02, 0.025, 0.03, 0.035, 0.04, 0.05, 0.07, 0.10]
WORDS = {
    "inconclusive": INCONCLUSIVE,
    "no_change": NO_CHANGE,
    "within": WITHIN,
    "regression": REGRESSION,
    "improvement": IMPROVEMENT,
    "open": OPEN,
}
# No share is told, and no mean, that rests on fewer regressions than this.
FEW = 30


def shares(words):
    counts = np.bincount(words, minlength=len(WORDS)) / len(words)
    return {name: float(counts[number]) for name, number in WORDS.items()}


def named(design, **others):
    return {"of_builds": design[0], "of_forks": design[1], "horizon": design[2], **others}


def verdicts(random, draws, rules, design, changes=CHANGES):
    """Every rule on the same units, by the true change."""
    units, rows, kept = draw(random, draws, design), [], {}
    for name, rule in rules.items():
        at = looks(design[2], rule.planned)
        means, errors = kept.setdefault(tuple(at), seen(units, at))
        for change in changes:
            true = np.log1p(change)
            words, used, look = rule.judge(means + true, errors, at)
            rows.append(named(design, rule=name, change=change, units=float(used.mean()), **shares(words)))
    return rows


def forced(random, draws, errors=(0.10, 0.05)):
    """The clock ends a run of horizon 32, and all that is left of both errors is spent; or it is forgone."""
    units, rows = draw(random, draws, DEFAULT), []
    for error in errors:
        for n in (5, 6, 8, 10, 13, 16, 20, 26):
            at, rule = looks(n), Rule(error=error)
            means, spread = seen(units, at)
            kept = Rule(error=error * n / 32, alpha=0.01 * (n / 32) ** 1.5)
            for name, words in (
                ("spent", lambda m: rule.judge(m, spread, at, ends_early=32)[0]),
                ("forgone", lambda m: kept.judge(m, spread, at)[0]),
            ):
                answers = {str(change): shares(words(means + np.log1p(change))) for change in (0, 0.03, 0.05)}
                rows.append({"error": error, "units": n, "what_was_left": name, "answers": answers})
    return rows


def slow_slices(random, draws, design, of_slow):
    """The change is in few slices: the typical number `d` does not see it, the complete one `d + e` does."""
    at, nested = looks(design[2]), design[0] > 0
    units = draw(random, draws, design)
    slow = draw(random, draws, (1e-12 if nested else 0, of_slow, design[2]))
    typical, complete, apart = seen(units, at), seen(units + slow, at), seen(slow, at)
    rules = {
        "before": (True, None),
        "typical alone": (False, None),
        "both": (False, CHOSEN.error),
        "complete at twice the error": (False, 2 * CHOSEN.error),
    }
    rows = []
    for name, rule in rules.items():
        answers = {}
        for change in (0, 0.03, 0.04, 0.06):
            words, used = by_both(rule, (typical, complete, apart), np.log1p(change), at)
            answers[str(change)] = {"units": float(used.mean()), **shares(words)}
        rows.append(named(design, of_slow=of_slow, rule=name, answers=answers))
    return rows


def by_both(rule, numbers, change, at):
    """The complete number is judged instead of the typical one where they differ, tested at 1 % and by more than half the threshold.
    A rule says whether it is the former one, and with what error the complete number must lie inside the band besides."""
    (mean_t, error_t), (mean_c, error_c), (mean_e, error_e) = numbers
    (former, complete_error), (mean_c, mean_e) = rule, (mean_c + change, mean_e + change)
    single = np.array([stats.t.isf(0.005, freedom(n)) for n in at])[:, None]
    use = (np.abs(mean_e) >= single * error_e) & (np.abs(mean_e) > BAND / 2)
    of_change, inside = [critical(at, spent(at, 0.01, 1.5))] * 2 if former else CHOSEN.boundaries(at)[:2]
    shown = [np.logical_or.accumulate(np.abs(m) >= of_change * e, axis=0) for m, e in ((mean_c, error_c), (mean_t, error_t))]
    changed, mean, error = np.where(use, *shown), np.where(use, mean_c, mean_t), np.where(use, error_c, error_t)
    within = np.abs(mean) + inside * error < BAND
    if complete_error:
        of_complete = critical(at, spent(at, promised(complete_error), CHOSEN.power))
        within &= (np.abs(mean_t) + inside * error_t < BAND) & (np.abs(mean_c) + of_complete * error_c < BAND)
    least = 0 if former else BAND
    slower, faster = changed & ~within & (mean - inside * error > least), changed & ~within & (mean + inside * error < -least)
    kept, still = within & changed & (not former), changed & (not former)
    words = np.select([kept, within, slower, faster, still], [WITHIN, NO_CHANGE, REGRESSION, IMPROVEMENT, OPEN])
    settled = within | slower | faster
    return ended(words, settled & ~vague(mean, inside * error) if former else settled, at)[:2]


def detects(random, draws, design, fixed):
    """A true change of the size that the report of equal code names, for this rule and design: how often is it a regression?"""
    horizon = design[2]
    at = [horizon] if fixed else looks(horizon)
    means, errors = seen(draw(random, draws, design), at)
    fresh, fresh_errors = seen(draw(random, draws, design), at)
    _, used, look = CHOSEN.judge(means, errors, at)
    spread = errors[look, np.arange(draws)] * np.sqrt(used)
    level = nominal(tuple(at), tuple(spent(at, promised(CHOSEN.error), CHOSEN.power).tolist()))[-1]
    change = nominal(tuple(at), tuple(spent(at, promised(0.01), 1.5).tolist()))[-1]
    rows = []
    for name, width in (("as estimated", np.ones(len(at))), ("widened", np.array([widened(freedom(n)) for n in at]))):
        error = spread * width[look] / np.sqrt(horizon)
        beyond, either = BAND + factor(freedom(horizon), level, 0.8) * error, factor(freedom(horizon), change, 0.8) * error
        sizes = np.maximum(beyond, either)
        hits = {
            what: np.mean(CHOSEN.judge(fresh + true, fresh_errors, at)[0] == REGRESSION)
            for what, true in (("median", np.median(sizes)), ("own", sizes))
        }
        rows.append(
            named(
                design,
                fixed=fixed,
                spread=name,
                detects=float(np.expm1(np.median(sizes))),
                at_median=float(hits["median"]),
                at_own=float(hits["own"]),
                by_the_change_alone=float(np.mean(either > beyond)),
                estimated_to_true=float(np.median(spread) / np.hypot(*design[:2])),
            )
        )
    low, high = BAND, 0.3
    for _ in range(13):
        middle = (low + high) / 2
        found = np.mean(CHOSEN.judge(fresh + middle, fresh_errors, at)[0] == REGRESSION)
        low, high = (middle, high) if found < 0.8 else (low, middle)
    return [row | {"really": float(np.expm1(high))} for row in rows]


def sequential_p(means, errors, look, at):
    """The least p over the looks that were taken."""
    levels = np.exp(np.linspace(np.log(1e-12), np.log(0.9), 40))
    table = np.array([nominal(tuple(at), tuple(spent(at, level, 1.5).tolist())) for level in levels])
    least = np.ones(means.shape[1])
    for number, n in enumerate(at):
        p_values = np.maximum(2 * stats.t.sf(np.abs(means[number] / errors[number]), freedom(n)), 1e-300)
        p_values = np.exp(np.interp(np.log(p_values), np.log(table[:, number]), np.log(levels)))
        least = np.where(number <= look, np.minimum(least, p_values), least)
    return corrected(least)


def units_to_confirm(found, spread, p_value):
    """Units with which 95 of 100 such findings are seen again, at most 32."""
    needed = np.full(len(found), 32)
    for n in range(32, 2, -1):
        needed = np.where(factor(freedom(n), p_value, 0.95) * spread / np.sqrt(n) <= found, n, needed)
    return needed


def confirming(random, draws, design, change):
    """Regressions that are measured afresh: each of two rounds must see one again (before), or fresh units are judged together."""
    at, true = looks(design[2]), np.log1p(change)
    means, errors = seen(draw(random, draws, design), at)
    means = means + true
    row = named(design, change=change)
    for name, rule in (("before", BEFORE), ("all asked", CHOSEN), ("p above 1e-4 asked", CHOSEN)):
        words, used, look = rule.judge(means, errors, at)
        called = words == REGRESSION
        row[name] = {"called": float(called.mean())}
        if called.sum() < FEW:
            continue
        where = look[called], np.flatnonzero(called)
        found = means[where], errors[where], used[called]
        p_values = sequential_p(means[:, called], errors[:, called], look[called], at)
        asked = p_values > 1e-4 if name.startswith("p") else np.ones(called.sum(), bool)
        again = seen_again if name == "before" else together
        row[name] |= outcome(found, asked, lambda part: again(random, part, design, true), true)
    return [row]


def outcome(found, asked, ask, true):
    """Shares of the called, with the size that is reported in the end."""
    estimate = found[0].copy()
    lost, unsure = np.zeros(len(estimate), bool), np.zeros(len(estimate), bool)
    units = np.zeros(len(estimate))
    if asked.any():
        lost[asked], unsure[asked], units[asked], fresh = ask([part[asked] for part in found])
        estimate[asked] = np.where(np.isnan(fresh), estimate[asked], fresh)
    kept = estimate[~lost]
    return {
        "asked": float(asked.mean()),
        "lost": float(lost.mean()),
        "unconfirmed": float(unsure.mean()),
        "units": float(units[asked].mean()) if asked.any() else 0.0,
        "bias": float(np.expm1(kept.mean()) - np.expm1(true)) if len(kept) >= FEW else None,
    }


def distance(found):
    """A finding is on average smaller than it was measured."""
    return np.maximum(found[0] - found[1], found[0] / 2)


def seen_again(random, found, design, true):
    """Two rounds of one-sided 5 % each; the size that was found first is reported."""
    needed = units_to_confirm(distance(found), found[1] * np.sqrt(found[2]), 0.10)
    seen_twice = np.ones(len(needed), bool)
    for _ in range(2):
        units = draw(random, len(needed), (*design[:2], 32)) + true
        for n in np.unique(needed):
            mean, error = trimmed(units[needed == n][:, :n])
            seen_twice[needed == n] &= stats.t.sf(mean / error, freedom(n)) <= 0.05
    return ~seen_twice, np.zeros(len(needed), bool), 2 * needed, np.full(len(needed), np.nan)


def together(random, found, design, true, p_value=0.0025):
    """Fresh units are pooled from the second round on: withdrawn where their 95 % interval ends below the threshold, confirmed where
    their one-sided p is small, else another round."""
    half = np.maximum((units_to_confirm(distance(found), found[1] * np.sqrt(found[2]), 2 * p_value) + 1) // 2, 3)
    units = draw(random, len(half), (*design[:2], 32)) + true
    answer, used, size = np.zeros(len(half), int), np.full(len(half), 32), np.zeros(len(half))
    for n in range(6, 33):
        here = np.flatnonzero((answer == 0) & (n >= np.minimum(2 * half, 32)) & ((n % half == 0) | (n == 32)))
        if len(here) == 0:
            continue
        mean, error = trimmed(units[here][:, :n])
        below = mean + stats.t.isf(0.025, freedom(n)) * error < BAND
        above = stats.t.sf(mean / error, freedom(n)) <= p_value
        answer[here] = np.select([below, above], [2, 1], 3 if n == 32 else 0)
        used[here], size[here] = n, mean
    return answer == 2, answer == 3, used, size


# Numbers of units that may be named.
GRID = [*range(4, 21), 22, 25, 28, 32, 36, 40, 45, 50, 57, 64, 72, 80, 90, 100, 114, 128, 160, 200, 256, 320, 400]


def sufficient(random, draws, spread, change, units=6):
    """Benchmarks that are open after so many units: measured afresh with the number that each way of counting names."""
    at, true = looks(units), np.log1p(change)
    means, errors = seen(true + spread * random.standard_normal((draws, units)), at)
    words, _, _ = CHOSEN.judge(means, errors, at)
    still = np.isin(words, (INCONCLUSIVE, OPEN))
    found, estimated = np.abs(means[-1][still]), errors[-1][still] * np.sqrt(units)
    rows = []
    for name, needed in (
        ("before", enough_before(found, estimated)),
        ("both edges", enough(found, estimated)),
        ("both edges, widened", enough(found, estimated * widened(freedom(units)))),
    ):
        settled = [afresh(random, true, spread, n) for n in needed[needed > 0]]
        rows.append(
            {
                "spread": spread,
                "change": change,
                "counted": name,
                "open": float(still.mean()),
                "named": float(np.mean(needed > 0)),
                "median": float(np.median(needed[needed > 0])),
                "settled": float(np.mean(settled)),
            }
        )
    return rows


def power_beyond(n, at_least, distances, spread):
    return stats.nct.sf(at_least, freedom(n), np.clip(distances * np.sqrt(n) / spread, -60, 60))


def enough(found, spread):
    """By the interval of the last look, and by both edges of the band; 0 where the grid ends before."""
    needed = np.zeros(len(found), int)
    for n in reversed(GRID):
        at_least = CHOSEN.boundaries(looks(n))[1][-1, 0]
        inside = power_beyond(n, at_least, BAND - found, spread) + power_beyond(n, at_least, BAND + found, spread) - 1
        needed = np.where(np.maximum(inside, power_beyond(n, at_least, found - BAND, spread)) >= 0.8, n, needed)
    return needed


def enough_before(found, spread):
    """By one look at 1 %, and by the nearer of 0 and the edge."""
    needed = np.zeros(len(found), int)
    for n in reversed(GRID):
        at_least = stats.t.isf(0.005, freedom(n))
        nearer = np.maximum(power_beyond(n, at_least, found, spread), power_beyond(n, at_least, BAND - found, spread))
        needed = np.where(nearer >= 0.8, n, needed)
    return needed


def afresh(random, true, spread, n):
    at = looks(n)
    word = CHOSEN.judge(*seen(true + spread * random.standard_normal((1, n)), at), at)[0][0]
    return word not in (INCONCLUSIVE, OPEN)


def skew_limit(n):
    return 4.1 + 60 * n**-1.3


def skewed(units):
    """A unit lies far out, and it matters: the first condition alone, and both."""
    middle = np.median(units, axis=1)
    from_middle = np.abs(units - middle[:, None])
    far = from_middle.max(1) > skew_limit(units.shape[1]) * 1.4826 * np.median(from_middle, axis=1)
    return far, far & (np.abs(units.mean(1) - middle) > BAND / 3)


def skew(random, draws):
    """Units of which few come from a layout that is much slower, and units of which none does."""
    normal = lambda n, of_builds, of_forks: draw(random, draws, (of_builds, of_forks, n))
    few = lambda n, share, slower: normal(n, 0.02, 0.01) + np.log1p(slower) * (random.random((draws, n)) < share)
    kinds = {
        "normal, 2 / 1 %": lambda n: normal(n, 0.02, 0.01),
        "normal, 5 / 2 %": lambda n: normal(n, 0.05, 0.02),
        "t with 4 degrees of freedom, 2.2 %": lambda n: 0.022 / np.sqrt(2) * random.standard_t(4, (draws, n)),
        "a tenth of layouts 30 % slower": lambda n: few(n, 0.10, 0.30),
        "8 % of layouts 40 % slower": lambda n: few(n, 0.08, 0.40),
    }
    rows = []
    for kind, drawn in kinds.items():
        for n in (6, 8, 10, 13, 16, 20, 25, 32):
            far, both = skewed(drawn(n))
            rows.append({"kind": kind, "units": n, "far": float(far.mean()), "flagged": float(both.mean())})
    return rows


def fragile(random, draws, share, slower):
    """A candidate that is much slower in few layouts, as a run ends: no change, and flagged or not."""
    at = looks(32)
    units = draw(random, draws, (0.02, 0.01, 32)) + np.log1p(slower) * (random.random((draws, 32)) < share)
    words, used, _ = CHOSEN.judge(*seen(units, at), at)
    flagged = np.zeros(draws, bool)
    for n in at:
        if n >= 6:
            flagged[used == n] = skewed(units[used == n][:, :n])[1]
    calm = np.isin(words, (NO_CHANGE, WITHIN))
    return [
        {
            "share": share,
            "slower": slower,
            "mean": float(np.expm1(share * np.log1p(slower))),
            "calm": float(calm.mean()),
            "calm_and_flagged": float(np.mean(calm & flagged)),
            **{word: shares(words)[word] for word in ("regression", "open")},
        }
    ]


def lag(random, suites, benchmarks, correlation):
    """Moran's correlation of successive units, pooled over a suite whose benchmarks end where their verdict does."""
    at, fresh = looks(32), random.standard_normal((suites * benchmarks, 32))
    units = fresh.copy()
    for number in range(1, 32):
        units[:, number] = correlation * units[:, number - 1] + np.sqrt(1 - correlation**2) * fresh[:, number]
    units *= np.exp(random.normal(np.log(0.026), 0.5, len(units)))[:, None]
    _, used, _ = CHOSEN.judge(*seen(units, at), at)
    total, variance = np.zeros(len(units)), np.zeros(len(units))
    for n in (n for n in at if n >= 6):
        part = units[used == n][:, :n]
        part = part - part.mean(1, keepdims=True)
        total[used == n] = n * (part[:, 1:] * part[:, :-1]).sum(1) / (part**2).sum(1) + 1
        variance[used == n] = (n - 2) ** 2 / (n - 1)
    total, variance = (values.reshape(benchmarks, suites).sum(0) for values in (total, variance))
    z = np.where(variance > 0, total / np.sqrt(np.maximum(variance, 1e-9)), 0)
    return [
        {
            "benchmarks": benchmarks,
            "correlation": correlation,
            "mean": float(z.mean()),
            "sd": float(z.std()),
            "above_3": float(np.mean(z > 3)),
        }
    ]


DEPTHS = (0.05, 0.01, 1e-3, 1e-4)


def depth(random, draws, horizon, repetitions=8):
    """The share of equal versions whose sequential p is at most so small, over what it should be."""
    at, hits = looks(horizon), np.zeros((2, len(DEPTHS)))
    levels = [[nominal(tuple(at), tuple(spent(at, level, 1.5).tolist())) for level in kind] for kind in (DEPTHS, map(promised, DEPTHS))]
    for _ in range(repetitions):
        means, errors = seen(random.standard_normal((draws, horizon)), at)
        p_values = np.array([2 * stats.t.sf(np.abs(m / e), freedom(n)) for m, e, n in zip(means, errors, at)])
        for kind, of_kind in enumerate(levels):
            hits[kind] += [(p_values <= level[:, None]).any(0).sum() for level in of_kind]
    ratios = hits / (repetitions * draws) / np.array(DEPTHS)
    return [{"horizon": horizon, "depth": DEPTH, "plain": ratios[0].tolist(), "corrected": ratios[1].tolist()}]


def real_spreads():
    """Spread of a build pair, for the benchmarks of the fleet's simulation."""
    lines = (STUDIES / "fleet-simulation.csv").read_text().splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return np.array([np.hypot(float(row["sd_within"]), float(row["sd_layout"])) for row in rows])


def prior_of(spreads, degrees=11):
    """Degrees of freedom of the scaled inverse chi-square that the variances of a suite seem drawn from, and its scale, by the
    moments of their logarithms (Smyth, Statistical Applications in Genetics and Molecular Biology 3, 2004)."""
    logs = np.log(spreads**2) - special.digamma(degrees / 2) + np.log(degrees / 2)
    beyond = logs.var(ddof=1) - special.polygamma(1, degrees / 2)
    prior = 2 * optimize.brentq(lambda y: special.polygamma(1, y) - beyond, 1e-3, 1e3)
    return float(prior), float(np.exp(logs.mean() + special.digamma(prior / 2) - np.log(prior / 2)))


def moderated(random, draws, truth, used):
    """The spread is shrunk to that of the suite, unless an F test at 5 % rejects that: by all benchmarks, and by the noisiest quarter."""
    at, scale = looks(32), 0.025**2 + 0.012**2
    if truth == "real":
        variances = random.choice(real_spreads(), draws) ** 2
        scale = np.exp(np.mean(np.log(variances)) + (special.digamma(used / 2) - np.log(used / 2) if used else 0))
    else:
        variances = scale * truth / random.chisquare(truth, draws)
    means, errors = seen(np.sqrt(variances)[:, None] * random.standard_normal((draws, 32)), at)
    row = {"truth": truth, "used": used}
    levels = [nominal(tuple(at), tuple(spent(at, promised(e), p).tolist())) for e, p in ((0.01, 1.5), (CHOSEN.error, CHOSEN.power))]
    boundaries, errors = shrunk(errors, at, levels, (used, scale))
    noisy = variances > np.quantile(variances, 0.75)
    for change in (0, 0.03, 0.05):
        words, units = by_boundaries(means + np.log1p(change), errors, boundaries, at)
        row[str(change)] = {"units": float(units.mean()), "all": shares(words), "noisy": shares(words[noisy])}
    return [row]


def shrunk(errors, at, levels, prior):
    """Critical t and standard errors of every look and experiment."""
    used, scale = prior
    n, degrees = np.array(at)[:, None], np.array([freedom(n) for n in at])[:, None]
    if used == 0:
        return [np.array([stats.t.isf(p / 2, d) for p, d in zip(level, degrees)]) for level in levels], errors
    ratio = errors**2 * n / scale
    agrees = 2 * np.minimum(stats.f.sf(ratio, degrees, used), stats.f.cdf(ratio, degrees, used)) > 0.05
    less = np.sqrt((degrees * errors**2 * n + used * scale) / (degrees + used) / n)
    both = [[stats.t.isf(level[:, None] / 2, degrees + extra) for extra in (used, 0)] for level in levels]
    return [np.where(agrees, *pair) for pair in both], np.where(agrees, less, errors)


def by_boundaries(means, errors, boundaries, at):
    change, inside = boundaries
    changed = np.logical_or.accumulate(np.abs(means) >= change * errors, axis=0)
    within = np.abs(means) + inside * errors < BAND
    slower, faster = changed & (means - inside * errors > BAND), changed & (means + inside * errors < -BAND)
    words = np.select([within & changed, within, slower, faster, changed], [WITHIN, NO_CHANGE, REGRESSION, IMPROVEMENT, OPEN])
    return ended(words, within | slower | faster, at)[:2]
