"""The true size of a change of a Go benchmark, found without duet: by the time of whole, free-running processes.

The time of an operation is the difference of two runs of the compiled test binary, one longer than the other, divided by the
difference of their operations, so that starting, set-up and warming up cancel. Processor time is what the kernel says when the
process has ended. Both sides are run in pairs, many times. On one processor the two processes of a pair take turns, a tenth of a second
or two collections each, the other one being stopped meanwhile: neighbours on the host make the same code slower by a quarter for a second
or two, which would else be taken for a difference of the two. A turn ends outside of collections: Go's collector may use a quarter of the time on one processor, by the clock on the
wall, and would take the time for which its process is stopped for some of that.

Where a program lies in memory makes it a percent or two faster or slower, and it lies there as long as its file is in the page cache: each
repetition runs copies of its own.

A run makes a whole number of collections, and with few of them that would be an error which no repetition removes. Therefore both
lengths get a random part of one collection's operations more, evenly spread over the repetitions: the expected number is then right.
"""

import contextlib
import copy
import math
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
import typing

from study import REPOSITORY, Failed, environment, kept, open_lines, run

SIDES = ("base", "head")
# The least that a pilot run takes, seconds of processor time; longer until it has so many collections, if there are any, but not
# longer than that.
PILOT_S, PILOT_COLLECTIONS, PILOT_MOST_S = 0.5, 8, 5
# The time that one of two processes runs before the other has its turn: seconds, or collections of the side that has them less often, after
# the first of which it has read all that the other one drove out of the caches; but then no less than so many seconds.
TURN_S, TURN_COLLECTIONS, TURN_COLLECTED_S = 0.1, 2, 0.015
# The runtime's word for whether it marks, and how long a turn goes on then before it is asked again, seconds.
PHASE, PHASE_S = "runtime.gcphase", 0.0002
# So many standard errors of the truth count as its uncertainty.
ERRORS = 2
# Parts of an integral by Simpson's rule.
SIMPSON = 200


def options_of(options, repetitions):
    """The options that every study of the truth has."""
    options.add_argument("--truth-repetitions", type=int, default=repetitions, help="pairs of long and short processes of each side")
    options.add_argument("--truth-time", type=float, default=2, help="seconds by which the long process is longer, at least")
    options.add_argument("--truth-short", type=float, default=0.2, help="seconds of the short process, set-up left out")
    options.add_argument("--collections", type=int, default=12, help="collections by which the long process is longer, at least")
    options.add_argument("--truth-apart", action="store_true", help="one process after the other, not in turns: neighbours then disturb more, "
                         "and no process is stopped while its collector marks")
    options.add_argument("--truth", help="take truths from the results of an earlier run, `.jsonl` or `.jsonl.gz`, instead of measuring")


