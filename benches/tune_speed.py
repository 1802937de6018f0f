#!/usr/bin/env python3
"""How long tuning takes, beside NumPy code that does the same with 10,000 resamples.

The NumPy code is Algorithm 1 of µOpTime written down plainly: every configuration is tried, an interval is that between percentiles of
10,000 resamples. It computes nothing but the metric. Where it would take hours, it is run on few benchmarks and its time is multiplied.
duet's time is that of the whole command: starting, reading the file, tuning, writing CSV.
"""

import csv
import io
import itertools
import math
import random
import sys
import time
from pathlib import Path

from study import Study, decimals, median_of, met, one_line, parser, table

try:
    import numpy
except ImportError:
    sys.exit("this study needs NumPy: `python3 -m venv venv && venv/bin/pip install numpy`, then `venv/bin/python benches/tune_speed.py`")

METRICS = ["cv", "rmad", "rciw1", "rciw2", "rciw3"]
RESAMPLES = 10_000
# Name of the size: benchmarks, shape, rules, benchmarks that NumPy tunes.
SIZES = {
    "Go": (46, (3, 3, 5, 5), "paper-code", 46),
    "JMH": (61, (5, 100), "paper", 1),
    "many": (4000, (5, 100), "paper", 0),
}
TITLES = {"Go": "46 benchmarks of 60 configurations (3 suite runs × 5 iterations × 5 s, first of 3 instances)",
          "JMH": "61 benchmarks of 498 configurations (5 forks × 100 iterations)",
          "many": "4,000 benchmarks of 498 configurations (5 forks × 100 iterations)"}
# Metrics that the largest size is tuned by; the t-interval is not among them.
QUICK = ["cv", "rmad", "rciw1", "rciw3"]


def main():
    options = parser(__doc__, "tune-speed.md")
    options.add_argument("--repetitions", type=int, default=5, help="how often each command of duet is timed")
    options.add_argument("--sizes", default=",".join(SIZES), help="which sizes")
    options.add_argument("--data", type=Path, help="a CSV file of 5 forks × 100 iterations to be used instead of the size JMH")
    args = options.parse_args()
    sizes = [size for size in args.sizes.split(",") if size in SIZES]
    study = Study(args, "How long tuning takes", lambda study: body(study, sizes))
    for size in sizes:
        file = args.data if args.data and size == "JMH" else written(study.scratch / f"{size}.csv", size)
        metrics = ["all", *METRICS] if size != "many" else QUICK
        steps = [("duet", metric, cores) for metric in metrics for cores in ("one", "all")] * args.repetitions
        steps += [("numpy", metric, "one") for metric in METRICS if SIZES[size][3]]
        random.Random(1).shuffle(steps)
        counts = {}
        for who, metric, cores in steps:
            counts[who, metric, cores] = number = counts.get((who, metric, cores), 0) + 1
            work = tuned_by_duet if who == "duet" else tuned_by_numpy
            study.do(f"{size}: {who} {metric}, {cores} core{'s' if cores == 'all' else ''}, {number}",
                     lambda: work(study, file, (size, metric, cores)))
    study.finish()


def written(file, size):
    """Results of benchmarks that vary as real ones do: most by half a percent, some by more, forks of their own, slow starts."""
    benchmarks, shape, _, _ = SIZES[size]
    source = numpy.random.default_rng(7)
    head = ["m_id", "n", "ns_per_op", "bed_setup", "it_setup", "sr_setup", "ir_setup", "bed_pos", "it_pos", "sr_pos", "ir_pos", "b_name"]
    if len(shape) == 2:
        head = ["m_id", "n", "ns_per_op", "it_setup", "fork_setup", "it_pos", "fork_pos", "b_name"]
    with file.open("w", newline="") as text:
        lines = csv.writer(text)
        lines.writerow(head)
        places = list(itertools.product(*(range(1, n + 1) for n in shape)))
        number = itertools.count(1)
        for benchmark in range(benchmarks):
            values = made(source, shape).ravel()
            for place, value in zip(places, values):
                lines.writerow([next(number), 1000, f"{value:.6g}", *reversed(shape), *reversed(place), f"Benchmark{benchmark}"])
    return file


