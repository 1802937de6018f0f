#!/usr/bin/env python3
"""Regressions planted into the history of published modules: does `duet bisect` name them, in what time, beside `git bisect`?

A repository has one commit for each release of a module, with the sources as they were published: so neighbouring commits differ by real
changes, some of which are slower or faster too. From a random commit on, one benchmark gets a slowdown of a known size, or two of them
from two commits on. `duet bisect` searches from the first commit to the last, by that benchmark, with half of the size as its threshold.

Beside it is the usual search: `git bisect`, which builds each commit that it asks for, runs the benchmark ten times, and calls the commit
bad if benchstat says that it is slower than the first commit. It names one commit, and is right if that is one of those planted.

The same search without a plant, *none*, shows what the real changes come to. A commit that it names is not counted as wrong elsewhere.
Sizes are those in the release in the middle, where the cost of what is planted was measured; beside them is what they come to without duet:
in the processor time of whole processes of its plain test binaries, which take turns.
"""

import collections
import json
import random
import re
import subprocess
import time

import planting
from planting import Planting, only
from study import (REPOSITORY, Failed, Study, decimals, environment, listed, mean, median_of, module_copy, paragraph, parser, percent, run,
                   spoken, table)
from truth import Truth, in_words, options_of
from usual import Sides, benchstat_binary, judged

Module = collections.namedtuple("Module", "path packages benchmarks")
# Benchmarks that are about as fast in the last of the newest 60 releases as in the first, and long enough for a small plant to take time
# of its own: less than 20 ns hide in what a processor does at once.
MODULES = {
    "apimachinery": Module("k8s.io/apimachinery", ["./pkg/api/resource"], ["BenchmarkQuantityString", "BenchmarkParseQuantity"]),
    "net": Module("golang.org/x/net", ["./webdav/internal/xml"], ["BenchmarkUnmarshal", "BenchmarkMarshal"]),
    "tools": Module("golang.org/x/tools", ["./container/intsets"], ["BenchmarkAppendTo", "BenchmarkUnionDifferenceSparse"]),
}
WAYS = ("duet", "git")
AUTHOR = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
          for what, value in [("NAME", "study"), ("EMAIL", "study@example.com")]}


def main():
    args = arguments()
    study = Study(args, "Regressions in the history of published modules", lambda study: body(study, args))
    histories = {name: History(study, args, name) for name in args.modules}
    ready = {name for name, history in histories.items() if history.prepare()}
    for case in cases(args):
        if case.module in ready:
            for way in args.ways:
                study.do(key_of(case, way), lambda: histories[case.module].search(case, way))
    study.finish()


def arguments():
    options = parser(__doc__.splitlines()[0], "history.md")
    options.add_argument("--modules", type=listed, default=list(MODULES), help="which ones, separated by commas")
    options.add_argument("--releases", type=int, default=60, help="the newest so many of each")
    options.add_argument("--sizes", type=listed, default=["2", "3", "5", "10"], help="slowdowns, percent")
    options.add_argument("--plants", type=listed, default=["1", "2"], help="planted at so many commits at a time")
    options.add_argument("--repetitions", type=int, default=2, help="of every search, each time with other commits")
    options.add_argument("--bench", default=".", help="only benchmarks whose name matches")
    options.add_argument("--ways", type=listed, default=list(WAYS), help="searches")
    options.add_argument("--budget", default="10m", help="of every search by duet; one that needs more is *open*")
    options.add_argument("--reference-budget", default="60s", help="measuring time for the cost of what is planted")
    options.add_argument("--usual-count", type=int, default=10)
    options.add_argument("--usual-benchtime", default="100ms")
    options_of(options, 6)
    return options.parse_args()


class PlantedTruth(Truth):
    """The true size of a plant in one module."""

    def __init__(self, study, args, module, size):
        super().__init__(study, args, [])
        self.plant = f"{module} {size} %"

    def label(self, name):
        return f"truth {self.plant} {name}"


Case = collections.namedtuple("Case", "module benchmark percents plants repetition")


