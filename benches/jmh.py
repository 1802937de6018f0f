#!/usr/bin/env python3
"""JMH benchmarks compared by duet, in every mode, and by the usual two runs of JMH.

A jar against itself must not be called changed, and planted slowdowns must be found. The jars are the published samples of JMH and
`examples/03-jmh`, whose every method does its work a hundred times; a slower version does it more often. The usual procedure runs
JMH on one jar and then on the other and calls a benchmark changed where the two intervals that JMH prints (99.9 %) do not overlap.
"""

import json
import shutil
import time

from study import (CALLED, FASTER, REPOSITORY, Failed, Study, count, decimals, digest, listed, median_of, paragraph, parser,
                   run, table)

MODES = ["auto", "duet", "interleaved", "sequential"]
SAMPLES = "org.openjdk.jmh:jmh-samples:1.37"
LIBRARIES = ["org.openjdk.jmh:jmh-core:1.37", "net.sf.jopt-simple:jopt-simple:5.0.4", "org.apache.commons:commons-math3:3.6.1"]
PROJECT = REPOSITORY / "examples" / "03-jmh"
# Benchmarks of the samples with one thread whose work is not optimised away.
SOME_SAMPLES = r"JMHSample_(08_DeadCode\.(baseline|measureRight)|09_Blackholes\.measureRight|10_ConstantFold\.measureRight)"
ROUNDS = 100


def main():
    options = parser(__doc__.splitlines()[0], "jmh.md")
    options.add_argument("--repetitions", type=int, default=3, help="runs of each procedure on each pair of jars")
    options.add_argument("--modes", type=listed, default=MODES, help="modes of duet, separated by commas")
    options.add_argument("--sizes", type=listed, default=["3", "10"], help="planted slowdowns in percent, separated by commas")
    options.add_argument("--flags", default="", help="more flags for duet, in one word")
    options.add_argument("--samples", default=SOME_SAMPLES, help="which of the published samples")
    options.add_argument("--text", default="hash|join|sort|words", help="which benchmarks of the project, separated by `|`")
    options.add_argument("--usual", default="-f 2 -wi 3 -w 1 -i 5 -r 1", help="how the usual procedure runs JMH; empty: not at all")
    args = options.parse_args()
    study = Study(args, "JMH: duet beside the usual two runs", lambda study: body(study, args))
    jars = {"samples": samples(study), **{f"text +{size} %": built(study, size) for size in ["0", *args.sizes]}}
    # The procedures that matter most come first, so that a time limit leaves out the rest.
    procedures = [*args.modes[:1], *(["usual"] if args.usual else []), *args.modes[1:]]
    for repetition in range(1, args.repetitions + 1):
        for pair, procedure in [(pair, procedure) for procedure in procedures for pair in pairs(args)]:
            made = by_jmh if procedure == "usual" else by_duet
            study.do(f"{pair}, {procedure}, {repetition}", lambda: made(study, args, jars, (pair, procedure)))
    study.finish()


def pairs(args):
    """The pairs that are compared: their names, and whether they differ."""
    return {"text, same": False, **{f"text, +{size} %": True for size in args.sizes}, "samples, same": False}


def jars_of(jars, pair):
    if pair == "samples, same":
        return [jars["samples"], jars["samples"]]
    name = pair.replace("text, ", "text ").replace("same", "+0 %")
    return [jars["text +0 %"], jars[name]]


def samples(study):
    """The published samples and what they need on the class path."""
    for artifact in [SAMPLES, *LIBRARIES]:
        run(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={study.scratch / 'lib'}"],
            study.scratch)
    library = study.scratch / "lib"
    more = [str(path) for path in sorted(library.glob("*.jar")) if "samples" not in path.name]
    (study.scratch / "duet.toml").write_text(f"[jmh]\nclass_path = {json.dumps(more)}\n")
    return library / "jmh-samples-1.37.jar"


def built(study, size):
    """The project's jar with this slowdown."""
    copy = study.scratch / f"text-{size}"
    shutil.copytree(PROJECT, copy, ignore=shutil.ignore_patterns("target"))
    source = copy / "src/main/java/org/example/text/Text.java"
    text = source.read_text()
    planted = text.replace(f"ROUNDS = {ROUNDS};", f"ROUNDS = {ROUNDS + int(size)};")
    if planted == text and size != "0":
        raise Failed("nothing was planted: `ROUNDS` is not where it was")
    source.write_text(planted)
    run(["mvn", "-q", "-B", "-DskipTests", "package"], copy)
    return copy / "target" / "benchmarks.jar"


