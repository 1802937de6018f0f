"""The two usual procedures: sequential runs judged by benchstat, and runs of both versions alternating by hand."""

import csv
import io
import re
import subprocess
import time

from study import BENCHSTAT, Failed, environment, run


class Sides:
    """The plain test binaries of two directories, base and head."""

    def __init__(self, study, directories, packages):
        self.study, self.directories, self.packages = study, directories, packages
        began = time.monotonic()
        self.binaries = [[self._build(directory, package) for package in packages] for directory in directories]
        self.build_s = time.monotonic() - began
        self.owners = [run([binary, "-test.list", "^Benchmark"], binary.parent).split() for binary in self.binaries[0]]

    def _build(self, directory, package):
        binary = directory / package / "plain.test"
        run([*self.study.prefix, "go", "test", "-c", "-vet=off", "-trimpath", "-o", binary, "."], directory / package)
        return binary

    def once(self, side, name, count, benchtime):
        """The result lines of one process that runs one benchmark."""
        pattern = "/".join(f"^{part}$" for part in name.split("/"))
        binary = self.binaries[side][self._owner(name)]
        command = [*self.study.prefix, binary, "-test.run=^$", f"-test.bench={pattern}", f"-test.count={count}",
                   f"-test.benchtime={benchtime}"]
        ended = subprocess.run(command, cwd=binary.parent, env=environment(), capture_output=True, text=True)
        lines = [line for line in ended.stdout.splitlines() if line.startswith("Benchmark") and "ns/op" in line]
        if ended.returncode != 0 or len(lines) != count:
            raise Failed(f"{name} of the plain test binary ended with {ended.returncode} and {len(lines)} results")
        return lines

    def _owner(self, name):
        """The package that has this benchmark."""
        for number, names in enumerate(self.owners):
            if name.split("/")[0] in names:
                return number
        raise Failed(f"no package has {name}")


def sequential(sides, names, count, benchtime):
    """All of base, then all of head: `go test -bench -count`, one process for each benchmark."""
    return [[line for name in names for line in sides.once(side, name, count, benchtime)] for side in (0, 1)]


def interleaved(sides, names, count, benchtime):
    """Base and head by turns, a fresh process for each result; who goes first alternates too."""
    results = [[], []]
    for number in range(count):
        for name in names:
            for side in (0, 1) if number % 2 == 0 else (1, 0):
                results[side] += sides.once(side, name, 1, benchtime)
    return results


PROCEDURES = {"sequential": sequential, "interleaved": interleaved}


def made(procedure, sides, names, length):
    """The result lines of both sides, and how long they took. The length is a count and a benchtime."""
    began = time.monotonic()
    return PROCEDURES[procedure](sides, names, *length), time.monotonic() - began


def measured(procedure, sides, names, length):
    """The result of a procedure: its time, and benchstat's verdict on each benchmark."""
    results, took = made(procedure, sides, names, length)
    count, benchtime = length
    return {"build_s": sides.build_s, "measured_s": took, "wall_s": sides.build_s + took, "benchtime": benchtime, "count": count,
            "benchmarks": judged(sides.study, results)}


def judged(study, results):
    """benchstat's words in duet's: called changed at its level of 5 %, and the ratio of the medians."""
    for name, lines in zip(("base.txt", "head.txt"), results):
        (study.scratch / name).write_text("\n".join(lines) + "\n")
    text = run([benchstat_binary(study), "-format", "csv", "base.txt", "head.txt"], study.scratch)
    rows = compared(text)
    if not rows:
        raise Failed(f"benchstat compared nothing: {text[:300]}")
    return [{"name": plain(row[0], results), "verdict": verdict(row[5]), "ratio": float(row[3]) / float(row[1]), "p": p_of(row[6])}
            for row in rows]


def verdict(words):
    return {"+": "regression", "-": "improvement"}.get(words[0], "no_change")


def p_of(words):
    """The p-value of a comparison, written as `p=0.123 n=10`; none where benchstat gives none."""
    found = re.match(r"p=([\d.]+)", words)
    return float(found[1]) if found else None


def plain(name, results):
    """benchstat's name as duet writes it: with `Benchmark`, without the number of processors."""
    whole = next(line.split()[0] for line in results[0] if line.split()[0] == f"Benchmark{name}")
    stem, dash, number = whole.rpartition("-")
    return stem if dash and number.isdigit() else whole


def benchstat_binary(study):
    """benchstat, built once for a study."""
    target = study.scratch / "bin"
    if not (target / "benchstat").exists():
        subprocess.run(["go", "install", BENCHSTAT], cwd=study.scratch, env={**environment(), "GOBIN": str(target)}, check=True,
                       capture_output=True)
    return target / "benchstat"


def compared(text):
    """The rows of benchstat's CSV that compare the time of a benchmark: name, base, ±, head, ±, change, p and n."""
    rows, in_time = [], False
    for row in csv.reader(io.StringIO(text)):
        if len(row) > 1 and not row[0]:
            in_time = "sec/op" in row if "vs base" in row else in_time
        elif in_time and len(row) >= 7 and row[0] != "geomean" and row[5]:
            rows.append(row)
    return rows
