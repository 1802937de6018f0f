"""The commands that are disturbed: what each is run on, how it goes on, and what it must say in the end."""

import hashlib
import json
import os
import shutil
import subprocess

from study import REPOSITORY, Failed, revision, run

from .place import Place

SAME = {"same", "BenchmarkSame", "BenchmarkSteady"}
SLOW = {"slow", "BenchmarkSlow", "BenchmarkSlower"}
# Verdicts that are right, or that claim nothing.
RIGHT = {"same": {"no_change"}, "slow": {"regression"}}
OPEN = {"inconclusive", "failed"}
WITHIN = frozenset({"slower_within_tolerance", "faster_within_tolerance"})

LOOP = """#include "duet.h"
int main(int argc, char **argv) {
    long n = atol(argv[argc - 1]);
    volatile unsigned long s = 1;
    do {
        duet_begin();
        for (long i = 0; i < n; i++) s = s * 6364136223846793005UL + 1442695040888963407UL;
        duet_end(1);
    } while (duet_active());
    return 0;
}
"""
SETTINGS = """threshold = "20%"
alpha = "0.1%"
[[command]]
name = "same"
{lockstep}
command = "./loop {n}"
[[command]]
name = "slow"
{lockstep}
command = "sh -c 'exec ./loop $(cat size)'"
"""
GO_TEST = """package fixture

import (
	"crypto/sha256"
	"testing"
)

var page [4096]byte
var sum [32]byte

func BenchmarkSame(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sum = sha256.Sum256(page[:])
	}
}

func BenchmarkSlow(b *testing.B) {
	for i := 0; i < b.N; i++ {
		for j := 0; j < TIMES; j++ {
			sum = sha256.Sum256(page[:])
		}
	}
}
"""
SCRIPT = {"BenchmarkSteady": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002, "pause_us": 1000},
          "BenchmarkSlower": {"baseline_ns": 100, "candidate_ns": 300, "spread": 0.01, "pause_us": 1000},
          "BenchmarkFlaky": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002, "failure_in": 2, "pause_us": 1000}}
WAIVER = """[[waiver]]
benchmark = "earlier"
ceiling = "12%"
expires = 2999-01-01
reason = "agreed on"
"""


class Tools:
    """Things that every place needs, made once: the shim, the program that is measured, and projects to copy."""

    def __init__(self, study, worker):
        self.scratch, self.worker = study.scratch, worker
        self.duet = self._named(study.duet)
        self.revision = revision()
        self.go_cache = run(["go", "env", "GOCACHE"], "/").strip()
        self.may_mount = subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode == 0
        self.shim, self.built = self.scratch / "shim.so", None
        run(["cc", "-O1", "-shared", "-fPIC", "-w", "-o", self.shim, REPOSITORY / "benches/fault/shim.c", "-ldl"], "/")
        self.projects = {"iterations": self._commands("lockstep = true", 100_000), "processes": self._commands("", 8_000_000),
                         "script": self._script(), "go": self._go()}
        self.projects["revisions"] = self._revisions()

    def _named(self, duet):
        """The shim knows duet by its name."""
        link = self.scratch / "bin" / "duet"
        link.parent.mkdir()
        link.symlink_to(duet)
        return link

    def _project(self, name):
        path = self.scratch / "projects" / name
        path.mkdir(parents=True)
        return path

    def _commands(self, lockstep, n):
        path = self._project("processes" if lockstep == "" else "iterations")
        (path / "duet.toml").write_text(SETTINGS.format(lockstep=lockstep, n=n))
        source = self.scratch / "loop.c"
        source.write_text(LOOP)
        run(["cc", "-O1", "-I", REPOSITORY / "hooks/c", "-o", self.scratch / "loop", source], "/")
        for version, size in (("old", n), ("new", 3 * n)):
            (path / version).mkdir()
            (path / version / "size").write_text(str(size))
            shutil.copy(self.scratch / "loop", path / version / "loop")
        return path

    def _script(self):
        path = self._project("script")
        (path / "script.json").write_text(json.dumps(SCRIPT))
        return path

    def _go(self):
        path = self._project("go")
        for version, times in (("old", 1), ("new", 3)):
            (path / version).mkdir()
            (path / version / "go.mod").write_text("module example.com/fixture\n\ngo 1.21\n")
            (path / version / "fixture_test.go").write_text(GO_TEST.replace("TIMES", str(times)))
        return path

    def _revisions(self):
        path = self._project("revisions")
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"]
        run([*git, "init", "-q"], path)
        for version in ("old", "new"):
            shutil.copy(self.projects["iterations"] / "duet.toml", path)
            for name in ("size", "loop"):
                shutil.copy(self.projects["iterations"] / version / name, path)
            run([*git, "add", "-A"], path)
            run([*git, "commit", "-qm", version], path)
        return path

    def warm(self, subjects):
        """A project in whose store there is something to read; and the linkers and build cache that all share."""
        place = Place(self, self.projects["iterations"])
        for args in (subjects["compare, iterations"].args, ["calibrate", "./new", "--forks", "8", "--seed", "1", "--format", "json"],
                     subjects["run"].args, [*subjects["run"].args, "--seed", "2"], ["tune", "r3", "--metric", "cv"]):
            ended = place.duet(args)
            if ended.code not in (0, 3):
                raise Failed(f"`duet {' '.join(args)}` ended with {ended.code}: {ended.words()}")
        for side in ("baseline", "candidate"):
            place.duet(["export", "r1", "--as", "jmh", "--side", side, "-o", f"{side}.json"])
        (place.project / "duet-waivers.toml").write_text(WAIVER)
        self.projects["warm"] = self.scratch / "projects" / "warm"
        shutil.move(place.project, self.projects["warm"])
        place.close()


