#!/usr/bin/env python3
"""How far verdicts can be trusted: false alarms and planted slowdowns, under noise, beside the usual procedures.

Three published modules are compared with copies of themselves that no benchmark can tell apart: the same directory, and copies
with a change that no benchmark runs. Such a change moves the code that the benchmarks do run to other addresses, which can
change its speed; to whoever asks about the change, whatever is called changed is a false alarm all the same.

The same modules with planted slowdowns of known sizes tell how many real changes are found, how well their size is estimated,
and how long that takes. The usual procedures get the same planted copies: all runs of base and then all of head, or both by turns,
judged by benchstat at its level of 5 %; once with their own time and once with the time that duet took.
"""

import math
import random
import re
import statistics
import zlib

import truth
import unrelated
from noise import KINDS as NOISES
from noise import disturbed, why_not
from planting import MODULES, Planting, line, only, packages_of, version
from study import (CALLED, FASTER, MEASURED, SETTINGS, SLOWER, Study, count, decimals, digest, half_width, listed, mean, median_of, module_copy, paragraph,
                   parser, per_benchmark, percent, said, seconds_of, settings, settings_rows, table, upper_bound, with_interval)
from usual import PROCEDURES, Sides, measured

SIZES = [0.01, 0.02, 0.03, 0.05, 0.10]
PLANTED = {f"planted-{100 * size:g}": size for size in [0.005, *SIZES]}
KINDS = {"same": "the same directory on both sides"} | {name: patch.__doc__ for name, patch in unrelated.KINDS.items()}


def main():
    args = arguments()
    study = Study(args, "How far verdicts can be trusted", lambda study: body(study, args))
    here = {kind: why_not(kind) for kind in args.noise}
    study.do("noise", lambda: {"impossible": {kind: reason for kind, reason in here.items() if reason}})
    args.noise = [kind for kind in args.noise if not here[kind]]
    modules = {name: Module(study, args, name) for name in args.modules}
    for repetition in range(1, args.repetitions + 1):
        for module, kind, made in order(args, repetition):
            modules[module].compare(repetition, kind, made)
    study.finish()


def arguments():
    options = parser(__doc__.splitlines()[0], "trust.md")
    options.add_argument("--repetitions", type=int, default=3, help="of every comparison")
    options.add_argument("--noise", type=listed, default=list(NOISES), help="kinds of noise, separated by commas")
    options.add_argument("--kinds", type=listed, default=[*KINDS, *list(PLANTED)[1:]], help="kinds of comparison; `planted-0.5` too")
    options.add_argument("--planted-noise", type=listed, default=["quiet"], help="which of them comparisons with planted slowdowns have")
    options.add_argument("--settings", type=settings, default=SETTINGS, help="`NAME=FLAGS` of duet, separated by semicolons")
    options.add_argument("--modules", type=listed, default=list(MODULES), help="which ones")
    options.add_argument("--bench", default=".", help="only benchmarks whose name matches")
    options.add_argument("--whole-suites", action="store_true", help="beside benchmarks with a planted slowdown measure all the others")
    options.add_argument("--budget", help="measuring time of each of duet's runs; without it duet decides")
    options.add_argument("--reference-budget", default="60s", help="measuring time of each of a module's two calibration runs")
    options.add_argument("--corrected-kinds", type=listed, default=[], help="planted ones whose size is corrected by processes without duet")
    truth.options_of(options, 8)
    options.add_argument("--usual", type=listed, default=list(PROCEDURES), help="usual procedures; empty for none")
    options.add_argument("--usual-kinds", type=listed, default=["same", *PLANTED], help="kinds of comparison they make")
    options.add_argument("--usual-count", type=int, default=10)
    options.add_argument("--usual-benchtime", default="1s")
    args = options.parse_args()
    for words, known in [(args.noise, NOISES), (args.planted_noise, NOISES), (args.kinds, KINDS | PLANTED), (args.corrected_kinds, PLANTED),
                         (args.usual_kinds, ["same", *PLANTED]), (args.modules, MODULES), (args.usual, PROCEDURES)]:
        unknown = set(words) - set(known)
        if unknown:
            options.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return args


