#!/usr/bin/env python3
"""How long until a planted slowdown is called: duet beside the usual procedure.

Both get the same copies of published modules with the slowdown planted in every benchmark, and, for their false alarms, copies
that no benchmark can tell apart. Before each comparison a line changes in a source file of both sides, so that both are compiled
and linked as after an ordinary change, with everything that they depend on in Go's cache.

A procedure's time to a verdict is the median wall time for each benchmark, building included, of its shortest length that calls
the slowdown often enough. Lengths of duet are budgets, `own` the one that it chooses itself; lengths of the usual procedure are
counts: it runs once with the largest one, all of base and then all of head unless it is asked to take turns, and benchstat judges
the first results of each benchmark as if the rest had not been made.
"""

import random
import re
import statistics
from collections import namedtuple

import unrelated
from noise import KINDS as NOISES
from noise import disturbed
from planting import MODULES, Planting, only, packages_of
from study import (CALLED, MEASURED, SETTINGS, SLOWER, Study, count, decimals, digest, listed, mean, median_of, paragraph, parser,
                   per_benchmark, percent, settings, table, upper_bound)
from usual import PROCEDURES, Sides, judged, made, truncated

PLANTED = "planted"
ALARMS_MAX = 0.01
USUAL = "usual"
FRESH = "duet_fresh.go"
# Results of a procedure at one length: the two verdict counts are (called, of).
Point = namedtuple("Point", "procedure length found alarms wall_s")


def main():
    args = arguments()
    study = Study(args, "Time to a verdict", lambda study: body(study, args))
    modules = [Module(study, args, name) for name in args.modules]
    for repetition in range(1, args.repetitions + 1):
        steps = [(module, *step) for module in modules if module.planted for step in steps_of(args)]
        random.Random(repetition).shuffle(steps)
        for module, kind, procedure, length in steps:
            module.compare(kind, procedure, length, repetition)
    study.finish()


def arguments():
    options = parser(__doc__.splitlines()[0], "time-to-verdict.md")
    options.add_argument("--repetitions", type=int, default=5, help="of every comparison")
    options.add_argument("--modules", type=listed, default=list(MODULES), help="which ones, separated by commas")
    options.add_argument("--bench", default=".", help="only planted benchmarks whose name matches")
    options.add_argument("--size", type=float, default=3, help="planted slowdown in percent")
    options.add_argument("--settings", type=settings, default=SETTINGS, help="`NAME=FLAGS` of duet, separated by semicolons; the "
                         "first one has one build, so that the others' linking can be told from it")
    options.add_argument("--budgets", type=listed, default=["own"], help="measuring times of duet; `own` leaves it to duet")
    options.add_argument("--reference-budget", default="60s", help="measuring time of each of a module's two calibration runs")
    options.add_argument("--noise", choices=NOISES, default="quiet", help="noise under which everything is measured")
    options.add_argument("--alarm-kinds", type=listed, default=["same", "function"], help="kinds of comparison for false alarms")
    options.add_argument("--power", type=float, default=0.8, help="share of the benchmarks that must be called")
    options.add_argument("--usual-count", type=int, default=10, help="count of the usual procedure")
    options.add_argument("--usual-most", type=int, default=20, help="largest count that is made")
    options.add_argument("--usual-benchtime", default="1s")
    options.add_argument("--usual-order", choices=PROCEDURES, default="sequential", help="all runs of base before those of head, or by turns")
    args = options.parse_args()
    if not 4 <= args.usual_count <= args.usual_most:  # fewer than four give benchstat no verdict
        options.error("the usual count is at least 4 and at most the largest one")
    return args


def steps_of(args):
    """Kind of comparison, procedure and length of all comparisons of a module."""
    lengths = [(setting, budget) for setting in args.settings for budget in args.budgets] + [(USUAL, args.usual_most)]
    return [(kind, procedure, length) for kind in [PLANTED, *args.alarm_kinds] for procedure, length in lengths]


def key_of(module, kind, procedure, length, repetition):
    return f"{module} {kind} {procedure} {length} {repetition}"


