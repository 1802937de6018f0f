#!/usr/bin/env python3
"""What the first hour with duet is like: published modules and everyday programs compared under a small budget, nothing set up.

A dozen Go modules, each awkward in its way, are compared with their next release and with themselves, and pairs of programs and of
JMH's jars with each other: quiet, and beside two neighbours that burst. Nothing is chosen for duet but the budget and, where a module
has hundreds of benchmarks, some of them. The modules are fetched beforehand, what they need is not.

*First try*: the command ended with answers. *Enough for*: for how many of the benchmarks that it measures duet said beforehand that the
budget is enough; all of them where it said nothing. *Answered*: a change, no change, or that the benchmark itself differs. *Missing*: the
answers that are missing from what was said; where the budget is enough for 12, and 10 are answered and 1 failed, that is 1. *Open*: without
an answer, whether or not one was promised. *Not measured*: the code is the same. A version is measured against itself all the same
(`--measure-identical`), and what is called changed there is a false alarm. *Seconds* are from the command to its end, with building and
looking; the budget is of what follows the building.
"""

import collections
import random
import re
import shutil
import statistics
import time
import zlib

from jmh import built
from noise import KINDS as NOISES
from noise import noise
from study import (CALLED, FASTER, MEASURED, REPOSITORY, SLOWER, Failed, Study, count, decimals, digest, listed, median_of, met, one_line, paragraph,
                   parser, percent, run, spoken, table, upper_bound, with_interval)

# A published module: its path, the releases that are compared, flags that choose among its benchmarks, and the trait it is here for.
Module = collections.namedtuple("Module", "path old new flags trait")
MODULES = {
    "gjson": Module("github.com/tidwall/gjson", "v1.14.0", "v1.17.0", "", "small; layout moves it by 11 to 14 %"),
    "xxhash": Module("github.com/cespare/xxhash/v2", "v2.1.2", "v2.2.0", "", "assembly, sub-benchmarks"),
    "xsync": Module("github.com/puzpuzpuz/xsync/v4", "v4.0.0", "v4.2.0", "--bench Map_WarmUp|Counter$", "`RunParallel`, generics"),
    "common": Module("github.com/prometheus/common", "v0.60.0", "v0.61.0", "", "many packages, benchmarks that changed"),
    "zerolog": Module("github.com/rs/zerolog", "v1.32.0", "v1.33.0", "", "a hundred benchmarks, internal packages"),
    "fastjson": Module("github.com/valyala/fastjson", "v1.6.3", "v1.6.4", "--bench Parse|MarshalTo", "more than a hundred, `testdata`"),
    "lru": Module("github.com/hashicorp/golang-lru/v2", "v2.0.6", "v2.0.7", "", "generics"),
    "bbolt": Module("go.etcd.io/bbolt", "v1.3.9", "v1.3.10", "--bench FreelistRelease", "operations of 0.2 ms to 2 s"),
    "sqlite": Module("github.com/mattn/go-sqlite3", "v1.14.23", "v1.14.24", "", "cgo, a minute of compiling"),
    "zstd": Module("github.com/klauspost/compress", "v1.17.10", "v1.17.11", "--packages ./zstd --bench Decoder_DecodeAll/", "large, `testdata`"),
    "btree": Module("github.com/google/btree", "v1.1.2", "v1.1.3", "", "differs in a file of another build tag only"),
    "xsync-v3": Module("github.com/puzpuzpuz/xsync/v3", "v3.0.2", "v3.4.0", "", "the linker of new versions of Go refuses it"),
    "goldmark": Module("github.com/yuin/goldmark", "v1.7.7", "v1.7.8", "", "no benchmarks outside `_benchmark`"),
}
CONDITIONS = {"quiet": "quiet", "burst2": "beside two neighbours"}
ANSWERED = (*(verdict for verdict in MEASURED if verdict != "inconclusive"), "redefined")
UNMEASURED = ("identical_code", "not_affected")
MISSING_AT_MOST = 0.1
ROUNDS = 30_000_000
WORK = """
#include <stdint.h>
int main(void) { volatile uint64_t x = 1; for (int i = 0; i < %d; i++) x = x * 6364136223846793005u + 1; return x == 0; }
"""
LOOP = """
#include <stdint.h>
#include "duet.h"
int main(void) {
    volatile uint64_t x = 1;
    while (duet_active()) {
        duet_begin();
        for (int i = 0; i < %d; i++) x = x * 6364136223846793005u + 1;
        duet_end(1);
    }
    return x == 0;
}
"""


def main():
    args = arguments()
    study = Study(args, "The first hour", lambda study: body(study, args))
    study.environment.pop("DUET_SAME_BENCHMARKS")  # duet is to tell benchmarks that changed from code that did
    args.absent = {name: absent for name in args.programs if (absent := [p for p in PROGRAMS[name].needs if not shutil.which(p)])}
    args.programs = [name for name in args.programs if name not in args.absent]
    for what in order(args):
        study.do(" ".join(what), lambda: compared(study, args, what))
    study.finish()


