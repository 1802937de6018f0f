#!/usr/bin/env python3
"""What comparisons of a version with itself say, every one of them and not only those that were called changed.

Published modules are compared with themselves many times. The two sides are drawn anew for each comparison: by a new seed, which
decides the layouts and every other random choice, and in the kind *moved* by a function of random size added to each side, which moves
the code behind it also where there is one build only. The other kinds give head a change that no benchmark runs. No estimate should lean
to one side, and p-values should be even between 0 and 1: from all of them a defect shows much earlier than from a count of false alarms.

*Mean* is the mean log ratio in percent. Its standard error is computed twice: over comparisons, as if they were independent, and over
benchmarks, since those of one benchmark may share what is particular to it. *z* is the estimate in its own standard errors, from its
p-value: the mean should be 0, the standard deviation 1. *Even* is the p-value of the test of Kolmogorov and Smirnov that p is even.
Measuring that ends as soon as the answer is known makes p uneven by design: then only `--fixed` is to be judged by that. Nor is p even where
units have heavy tails: one that lies far off pulls t towards 1, so that values of 0.2 to 0.5 are more than their share and small ones fewer.
"""

import collections
import itertools
import math
import random
import re
import statistics
import sys
import zlib

import unrelated
from noise import KINDS as NOISES
from noise import disturbed, why_not
from study import (CALLED, MEASURED, Study, count, decimals, digest, listed, mean, module_copy, paragraph, parser, percent,
                   settings, settings_rows, table, upper_bound)
from truth import error_of
from usual import PROCEDURES, Sides, measured

# Modules by version, their packages, and a few benchmarks of each that differ in what they do.
Module = collections.namedtuple("Module", "version packages benchmarks")
MODULES = {
    "zap": Module("go.uber.org/zap@v1.27.0", ["."], ["BenchmarkNoContext", "BenchmarkObjectField", "Benchmark10Fields"]),
    "toml": Module("github.com/pelletier/go-toml/v2@v2.2.4", ["./benchmark", "./unstable"],
                   ["BenchmarkUnmarshal/SimpleDocument/map", "BenchmarkMarshal/HugoFrontMatter", "BenchmarkScanComments/1kValid"]),
    "common": Module("github.com/prometheus/common@v0.62.0", ["./expfmt", "./model"],
                     ["BenchmarkCreate", "BenchmarkTextParse", "BenchmarkLabelToSignatureTriple"]),
    "gjson": Module("github.com/tidwall/gjson@v1.18.0", ["."], ["BenchmarkValid", "BenchmarkValidBytes", "BenchmarkGoStdlibValidBytes"]),
    "uuid": Module("github.com/google/uuid@v1.6.0", ["."], ["BenchmarkParse", "BenchmarkNew", "BenchmarkUUID_MarshalJSON"]),
    "compress": Module("github.com/klauspost/compress@v1.17.11", ["./huff0", "./flate"],
                       ["BenchmarkDeflate/gettysburg", "BenchmarkDecodeDigitsSpeed1e4", "BenchmarkDecodeTwainDefault1e4"]),
    "xxhash": Module("github.com/cespare/xxhash/v2@v2.3.0", ["."],
                     ["BenchmarkSum64/16B", "BenchmarkSum64/4KB", "BenchmarkDigestBytes/100B"]),
    "fastjson": Module("github.com/valyala/fastjson@v1.6.4", [".", "./fastfloat"],
                       ["BenchmarkArenaTypicalUse", "BenchmarkObjectGet/items_10/lookups_1", "BenchmarkParseUint64/12345/custom"]),
    "mux": Module("github.com/gorilla/mux@v1.8.1", ["."],
                  ["BenchmarkMux", "BenchmarkManyPathVariables", "Benchmark_findQueryKey/2"]),
    "httprouter": Module("github.com/julienschmidt/httprouter@v1.3.0", ["."], ["BenchmarkAllowed/Global", "BenchmarkAllowed/Path"]),
    "chi": Module("github.com/go-chi/chi/v5@v5.2.0", ["."], ["BenchmarkMux/route:/hi", "BenchmarkTreeGet"]),
    "burntsushi": Module("github.com/BurntSushi/toml@v1.4.0", ["."],
                         ["BenchmarkEscapes", "BenchmarkKey", "BenchmarkDecode/datetime"]),
    "zerolog": Module("github.com/rs/zerolog@v1.33.0", ["."],
                      ["BenchmarkInfo", "BenchmarkLogFields", "BenchmarkLogFieldType/Strs"]),
    "decimal": Module("github.com/shopspring/decimal@v1.4.0", ["."],
                      ["BenchmarkNewFromFloat", "Benchmark_FloorRegular", "BenchmarkDecimal_Add_same_precision"]),
    "btree": Module("github.com/google/btree@v1.1.3", ["."], ["BenchmarkInsertG", "BenchmarkGetG", "BenchmarkAscendG"]),
    "lru": Module("github.com/hashicorp/golang-lru/v2@v2.0.7", ["."], ["Benchmark2Q_Rand", "BenchmarkLRU_Rand", "BenchmarkLRU_Freq"]),
}
Comparison = collections.namedtuple("Comparison", "module kind noise way")
DRAWN = {"same": "the same directory on both sides", "moved": "on each side another function of random size is added to every package"}
KINDS = DRAWN | {name: patch.__doc__ for name, patch in unrelated.KINDS.items()}
SETTINGS = "one build=--builds 1 --fixed;layouts=--fixed"
LEVELS = (0.01, 0.05, 0.10)


