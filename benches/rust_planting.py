"""Published crates with changes of a known size or of no effect, and their benchmarks run by criterion alone.

A plant is extra work at the head of a function that a benchmark runs: rounds of a multiplication, from a table by function and by length of the
input. Base and candidate have the same code and other tables, so that nothing but the work differs. Its rounds come from the benchmark's own
time, corrected by what a trial plant of 20 % really added, because such work overlaps with what is around it.
"""

import json
import re
import shutil
import statistics
import subprocess
import time

from study import Failed, environment, run
from unrelated import turn_round

TRIAL_SIZE, ROUND_NS = 0.20, 0.9
# By crate: the functions that get work, as the file, a pattern that ends behind the opening brace, and the length that tells benchmarks
# apart; the benchmarks as place and length; a private item that is renamed, and the file whose items are moved.
CRATES = {
    "crc32fast@1.5.4": {
        "places": [("baseline.rs", r"fn update_fast_16\([^{]*\{", "buf.len()"), ("combine.rs", r"fn combine\([^{]*\{", "0")],
        "planted": {"baseline/1024": (0, 1024), "baseline/16384": (0, 16384), "combine/64": (1, 0)},
        "renamed": ("update_fast_16", "sixteen_at_once"), "moved": "baseline.rs",
    },
    "realfft@3.5.1": {
        "places": [("lib.rs", r"for RealToComplexEven<T> \{.*?fn process_with_scratch\([^{]*\{", "input.len()"),
                   ("lib.rs", r"for ComplexToRealEven<T> \{.*?fn process_with_scratch\([^{]*\{", "output.len()")],
        "planted": {f"{way} Powers of 2/Real/{n}": (place, n) for place, way in enumerate(["Fw", "Inv"]) for n in (256, 1024)},
        "renamed": ("compute_twiddle", "factor_of_rotation"), "moved": "lib.rs",
    },
    "hashbrown@0.17.1": {
        "places": [("set.rs", rf"fn {name}\(self, rhs: &HashSet<T, S, A>\)[^{{]*\{{", "self.len()") for name in ("bitor", "bitand", "sub")],
        "planted": {"set_ops_bit_or": (0, 1000), "set_ops_bit_and": (1, 1000), "set_ops_sub_small_large": (2, 100)},
        "renamed": ("RawTableInner", "TableWithoutTypes"), "moved": "raw.rs",
    },
}
WORK = """
#[inline(never)]
pub(crate) fn work(place: usize, length: usize) {{
    static ROUNDS: [(usize, usize, u64); {count}] = {rounds};
    let row = core::hint::black_box(&ROUNDS).iter().find(|row| row.0 == place && row.1 == length);
    let rounds = row.map_or(0, |row| row.2);
    let mut x = rounds | 1;
    for _ in 0..rounds {{
        x = x.rotate_left(5).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }}
    core::hint::black_box(x);
}}
"""
KEPT = """
#[used]
static DUET_KEPT: fn(u64) -> u64 = duet_added;

#[inline(never)]
fn duet_added(n: u64) -> u64 {{
    {body}
}}
"""


def function(name, directory):
    """a new function, kept in the program"""
    append(directory, KEPT.format(body="(0..n).fold(n, |sum, i| sum ^ i.wrapping_mul(n))"))


def dependency(name, directory):
    """a new dependency, `itoa`, of which a new function makes use"""
    with (directory / "Cargo.toml").open("a") as manifest:
        manifest.write('\n[dependencies.itoa]\nversion = "1"\n')
    append(directory, KEPT.format(body="itoa::Buffer::new().format(n).len() as u64"))
    run(["cargo", "metadata", "--format-version", "1"], directory)


def renamed(name, directory):
    """a private function or type renamed"""
    old, new = CRATES[name]["renamed"]
    for file in (directory / "src").rglob("*.rs"):
        file.write_text(re.sub(rf"\b{old}\b", new, file.read_text()))


def moved(name, directory):
    """the functions and implementations of a file in the opposite order"""
    pattern = r"(?ms)^(?:(?:///|#\[)[^\n]*\n)*(?:pub(?:\([a-z]+\))? )?(?:const |unsafe )*(?:fn|impl)\b.*?^\}\n"
    turn_round(directory / "src" / CRATES[name]["moved"], pattern)


