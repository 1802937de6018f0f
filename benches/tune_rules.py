#!/usr/bin/env python3
"""What the rules of the µOpTime paper choose, beside those of its published code.

Result files of the study are read from a folder with the folders `ds1` (Go), `ds2` (JMH, 5 forks × 100 iterations) and `ds3` (JMH, 3 forks ×
20 iterations); they are in its replication package and are not part of this repository. `ds2w` is `ds2` with the first 50 iterations of
every fork cut. The time of those is paid for by the paper's rules here, since they have to be run; the published code forgets it. `ds1i` is `ds1`
with its first instance only, which is all that the published code sees.
"""

import csv
import io
from pathlib import Path

from study import Study, one_line, parser, percent, run, table

METRICS = ["cv", "rmad", "rciw1", "rciw2", "rciw3"]
# Folder, iterations cut, and whether all instances but the first are left out.
SETS = {"ds1": ("ds1", 0, False), "ds1i": ("ds1", 0, True), "ds2": ("ds2", 0, False), "ds2w": ("ds2", 50, False), "ds3": ("ds3", 0, False)}
WITHIN = 0.03


def main():
    options = parser(__doc__, "tune-rules.md")
    options.add_argument("--data", type=Path, required=True, help="the folder with the folders of result files")
    args = options.parse_args()
    study = Study(args, "What the rules of µOpTime and of its published code choose", body)
    # The folder is nobody else's concern.
    study.header["command"] = "benches/tune_rules.py --data DIR"
    for name, (folder, warm_up, first) in SETS.items():
        files = sorted((args.data / folder).glob("*.csv"))
        if files:
            study.do(name, lambda: compared(study, [first_instance(study, file) for file in files] if first else files, warm_up))
    study.finish()


def first_instance(study, file):
    """A copy of a result file without the other instances."""
    copy = study.scratch / file.name
    with file.open(newline="") as text, copy.open("w", newline="") as output:
        lines = csv.DictReader(text)
        kept = csv.DictWriter(output, lines.fieldnames)
        kept.writeheader()
        kept.writerows(row | {"ir_setup": "1"} for row in lines if row["ir_pos"] == "1")
    return copy


def compared(study, files, warm_up):
    """For every metric: how many choices differ, and what both save and keep."""
    by = {compat: chosen(study, files, (compat, warm_up)) for compat in ("paper-code", "paper")}
    result = {"files": len(files), "benchmarks": len(by["paper"]["cv"]), "metrics": {}}
    for metric in METRICS:
        code, paper = by["paper-code"][metric], by["paper"][metric]
        common = [key for key in code if key in paper]
        result["metrics"][metric] = {
            "differ": sum(code[key]["chosen"][-levels(code[key]):] != paper[key]["chosen"][-levels(code[key]):] for key in common)
            / len(common),
            "code": summed(code), "paper": summed(paper)}
    return result


def levels(benchmark):
    """Levels of a configuration without instances."""
    return min(3, len(benchmark["chosen"]))


def chosen(study, files, rules):
    """By metric, what is chosen for every benchmark of every file."""
    compat, warm_up = rules
    command = [study.of_papers(), "choices", *files, "--compat", compat, "--warmup", warm_up, "--format", "csv"]
    by_metric = {metric: {} for metric in METRICS}
    for row in csv.DictReader(io.StringIO(run(command, study.scratch))):
        by_metric[row["metric"]][row["recording"], row["benchmark"]] = {
            "chosen": [int(n) for n in row["chosen"].split("x")], "stable": row["stable"] == "true",
            **{name: float(row[name]) for name in ("full_s", "chosen_s", "change")}}
    return by_metric


def summed(benchmarks):
    each = benchmarks.values()
    return {"saved": 1 - sum(b["chosen_s"] for b in each) / sum(b["full_s"] for b in each),
            "within": sum(abs(b["change"]) <= WITHIN for b in each) / len(each),
            "unstable": sum(not b["stable"] for b in each) / len(each)}


def body(study):
    head = ["set", "metric", "choices that differ", "saved: code", "paper", "within 3 %: code", "paper", "not stable: code", "paper"]
    rows = []
    for name in SETS:
        result = study.get(name)
        for metric in METRICS if result else ():
            both = result["metrics"][metric]
            cells = [percent(both[whose][what], 1) for what in ("saved", "within", "unstable") for whose in ("code", "paper")]
            title = f"{name}: {result['benchmarks']} benchmarks in {result['files']} files" if metric == METRICS[0] else ""
            rows.append([title, metric, percent(both["differ"], 1), *cells])
    return "\n\n".join([one_line(__doc__), table(head, rows)])


if __name__ == "__main__":
    main()