class Subject:
    """A command to disturb."""

    # Exit codes where nobody disturbs it.
    ends = {0}
    # A file of the user's that it writes, which must be whole at any moment.
    precious = None
    resume = None
    # Words where it has been done already, if it cannot be done twice.
    done = None

    def __init__(self, name, project, args, **more):
        self.name, self.project, self.args = name, project, [str(a) for a in args]
        self.calls, self.said, self.content = {}, None, None
        for key, value in more.items():
            setattr(self, key, value)

    @property
    def measures(self):
        return self.resume is not None

    def learn(self, tools):
        """Runs it undisturbed: the number of calls, and what it says."""
        place = Place(tools, tools.projects[self.project])
        ended = place.duet(self.args, {"CALLS": "all"})
        problems = self.judge(ended) + place.leftovers() + ([] if ended.code in self.ends else [f"exit code {ended.code}"])
        if problems:
            raise Failed(f"undisturbed, `{self.name}` is not in order: {problems}; {ended.words()}")
        lines = (place.root / f"fault-{place.runs}").read_text().splitlines()
        self.calls = {words[1]: int(words[2]) for words in map(str.split, lines)}
        self.said = self.essence(ended)
        self.content = (place.project / self.precious).read_text() if self.precious else None
        place.close()

    def essence(self, ran):
        return hashlib.sha256(ran.stdout.encode()).hexdigest()

    def judge(self, ran):
        """Whatever is wrong with a run that came to its end. Who only reads must say what it always says."""
        return [] if self.said in (None, self.essence(ran)) else ["it does not say what it said undisturbed"]

    def is_open(self, ran):
        """Whether it ended without the answers that it has undisturbed."""
        return ran.code not in self.ends


class Measurement(Subject):
    """A command whose numbers are its own each time."""

    def essence(self, ran):
        return None


class Comparison(Measurement):
    """A command that compares and prints its report as JSON. On a busy machine it may end as inconclusive."""

    ends = {0, 3}
    # Two binaries of Go are laid out differently, which moves a benchmark by some percent; with one build that is in the verdict.
    tolerated = frozenset()

    def judge(self, ran):
        report = ran.json()
        if report is None:
            return [f"there is no report, exit code {ran.code}: {ran.words()}"]
        problems = []
        verdicts = {b["name"]: b["verdict"] for b in report["benchmarks"]}
        for names, right in ((SAME, "same"), (SLOW, "slow")):
            problems += [f"{name} is called {verdict}" for name, verdict in verdicts.items()
                         if name in names and verdict not in RIGHT[right] | OPEN | (self.tolerated if right == "same" else set())]
        problems += [f"{b['name']} failed without a reason" for b in report["benchmarks"]
                     if b["verdict"] == "failed" and not (b["failure"] or {}).get("reason")]
        code = 130 if not report["complete"] and ran.code == 130 else \
            3 if "regression" in verdicts.values() else 1 if "failed" in verdicts.values() else 0
        if not ran.code == code == report["exit_code"]:
            problems.append(f"exit code {ran.code}, by its report {code}, in it {report['exit_code']}: {verdicts}")
        return problems

    def is_open(self, ran):
        report = ran.json() or {"benchmarks": [], "complete": False}
        found = {b["name"]: b["verdict"] for b in report["benchmarks"]}
        return not report["complete"] or not any(found.get(name) == "regression" for name in SLOW)


class Scripted(Comparison):
    """One whose outcomes are by script: every digit of the report is known."""

    def essence(self, ran):
        report = ran.json()
        if report is None or not report["complete"]:
            return None
        kept = {key: value for key, value in report.items() if key not in ("run", "started", "measured_s", "environment")}
        return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()

    def judge(self, ran):
        problems = super().judge(ran)
        report = ran.json()
        if not problems and report["complete"] and self.said not in (None, self.essence(ran)):
            problems.append("the report is not the one of an undisturbed run")
        return problems