UNRELATED = {"function": function, "dependency": dependency, "renamed": renamed, "moved": moved}


def append(directory, text):
    with (directory / "src" / "lib.rs").open("a") as root:
        root.write(text)


class Crate:
    """The copies of one crate, and its benchmarks as cargo builds them."""

    def __init__(self, study, name):
        self.study, self.name, self.places, self.planted = study, name, CRATES[name]["places"], CRATES[name]["planted"]
        self.folder = study.scratch / name
        self.effects, self.builds_s = {}, {}

    def names(self):
        """The benchmarks that take part: those that the trial plant slowed down, and all before there was one."""
        return list(self.effects or self.planted)

    def calibrate(self, times):
        """Measures what a round adds to each benchmark; tells whether that came to anything. `times` takes the rounds of two sides."""
        base = self.study.do(f"{self.name} base", lambda: times({}, {}))
        rounds = {b: max(1, round(TRIAL_SIZE * ns / ROUND_NS)) for b, (ns, _) in base["times"].items()} if base else {}
        trial = self.study.do(f"{self.name} trial", lambda: times({}, rounds)) if base else None
        added = {b: after / before - 1 for b, (before, after) in trial["times"].items()} if trial else {}
        # Otherwise the plant did not take.
        self.effects = {b: share / rounds[b] for b, share in added.items() if share > TRIAL_SIZE / 10}
        return bool(self.effects)

    def rounds(self, size):
        return {b: max(1, round(size / effect)) for b, effect in self.effects.items()}

    def plain(self):
        """The copy as it was published."""
        return self._copy("plain", lambda _: None)

    def unrelated(self, kind):
        """The copy with a change that no benchmark runs."""
        return self._copy(kind, lambda directory: UNRELATED[kind](self.name, directory))

    def with_work(self, rounds):
        """The copy with so many rounds of work in each benchmark; all have the same code."""
        table = [(*where, rounds.get(b, 0)) for b, where in self.planted.items()]
        return self._copy("work-" + "-".join(str(row[2]) for row in table), lambda directory: self._plant(directory, table))

    def _plant(self, directory, table):
        for number, (file, pattern, length) in enumerate(self.places):
            path = directory / "src" / file
            text, times = re.subn(f"(?s){pattern}", rf"\g<0>\n    crate::planted::work({number}, {length});", path.read_text())
            if times != 1:
                raise Failed(f"{self.name}: `{pattern}` is in `{file}` {times} times")
            path.write_text(text)
        rows = ", ".join(map(str, table))
        (directory / "src" / "planted.rs").write_text(WORK.format(count=len(table), rounds=f"[{rows}]"))
        append(directory, "\nmod planted;\n")

    def _copy(self, label, change):
        target = self.folder / label
        if not target.exists():
            draft = self.folder / "draft"
            shutil.rmtree(draft, ignore_errors=True)
            fetched(self.name, self.folder, draft)
            change(draft)
            draft.rename(target)
        return target

    def binary(self, directory):
        """The bench program of a copy."""
        program = self.folder / "programs" / directory.name
        if not program.exists():
            if not (self.folder / "target").exists():
                built(directory, self.folder)  # what all copies depend on, which no comparison pays for
            began = time.monotonic()
            made = built(directory, self.folder)
            self.builds_s[directory.name] = time.monotonic() - began
            program.parent.mkdir(exist_ok=True)
            shutil.copy(made, program)
        return program

    def code(self, directory):
        """The machine code of a copy's bench program."""
        text = self.folder / "text"
        run(["objcopy", "-O", "binary", "--only-section=.text", self.binary(directory), text], self.folder)
        return text.read_bytes()


def built(directory, folder, bench="*"):
    """The bench program of a copy, which cargo builds below the folder. All are built in one place, as the revisions of a checkout are."""
    place = folder / "checkout"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(directory, place, copy_function=shutil.copyfile)
    flags = ["--no-run", "--locked", "--bench", bench, "--message-format", "json", "--target-dir", folder / "target"]
    messages = map(json.loads, run(["cargo", "bench", *flags], place).splitlines())
    return next(message["executable"] for message in messages if message.get("executable") and message["target"]["kind"] == ["bench"])


