#!/usr/bin/env python3
"""How long would a suite of 1,000 benchmarks take on 1,000 instances, and for how much? A simulation.

**This is a simulation: nothing ran on a fleet.** What decides is real: the dispatcher, the looks of the group-sequential test, and
the forecast. The values are driven by the variances and trial lengths of real runs of three modules; every one of the 1,000 benchmarks
is one of those, drawn with replacement. Instances, their clock and what they cost are assumed.
"""

import csv
import json
import math
import subprocess
from pathlib import Path

from planting import MODULES, packages_of, version
from study import REPOSITORY, STUDIES, Failed, Study, decimals, describe, median_of, module_copy, paragraph, parser, percent, table

FIELDS = ["module", "benchmark", "sd_within", "sd_layout", "trial_s"]
# Price of one machine, US dollars an hour: m7g.large (two processors) in us-east-1, June 2026, as
# https://www.factualminds.com/blog/amazon-ec2-on-demand-pricing-instance-families-2026/ quotes AWS.
MACHINE_USD_PER_HOUR = 0.0816
FLAGS = ["--mode", "interleaved", "--builds", "12", "--forks", "24", "--fixed", "--measure-identical"]


def main():
    options = parser(__doc__.splitlines()[0], "fleet-simulation.md")
    options.add_argument("--variances", type=Path, default=STUDIES / "fleet-simulation.csv", help="what real runs gave")
    options.add_argument("--measure", type=Path, metavar="DUET", help="make that file anew first, with this duet")
    options.add_argument("--machine-price", type=float, default=MACHINE_USD_PER_HOUR, help="of one machine, US dollars an hour")
    options.set_defaults(duet=REPOSITORY / "target" / "release" / "examples" / "fleet_simulation")
    args = options.parse_args()
    if args.measure:
        measure(args)
    study = Study(args, "A simulation: 1,000 benchmarks on a fleet", lambda study: body(study, args))
    study.do("simulation", lambda: simulated(study, read(args.variances)[1]))
    study.finish()


def measure(args):
    """Each module against itself, as `layout.py` does it, in the mode that an instance of one processor has."""
    simulator, output, args.duet, args.output = args.duet, args.output, args.measure, args.variances.with_suffix(".md")
    study, found = Study(args, "", lambda _: ""), []
    for name in MODULES:
        here = module_copy(version(name, "head"), study.scratch / name)
        found += components(name, study.compare(here, here, *packages_of(name), *FLAGS))
    about = describe(study.duet)
    with args.variances.open("w", newline="") as file:
        file.write(f"# {about['date']}, {about['machine']}, load average {about['load']}, {about['duet']}, {about['toolchain']}\n")
        rows = csv.DictWriter(file, FIELDS, lineterminator="\n")
        rows.writeheader()
        rows.writerows(found)
    args.duet, args.output = simulator, output


def components(module, report):
    """The variance components and the trial length of every benchmark of a report."""
    planned = {(p["package"], p["name"]): p for p in report["plan"]["benchmarks"]}
    return [{"module": module, "benchmark": b["name"], "sd_within": f"{b['layout']['sd_within']:.6f}",
             "sd_layout": f"{b['layout']['sd_between']:.6f}",
             "trial_s": f"{planned[b['package'], b['name']]['trial_predicted_ns'] / 1e9:.6f}"}
            for b in report["benchmarks"] if b["layout"]]


def read(path):
    """Where the variances come from, and the variances."""
    if not path.exists():
        raise SystemExit(f"there is no `{path}`: make it with `--measure DUET`")
    about, *lines = path.read_text().splitlines()
    return about.removeprefix("# "), list(csv.DictReader(lines))


def simulated(study, rows):
    lines = "".join(f"{row['sd_within']} {row['sd_layout']} {row['trial_s']}\n" for row in rows)
    ended = subprocess.run([study.duet], input=lines, capture_output=True, text=True)
    if ended.returncode != 0:
        raise Failed(f"`fleet_simulation` failed: {ended.stderr[-500:]}")
    return {"settings": [json.loads(line) for line in ended.stdout.splitlines()]}


def body(study, args):
    about, rows = read(args.variances)
    result = study.get("simulation")
    parts = [paragraph(__doc__, 1), came_from(about, rows), ASSUMED.format(price=args.machine_price)]
    if result:
        machine, grid, varied, longer = result["settings"][0], *split(result["settings"][1:])
        parts += [by_memory(grid, machine, args.machine_price), by_length(longer, args.machine_price), by_spread(varied), how_well(machine)]
    return "\n\n".join(parts)


def split(fleets):
    """The settings of each table: memory and parallelism, what instances differ by, and the length of trials."""
    return fleets[:16], fleets[16:19], fleets[19:]


def machine_usd(machine, price):
    return machine["wall_s"] / 3600 * price


def came_from(about, rows):
    values = {field: [float(row[field]) for row in rows] for field in FIELDS[2:]}
    head = ["", "median", "90 % below", "most"]
    names = {"sd_within": "sd of the log ratio between fork pairs", "sd_layout": "sd between build pairs", "trial_s": "trial, s"}
    shown = [[name, *(show(field, at(values[field])) for at in (median_of, ninetieth, max))] for field, name in names.items()]
    measured = (f"## What real runs gave\n\n{len(rows)} benchmarks of {', '.join(MODULES)} ([fleet-simulation.csv](fleet-simulation.csv)), each module "
                f"against itself with `duet compare {' '.join(FLAGS)}`: {about}. Other work ran on that machine, so the spread may be too large.")
    return measured + "\n\n" + table(head, shown)


