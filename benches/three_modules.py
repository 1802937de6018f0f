#!/usr/bin/env python3
"""Three published Go modules: each against itself, against another version, and against copies with a planted slowdown.

A slowdown is planted in copies of the newer version: every benchmark loop gets a call that spins for a number of rounds, none
in the baseline. The rounds for a slowdown of 1 % are computed from the benchmark's own time and the cost of a round, both
measured first, and corrected by what a trial plant of 20 % really added, because a spin overlaps with the work around it.
The planted slowdowns of all sizes are measured once more with much time, as the reference for what was really planted.
"""

import json
import statistics

from planting import MODULES, Planting, only, packages_of, version
from study import MODES, Study, changed, digest, mean, median_detects, one_line, parser, percent, spoken, table

SIZES = [0.01, 0.03, 0.05]
LOW_THRESHOLD = "0.5%"


def main():
    options = parser(__doc__.splitlines()[0], "three-modules.md")
    options.add_argument("--budget", default="60s", help="measuring time of each comparison")
    options.add_argument("--reference-budget", default="180s", help="measuring time of calibration and reference runs")
    options.add_argument("--modules", default=",".join(MODULES), help="which ones, separated by commas")
    options.add_argument("--parts", default="itself,versions,planted", help="which parts, separated by commas")
    args = options.parse_args()
    args.modules, args.parts = args.modules.split(","), args.parts.split(",")
    study = Study(args, "Three modules", lambda study: body(study, args))
    for name in args.modules:
        if "itself" in args.parts:
            against_itself(study, args, name)
        if "versions" in args.parts:
            between_versions(study, args, name)
        if "planted" in args.parts:
            planted(study, args, name)
    study.finish()


def options_of(name, budget, mode):
    return [*packages_of(name), "--budget", budget, "--mode", mode]


def against_itself(study, args, name):
    for mode in MODES:
        same = version(name, "head")
        options = [*options_of(name, args.budget, mode), *study.known("--measure-identical")]
        study.do(f"{name} itself {mode}", lambda: digest(study.compare(same, same, *options)))


def between_versions(study, args, name):
    for mode in MODES:
        base, head = version(name, "base"), version(name, "head")
        study.do(f"{name} versions {mode}", lambda: digest(study.compare(base, head, *options_of(name, args.budget, mode))))


def planted(study, args, name):
    """The planted slowdowns of one module."""
    planting = Planting(study, name, MODULES[name]["planted"], args.reference_budget)
    if not planting.calibrate():
        return
    for size in SIZES:
        key = f"{name} planted {size}"
        study.do(key, lambda: planting.plan(size))
        study.do(f"{key} reference", lambda: digest(compared(planting, size, args.reference_budget, "auto")))
        for mode in MODES:
            study.do(f"{key} {mode}", lambda: judged_twice(study, compared(planting, size, args.budget, mode)))


def compared(planting, size, budget, mode):
    """The report of the copy without rounds against the one with them; only the benchmarks that have rounds take part."""
    options = [*only(list(planting.rounds(size))), *options_of(planting.name, budget, mode)]
    return planting.study.compare(planting.base(), planting.head(size), *options)


def judged_twice(study, report):
    return digest(report) | {"low_threshold": digest(study.analyze(report["run"], LOW_THRESHOLD))}


def body(study, args):
    parts = [one_line(__doc__), modules_text(args)]
    for part, write in [("itself", itself_text), ("versions", versions_text), ("planted", planted_text)]:
        if part in args.parts:
            parts.append(write(study, args))
    return "\n\n".join(parts)


def modules_text(args):
    rows = [[name, MODULES[name]["path"], MODULES[name]["base"], MODULES[name]["head"],
             " ".join(f"`{p}`" for p in MODULES[name]["packages"])] for name in args.modules]
    return table(["name", "module", "base", "head", "packages"], rows) + (
        "\n\nThe root package of prometheus/common has no benchmarks, so the two packages that have them take its place. The "
        "benchmarks of go-toml's root package moved in v2.0.6, so both versions are older.\n\n"
        f"Every comparison has {args.budget} of measuring, calibration and reference runs have {args.reference_budget}.")


def verdict_rows(study, args, part):
    rows = []
    for name in args.modules:
        for mode in MODES:
            result = study.get(f"{name} {part} {mode}")
            if result:
                counts = result["counts"]
                rows.append([name, mode, sum(counts.values()), counts["regression"], counts["improvement"], counts["no_change"],
                             counts["inconclusive"], counts["baseline_only"] + counts["candidate_only"], counts["failed"],
                             percent(median_detects(result)), f"{result['measured_s']:.0f}"])
    head = ["module", "mode", "benchmarks", "regression", "improvement", "no change", "inconclusive", "in one only", "failed",
            "median detects", "measured s"]
    return table(head, rows) + failures(study, args, part)