def made(source, shape):
    """The values of a benchmark."""
    spread = 0.006 * math.exp(source.normal())
    values = 1 + spread * (numpy.exp(0.7 * source.normal(size=shape)) - 1)
    outer = (shape[0],) + (1,) * (len(shape) - 1)
    values *= 1 + spread * source.normal(size=outer)
    if source.random() < 0.4:
        values *= 1 + 10 * spread * 0.7 ** numpy.arange(shape[-1])
    return 10 ** source.uniform(1, 6) * values


def tuned_by_duet(study, file, what):
    """Wall time, processor time and memory of a command."""
    size, metric, cores = what
    compat = SIZES[size][2]
    program = [str(study.duet), "tune"] if compat == "paper" else [str(study.of_papers()), "choices", "--compat", compat]
    result, output = study.resources([*program, str(file), "--metric", metric, "--format", "csv"], cores)
    if metric != "all" and SIZES[size][3]:
        rows = csv.DictReader(io.StringIO(output))
        result["chosen"] = {row["benchmark"]: [int(n) for n in row["chosen"].split("x")][-len(counted(size)):] for row in rows}
    return result


def counted(size):
    """The shape of a configuration, instances left out."""
    shape = SIZES[size][1]
    return shape[1:] if len(shape) == 4 else shape


def tuned_by_numpy(study, file, what):
    """The time that NumPy code takes for some benchmarks, and what it chooses."""
    size, metric, _ = what
    values = read(file, size)
    names = list(values)[:SIZES[size][3]]
    source = numpy.random.default_rng(42)
    began = time.monotonic()
    chosen = {name: algorithm_1(values[name], lambda sample: METHODS[metric](sample, size, source), size) for name in names}
    took = time.monotonic() - began
    return {"wall_s": took, "benchmarks": len(names), "chosen": chosen}


def read(file, size):
    """The values of each benchmark, by their place; of the first instance."""
    shape = counted(size)
    columns = ["sr_pos", "it_pos", "bed_pos"] if len(shape) == 3 else ["fork_pos", "it_pos"]
    values = {}
    with file.open(newline="") as text:
        for row in csv.DictReader(text):
            if row.get("ir_pos", "1") == "1":
                place = tuple(int(row[column]) - 1 for column in columns)
                values.setdefault(row["b_name"], numpy.full(shape, numpy.nan))[place] = float(row["ns_per_op"])
    return values


def algorithm_1(values, metric, size):
    """The cheapest configuration whose metric is within 1 %, the most stable one of those that take the same time; the full one where
    there is none."""
    best = (math.inf, math.inf, values.shape)
    for configuration in itertools.product(*(range(1, n + 1) for n in values.shape)):
        if math.prod(configuration[:2]) < 3:
            continue
        sample = values[tuple(slice(n) for n in configuration)].ravel()
        stability = metric(sample)
        if stability < 0.01:
            best = min(best, (math.prod(configuration), stability, configuration))
    return list(best[2])


def resampled(sample, source):
    return source.choice(sample, size=(RESAMPLES, sample.size))


def width(statistics):
    low, high = numpy.percentile(statistics, [0.5, 99.5])
    return high - low


def rmad(sample, *_):
    median = numpy.median(sample)
    return numpy.median(numpy.abs(sample - median)) / median


def rciw2(sample, size, source):
    drawn = resampled(sample, source)
    spread = drawn.std(axis=1)
    # Resamples without spread: infinitely far off, or as the published code has them.
    spread[spread == 0] = 1e-6 if size == "Go" else 1e-300
    return width((drawn.mean(axis=1) - sample.mean()) / spread) * sample.std() / sample.mean()


def rciw3(sample, size, source):
    drawn = resampled(sample, source)
    statistics = drawn.mean(axis=1) if size == "Go" else numpy.median(drawn, axis=1)
    return width(statistics) / numpy.median(sample)