def arguments():
    options = parser(__doc__.splitlines()[0], "first-hour.md")
    options.add_argument("--modules", type=listed, default=list(MODULES), help="which ones, separated by commas; empty for none")
    options.add_argument("--programs", type=listed, default=list(PROGRAMS), help="pairs of programs and of jars; empty for none")
    options.add_argument("--budget", default="20s", help="of each comparison")
    options.add_argument("--jmh-budget", default="60s", help="of each comparison of jars")
    args = options.parse_args()
    for words, known in [(args.modules, MODULES), (args.programs, PROGRAMS)]:
        if set(words) - set(known):
            options.error(f"there is no {', '.join(sorted(set(words) - set(known)))}; there are {', '.join(known)}")
    return args


def order(args):
    """All comparisons. Every subject has its first before any has its second, and they begin with another kind and condition than their
    neighbours, so that what a time limit leaves is a cross-section."""
    modules = [("release", "quiet"), ("itself", "burst2"), ("release", "burst2"), ("itself", "quiet")]
    programs = [("pair", "quiet"), ("pair", "burst2")]
    cases = {name: modules for name in args.modules} | {name: programs for name in args.programs}
    return [(name, *own[(turn + place) % len(own)]) for turn in range(len(modules)) for place, (name, own) in enumerate(cases.items())
            if turn < len(own)]


def compared(study, args, what):
    """One comparison: what it came to, or what duet said instead."""
    name, kind, condition = what
    command = of_module(study, args, MODULES[name], kind) if name in MODULES else PROGRAMS[name].make(study, args)
    seed = zlib.crc32(" ".join(what).encode())
    with noise(condition, seed):
        began = time.monotonic()
        try:
            report = study.compare(*command, "--seed", str(seed))
        except Failed as refusal:
            return {"refused": why(refusal), "wall_s": time.monotonic() - began}
    return digest(report) | {"exit_code": report["exit_code"], "outcome": report["outcome"], "enough_for": enough_for(report),
                             "why_open": collections.Counter(why for b in report["benchmarks"] for why in why_open(b))}


def why(refusal):
    """The sentence with which duet ended, without what it quotes."""
    found = re.search(r"^duet: .*", refusal.said, re.MULTILINE)
    return one_line(found[0] if found else str(refusal))


def why_open(benchmark):
    """The kinds of warnings at a benchmark without an answer."""
    kinds = {spoken(warning["kind"]) for warning in benchmark["warnings"]} or {"nothing"}
    return sorted(kinds) if benchmark["verdict"] == "inconclusive" else []


def enough_for(report):
    """The number of benchmarks that duet said beforehand its budget is enough for; all that it measured without a word."""
    said = re.search(r"is enough for (?:about (\d+)|none) of", report["said"])
    return int(said[1] or 0) if said else count(report["benchmarks"], (*ANSWERED, "inconclusive", "failed"))


def of_module(study, args, module, kind):
    old, new = f"{module.path}@{module.old}", f"{module.path}@{module.new}"
    for version in (old, new):
        run(["go", "mod", "download", version], study.scratch)
    versions = [new, new, "--measure-identical"] if kind == "itself" else [old, new]
    return [*versions, *module.flags.split(), "--budget", args.budget]


def compiled(study, name, source, *flags):
    """A C program, compiled once."""
    program = study.scratch / name
    if not program.exists():
        program.with_suffix(".c").write_text(source)
        run(["gcc", *flags, "-I", REPOSITORY / "hooks" / "c", "-o", program, program.with_suffix(".c")], study.scratch)
    return str(program)


def copies(study):
    program = compiled(study, "work", WORK % ROUNDS, "-O2")
    return [program, shutil.copy(program, study.scratch / "copy")]


def planted(study):
    return [compiled(study, "work", WORK % ROUNDS, "-O2"), compiled(study, "more", WORK % int(1.03 * ROUNDS), "-O2")]


def loops(study):
    few = ROUNDS // 20
    return [compiled(study, "loop", LOOP % few, "-O2"), compiled(study, "longer", LOOP % int(1.03 * few), "-O2"), "--lockstep"]


def text(study):
    """A file of some megabytes with words of few letters."""
    file = study.scratch / "text"
    if not file.exists():
        chance = random.Random(1)
        file.write_text("".join(f"{chance.choice('abc')}{chance.randrange(10_000)} {line % 97}\n" for line in range(300_000)))
    return file


def each(*programs):
    """These programs on one file."""
    return lambda study: [f"{program} {text(study)}" for program in programs]


def compressors(study):
    return [*each("gzip -c -{l}", "zstd -q -c -{l}")(study), "-L", "l", "1,6"]


