"""Common parts of the studies in this folder: running duet, keeping results as they come, writing the page."""

import argparse
import contextlib
import datetime
import fcntl
import gzip
import json
import math
import os
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
STUDIES = REPOSITORY / "docs" / "studies"
MODES = ["duet", "interleaved", "sequential"]
# Number of builds of each version: the binaries as they are linked by default, or as many as duet makes of its own accord.
SETTINGS = "one build=--builds 1;default="
# Verdicts that say that there is a change, by its direction; only the first of each says that it exceeds the threshold.
SLOWER = ("regression", "slower_size_open", "slower_within_tolerance")
FASTER = ("improvement", "faster_size_open", "faster_within_tolerance")
CALLED = (*SLOWER, *FASTER)
MEASURED = (*CALLED, "no_change", "inconclusive")
# The version that the project's own test of the `go` format uses.
BENCHSTAT = "golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da"


class Failed(Exception):
    """A step gave no result; the study goes on without it."""

    said = ""  # by duet, in full


def parser(description, page):
    """The options that every study has."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    options.add_argument("--duet", type=Path, default=REPOSITORY / "target" / "release" / "duet", help="duet binary")
    options.add_argument("--output", type=Path, default=STUDIES / page, help="page to write")
    options.add_argument("--resume", action="store_true", help="keep the results that the last run of this study left")
    options.add_argument("--time-limit", type=seconds, help="begin no step after this time, as `40m`; `--resume` goes on")
    options.add_argument("--turns", type=Path, help="hold a lock on this file during each step and let go of it in between, so that "
                         "other work can take turns with the study by `flock FILE COMMAND`")
    options.add_argument("--beside", help="words for the page's head about what else the machine did all the time")
    return options


def listed(text):
    return [word for word in text.split(",") if word]


def settings(text):
    """Names of settings and the flags that they give to duet."""
    parts = [part.partition("=") for part in text.split(";")]
    if not all(name for name, _, _ in parts):
        raise argparse.ArgumentTypeError("a setting is `NAME=FLAGS`")
    return {name: flags.split() for name, _, flags in parts}


def settings_rows(args):
    """A row for each setting: its name, and the command that it is."""
    return [[name, f"`{' '.join(['duet compare', *flags])}`"] for name, flags in args.settings.items()]


# Options of one machine and moment: they change nothing that is measured.
OF_A_MOMENT = ("--duet", "--output", "--turns", "--beside")


class Study:
    """Named steps whose results are on disk as soon as they exist, and a page made from them.

    Results lie in `data` beside the page, one JSON line each, so that a run that was killed loses only the step in hand. At the end
    they are compressed, to be published with the page.
    """

    def __init__(self, args, title, body):
        if not args.duet.exists():
            sys.exit(f"there is no `{args.duet}`: build it with `cargo build --release`, or name it with `--duet`")
        # So that a study that is told to end takes its processes and its scratch with it.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        self.duet, self.page, self.title, self.body = args.duet.resolve(), args.output, title, body
        self.lines = args.output.parent / "data" / f"{args.output.stem}.jsonl"
        self.published = self.lines.with_suffix(".jsonl.gz")
        self.results, self.header, self.successor = {}, None, None
        self.prefix = []  # words before duet's own on its command line
        self.environment = environment()
        self.unknown, self._help = set(), None
        self.left_out, self.ends = 0, time.monotonic() + (math.inf if args.time_limit is None else args.time_limit)
        self.turns, self.alone = args.turns, False
        self.lines.parent.mkdir(parents=True, exist_ok=True)
        if args.resume and not self.lines.exists() and self.published.exists():
            with open_lines(self.published) as published:
                self.lines.write_text(published.read())
        if args.resume and self.lines.exists():
            self.header, self.results = kept(self.lines.read_text())
            if self.header and comparable(self.header["command"]) != comparable(command_line()):
                sys.exit(f"`{self.lines}` was made by `{self.header['command']}`: use the same options, or leave `--resume` out")
        if self.header is None:
            self.header = describe(self.duet) | ({"beside": args.beside} if args.beside else {})
            self.lines.write_text(json.dumps({"header": self.header}) + "\n")
        elif differs(now := describe(self.duet), self.header.get("later", [self.header])[-1]):
            self.successor = now
        self._scratch = tempfile.TemporaryDirectory(prefix="duet-study-")
        self.scratch = Path(self._scratch.name)

    def _append(self, entry):
        with self.lines.open("a") as lines:
            lines.write(json.dumps(entry) + "\n")

    def _note_successor(self):
        """Notes that the steps from here on are made by another duet than those before; once, and only if there are any."""
        if self.successor:
            self.header.setdefault("later", []).append(self.successor | {"after": len(self.results)})
            self._append({"header": self.header})
            self.successor = None

    def do(self, key, work):
        """The result of a step: a dictionary, kept from before or made now. A failed step gives none, nor one that the time
        limit leaves out."""
        if key not in self.results and time.monotonic() > self.ends:
            self.left_out += 1
        elif key not in self.results:
            try:
                with self._alone():
                    say(key)
                    value = work()
            except (Failed, OSError) as failure:
                say(f"failed: {failure}")
                value = {"failure": str(failure)}
            self._note_successor()
            self.results[key] = value
            self._append({"key": key, "value": value})
            self.write()
        return self.get(key)

    @contextlib.contextmanager
    def _alone(self):
        """Holds the lock on the file of turns, if there is one. Whoever waits for it gets it before the next step does. A step
        within a step has it already."""
        if self.turns is None or self.alone:
            yield
            return
        time.sleep(1)
        with self.turns.open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.alone = True
            try:
                yield
            finally:
                self.alone = False

    def get(self, key):
        """The result of a step; none if it was not made or failed."""
        value = self.results.get(key)
        return None if value is None or "failure" in value else value

    def write(self):
        """Writes the page from what there is."""
        failures = {key: value["failure"] for key, value in self.results.items() if "failure" in value}
        parts = [f"# {self.title}", header_text(self.header), *self._reservations(), self.body(self)]
        if failures:
            lines = [f"- {key}: {one_line(words)}" for key, words in failures.items()]
            parts.append("## Steps that failed\n\n" + "\n".join(lines))
        text = "\n\n".join(part.strip() for part in parts) + "\n"
        draft = self.page.with_suffix(".md.tmp")
        draft.write_text(text)
        draft.replace(self.page)

    def _reservations(self):
        """Warnings that a reader needs before the figures."""
        parts = []
        if self.left_out:
            parts.append(f"**Not complete**: the time limit left out {self.left_out} steps; {len(self.results)} were made.")
        if self.unknown:
            flags = ", ".join(f"`{flag}`" for flag in sorted(self.unknown))
            parts.append(f"**Made with a duet that does not have {flags}**, so that it was left out of every command.")
        return parts

    def of_papers(self):
        """The program of the papers' studies, which is beside duet."""
        program = self.duet.with_name("duet-study")
        if not program.exists():
            sys.exit(f"there is no `{program}`: build it with `cargo build --release -p duetbench-study`")
        return program

    def known(self, *arguments):
        """The arguments without the flags, and their values, that this duet does not have."""
        if self._help is None:
            self._help = run([self.duet, "compare", "--help"], "/")
        kept, dropping = [], False
        for word in arguments:
            if word.startswith("--"):
                dropping = not re.search(rf"{word}\b(?!-)", self._help)
                self.unknown |= {word} if dropping else set()
            kept += [] if dropping else [word]
        return kept

    def finish(self):
        """Writes the page and prints it, and compresses the results."""
        self.write()
        # Without a time and a name in it, the same results make the same file.
        with self.published.open("wb") as target, gzip.GzipFile("", "wb", fileobj=target, mtime=0) as compressed:
            compressed.write(self.lines.read_bytes())
        self.lines.unlink()
        print(self.page.read_text())

    def compare(self, base, head, *options, db="study.db"):
        """The JSON report of `duet compare`."""
        return self.report(["compare", str(base), str(head), *options], db)

    def analyze(self, run, threshold, db="study.db"):
        """The JSON report of a stored run, judged with another threshold."""
        return self.report(["analyze", run, "--threshold", threshold], db)

    def report(self, arguments, db):
        """Runs duet for a JSON report. Exit codes are verdicts; only a missing report is a failure.

        Added to it are how long duet took in all, how long it took until it measured, and what it said meanwhile.
        """
        command = [*self.prefix, self.duet, *arguments, "--format", "json", "--db", self.scratch / db]
        began, prepared, said = time.monotonic(), None, []
        with (self.scratch / "report.json").open("w+") as output:
            with subprocess.Popen(command, cwd=self.scratch, env=self.environment, stdout=output, stderr=subprocess.PIPE,
                                  text=True) as child:
                for line in child.stderr:
                    said.append(line)
                    if prepared is None and re.match(r"run \w+: measuring", line):
                        prepared = time.monotonic() - began
            took = time.monotonic() - began
            output.seek(0)
            try:
                return json.load(output) | {"wall_s": took, "prepared_s": prepared, "said": "".join(said)}
            except ValueError:
                words = "".join(said)
                failed = Failed(f"`duet {' '.join(map(str, arguments))}` ended with {child.returncode}: {words[-500:]}")
                failed.said = words
                raise failed