class Module:
    """The comparisons of one module."""

    def __init__(self, study, args, name):
        self.study, self.args, self.name = study, args, name
        self.packages = MODULES[name]["packages"]
        names = [b for b in MODULES[name]["planted"] if re.search(args.bench, b)]
        self.planting = Planting(study, name, names, args.reference_budget)
        self.planted = bool(names) and self.planting.calibrate()
        if self.planted:
            plan = self.planting.plan(args.size / 100)
            study.do(f"{name} plan", lambda: {"mean": mean(part["in_place"] for part in plan.values()), "benchmarks": plan})

    def compare(self, kind, procedure, length, repetition):
        key = key_of(self.name, kind, procedure, length, repetition)

        def work():
            directories = self._directories(kind)
            for directory in directories:
                freshen(directory, self.packages, key)
            with disturbed(self.study, self.args.noise, repetition):
                return self._by_usual(directories) if procedure == USUAL else self._by_duet(directories, procedure, length)

        self.study.do(key, work)

    def _directories(self, kind):
        """Base and head of a kind of comparison."""
        base = self.planting.base()
        if kind == PLANTED:
            return base, self.planting.head(self.args.size / 100)
        if kind == "same":
            return base, base
        existed = (base.parent / kind).exists()
        head = self.planting.copy(kind, {})
        if not existed:
            unrelated.apply(kind, head, self.packages)
        return base, head

    def _by_duet(self, directories, setting, budget):
        lasting = [] if budget == "own" else ["--budget", budget]
        flags = self.study.known("--measure-identical", *self.args.settings[setting])
        names = only(list(self.planting.effects))
        return digest(self.study.compare(*directories, *packages_of(self.name), *names, *lasting, *flags))

    def _by_usual(self, directories):
        """The time of all results, and the verdicts from the first ones of each benchmark by how many they are."""
        sides = Sides(self.study, directories, self.packages)
        length = (self.args.usual_most, self.args.usual_benchtime)
        results, took = made(self.args.usual_order, sides, list(self.planting.effects), length)
        verdicts = {str(number): judged(self.study, truncated(results, number)) for number in range(4, self.args.usual_most + 1)}
        return {"build_s": sides.build_s, "measured_s": took, "by_count": verdicts}


def freshen(project, packages, words):
    """A change in each package that has sources besides tests."""
    for package in packages:
        sources = [path for path in unrelated.sources(project / package) if path.name != FRESH]
        if sources:
            name = unrelated.package_name(project / package)
            (project / package / FRESH).write_text(f'package {name}\n\nvar DuetFresh = "{words}"\n')


def body(study, args):
    points = {name: points_of(study, args, name) for name in args.modules}
    asked = (f"Planted: {args.size:g} %, in {args.noise} noise. A verdict is in time when {percent(args.power, 0)} of the benchmarks are "
             f"called a regression. Repetitions asked for: {args.repetitions}; the usual procedure is {args.usual_order} and has "
             f"`-benchtime {args.usual_benchtime}`. duet's threshold is 3 % unless its setting says otherwise: it may rightly call a slowdown that "
             "came out a little smaller *no change*.")
    planted = "Mean of what the trial plant says was planted: " + ", ".join(
        f"{name} {percent((study.get(f'{name} plan') or {}).get('mean'))}" for name in args.modules)
    return "\n\n".join([
        paragraph(__doc__, 1), paragraph(__doc__, 2), asked, planted + ".", "## Time to a verdict", verdict_table(args, points),
        "## Every length", lengths_table(points), "## Where duet's time goes", split_text(study, args)])


def results(study, args, name, kind, procedure, length):
    """Results over the repetitions, as far as there are any."""
    found = (study.get(key_of(name, kind, procedure, length, r)) for r in range(1, args.repetitions + 1))
    return [result for result in found if result]


def points_of(study, args, name):
    """The results of every procedure at every length."""
    points = []
    for setting in args.settings:
        for budget in args.budgets:
            planted = results(study, args, name, PLANTED, setting, budget)
            same = [r for kind in args.alarm_kinds for r in results(study, args, name, kind, setting, budget)]
            points += [point(setting, budget, planted, same)] if planted else []
    planted = results(study, args, name, PLANTED, USUAL, args.usual_most)
    same = [r for kind in args.alarm_kinds for r in results(study, args, name, kind, USUAL, args.usual_most)]
    for number in range(4, args.usual_most + 1) if planted else []:
        points.append(point(USUAL, number, *([shortened(args, r, number) for r in part] for part in (planted, same))))
    return points


def shortened(args, result, number):
    """A result of the usual procedure as it would be with a smaller count."""
    wall_s = result["build_s"] + result["measured_s"] * number / args.usual_most
    return {"wall_s": wall_s, "benchmarks": result["by_count"][str(number)]}


def point(procedure, length, planted, same):
    found, alarms = ([b for r in part for b in r["benchmarks"]] for part in (planted, same))
    return Point(procedure, length, (count(found, SLOWER), len(found)), (count(alarms, CALLED), count(alarms, MEASURED)),
                 median_of(map(per_benchmark, planted)))


