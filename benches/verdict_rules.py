#!/usr/bin/env python3
"""A simulation: which rule for verdicts errs how often, finds how much, and takes how many units?

A unit is a build pair, or a fork pair of one build. Units are normal, their spread is s_B by build pair and s_F by fork pair, and each
of the first four build pairs has two fork pairs. The threshold is 3 %. Looks are after 4, 6, 8, 10, 13, 16, 20, 25 and 32 units, or
20 of one build. The trimmed t and the boundaries are those of duet, written a second time.
"""

import argparse
import datetime
import gzip
import json
from pathlib import Path

import sequential
import numpy as np
import scipy

import verdict_trials as trials
from study import STUDIES, command_line, decimals, paragraph, percent, revision, say, table

RULES = {"before": trials.BEFORE, "beyond a third": trials.THIRD, "95 % interval": trials.NARROW, "**chosen**": trials.CHOSEN}
SPENDING = {
    f"{100 * (1 - error):.0f} %, {power}": trials.Rule(error=error, power=power)
    for error in (0.05, 0.10)
    for power in (0.5, 0.75, 1.0, 1.5, 2.0, "pocock")
}
VARIANTS = {
    "95 %": trials.NARROW,
    "95 %, more looks": trials.Rule(error=0.05, planned=sequential.MORE_LOOKS),
    "95 %, *no change* by 90 %": trials.Rule(error=0.05, no_change_error=0.10),
    "95 %, *regression* by 80 %": trials.Rule(error=0.05, regression_error=0.20),
    "93 %": trials.Rule(error=0.07),
    "90 % (chosen)": trials.CHOSEN,
    "90 %, never ended as out of reach": trials.Rule(prospect=0, answer=0),
    "90 %, not corrected for depth": trials.Rule(exact=False),
}


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    options.add_argument("--draws", type=int, default=100_000, help="experiments in each cell of the main tables")
    options.add_argument("--output", type=Path, default=STUDIES / "verdict-rules.md", help="page to write")
    options.add_argument("--page", action="store_true", help="write the page from the numbers that are there")
    args = options.parse_args()
    numbers = args.output.parent / "data" / (args.output.stem + ".jsonl.gz")
    if not args.page:
        rows = simulated(args.draws)
        keep(numbers, header(args.draws), rows)
    made, rows = kept(numbers)
    args.output.write_text("\n\n".join(page(made, rows)) + "\n")
    say(f"wrote {args.output} and {numbers}")


def header(draws):
    return {
        "made by": f"`{command_line()}`",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "revision": revision(),
        "experiments": f"{draws:,}",
        "NumPy, SciPy": f"{np.__version__}, {scipy.__version__}",
    }