def main():
    args = arguments()
    study = Study(args, "Comparisons of a version with itself", lambda study: body(study, args))
    if impossible := [f"{made}: {reason}" for made in args.noise if (reason := why_not(made))]:
        sys.exit("; ".join(impossible))
    for repetition in range(1, args.repetitions + 1):
        for step in order(args, repetition):
            compare(study, args, step, repetition)
    study.finish()


def arguments():
    options = parser(__doc__.splitlines()[0], "nulls.md")
    options.add_argument("--modules", type=listed, default=list(MODULES), help="which ones, separated by commas")
    options.add_argument("--repetitions", type=int, default=20, help="of every comparison")
    options.add_argument("--kinds", type=listed, default=list(DRAWN), help=f"how the two sides differ: {', '.join(KINDS)}")
    options.add_argument("--noise", type=listed, default=["quiet"], help=f"made beside them: {', '.join(NOISES)}")
    options.add_argument("--settings", type=settings, default=SETTINGS, help="`NAME=FLAGS` of duet, separated by semicolons")
    options.add_argument("--bench", default=".", help="only benchmarks whose name matches")
    options.add_argument("--budget", help="measuring time of each run; without it duet decides")
    options.add_argument("--usual", type=listed, default=[], help=f"usual procedures to make too: {', '.join(PROCEDURES)}")
    options.add_argument("--usual-count", type=int, default=10)
    options.add_argument("--usual-benchtime", default="100ms")
    args = options.parse_args()
    for words, known in [(args.modules, MODULES), (args.kinds, KINDS), (args.noise, NOISES), (args.usual, PROCEDURES)]:
        if set(words) - set(known):
            options.error(f"there is no {', '.join(sorted(set(words) - set(known)))}; there are {', '.join(known)}")
    return args


def order(args, repetition):
    """All comparisons of a repetition in random order, so that what a time limit leaves out is left out evenly."""
    found = [Comparison(*about) for about in itertools.product(args.modules, args.kinds, args.noise, [*args.settings, *args.usual])]
    return random.Random(repetition).sample(found, len(found))


def names_of(args, module):
    return [name for name in MODULES[module].benchmarks if re.search(args.bench, name)]


def compare(study, args, about, repetition):
    """One comparison, whose seed follows from what it is about."""
    names = names_of(args, about.module)
    # Results from before noise was made have no word for it in their names.
    key = " ".join(word for word in [*about, str(repetition)] if word != "quiet")
    seed = zlib.crc32(key.encode())

    def work():
        two = sides(study, about.module, about.kind, seed)
        with disturbed(study, about.noise, seed):
            if about.way in args.usual:
                made = measured(about.way, Sides(study, two, MODULES[about.module].packages), names, (args.usual_count, args.usual_benchtime))
            else:
                made = digest(study.compare(*two, *options_of(study, args, about, names), "--seed", str(seed)))
        return made | about._asdict() | {"seed": seed}

    if names:
        study.do(key, work)


def options_of(study, args, about, names):
    packages = [word for package in MODULES[about.module].packages for word in ("--packages", package)]
    only = ["--bench", "^(" + "|".join(map(re.escape, names)) + ")$"]
    budget = ["--budget", args.budget] if args.budget else []
    return [*packages, *only, *budget, *study.known("--measure-identical", *args.settings[about.way])]


