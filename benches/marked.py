"""Functions of Go modules that tell when they run: which benchmarks execute a function is then known without measuring."""

import collections
import json
import re
import subprocess

from study import REPOSITORY, Failed, environment, module_copy, run

MARK = b"duet: marked code ran"
# The file that a package gets for what marked functions call.
SUPPORT = "duet_mark.go"
BENCHMARK = re.compile(r"(?m)^func Benchmark\w*\(")
# The longest that one benchmark may take, seconds.
LIMIT_S = 60

Package = collections.namedtuple("Package", "path folder name files tests plain")


class Marker:
    """The program that marks functions, built once for a study."""

    def __init__(self, study):
        self.study, self.program = study, study.scratch / "mark"

    def run(self, directory, *arguments):
        if not self.program.exists():
            run(["go", "build", "-o", self.program, "."], REPOSITORY / "benches" / "mark")
        return run([self.program, *arguments], directory)

    def copy(self, version, label):
        """A copy of a module whose packages have what marked functions call, but in which none is marked."""
        target = self.study.scratch / "copies" / label
        if not target.exists():
            module_copy(version, target)
            for package in packages_of(target).values():
                if package.plain:
                    self.run(target, "-support", package.name, package.folder)
        return target

    def functions(self, directory):
        """All functions that a benchmark's program may hold, outside of tests."""
        packages = packages_of(directory)
        tested = [package.path for package in packages.values() if package.tests]
        if not tested:
            raise Failed("it has no benchmarks")
        needed = set(run(["go", "list", "-deps", "-test", "-f", "{{.ImportPath}}", *tested], directory).split())
        return json.loads(self.run(directory, "-list", *files_of(package for package in packages.values() if package.path in needed)))

    def mark_different(self, base, head):
        """Marks in head, outside of tests, all functions whose text differs from base; tells which."""
        return json.loads(self.run(head, "-against", base, "-below", head, *files_of(packages_of(head).values())))


def files_of(packages):
    """All files that may be marked."""
    return [f"{package.folder}/{file}" for package in packages if package.plain for file in package.files if file != SUPPORT]


def packages_of(directory):
    """The packages of a module by import path."""
    fields = "Dir,ImportPath,Name,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles"
    text, found, at = run(["go", "list", "-e", f"-json={fields}", "./..."], directory), {}, 0
    decoder = json.JSONDecoder()
    while at < len(text.rstrip()):
        listed, at = decoder.raw_decode(text, at)
        at += 1
        folder = listed["Dir"].removeprefix(str(directory.resolve())).strip("/") or "."
        tests = [file for file in [*listed.get("TestGoFiles", []), *listed.get("XTestGoFiles", [])]
                 if BENCHMARK.search((directory / folder / file).read_text())]
        plain = bool(listed.get("GoFiles")) and not listed.get("CgoFiles") and listed.get("Name") != "main"
        found[listed["ImportPath"]] = Package(listed["ImportPath"], folder, listed.get("Name"), listed.get("GoFiles", []), tests, plain)
    return found


class Program:
    """The plain test binary of a package with marked functions."""

    def __init__(self, study, directory, folder):
        # Outside of the module: benchmarks might read a file in it.
        self.folder, self.binary = directory / folder, study.scratch / "programs" / directory.name / folder / "marked.test"
        self.binary.parent.mkdir(parents=True, exist_ok=True)
        run(["go", "test", "-c", "-vet=off", "-o", self.binary, "."], self.folder)
        self.linked = MARK in self.binary.read_bytes()

    def executes(self, family, benchtime):
        """Whether a process of this benchmark alone comes by a marked function; none if the benchmark fails."""
        command = [self.binary, "-test.run=^$", f"-test.bench=^{family}$", f"-test.benchtime={benchtime}"]
        try:
            ended = subprocess.run(command, cwd=self.folder, env=environment(), capture_output=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return None
        if MARK in ended.stderr or MARK in ended.stdout:
            return True
        return False if ended.returncode == 0 else None
