"""Slowdowns of a known size in published Go modules: copies whose benchmark loops got a call that spins for a number of rounds.

The rounds for a slowdown of 1 % are computed from the benchmark's own time and the cost of a round, both measured first, and
corrected by what a trial plant of 20 % really added, because a spin overlaps with the work around it. It does so the more the fewer
rounds there are; where a study asks for it, a small plant is therefore corrected once more, by what it adds to whole processes
that run without duet.
"""

import json
import math
import re
import statistics

from study import REPOSITORY, Failed, digest, module_copy, run
from truth import Truth

# The packages with comparable benchmarks in both versions. go-toml moved its root package's benchmarks to ./unstable in v2.0.6;
# the root package of prometheus/common has none.
MODULES = {
    "zap": {
        "path": "go.uber.org/zap", "base": "v1.22.0", "head": "v1.23.0", "packages": ["."],
        "planted": ["BenchmarkNoContext", "BenchmarkBoolField", "BenchmarkStringField", "BenchmarkTimeField",
                    "BenchmarkErrorsField", "BenchmarkObjectField", "Benchmark10Fields", "Benchmark100Fields",
                    "BenchmarkBoolsArrayMarshaler", "BenchmarkTakeStacktrace"],
    },
    "toml": {
        "path": "github.com/pelletier/go-toml/v2", "base": "v2.0.1", "head": "v2.0.5", "packages": [".", "./benchmark"],
        "planted": ["BenchmarkScanComments/1kValid", "BenchmarkParseLiteralStringValid/1kValid",
                    "BenchmarkParseBasicStringsEasy/16", "BenchmarkUnmarshal/HugoFrontMatter",
                    "BenchmarkUnmarshal/SimpleDocument/map", "BenchmarkUnmarshal/ReferenceFile/struct",
                    "BenchmarkMarshal/HugoFrontMatter", "BenchmarkMarshal/SimpleDocument/struct",
                    "BenchmarkUnmarshalDataset/example"],
    },
    "common": {
        "path": "github.com/prometheus/common", "base": "v0.53.0", "head": "v0.55.0", "packages": ["./expfmt", "./model"],
        "planted": ["BenchmarkCreate", "BenchmarkOpenMetricsCreate", "BenchmarkParseText", "BenchmarkParseProto",
                    "BenchmarkTextParse", "BenchmarkLabelToSignatureTriple", "BenchmarkMetricToFingerprintTriple",
                    "BenchmarkMetricToFastFingerprintTriple", "BenchmarkLabelSetStringMethod", "BenchmarkCreateBuildInfo"],
    },
}
TRIAL_SIZE = 0.20
SPIN = "BenchmarkPlantedSpin"
SPIN_ROUNDS = 1000
# A correction makes no plant larger than by this factor.
CORRECTION_MOST = 3


