#!/usr/bin/env python3
"""How much of what benchmarks vary is layout: where the linker and the kernel put the code.

Each module is compared with a copy that has one more function, which no benchmark runs; each published crate, if any are asked for, with
itself. Both sides are linked again and again with their functions in another order. What build pairs differ by beyond what fork pairs of
one differ by is layout; a single build of each version would report it as a change of the code. Where layouts are matched, programs exchange
their places in memory from one fork pair to the next, and means of two are looked at.
"""

import math

import unrelated
from planting import MODULES, packages_of, version
from study import Failed, Study, decimals, listed, median_of, module_copy, paragraph, parser, percent, table


def main():
    options = parser(__doc__.splitlines()[0], "layout.md")
    options.add_argument("--builds", type=int, default=16, help="build pairs of each module")
    options.add_argument("--layouts", choices=["matched", "random"], default="random", help="how the halves of a build pair are laid out")
    options.add_argument("--bench", default=".", help="only benchmarks whose name matches")
    options.add_argument("--crates", type=listed, help="published crates with benches instead of the modules, as `itoa@1.0.19`, separated by commas")
    args = options.parse_args()
    args.names = args.crates or list(MODULES)
    study = Study(args, "What layout explains", lambda study: body(study, args))
    for name in args.names:
        study.do(name, lambda: layouts(study, args, name))
    study.finish()


def layouts(study, args, name):
    flags = ["--builds", str(args.builds), "--forks", str(forks_each(args) * args.builds), "--fixed", "--measure-identical", "--layouts", args.layouts]
    if args.crates:
        report = study.compare(name, name, "--bench", args.bench, *flags)
    else:
        base, head = (module_copy(version(name, "head"), study.scratch / f"{name}-{side}") for side in ("base", "head"))
        unrelated.apply("function", head, MODULES[name]["packages"])
        report = study.compare(base, head, "--bench", args.bench, *packages_of(name), *study.known(*flags))
    measured = [b for b in report["benchmarks"] if b["layout"]]
    if not measured:
        raise Failed("no benchmark has a layout")
    found = [{"name": b["name"], "between": b["layout"]["sd_between"], "within": b["layout"]["sd_within"],
              "share": b["layout"]["share"]} for b in measured]
    return {"wall_s": report["wall_s"], "benchmarks": found}


def forks_each(args):
    """Two numbers of every build pair: of fork pairs, or of two of these that exchange their places."""
    return 4 if args.layouts == "matched" else 2


def body(study, args):
    results = {name: study.get(name) for name in args.names}
    made = {name: result for name, result in results.items() if result}
    every = [b for result in made.values() for b in result["benchmarks"]]
    rows = [row(name, result["benchmarks"], result["wall_s"]) for name, result in made.items()]
    if every:
        rows.append(row("all", every, None))
    head = ["crate" if args.crates else "module", "benchmarks", "sd between build pairs, median", "root mean square", "largest",
            "sd within, median", "share of layout, median", "within to between, variances", "seconds"]
    return "\n\n".join([paragraph(__doc__, 1), f"Build pairs: {args.builds}, {forks_each(args)} fork pairs each. Layouts of the two halves: {args.layouts}.", table(head, rows)])


def row(name, benchmarks, wall_s):
    between = [b["between"] for b in benchmarks]
    rms = math.sqrt(sum(sd * sd for sd in between) / len(between))
    ratio = sum(b["within"] ** 2 for b in benchmarks) / max(sum(sd * sd for sd in between), 1e-12)
    return [name, len(benchmarks), percent(median_of(between)), percent(rms), percent(max(between)),
            percent(median_of(b["within"] for b in benchmarks)), percent(median_of(b["share"] for b in benchmarks), 0),
            decimals(ratio, 2), decimals(wall_s, 0)]


if __name__ == "__main__":
    main()
