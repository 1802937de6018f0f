#!/usr/bin/env python3
"""Planted slowdowns of published crates, and changes that no benchmark runs, beside criterion's own comparison and critcmp.

Ten benchmarks of three crates get extra work of a known size in the crate's own code; the true size is what long runs of criterion tell that
alternate between both versions. The crates are also compared with copies of themselves with one more function, one more dependency, a renamed
item or moved code, none of which any benchmark runs: whatever is called changed there is a false alarm.

criterion saves a baseline and compares the candidate with it, and its own words are its verdict; critcmp reads the same files and calls changed
what differs by more than 5 %. Both get their own time, which is criterion's by default, and the time that duet took.
"""

import random
import statistics
import zlib

from planting import only
from rust_planting import CRATES, UNRELATED, Crate, compared, in_turns
from study import (CALLED, FASTER, SETTINGS, SLOWER, Study, count, decimals, digest, listed, mean, median_of, one_line, parser, per_benchmark, percent,
                   run, settings, settings_rows, table, upper_bound)

SIZES = {f"planted-{100 * size:.0f}": size for size in (0.01, 0.03, 0.05, 0.10)}
# criterion's defaults for warming up and measuring, seconds.
OWN_TIME = (3, 5)


def main():
    options = parser(__doc__.splitlines()[0], "rust-planted.md")
    options.add_argument("--crates", type=listed, default=list(CRATES), help="which ones")
    options.add_argument("--kinds", type=listed, default=[*UNRELATED, *SIZES], help="kinds of change")
    options.add_argument("--settings", type=settings, default=SETTINGS, help="`NAME=FLAGS` of duet, separated by semicolons")
    options.add_argument("--repetitions", type=int, default=1, help="of every comparison")
    options.add_argument("--budget", help="measuring time of each of duet's runs; without it duet decides")
    options.add_argument("--criterion-scale", type=float, default=1, help="criterion's own time, times this")
    options.add_argument("--truth-turns", type=int, default=5, help="runs of either version that tell the true size")
    options.add_argument("--truth-time", type=float, default=0.7, help="measuring time of a benchmark in each of them, seconds")
    args = options.parse_args()
    study = Study(args, "Planted slowdowns of Rust crates", lambda study: body(study, args))
    crates = {name: Crate(study, name) for name in args.crates}
    ready = {name: crate for name, crate in crates.items() if prepared(study, args, crate)}
    for repetition in range(1, args.repetitions + 1):
        for name, kind in order(args, ready, repetition):
            compare(study, args, crates[name], kind, repetition)
    study.finish()


def prepared(study, args, crate):
    """What both ways build once for all comparisons is built, and the plants have their sizes."""
    def built():
        run([study.duet, "list", crate.plain()], study.scratch)
        plain = crate.code(crate.plain())
        return {"differs": {kind: crate.code(crate.unrelated(kind)) != plain for kind in UNRELATED}}

    if not study.do(f"{crate.name} prepared", built):
        return False
    turns = max(3, args.truth_turns)
    return crate.calibrate(lambda *rounds: {"times": in_turns(crate, [crate.with_work(part) for part in rounds], turns, brief(args))})


def order(args, crates, repetition):
    """All comparisons of a repetition in random order, so that what a time limit leaves out is left out evenly."""
    found = [(name, kind) for name in crates for kind in args.kinds]
    return random.Random(repetition).sample(found, len(found))


def sides(crate, kind):
    if kind in UNRELATED:
        return crate.plain(), crate.unrelated(kind)
    return crate.with_work({}), crate.with_work(crate.rounds(SIZES[kind]))


def compare(study, args, crate, kind, repetition):
    """One change by every way, and its true size."""
    def do(way, work):
        key = f"{crate.name} {kind} {way} {repetition}"
        return study.do(key, lambda: work(zlib.crc32(key.encode())) | {"crate": crate.name, "kind": kind, "way": way})

    names = list(args.settings)
    duets = {name: do(name, lambda seed: by_duet(study, args, crate, kind, name, seed)) for name in random.Random(repetition).sample(names, len(names))}
    own = do("criterion", lambda _: compared(crate, sides(crate, kind), lengths(args.criterion_scale)))
    last = duets[names[-1]]
    if own and last and last["benchmarks"]:
        scale = args.criterion_scale * max(0.02, last["wall_s"] - own["build_s"]) / own["measured_s"]
        do("criterion in duet's time", lambda _: compared(crate, sides(crate, kind), lengths(scale)))
    if kind in SIZES:
        do("truth", lambda _: {"times": in_turns(crate, sides(crate, kind), args.truth_turns, brief(args))})


def by_duet(study, args, crate, kind, setting, seed):
    budget = ["--budget", args.budget] if args.budget else []
    options = [*only(crate.names()), *budget, "--measure-identical", *args.settings[setting], "--seed", str(seed)]
    return digest(study.compare(*sides(crate, kind), *options))


def lengths(scale):
    """criterion's options for its own time, times this."""
    warm_up, measuring = (max(0.01, scale * part) for part in OWN_TIME)
    return ["--warm-up-time", f"{warm_up:.3f}", "--measurement-time", f"{measuring:.3f}"]