def cases(args):
    """All searches in random order, so that what a time limit leaves out is left out evenly; those without a plant come first."""
    benchmarks = [(module, name) for module in args.modules for name in names_of(args, module)]
    none = [Case(module, name, 0, 0, 1) for module, name in benchmarks]
    found = [Case(module, name, float(size), int(plants), repetition) for module, name in benchmarks for size in args.sizes
             for plants in args.plants for repetition in range(1, args.repetitions + 1)]
    return none + random.Random(1).sample(found, len(found))


def names_of(args, module):
    return [name for name in MODULES[module].benchmarks if re.search(args.bench, name)]


def key_of(case, way):
    plant = f"{case.plants} × {case.percents:g} %" if case.plants else "none"
    return f"{case.module} {case.benchmark} {plant} {case.repetition}: {way}"


class History:
    """The releases of one module as commits, and copies of that history with plants."""

    def __init__(self, study, args, name):
        self.study, self.args, self.name, self.module = study, args, name, MODULES[name]
        self.repository, self.trees, self.effects = study.scratch / "history" / name, [], {}

    def prepare(self):
        """Measures what is planted; tells whether that came to anything."""
        versions = self.study.do(f"{self.name} versions", self.versions)
        if not versions:
            return False
        middle = versions["versions"][len(versions["versions"]) // 2]
        # The table of `planting.py`, by which its copies are made.
        planting.MODULES[self.name] = {"path": self.module.path, "head": middle, "packages": self.module.packages}
        plants = Planting(self.study, self.name, names_of(self.args, self.name), self.args.reference_budget)
        worked, self.effects = plants.calibrate(), plants.effects
        for size in self.args.sizes if worked else []:
            truth = PlantedTruth(self.study, self.args, self.name, size)
            truth.take([copy / self.module.packages[0] for copy in (plants.base(), plants.head(float(size) / 100))])
            for name in plants.effects:
                for repetition in range(1, self.args.truth_repetitions + 1):
                    truth.measure(name, repetition)
        return worked

    def versions(self):
        answer = run(["go", "list", "-m", "-versions", self.module.path], self.study.scratch)
        found = [version for version in answer.split()[1:] if "-" not in version][-self.args.releases:]
        if len(found) < 4:
            raise Failed(f"it has {len(found)} releases")
        return {"versions": found}

    def git(self, *arguments, **more):
        environ = environment() | AUTHOR | more
        ended = subprocess.run(["git", *map(str, arguments)], cwd=self.repository, env=environ, capture_output=True, text=True)
        if ended.returncode != 0:
            raise Failed(f"`git {arguments[0]}` failed: {ended.stderr[-300:]}")
        return ended.stdout.strip()

    def build(self):
        """One tree for each release, with tables of plants in which there is nothing yet."""
        if self.trees:
            return
        self.repository.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q")
        plant = self.study.scratch / "plant"
        run(["go", "build", "-o", plant, "."], REPOSITORY / "benches" / "plant")
        rounds = self.study.scratch / f"{self.name}-none.json"
        rounds.write_text(json.dumps(dict.fromkeys(names_of(self.args, self.name), 0)))
        sources, trees = self.study.scratch / "release", []
        for version in self.study.get(f"{self.name} versions")["versions"]:
            module_copy(f"{self.module.path}@{version}", sources)
            for package in self.module.packages:
                run([plant, "-dir", sources / package, "-rounds", rounds], sources)
            # Whatever the module itself ignores belongs to what was published.
            self.git("--work-tree", sources, "add", "--all", "--force", ".")
            trees.append(self.git("write-tree"))
        self.trees = trees

    def planted(self, case):
        """The commits of a case, and the numbers of those that are planted."""
        self.build()
        chance = random.Random(f"{case}")
        where = sorted(chance.sample(range(1, len(self.trees)), case.plants))
        versions = self.study.get(f"{self.name} versions")["versions"]
        commits = []
        for number, (tree, version) in enumerate(zip(self.trees, versions)):
            times = sum(number >= at for at in where)
            if times:
                tree = self.with_rounds(tree, case.benchmark, max(1, round(times * case.percents / 100 / self.effects[case.benchmark])))
            date = f"{1_600_000_000 + 3600 * number} +0000"
            parents = ["-p", commits[-1]] if commits else []
            commits.append(self.git("commit-tree", tree, *parents, "-m", version, GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date))
        self.git("checkout", "-q", "--force", "--detach", commits[-1])
        return commits, where

    def with_rounds(self, tree, benchmark, rounds):
        """The tree with so many rounds in all tables that have the benchmark."""
        index = {"GIT_INDEX_FILE": str(self.study.scratch / "index")}
        self.git("read-tree", tree, **index)
        for package in self.module.packages:
            for path in self.git("ls-files", f"{package}/planted_*_test.go", **index).splitlines():
                text = self.git("show", f"{tree}:{path}")
                changed = self.study.scratch / "planted.go"
                changed.write_text(text.replace(f'{{"{benchmark}", 0}}', f'{{"{benchmark}", {rounds}}}') + "\n")
                blob = self.git("hash-object", "-w", changed)
                self.git("update-index", "--cacheinfo", f"100644,{blob},{path}", **index)
        return self.git("write-tree", **index)

    def search(self, case, way):
        commits, where = self.planted(case)
        began = time.monotonic()
        found = by_duet(self, case, commits) if way == "duet" else by_git(self, case, commits)
        return found | {"wall_s": time.monotonic() - began, "planted": where, "commits": len(commits), "way": way, **case._asdict()}


def by_duet(history, case, commits):
    """The numbers of the commits that duet names, each with those that it cannot tell from it."""
    study, number = history.study, {commit: n for n, commit in enumerate(commits)}
    packages = [word for package in history.module.packages for word in ("--packages", package)]
    looked_for = case.percents or min(float(size) for size in history.args.sizes)
    command = [study.duet, "bisect", commits[0], commits[-1], *packages, *only([case.benchmark]), "--threshold", f"{looked_for / 2:g}%",
               "--budget", history.args.budget, "--format", "json", "--db", study.scratch / "bisect.db"]
    ended = subprocess.run(command, cwd=history.repository, env=environment(), capture_output=True, text=True)
    try:
        report = json.loads(ended.stdout)
    except ValueError:
        raise Failed(f"`duet bisect` ended with {ended.returncode}: {ended.stderr[-400:]}")
    compared = report["compared"]
    return {"answer": report["answer"], "exit": ended.returncode,
            "named": [[number[step["commit"]], *(number[hidden] for hidden in step["hidden"])] for step in report["steps"]],
            "ratios": [step["ratio"] for step in report["steps"]],
            "left": [number[commit] for commit in report["candidates"]], "skipped": len(report["skipped"]),
            "builds": len({commit for c in compared for commit in (c["base"], c["head"])}),
            "pairs": sum(c["pairs"] for c in compared), "measured_s": sum(c["measured_s"] for c in compared)}


def by_git(history, case, commits):
    """The commit that git names, by benchstat's word on each that it asks for."""
    length, builds = (history.args.usual_count, history.args.usual_benchtime), 0
    benchstat_binary(history.study)

    def lines():
        nonlocal builds
        builds += 1
        return Sides(history.study, [history.repository], history.module.packages).once(0, case.benchmark, *length)

    history.git("checkout", "-q", "--force", commits[0])
    good = lines()
    history.git("bisect", "start", commits[-1], commits[0])
    try:
        while True:
            word = verdict_of(history, good, lines)
            said = history.git("bisect", word)
            if (first := re.search(r"(\w{40}) is the first bad commit", said)) or "only 'skip'ped commits left" in said:
                named = [[commits.index(first[1])]] if first else []
                return {"answer": "steps" if first else "cannot_tell", "named": named, "builds": builds}
    finally:
        history.git("bisect", "reset", commits[-1])


def verdict_of(history, good, lines):
    """git's word for the commit that is checked out."""
    try:
        verdict = judged(history.study, [good, lines()])[0]["verdict"]
    except Failed:
        return "skip"
    return "bad" if verdict == "regression" else "good"


def body(study, args):
    results = [value for key, value in study.results.items() if value.get("way") and "failure" not in value]
    if not results:
        return "Nothing was searched yet."
    real = collections.defaultdict(set)
    for result in results:
        if not result["plants"]:
            real[result["module"], result["benchmark"]] |= {n for named in result["named"] for n in named}
    judgements = [(result, judgement(result, real[result["module"], result["benchmark"]])) for result in results]
    parts = [*(paragraph(__doc__, number) for number in range(1, 4)), asked(study, args), "## Planted", by_size(judgements), "## By module",
             by_module(judgements), "## Without a plant", without(study, results), "## Every search", every(study, judgements)]
    return "\n\n".join(parts)


def judgement(result, real):
    """A search is right if it names all that was planted and nothing else but real changes; of git's one is enough."""
    planted, named = set(result["planted"]), result["named"]
    found = {n for group in named for n in group if n in planted}
    wrong = sum(not planted & set(group) and not real & set(group) for group in named)
    enough = found == planted or (result["way"] == "git" and found)
    return {"found": len(found), "wrong": wrong, "right": bool(enough and not wrong), "open": not named}


def asked(study, args):
    rows = []
    for name in args.modules:
        versions = (study.get(f"{name} versions") or {"versions": []})["versions"]
        if versions:
            rows += [[f"`{MODULES[name].path}`", len(versions), versions[0], versions[-1], benchmark,
                      *(in_words(PlantedTruth(study, args, name, size).ratio(benchmark)) for size in args.sizes)]
                     for benchmark in names_of(args, name)]
    return table(["module", "releases", "from", "to", "benchmark", *(f"{size} % is" for size in args.sizes)], rows)


def by_size(judgements):
    groups = collections.defaultdict(list)
    for result, judged_as in judgements:
        if result["plants"]:
            groups[result["plants"], result["percents"], result["way"]].append((result, judged_as))
    rows = [[plants, f"{size:g} %", words(way), *figures(group)] for (plants, size, way), group in sorted(groups.items())]
    return table(["planted commits", "size", "search", *FIGURES], rows)


def by_module(judgements):
    groups = collections.defaultdict(list)
    for result, judged_as in judgements:
        if result["plants"]:
            groups[result["module"], result["way"]].append((result, judged_as))
    return table(["module", "search", *FIGURES], [[module, words(way), *figures(group)] for (module, way), group in sorted(groups.items())])


FIGURES = ["searches", "right", "planted commits found", "wrong commits named", "nothing named", "minutes (median)", "commits built"]


def figures(group):
    results, judged_as = [result for result, _ in group], [j for _, j in group]
    planted = sum(result["plants"] if result["way"] == "duet" else 1 for result in results)
    return [len(group), f"{sum(j['right'] for j in judged_as)} ({percent(mean(j['right'] for j in judged_as), 0)})",
            f"{sum(j['found'] for j in judged_as)} of {planted}", sum(j["wrong"] for j in judged_as), sum(j["open"] for j in judged_as),
            decimals(median_of(result["wall_s"] for result in results) / 60), decimals(mean(result["builds"] for result in results))]


def words(way):
    return {"duet": "`duet bisect`", "git": "`git bisect`, benchstat"}[way]


def without(study, results):
    rows = [[result["module"], result["benchmark"], words(result["way"]), spoken(result["answer"]), releases(study, result),
             decimals(result["wall_s"] / 60)] for result in results if not result["plants"]]
    return table(["module", "benchmark", "search", "answer", "named", "minutes"], rows)


def releases(study, result, which="named"):
    """What was named, as releases."""
    versions = study.get(f"{result['module']} versions")["versions"]
    named = result["named"] if which == "named" else [[n] for n in result["planted"]]
    return ", ".join(" or ".join(versions[n] for n in group) for group in named)


def every(study, judgements):
    rows = [[result["module"], result["benchmark"], f"{result['percents']:g} %", releases(study, result, "planted"), words(result["way"]),
             releases(study, result) or spoken(result["answer"]), "yes" if judged_as["right"] else "no",
             decimals(result["wall_s"] / 60)] for result, judged_as in judgements if result["plants"]]
    return table(["module", "benchmark", "size", "planted at", "search", "named", "right", "minutes"], rows)


if __name__ == "__main__":
    main()