def fetched(name, folder, target):
    """A copy of a published crate, by the user's own cargo, that stands for itself."""
    asking = folder / "asking"
    (asking / "src").mkdir(parents=True, exist_ok=True)
    (asking / "src" / "lib.rs").write_text("")
    crate, version = name.split("@")
    (asking / "Cargo.toml").write_text(f'[package]\nname = "asking"\nedition = "2021"\n[dependencies]\n{crate} = "={version}"\n[workspace]\n')
    packages = json.loads(run(["cargo", "metadata", "--format-version", "1"], asking))["packages"]
    manifest = next(package["manifest_path"] for package in packages if package["name"] == crate)
    shutil.copytree(manifest.removesuffix("/Cargo.toml"), target, copy_function=shutil.copyfile)
    with (target / "Cargo.toml").open("a") as own:
        own.write("\n[workspace]\n")


def criterion(program, home, names, *options):
    """What criterion prints of these benchmarks."""
    pattern = "^(" + "|".join(map(re.escape, names)) + ")$"
    command = [program, "--bench", pattern, "--noplot", "--color", "never", *options]
    ended = subprocess.run([str(word) for word in command], cwd=home.parent, env=environment() | {"CRITERION_HOME": str(home)}, capture_output=True, text=True)
    if ended.returncode != 0:
        raise Failed(f"`{program.name} {pattern}` ended with {ended.returncode}: {ended.stderr[-300:]}")
    return ended.stdout


def times_of(home, baseline, best="mean"):
    """Nanoseconds of every benchmark that criterion keeps under this name."""
    found = {}
    for file in home.glob(f"**/{baseline}/benchmark.json"):
        estimates = json.loads(file.with_name("estimates.json").read_text())
        found[json.loads(file.read_text())["full_id"]] = (estimates.get(best) or estimates["mean"])["point_estimate"]
    return found


def in_turns(crate, sides, turns, lengths):
    """The median time of every benchmark in two copies, whose runs by criterion alternate."""
    programs, seen = [crate.binary(side) for side in sides], [[], []]
    for turn in range(turns):
        for side in (0, 1) if turn % 2 == 0 else (1, 0):
            home = fresh(crate)
            criterion(programs[side], home, crate.names(), *lengths)
            seen[side].append(times_of(home, "new", "slope"))
    return {b: [statistics.median(run[b] for run in runs) for runs in seen] for b in crate.names()}


def fresh(crate):
    """A new home for criterion's results."""
    home = crate.folder / "criterion"
    shutil.rmtree(home, ignore_errors=True)
    return home


WORDS = {"Performance has regressed.": "regression", "Performance has improved.": "improvement",
         "Change within noise threshold.": "no_change", "No change in performance detected.": "no_change"}
CRITCMP = 0.05


def compared(crate, sides, lengths):
    """All of base and then all of the candidate, as `cargo bench` with `--save-baseline` and `--baseline`: criterion's own words on each
    benchmark, and critcmp's ratio of means at its usual threshold of 5 %."""
    programs, home = [crate.binary(side) for side in sides], fresh(crate)
    build_s, began = sum(crate.builds_s.get(side.name, 0) for side in sides), time.monotonic()
    criterion(programs[0], home, crate.names(), "--save-baseline", "before", *lengths)
    printed = criterion(programs[1], home, crate.names(), "--baseline", "before", *lengths)
    took = time.monotonic() - began
    said, before, after = words_on(crate.names(), printed), times_of(home, "before"), times_of(home, "new")
    benchmarks = [{"name": b, "verdict": said[b], "ratio": after[b] / before[b], "critcmp": by_ratio(after[b] / before[b])} for b in said]
    return {"build_s": build_s, "measured_s": took, "wall_s": build_s + took, "benchmarks": benchmarks}


def by_ratio(ratio):
    return "regression" if ratio > 1 + CRITCMP else "improvement" if 1 / ratio > 1 + CRITCMP else "no_change"


def words_on(names, printed):
    """criterion's verdict on each benchmark, as it prints it below the benchmark's name."""
    current, found = None, {}
    for line in printed.splitlines():
        current = next((name for name in names if line == name or line.startswith(f"{name} ")), current)
        if line.strip() in WORDS:
            found[current] = WORDS[line.strip()]
    if set(found) != set(names):
        raise Failed(f"criterion said nothing of {', '.join(set(names) - set(found))}")
    return found