def sides(study, module, kind, seed):
    """The two directories of a comparison. Copies are used again, and what is added to them is written anew."""
    if kind == "same":
        return (copy_of(study, module, "same"),) * 2
    if kind in unrelated.KINDS:
        return copy_of(study, module, "same"), patched(study, module, kind)
    chance = random.Random(seed)
    directories = copy_of(study, module, "base"), copy_of(study, module, "head")
    for directory in directories:
        for package in MODULES[module].packages:
            folder = directory / package
            # A package of tests alone must stay one.
            name = unrelated.ADDED if unrelated.sources(folder) else "duet_added_test.go"
            unrelated.big(folder, unrelated.package_name(folder), chance.randint(1, 400), name)
    return directories


def patched(study, module, kind):
    """The copy with a change that no benchmark runs."""
    fresh = not (study.scratch / module / kind).exists()
    directory = copy_of(study, module, kind)
    if fresh:
        unrelated.apply(kind, directory, MODULES[module].packages)
    return directory


def copy_of(study, module, label):
    target = study.scratch / module / label
    return target if target.exists() else module_copy(MODULES[module].version, target)


Case = collections.namedtuple("Case", [*Comparison._fields, *"name seed log p verdict".split()])


def cases_of(study, args):
    """Everything that was measured, one by one."""
    found = ((about, run) for run in map(study.get, list(study.results)) if run and (about := Comparison(*map(run.get, Comparison._fields))).way)
    return [Case(*about, b["name"], run["seed"], math.log(b["ratio"]), b["p"], b["verdict"]) for about, run in found
            if about.module in args.modules and about.kind in args.kinds for b in run["benchmarks"] if b["ratio"] and b["p"] is not None]


def body(study, args):
    cases = cases_of(study, args)
    if not cases:
        return "Nothing was measured yet."
    groups = groups_of(cases, args)
    return "\n\n".join([
        *(paragraph(__doc__, number) for number in (1, 2)), asked(args), "## All together", together(groups), "## p-values", p_table(groups),
        "## By module", by_part(cases, "module", lambda case: case.module),
        "## By benchmark", by_part(cases, "benchmark", lambda case: f"{case.module} {case.name.removeprefix('Benchmark')}"),
        "## Called changed", alarms(cases)])


def groups_of(cases, args):
    """The cases of each setting: by kind, by noise and all, as far as there are several."""
    groups = {}
    for way in dict.fromkeys(case.way for case in cases):
        own = [case for case in cases if case.way == way]
        parts = {kind: [case for case in own if case.kind == kind] for kind in args.kinds}
        if len(args.noise) > 1:
            parts |= {noise: [case for case in own if case.noise == noise] for noise in args.noise}
        if len(parts) > 1:
            parts["all"] = own
        groups |= {(part, way): found for part, found in parts.items() if found}
    return groups


def asked(args):
    rows = [[kind, KINDS[kind]] for kind in args.kinds]
    rows += [[noise, NOISES[noise]] for noise in args.noise if args.noise != ["quiet"]]
    rows += settings_rows(args)
    rows += [[way, f"the usual procedure, `-count {args.usual_count} -benchtime {args.usual_benchtime}`, benchstat at 5 %"]
             for way in args.usual]
    modules = ", ".join(f"`{MODULES[module].version}`" for module in args.modules)
    return f"Repetitions asked for: {args.repetitions}. Modules: {modules}.\n\n{table(['kind, noise or setting', 'is'], rows)}"


def together(groups):
    rows = []
    for (part, way), cases in groups.items():
        called, verdicts = count([case._asdict() for case in cases], CALLED), count([case._asdict() for case in cases], MEASURED)
        rows.append([part, way, *summary(cases), f"{called} of {verdicts}", percent(upper_bound(called, verdicts))])
    return table(["part", "setting", *SUMMARY, "called changed", "at most (99 %)"], rows) + (
        "\n\n*Slower* counts estimates above 1; beside it is the probability of as uneven a number, were both sides as likely. *At most* is "
        "the exact bound of Clopper and Pearson, which takes comparisons for independent.")


SUMMARY = ["comparisons", "benchmarks", "mean", "± over comparisons", "± over benchmarks", "spread", "slower", "by chance", "mean z",
           "spread of z", "even"]