def by_duet(study, args, jars, what):
    pair, mode = what
    chosen = ["--bench", args.samples if pair.startswith("samples") else args.text]
    flags = study.known("--measure-identical", "--mode", mode, *args.flags.split())
    return digest(study.compare(*jars_of(jars, pair), *chosen, *flags))


def by_jmh(study, args, jars, what):
    """The usual procedure: names of the benchmarks, and of those whose intervals do not overlap, by direction."""
    pair, _ = what
    began, intervals = time.monotonic(), []
    for number, jar in enumerate(jars_of(jars, pair)):
        out = study.scratch / f"usual-{number}.json"
        chosen = [args.samples if pair.startswith("samples") else "|".join(sorted(methods(args.text)))]
        path = ":".join(map(str, [jar, *sorted((study.scratch / "lib").glob("*.jar"))]))
        run(["java", "-cp", path, "org.openjdk.jmh.Main", *chosen, *args.usual.split(), "-v", "SILENT", "-rf", "json", "-rff", out],
            study.scratch)
        intervals.append({name(entry): interval(entry) for entry in json.loads(out.read_text())})
    took = time.monotonic() - began
    benchmarks = [{"name": name, "verdict": reading(base, intervals[1][name])} for name, base in intervals[0].items()]
    return {"wall_s": took, "benchmarks": benchmarks}


def methods(chosen):
    """Names of the project's benchmarks without their parameters: JMH's command line chooses no others."""
    return {one.split(":")[0] for one in chosen.split("|")}


def name(entry):
    return entry["benchmark"] + json.dumps(entry.get("params", {}), sort_keys=True) + entry["mode"]


def interval(entry):
    """The interval that JMH prints, as a cost: throughput turned round."""
    low, high = entry["primaryMetric"]["scoreConfidence"]
    return [-high, -low] if entry["mode"] == "thrpt" else [low, high]


def reading(base, head):
    if head[0] > base[1]:
        return "regression"
    return "improvement" if head[1] < base[0] else "no_change"


def body(study, args):
    procedures = [*args.modes, *(["usual"] if args.usual else [])]
    rows = [[label(args, procedure), *cells(study, args, procedure)] for procedure in procedures]
    head = ["procedure", *(f"{pair}: called changed" for pair in pairs(args)), "called faster though slower",
            "median seconds for each benchmark", "of that, measuring"]
    widths = [[pair, mode, *detects(study, args, pair, mode)] for pair in pairs(args) for mode in args.modes]
    return "\n\n".join([
        paragraph(__doc__, 1), f"Repetitions asked for: {args.repetitions}. Building the jars is not counted.",
        "## Verdicts", table(head, rows), "## What duet could have seen",
        table(["pair", "mode asked for", "modes taken", "median minimal detectable change", "median estimate"], widths)])


def label(args, procedure):
    return f"two runs of JMH (`{args.usual}`)" if procedure == "usual" else f"duet, `--mode {procedure}`"


def results(study, args, pair, procedure):
    found = (study.get(f"{pair}, {procedure}, {r}") for r in range(1, args.repetitions + 1))
    return [result for result in found if result]


def cells(study, args, procedure):
    shares, wrong, walls, measured = [], 0, [], []
    for pair, differs in pairs(args).items():
        found = results(study, args, pair, procedure)
        benchmarks = [b for result in found for b in result["benchmarks"]]
        shares.append(f"{count(benchmarks, CALLED)} of {len(benchmarks)}" if benchmarks else "")
        wrong += count(benchmarks, FASTER) if differs else 0
        walls += [result["wall_s"] / len(result["benchmarks"]) for result in found]
        measured += [result["measured_s"] / len(result["benchmarks"]) for result in found if "measured_s" in result]
    return [*shares, wrong, decimals(median_of(walls)), decimals(median_of(measured))]


def detects(study, args, pair, mode):
    benchmarks = [b for result in results(study, args, pair, mode) for b in result["benchmarks"] if b["ratio"] is not None]
    modes = sorted({b["mode"] for b in benchmarks if b["mode"]})
    width = median_of(b["detects"] for b in benchmarks)
    ratio = median_of(b["ratio"] for b in benchmarks)
    return [", ".join(modes), "" if width is None else f"{100 * width:.1f} %", "" if ratio is None else f"{100 * (ratio - 1):+.1f} %"]


if __name__ == "__main__":
    main()
