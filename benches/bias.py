#!/usr/bin/env python3
"""Whether every mode estimates the slowdown that was planted: 5 %, of four kinds.

The benchmarks of `benches/bias` do exactly 5 % more of the same work in the candidate: multiplying, walking at random over working
sets around the sizes of the caches, updating a map, allocating beside a small and a large live heap, interpreting, searching. Both
versions run the same machine code, and every operation goes on where the last one ended.

The bias of a mode is the mean of its estimates less 5 %, each repetition being one run. It should stay below a fourth of the
default threshold. Beside it is what the plant comes to in whole, free-running processes, pinned to one core with `GOMAXPROCS=1`:
the processor time of the difference of two lengths, both processes of a pair in turns on one processor.
"""

import math
import random

from study import (MODES, Study, decimals, digest, listed, mean, median_of, paragraph, parser, percent, settings, table)
from truth import Truth, copied, error_of, holds, in_words, options_of

MORE = 5
LIMIT = 0.0075
# So many standard errors of a bias count as its uncertainty.
ERRORS = 3


def main():
    args = arguments()
    study = Study(args, "Bias of the modes", lambda study: body(study, args, truth, names))
    versions = [copied(study, "bias", side, "scale = 100", f"scale = {scale}") for side, scale in (("base", 100), ("head", 100 + MORE))]
    truth = Truth(study, args, versions)
    names = truth.names(args.bench)
    for repetition in range(1, max(args.repetitions, args.truth_repetitions) + 1):
        for step in order(study, args, truth, names, versions, repetition):
            step()
    study.finish()


def arguments():
    options = parser(__doc__.splitlines()[0], "bias.md")
    options_of(options, 12)
    options.add_argument("--repetitions", type=int, default=8, help="runs in each mode and setting; 0 measures the truth alone")
    options.add_argument("--modes", type=listed, default=MODES, help="modes, separated by commas")
    options.add_argument("--settings", type=settings, default="one build=--builds 1 --fixed", help="`NAME=FLAGS` of duet, separated by "
                         "semicolons; `;default=` adds what duet does of its own accord")
    options.add_argument("--bench", default=".", help="only benchmarks whose name matches")
    options.add_argument("--budget", help="measuring time of each run; without it duet decides")
    return options.parse_args()


def order(study, args, truth, names, versions, repetition):
    """The steps of a repetition in random order, so that what a time limit leaves out is left out evenly."""
    steps = []
    if repetition <= args.truth_repetitions:
        steps += [lambda name=name: truth.measure(name, repetition) for name in names]
    if repetition <= args.repetitions:
        steps += [lambda way=way: study.do(f"{way} {repetition}", lambda: compared(study, args, versions, way)) for way in ways(args)]
    return random.Random(repetition).sample(steps, len(steps))


def ways(args):
    """Every mode with every setting, and what that adds to duet's command line."""
    return {f"{mode}, {name}": ["--mode", mode, *flags] for mode in args.modes for name, flags in args.settings.items()}


def compared(study, args, versions, way):
    budget = ["--budget", args.budget] if args.budget else []
    flags = study.known("--measure-identical", *ways(args)[way])
    return digest(study.compare(*versions, "--bench", args.bench, *budget, *flags))


def body(study, args, truth, names):
    found = {way: by_benchmark(study, args, way) for way in ways(args)} if args.repetitions else {}
    parts = [paragraph(__doc__, 1), paragraph(__doc__, 2),
             f"Repetitions asked for: {args.repetitions}, of the truth {args.truth_repetitions}; limit: {percent(LIMIT)}.{truth.origin}",
             "## The plants", truth_table(truth, names)]
    if found:
        parts += ["## Bias", bias_table(found, names, truth), "## Totals", totals_table(study, args, found, truth)]
    return "\n\n".join(parts)