class Truth:
    """The plain test binaries of two directories, and what their benchmarks take."""

    def __init__(self, study, args, directories, about=""):
        self.study, self.args, self.processors, self.about = study, args, 1, about
        self.kept, self.origin = earlier(args.truth) if args.truth else ({}, "")
        self.take(directories)

    def take(self, directories):
        """Builds the programs of these directories, and finds where each says whether it marks."""
        self.binaries = [built(self.study, directory) for directory in directories]
        self.phases = [address_of(binary, PHASE) for binary in self.binaries]

    def on(self, processors):
        """The same with another number of processors."""
        other = copy.copy(self)
        other.processors = processors
        return other

    def names(self, pattern):
        """All benchmarks, subordinate ones too, whose name matches."""
        # On one processor no number of processors is added to the names.
        output = run([self.binaries[0], "-test.run=^$", "-test.bench=.", "-test.benchtime=1x", "-test.cpu=1"], self.binaries[0].parent)
        names = [line.split()[0] for line in output.splitlines() if "ns/op" in line]
        return [name for name in names if re.search(pattern, name)]

    def measure(self, name, repetition):
        """One repetition of a benchmark, as a step of the study; the first one is preceded by a pilot."""
        pilot = self._do(f"{self.label(name)} pilot", lambda: self._pilot(name))
        if pilot:
            self._do(f"{self.label(name)} {repetition}", lambda: self._pair(name, pilot["sides"], repetition))

    def label(self, name):
        return f"truth {self.about}{name}" + (f" on {self.processors} processors" if self.processors > 1 else "")

    def _do(self, key, work):
        if key in self.kept:
            return self.study.do(key, lambda: self.kept[key])
        return self.study.do(key, work) if not self.args.truth else None

    def pilot(self, name):
        """Facts about both sides from the pilot; none if it was not made."""
        found = self.study.get(f"{self.label(name)} pilot")
        return found["sides"] if found else None

    def log_ratios(self, name, what="cpu_ns"):
        """The logarithm of the ratio of the two sides in each repetition."""
        found = (self.study.get(f"{self.label(name)} {r}") for r in range(1, self.args.truth_repetitions + 1))
        return [math.log(pair["head"][what] / pair["base"][what]) for pair in found if pair and all(pair[side][what] for side in SIDES)]

    def ratio(self, name, what="cpu_ns"):
        """The mean of the log ratios and its standard error; none with fewer than two."""
        return estimate(self.log_ratios(name, what))

    def _pilot(self, name):
        """Time, bytes and collections of an operation, roughly."""
        return {"sides": [self._roughly(side, name) for side in range(len(SIDES))]}

    def _roughly(self, side, name):
        idle, operations = self._run(side, name, 1, traced=True), 1
        while True:
            found = self._run(side, name, operations, traced=True)
            spent, collections = (found[what] - idle[what] for what in ("cpu_s", "collections"))
            if spent >= PILOT_S and (collections < 2 or collections >= PILOT_COLLECTIONS or spent >= PILOT_MOST_S):
                break
            operations = math.ceil(operations * min(100, max(2, 1.5 * PILOT_S / max(spent, PILOT_S / 100))))
        return {"ns": 1e9 * spent / operations, "bytes": found["bytes"], "each_collection": operations / max(1, collections),
                "collects": collections > 1}

    def _pair(self, name, pilots, repetition):
        """Short and long processes of both sides, from fresh copies of the programs; who goes first is random."""
        chance = random.Random(f"{name} {self.processors} {repetition}")
        lengths = [self._lengths(name, side, pilot, repetition) for side, pilot in enumerate(pilots)]
        used = [None, None]
        with self._with_copies(chance.sample((0, 1), 2)) as fresh:
            for which in chance.sample((0, 1), 2):
                operations = [lengths[side][which] for side in range(len(SIDES))]
                used[which] = fresh._both(name, operations, turn_of(pilots), chance)
        return {label: slope(used[0][side], used[1][side], lengths[side]) for side, label in enumerate(SIDES)}

    @contextlib.contextmanager
    def _with_copies(self, order):
        """The same with copies of the programs, made in this order of sides."""
        fresh = copy.copy(self)
        fresh.binaries = [binary.with_name("truth-copy.test") for binary in self.binaries]
        try:
            for side in order:
                shutil.copy2(self.binaries[side], fresh.binaries[side])
            yield fresh
        finally:
            for binary in fresh.binaries:
                binary.unlink(missing_ok=True)

    def _both(self, name, operations, turn_s, chance):
        """Processor and wall time of a process of each side, in turns on one processor, else one after the other."""
        first = chance.randrange(2)
        if self.processors > 1 or self.args.truth_apart:
            used = {side: self._run(side, name, operations[side]) for side in (first, 1 - first)}
            return [used[0], used[1]]
        with contextlib.ExitStack() as stack:
            children = [stack.enter_context(self._started(side, name, operations[side])) for side in range(len(SIDES))]
            for child in children:
                os.kill(child.pid, signal.SIGSTOP)
            running = first
            while not all(child.ended for child in children):
                running = running if children[1 - running].ended else 1 - running
                children[running].run_for(math.inf if children[1 - running].ended else turn_s * chance.uniform(0.5, 1.5))
            return [child.result() for child in children]

    def _lengths(self, name, side, pilot, repetition):
        """Operations of the short and of the long process."""
        each = pilot["each_collection"] if pilot["collects"] else 0
        more = max(self.args.truth_time * 1e9 / pilot["ns"], self.args.collections * each)
        short = self.args.truth_short * 1e9 / pilot["ns"]
        phases = [self._phase(f"{name} {side} {which}", repetition) for which in ("short", "long")]
        return [math.ceil(short + phases[0] * each), math.ceil(short + more + phases[1] * each)]

    def _phase(self, key, repetition):
        """A random share of a collection: one from each of as many equal parts as there are repetitions, in random order."""
        parts = self.args.truth_repetitions
        chance = random.Random(key)
        order, within = chance.sample(range(parts), parts), [chance.random() for _ in range(parts)]
        return (order[repetition - 1] + within[repetition - 1]) / parts

    def _run(self, side, name, operations, traced=False):
        """Processor and wall time of a whole process that makes so many operations."""
        with self._started(side, name, operations, traced) as child:
            child.run_for(math.inf)
            return child.result()

    @contextlib.contextmanager
    def _started(self, side, name, operations, traced=False):
        command, settings = self._command(side, name, operations, traced)
        # A benchmark for one processor stays on one; the last, since the first has more interrupts as a rule.
        core = {max(os.sched_getaffinity(0))} if self.processors == 1 else os.sched_getaffinity(0)
        with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as trace:
            # In a session of its own, because a group with a stopped process in it is hung up when the script's own shell ends.
            started = subprocess.Popen(command, cwd=self.binaries[side].parent, env=environment() | settings, stdout=output, stderr=trace,
                                       start_new_session=True,
                                       preexec_fn=lambda: os.sched_setaffinity(0, core))
            try:
                yield Child(name, started, Said([output, trace], self._read), self.phases[side])
            finally:
                if started.returncode is None:
                    started.kill()
                    started.wait()

    def _command(self, side, name, operations, traced):
        """The words that make a process do so many operations, and its settings in the environment."""
        pattern = "/".join(f"^{re.escape(part)}$" for part in name.split("/"))
        words = [self.binaries[side], "-test.run=^$", f"-test.bench={pattern}", f"-test.cpu={self.processors}",
                 f"-test.benchtime={operations}x"]
        return words, {"GOMAXPROCS": str(self.processors)} | ({"GODEBUG": "gctrace=1"} if traced else {})

    @staticmethod
    def _read(text, trace):
        """Bytes of an operation and collections of a process; none if it did not measure."""
        line = next((line for line in text.splitlines() if "ns/op" in line), None)
        allocated = line and re.search(r"(\d+) B/op", line)
        return line and {"bytes": allocated and int(allocated[1]), "collections": len(re.findall(r"(?m)^gc \d+ @", trace))}