def order(args, repetition):
    """All comparisons of a repetition, in a random order, so that what a time limit leaves out is left out evenly."""
    found = [(module, kind, made) for module in args.modules for kind in args.kinds
             for made in args.noise if kind not in PLANTED or made in args.planted_noise]
    random.Random(repetition).shuffle(found)
    return found


class Module:
    """The comparisons of one module."""

    def __init__(self, study, args, name):
        self.study, self.args, self.name = study, args, name
        self.packages = MODULES[name]["packages"]
        names = [b for b in MODULES[name]["planted"] if re.search(args.bench, b)]
        self.planting = Planting(study, name, names, args.reference_budget)
        needed = set(args.kinds) & ({*PLANTED} | (set(args.usual_kinds) if args.usual else set()))
        self.planted = bool(names and needed) and self.planting.calibrate()
        if self.planted:
            self.planting.correct([PLANTED[kind] for kind in args.corrected_kinds], args)
        for kind in args.kinds:
            if kind in unrelated.KINDS:
                study.do(f"{name} {kind} patch", lambda: {"binaries": self._differences(kind)})

    def _differences(self, kind):
        return unrelated.differences(*self._directories(kind), self.packages)

    def _directories(self, kind):
        """Base and head of a kind of comparison."""
        if kind in PLANTED:
            return self.planting.base(), self.planting.head(PLANTED[kind])
        base, head = (self.study.scratch / self.name / label for label in ("unpatched", kind))
        if not base.exists():
            module_copy(version(self.name, "head"), base)
        if kind == "same":
            return base, base
        if not head.exists():
            module_copy(version(self.name, "head"), head)
            unrelated.apply(kind, head, self.packages)
        return base, head

    def compare(self, repetition, kind, made):
        """One comparison by duet in every setting, and by the usual procedures."""
        if kind in PLANTED and not self.planted:
            return
        names = list(self.args.settings)
        for setting in random.Random(repetition).sample(names, len(names)):
            key = key_of(self.name, made, kind, setting, repetition)
            self.study.do(key, lambda: self._record(key, made, lambda seed: self._by_duet(kind, setting, seed)))
        if self.args.usual and kind in self.args.usual_kinds and self.planted:
            self._usual(repetition, kind, made)

    def _usual(self, repetition, kind, made):
        """The usual procedures with their own time, and with the time that duet's last setting took."""
        last = self.study.get(key_of(self.name, made, kind, list(self.args.settings)[-1], repetition))
        for procedure in self.args.usual:
            own = self._by_usual((made, kind, procedure, repetition), procedure, self.args.usual_benchtime)
            if own and last and last["benchmarks"]:
                left = per_benchmark(last) * len(own["benchmarks"]) - own["build_s"]
                benchtime = seconds_of(self.args.usual_benchtime) * max(0, left) / own["measured_s"]
                about = (made, kind, in_equal_time(procedure), repetition)
                self._by_usual(about, procedure, f"{max(1, round(1e6 * benchtime))}us")

    def _by_usual(self, about, procedure, benchtime):
        made, kind, setting, _ = about
        key = key_of(self.name, *about)

        def work(_):
            directories = self._directories(kind) if kind in PLANTED else (self.planting.base(), self.planting.base())
            sides = Sides(self.study, directories, self.packages)
            result = measured(procedure, sides, list(self.planting.effects), (self.args.usual_count, benchtime))
            return result | {"kind": kind, "setting": setting}

        return self.study.do(key, lambda: self._record(key, made, work))

    def _record(self, key, made, work):
        """A result with what it is about; the seed follows from what it is about."""
        seed = zlib.crc32(key.encode())
        with disturbed(self.study, made, seed):
            return work(seed) | {"module": self.name, "noise": made, "seed": seed}

    def _by_duet(self, kind, setting, seed):
        planted = list(self.planting.effects) if kind in PLANTED else []
        which_ones = only(planted) if planted and not self.args.whole_suites else ["--bench", self.args.bench]
        budget = ["--budget", self.args.budget] if self.args.budget else []
        flags = self.study.known("--measure-identical", *self.args.settings[setting])
        options = [*packages_of(self.name), *which_ones, *budget, *flags, "--seed", str(seed)]
        return digest(self.study.compare(*self._directories(kind), *options)) | {"kind": kind, "setting": setting, "planted": planted}


