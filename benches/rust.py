#!/usr/bin/env python3
"""Published crates with benchmarks of criterion or divan: releases against each other and against themselves.

Every pair of releases is compared as duet does of its own accord, with matched layouts, and the older release is compared with itself, measured
all the same. The crates come from crates.io as they are; a crate is one whose package holds its benches. serde-saphyr's are of CodSpeed's layer
over divan. A change of equal code would be a false alarm. Changes of one release against the next may be real; beside them stands what random
layouts say, which share nothing with the matched ones but the source.
"""

from study import CALLED, Study, decimals, digest, one_line, parser, per_benchmark, percent, said, table, upper_bound

# Older release, newer one, and a pattern of benchmarks where all of them would take hours.
RELEASES = ("itoa@1.0.18 itoa@1.0.19 .;ryu@1.0.22 ryu@1.0.23 .;zmij@1.0.18 zmij@1.0.23 .;crc32fast@1.5.3 crc32fast@1.5.4 ^(baseline|combine|hash)/;"
            "hashbrown@0.17.0 hashbrown@0.17.1 ^set_ops;realfft@3.5.0 realfft@3.5.1 Powers.of.2/Real/(256|1024|4096)$;"
            "serde-saphyr@2.1.1 serde-saphyr@2.2.0 (config|merge_keys|multi_document)")
WAYS = {"itself": [], "release": [], "random": ["--layouts", "random"]}


def main():
    options = parser(__doc__.splitlines()[0], "rust.md")
    options.add_argument("--releases", type=pairs, default=RELEASES, help="`OLD NEW PATTERN` of benchmarks, separated by semicolons")
    options.add_argument("--budget", default="90s", help="measuring time of each comparison")
    args = options.parse_args()
    study = Study(args, "Crates against their next release", lambda study: body(study, args))
    for way in WAYS:
        for old, new, pattern in args.releases:
            study.do(f"{way} {old} {new}", lambda: compared(study, args, way, (old, new, pattern)))
    study.finish()


def pairs(text):
    return [tuple(part.split()) for part in text.split(";")]


def compared(study, args, way, releases):
    old, new, pattern = releases
    options = ["--budget", args.budget, "--measure-identical", "--bench", pattern, *WAYS[way]]
    return digest(study.compare(old, old if way == "itself" else new, *options))


def body(study, args):
    parts = [one_line(part) for part in __doc__.split("\n\n")]
    parts += [f"Each comparison has {args.budget} of measuring.", "## Crates", crates(study, args), "## Changes from release to release", changes(study, args)]
    return "\n\n".join(parts)


def crates(study, args):
    rows, alarms, cases = [], 0, 0
    for old, new, _ in args.releases:
        found = {way: study.get(f"{way} {old} {new}") for way in WAYS}
        if not any(found.values()):
            continue
        for way in (way for way in WAYS if found[way]):
            judged = [b for b in found[way]["benchmarks"] if b["ratio"] is not None]
            called = sum(b["verdict"] in CALLED for b in judged)
            if way == "itself":
                alarms, cases = alarms + called, cases + len(judged)
            sure = sum(b["verdict"] == "no_change" for b in judged)
            rows.append([old, "itself" if way == "itself" else f"{new.split('@')[1]}{', random layouts' if way == 'random' else ''}", len(judged), called, sure,
                         len(judged) - called - sure, decimals(per_benchmark(found[way])), decimals(found[way]["prepared_s"] or 0)])
    head = ["crate", "against", "judged", "changed", "no change", "other", "s a benchmark, building included", "s until measuring"]
    return table(head, rows) + (f"\n\nBenchmarks of one release compared with itself: {alarms} of {cases} called changed, at most "
                                f"{percent(upper_bound(alarms, cases), 1)} with 99 % confidence.")


def changes(study, args):
    rows = []
    for old, new, _ in args.releases:
        matched, random = (study.get(f"{way} {old} {new}") for way in ("release", "random"))
        others = {b["name"]: b for b in (random or {"benchmarks": []})["benchmarks"]}
        for b in (matched or {"benchmarks": []})["benchmarks"]:
            if b["verdict"] in CALLED:
                other = others.get(b["name"])
                rows.append([new, b["name"], said(b), said(other) if other and other["ratio"] is not None else ""])
    return table(["release", "benchmark", "matched layouts", "random layouts"], rows) if rows else "None."


if __name__ == "__main__":
    main()