class Child:
    """A process of a benchmark that can be stopped and go on."""

    def __init__(self, name, started, said, phase):
        self.name, self.started, self.said, self.phase = name, started, said, phase
        self.pid, self.began, self.ended, self.usage, self.took = started.pid, time.monotonic(), False, None, None

    def run_for(self, seconds):
        """Lets it go on for so long and until it does not mark, or to its end."""
        self.go_on(seconds)
        while not self.ended and self.marks():
            self.go_on(PHASE_S)

    def go_on(self, seconds):
        os.kill(self.pid, signal.SIGCONT)
        if seconds < math.inf:
            time.sleep(seconds)
        who, status, self.usage = os.wait4(self.pid, 0 if seconds == math.inf else os.WNOHANG)
        self.ended = who == self.pid
        if self.ended:
            self.started.returncode, self.took = os.waitstatus_to_exitcode(status), time.monotonic() - self.began
        else:
            os.kill(self.pid, signal.SIGSTOP)

    def marks(self):
        """Whether a collection is under way in the stopped process; not in one that was just about to end, or that cannot tell."""
        if self.phase is None:
            return False
        try:
            with open(f"/proc/{self.pid}/mem", "rb", buffering=0) as memory:
                return os.pread(memory.fileno(), 4, self.phase) != bytes(4)
        except ProcessLookupError:
            return False

    def result(self):
        """Processor time, wall time, bytes per operation and collections of the process."""
        texts = []
        for file in self.said.files:
            file.seek(0)
            texts.append(file.read())
        read = self.said.read(*texts)
        if self.started.returncode != 0 or read is None:
            raise Failed(f"{self.name} ended with {self.started.returncode}: {''.join(texts)[-300:]}")
        return {"cpu_s": self.usage.ru_utime + self.usage.ru_stime, "wall_s": self.took} | read


