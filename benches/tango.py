#!/usr/bin/env python3
"""tango's own example, the product of 500 factors, by tango and by duet: a percent more or less, nothing, and a function that nothing calls.

tango claims to find a change of 1 % within a second in nine of ten tries. Each try builds both versions anew: in one that shall be equal, the
candidate has one more function of another size, which moves the rest; what is called changed there is a false alarm. tango calls changed what
it marks with a star. A percent of the work need not be a percent of the time. The copies have a benchmark of tango and one of criterion, which
duet measures; both call the same function.
"""

import random
import re
import shutil
import subprocess
import time
import zlib

from rust_planting import built
from study import CALLED, MEASURED, REPOSITORY, Failed, Study, decimals, digest, mean, median_of, one_line, parser, percent, settings, settings_rows, table, upper_bound

FACTORS = 500
KINDS = {"same": "the same", "function": "one more function, which nothing calls", "495": "1 % less work, as in tango's description", "505": "1 % more work"}
CHANGED = ("495", "505")


def main():
    options = parser(__doc__.splitlines()[0], "tango.md")
    options.add_argument("--repetitions", type=int, default=10, help="tries of everything")
    options.add_argument("--seconds", type=float, default=1, help="tango's time for a try")
    options.add_argument("--settings", type=settings, default="one build, 2 s=--builds 1 --budget 2s;default=", help="`NAME=FLAGS` of duet")
    args = options.parse_args()
    study = Study(args, "tango's own example", lambda study: body(study, args))
    for repetition in range(1, args.repetitions + 1):
        found = [(kind, way) for kind in KINDS for way in ["tango", *args.settings]]
        for kind, way in random.Random(repetition).sample(found, len(found)):
            key = f"{kind} {way} {repetition}"
            study.do(key, lambda: tried(study, args, kind, way, zlib.crc32(f"{kind} {repetition}".encode())))
    study.finish()


def tried(study, args, kind, way, seed):
    """One try: how much the candidate differs, and whether it is called changed."""
    began = time.monotonic()
    base, head = copy(study, "base", "same", seed), copy(study, "head", kind, seed)
    if way == "tango":
        found = by_tango(study, args, base, base if kind == "same" else head)
    else:
        options = ["--bench", "^factorial$", "--measure-identical", *args.settings[way], "--seed", str(seed)]
        benchmark = digest(study.compare(base, head, *options))["benchmarks"][0]
        found = {"ratio": benchmark["ratio"], "called": benchmark["verdict"] in CALLED, "told": benchmark["verdict"] in MEASURED}
    return found | {"kind": kind, "way": way, "wall_s": time.monotonic() - began}


def by_tango(study, args, base, head):
    programs = [program(study, directory) for directory in (base, head)]
    command = [programs[1], "compare", programs[0], "-t", str(args.seconds), "--noise-threshold", "0.5"]
    # Its exit code is a verdict.
    printed = subprocess.run(command, cwd=study.scratch, capture_output=True, text=True).stdout
    line = re.search(r"([+-][\d.]+)(?:\x1b\[\d+m)*%(?:\x1b\[\d+m)*(\*?)", printed)
    if not line:
        raise Failed(f"tango printed `{one_line(printed)}`")
    return {"ratio": 1 + float(line[1]) / 100, "called": bool(line[2]), "told": True}


def copy(study, side, kind, seed):
    """The example, with as many factors as the kind says, or one more function of a random size."""
    target = study.scratch / side
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(REPOSITORY / "benches" / "tango", target, ignore=shutil.ignore_patterns("target"), copy_function=shutil.copyfile)
    library = target / "src" / "lib.rs"
    if kind in CHANGED:
        library.write_text(library.read_text().replace(f"= {FACTORS};", f"= {kind};"))
    elif kind == "function":
        lines = "".join(f"    n ^= n.rotate_left({i % 63 + 1}) + {i};\n" for i in range(random.Random(seed).randint(1, 400)))
        added = f"#[inline(never)]\nfn added(mut n: u64) -> u64 {{\n{lines}    n\n}}\n"
        library.write_text(f"{library.read_text()}\n#[used]\nstatic KEPT: fn(u64) -> u64 = added;\n\n{added}")
    return target


def program(study, directory):
    """tango's bench program of a copy."""
    shutil.copy(built(directory, study.scratch, "paired"), study.scratch / f"{directory.name}.program")
    return study.scratch / f"{directory.name}.program"


def body(study, args):
    parts = [one_line(part) for part in __doc__.split("\n\n")[1:]]
    rows = [["tango", f"`compare BASE -t {args.seconds:g} --noise-threshold 0.5`, tango-bench 0.9"],
            *settings_rows(args)]
    parts += [f"Repetitions asked for: {args.repetitions}. Seconds are those of the whole try, both builds included.", table(["way", "is"], rows), figures(study, args)]
    return "\n\n".join(parts)


def figures(study, args):
    rows = []
    for kind, words in KINDS.items():
        for way in ["tango", *args.settings]:
            tries = [r for r in map(study.get, list(study.results)) if r and (r["kind"], r["way"]) == (kind, way)]
            told = [r for r in tries if r["told"]]
            if told:
                called = sum(r["called"] for r in told)
                right = sum(r["called"] and (r["ratio"] > 1) == (int(kind) > FACTORS) for r in told) if kind in CHANGED else ""
                rows.append([words, way, len(tries), len(told), called, right, "" if kind in CHANGED else percent(upper_bound(called, len(told)), 0),
                             percent(mean(r["ratio"] - 1 for r in told)), decimals(median_of(r["wall_s"] for r in tries))])
    return table(["change", "way", "tries", "with a verdict", "called changed", "rightly", "at most (99 %)", "mean estimate", "s"], rows)


if __name__ == "__main__":
    main()