class Planting:
    """The copies of one module, and how many rounds a slowdown needs in each benchmark."""

    def __init__(self, study, name, names, budget):
        self.study, self.name, self.names, self.budget = study, name, names, budget
        self.times, self.effects, self.corrected = {}, {}, {}

    def calibrate(self):
        """Measures what a round adds to each benchmark; tells whether that came to anything."""
        base = self.study.do(f"{self.name} base", lambda: base_times(self._measured({}, [*self.names, SPIN])))
        if not base:
            return False
        self.times = base["times"]
        rounds = {b: rounds_for(TRIAL_SIZE, part["ns"], part["spin_ns"]) for b, part in self.times.items()}
        trial = self.study.do(f"{self.name} trial", lambda: self._measured(rounds, list(rounds)))
        self.effects = round_effects(trial, rounds) if trial else {}
        return bool(self.effects)

    def _measured(self, rounds, names):
        head = self.copy("trial", rounds) if rounds else self.base()
        options = [*packages_of(self.name), *only(names), "--budget", self.budget, *self.study.known("--measure-identical")]
        return digest(self.study.compare(self.base(), head, *options))

    def correct(self, sizes, args):
        """Measures what plants of these sizes add without duet, and makes their rounds more or fewer by what all sizes together say: one of few
        rounds is small beside what processes vary by."""
        added = {size: self._added(size, args) for size in sizes}
        fits = {b: line([(math.log1p(size), found[b].middle, found[b].error) for size, found in added.items() if b in found])
                for b in self.effects if any(b in found for found in added.values())}
        shares = dict(zip(fits, shrunk(list(fits.values()))))
        for size, found in added.items():
            before = self.rounds(size)
            now = {b: max(1, round(before[b] / max(share, 1 / CORRECTION_MOST))) for b, share in shares.items()}
            plants = [{"name": b, "rounds": before[b], "added": math.expm1(one.middle), "error": one.error,
                       "believed": math.expm1(shares[b] * math.log1p(size)), "corrected": now[b]} for b, one in found.items()]
            if settled := self.study.do(f"{self.name} corrected {size:g}", lambda: {"plants": plants}):
                self.corrected[size] = {plant["name"]: plant["corrected"] for plant in settled["plants"]}

    def _added(self, size, args):
        """What the plant of this size adds to whole processes."""
        rounds, found = self.rounds(size), {}
        base, head = self.base(), self.copy(f"uncorrected-{size}", rounds)
        for package in MODULES[self.name]["packages"]:
            truth = Truth(self.study, args, [base / package, head / package], f"{self.name} {size:g} ")
            for b in truth.names("^(" + "|".join(map(re.escape, rounds)) + ")$"):
                for repetition in range(1, args.truth_repetitions + 1):
                    truth.measure(b, repetition)
                if one := truth.ratio(b):
                    found[b] = one
        return found

    def rounds(self, size):
        """The rounds for a slowdown of this size, of the benchmarks that the trial plant slowed down."""
        return {b: max(1, round(size / effect)) for b, effect in self.effects.items()} | self.corrected.get(size, {})

    def plan(self, size):
        """The plan of a plant: rounds, and their share of the benchmark's time as computed in two ways."""
        return {b: {"ns": self.times[b]["ns"], "rounds": n, "by_spin": n * self.times[b]["spin_ns"] / self.times[b]["ns"],
                    "in_place": n * self.effects[b]} for b, n in self.rounds(size).items()}

    def base(self):
        """The copy with the spins but without rounds."""
        return self.copy("base", {})

    def head(self, size):
        """The copy with a slowdown of this size."""
        return self.copy(f"head-{size}", self.rounds(size))

    def copy(self, label, rounds):
        """A copy of the module with these rounds; all copies have the same table of names."""
        target = self.study.scratch / self.name / label
        if not target.exists():
            module_copy(version(self.name, "head"), target)
            table_file = target.with_name(f"{label}.json")
            table_file.write_text(json.dumps({name: rounds.get(name, 0) for name in self.names}))
            for package in MODULES[self.name]["packages"]:
                run(["go", "run", ".", "-dir", target / package, "-rounds", table_file], REPOSITORY / "benches" / "plant")
        return target


def version(name, which):
    return f"{MODULES[name]['path']}@{MODULES[name][which]}"


def packages_of(name):
    """duet's options for a module's packages."""
    return [part for pattern in MODULES[name]["packages"] for part in ("--packages", pattern)]


def only(names):
    """duet's options for these benchmarks and no others."""
    return ["--bench", "^(" + "|".join(map(re.escape, names)) + ")$"]


def rounds_for(size, ns, spin_ns):
    return max(1, round(size * ns / spin_ns))


def base_times(result):
    """Time of each benchmark and of a round of the spin in its package."""
    found = [b for b in result["benchmarks"] if b["base_ns"]]
    spins = [b["base_ns"] / SPIN_ROUNDS for b in found if b["name"] == SPIN]
    if not spins:
        raise Failed("the cost of a round was not measured")
    spin_ns = statistics.median(spins)
    return {"times": {b["name"]: {"ns": b["base_ns"], "spin_ns": spin_ns} for b in found if b["name"] != SPIN}}


def round_effects(trial, rounds):
    """The share of its time that one round adds to each benchmark, as the trial plant showed."""
    effects = {}
    for b in trial["benchmarks"]:
        if b["ratio"] and b["ratio"] > 1 + TRIAL_SIZE / 10:  # otherwise the plant did not take
            effects[b["name"]] = (b["ratio"] - 1) / rounds[b["name"]]
    return effects


def line(points):
    """The slope of a line through nothing and its standard error, of places, heights and standard errors of these: weighted by the inverse
    squares of the errors. Where points lie further apart than these say, the error is widened by as much (Birge 1932)."""
    total = sum((x / error) ** 2 for x, _, error in points)
    slope = sum(x * y / error ** 2 for x, y, error in points) / total
    left = sum(((y - slope * x) / error) ** 2 for x, y, error in points)
    return slope, math.sqrt(max(1, left / max(1, len(points) - 1)) / total)


def shrunk(found):
    """Means with their standard errors, drawn towards the mean of all by as much as they differ by chance (empirical Bayes; the variance
    of what they stand for by moments, as DerSimonian and Laird 1986)."""
    if len(found) < 3:
        return [middle for middle, _ in found]
    chance = statistics.mean(error ** 2 for _, error in found)
    real = max(0, statistics.variance(middle for middle, _ in found) - chance)
    weights = [1 / (real + error ** 2) for _, error in found]
    mean = sum(w * middle for w, (middle, _) in zip(weights, found)) / sum(weights)
    return [mean + real / (real + error ** 2) * (middle - mean) for middle, error in found]
