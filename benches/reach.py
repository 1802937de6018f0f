#!/usr/bin/env python3
"""How many benchmarks a change cannot reach, and whether those run anything that changed.

`duet compare --reach --dry-run` builds both versions and says of every benchmark in both that its code is proven identical, that it is
proven not to be affected, or that it would be measured. The steps are neighbouring published versions, and changes of a single function
or function literal, drawn from all those outside of tests that the benchmarks' programs may hold.

A function that is drawn gets a call at its beginning that says that it runs. Every benchmark of a program that holds the call is then
run in a process of its own: one that is proven not to be affected and yet executes the call is a **false proof**. Those that are left
to be measured show how sharp the proof is: a program that merely could come by the change is measured, too. Between published versions
all functions get the call whose text differs, though their code need not.

Of every few steps some benchmarks that are not affected are measured all the same, by a few seconds each. No change may be called
there more often than between equal programs.
"""

import collections
import json
import random
import re
import shutil
import subprocess

from marked import Marker, Program, packages_of
from study import (CALLED, Failed, Study, count, digest, environment, listed, mean, module_copy, paragraph, parser,
                   percent, run, table, upper_bound, with_interval)

MODULES = ["go.uber.org/zap", "github.com/tidwall/gjson", "github.com/pelletier/go-toml/v2", "github.com/go-chi/chi/v5",
           "github.com/shopspring/decimal"]
CHANGED = ["go.uber.org/zap@v1.27.0", "github.com/pelletier/go-toml/v2@v2.2.4", "github.com/prometheus/common@v0.62.0",
           "github.com/go-chi/chi/v5@v5.2.0", "github.com/google/btree@v1.1.3", "github.com/rs/zerolog@v1.33.0",
           "github.com/gorilla/mux@v1.8.1", "github.com/google/uuid@v1.6.0", "github.com/shopspring/decimal@v1.4.0",
           "github.com/tidwall/gjson@v1.18.0", "github.com/sirupsen/logrus@v1.9.3", "github.com/BurntSushi/toml@v1.4.0"]
GRADES = {"identical_code": "identical code", "not_affected": "not affected", "measured": "measured"}
KINDS = {"published": "neighbouring versions", "change": "one function changed"}
# Names of files, and not of symbols.
FILE = re.compile(r"(^|/)([A-Z]+|[^/]*\.(go|md|ya?ml|mod|sum|txt|json|toml|sh|tmpl|work))$")
# Tables of functions, by the end of their names.
TABLES = {"stkobj", "argliveinfo", "opendefer", "arginfo0", "arginfo1"}
# Functions that are drawn for a step until one can be changed.
DRAWS = 5


def main():
    args = arguments()
    study = Study(args, "Benchmarks that a change cannot reach", lambda study: body(study, args))
    steps = Steps(study, args)
    for number, (kind, module, which) in enumerate(steps.order()):
        key = key_of(kind, module, which)
        result = study.do(key, lambda: steps.make(kind, module, which))
        if result and args.measure_every and number % args.measure_every == 0 and result["counts"]["not_affected"]:
            study.do(f"measured {key}", lambda: steps.measure(kind, module, which, result))
    study.finish()


def arguments():
    options = parser(__doc__.splitlines()[0], "reach.md")
    options.add_argument("--modules", type=listed, default=MODULES, help="modules whose published versions are compared, separated by commas")
    options.add_argument("--pairs", type=int, default=10, help="the newest so many pairs of neighbouring versions of each")
    options.add_argument("--changed", type=listed, default=CHANGED, help="versions of modules of which single functions are changed")
    options.add_argument("--changes", type=int, default=13, help="changed functions of each")
    options.add_argument("--benchtime", default="10ms", help="of every benchmark that is run to see what it executes")
    options.add_argument("--measure-every", type=int, default=8, help="measure benchmarks that are not affected, of one step in so many")
    options.add_argument("--measured", type=int, default=4, help="so many of them")
    options.add_argument("--budget", default="20s", help="measuring time of all of them")
    return options.parse_args()


def key_of(kind, module, which):
    return f"{kind} {module} {which}"


