#!/usr/bin/env python3
"""Whether every mode estimates the ratio that the sequential reference does.

A mode that runs both versions at once, or by turns on one core, lets them share caches, memory and the collector, which whole
processes one after the other do not. The benchmarks of `benches/bias` do 5 % more of the same work in the candidate, each of
another kind: random walks over working sets around the sizes of the caches, allocating, a map, several threads, heavy set-up. Both
versions have the same machine code.

The bias of a mode is the mean of its estimates less the mean of the sequential mode's, each repetition being one run. It should
stay below half the default threshold.
"""

import math
import random
import shutil
import statistics

from study import (MODES, REPOSITORY, Study, decimals, digest, listed, mean, median_of, paragraph, parser, percent, table)

MORE = 5
LIMIT = 0.015
REFERENCE = "sequential"
# How many standard errors of a bias count as its uncertainty.
ERRORS = 3


def main():
    options = parser(__doc__.splitlines()[0], "bias.md")
    options.add_argument("--repetitions", type=int, default=8, help="runs in each mode")
    options.add_argument("--modes", type=listed, default=MODES, help="modes, separated by commas; `sequential` is the reference")
    options.add_argument("--bench", default=".", help="only benchmarks whose name matches")
    options.add_argument("--budget", help="measuring time of each run; without it duet decides")
    options.add_argument("--flags", default="", help="more flags for duet, in one word, as `--flags='--builds 1'`")
    args = options.parse_args()
    study = Study(args, "Bias of the modes", lambda study: body(study, args))
    versions = [copied(study, "base", 100), copied(study, "head", 100 + MORE)]
    for repetition in range(1, args.repetitions + 1):
        for mode in random.Random(repetition).sample(args.modes, len(args.modes)):
            study.do(f"{mode} {repetition}", lambda: compared(study, args, versions, mode))
    study.finish()


def copied(study, label, scale):
    """A copy of the module with this scale."""
    target = study.scratch / label
    shutil.copytree(REPOSITORY / "benches" / "bias", target)
    work = target / "work.go"
    work.write_text(work.read_text().replace("var scale = 100", f"var scale = {scale}"))
    return target


def compared(study, args, versions, mode):
    budget = ["--budget", args.budget] if args.budget else []
    flags = study.known("--measure-identical", *args.flags.split())
    return digest(study.compare(*versions, "--bench", args.bench, "--mode", mode, *budget, *flags))


def body(study, args):
    estimates = {mode: by_benchmark(study, args, mode) for mode in args.modes}
    names = list(dict.fromkeys(name for found in estimates.values() for name in found))
    judged = [mode for mode in args.modes if mode != REFERENCE]
    return "\n\n".join([
        paragraph(__doc__, 1), paragraph(__doc__, 2), f"Repetitions asked for: {args.repetitions}; limit: {percent(LIMIT, 1)}.",
        "## Bias", bias_table(estimates, names, judged), "## Estimates", estimates_table(estimates, names),
        "## What it took", cost_table(study, args)])


def results(study, args, mode):
    found = (study.get(f"{mode} {r}") for r in range(1, args.repetitions + 1))
    return [result for result in found if result]


def by_benchmark(study, args, mode):
    """The estimated changes of each benchmark."""
    found = {}
    for result in results(study, args, mode):
        for b in result["benchmarks"]:
            found.setdefault(b["name"], [])
            if b["ratio"] is not None:
                found[b["name"]].append(b["ratio"] - 1)
    return found


def error(values):
    """Standard error of the mean; infinite for fewer than two values."""
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf


def bias_table(estimates, names, judged):
    rows = []
    reference = estimates.get(REFERENCE, {})
    for name in names:
        for mode in judged:
            ours, theirs = estimates[mode].get(name, []), reference.get(name, [])
            if ours and theirs:
                bias, uncertain = mean(ours) - mean(theirs), math.hypot(error(ours), error(theirs))
                rows.append([name, mode, signed(bias), percent(uncertain), below(bias, ERRORS * uncertain)])
    return table(["benchmark", "mode", f"bias against {REFERENCE}", "its standard error", f"below {percent(LIMIT, 1)}"], rows) + (
        f"\n\n*Below* is *yes* or *no* when the bias is on one side of the limit with {ERRORS} standard errors to spare, else *open*: "
        "more repetitions are needed.")


def below(bias, uncertain):
    if abs(bias) + uncertain < LIMIT:
        return "yes"
    return "**no**" if abs(bias) - uncertain > LIMIT else "open"


def signed(value):
    return f"{100 * value:+.2f} %"


def estimates_table(estimates, names):
    rows = [[name, *(of for found in estimates.values() for of in in_words(found.get(name, [])))] for name in names]
    head = [column for mode in estimates for column in (f"{mode}: mean", "± standard error", "of")]
    return f"The candidate does {MORE} % more work in each.\n\n" + table(["benchmark", *head], rows)


def in_words(values):
    return [signed(mean(values)), percent(error(values)), len(values)] if values else ["", "", 0]


def cost_table(study, args):
    rows = []
    for mode in args.modes:
        found = results(study, args, mode)
        inside = sum(b["low"] is not None and b["low"] <= 1 + MORE / 100 <= b["high"] for r in found for b in r["benchmarks"])
        failed = sum(r["counts"]["failed"] for r in found)
        cases = sum(len(r["benchmarks"]) for r in found)
        rows.append([mode, len(found), cases, failed, f"{inside} of {cases}", decimals(median_of(r["wall_s"] for r in found)),
                     decimals(median_of(r["measured_s"] for r in found))])
    return table(["mode", "runs", "benchmarks", "failed", f"interval holds {MORE} %", "wall s", "measured s"], rows)


if __name__ == "__main__":
    main()