def summary(cases):
    """The figures of a group; z-values have a spread of 1, known to one part in the root of twice their number."""
    logs, zs = [case.log for case in cases], z_values(cases)
    by_name = collections.defaultdict(list)
    for case in cases:
        by_name[case.module, case.name].append(case.log)
    slower, ties = sum(log > 0 for log in logs), logs.count(0)
    spread = f"{statistics.stdev(zs):.2f} ± {1 / math.sqrt(2 * len(zs)):.2f}" if len(zs) > 1 else ""
    return [len(cases), len(by_name), f"{100 * mean(logs):+.3f} %", percent(error_of(logs), 3),
            percent(error_of([mean(several) for several in by_name.values()]), 3),
            percent(statistics.stdev(logs) if len(logs) > 1 else None), f"{slower} of {len(logs) - ties}",
            decimals(sign_test(slower, len(logs) - ties), 3), f"{mean(zs):+.2f} ± {1 / math.sqrt(len(zs)):.2f}" if zs else "", spread,
            decimals(kolmogorov([case.p for case in cases]), 3)]


def z_values(cases):
    """Estimates in their own standard errors, by way of the p-value. The least p that a number can be told from is taken for 0."""
    normal = statistics.NormalDist()
    return [math.copysign(-normal.inv_cdf(max(case.p, 1e-300) / 2), case.log) for case in cases]


def sign_test(hits, cases):
    """The two-sided probability of so uneven a number of heads (exact)."""
    fewer = min(hits, cases - hits)
    return min(1.0, 2 * sum(math.comb(cases, k) for k in range(fewer + 1)) / 2**cases) if cases else None


def kolmogorov(values):
    """The p-value of the test of Kolmogorov and Smirnov that values are even between 0 and 1, with Stephens' correction for their
    number (1970)."""
    n, ordered = len(values), sorted(values)
    if n < 5:
        return None
    distance = max(max((rank + 1) / n - value, value - rank / n) for rank, value in enumerate(ordered))
    scaled = (math.sqrt(n) + 0.12 + 0.11 / math.sqrt(n)) * distance
    if scaled < 0.3:  # the series does not converge there, and its sum is 1 to six digits
        return 1.0
    return min(1.0, 2 * sum((-1) ** (k - 1) * math.exp(-2 * k * k * scaled * scaled) for k in range(1, 101)))


def p_table(groups):
    rows = []
    for (part, way), cases in groups.items():
        tenths = collections.Counter(min(9, int(10 * case.p)) for case in cases)
        shares = [percent(sum(case.p < level for case in cases) / len(cases), 1) for level in LEVELS]
        rows.append([part, way, len(cases), *shares, *(tenths[tenth] for tenth in range(10)), decimals(chi_square(tenths, len(cases)), 3)])
    head = ["part", "setting", "p-values", *(f"below {percent(level, 0)}" for level in LEVELS),
            *(f"{tenth / 10:.1f}–" for tenth in range(10)), "even by χ²"]
    return table(head, rows) + "\n\nThe columns in the middle count p-values in each tenth; χ² is given for fifty and more."


def chi_square(tenths, cases):
    """The p-value that ten cells are as likely, by the transformation of Wilson and Hilferty (1931)."""
    if cases < 50:
        return None
    statistic = sum((tenths[tenth] - cases / 10) ** 2 / (cases / 10) for tenth in range(10))
    freedom = 9
    z = ((statistic / freedom) ** (1 / 3) - 1 + 2 / (9 * freedom)) / math.sqrt(2 / (9 * freedom))
    return 1 - statistics.NormalDist().cdf(z)


def by_part(cases, word, part_of):
    """A row for each module or benchmark."""
    rows = []
    for part, way in sorted({(part_of(case), case.way) for case in cases}):
        own = [case for case in cases if (part_of(case), case.way) == (part, way)]
        logs, zs = [case.log for case in own], z_values(own)
        rows.append([part, way, len(own), f"{100 * mean(logs):+.3f} %", percent(error_of(logs), 3),
                     f"{sum(zs) / math.sqrt(len(zs)):+.1f}", decimals(statistics.stdev(zs) if len(zs) > 1 else None, 2),
                     sum(case.verdict in CALLED for case in own)])
    head = [word, "setting", "comparisons", "mean", "±", "z of all", "spread of z", "called changed"]
    return table(head, rows) + (
        "\n\n*z of all* is the sum of z-values over the root of their number: beyond 3 on either side where nothing leans is rare.")


def alarms(cases):
    rows = [[case.kind, case.noise or "quiet", case.way, case.seed, case.module, case.name, f"{100 * math.expm1(case.log):+.2f} %", f"{case.p:.2g}"]
            for case in cases if case.verdict in CALLED]
    return table(["kind", "noise", "setting", "seed", "module", "benchmark", "estimate", "p"], rows) if rows else "None was called changed."


if __name__ == "__main__":
    main()