def steps(draws):
    """Names of tables and what is run for them, each with random numbers of its own, so that one may be run alone."""
    for design in trials.DESIGNS:
        yield "rules", trials.verdicts, (draws, RULES, design)
    yield "variants", trials.verdicts, (draws, VARIANTS, trials.DEFAULT)
    yield "spending", trials.verdicts, (draws, SPENDING, trials.DEFAULT, [0, 0.03, 0.04, 0.05])
    yield "forced", trials.forced, (draws,)
    for design in ((0, 0.005, 20), (0, 0.01, 20), (0.01, 0.007, 32), trials.DEFAULT):
        for of_slow in (0.003, 0.005, 0.01, 0.02, 0.04):
            yield "slow", trials.slow_slices, (draws // 2, design, of_slow)
    for fixed in (False, True):
        for design in ((0.002, 0.002, 32), (0.01, 0.007, 32), trials.DEFAULT, (0.035, 0.015, 32), (0.05, 0.02, 32), (0, 0.01, 20), (0, 0.03, 20)):
            yield "detects", trials.detects, (draws // 2, design, fixed)
    for design in (trials.DEFAULT, (0.01, 0.007, 32), (0.05, 0.02, 32)):
        for change in (0, 0.015, 0.02, 0.03, 0.04, 0.05, 0.07):
            yield "confirming", trials.confirming, (draws // 2, design, change)
    for spread in (0.02, 0.04):
        for change in (0, 0.01, 0.02, 0.03, 0.04, 0.05):
            yield "sufficient", trials.sufficient, (max(draws // 50, 100), spread, change)
    yield "skew", trials.skew, (draws // 2,)
    for fragile in ((0.10, 0.30), (0.08, 0.40)):
        yield "fragile", trials.fragile, (draws, *fragile)
    for benchmarks in (10, 30, 100):
        for correlation in (0, 0.1, 0.2, 0.3):
            yield "lag", trials.lag, (max(draws // 33, 10), benchmarks, correlation)
    for horizon in (8, 13, 16, 20, 32, 64):
        yield "depth", trials.depth, (2 * draws, horizon)
    for truth, used in ((10, 0), (10, 4), (10, 10), (4, 0), (4, 4), (4, 10), ("real", 0), ("real", 4)):
        yield "moderated", trials.moderated, (draws // 2, truth, used)


def simulated(draws):
    rows = []
    for number, (name, work, arguments) in enumerate(steps(draws)):
        say(f"{name} {number}")
        rows += [{"table": name, **row} for row in work(np.random.default_rng([20, number]), *arguments)]
    return rows


def keep(path, made, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in [made, *rows])
    # Without a time in it, so that the same numbers make the same file.
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def kept(path):
    made, *rows = (json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines())
    return made, rows


def page(made, rows):
    of = lambda name: [row for row in rows if row["table"] == name]
    yield "# A simulation: rules for verdicts"
    yield table(["", ""], list(made.items()))
    yield paragraph(__doc__, 1) + " " + EXPERIMENTS
    yield RULE.format(depth=sequential.DEPTH, changed=percent(trials.promised(0.01), 3), interval=percent(trials.promised(trials.CHOSEN.error)))
    yield from by_rule(of("rules"))
    yield from by_spending(of("spending"), of("variants"))
    yield by_clock(of("forced"))
    yield by_slow_slices(of("slow"))
    yield by_detects(of("detects"))
    yield by_confirming(of("confirming"))
    yield by_enough(of("sufficient"))
    yield by_skew(of("skew"), of("fragile"))
    yield by_lag(of("lag"))
    yield by_depth(of("depth"))
    yield by_prior(of("moderated"))


EXPERIMENTS = (
    "Each cell of the tables by rule, spending and clock is so many experiments, and of few slices, detects, confirming, "
    "skewness and shrinking half as many; of depth "
    "sixteen times as many, of units that would suffice a fiftieth, and of units that follow each other a thirty-third in "
    "suites. Raw numbers: "
    "[data/verdict-rules.jsonl.gz](data/verdict-rules.jsonl.gz), one line for each cell."
)

RULE = """## The rules

- **before**: a benchmark was *no change* where the 99 % interval lies inside the band, *regression* where the change was shown at 1 % and the interval excluded 1.
  Vague intervals, wider to each side than half the change and three thresholds, did not end a benchmark.
- **beyond a third** (an audit's proposal): the same, but *regression* needs the interval beyond a third of the threshold; *no change* by a 95 % interval.
- **chosen**: a change is shown at 1 %, spent as `(n / N)^1.5`; one interval, 90 %, spent as `n / N`. *No change*: interval inside the band and no change
  shown; *within*: inside the band, and a change is shown; *regression*: a change is shown and the interval lies beyond the threshold; *open*: a change is
  shown, and the interval holds the threshold. Such a one also ends where the chance that the last look settles it is below a tenth. A sequential p is multiplied by `1 - {depth} ln p`, so that the nominal levels are {changed} and {interval}.
- **95 % interval**: the same with a 95 % interval.

*Changed* is every word that says that there is a change. At a true change of just the threshold, *no change* and *within* are wrong on one side and
*regression* is wrong on the other; either may happen with half the error of the interval."""


def sizes(design):
    return f"{100 * design['of_builds']:g} / {100 * design['of_forks']:g}, {design['horizon']}"


def one(rows, **wanted):
    return next(row for row in rows if all(row[name] == value for name, value in wanted.items()))


def changed(row):
    return sum(row[word] for word in ("within", "regression", "improvement", "open"))


def calm(row):
    return row["no_change"] + row["within"]


def short(value):
    """A share in percent, as precise as is of use."""
    return f"{100 * value:.{2 if value < 0.0095 else 1 if value < 0.0995 else 0}f}"


def listed(values):
    return " / ".join(values)


def by_rule(rows):
    head = ["s_B / s_F, N", "rule", "units on equal code", "less than before", "changed", "*regression* or *improvement*", "inconclusive"]
    equal = [row for row in rows if row["change"] == 0]
    lines = []
    for row in equal:
        before = one(equal, rule="before", **{name: row[name] for name in ("of_builds", "of_forks", "horizon")})
        lines.append(
            [
                sizes(row),
                row["rule"],
                decimals(row["units"]),
                f"{100 * (1 - row['units'] / before['units']):.0f} %",
                f"{100 * changed(row):.2f} %",
                f"{100 * (row['regression'] + row['improvement']):.3f} %",
                f"{short(row['inconclusive'])} %",
            ]
        )
    yield "## Equal versions\n\n" + table(head, lines)
    yield "## By the true change\n\nPercent of experiments.\n\n" + "\n\n".join(by_change(rows, design) for design in trials.DESIGNS)


def by_change(rows, design):
    parts = [row for row in rows if (row["of_builds"], row["of_forks"], row["horizon"]) == design]
    head = ["rule", "", *(f"{100 * change:g} %" for change in trials.CHANGES)]
    shown = {
        "*no change*": lambda row: short(row["no_change"]),
        "*within*": lambda row: short(row["within"]),
        "*regression*": lambda row: short(row["regression"]),
        "*open*": lambda row: short(row["open"]),
        "units": lambda row: decimals(row["units"]),
    }
    lines = []
    for rule in RULES:
        cells = [one(parts, rule=rule, change=change) for change in trials.CHANGES]
        former = rule in ("before", "beyond a third")
        lines += [[rule, what, *map(show, cells)] for what, show in shown.items() if not (former and what in ("*within*", "*open*"))]
    return f"**{sizes(parts[0])}**\n\n" + table(head, lines)


def by_spending(rows, variants):
    head = [
        "interval, spending",
        "units on equal code",
        "changed",
        "*no change* or *within* at 3 %",
        "*regression* at 3 / 4 / 5 %",
        "units at 3 / 4 / 5 %",
    ]
    yield (
        "## How the interval's error is spent\n\nBy a power of `n / N`, or as Pocock's test nearly does (`ln(1 + (e - 1) n / N)`); "
        "s_B / s_F 2.5 / 1.2.\n\n" + table(head, [spending_line(rows, rule) for rule in SPENDING])
    )
    yield "Other ways to end earlier, spent as `n / N`:\n\n" + table(head, [spending_line(variants, rule) for rule in VARIANTS])


def spending_line(rows, rule):
    equal, later = one(rows, rule=rule, change=0), [one(rows, rule=rule, change=change) for change in (0.03, 0.04, 0.05)]
    return [
        rule,
        decimals(equal["units"]),
        f"{100 * changed(equal):.2f} %",
        f"{short(calm(later[0]))} %",
        listed(short(row["regression"]) for row in later),
        listed(decimals(row["units"]) for row in later),
    ]


def by_clock(rows):
    head = [
        "interval",
        "ends after, of 32",
        "of what is left",
        "equal: changed",
        "equal: inconclusive",
        "at 3 %: *no change* or *within*",
        "at 3 %: *regression*",
        "at 5 %: *regression*",
    ]
    lines = [
        [
            percent(1 - row["error"], 0),
            row["units"],
            row["what_was_left"],
            f"{100 * changed(row['answers']['0']):.2f}",
            short(row["answers"]["0"]["inconclusive"]),
            short(calm(row["answers"]["0.03"])),
            short(row["answers"]["0.03"]["regression"]),
            short(row["answers"]["0.05"]["regression"]),
        ]
        for row in rows
    ]
    return (
        "## A run that the clock ends\n\ns_B / s_F 2.5 / 1.2. At that look all that is left of both errors is spent, or it is "
        "forgone. Percent. A run that has spent "
        "all and is then resumed may err with up to `alpha (2 - (n / N)^1.5)`.\n\n" + table(head, lines)
    )


def by_slow_slices(rows):
    head = [
        "s_B / s_F, N",
        "s_E",
        "rule",
        "*no change* or *within*, 3 / 4 / 6 % in few slices",
        "*regression* there",
        "equal: units",
        "equal: changed",
        "equal: inconclusive",
    ]
    lines = []
    for row in rows:
        answers = [row["answers"][str(change)] for change in (0.03, 0.04, 0.06)]
        equal = row["answers"]["0"]
        lines.append(
            [
                sizes(row),
                percent(row["of_slow"], 1),
                row["rule"],
                listed(short(calm(a)) for a in answers),
                listed(short(a["regression"]) for a in answers),
                decimals(equal["units"]),
                f"{100 * changed(equal):.2f}",
                short(equal["inconclusive"]),
            ]
        )
    return (
        "## A change in few slices\n\nThe typical slice is as fast as before and the mean time is slower, or both are as before; "
        "s_E is the spread of *complete less "
        "typical* over units. *Both*: the interval of the typical and of the complete number must lie inside the band. "
        "Percent.\n\n" + table(head, lines)
    )


def by_detects(rows):
    head = [
        "run",
        "s_B / s_F, N",
        "spread",
        "estimated / true",
        "detects, median",
        "*regression* at the median",
        "at each run's own",
        "really 80 % at",
    ]
    lines = [
        [
            "fixed" if row["fixed"] else "sequential",
            sizes(row),
            row["spread"],
            decimals(row["estimated_to_true"], 2),
            percent(row["detects"]),
            f"{100 * row['at_median']:.0f} %",
            f"{100 * row['at_own']:.0f} %",
            percent(row["really"]),
        ]
        for row in rows
    ]
    alone = max(row["by_the_change_alone"] for row in rows)
    return (
        "## The change that is detected\n\n`exp(max(ln(1 + threshold) + k1 SE, k2 SE)) - 1`, where SE is spread / sqrt(N) and k1 "
        "and k2 are the noncentral factors "
        "of the interval's and of the change's nominal p at the last look. *Widened*: the spread times sqrt(df / its 35 % point of "
        "chi-square), since runs end rather where it "
        f"came out small. The second term decided in {short(alone)} % of runs at most.\n\n" + table(head, lines)
    )


def by_confirming(rows):
    head = [
        "s_B / s_F, N",
        "true change",
        "rule",
        "called",
        "asked",
        "lost, of the called",
        "unconfirmed",
        "left",
        "units for each asked",
        "bias of the size, points",
    ]
    lines = []
    for row in rows:
        for rule in ("before", "p above 1e-4 asked", "all asked"):
            part = row[rule]
            measured = (
                []
                if "lost" not in part
                else [
                    short(part["asked"]),
                    short(part["lost"]),
                    short(part["unconfirmed"]),
                    short(part["called"] * (1 - part["lost"])),
                    decimals(part["units"]),
                    "" if part["bias"] is None else f"{100 * part['bias']:+.2f}",
                ]
            )
            lines.append([sizes(row), f"{100 * row['change']:g} %", rule, f"{100 * part['called']:.3g}", *(measured or [""] * 6)])
    return (
        "## Confirming\n\nBefore: two rounds, each must see the regression at one-sided 5 %; the size that was found first is "
        "reported. Chosen: fresh units are judged together, from the second "
        "round on; withdrawn where their 95 % interval ends below the threshold, else confirmed at one-sided 0.25 %, else another "
        "round, up to 32 units; the fresh size is reported. "
        f"Percent; what rests on fewer than {trials.FEW} regressions is left out.\n\n" + table(head, lines)
    )


def by_enough(rows):
    head = ["spread of a unit", "true change", "counted", "open after 6 units", "a number is named", "median", "settled with it"]
    lines = [
        [
            percent(row["spread"], 0),
            percent(row["change"], 0),
            row["counted"],
            short(row["open"]),
            short(row["named"]),
            f"{row['median']:.0f}",
            short(row["settled"]),
        ]
        for row in rows
    ]
    return (
        "## Units that would suffice\n\nNamed is the least number for which the interval lies inside the band, by both edges, or "
        "beyond the threshold with 80 %, by the nominal p of the last look. "
        "At just the threshold none suffices. Percent.\n\n" + table(head, lines)
    )


def by_skew(rows, fragile):
    units = list(dict.fromkeys(row["units"] for row in rows))
    lines = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        for what in ("far", "flagged"):
            lines.append([kind, what, *(short(one(rows, kind=kind, units=n)[what]) for n in units)])
    text = (
        "## Few layouts that are much slower\n\nA unit is *far* where `|x - median| / (1.4826 MAD)` exceeds `4.1 + 60 n^-1.3`; it "
        "is flagged where, besides, mean and median differ by more than "
        "a third of the threshold. Percent, by units.\n\n" + table(["units from", "", *units], lines)
    )
    head = ["layouts", "mean change", "*no change* or *within*", "of them flagged", "*regression*", "*open*"]
    return (
        text
        + "\n\nAs runs end:\n\n"
        + table(
            head,
            [
                [
                    f"{100 * row['share']:g} % slower by {100 * row['slower']:g} %",
                    percent(row["mean"], 1),
                    short(row["calm"]),
                    short(row["calm_and_flagged"] / row["calm"]),
                    short(row["regression"]),
                    short(row["open"]),
                ]
                for row in fragile
            ],
        )
    )


def by_lag(rows):
    head = ["benchmarks", "correlation of successive units", "mean of z", "standard deviation", "z above 3"]
    return (
        "## Units that follow each other\n\n`z = sum(n r + 1) / sqrt(sum((n - 2)^2 / (n - 1)))` over the benchmarks of a run, r the "
        "lag-1 correlation of n units, from six units on.\n\n"
        + table(
            head,
            [[row["benchmarks"], row["correlation"], decimals(row["mean"], 2), decimals(row["sd"], 2), f"{short(row['above_3'])} %"] for row in rows],
        )
    )


def by_depth(rows):
    head = ["N", "p", *(f"{level:g}" for level in trials.DEPTHS)]
    lines = [[row["horizon"], what, *(decimals(ratio, 2) for ratio in row[what])] for row in rows for what in ("plain", "corrected")]
    return (
        "## Depth\n\nHow often the sequential p of equal versions is at most so small, over what it should be. Boundaries are those "
        "of normal values; the t and, from ten units on, Yuen's t with few "
        f"units exceed them. *Corrected*: p (1 - {sequential.DEPTH} ln p).\n\n" + table(head, lines)
    )


def by_prior(rows):
    head = [
        "spreads",
        "prior df used",
        "equal: units",
        "equal: changed (noisiest quarter)",
        "at 3 %: *no change* or *within*",
        "at 3 %: *regression*",
        "at 5 %: *regression*",
        "units",
    ]
    names = {10: "inverse chi-square, 10 df", 4: "inverse chi-square, 4 df", "real": "94 benchmarks"}
    both = lambda row, change, share: f"{short(share(row[change]['all']))} ({short(share(row[change]['noisy']))})"
    regression = lambda part: part["regression"]
    lines = [
        [
            names[row["truth"]],
            row["used"] or "none",
            decimals(row["0"]["units"]),
            both(row, "0", changed),
            both(row, "0.03", calm),
            both(row, "0.03", regression),
            short(row["0.05"]["all"]["regression"]),
            decimals(row["0.05"]["units"]),
        ]
        for row in rows
    ]
    prior, scale = trials.prior_of(trials.real_spreads())
    return (
        "## Spreads shrunk to those of the suite\n\nA moderated t, with the guard that an F test at 5 % does not reject the prior. "
        "The real spreads are those of "
        f"[fleet-simulation.csv](fleet-simulation.csv), whose prior has {prior:.1f} degrees of freedom. Percent, in brackets that "
        f"of the noisiest quarter of benchmarks.\n\n" + table(head, lines)
    )


if __name__ == "__main__":
    main()
