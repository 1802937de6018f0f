#!/usr/bin/env python3
"""Do the bootstrap intervals that are computed without resampling agree with resampling, on real measurements?

Samples are prefixes of full recordings, as a search for the smallest sufficient configuration meets them: the first repetitions
of every level of a benchmark, configurations drawn at random from a fixed seed. Of each, the 99 % intervals of the median, of the
mean (percentile) and of the mean (studentised) are computed, and then many resamples are drawn: beyond each end there should lie
half a percent of them. Where many resamples have just the value of an end, half a percent should lie between those beyond it and
those not within it. What is off is counted in standard errors of the resampling.
"""

import csv
import math
import random
import statistics
import subprocess
from collections import defaultdict
from pathlib import Path

from study import REPOSITORY, Failed, Study, decimals, paragraph, parser, percent, table

# Numbers of values: from, to. From nine on, the means are no longer enumerated.
RANGES = [(3, 4), (5, 8), (9, 20), (21, 75), (76, 200), (201, 500)]
STATISTICS = ["median", "mean", "studentised mean"]


def main():
    options = parser(__doc__.splitlines()[0], "exact-intervals.md")
    options.add_argument("--data", type=Path, required=True, help="folder with recordings: CSV with `b_name`, `ns_per_op` and `*_pos`")
    options.add_argument("--samples", type=int, default=200, help="samples in each range of sizes")
    options.add_argument("--resamples", type=int, default=1_000_000, help="resamples of each")
    options.set_defaults(duet=REPOSITORY / "target" / "release" / "examples" / "exact_intervals")
    args = options.parse_args()
    study = Study(args, "Intervals with and without resampling", body)
    study.resamples, study.data = args.resamples, None
    recordings = [benchmark for path in sorted(args.data.rglob("*.csv")) for benchmark in read(path)]
    files = len(list(args.data.rglob("*.csv")))
    study.do("data", lambda: {"files": files, "benchmarks": len(recordings)})
    for low, high in RANGES:
        study.do(f"{low} to {high}", lambda: compared(study, drawn(recordings, (low, high), args.samples)))
    study.finish()


def read(path):
    """The values of every benchmark by their place, on the first instance where there are several."""
    benchmarks = defaultdict(dict)
    with path.open(newline="") as file:
        rows = csv.DictReader(file)
        levels = [name for name in ("ir_pos", "sr_pos", "f_pos", "fork_pos", "it_pos", "bed_pos") if name in rows.fieldnames]
        for row in rows:
            place = tuple(int(row[level]) for level in levels)
            if levels[0] != "ir_pos" or place[0] == 1:
                benchmarks[row["b_name"]][place] = float(row["ns_per_op"])
    return list(benchmarks.values())


def drawn(recordings, sizes, wanted):
    """Samples of such sizes."""
    chance, found = random.Random(sizes[0]), []
    for _ in range(1000 * wanted):
        values = chance.choice(recordings)
        full = [max(place[level] for place in values) for level in range(len(next(iter(values))))]
        configuration = [chance.randint(1, size) for size in full]
        if not sizes[0] <= math.prod(configuration) <= sizes[1]:
            continue
        sample = [value for place, value in values.items() if all(p <= c for p, c in zip(place, configuration))]
        if len(set(sample)) > 1 and sizes[0] <= len(sample) <= sizes[1]:
            found.append(sample)
        if len(found) == wanted:
            break
    return found


def compared(study, samples):
    """The program's answers for all samples, by statistic."""
    lines = "\n".join(" ".join(map(repr, sample)) for sample in samples)
    ended = subprocess.run([str(study.duet), str(study.resamples)], input=lines, capture_output=True, text=True)
    if ended.returncode != 0:
        raise Failed(f"`exact_intervals` failed: {ended.stderr[-500:]}")
    answers = defaultdict(lambda: defaultdict(list))
    for line in ended.stdout.splitlines():
        _, statistic, off, exact_us, resampling_us = line.split("\t")
        for name, value in (("off", off), ("exact_us", exact_us), ("resampling_us", resampling_us)):
            answers[statistic][name].append(float(value))
    return answers


def body(study):
    data = study.get("data") or {"files": 0, "benchmarks": 0}
    parts = [paragraph(__doc__, 1)]
    parts.append(f"Drawn from {data['benchmarks']} recordings in {data['files']} files; {study.resamples:,} resamples of each sample.")
    for statistic in STATISTICS:
        rows = [row(study.get(f"{low} to {high}"), statistic, f"{low} to {high}") for low, high in RANGES]
        head = ["values", "samples", "within 4 standard errors", "median", "99th percentile", "most", "interval, median", "10,000 resamples, median"]
        parts.append(f"## {statistic.capitalize()}\n\n" + table(head, [r for r in rows if r]))
    parts.append(
        "*Median*, *99th percentile* and *most* are the standard errors by which the worse of the two tails is off; were the intervals exact, of "
        "ten thousand tails about one would be off by more than 4. One of 10,000 resamples would be off by ten times as many standard errors as "
        "it is by its own. The studentised mean is approximated from nine values on, and where the approximation is not trusted it is drawn "
        "from 10,000 resamples. Times are of one core, with both cores at work."
    )
    return "\n\n".join(parts)


def row(result, statistic, values):
    if not result:
        return None
    found = result[statistic]
    off = sorted(found["off"])
    return [values, len(off), percent(sum(o <= 4 for o in off) / len(off), 1), decimals(statistics.median(off), 2),
            decimals(off[math.ceil(0.99 * len(off)) - 1]), decimals(off[-1]), f"{statistics.median(found['exact_us']):.1f} µs",
            f"{statistics.median(found['resampling_us']) / 1000:.2f} ms"]


if __name__ == "__main__":
    main()