def brief(args):
    return ["--warm-up-time", "0.3", "--measurement-time", str(args.truth_time), "--sample-size", "10"]


def ways(args):
    """Every way to compare: its name, the way that measured, and the word that holds its verdict."""
    return [*((name, name, "verdict") for name in args.settings),
            *((f"{tool}{when}", f"criterion{when}", word) for when in ("", " in duet's time") for tool, word in (("criterion", "verdict"), ("critcmp", "critcmp")))]


def chosen(study, way, kinds):
    """The results of a way, with the verdicts that this way gives."""
    _, measured, word = way
    for result in map(study.get, list(study.results)):
        if result and result.get("way") == measured and result["kind"] in kinds:
            yield result | {"benchmarks": [b | {"verdict": b[word]} for b in result["benchmarks"] if b["ratio"] is not None]}


def body(study, args):
    times = " and ".join(f"{args.criterion_scale * part:g} s" for part in OWN_TIME)
    parts = [one_line(part) for part in __doc__.split("\n\n")[1:]]
    parts += [f"criterion's own time is {times} of warming up and measuring. The truth has {args.truth_turns} runs of either version, "
              f"{args.truth_time:g} s a benchmark. duet has {args.budget + ' of measuring' if args.budget else 'the time that it chooses'}. Seconds are "
              "those of the whole comparison, building both versions included; what all comparisons share was built before.",
              table(["setting of duet", "is"], settings_rows(args))]
    parts += ["## Planted slowdowns", power(study, args), "## The true sizes", truths(study, args)] if set(args.kinds) & set(SIZES) else []
    parts += ["## False alarms", alarms(study, args), "## Called changed", which(study, args), "## Changes that no benchmark runs", kinds_table(study, args)]
    return "\n\n".join(parts)


def truth_of(study, crate, kind):
    """The true change of each benchmark, over all repetitions."""
    found = [r["times"] for r in map(study.get, list(study.results)) if r and r.get("way") == "truth" and (r["crate"], r["kind"]) == (crate, kind)]
    return {b: statistics.median(times[b][1] / times[b][0] for times in found) - 1 for b in (found[0] if found else {})}


def power(study, args):
    rows = []
    for kind in (kind for kind in args.kinds if kind in SIZES):
        for way in ways(args):
            results = list(chosen(study, way, [kind]))
            benchmarks = [b | {"truth": truth_of(study, r["crate"], kind).get(b["name"])} for r in results for b in r["benchmarks"]]
            if not benchmarks:
                continue
            off = [abs(b["ratio"] - 1 - b["truth"]) for b in benchmarks if b["truth"] is not None]
            shares = [percent(count(benchmarks, words) / len(benchmarks), 0) for words in (["regression"], SLOWER, FASTER)]
            rows.append([percent(SIZES[kind], 0), way[0], len(benchmarks), *shares, percent(mean(b["ratio"] - 1 for b in benchmarks)),
                         percent(median_of(off)), decimals(median_of(map(per_benchmark, results)))])
    head = ["planted", "way", "benchmarks", "regression", "slower", "faster", "mean estimate", "median distance from the truth", "s a benchmark"]
    return table(head, rows) + ("\n\n*Regression* is the share called one, *slower* and *faster* those with a change of whatever size. duet's "
                                "threshold is 3 %, so that it should not call a slowdown of less than that a regression.")


def truths(study, args):
    rows = []
    for name in args.crates:
        found = {kind: truth_of(study, name, kind) for kind in args.kinds if kind in SIZES}
        rows += [[name, b, *(percent(truth.get(b)) for truth in found.values())] for b in CRATES[name]["planted"] if any(b in t for t in found.values())]
    return table(["crate", "benchmark", *(percent(SIZES[kind], 0) for kind in args.kinds if kind in SIZES)], rows)


def alarms(study, args):
    rows, unrelated = [], [kind for kind in args.kinds if kind in UNRELATED]
    for label, kinds in [*((kind, [kind]) for kind in unrelated), ("all", unrelated)]:
        for way in ways(args):
            results = list(chosen(study, way, kinds))
            benchmarks = [b for r in results for b in r["benchmarks"]]
            if benchmarks:
                called = count(benchmarks, CALLED)
                rows.append([label, way[0], len(benchmarks), called, percent(called / len(benchmarks), 1), percent(upper_bound(called, len(benchmarks)), 1),
                             decimals(median_of(map(per_benchmark, results)))])
    return table(["change", "way", "benchmarks", "called changed", "share", "at most (99 %)", "s a benchmark"], rows)


def which(study, args):
    rows = [[way[0], kind, r["crate"], b["name"], percent(b["ratio"] - 1)] for way in ways(args) for kind in args.kinds if kind in UNRELATED
            for r in chosen(study, way, [kind]) for b in r["benchmarks"] if b["verdict"] in CALLED]
    return table(["way", "change", "crate", "benchmark", "estimate"], rows) if rows else "None was called changed."


def kinds_table(study, args):
    found = {name: study.get(f"{name} prepared") for name in args.crates}
    rows = [[kind, one_line(change.__doc__), *(("code differs" if result["differs"][kind] else "same code") if result else "" for result in found.values())]
            for kind, change in UNRELATED.items()]
    return table(["change", "is", *found], rows)


if __name__ == "__main__":
    main()
