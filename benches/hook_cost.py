#!/usr/bin/env python3
"""What the hook costs: between the slices of a trial, and in a hooked test binary that no trial uses.

The store holds when every slice began and how long it took. What is left between two slices is the hook's:
reading clocks, writing the record, waiting for the other side's hook. In duet mode a gap reaches from the later of the two
sides' ends to the later of their next starts; in interleaved mode a pair of slices costs the time from its beginning to the
beginning of the next pair, less the two slices.

The very binary that duet measured is run as an ordinary benchmark beside one that `go test -c`
built, in pairs, in random order.
"""

import json
import math
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import threading
import time
from pathlib import Path

from study import REPOSITORY, Failed, Study, environment, met, paragraph, parser, percent, run, spoken, table

LIMITS_US = {"duet": 1.0, "interleaved": 10.0}
# The project of each harness, and its benchmarks that nothing else disturbs: the limits are for slices that only the hook separates.
PROJECTS = {"Go": "small", "Rust": "small_rust"}
JUDGED = {"Go": ["BenchmarkCount", "BenchmarkLoop"], "Rust": ["count"]}
BENCHMARKS = [*JUDGED["Go"], "BenchmarkAllocates", "BenchmarkParallel"]
SLICES = """
    SELECT trials.benchmark, trials.id, samples.iteration, samples.block, samples.role, samples.start_ns, samples.wall_ns
    FROM samples JOIN trials ON trials.id = samples.trial WHERE samples.warm_up = 0
    ORDER BY trials.id, samples.iteration, samples.role"""


def main():
    options = parser(__doc__.splitlines()[0], "hook-cost.md")
    options.add_argument("--forks", type=int, default=40, help="fork pairs of each benchmark in each mode")
    options.add_argument("--pairs", type=int, default=30, help="runs of the plain and the hooked binary for each benchmark")
    options.add_argument("--benchtime", default="200ms", help="length of each of these runs")
    args = options.parse_args()
    random.seed(1)  # the order of runs only
    study = Study(args, "What the hook costs", body)
    for project in PROJECTS.values():
        shutil.copytree(REPOSITORY / "benches" / project, study.scratch / project)
    for harness in PROJECTS:
        for mode in LIMITS_US:
            study.do(f"slices {harness} {mode}", lambda: between_slices(study, harness, mode, args.forks))
    for benchmark in BENCHMARKS:
        study.do(f"binary {benchmark}", lambda: beside_plain(study, benchmark, args))
    study.finish()


def between_slices(study, harness, mode, forks):
    db = study.scratch / f"{harness}-{mode}.db"
    report = measured(study, harness, mode, forks, db)
    names = [planned["name"] for planned in report["plan"]["benchmarks"]]
    modes = {b["name"]: b["mode"] for b in report["benchmarks"]}
    gaps = {name: {"within": [], "pause": []} for name in names}
    with sqlite3.connect(db) as connection:
        for benchmark, previous, current in neighbours(connection.execute(SLICES)):
            kind = "within" if previous[0]["block"] == current[0]["block"] else "pause"
            name = names[benchmark]
            gaps[name][kind].append(gap_us(modes[name], previous, current))
    return {name: {"mode": modes[name], **{kind: spread(found) for kind, found in by_kind.items()},
                   "all": spread([gap for found in by_kind.values() for gap in found])} for name, by_kind in gaps.items()}