def key_of(module, made, kind, setting, repetition):
    return f"{module} {made} {kind} {setting} {repetition}"


def in_equal_time(procedure):
    return f"{procedure} in duet's time"


def body(study, args):
    parts = [paragraph(__doc__, 1), paragraph(__doc__, 2), settings_text(args), noise_text(study, args)]
    if any(kind in KINDS for kind in args.kinds):
        parts += ["## False alarms", alarms_text(study, args), "## Which", which(study, args)]
    if any(kind in PLANTED for kind in args.kinds):
        parts += ["## Planted slowdowns", power_text(study, args)]
    if args.corrected_kinds:
        parts += ["## The plants", plants_text(study, args)]
    if len(args.corrected_kinds) > 1:
        parts += ["## Plants by what they add to processes", added_text(study, args)]
    patched = [kind for kind in args.kinds if kind in KINDS]
    return "\n\n".join([*parts, "## Kinds of comparison", kinds_table(study, args, patched)])


def settings_text(args):
    rows = settings_rows(args)
    budget = f"Each run of duet has {args.budget} of measuring." if args.budget else "duet itself decides how long it measures."
    counts = f"`-count {args.usual_count} -benchtime {args.usual_benchtime}`"
    rows += [[procedure, f"{counts}, benchstat"] for procedure in args.usual]
    rows += [[in_equal_time(procedure), f"`-count {args.usual_count}` and the benchtime with which that takes as long as duet's "
              f"setting *{list(args.settings)[-1]}* took, benchstat"] for procedure in args.usual]
    asked = f"Repetitions asked for: {args.repetitions}. {budget} Benchmarks: `{args.bench}`."
    return f"{asked}\n\n{table(['setting', 'is'], rows)}"


def noise_text(study, args):
    impossible = (study.get("noise") or {"impossible": {}})["impossible"]
    kinds = dict.fromkeys([*args.noise, *impossible])
    return table(["noise", "is"], [[kind, f"**not possible here**: {impossible[kind]}" if kind in impossible else NOISES[kind]]
                                   for kind in kinds])


def chosen(study, args, **wanted):
    """The results that are about this."""
    lists = {"kind": args.kinds, "noise": args.noise}
    for result in map(study.get, list(study.results)):
        if result and "setting" in result and all(result[name] in values for name, values in lists.items()):
            if all(result[name] == value for name, value in wanted.items()):
                yield result


def setting_names(args):
    """duet's settings, then those of the usual procedures."""
    return [*args.settings, *args.usual, *map(in_equal_time, args.usual)]


def alarms_text(study, args):
    kinds = [kind for kind in args.kinds if kind in KINDS]
    together, apart = [], []
    noises = {made: [made] for made in args.noise} | ({"all": args.noise} if len(args.noise) > 1 else {})
    for name, noise in noises.items():
        for setting in setting_names(args):
            results = [r for made in noise for kind in kinds
                       for r in chosen(study, args, noise=made, kind=kind, setting=setting)]
            together += alarm_rows([name, setting], results)
            for kind in kinds:
                apart += alarm_rows([name, setting, kind], [r for r in results if r["kind"] == kind])
    head = ["comparisons", "measured", "identical code", "called changed", "share", "at most (99 %)", "median detects",
            "wall s per benchmark"]
    return "\n\n".join([
        "*Measured* counts benchmarks over all comparisons; only they are in the share. *At most* is the exact bound of Clopper and "
        "Pearson on the share: were it larger, so few would be called changed with less than 1 %. It takes benchmarks for independent. "
        "*Detects* is the median of the minimal detectable change, *wall* the whole time of the command, building included, divided by "
        "the number of benchmarks; its median.",
        table(["noise", "setting", *head], together), "By kind of comparison:",
        table(["noise", "setting", "kind", *head], apart)])


def alarm_rows(names, results):
    """The row of these results; none without results."""
    if not results:
        return []
    benchmarks = [b for r in results for b in r["benchmarks"]]
    called, cases = count(benchmarks, CALLED), count(benchmarks, MEASURED)
    return [[*names, len(results), cases, count(benchmarks, ["identical_code"]), called, percent(called / cases) if cases else "",
             percent(upper_bound(called, cases)), percent(detects(benchmarks)), decimals(median_of(map(per_benchmark, results)), 2)]]