def open_lines(path):
    """A file of results, compressed or not, for reading."""
    return gzip.open(path, "rt") if str(path).endswith(".gz") else open(path)


def environment():
    """The environment without settings of duet that would change what is measured."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DUET_") or name == "DUET_LOCK"}
    # Changes are planted in the loops of benchmarks, so that these are not the same in both versions.
    return {**kept, "GOWORK": "off", "NO_COLOR": "1", "DUET_SAME_BENCHMARKS": "true"}


def run(command, cwd):
    """Standard output of a command that must not fail."""
    ended = subprocess.run([str(part) for part in command], cwd=cwd, env=environment(), capture_output=True, text=True)
    if ended.returncode != 0:
        raise Failed(f"`{' '.join(map(str, command[:4]))}` failed: {(ended.stderr or ended.stdout)[-500:]}")
    return ended.stdout


def module_copy(module, target):
    """A writable copy of a published module."""
    parent = target.parent
    parent.mkdir(parents=True, exist_ok=True)
    found = json.loads(run(["go", "mod", "download", "-json", module], parent))
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(found["Dir"], target, copy_function=shutil.copyfile)
    for directory in [target, *(path for path in target.rglob("*") if path.is_dir())]:
        directory.chmod(0o755)
    return target


def digest(report):
    """The parts of a report that the pages need, without its forks."""
    names = {"verdict": "verdict", "mode": "mode", "ratio": "ratio", "low": "ratio_low", "high": "ratio_high",
             "confidence": "confidence", "p": "p_value", "basis": "basis", "detects": "minimal_detectable_change", "base_ns": "baseline_ns", "package": "package", "name": "name",
             "failure": "failure"}
    # A former duet has one clock, and does not name it, nor the programs as they are linked.
    benchmarks = [{short: b[long] for short, long in names.items()} | {name: b.get(name) for name in ("clock", "as_linked")}
                  | {count: (b["counts"] or {}).get(count) for count in ("forks", "builds")} for b in report["benchmarks"]]
    return {"run": report["run"], "seed": report["seed"], "complete": report["complete"], "measured_s": report["measured_s"],
            "wall_s": report["wall_s"], "prepared_s": report["prepared_s"],
            "steal_share": report["environment"]["steal_share"], "counts": report["counts"], "benchmarks": benchmarks}


def changed(result):
    """Number of benchmarks called changed."""
    return sum(result["counts"].get(word, 0) for word in CALLED)


def count(benchmarks, verdicts):
    return sum(b["verdict"] in verdicts for b in benchmarks)


def with_interval(benchmarks):
    """Number of benchmarks that could have been called changed: for the others there was not enough time for an interval."""
    return sum(b["verdict"] in MEASURED and b["low"] is not None and b["high"] is not None for b in benchmarks)


def per_benchmark(result):
    """Wall seconds for each benchmark; none when there were none."""
    return result["wall_s"] / len(result["benchmarks"]) if result["benchmarks"] else None


def said(b):
    """A benchmark's estimate, interval and verdict in words."""
    return f"{percent(b['ratio'] - 1, 1)} [{percent(b['low'] - 1, 1)}, {percent(b['high'] - 1, 1)}] {spoken(b['verdict'])}"