class Calibration(Measurement):
    """Equal code must not be called changed."""

    def judge(self, ran):
        report = ran.json()
        if report is None:
            return [] if ran.code in (1, 130) else [f"there is no report, exit code {ran.code}: {ran.words()}"]
        if "alarms" not in report:  # what there was when it was interrupted is shown as a comparison
            return [] if ran.code == 130 else ["it is no calibration"]
        changed = (report["alarms"] or {}).get("called_changed") or {"times": 0}
        return [f"{changed['times']} parts of equal code were called changed"] if changed["times"] else []


class Solo(Measurement):
    """A run of one version: `slow` takes three times as long as `same` there."""

    def judge(self, ran):
        report = ran.json()
        if report is None:
            return [f"there is no report, exit code {ran.code}: {ran.words()}"]
        medians = {b["name"]: b["median_ns"] for b in report["benchmarks"]}
        same, slow = medians.get("same"), medians.get("slow")
        wrong = same and slow and not 1.5 < slow / same < 6
        return [f"{same} ns and {slow} ns, where one is three times the other"] if wrong else []

    def is_open(self, ran):
        report = ran.json() or {"complete": False}
        return not report["complete"] or ran.code != 0


class Demo(Measurement):
    """Its findings depend on the machine's load: only that it ends is certain."""

    ends = {0, 1}

    def learn(self, tools):
        """It takes as long as all others together: its calls are told from earlier runs."""
        self.calls = {"all": 4500}


def subjects(worker):
    """All of them, by name."""
    sides, form = ["compare", "./old", "./new"], ["--format", "json"]
    fixed, latest = ["--seed", "1", "--fixed", "--forks"], ["--resume", "latest", *form]
    go = [*sides, *form, "--threshold", "20%", "--alpha", "0.1%", "--timeout", "20s", *fixed]
    here = ["--on", "here", "--worker", worker, "--parallel", "2"]
    jmh, goes_on = ["baseline.json", "candidate.json", *form], {"resume": ["compare", *latest]}
    script = ["--scripted", "script.json"]
    all_of_them = [
        Scripted("compare, scripted", "script", ["compare", *script, *form, *fixed, "12", "--confirm"],
                 resume=["compare", *script, *latest], ends={3}),
        Comparison("compare, iterations", "iterations", [*sides, *form, *fixed, "8"], **goes_on),
        Comparison("compare, both at once", "iterations", [*sides, *form, *fixed, "8", "--mode", "duet"], **goes_on),
        Comparison("compare, whole processes", "processes", [*sides, *form, *fixed, "9"], **goes_on),
        Comparison("compare, revisions", "revisions", ["compare", "HEAD~1", "HEAD", *form, *fixed, "8"], **goes_on),
        Comparison("compare, Go", "go", [*go, "6", "--builds", "1"], **goes_on, tolerated=WITHIN),
        Comparison("compare, Go, many builds", "go", [*go, "6"], **goes_on),
        Comparison("compare, fleet", "go", [*go, "8", "--builds", "1", *here], resume=["compare", *latest, "--worker", str(worker)],
                   tolerated=WITHIN),
        Calibration("calibrate", "iterations", ["calibrate", "./new", *form, "--forks", "8", "--seed", "1"], resume=["calibrate", *latest]),
        Solo("run", "iterations", ["run", "./new", *form, "--suite-runs", "3", "--forks", "2", "--iterations", "4", "--seconds", "0.01",
                                   "--seed", "1"], resume=["run", *latest]),
        Subject("show", "warm", ["show", "r1", *form], ends={0, 3}),
        Subject("report", "warm", ["show", "r1", "--format", "html", "-o", "page.html"], ends={0, 3}),
        Subject("analyze", "warm", ["analyze", "r1", "--threshold", "40%", *form], ends={0, 3}),
        Subject("analyze, files", "warm", ["analyze", *jmh], ends={0, 3}),
        Subject("detect", "warm", ["analyze", *jmh, "--method", "both"], ends={0, 3}),
        Subject("export", "warm", ["export", "r1", "--as", "parquet", "-o", "out.parquet"]),
        Subject("tune", "warm", ["tune", "r4", "--metric", "rciw3"], precious="duet-plan.toml"),
        Subject("plan", "warm", ["calibrate", "--see", "5%", *form]),
        Subject("waive", "warm", ["waive", "slow", "--run", "r1", "--expires", "2999-01-01", "--reason", "it is known"],
                precious="duet-waivers.toml", done="has two waivers"),
        Subject("list", "warm", ["list", "./new"]),
        Subject("config", "warm", ["config", "check"]),
        Demo("demo", "script", ["demo", "--seed", "1"]),
    ]
    return {subject.name: subject for subject in all_of_them}


def worker_beside(duet, scratch):
    """The worker for a fleet, without what debuggers want, since that is most of it in a debug build."""
    found = [path for name in ("duet-worker-x86_64", "duet-worker") if (path := duet.with_name(name)).exists()]
    if not found:
        return None
    run(["strip", "-o", scratch / "duet-worker", found[0]], "/")
    os.chmod(scratch / "duet-worker", 0o755)
    return scratch / "duet-worker"
