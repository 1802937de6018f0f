#!/usr/bin/env python3
"""Whether calibrations keep their promise: changes of the promised size are found in at least the promised share of comparisons.

A suite is calibrated (`duet calibrate`), quiet and beside neighbours. The smallest change that a benchmark is said to see after some
time is then planted into it, for real, in its source; and half of that. Each planted copy is compared with the build pairs and fork
pairs that the calibration names, beside the same neighbours. The threshold of these comparisons is tiny, because below the threshold
a verdict is *no change* however well the change is seen.

A change counts as found when it is said to be slower, of whatever size. In JMH's project work is done in whole percents, so there the promised size
is rounded up, and half of it likewise.
"""

import math
import random
import re
import zlib

from jmh import built
from noise import KINDS as NOISES
from noise import disturbed
from planting import MODULES, Planting, only, packages_of
from study import SLOWER, Study, decimals, digest, listed, median_of, paragraph, parser, percent, table, upper_bound

JMH = "jmh"
SIZES = {"promised": 1.0, "half": 0.5}
# A larger change than this is not worth planting: who cannot see it is called blind.
WORTH = 0.5
THRESHOLD = "0.1%"


def main():
    options = parser(__doc__.splitlines()[0], "calibrate.md")
    options.add_argument("--modules", type=listed, default=["zap", "toml", JMH], help="which ones, separated by commas")
    options.add_argument("--bench", default=".", help="only benchmarks whose name matches")
    options.add_argument("--text", default="hash:size=64|join|words", help="which of JMH's, separated by `|`")
    options.add_argument("--noise", type=listed, default=["quiet", "burst2"], help="kinds of noise, separated by commas")
    options.add_argument("--repetitions", type=int, default=5, help="comparisons of each benchmark and size")
    options.add_argument("--seen-after", default="10s", help="measuring time of a benchmark for which it is said what is seen")
    options.add_argument("--seen-after-jmh", default="1m", help="the same for JMH")
    options.add_argument("--budget", help="measuring time of each calibration; without it duet decides")
    options.add_argument("--reference-budget", default="30s", help="measuring time of each of a module's two runs that tell what a plant adds")
    args = options.parse_args()
    study = Study(args, "Whether calibrations keep their promise", lambda study: body(study, args))
    subjects = [Jars(study, args) if name == JMH else Module(study, args, name) for name in args.modules]
    for subject in subjects:
        for made in args.noise:
            subject.calibrate(made)
    for repetition in range(1, args.repetitions + 1):
        steps = [(subject, made, name, size) for subject in subjects for made in args.noise
                 for name in subject.sights(made) for size in SIZES]
        random.Random(repetition).shuffle(steps)
        for subject, made, name, size in steps:
            subject.compare(made, name, size, repetition)
    study.finish()


class Subject:
    """A suite: how it is calibrated, and how its copies are compared."""

    def __init__(self, study, args, name, seen_after):
        self.study, self.args, self.name, self.seen_after = study, args, name, seen_after

    def calibrate(self, made):
        options = [*self.options(), "--seen-after", self.seen_after, *(["--budget", self.args.budget] if self.args.budget else [])]
        self.step(f"{self.name} {made} calibrate", made, lambda: kept(self.study.report(["calibrate", str(self.base()), *options], "study.db")))

    def sights(self, made):
        """The sight of each benchmark whose promise can be planted."""
        result = self.study.get(f"{self.name} {made} calibrate")
        return {b["name"]: b["sight"] for b in (result or {"benchmarks": []})["benchmarks"] if b["sight"] and self.can_plant(b)}

    def compare(self, made, name, size, repetition):
        sight = self.sights(made)[name]
        forks = sight["builds"] * sight["forks_per_build"]
        options = ["--bench", f"^{re.escape(name)}$", "--builds", str(sight["builds"]), "--forks", str(forks), "--threshold", THRESHOLD,
                   "--confirm=false", *self.packages()]
        change = sight["minimal_detectable_change"] * SIZES[size]
        key = f"{self.name} {made} {name} {size} {repetition}"
        self.step(key, made, lambda: digest(self.study.compare(self.base(), self.head(name, change), *options)))

    def step(self, key, made, work):
        def noisy():
            with disturbed(self.study, made, zlib.crc32(key.encode())):
                return work()
        self.study.do(key, noisy)


class Module(Subject):
    """A Go module with planted spins."""

    def __init__(self, study, args, name):
        super().__init__(study, args, name, args.seen_after)
        names = [b for b in MODULES[name]["planted"] if re.search(args.bench, b)]
        self.planting = Planting(study, name, names, args.reference_budget)
        self.planting.calibrate()

    def base(self):
        return self.planting.base()

    def head(self, name, change):
        rounds = {name: max(1, round(change / self.planting.effects[name]))}
        return self.planting.copy(f"{name.replace('/', '-')}-{rounds[name]}", rounds)

    def packages(self):
        return packages_of(self.name)

    def options(self):
        return [*self.packages(), *only(list(self.planting.effects))]

    def can_plant(self, benchmark):
        seen = benchmark["sight"]["minimal_detectable_change"]
        # Half of it must still be a round.
        return benchmark["name"] in self.planting.effects and self.planting.effects[benchmark["name"]] <= seen / 2 <= WORTH