def failures(study, args, part):
    """Failures and their reasons as a list; nothing when nothing failed."""
    lines = []
    for name in args.modules:
        for mode in MODES:
            result = study.get(f"{name} {part} {mode}") or {"benchmarks": []}
            lines += [f"- {name}, {mode}: {b['name']}: {one_line(json.dumps(b['failure']))}"
                      for b in result["benchmarks"] if b["verdict"] == "failed"]
    return "\n\nFailed:\n\n" + "\n".join(lines) if lines else ""


def itself_text(study, args):
    results = [study.get(f"{name} itself {mode}") for name in args.modules for mode in MODES]
    alarms = sum(changed(result) for result in results if result)
    compared = sum(len(result["benchmarks"]) for result in results if result)
    return (f"## Each against itself\n\nThe head version on both sides; every benchmark called changed is a false alarm. Together: "
            f"{alarms} of {compared}.\n\n" + verdict_rows(study, args, "itself"))


def versions_text(study, args):
    text = "## Version against version\n\n" + verdict_rows(study, args, "versions")
    for name in args.modules:
        agreed = agreement(study, name)
        if agreed:
            text += f"\n\n### {name}: called changed in any mode\n\n" + table(["benchmark", *MODES], agreed)
    return text


def agreement(study, name):
    """Verdict and change by mode, for the benchmarks that some mode calls changed."""
    by_mode = []
    for mode in MODES:
        result = study.get(f"{name} versions {mode}")
        by_mode.append({(b["package"], b["name"]): b for b in result["benchmarks"]} if result else {})
    keys = sorted({key for found in by_mode for key, b in found.items() if b["verdict"] in ("regression", "improvement")})
    return [[key[1], *(in_words(found.get(key)) for found in by_mode)] for key in keys]


def in_words(b):
    if not b or b["ratio"] is None:
        return spoken(b["verdict"]) if b else ""
    interval = "" if b["low"] is None else f" [{100 * (b['low'] - 1):+.1f}, {100 * (b['high'] - 1):+.1f}]"
    return f"{100 * (b['ratio'] - 1):+.1f} %{interval} {spoken(b['verdict'])}"


def planted_text(study, args):
    rows = [planted_row(study, name, size, mode) for name in args.modules for size in SIZES for mode in MODES]
    head = ["module", "planted", "mode", "benchmarks", "regression at 3 %", f"regression at {LOW_THRESHOLD}",
            "improvement at either", "mean estimate", "half width, mean and median", "mean reference", "reference outside interval"]
    text = (
        "## Planted slowdowns\n\n*Regression at 3 %* are the verdicts at the default threshold, *at 0.5 %* those of `duet analyze RUN "
        f"--threshold {LOW_THRESHOLD}` on the same run. A slowdown of 1 % should be called a regression at the low threshold and not at "
        "the default one. *Half width* is half the length of the 99 % interval of the change. *Reference* is the estimate of the long "
        "run; *outside* counts the benchmarks whose interval does not hold it.\n\n")
    text += table(head, [row for row in rows if row])
    for name in args.modules:
        plan = plan_table(study, name)
        if plan:
            text += f"\n\n### What was planted in {name}\n\n{plan}"
    return text + (
        "\n\nA benchmark that the trial plant did not slow down by a tenth of what it should have is left out. *By spin* is the "
        "share computed from the cost of a round measured alone, *in place* the one computed from the trial plant, *reference* the "
        "estimate of the long run with its interval.")


def planted_row(study, name, size, mode):
    result, reference = study.get(f"{name} planted {size} {mode}"), study.get(f"{name} planted {size} reference")
    if not result:
        return None
    found = [b for b in result["benchmarks"] if b["ratio"] is not None and b["low"] is not None]
    truth = {b["name"]: b["ratio"] for b in reference["benchmarks"] if b["ratio"]} if reference else {}
    outside = sum(not b["low"] <= truth[b["name"]] <= b["high"] for b in found if b["name"] in truth)
    low = result["low_threshold"]["counts"]
    counts = result["counts"]
    return [name, percent(size, 0), mode, len(result["benchmarks"]), counts["regression"], low["regression"],
            counts["improvement"] + low["improvement"], percent(mean(b["ratio"] - 1 for b in found)),
            half_widths(found), percent(mean(ratio - 1 for ratio in truth.values())), outside]


def half_widths(found):
    """Mean and median; one benchmark with few forks can make the mean useless."""
    widths = [(b["high"] - b["low"]) / 2 for b in found]
    return f"{percent(mean(widths))}, {percent(statistics.median(widths))}" if widths else ""


def plan_table(study, name):
    rows = []
    for size in SIZES:
        plan, reference = study.get(f"{name} planted {size}"), study.get(f"{name} planted {size} reference")
        found = {b["name"]: b for b in reference["benchmarks"]} if reference else {}
        for benchmark, part in (plan or {}).items():
            rows.append([benchmark, f"{part['ns']:.0f} ns", percent(size, 0), part["rounds"], percent(part["by_spin"]),
                         percent(part["in_place"]), in_words(found.get(benchmark))])
    head = ["benchmark", "base", "aim", "rounds", "by spin", "in place", "reference"]
    return table(head, sorted(rows, key=lambda row: row[0])) if rows else ""


if __name__ == "__main__":
    main()