class Steps:
    """The steps of the study, and the copies of modules that they share."""

    def __init__(self, study, args):
        self.study, self.args, self.marker = study, args, Marker(study)
        self.functions = {}

    def order(self):
        """All steps in random order, so that what a time limit leaves out is left out evenly."""
        found = [("change", version, number) for version in self.args.changed for number in range(1, self.args.changes + 1)]
        for module in self.args.modules:
            versions = self.study.do(f"versions {module}", lambda: {"versions": published(module, self.study)})
            found += [("published", module, f"{base} {head}") for base, head in pairs(versions, self.args.pairs)]
        return random.Random(1).sample(found, len(found))

    def make(self, kind, module, which):
        return self.changed(module, which) if kind == "change" else self.published(module, *which.split())

    def published(self, module, base, head):
        versions = [f"{module}@{version}" for version in (base, head)]
        grades = self.graded(*versions)
        copies = self.study.scratch / "published"
        shutil.rmtree(copies, ignore_errors=True)
        module_copy(versions[0], copies / "base")
        directory = self.marker.copy(versions[1], "published")
        try:
            marked = self.marker.mark_different(copies / "base", directory)
            return grades | {"marked": len(marked)} | self.traced(directory, grades)
        finally:
            shutil.rmtree(directory)

    def changed(self, version, number):
        """A function is changed that builds with the change; the step is what that change comes to."""
        base, head = (self.marker.copy(version, f"{version.replace('/', '+')} {side}") for side in ("base", "head"))
        if version not in self.functions:
            self.functions[version] = self.marker.functions(base)
        chance, refused = random.Random(f"{version} {number}"), []
        for function in chance.sample(self.functions[version], DRAWS):
            with Mark(self.marker, base, head, function):
                try:
                    run(["go", "build", f"./{folder_of(function['file'])}"], head)
                except Failed as failure:
                    refused.append(str(failure)[-200:])
                    continue
                grades = self.graded(base, head)
                return grades | {"function": function, "refused": refused} | self.traced(head, grades)
        raise Failed(f"no function could be changed: {refused}")

    def graded(self, base, head):
        """The grade of every benchmark in both versions, and words about what affects most of those of each package."""
        command = [self.study.duet, "compare", base, head, "--reach", "--dry-run", "--format", "json", "--db", self.study.scratch / "none.db"]
        answer = subprocess.run(command, cwd=self.study.scratch, env=environment(), capture_output=True, text=True)
        if answer.returncode != 0:
            raise Failed(answer.stderr.strip()[-300:])
        plan = json.loads(answer.stdout)
        grades = collections.defaultdict(list)
        for b in [{"reason": "measured"} | b for b in plan["benchmarks"]] + plan["excluded"]:
            grades[b["reason"]].append([b["package"], b["name"]])
        reasons = [line for line in answer.stderr.splitlines() if "may be affected" in line or "is not known" in line]
        return {"counts": {grade: len(grades[grade]) for grade in GRADES}, "not_affected": grades["not_affected"],
                "families": {grade: families(grades[grade]) for grade in GRADES}, "reasons": reasons}

    def traced(self, directory, grades):
        """The benchmarks that execute marked code, by grade; and those that failed, so that nothing is known of them."""
        packages, programs = packages_of(directory), {}
        found = {grade: {"run": 0, "not linked": 0, "executes": [], "failed": []} for grade in GRADES}
        for grade, names in grades["families"].items():
            for path, family in names:
                if path not in programs:
                    programs[path] = Program(self.study, directory, packages[path].folder)
                self.trace(found[grade], programs[path], path, family)
        return {"traced": found}

    def trace(self, found, program, path, family):
        if not program.linked:
            found["not linked"] += 1
            return
        executes = program.executes(family, self.args.benchtime)
        found["run"] += executes is not None
        if executes is not False:
            found["executes" if executes else "failed"].append([path, family])

    def measure(self, kind, module, which, result):
        """Some benchmarks that are not affected, measured all the same."""
        chance = random.Random(f"measured {key_of(kind, module, which)}")
        path, _ = chance.choice(result["not_affected"])
        names = [name for package, name in result["not_affected"] if package == path]
        names = chance.sample(names, min(self.args.measured, len(names)))
        options = ["--reach", "--measure-identical", "--bench", "^(" + "|".join(map(re.escape, names)) + ")$", "--budget", self.args.budget]
        if kind == "published":
            base, head = (f"{module}@{version}" for version in which.split())
            return digest(self.study.compare(base, head, *options))
        base, head = (self.marker.copy(module, f"{module.replace('/', '+')} {side}") for side in ("base", "head"))
        with Mark(self.marker, base, head, result["function"]):
            return digest(self.study.compare(base, head, *options, "--packages", "./" + packages_of(head)[path].folder))