def spoken(word):
    """A word of the report as it is said."""
    return word.replace("_", " ")


def half_width(b):
    """Half of the width of a benchmark's interval, as a log ratio."""
    return math.log(b["high"] / b["low"]) / 2


def median_detects(result):
    """Median minimal detectable change of the benchmarks that were compared; one without a bound counts as infinite."""
    compared = [b for b in result["benchmarks"] if b["ratio"] is not None]
    return statistics.median(math.inf if b["detects"] is None else b["detects"] for b in compared) if compared else math.nan


def upper_bound(hits, cases, error=0.01):
    """The exact upper bound of a share (Clopper and Pearson, 1934): were it larger, so few hits would come up with less
    than this probability."""
    if cases == 0 or hits >= cases:
        return 1.0
    low, high = hits / cases, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if at_most(hits, cases, middle) > error else (low, middle)
    return high


def at_most(hits, cases, share):
    """Probability of at most so many hits, were this the share."""
    whole = math.lgamma(cases + 1)
    return sum(math.exp(whole - math.lgamma(k + 1) - math.lgamma(cases - k + 1) + k * math.log(share)
                        + (cases - k) * math.log1p(-share)) for k in range(hits + 1))


def kept(text):
    """The header of a study's results, its last where it was written again, and the steps that did not fail; none without any."""
    header, results = None, {}
    for line in text.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:  # the line that was being written when the run was killed
            continue
        if "header" in entry:
            header = entry["header"]
        elif "failure" not in entry["value"]:
            results[entry["key"]] = entry["value"]
    return header, results