class Jars(Subject):
    """JMH's project; its benchmarks all do more work when one is to."""

    def __init__(self, study, args):
        super().__init__(study, args, JMH, args.seen_after_jmh)
        self.jars = {}

    def base(self):
        return self.head(None, 0)

    def head(self, _, change):
        size = math.ceil(100 * change - 1e-9)
        if size not in self.jars:
            self.jars[size] = built(self.study, str(size))
        return self.jars[size]

    def packages(self):
        return []

    def options(self):
        return ["--bench", self.args.text]

    def can_plant(self, benchmark):
        return benchmark["sight"]["minimal_detectable_change"] <= WORTH


def kept(report):
    """The parts of a calibration that the page needs."""
    def of_one(benchmark):
        return {"name": benchmark["name"], "sight": benchmark["sights"][0], "blind": benchmark["blind"], "sources": benchmark["sources"]}
    return {"benchmarks": [of_one(b) for b in report["benchmarks"]], "alarms": report["alarms"], "shares": report["shares"],
            "measured_s": report["measured_s"], "wall_s": report["wall_s"], "decision": report["decision"]}


def body(study, args):
    noises = "\n".join(f"- *{kind}*: {NOISES[kind]}" for kind in args.noise)
    return "\n\n".join([
        paragraph(__doc__, 1), paragraph(__doc__, 2), noises,
        f"Comparisons asked for of each benchmark and size: {args.repetitions}. Said is what is seen after {args.seen_after} of measuring a "
        f"benchmark, of JMH after {args.seen_after_jmh}.",
        "## The promise", promise_table(study, args), "## The calibrations", calibration_table(study, args),
        "## Each benchmark", benchmark_table(study, args)])


def found(study, args, subject, made, names, size):
    """Planted changes that were called slower, and all of them."""
    results = [study.get(f"{subject} {made} {name} {size} {r}") for name in names for r in range(1, args.repetitions + 1)]
    verdicts = [b["verdict"] for result in results if result for b in result["benchmarks"]]
    return sum(v in SLOWER for v in verdicts), len(verdicts)


def planted(result):
    return [b for b in result["benchmarks"] if b["sight"] and b["sight"]["minimal_detectable_change"] <= WORTH]


def promise_table(study, args):
    rows = []
    for subject in args.modules:
        for made in args.noise:
            result = study.get(f"{subject} {made} calibrate")
            if result:
                names = [b["name"] for b in planted(result)]
                seen = median_of(b["sight"]["minimal_detectable_change"] for b in planted(result))
                full, half = (found(study, args, subject, made, names, size) for size in SIZES)
                rows.append([subject, made, len(names), percent(seen, 1), share(full), missed_bound(full), share(half)])
    return table(["suite", "noise", "benchmarks", "median promised", "promised size found", "found at least (99 %)", "half of it found"], rows) + (
        "\n\nPromised are 80 %. *At least* is the exact one-sided bound of Clopper and Pearson, which takes comparisons for independent.")


def share(counts):
    hits, of = counts
    return f"{hits} of {of} ({percent(hits / of, 0)})" if of else ""


def missed_bound(counts):
    hits, of = counts
    return percent(1 - upper_bound(of - hits, of), 0) if of else ""


def calibration_table(study, args):
    rows = []
    for subject in args.modules:
        for made in args.noise:
            result = study.get(f"{subject} {made} calibrate")
            if result:
                alarms, shares = result["alarms"], result["shares"] or {"layout": None, "fork": None, "slice": None}
                rates = [f"{alarms[rate]['times']} of {alarms[rate]['of']}" for rate in ("called_changed", "planted_found", "half_found")]
                blind = sum(b["blind"] is not None for b in result["benchmarks"])
                rows.append([subject, made, len(result["benchmarks"]), blind, *rates, alarms["units"],
                             *(percent(shares[s], 0) if shares[s] is not None else "" for s in ("layout", "fork", "slice")),
                             decimals(result["measured_s"])])
    return table(["suite", "noise", "benchmarks", "blind", "parts called changed", "promised found in numbers", "half found in numbers",
                  "units of a part", "layout", "processes", "interference", "measured s"], rows)


def benchmark_table(study, args):
    rows = []
    for subject in args.modules:
        for made in args.noise:
            for b in (study.get(f"{subject} {made} calibrate") or {"benchmarks": []})["benchmarks"]:
                sight = b["sight"]
                counts = [share(found(study, args, subject, made, [b["name"]], size)) for size in SIZES]
                seen = [percent(sight["minimal_detectable_change"], 1), f"{sight['builds']} × {sight['forks_per_build']}"] if sight else ["", ""]
                rows.append([subject, made, b["name"], *seen, b["blind"] or "", *counts])
    return table(["suite", "noise", "benchmark", "promised", "build pairs × fork pairs", "blind", "promised size found", "half of it found"], rows)


if __name__ == "__main__":
    main()