def commands(make):
    return lambda study, args: ["--command", *make(study), "--budget", args.budget]


def jars(more):
    """The example's jar and one with so many percent more work."""

    def make(study, args):
        places = {size: study.scratch / f"text-{size}" / "target" / "benchmarks.jar" for size in ("0", more)}
        found = {size: place if place.exists() else built(study, size) for size, place in places.items()}
        return [found["0"], found[more], "--bench", "hash|sort", "--measure-identical", "--budget", args.jmh_budget]

    return make


# A pair: what it is, how its second compares with its first by all that is known, the programs it needs, and what makes it.
Pair = collections.namedtuple("Pair", "words truth needs make")
PROGRAMS = {
    "true": Pair("`true` twice", "same", ["true"], commands(lambda study: ["true", "true"])),
    "copies": Pair("a program of 30 ms and its copy", "same", ["gcc"], commands(copies)),
    "planted": Pair("the same program and 3 % more work", "slower", ["gcc"], commands(planted)),
    "loop": Pair("marked iterations of a few ms and 3 % more work", "slower", ["gcc"], commands(loops)),
    "seq": Pair("`seq 1000000` twice", "same", ["seq"], commands(lambda study: ["seq 1000000"] * 2)),
    "sort": Pair("`sort` and `sort -n`", "", ["sort"], commands(each("sort", "sort -n"))),
    "gzip-zstd": Pair("`gzip` and `zstd`, levels 1 and 6", "faster", ["gzip", "zstd"], commands(compressors)),
    "gzip-pigz": Pair("`gzip` and `pigz`", "faster", ["gzip", "pigz"], commands(each("gzip -c", "pigz -c"))),
    "grep-rg": Pair("`grep -c` and `rg -c`", "", ["grep", "rg"], commands(each("grep -c a77", "rg -c a77"))),
    "jmh-same": Pair("a jar of JMH and itself", "same", ["java", "mvn"], jars("0")),
    "jmh-slower": Pair("a jar of JMH and 10 % more work", "slower", ["java", "mvn"], jars("10")),
}
FALSE = {"same": CALLED, "slower": FASTER, "faster": SLOWER, "": ()}


def body(study, args):
    made = {what: result for what in order(args) if (result := study.get(" ".join(what)))}
    if not made:
        return "Nothing was measured yet."
    return "\n\n".join([*summary(made), *(paragraph(__doc__, number) for number in (1, 2)), asked(args), "## Modules", of_modules(args, made),
                        "## Programs", of_programs(args, made), "## Not at the first try", refusals(made), "## False alarms", alarms(made)])


def of(made, condition):
    """What gave answers in this condition."""
    return {what: result for what, result in made.items() if what[2] == condition and "refused" not in result}


def missing(result):
    """The answers that are missing from what was said to be possible."""
    return max(0, result["enough_for"] - count(result["benchmarks"], (*ANSWERED, "failed")))


def truth(what):
    """The relation that is known of what was compared."""
    name, kind, _ = what
    return {"itself": "same", "release": ""}.get(kind) if name in MODULES else PROGRAMS[name].truth


def false_ones(what, result):
    return [b for b in result["benchmarks"] if b["verdict"] in FALSE[truth(what)]]


def summary(made):
    """The answer, and the figures that it rests on."""
    modules = collections.defaultdict(list)
    for what, result in made.items():
        if what[0] in MODULES:
            modules[what[0]].append("refused" not in result)
    rows = [row_of_summary(condition, of(made, condition)) for condition in CONDITIONS if of(made, condition)]
    promised, absent, false, equal = (sum(row[column] for row in rows) for column in (3, 4, 6, 7))
    share = absent / promised if promised else None
    sentence = (f"**{sum(map(all, modules.values()))} of {len(modules)} modules gave answers at every first try, and "
                f"{len(modules) - sum(map(any, modules.values()))} were refused with a reason at each. Of {promised} answers that "
                f"duet said the budget is enough for, {absent} ({percent(share, 0)}) are missing. {false} of {equal} benchmarks of equal code "
                f"were called changed (at most {percent(upper_bound(false, equal), 1)} with 99 % confidence), of those with an interval: without one nothing can be.**")
    head = ["", "comparisons with answers", "benchmarks measured", "budget said to be enough for", "answers missing of these", "share",
            "false alarms", "of so many equal with an interval", "most s of one", "median s", "of that before measuring", "warnings where open"]
    return [sentence, table(head, rows), f"At most one in ten missing: {met(None if share is None else share <= MISSING_AT_MOST)}"]