def measured(study, harness, mode, forks, db):
    """Runs duet on the small project; keeps the binary that it measures, if that is Go's."""
    project = study.scratch / PROJECTS[harness]
    command = [study.duet, "compare", project, project, "--mode", mode, "--forks", str(forks), "--measure-identical", "--format", "json",
               "--db", db]
    child = subprocess.Popen(command, cwd=study.scratch, env=environment(), text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    messages = []
    threading.Thread(target=lambda: messages.extend(child.stderr), daemon=True).start()
    keeper = threading.Thread(target=keep_binary, args=(child, study.scratch / "hooked.test", messages))
    if harness == "Go":
        keeper.start()
    output = child.stdout.read()
    child.wait()
    if keeper.is_alive():
        keeper.join()
    try:
        return json.loads(output)
    except ValueError:
        raise Failed(f"duet ended with {child.returncode}: {''.join(messages)[-500:]}")


def keep_binary(child, target, messages):
    """Copies the program of a process that duet has started for measuring; duet removes its builds when it ends."""
    while child.poll() is None and not target.exists():
        if any(": measuring " in line for line in list(messages)):
            for pid in children_of(child.pid):
                copy_program(pid, target)
        time.sleep(0.003)


def children_of(parent):
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has ended meanwhile
            continue
        if int(fields[1]) == parent:
            yield int(stat.parent.name)


def copy_program(pid, target):
    draft = target.with_suffix(".part")
    try:
        # Between fork and exec the process is still duet; others link the next programs.
        if Path(os.readlink(f"/proc/{pid}/exe")).name.startswith("program-"):
            shutil.copyfile(f"/proc/{pid}/exe", draft)
            draft.chmod(0o755)
            draft.replace(target)
    except OSError:
        pass  # it has ended meanwhile; there will be others


def neighbours(rows):
    """Pairs of consecutive slices of a trial, each with both sides."""
    key, last, sides = None, None, []
    for benchmark, trial, iteration, block, _role, start, wall in rows:
        if key != (trial, iteration):
            key, sides = (trial, iteration), []
        sides.append({"trial": trial, "iteration": iteration, "block": block, "start": start, "end": start + wall, "wall": wall})
        if len(sides) == 2:
            if last and last[0]["trial"] == trial and last[0]["iteration"] + 1 == iteration:
                yield benchmark, last, sides
            last = sides


def gap_us(mode, previous, current):
    """Time between two slices of both sides; `mode` is the one that the benchmark was really measured in."""
    if mode == "duet":
        gap = max(side["start"] for side in current) - max(side["end"] for side in previous)
    else:
        begins = [min(side["start"] for side in sides) for sides in (previous, current)]
        gap = begins[1] - begins[0] - sum(side["wall"] for side in previous)
    return gap / 1000


def spread(gaps):
    if not gaps:
        return None
    ordered = sorted(gaps)
    return {"count": len(gaps), "median": statistics.median(gaps), "mean": statistics.mean(gaps),
            "p95": ordered[int(0.95 * (len(gaps) - 1))]}


def beside_plain(study, benchmark, args):
    hooked, plain, project = study.scratch / "hooked.test", study.scratch / "plain.test", study.scratch / "small"
    if not hooked.exists():
        measured(study, "Go", "interleaved", 12, study.scratch / "again.db")
    if not hooked.exists():
        raise Failed("the hooked binary was not caught while duet ran it")
    if not plain.exists():
        run(["go", "test", "-c", "-vet=off", "-trimpath", "-buildvcs=false", "-o", plain, "."], project)
    times = {"plain": [], "hooked": []}
    for _ in range(args.pairs):
        order = [("plain", plain), ("hooked", hooked)]
        random.shuffle(order)
        for what, binary in order:
            times[what].append(ns_per_op(binary, benchmark, args.benchtime, project))
    logs = [math.log(h / p) for h, p in zip(times["hooked"], times["plain"])]
    error = statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else math.nan
    return {"plain_ns": statistics.median(times["plain"]), "hooked_ns": statistics.median(times["hooked"]),
            "log_ratio": statistics.mean(logs), "error": error, "pairs": len(logs)}


def ns_per_op(binary, benchmark, benchtime, cwd):
    output = run([binary, "-test.run=^$", f"-test.bench=^{benchmark}$", f"-test.benchtime={benchtime}"], cwd)
    for line in output.splitlines():
        fields = line.split()
        if line.startswith("Benchmark") and "ns/op" in fields:
            return float(fields[fields.index("ns/op") - 1])
    raise Failed(f"no time for {benchmark} in: {output[:200]}")


def body(study):
    slices = {(harness, mode): study.get(f"slices {harness} {mode}") for harness in PROJECTS for mode in LIMITS_US}
    parts = [paragraph(__doc__, 0), "## Asked and measured", asked(slices),
             "## Between slices", paragraph(__doc__, 1),
             gap_table(slices), GAPS_NOTE, "## Beside an unhooked binary",
             paragraph(__doc__, 2), binary_table(study),
             "The interval is 1.96 standard errors of the mean log ratio to both sides. Another layout of the same code "
             "may by itself run at another speed, so a ratio off 1 need not be the hook's work."]
    return "\n\n".join(parts)


GAPS_NOTE = (
    "Times in µs. *Within blocks* are the gaps that nothing but the hook makes. At the *pause* before each block duet exchanges "
    "cores (duet mode), forces a collection (benchmarks that allocate much) and reads memory counters. *All* is the time of a trial "
    "outside its slices, divided by its slices or pairs. The clock readings at the two ends of a slice lie partly inside it and are "
    "not in these figures.")


def asked(slices):
    rows = []
    for (harness, mode), made in slices.items():
        for benchmark in JUDGED[harness]:
            found, limit = (made or {}).get(benchmark), LIMITS_US[mode]
            if found and found["within"]:
                middle = found["within"]["median"]
                what = "slice in duet mode" if mode == "duet" else "interleaved pair"
                rows.append([f"{what}, {harness}, {benchmark}", f"at most {limit:.0f} µs", f"{middle:.2f} µs",
                             f"{found['all']['mean']:.2f} µs", met(middle <= limit)])
    return table(["cost of a", "asked", "median within blocks", "mean of all, pauses included", "median meets it"], rows)


def gap_table(slices):
    rows = []
    for (harness, _), found in slices.items():
        for benchmark, by_kind in (found or {}).items():
            within, pause, every = by_kind["within"], by_kind["pause"], by_kind["all"]
            if every:
                rows.append([harness, benchmark, spoken(by_kind["mode"]), every["count"], *of(within, "median", "mean", "p95"),
                             *of(pause, "median", "mean"), *of(every, "mean")])
    head = ["harness", "benchmark", "mode", "gaps", "within blocks: median", "mean", "95th percentile", "pause: median", "mean", "all: mean"]
    return table(head, rows)


def of(found, *names):
    return [f"{found[name]:.2f}" if found else "" for name in names]


def binary_table(study):
    rows = []
    for benchmark in BENCHMARKS:
        result = study.get(f"binary {benchmark}")
        if result:
            ends = [percent(math.exp(result["log_ratio"] + side * 1.96 * result["error"]) - 1) for side in (-1, 1)]
            rows.append([benchmark, result["pairs"], f"{result['plain_ns']:.2f} ns", f"{result['hooked_ns']:.2f} ns",
                         percent(math.exp(result["log_ratio"]) - 1), " to ".join(ends)])
    return table(["benchmark", "pairs of runs", "plain, median", "hooked, median", "hooked slower by", "interval"], rows)


if __name__ == "__main__":
    main()