def detects(benchmarks):
    return median_of(b.get("detects") for b in benchmarks)


def which(study, args):
    """The false alarms one by one."""
    rows = [[r["noise"], r["kind"], r["setting"], r["seed"], r["module"], b["name"], percent(b["ratio"] - 1)]
            for kind in args.kinds if kind in KINDS for r in chosen(study, args, kind=kind)
            for b in r["benchmarks"] if b["verdict"] in CALLED]
    head = ["noise", "kind", "setting", "seed", "module", "benchmark", "estimate"]
    return table(head, rows) if rows else "None was called changed."


def power_text(study, args):
    rows = []
    for made in args.planted_noise:
        for kind, size in PLANTED.items():
            for setting in setting_names(args):
                results = list(chosen(study, args, noise=made, kind=kind, setting=setting))
                rows += power_rows([made, f"{100 * size:g} %", setting], results)
    head = ["noise", "planted", "setting", "comparisons", "benchmarks", "regression", "slower", "faster", "mean estimate",
            "estimates spread", "median detects", "wall s per benchmark", "measured s per benchmark"]
    return (
        "Only benchmarks that the trial plant slowed down are judged"
        + (", while whole suites are measured, by which times are divided" if args.whole_suites else "") + ". *Regression* is the share called one, *slower* and *faster* those with a change of whatever size; *spread* is the standard "
        "deviation of the estimates. duet's threshold is 3 %, so that it should not call a slowdown of less than that.\n\n"
        + table(head, rows) + ("\n\n" + unplanted_text(study, args) if args.whole_suites else ""))


def unplanted_text(study, args):
    """How many benchmarks of whole suites were called changed though nothing was planted for them."""
    lines = []
    for setting in args.settings:
        others = [b for kind in PLANTED for r in chosen(study, args, kind=kind, setting=setting) for b in r["benchmarks"] if b["name"] not in r["planted"]]
        called, cases = count(others, CALLED), with_interval(others)
        lines.append(f"Unplanted called changed by *{setting}*: {called} of {cases} with an interval, at most {percent(upper_bound(called, cases), 1)} "
                     "with 99 % confidence.")
    return "\n\n".join(lines)


def power_rows(names, results):
    if not results:
        return []
    benchmarks = [b for r in results for b in r["benchmarks"] if b["name"] in r.get("planted", [b["name"]])]
    shares = [percent(count(benchmarks, words) / len(benchmarks), 0) for words in (["regression"], SLOWER, FASTER)] if benchmarks else [""] * 3
    estimates = [b["ratio"] - 1 for b in benchmarks if b["ratio"] is not None]
    spread = statistics.stdev(estimates) if len(estimates) > 1 else None
    only_measuring = [r["measured_s"] / len(r["benchmarks"]) for r in results if r["benchmarks"]]
    return [[*names, len(results), len(benchmarks), *shares, percent(mean(estimates)), percent(spread), percent(detects(benchmarks)),
             decimals(median_of(map(per_benchmark, results)), 2), decimals(median_of(only_measuring), 2)]]


def plants_text(study, args):
    """Each corrected plant, and what duet says of it."""
    rows = []
    for kind in args.corrected_kinds:
        for module in args.modules:
            found = study.get(f"{module} corrected {PLANTED[kind]:g}")
            judged = [b for r in chosen(study, args, kind=kind, module=module) if r["setting"] in args.settings for b in r["benchmarks"]]
            for plant in found["plants"] if found else []:
                about = [module, plant["name"].removeprefix("Benchmark"), kind.removeprefix("planted-") + " %"]
                sizes = [percent(plant["added"]), percent(plant["error"]), percent(plant["believed"]), plant["rounds"], plant["corrected"]]
                rows.append([*about, *sizes, "; ".join(said(b) for b in judged if b["name"] == plant["name"] and b["ratio"])])
    head = ["module", "benchmark", "planted", "added to processes", "its standard error", "believed", "rounds then", "rounds now", "duet"]
    return (
        "The rounds that the trial plant asks for were put into whole processes that run without duet, GOMAXPROCS=1, both sides in "
        "turns on one processor, and judged by their processor time, which is *believed* as far as benchmarks of a module differ by more than chance; then rounds were made "
        "more or fewer in proportion. (Until 2026-11-27 each size was corrected by itself alone; since then all sizes of a benchmark by what they say together.)\n\n"
        + table(head, rows))


