#!/usr/bin/env python3
"""Whether what collecting garbage costs is in the estimate: the dose response of the collector.

The benchmarks of `benches/collector` have 1, 8 or 64 MB of pointers live, compute a little and allocate once in each operation. The
candidate allocates more or fewer bytes, between half and twice as many; in the *trade* it allocates half of them and computes a
tenth more. Both versions run the same machine code.

The truth is the processor time of whole, free-running processes of the test binary with `GOMAXPROCS=1`, pinned to one core: the
difference of two lengths, divided by the difference of their operations, both processes of a pair in turns on one processor.

With more processors than the benchmark needs, most collecting is done on the idle ones: the last table has what the trade comes to
then, in processor time and in wall time.
"""

import math
import random
import re

from beside import EXPLAINED, beside, found_in, together
from study import Study, digest, listed, paragraph, parser, settings, table
from truth import Truth, copied, estimate, in_words, options_of

SETTINGS = "interleaved=--builds 1 --fixed --forks 20 --mode interleaved"
GROUP = "BenchmarkCollector/"


def main():
    args = arguments()
    study = Study(args, "The collector's dose response", lambda study: body(study, cells, truth, spread, args))
    directories = [copied(study, "collector", side, "candidate = false", f"candidate = {now}")
                   for side, now in (("base", "false"), ("head", "true"))]
    truth = Truth(study, args, directories)
    spread = [truth.on(int(number)) for number in args.processors]
    cells = truth.names(args.bench)
    for repetition in range(1, max(args.truth_repetitions, args.repetitions) + 1):
        for step in order(args, cells, truth, spread, repetition):
            step()
        if repetition <= args.repetitions:
            by_duet(study, args, directories, grouped(cells, heap_of), repetition)
    study.finish()


def arguments():
    options = parser(__doc__.splitlines()[0], "collector.md")
    options_of(options, 8)
    options.add_argument("--bench", default=".", help="only benchmarks whose name matches")
    options.add_argument("--repetitions", type=int, default=2, help="runs of duet in each setting; 0 measures the truth alone")
    options.add_argument("--settings", type=settings, default=SETTINGS, help="`NAME=FLAGS` of duet, separated by semicolons; "
                         "`;default=` adds what duet does of its own accord")
    options.add_argument("--processors", type=listed, default=["2", "4"], help="values of GOMAXPROCS for the second table")
    return options.parse_args()


def order(args, cells, truth, spread, repetition):
    """One repetition of all truths, in random order."""
    if repetition > args.truth_repetitions:
        return []
    steps = [lambda cell=cell: truth.measure(cell, repetition) for cell in cells]
    steps += [lambda cell=cell, on=on: on.measure(cell, repetition) for on in spread for cell in trades(cells)]
    return random.Random(repetition).sample(steps, len(steps))


def grouped(names, group_of):
    """Lists of names by their group."""
    groups = {}
    for name in names:
        groups.setdefault(group_of(name), []).append(name)
    return groups


def by_duet(study, args, versions, groups, repetition):
    """One run of each setting for each group of benchmarks, so that a step is short."""
    for setting in random.Random(repetition).sample(list(args.settings), len(args.settings)):
        for group, names in groups.items():
            options = ["--bench", f"^({'|'.join(map(re.escape, names))})$", *study.known("--measure-identical", *args.settings[setting])]
            study.do(f"duet {setting} {group} {repetition}", lambda: digest(study.compare(*versions, *options)))


def body(study, cells, truth, spread, args):
    parts = [paragraph(__doc__, 1), paragraph(__doc__, 2).replace("in turns on one processor", "one after the other" if args.truth_apart
                                                                else "in turns on one processor, none of which ends while a process marks")]
    parts += [f"Repetitions asked for: {args.truth_repetitions} of the truth, {args.repetitions} of duet.{truth.origin}",
              "## The truth", truth_table(cells, truth)]
    for setting, flags in args.settings.items() if args.repetitions else ():
        parts += [f"## duet, {setting}", f"`{' '.join(['duet compare', *flags])}`", duet_table(study, args, setting, cells, truth)]
    parts += [EXPLAINED] if args.repetitions else []
    if spread:
        parts += ["## On more processors", paragraph(__doc__, 3), processors_table(cells, [truth, *spread])]
    return "\n\n".join(parts)


def short(cell):
    return cell.removeprefix(GROUP)


def trades(cells):
    return [cell for cell in cells if cell.endswith("Trade")]


def heap_of(cell):
    return short(cell).partition("MB")[0] + "MB"


def truth_table(cells, truth):
    rows = []
    for cell in cells:
        pilot, found = truth.pilot(cell), truth.ratio(cell)
        if pilot and found:
            ns, each = ([side[what] for side in pilot] for what in ("ns", "each_collection"))
            rows.append([short(cell), *(side["bytes"] for side in pilot), *(f"{value:.0f}" for value in ns),
                         *(f"{1e-6 * a * b:.1f}" for a, b in zip(ns, each)), len(truth.log_ratios(cell)), in_words(found)])
    head = ["benchmark", "bytes, base", "head", "ns, base", "head", "ms from collection to collection, base", "head",
            "repetitions", "truth (standard error)"]
    return table(head, rows) + "\n\nTimes of an operation and between collections are those of a short pilot run, processor time."


def duet_table(study, args, setting, cells, truth):
    """Every estimate beside the truth."""
    cases = [(short(cell), r, truth.ratio(cell), found_in(study.get(f"duet {setting} {heap_of(cell)} {r}"), cell))
             for r in range(1, args.repetitions + 1) for cell in cells]
    return "\n\n".join(filter(None, [beside(cases), together(cases), responses(cases, "heap", heap_of)]))


def responses(cases, title, group_of):
    """How much of the truth duet reports, of all benchmarks of a group: a line through no change, each weighed by both errors."""
    points = {}
    for name in dict.fromkeys(case[0] for case in cases):
        runs = [(truth, result["ratio"]) for one, _, truth, result in cases if one == name and truth and result and result["ratio"]]
        mean = estimate([math.log(ratio) for _, ratio in runs])
        if mean:
            points.setdefault(group_of(name), []).append((runs[0][0], mean))
    rows = [[group, len(both), "{:.2f} ({:.2f})".format(*response(both))] for group, both in points.items()]
    return table([title, "benchmarks", "duet's change by the truth (standard error)"], rows) if rows else ""


def response(both):
    """The slope of that line and its standard error."""
    weights = [1 / (truth.error**2 + mean.error**2) for truth, mean in both]
    squares = sum(w * truth.middle**2 for w, (truth, _) in zip(weights, both))
    return sum(w * truth.middle * mean.middle for w, (truth, mean) in zip(weights, both)) / squares, squares**-0.5


def processors_table(cells, spread):
    rows = []
    for cell in trades(cells):
        for on in spread:
            logs, pilot = on.log_ratios(cell), on.pilot(cell)
            if pilot and logs:
                rows.append([short(cell), on.processors, len(logs), in_words(on.ratio(cell)), in_words(on.ratio(cell, "wall_ns"))])
    head = ["benchmark", "GOMAXPROCS", "repetitions", "processor time (standard error)", "wall time (standard error)"]
    return table(head, rows) + "\n\nThe processes with one are pinned to one processor, the others may use all that the machine has."


if __name__ == "__main__":
    main()