class Mark:
    """A function that is marked as long as a block runs."""

    def __init__(self, marker, base, head, function):
        self.marker, self.base, self.head, self.function = marker, base, head, function

    def __enter__(self):
        self.marker.run(self.head, "-body", str(self.function["body"]), self.function["file"])

    def __exit__(self, *_):
        shutil.copyfile(self.base / self.function["file"], self.head / self.function["file"])


def folder_of(file):
    return file.rpartition("/")[0] or "."


def families(names):
    """The benchmark functions of names, which may be subordinate ones."""
    return sorted({(package, name.partition("/")[0]) for package, name in names})


def published(module, study):
    """The versions that the module proxy has, without those published before their time."""
    answer = run(["go", "list", "-m", "-versions", module], study.scratch)
    return [version for version in answer.split()[1:] if "-" not in version]


def pairs(versions, most):
    names = (versions or {}).get("versions", [])
    return list(zip(names, names[1:]))[-most:]


def body(study, args):
    made = {kind: made_of(study, kind) for kind in KINDS}
    made = {kind: results for kind, results in made.items() if results}
    if not made:
        return "Nothing was compared yet."
    measured = [value for key, value in study.results.items() if key.startswith("measured ") and "failure" not in value]
    parts = [*(paragraph(__doc__, number) for number in range(1, 4)), grades_table(made), "## What benchmarks execute", traced_table(made)]
    parts += [false_proofs(made), "## What affects benchmarks", reasons_table(made), "## Measured all the same", measured_table(measured)]
    parts += ["## By module", module_table(made)]
    if "published" in made:
        parts += ["## Published versions", published_table(made["published"])]
    return "\n\n".join(parts)