def show(field, value):
    return decimals(value, 3) if field == "trial_s" else percent(value)


def ninetieth(values):
    return sorted(values)[math.ceil(0.9 * len(values)) - 1]


ASSUMED = """## What is assumed

- A call measures 2 fork pairs of one benchmark, interleaved; its mean is a unit. A benchmark is looked at after 4, 6, 8, 10, 13, 16 and 20 calls
  and ends when it is settled. Rounds that confirm regressions are not simulated, nor are building and uploading.
- One build of each version is shipped, as drawn from the spread between build pairs: the verdict is about these two builds. Every twentieth
  benchmark is made slower by 5 % and every twentieth by 10 %.
- A fork pair takes as long as it did here with one whole processor, which comes with 1,769 MB; with less memory longer in proportion, with more
  not shorter. That a throttled processor may spread values more is not simulated.
- An instance takes 0.5 s to start, which is billed, a call 50 ms beside measuring. AWS Lambda on x86_64 in us-east-1: $0.0000166667 for a GB-second,
  $0.20 for a million requests (as third parties quote AWS, 2026). Nothing fails and nothing is throttled; the pace begins at 32 calls at once.
- Between instances the log ratio has a standard deviation of 1 %, drawn anew for every call. Nobody has measured that for pairs on Lambda: in the
  recordings of the µOpTime paper (Go, virtual machines) instances explain 0.3 % of a pair's variance, almost nothing, while experiments of
  ElastiBench on Lambda with different settings differ by 1.6 % in the median where they disagree (section 6.2.6). So 0 and 3 % are shown too.
- The one virtual machine makes the same trials one after the other, looked at as often. It is ${price} an hour (m7g.large, us-east-1, June 2026, as
  factualminds.com quotes AWS; an arm64 machine) and always on; instances that differ are not seen there."""


def by_memory(grid, machine, price):
    head = ["memory, MB", "at once", "wall, s", "cost, $", "calls", "instances", "forecast: wall, s", "cost, $", "calls", "VM wall / wall"]
    rows = [[s["memory_mb"], s["parallel"], decimals(s["wall_s"]), decimals(s["cost_usd"], 3), s["calls"], s["instances"],
             decimals(s["forecast_wall_s"]), decimals(s["forecast_cost_usd"], 3), s["forecast_calls"],
             decimals(machine["wall_s"] / s["wall_s"])] for s in grid]
    rows.append(["one VM", 1, decimals(machine["wall_s"]), decimals(machine_usd(machine, price), 3), "", 1, "", "", "", decimals(1.0)])
    return ("## By memory and parallelism\n\n" + table(head, rows) + "\n\nThe forecast is what it takes at most: all 20 calls of every "
            "benchmark. Most end earlier. A call takes a quarter of a second, so with 500 and more at once what takes longest is the pace, which begins "
            "at 32 and grows by half each second, and the looks, for which calls wait; some instances are never needed.")


def by_length(settings, price):
    head = ["trials", "at once", "wall, s", "cost, $", "instances", "VM wall, s", "VM cost, $", "VM wall / wall"]
    rows = []
    for stretch in dict.fromkeys(s["stretch"] for s in settings):
        *fleets, machine = [s for s in settings if s["stretch"] == stretch]
        rows += [[f"{stretch:.0f} times as long", s["parallel"], decimals(s["wall_s"]), decimals(s["cost_usd"], 3), s["instances"],
                  decimals(machine["wall_s"], 0), decimals(machine_usd(machine, price), 3),
                  decimals(machine["wall_s"] / s["wall_s"])] for s in fleets]
    return ("## By the length of trials\n\nduet's trials are short. Other harnesses run a benchmark for a second or more a side, which is about what twenty "
            "times as long comes to. 2,048 MB. The values are the same: that longer trials spread less is not simulated.\n\n" + table(head, rows))


def by_spread(settings):
    head = ["sd between instances", "wall, s", "cost, $", "calls", "settled", "planted slowdowns called", "called against the truth"]
    rows = [[percent(s["instance_sd"], 0), decimals(s["wall_s"]), decimals(s["cost_usd"], 3), s["calls"], of(s["settled"], s["benchmarks"]),
             of(s["planted_called"], s["planted"]), s["called_against_truth"]] for s in settings]
    first = settings[0]
    return (f"## By what instances differ by\n\nWith {first['memory_mb']} MB and {first['parallel']} calls at once, the defaults.\n\n"
            + table(head, rows))


def how_well(machine):
    return ("*Settled* are benchmarks that do not end inconclusive; *called* means a regression, of those planted (some are hidden by the layouts "
            "of the two builds that were drawn); *against the truth* are regressions of benchmarks of which the candidate's build is no slower. "
            f"The one VM settled {of(machine['settled'], machine['benchmarks'])} and called "
            f"{of(machine['planted_called'], machine['planted'])}, {machine['called_against_truth']} against the truth.")


def of(some, all_):
    return f"{some} of {all_}"


if __name__ == "__main__":
    main()