def row_of_summary(condition, made):
    promised, absent = sum(r["enough_for"] for r in made.values()), sum(missing(r) for r in made.values())
    equal = {what: result for what, result in made.items() if truth(what) == "same"}
    takes = [result["wall_s"] for result in made.values()]
    why = sum((collections.Counter(result["why_open"]) for result in made.values()), collections.Counter())
    return [CONDITIONS[condition], len(made), sum(measured(r) for r in made.values()), promised, absent,
            percent(absent / promised if promised else None, 0), sum(len(false_ones(*one)) for one in equal.items()),
            sum(with_interval(r["benchmarks"]) for r in equal.values()), f"{max(takes):.0f}", f"{statistics.median(takes):.0f}",
            decimals(median_of(r["prepared_s"] for r in made.values()), 0), ", ".join(f"{kind} {n}" for kind, n in why.most_common())]


def measured(result):
    return count(result["benchmarks"], (*ANSWERED, "inconclusive", "failed"))


def asked(args):
    rows = [[name, f"`{m.path}`", f"{m.old} → {m.new}", f"`{m.flags}`" if m.flags else "", m.trait]
            for name, m in MODULES.items() if name in args.modules]
    absent = "; ".join(f"{name} needs {', '.join(f'`{program}`' for program in needed)}" for name, needed in args.absent.items())
    return "\n\n".join([f"Budget: {args.budget}, of jars {args.jmh_budget}. *{CONDITIONS['burst2'].capitalize()}*: {NOISES['burst2']}.",
                        table(["module", "path", "releases", "chosen", "trait"], rows), f"Not on this machine: {absent}." if absent else ""]).strip()


def of_modules(args, made):
    head = ["module", "compared with", "first try", "not measured"]
    head += [f"{words}: {column}" for words in CONDITIONS.values() for column in ("enough for", "answered", "missing", "open", "called changed", "s")]
    rows = [[name, kind, first_try(results), next((count(r["benchmarks"], UNMEASURED) for r in results if "refused" not in r), ""),
             *(cell for result in results_of(made, name, kind) for cell in cells(result))]
            for name in args.modules for kind in ("release", "itself") if (results := [r for r in results_of(made, name, kind) if r])]
    return table(head, rows)


def results_of(made, name, kind):
    """What was made of a comparison in each condition; none where it was not."""
    return [made.get((name, kind, condition)) for condition in CONDITIONS]


def first_try(results):
    """Whether all of a comparison's tries gave answers."""
    refused = sum("refused" in result for result in results)
    return "yes" if not refused else "**no**" if refused == len(results) else f"{len(results) - refused} of {len(results)}"


def cells(result):
    if result is None:
        return [""] * 6
    if "refused" in result:
        return [*[""] * 5, f"{result['wall_s']:.0f}"]
    benchmarks = result["benchmarks"]
    counts = [count(benchmarks, ANSWERED), missing(result), count(benchmarks, ("inconclusive",)), count(benchmarks, CALLED)]
    return [result["enough_for"], *counts, f"{result['wall_s']:.0f}"]


def of_programs(args, made):
    head = ["second beside first", "known to be"] + [f"{words}: {column}" for words in CONDITIONS.values() for column in ("answer", "s")]
    rows = [[PROGRAMS[name].words, PROGRAMS[name].truth, *(cell for result in results for cell in program_cells(result))]
            for name in args.programs if any(results := results_of(made, name, "pair"))]
    return table(head, rows)


def program_cells(result):
    if result is None:
        return ["", ""]
    if "refused" in result:
        return ["**refused**", f"{result['wall_s']:.0f}"]
    why = f" ({', '.join(result['why_open'])})" if result["why_open"] else ""
    answers = collections.Counter(f"{spoken(b['verdict'])} {ranged(b)}".strip() for b in result["benchmarks"])
    return ["; ".join(words if n == 1 else f"{n} {words}" for words, n in answers.items()) + why, f"{result['wall_s']:.0f}"]


def ranged(benchmark):
    """The interval of a benchmark's change, and the clock where it is not the usual one."""
    if benchmark["low"] is None or benchmark["high"] is None:
        return ""
    by = " by CPU time" if benchmark["clock"] == "cpu" else ""
    return f"[{100 * (benchmark['low'] - 1):+.2g} %, {100 * (benchmark['high'] - 1):+.2g} %]{by}"


def refusals(made):
    said = {(what[0], result["refused"]): None for what, result in made.items() if "refused" in result}
    return table(["subject", "duet said"], [*said]) if said else "Every comparison gave answers."


def alarms(made):
    rows = [[*what[:2], CONDITIONS[what[2]], result["seed"], b["name"], spoken(b["verdict"]), ranged(b)]
            for what, result in made.items() if "refused" not in result for b in false_ones(what, result)]
    head = ["subject", "compared with", "", "seed", "benchmark", "verdict", "interval"]
    return table(head, rows) if rows else "None: nothing equal was called changed, and nothing planted was called the opposite."


if __name__ == "__main__":
    main()
