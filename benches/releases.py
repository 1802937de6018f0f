#!/usr/bin/env python3
"""Releases of published Go modules against the next: what a run of a minute says, beside a long one whose layouts are others on either side.

The run is `duet compare` with matched layouts, which ends each benchmark as soon as its answer is known. A reference draws a layout for each
side of every build pair, data included, and spends all of its time. It is no truth, but its errors are its own. Steps are made in random order,
and references again and again, at other times: their estimates are pooled by their intervals' lengths.

Both have 90 % intervals; the reference's word says where its interval lies. They *agree* where the two estimates are no further apart than both reach together, as the root of the sum of squares:
nine of ten should. A contradiction is *no change* where the reference's interval lies wholly beyond the threshold, or a change whose sign the reference excludes.
"""

import collections
import math
import random
import statistics

from nulls import MODULES
from study import CALLED, FASTER, SLOWER, Study, decimals, digest, half_width, listed, mean, median_of, one_line, parser, per_benchmark, percent, said, spoken, table, upper_bound

# Consecutive releases with benchmarks, packages of which are those of the study of comparisons of a version with itself.
RELEASES = {
    "zap": "1.24.0 1.25.0 1.26.0 1.27.0",
    "toml": "2.2.1 2.2.2 2.2.3 2.2.4 2.3.0",
    "common": "0.59.1 0.60.0 0.60.1 0.61.0 0.62.0",
    "gjson": "1.14.4 1.15.0 1.16.0 1.17.0 1.18.0",
    "uuid": "1.3.0 1.3.1 1.4.0 1.5.0 1.6.0",
    "compress": "1.17.8 1.17.9 1.17.10 1.17.11",
    "xxhash": "2.1.2 2.2.0 2.3.0",
    "chi": "5.0.12 5.1.0 5.2.0 5.2.1",
    "burntsushi": "1.2.1 1.3.2 1.4.0 1.5.0",
    "zerolog": "1.31.0 1.32.0 1.33.0 1.34.0",
    "decimal": "1.3.1 1.4.0 1.5.0 1.6.0",
    "fastjson": "1.6.4 1.6.7 1.6.10",
}
WAYS = {"run": [], "reference": ["--layouts", "random", "--fixed"]}
THRESHOLD = 0.03


def main():
    options = parser(__doc__.splitlines()[0], "releases.md")
    options.add_argument("--modules", type=listed, default=list(RELEASES), help="which ones, separated by commas")
    options.add_argument("--budget", default="60s", help="measuring time of a run, at most")
    options.add_argument("--reference-budget", default="60s", help="measuring time of a reference")
    options.add_argument("--references", type=int, default=3, help="of each step")
    args = options.parse_args()
    study = Study(args, "Releases of Go modules", lambda study: body(study, args))
    for number in range(1, args.references + 1):
        for step in random.Random(number).sample(steps(args), len(steps(args))):
            for way in WAYS if number == 1 else ["reference"]:
                budget = args.budget if way == "run" else args.reference_budget
                study.do(key_of(way, step, number), lambda: compared(study, step, "--budget", budget, *WAYS[way]))
    study.finish()


def key_of(way, step, number=1):
    return " ".join([way, *step, *([str(number)] if number > 1 else [])])


def steps(args):
    return [(module, old, new) for module in args.modules for old, new in zip(RELEASES[module].split(), RELEASES[module].split()[1:])]


def compared(study, step, *options):
    """The comparison of two releases of a module."""
    module, *releases = step
    path = MODULES[module].version.split("@")[0]
    packages = [word for package in MODULES[module].packages for word in ("--packages", package)]
    only = ["--bench", "^(" + "|".join(MODULES[module].benchmarks) + ")$"]
    return digest(study.compare(*(f"{path}@v{release}" for release in releases), "--measure-identical", *packages, *only, *options))


def body(study, args):
    pairs = [(step, run, reference) for step in steps(args) for run, reference in both(study, args, step)]
    if not pairs:
        return "Nothing was measured yet."
    return "\n\n".join([*(one_line(part) for part in __doc__.split("\n\n")),
                        budgets(study, args),
                        "## Verdicts", verdicts(pairs), "## Intervals", intervals(pairs), "## Changes", changes(pairs),
                        "## Modules", modules(study, args)])


def budgets(study, args):
    references = [made for step in steps(args) for made in references_of(study, args, step)]
    hours = sum(made["measured_s"] for made in references) / 3600
    return (f"A run has at most {args.budget} of measuring, a reference {args.reference_budget}. "
            f"The {len(references)} references measured for {hours:.1f} hours in all.")


def references_of(study, args, step):
    """Those of a step that were made."""
    return [made for number in range(1, args.references + 1) if (made := study.get(key_of("reference", step, number)))]


def both(study, args, step):
    """The benchmarks of a step that both have measured, and what all references of it say."""
    others = collections.defaultdict(list)
    for reference in references_of(study, args, step):
        for b in estimated(reference):
            others[b["name"]].append(b)
    return [(b, pooled(others[b["name"]])) for b in estimated(study.get(key_of("run", step)) or {"benchmarks": []}) if b["name"] in others]