def by_benchmark(study, args, way):
    """The results of each benchmark that have an estimate."""
    found = {}
    for run in results(study, args, way):
        for b in run["benchmarks"]:
            found.setdefault(b["name"], [])
            found[b["name"]] += [b] if b["ratio"] is not None else []
    return found


def results(study, args, way):
    found = (study.get(f"{way} {r}") for r in range(1, args.repetitions + 1))
    return [result for result in found if result]


def truth_table(truth, names):
    rows = []
    for name in names:
        pilot, found = truth.pilot(name), truth.ratio(name)
        if pilot and found:
            off, uncertain = math.expm1(found.middle) - MORE / 100, found.error * math.exp(found.middle)
            rows.append([name, f"{pilot[0]['ns'] / 1000:.1f}", len(truth.log_ratios(name)), in_words(found), f"{100 * off:+.2f}",
                         f"{off / uncertain:+.1f}"])
    head = ["benchmark", "µs, base", "repetitions", "truth (standard error)", f"points from {MORE}", "the same in standard errors"]
    return table(head, rows)


def bias_table(found, names, truth):
    rows = []
    for name in names:
        for way, by_name in found.items():
            if by_name.get(name):
                ratios = [b["ratio"] - 1 for b in by_name[name]]
                bias, uncertain = mean(ratios) - MORE / 100, error_of(ratios)
                rows.append([name, way, len(ratios), percent(mean(ratios)), percent(uncertain), f"{100 * bias:+.2f}",
                             within(bias, ERRORS * uncertain), inside({name: by_name[name]}), inside({name: by_name[name]}, truth)])
    head = ["benchmark", "mode", "runs", "mean estimate", "its standard error", f"points from {MORE}", f"within {100 * LIMIT:.2f} points",
            f"intervals that hold {MORE} %", "that hold the truth"]
    return table(head, rows) + (
        f"\n\n*Within* is *yes* or *no* when the bias is on one side of the limit with {ERRORS} standard errors to spare; *open* before the "
        f"word that the middle says when it is not: more repetitions are needed. The truth is that of whole processes, whose calls cost something besides "
        f"the {MORE} % of work; an interval holds it where its ends, moved outwards by the truth's own uncertainty, enclose it.")


def within(bias, uncertain):
    if abs(bias) + uncertain < LIMIT:
        return "yes"
    return "**no**" if abs(bias) - uncertain > LIMIT else "open, yes" if abs(bias) < LIMIT else "open, no"


def inside(by_name, truth=None):
    """The share of intervals that hold the planted change, or the truth; benchmarks without an interval are not counted."""
    have = [(truth and truth.ratio(name), b) for name, several in by_name.items() for b in several if b["low"] is not None]
    return f"{sum(holds(b, at) if at else b['low'] <= 1 + MORE / 100 <= b['high'] for at, b in have)} of {len(have)}"


def totals_table(study, args, found, truth):
    rows = []
    for way, by_name in found.items():
        runs, benchmarks = results(study, args, way), [b for several in by_name.values() for b in several]
        biases = [mean(b["ratio"] for b in several) - 1 - MORE / 100 for several in by_name.values() if several]
        confidence = sorted({f"{100 * b['confidence']:g} %" for b in benchmarks if b["confidence"]})
        rows.append([way, len(runs), sum(r["counts"]["failed"] for r in runs), f"{100 * mean(biases):+.2f}",
                     f"{sum(abs(bias) < LIMIT for bias in biases)} of {len(biases)}", inside(by_name), inside(by_name, truth), ", ".join(confidence),
                     decimals(median_of(r["wall_s"] for r in runs)), decimals(median_of(r["measured_s"] for r in runs))])
    head = ["mode", "runs", "failed", f"mean points from {MORE}", f"means within {100 * LIMIT:.2f} points",
            f"intervals that hold {MORE} %", "that hold the truth", "their confidence", "wall s", "measured s"]
    return table(head, rows)


if __name__ == "__main__":
    main()
