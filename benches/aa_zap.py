#!/usr/bin/env python3
"""zap against itself: what duet concludes, and what the usual procedure concludes on the same machine at the same time.

Every repetition makes one run of duet per budget and one pass of the usual procedure: the results of a plain test binary with
`-test.count 10 -test.benchtime 100ms` on each side, one after the other or by turns, compared by benchstat. Whatever either calls changed is a false alarm.
"""

import statistics
import subprocess
import time

from study import (BENCHSTAT, Failed, Study, changed, digest, environment, half_width, median_detects, median_of, met, module_copy, parser,
                   percent, run, seconds, table)
from usual import PROCEDURES, benchstat_binary, compared

MODULE = "go.uber.org/zap@v1.23.0"
# Median half-width asked for, by seconds of measuring.
GOALS = {20.0: 0.02, 60.0: 0.01}
CHANGED_MAX = 1


def main():
    options = parser(__doc__, "aa-zap.md")
    options.add_argument("--repetitions", type=int, default=10, help="of the whole run")
    options.add_argument("--budgets", default="20s,60s", help="measuring time of duet's runs, separated by commas")
    options.add_argument("--mode", default="auto", help="duet's mode")
    options.add_argument("--fixed", action="store_true", help="measure for all of the budget, though answers are known before")
    options.add_argument("--usual", action="store_true", help="make the usual procedure too")
    options.add_argument("--usual-count", type=int, default=10)
    options.add_argument("--usual-benchtime", default="100ms")
    options.add_argument("--usual-order", choices=PROCEDURES, default="sequential", help="all runs of base before those of head, or by turns")
    args = options.parse_args()
    args.budgets = args.budgets.split(",")
    study = Study(args, "A/A on zap, beside the usual procedure", lambda study: body(study, args))
    for repetition in range(1, args.repetitions + 1):
        measure(study, args, repetition)
    study.finish()


def measure(study, args, repetition):
    """One repetition. Every other one goes the other way round, so that a drift of the machine favours nobody."""
    steps = [(f"{repetition}: duet {budget}", lambda budget=budget: by_duet(study, args, budget))
             for budget in args.budgets]
    if args.usual:
        steps.append((f"{repetition}: usual", lambda: by_usual_procedure(study, args)))
    for key, work in steps if repetition % 2 else reversed(steps):
        study.do(key, work)


def by_duet(study, args, budget):
    fixed = ["--fixed"] if args.fixed else []
    options = ["--packages", ".", "--budget", budget, "--mode", args.mode, *fixed, *study.known("--measure-identical")]
    return digest(study.compare(MODULE, MODULE, *options))


def by_usual_procedure(study, args):
    project, binary = study.scratch / "zap", study.scratch / "zap.test"
    if not binary.exists():
        module_copy(MODULE, project)
        run(["go", "test", "-c", "-vet=off", "-o", binary, "."], project)
    names, began = ["base.txt", "head.txt"], time.monotonic()
    for name in names:
        (study.scratch / name).write_text("")
    for name, count in turns(names, args):
        with (study.scratch / name).open("a") as output:
            command = [binary, "-test.run=^$", "-test.bench=.", f"-test.count={count}", f"-test.benchtime={args.usual_benchtime}"]
            ended = subprocess.run(command, cwd=project, env=environment(), stdout=output, stderr=subprocess.DEVNULL)
        if ended.returncode != 0:
            raise Failed(f"the plain test binary ended with {ended.returncode}")
    took = time.monotonic() - began
    rows = compared(run([benchstat_binary(study), "-format", "csv", *names], study.scratch))
    if not rows:
        raise Failed("benchstat compared nothing")
    return {"seconds": took, "verdicts": {row[0]: row[5] for row in rows}}


def turns(names, args):
    """The order of the sides, and the repetitions of each benchmark in one process. By turns, who goes first alternates too."""
    if args.usual_order == "sequential":
        return [(name, args.usual_count) for name in names]
    return [(name, 1) for number in range(args.usual_count) for name in (names if number % 2 == 0 else names[::-1])]


def significant(result):
    return sum(verdict != "~" for verdict in result["verdicts"].values())