def made_of(study, kind):
    """The results of a kind by module and what was compared, in order."""
    found = {tuple(key.split(" ", 2)[1:]): value for key, value in study.results.items()
             if key.startswith(kind + " ") and "failure" not in value}
    return dict(sorted(found.items(), key=lambda item: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", " ".join(item[0]))]))


def grades_table(made):
    rows = [[KINDS[kind], *grades_of(results.values())] for kind, results in made.items()]
    rows.append(["**all**", *grades_of([result for results in made.values() for result in results.values()])])
    return table(["steps", "number", *GRADES.values(), "not measured, of a step"], rows) + (
        "\n\nBenchmarks are counted with their subordinate ones. *Of a step* is the mean over steps, where each counts as much as any other.")


def grades_of(results):
    results = list(results)
    sums = {grade: sum(result["counts"][grade] for result in results) for grade in GRADES}
    total = max(1, sum(sums.values()))
    shares = [1 - result["counts"]["measured"] / sum(result["counts"].values()) for result in results if sum(result["counts"].values())]
    return [len(results), *(f"{sums[grade]} ({percent(sums[grade] / total, 1)})" for grade in GRADES), percent(mean(shares), 1)]


def traced_table(made):
    rows = []
    for kind, results in made.items():
        for grade, words in GRADES.items():
            found = [result["traced"][grade] for result in results.values()]
            ran, hits = sum(f["run"] for f in found), sum(len(f["executes"]) for f in found)
            # Benchmarks of one step meet the same change, so that only steps are independent.
            told = [f for f in found if f["run"]]
            wrong = sum(bool(f["executes"]) for f in told)
            bound = percent(upper_bound(wrong, len(told))) if grade != "measured" and told else ""
            rows.append([KINDS[kind], words, sum(f["not linked"] for f in found), ran, hits, len(told), bound, sum(len(f["failed"]) for f in found)])
    head = ["steps", "grade", "the change is not in the program", "run", "execute the change", "steps with any that ran", "at most of these (99 %)", "failed"]
    return table(head, rows) + (
        "\n\nBenchmark functions; subordinate ones run with their function. *At most* is the exact bound of Clopper and Pearson on the share of steps "
        "with a proof that is wrong: benchmarks of one step are not independent.")


def false_proofs(made):
    """Everything that executed what it was proven not to reach."""
    lines = []
    for kind, results in made.items():
        for (module, which), result in results.items():
            for grade in ("identical_code", "not_affected"):
                lines += [f"- {module} {which}: {GRADES[grade]}, but runs {words_of(kind, result)}: `{path}.{family}`"
                          for path, family in result["traced"][grade]["executes"]]
    return "\n".join(lines) if lines else "No benchmark that is proven not to be affected executed anything that was changed."


def words_of(kind, result):
    if kind == "change":
        return f"`{result['function']['name']}` in `{result['function']['file']}`"
    return f"one of {result['marked']} functions whose text differs"


def reasons_table(made):
    """What most of the affected benchmarks of each package have in common, by its kind."""
    sums, functions = collections.Counter(), collections.Counter()
    for kind, results in made.items():
        for result in results.values():
            for affected, alike, words in re.findall(r"(\d+) of \d+ benchmarks may be affected; (\d+) since (.*)", "\n".join(result["reasons"])):
                functions[kind] += int(affected)
                sums[kind, reason_of(words)] += int(alike)
    rows = [[KINDS[kind], reason, count, percent(count / functions[kind], 1)] for (kind, reason), count in sums.most_common()]
    return table(["steps", "what differs", "benchmarks", "of those affected"], sorted(rows, key=lambda row: row[0])) + (
        "\n\nBenchmark functions. Of each package the first difference is known that was found for most of its benchmarks; the others are left out.")


def reason_of(words):
    """A reason by its kind, without the names in it."""
    names = re.findall(r"`([^`]*)`", words)
    if words.startswith("`") and FILE.search(names[0]):
        return "a file that it may read"
    # The linker keeps such a table once for all functions that have the same, under the name of any of them.
    ends = {name.rpartition(".")[2] for name in names} if "is in the place of" in words else set()
    if len(ends) == 1 and ends <= TABLES:
        return f"the name of an equal table (`{ends.pop()}`)"
    return "code or data differs" if words.startswith("`") else re.sub(r" of `[^`]*`", "", words)


def measured_table(measured):
    if not measured:
        return "Nothing was measured yet."
    benchmarks = [b for result in measured for b in result["benchmarks"]]
    verdicts, called = with_interval(benchmarks), count(benchmarks, CALLED)
    seen = sorted(b["detects"] for b in benchmarks if b["detects"] is not None)
    rows = [[len(measured), verdicts, called, percent(upper_bound(called, verdicts)), percent(seen[len(seen) // 2]) if seen else ""]]
    lines = [f"- {b['package']} {b['name']}: {b['verdict']}, {percent(b['ratio'] - 1)}, p {b['p']:.2g}" for b in benchmarks
             if b["verdict"] in CALLED]
    head = ["steps", "benchmarks with an interval", "called changed", "at most (99 %)", "median of what would have been seen"]
    return "\n\n".join([table(head, rows), *(["\n".join(lines)] if lines else [])])


def module_table(made):
    rows = []
    for kind, results in made.items():
        for module in sorted({module for module, _ in results}):
            rows.append([f"`{module}`", KINDS[kind], *grades_of(result for (own, _), result in results.items() if own == module)])
    return table(["module", "steps", "number", *GRADES.values(), "not measured, of a step"], rows)


def published_table(results):
    rows = [[f"`{module}`", *which.split(), *(result["counts"][grade] for grade in GRADES), result["marked"]]
            for (module, which), result in results.items()]
    return table(["module", "base", "head", *GRADES.values(), "functions that differ"], rows)


if __name__ == "__main__":
    main()
