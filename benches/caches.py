#!/usr/bin/env python3
"""What short slices do to changes of code that lives in caches and predictors.

A slice of 0.2 ms begins with caches and predictors that the peer has used. Who needs more of them pays more for that, in every slice,
what production pays once: a change of the footprint could even get the wrong sign.

*HalfSet* walks at random over nine tenths of a core's second-level cache; the candidate over half as much, a tenth more steps. Both
fit, so that the candidate should be slower. A slice holds at least one operation: operations of 5,000 steps make slices of 0.2 ms,
longer ones longer slices. *Interpreter* carries out programs of three lengths, whose branches the two versions teach the same
predictor; the candidate carries out 5 % more instructions. With one build both versions have the same machine code at the same
addresses, of its own accord duet has a random layout for each.

The truth is the processor time of whole, free-running processes of the test binary with `GOMAXPROCS=1`, pinned to one core: the
difference of two lengths, divided by the difference of their operations, both processes of a pair in turns on one processor.
"""

import random
from pathlib import Path

from beside import EXPLAINED, beside, found_in
from study import Study, digest, paragraph, parser, settings, table
from truth import Truth, copied, in_words, options_of

SETTINGS = "one build=--builds 1 --fixed --mode interleaved;layouts=--fixed --mode interleaved"
CACHE = Path("/sys/devices/system/cpu/cpu0/cache/index2/size")
# Where the kernel does not tell the size of the second-level cache.
CACHE_KB = 1024


def main():
    options = parser(__doc__.splitlines()[0], "caches.md")
    options_of(options, 12)
    options.add_argument("--repetitions", type=int, default=4, help="runs of duet in each setting; 0 measures the truth alone")
    options.add_argument("--settings", type=settings, default=SETTINGS, help="`NAME=FLAGS` of duet, separated by semicolons")
    options.add_argument("--bench", default=".", help="only benchmarks whose name matches")
    options.add_argument("--cache-kb", type=int, default=cache_kb(), help="size of a core's second-level cache")
    args = options.parse_args()
    study = Study(args, "Footprints and predictors", lambda study: body(study, args, truth, names))
    versions = [sized(copied(study, "caches", side, "candidate = false", f"candidate = {now}"), args.cache_kb)
                for side, now in (("base", "false"), ("head", "true"))]
    truth = Truth(study, args, versions)
    names = truth.names(args.bench)
    for repetition in range(1, max(args.repetitions, args.truth_repetitions) + 1):
        for step in order(study, args, truth, names, versions, repetition):
            step()
    study.finish()


def cache_kb():
    return int(CACHE.read_text().strip().removesuffix("K")) if CACHE.exists() else CACHE_KB


def sized(directory, kb):
    """The same copy with the cache of this machine."""
    source = directory / "version.go"
    source.write_text(source.read_text().replace("cacheBytes = 1 << 20", f"cacheBytes = {kb} << 10"))
    return directory


def order(study, args, truth, names, versions, repetition):
    """The steps of a repetition in random order, so that what a time limit leaves out is left out evenly."""
    steps = []
    if repetition <= args.truth_repetitions:
        steps += [lambda name=name: truth.measure(name, repetition) for name in names]
    if repetition <= args.repetitions:
        steps += [lambda setting=setting: by_duet(study, args, versions, setting, repetition) for setting in args.settings]
    return random.Random(repetition).sample(steps, len(steps))


def by_duet(study, args, versions, setting, repetition):
    options = ["--bench", args.bench, *study.known("--measure-identical", *args.settings[setting])]
    study.do(f"duet {setting} {repetition}", lambda: digest(study.compare(*versions, *options)))


def body(study, args, truth, names):
    parts = [paragraph(__doc__, number) for number in (1, 2, 3)]
    parts += [f"The second-level cache has {args.cache_kb} KB. Repetitions asked for: {args.truth_repetitions} of the truth, "
              f"{args.repetitions} of duet.{truth.origin}", "## The truth", truth_table(truth, names)]
    for setting, flags in args.settings.items() if args.repetitions else ():
        cases = [(name, r, truth.ratio(name), found_in(study.get(f"duet {setting} {r}"), name))
                 for name in names for r in range(1, args.repetitions + 1)]
        parts += [f"## duet, {setting}", f"`{' '.join(['duet compare', *flags])}`", beside(cases)]
    parts += [EXPLAINED] if args.repetitions else []
    return "\n\n".join(parts)


def truth_table(truth, names):
    rows = []
    for name in names:
        pilot, logs = truth.pilot(name), truth.log_ratios(name)
        if pilot and logs:
            rows.append([name, *(f"{side['ns'] / 1000:.1f}" for side in pilot), len(logs), in_words(truth.ratio(name))])
    return table(["benchmark", "µs, base", "head", "repetitions", "truth (standard error)"], rows)


if __name__ == "__main__":
    main()