def body(study, args):
    by_budget = {budget: results(study, args, f"duet {budget}") for budget in args.budgets}
    parts = [f"`{MODULE}`, root package, compared with itself; mode `{args.mode}`, {'for all of the budget' if args.fixed else 'as long as duet likes'}. Nothing differs, so every benchmark called "
             "changed (slower or faster, of whatever size) is a false alarm.",
             "## Asked and measured", asked(by_budget), "## duet", duet_table(by_budget)]
    usual = results(study, args, "usual")
    if usual:
        parts += ["## The usual procedure", usual_text(usual, args), usual_table(usual)]
        parts += ["## Side by side", beside(by_budget, usual)]
    return "\n\n".join(parts)


def results(study, args, what):
    """Results by repetition, as far as there are any."""
    found = ((r, study.get(f"{r}: {what}")) for r in range(1, args.repetitions + 1))
    return {r: result for r, result in found if result}


def asked(by_budget):
    rows = []
    for budget, by_repetition in by_budget.items():
        goal = GOALS.get(seconds(budget))
        if not by_repetition:
            continue
        middle = statistics.median(map(median_half_width, by_repetition.values()))
        total = sum(changed(result) for result in by_repetition.values())
        if goal is not None:
            rows.append([f"median half-width with {budget}", f"at most {percent(goal, 0)}", percent(middle),
                         met(middle <= goal)])
        rows.append([f"called changed with {budget}, sum over repetitions: {len(by_repetition)}", f"at most {CHANGED_MAX}",
                     total, met(total <= CHANGED_MAX)])
    return table(["what", "asked", "measured", "met"], rows) + (
        "\n\nThe median half-width is taken over the benchmarks of a run, then over the repetitions.")


def duet_table(by_budget):
    rows = []
    for budget, by_repetition in by_budget.items():
        for repetition, result in by_repetition.items():
            counts = result["counts"]
            rows.append([budget, repetition, percent(median_half_width(result)), percent(median_detects(result)), changed(result), counts["no_change"],
                         counts["inconclusive"], counts["failed"], f"{result['measured_s']:.1f}", percent(result["steal_share"])])
    head = ["budget", "repetition", "median half-width", "median detects", "changed", "no change", "inconclusive", "failed", "measured s", "stolen"]
    return table(head, rows) + (
        "\n\n*Half-width* is that of the interval of 90 %, *detects* is the minimal detectable change; *stolen* is the share of processor time that the hypervisor took.")


def median_half_width(result):
    return median_of(half_width(b) for b in result["benchmarks"] if b["ratio"])


def usual_text(usual, args):
    order = "one run after the other" if args.usual_order == "sequential" else "a process for each repetition, both sides by turns"
    return (f"The plain test binary (`go test -c`), each side with `-test.count {args.usual_count} -test.benchtime "
            f"{args.usual_benchtime}`, {order}; `{BENCHSTAT}` at its default level of 5 %. The seconds "
            "are those of the two runs.")


def usual_table(usual):
    rows = [[repetition, f"{significant(result)} of {len(result['verdicts'])}", largest(result), f"{result['seconds']:.1f}"]
            for repetition, result in usual.items()]
    return table(["repetition", "called significantly different", "largest change reported", "seconds"], rows)


def largest(result):
    reported = [verdict for verdict in result["verdicts"].values() if verdict.endswith("%")]
    return max(reported, key=lambda verdict: abs(float(verdict.rstrip("%"))), default="")


def beside(by_budget, usual):
    rows = [[f"duet, {budget}", len(found), f"{statistics.mean(r['measured_s'] for r in found.values()):.0f}",
             f"{statistics.mean(map(changed, found.values())):.1f}", max(map(changed, found.values()))]
            for budget, found in by_budget.items() if found]
    counts = [significant(result) for result in usual.values()]
    rows.append(["usual procedure", len(usual), f"{statistics.mean(r['seconds'] for r in usual.values()):.0f}",
                 f"{statistics.mean(counts):.1f}", max(counts)])
    return table(["procedure", "repetitions", "mean seconds", "false alarms, mean", "false alarms, most"], rows)


if __name__ == "__main__":
    main()