def estimated(made):
    return [b for b in made["benchmarks"] if b["ratio"] is not None]


def pooled(estimates):
    """Independent estimates of one benchmark as one, weighted by the inverse squares of their intervals' half-widths."""
    weights = [half_width(b) ** -2 for b in estimates]
    log, reach = (sum(w * math.log(b["ratio"]) for w, b in zip(weights, estimates)) / sum(weights), sum(weights) ** -0.5)
    ends = {"low": math.exp(log - reach), "high": math.exp(log + reach)} if len(estimates) > 1 else {end: estimates[0][end] for end in ("low", "high")}
    return {"ratio": math.exp(log), "verdict": word_of(ends["low"], ends["high"])} | ends


def word_of(low, high):
    """The verdict that is nearest to where an interval lies."""
    beyond, within = 1 + THRESHOLD, 1 / (1 + THRESHOLD) < low and high < 1 + THRESHOLD
    if low > 1:
        return "regression" if low > beyond else "slower_within_tolerance" if within else "slower_size_open"
    if high < 1:
        return "improvement" if high < 1 / beyond else "faster_within_tolerance" if within else "faster_size_open"
    return "no_change" if within else "inconclusive"


def verdicts(pairs):
    """A row for each word of the run, a column for each of the reference."""
    words = sorted({b["verdict"] for _, *two in pairs for b in two})
    rows = [[spoken(word), *(sum((run["verdict"], reference["verdict"]) == (word, other) for _, run, reference in pairs) for other in words)]
            for word in words]
    wrong = sum(contradicts(run, reference) for _, run, reference in pairs)
    return table(["run \\ reference", *map(spoken, words)], [row for row in rows if any(row[1:])]) + (
        f"\n\n{len(pairs)} benchmarks of {len({step for step, *_ in pairs})} steps. {wrong} of {len(pairs)} contradict the reference, at most "
        f"{percent(upper_bound(wrong, len(pairs)), 1)} with 99 % confidence.")


def contradicts(run, reference):
    if run["verdict"] == "no_change":
        return reference["low"] > 1 + THRESHOLD or reference["high"] < 1 / (1 + THRESHOLD)
    return run["verdict"] in SLOWER and reference["high"] < 1 or run["verdict"] in FASTER and reference["low"] > 1


def intervals(pairs):
    agree = sum(distance(run, reference) <= 1 for _, run, reference in pairs)
    apart = [math.log(run["ratio"] / reference["ratio"]) for _, run, reference in pairs]
    root = math.sqrt(mean(gap * gap for gap in apart))
    # An interval reaches so many standard errors of a normal distribution, a little more of Student's t.
    errors = [statistics.NormalDist().inv_cdf((1 + run["confidence"]) / 2) * distance(run, reference) for _, run, reference in pairs]
    spread = math.sqrt(mean(error * error for error in errors))
    half = median_of(half_width(run) for _, run, _ in pairs), median_of(half_width(reference) for *_, reference in pairs)
    return table(["intervals", ""], [
        ["agree", f"{agree} of {len(pairs)}"], ["estimates apart, mean", f"{100 * mean(apart):+.2f} %"],
        ["estimates apart, root mean square", percent(root)], ["the same, in standard errors", decimals(spread, 2)],
        ["half-width of a run, median", percent(half[0])], ["half-width of a reference, median", percent(half[1])]])


def distance(run, reference):
    """The distance of two estimates, in parts of the reach of both."""
    gap = math.log(reference["ratio"] / run["ratio"])
    ends = [math.log(b[end] / b["ratio"]) for b, end in ([(run, "high"), (reference, "low")] if gap > 0 else [(run, "low"), (reference, "high")])]
    return abs(gap) / math.hypot(*ends)


def changes(pairs):
    """Whatever either calls changed, or where they disagree."""
    rows = [[step[0], step[2], run["name"].removeprefix("Benchmark"), said(run), said(reference), "" if distance(run, reference) <= 1 else "apart"]
            for step, run, reference in pairs
            if {run["verdict"], reference["verdict"]} & set(CALLED) or distance(run, reference) > 1]
    return table(["module", "release", "benchmark", "run", "reference", ""], rows) if rows else "None."


def modules(study, args):
    rows = []
    for module in args.modules:
        runs = [run for step in steps(args) if step[0] == module and (run := study.get(key_of("run", step)))]
        if runs:
            judged = [b for run in runs for b in estimated(run)]
            rows.append([MODULES[module].version.split("@")[0], len(runs), len(judged), sum(b["verdict"] == "inconclusive" for b in judged),
                         decimals(mean(per_benchmark(run) for run in runs if run["benchmarks"]))])
    return table(["module", "steps", "judged", "inconclusive", "s a benchmark, building included"], rows)


if __name__ == "__main__":
    main()