METHODS = {
    "cv": lambda sample, *_: sample.std() / sample.mean(),
    "rmad": rmad,
    "rciw1": lambda sample, size, source: width(resampled(sample, source).mean(axis=1)) / sample.mean(),
    "rciw2": rciw2,
    "rciw3": rciw3,
}


def results(study, size, who, metric, cores):
    """The results of all repetitions of a step."""
    word = "cores" if cores == "all" else "core"
    named = (study.get(f"{size}: {who} {metric}, {cores} {word}, {number}") for number in itertools.count(1))
    return list(itertools.takewhile(lambda result: result is not None, named))


def typical(study, size, metric, cores, what="wall_s"):
    return median_of(result.get(what) for result in results(study, size, "duet", metric, cores))


def body(study, sizes):
    parts = [one_line(__doc__), asked(study, sizes)]
    for size in sizes:
        rows = [row(study, size, metric) for metric in ("all", *METRICS) if results(study, size, "duet", metric, "one")]
        head = ["metric", "duet, one core, s", "duet, all cores, s", "of processor time, s", "memory, MiB", "NumPy, s", "NumPy for", "times", "same choice"]
        parts += [f"## {TITLES[size]}", table(head, rows)]
    parts.append("Times are medians over the repetitions. *times* is NumPy's time over duet's on one core. Choices by intervals of resamples "
                 "differ from the exact ones where a configuration is within the error of 10,000 resamples of the threshold.")
    return "\n\n".join(parts)


def row(study, size, metric):
    one, every = typical(study, size, metric, "one"), typical(study, size, metric, "all")
    memory = typical(study, size, metric, "all", "memory_bytes")
    other = numpy_result(study, size, metric)
    cells = ["", "", "", ""]
    if other:
        whole = other["wall_s"] * SIZES[size][0] / other["benchmarks"]
        scaled = other["benchmarks"] < SIZES[size][0]
        cells = [decimals(whole, 1), f"{other['benchmarks']} benchmarks" + (", multiplied" if scaled else ""),
                 decimals(whole / one if one else None, 0), same(study, size, metric, other)]
    return [metric, decimals(one, 3), decimals(every, 3), decimals(typical(study, size, metric, "all", "cpu_s"), 3), decimals(memory / 2**20 if memory else None, 1), *cells]


def numpy_result(study, size, metric):
    """NumPy's result for a metric, or the sum over all of them."""
    if metric != "all":
        return next(iter(results(study, size, "numpy", metric, "one")), None)
    each = [numpy_result(study, size, metric) for metric in METRICS]
    if not all(each):
        return None
    return {"wall_s": sum(result["wall_s"] for result in each), "benchmarks": each[0]["benchmarks"], "chosen": {}}


def same(study, size, metric, other):
    """The number of benchmarks with the same choice, among those that both tuned."""
    ours = next(iter(results(study, size, "duet", metric, "one")), {}).get("chosen", {})
    common = [name for name in other["chosen"] if name in ours]
    return f"{sum(ours[name] == other['chosen'][name] for name in common)} of {len(common)}" if common else ""


def asked(study, sizes):
    """The goals that duet was built to reach, and whether it does."""
    rows = []

    def add(what, limit, unit, value):
        rows.append([what, f"below {limit} {unit}", decimals(value, 3), met(None if value is None else value < limit)])

    if "Go" in sizes:
        add("all five metrics, Go, one core", 0.2, "s", typical(study, "Go", "all", "one"))
    if "JMH" in sizes:
        add("all five metrics, JMH, one core", 1, "s", typical(study, "JMH", "all", "one"))
    if "many" in sizes:
        for metric in QUICK:
            add(f"{metric}, 4,000 benchmarks, all cores", 5, "s", typical(study, "many", metric, "all"))
        memory = [typical(study, "many", metric, "all", "memory_bytes") for metric in QUICK]
        add("memory, 4,000 benchmarks", 1024, "MiB", max((m / 2**20 for m in memory if m), default=None))
    return table(["what", "asked", "median", "met"], rows)


if __name__ == "__main__":
    main()