# Bounds of the sizes that are looked at together.
BANDS = [-math.inf, 0.01, 0.02, 0.04, 0.08, math.inf]


def added_text(study, args):
    """Estimates beside what plants of all sizes together add to processes."""
    rows = []
    for setting in args.settings:
        cases = list(added_cases(study, args, setting))
        for low, high in zip(BANDS, BANDS[1:]):
            rows += added_rows(setting, band(low, high), [case for case in cases if low <= math.expm1(case[0]) < high])
        rows += added_rows(setting, "all", cases)
    head = ["setting", "added", "plants", "regression", "slower", "faster", "apart, mean", "apart, root mean square", "the same, in standard errors",
            "agree"]
    return (
        "A plant of few rounds is small beside what processes vary by. What one round adds is therefore taken from the plants of all sizes of a benchmark "
        "together, in proportion to their rounds, with an error that is widened where sizes contradict each other; so each plant is held against what its own "
        "rounds add. Both *agree* where they are no further apart than their intervals of 90 % reach together, as the root of the sum of squares: nine of ten should.\n\n"
        + table(head, rows))


def band(low, high):
    if low == -math.inf:
        return f"below {100 * high:g} %"
    return f"{100 * low:g} % and more" if high == math.inf else f"{100 * low:g} to {100 * high:g} %"


def added_cases(study, args, setting):
    """What each plant adds as a log ratio, its standard error, and what duet says."""
    for module in args.modules:
        corrected = {kind: study.get(f"{module} corrected {PLANTED[kind]:g}") for kind in args.corrected_kinds}
        for name in {plant["name"] for found in corrected.values() if found for plant in found["plants"]}:
            plants = {kind: plant for kind, found in corrected.items() if found for plant in found["plants"] if plant["name"] == name}
            if len(plants) < 2:
                continue
            slope, error = line([(plant["rounds"], math.log1p(plant["added"]), plant["error"]) for plant in plants.values()])
            for kind, plant in plants.items():
                for result in chosen(study, args, kind=kind, module=module, setting=setting):
                    for b in result["benchmarks"]:
                        if b["name"] == name and b["ratio"]:
                            yield slope * plant["corrected"], error * plant["corrected"], b


def added_rows(setting, words, cases):
    if not cases:
        return []
    apart = [math.log(b["ratio"]) - added for added, _, b in cases]
    normal = statistics.NormalDist()
    errors = [math.hypot(error, half_width(b) / normal.inv_cdf((1 + b["confidence"]) / 2)) for _, error, b in cases]
    agree = sum(abs(gap) <= normal.inv_cdf(0.95) * error for gap, error in zip(apart, errors))
    judged = [b for *_, b in cases]
    shares = [f"{count(judged, verdicts)} of {len(judged)}" for verdicts in (["regression"], SLOWER, FASTER)]
    return [[setting, words, len(cases), *shares, percent(mean(apart)), percent(math.sqrt(mean(gap ** 2 for gap in apart))),
             decimals(math.sqrt(mean((gap / error) ** 2 for gap, error in zip(apart, errors))), 2), f"{agree} of {len(cases)}"]]


def kinds_table(study, args, kinds):
    """The change of each kind, and the parts of the test binaries that it changed."""
    rows = []
    for kind in kinds:
        found = [study.get(f"{name} {kind} patch") for name in args.modules]
        rows.append([kind, KINDS[kind], *(", ".join(r["binaries"].values()) if r else "" for r in found)])
    return table(["kind", "change", *(f"differs in {name}" for name in args.modules)], rows) + (
        "\n\n*Differs* says for the test binary of each package what differs from the unpatched one's: nothing, its code, or something "
        "but not the code (both linked without their build's name).")


if __name__ == "__main__":
    main()