def share(called):
    hits, cases = called
    return hits / cases if cases else 0.0


def shortest(points, procedure, power):
    """The shortest length of a procedure that calls enough; none if none does."""
    enough = [p for p in points if p.procedure == procedure and share(p.found) >= power]
    return min(enough, key=lambda p: p.wall_s, default=None)


def verdict_table(args, points):
    """For each module and all together: the time of each procedure, and how often the usual one's time duet's is."""
    rows = []
    chosen = {setting: [shortest(points[name], setting, args.power) for name in args.modules] for setting in args.settings}
    fixed = [next((p for p in points[name] if (p.procedure, p.length) == (USUAL, args.usual_count)), None) for name in args.modules]
    least = [shortest(points[name], USUAL, args.power) for name in args.modules]
    for setting, found in chosen.items():
        for name, *three in zip(args.modules, found, fixed, least):
            rows.append([name, setting, *(cell(p) for p in three), *ratios(*([p] for p in three))])
        rows.append(["**all**", setting, *(mean_s(part) for part in (found, fixed, least)), *ratios(found, fixed, least)])
    count_text = f"usual, -count {args.usual_count}"
    head = ["module", "setting", "duet, s", f"{count_text}, s", "usual, its shortest, s", f"{count_text} / duet", "its shortest / duet"]
    return table(head, rows) + (
        "\n\nSeconds are wall time for each benchmark, medians over the repetitions; after them the length, the share called a regression "
        f"and the false alarms. False alarms above {percent(ALARMS_MAX, 0)} are marked with **!**. A procedure that never called "
        "enough has *not reached*. The usual procedure with its fixed count is there however much it calls. *All* is the mean of the "
        "modules.")


def cell(p):
    if p is None:
        return "not reached"
    mark = " **!**" if share(p.alarms) > ALARMS_MAX else ""
    return f"{p.wall_s:.2f} ({p.length}; {percent(share(p.found), 0)}; {alarms_of(p)}{mark})"


def alarms_of(p):
    return f"{p.alarms[0]} of {p.alarms[1]} false"


def mean_s(points):
    """Mean of the modules' times; none unless every module has one."""
    return decimals(statistics.mean(p.wall_s for p in points), 2) if all(points) else "not reached"


def ratios(duet, *others):
    """The time of each of the others as a multiple of duet's, sums over the modules."""
    parts = []
    for other in others:
        whole = all(duet) and all(other)
        parts.append(decimals(sum(p.wall_s for p in other) / sum(p.wall_s for p in duet), 2) if whole else "")
    return parts


def lengths_table(points):
    rows = [[name, p.procedure, p.length, percent(share(p.found), 0), p.found[1], alarms_of(p), percent(upper_bound(*p.alarms)),
             decimals(p.wall_s, 2)] for name, found in points.items() for p in found]
    head = ["module", "procedure", "length", "called regression", "benchmarks", "false alarms", "at most (99 %)", "wall s per benchmark"]
    return table(head, rows)


def split_text(study, args):
    first = next(iter(args.settings))
    rows = [row for name in args.modules for budget in args.budgets for row in split_rows(study, args, name, budget)]
    head = ["module", "setting", "budget", "wall s", "build", "linking of layouts", "measuring", "rest", "benchmarks"]
    return (
        f"Whole commands, medians over the repetitions and kinds. *Build* is the time until measuring begins in setting *{first}*; "
        "*linking* is what the same takes longer in another setting; *measuring* is what duet reports. *Rest* is what is left: "
        "judging, reporting, and whatever is linked while nothing is measured.\n\n" + table(head, rows))


def split_rows(study, args, name, budget):
    rows, build = [], None
    for setting in args.settings:
        found = [r for kind in [PLANTED, *args.alarm_kinds] for r in results(study, args, name, kind, setting, budget)]
        found = [r for r in found if r["prepared_s"] is not None]
        if not found:
            continue
        prepared = median_of(r["prepared_s"] for r in found)
        build = prepared if build is None else build
        rest = median_of(r["wall_s"] - r["prepared_s"] - r["measured_s"] for r in found)
        parts = [median_of(r["wall_s"] for r in found), min(build, prepared), max(0, prepared - build),
                 median_of(r["measured_s"] for r in found), rest]
        rows.append([name, setting, budget, *(decimals(part, 2) for part in parts), len(found[0]["benchmarks"])])
    return rows


if __name__ == "__main__":
    main()