def describe(duet):
    """Where and with what a study was made."""
    fields = dict(line.split(":", 1) for line in Path("/proc/cpuinfo").read_text().splitlines() if ":" in line)
    fields = {name.strip(): value.strip() for name, value in fields.items()}
    # Virtual machines give several processors one name.
    numbers = [f"{name} {fields[name]}" for name in ("cpu family", "model") if name in fields]
    cpu = ", ".join([fields.get("model name", "unknown processor"), *numbers])
    return {
        "machine": f"{cpu}, {len(os.sched_getaffinity(0))} usable processors, {os.uname().sysname} {os.uname().release}",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "duet": f"{run([duet, '--version'], '/').strip()}, {revision()}",
        "toolchain": run(["go", "version"], "/").strip(),
        "load": f"{os.getloadavg()[0]:.2f}",
        "command": command_line(),
    }


def command_line():
    """The command line as typed, without `--resume` and `--turns`: they do not change what is measured."""
    typed = [word for word in without(sys.argv[1:], "--turns") if word != "--resume"]
    return f"benches/{Path(sys.argv[0]).name} {shlex.join(typed)}".strip()


def measures(command):
    """A command line without how long it may take, with whom it shares the machine, and where programs and pages lie."""
    return without(shlex.split(command), *OF_A_MOMENT, "--time-limit")


def comparable(command):
    """A command line that also leaves out how often each step is made, since more of the same goes on with a study."""
    return without(measures(command), "--repetitions", "--references")


def without(words, *options):
    """The words of a command line without these options and their values."""
    kept, dropping = [], False
    for word in words:
        found = word.partition("=")[0] in options
        kept += [] if found or dropping else [word]
        dropping = found and "=" not in word
    return kept


def differs(now, before):
    """Whether a study goes on with another duet or on another machine, or measures more than it did."""
    return now["machine"] != before["machine"] or now["duet"] != before["duet"] or measures(now["command"]) != measures(before["command"])


def revision():
    """The revision of the work tree, and whether what duet is built from differs from it."""
    try:
        name = run(["git", "rev-parse", "--short", "HEAD"], REPOSITORY).strip()
        differs = run(["git", "status", "--porcelain", "--", "Cargo.toml", "Cargo.lock", "crates", "hooks"], REPOSITORY)
    except (Failed, OSError):
        return "revision unknown"
    return f"revision {name}" + (" with uncommitted changes" if differs else "")


def header_text(header):
    rows = [["machine", header["machine"]], ["load average at the start", header["load"]], ["date", header["date"]],
            ["duet", header["duet"]], ["toolchain", header["toolchain"]], ["made by", f"`{header['command']}`"]]
    rows += [["beside it", header["beside"]]] if "beside" in header else []
    for later in header.get("later", []):
        rows.append([f"after {later['after']} steps", f"{later['machine']}, {later['duet']}, {later['date']}, load average {later['load']}, `{later['command']}`"])
    return table(["", ""], rows)


def mean(values):
    values = list(values)
    return statistics.mean(values) if values else math.nan


def median_of(values):
    """The median; none for no values."""
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def decimals(value, digits=1):
    """A number as people read it; what is not known stays empty."""
    return "" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def table(head, rows):
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def percent(value, digits=2):
    """A fraction as people read it; what has no bound is `∞`, what is not known stays empty."""
    if value is None or math.isnan(value):
        return ""
    return "∞" if math.isinf(value) else f"{100 * value:.{digits}f} %"


def met(condition):
    """Whether a requirement is met; empty while there is nothing to tell it from."""
    return "" if condition is None else "yes" if condition else "**no**"


def one_line(text):
    return " ".join(text.split())


def paragraph(document, number):
    """A paragraph of a script's description, as running text."""
    return one_line(document.split("\n\n")[number])


def seconds(text):
    """`90s`, `2m` or `1h` as seconds."""
    return float(text[:-1]) * {"s": 1, "m": 60, "h": 3600}[text[-1]]


def seconds_of(benchtime):
    """A Go duration of one unit as seconds."""
    return float(benchtime[:-2]) / 1000 if benchtime.endswith("ms") else seconds(benchtime)


def say(text):
    print(f"{datetime.datetime.now():%H:%M:%S} {text}", file=sys.stderr, flush=True)
