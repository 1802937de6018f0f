#!/usr/bin/env python3
"""Whether what collecting garbage costs is in the estimate of a JMH benchmark: the dose response of the serial collector.

An operation of `benches/collector_jmh` computes a little and allocates once; what it allocates dies at once (*short*), is copied by a
collection or two (*middling*), or becomes old (*long*). The candidate allocates more or fewer bytes, between half and twice as many; in
the *trade* it allocates half of them and computes a tenth more. Both versions run the same machine code.

The truth is the processor time of whole, free-running JVMs, pinned to one core: the difference of two lengths, divided by the difference
of their operations, both processes of a pair in turns on one processor. JMH runs there in its own process and calls the method so many
times (`-f 0 -bm ss -bs`).
"""

import random
import re
import shutil

from beside import EXPLAINED, beside, found_in, together
from collector import by_duet, grouped, responses
from study import REPOSITORY, Study, paragraph, parser, run, settings, table
from truth import Truth, copied, in_words, options_of

SETTINGS = "interleaved=--fixed --forks 10 --mode interleaved --alpha 0.1%"
PACKAGE, METHOD = "org.example.collector", "Collector.allocate"
LIVES = ["SHORT", "MIDDLING", "LONG"]
CHANGES = ["BYTES50", "BYTES75", "BYTES125", "BYTES200", "TRADE"]
# The benchmark's own, which JMH gives to forks alone, and those that duet gives to a JVM that is pinned to one processor.
FLAGS = ["-Xms512m", "-Xmx512m", "-Xmn32m", "-XX:ActiveProcessorCount=2", "-Djmh.ignoreLock=true"]


def main():
    options = parser(__doc__.splitlines()[0], "collector-jmh.md")
    options_of(options, 6)
    options.set_defaults(truth_short=1.5, truth_time=4)
    options.add_argument("--bench", default=".", help="only benchmarks whose name matches")
    options.add_argument("--repetitions", type=int, default=2, help="runs of duet in each setting; 0 measures the truth alone")
    options.add_argument("--settings", type=settings, default=SETTINGS, help="`NAME=FLAGS` of duet, separated by semicolons")
    options.add_argument("--collector", default="Serial", help="`Serial`, `Parallel` or `G1`")
    args = options.parse_args()
    cells = [name for name in (f"change={change},lives={lives}" for lives in LIVES for change in CHANGES) if re.search(args.bench, name)]
    study = Study(args, f"The dose response of a JVM's collector: {args.collector}", lambda study: body(study, cells, truth, args))
    jars = [built(study, side, now) for side, now in (("base", "false"), ("head", "true"))]
    (study.scratch / "duet.toml").write_text(f'[jmh]\njvm_args = ["-XX:+Use{args.collector}GC"]\n')
    truth = OfJars(study, args, jars)
    for repetition in range(1, max(args.truth_repetitions, args.repetitions) + 1):
        if repetition <= args.truth_repetitions:
            for cell in random.Random(repetition).sample(cells, len(cells)):
                truth.measure(cell, repetition)
        if repetition <= args.repetitions:
            by_duet(study, args, jars, grouped(map(full, cells), lives_of), repetition)
    study.finish()


def built(study, side, candidate):
    """The jar of one side, which Maven builds as it does that of the example."""
    copy = copied(study, "collector_jmh", side, '"false"', f'"{candidate}"', "src/main/java/org/example/collector/Version.java")
    shutil.copy2(REPOSITORY / "examples" / "03-jmh" / "pom.xml", copy)
    run(["mvn", "-q", "-B", "-DskipTests", "package"], copy)
    return copy / "target" / "benchmarks.jar"


class OfJars(Truth):
    """The same of two jars, by JVMs that JMH does not fork."""

    def take(self, jars):
        self.binaries, self.phases = jars, [None, None]

    def _command(self, side, name, operations, traced):
        chosen = [word for setting in name.split(",") for word in ("-p", setting)]
        log = ["-Xlog:gc:stderr"] if traced else ["-Xlog:disable"]
        return ["java", *FLAGS, f"-XX:+Use{self.args.collector}GC", *log, "-jar", self.binaries[side], f"^{re.escape(PACKAGE)}.{re.escape(METHOD)}$", *chosen,
                "-f", "0", "-wi", "0", "-i", "1", "-bm", "ss", "-bs", str(operations), "-foe", "true"], {}

    @staticmethod
    def _read(text, trace):
        """Collections, where some are full ones these alone: they are the rare and dear ones."""
        full, young = (len(re.findall(rf"Pause {kind}", trace)) for kind in ("Full", "Young"))
        return {"bytes": None, "collections": full or young} if "# Run complete" in text else None


def full(cell):
    return f"{METHOD}:{cell}"


def lives_of(cell):
    return cell.rpartition("=")[2]


def short(cell):
    change, lives = (part.partition("=")[2].lower() for part in cell.split(","))
    return f"{lives}, {change}"


def body(study, cells, truth, args):
    parts = [paragraph(__doc__, 1), paragraph(__doc__, 2),
             f"Repetitions asked for: {args.truth_repetitions} of the truth, {args.repetitions} of duet.{truth.origin}",
             "## The truth", truth_table(cells, truth)]
    for setting, flags in args.settings.items() if args.repetitions else ():
        cases = [(short(cell), r, truth.ratio(cell), found_in(study.get(f"duet {setting} {lives_of(cell)} {r}"), full(cell)))
                 for r in range(1, args.repetitions + 1) for cell in cells]
        tables = filter(None, [beside(cases), together(cases), responses(cases, "objects live", lambda name: name.partition(",")[0])])
        parts += [f"## duet, {setting}", f"`{' '.join(['duet compare', *flags])}`", *tables]
    return "\n\n".join(parts + ([EXPLAINED] if args.repetitions else []))


def truth_table(cells, truth):
    rows = []
    for cell in cells:
        pilot, found = truth.pilot(cell), truth.ratio(cell)
        if pilot and found:
            times = [f"{side['ns']:.0f}" for side in pilot]
            apart = [f"{1e-6 * side['ns'] * side['each_collection']:.1f}" for side in pilot]
            rows.append([short(cell), *times, *apart, len(truth.log_ratios(cell)), in_words(found)])
    head = ["benchmark", "ns, base", "head", "ms from collection to collection, base", "head", "repetitions", "truth (standard error)"]
    return table(head, rows) + "\n\nTimes are those of a short pilot run, processor time; collections are full ones where there are any."


if __name__ == "__main__":
    main()