class Said(typing.NamedTuple):
    """The files with a process's output and its trace, and the function that reads both."""
    files: list
    read: typing.Callable


def turn_of(pilots):
    """Time that one of two processes runs before the other has its turn, seconds."""
    if not all(pilot["collects"] for pilot in pilots):
        return TURN_S
    return max(TURN_COLLECTED_S, TURN_COLLECTIONS * max(1e-9 * pilot["ns"] * pilot["each_collection"] for pilot in pilots))


def copied(study, module, label, then, now, file="version.go"):
    """A copy of one of the modules of this folder, with one text in the file that makes it baseline or candidate changed."""
    target = study.scratch / label
    shutil.copytree(REPOSITORY / "benches" / module, target)
    source = target / file
    text = source.read_text()
    if then not in text:
        raise ValueError(f"`{source}` has no `{then}`")
    source.write_text(text.replace(then, now))
    return target


def built(study, directory):
    binary = directory / "truth.test"
    run(["go", "test", "-c", "-vet=off", "-trimpath", "-o", binary, "."], directory)
    return binary


def address_of(binary, name):
    """Where a variable of a program lies, which is linked for fixed addresses."""
    lines = run(["go", "tool", "nm", binary], binary.parent).splitlines()
    return next(int(line.split()[0], 16) for line in lines if line.split()[-1] == name)


def slope(short, long, lengths):
    """Nanoseconds of an operation."""
    more = lengths[1] - lengths[0]
    cpu_s, wall_s = (long[clock] - short[clock] for clock in ("cpu_s", "wall_s"))
    if cpu_s <= 0:
        raise Failed("the longer process took less time than the shorter one")
    # A busy machine can stop the shorter process for longer than the other takes: then nothing is known of the wall time.
    return {"cpu_ns": 1e9 * cpu_s / more, "wall_ns": 1e9 * wall_s / more if wall_s > 0 else None, "operations": lengths}


class Mean(typing.NamedTuple):
    """Mean and standard error of logarithms of ratios, and the degrees of freedom of that error."""
    middle: float
    error: float
    degrees: int


def estimate(logs):
    """Their mean; none with fewer than two."""
    return Mean(statistics.mean(logs), error_of(logs), len(logs) - 1) if len(logs) > 1 else None


def error_of(values):
    """Standard error of the mean; infinite for fewer than two values."""
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf


def holds(result, truth):
    """Whether an interval holds the truth, which has an error of its own: each end is as far off as both uncertainties together,
    at the interval's own confidence."""
    at, low, high = (math.log(result[end]) for end in ("ratio", "low", "high"))
    reach = student_quantile((1 + result["confidence"]) / 2, truth.degrees) * truth.error
    return at - math.hypot(at - low, reach) <= truth.middle <= at + math.hypot(high - at, reach)


def student_quantile(p, degrees):
    """The quantile of Student's t for a probability above one half, by bisection.

    With t = sqrt(degrees) tan(a) the density is proportional to cos(a) to the power of degrees - 1."""
    scale = math.gamma((degrees + 1) / 2) / math.gamma(degrees / 2) / math.sqrt(math.pi)
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        parts = [math.cos(angle * i / SIMPSON) ** (degrees - 1) for i in range(SIMPSON + 1)]
        integral = angle / SIMPSON / 3 * (parts[0] + 4 * sum(parts[1::2]) + 2 * sum(parts[2:-1:2]) + parts[-1])
        low, high = (angle, high) if 0.5 + scale * integral < p else (low, angle)
    return math.sqrt(degrees) * math.tan(low)


def earlier(path):
    """The truths among the results of an earlier run, and where and when it was."""
    with open_lines(path) as lines:
        header, results = kept(lines.read())
    truths = {key: value for key, value in results.items() if key.startswith("truth ")}
    return truths, f" The truth is that of an earlier run: {header['machine']}, {header['date']}."


def in_words(found):
    """A truth as people read it."""
    return f"{100 * math.expm1(found.middle):+.2f} % ({100 * found.error:.2f})" if found else ""
