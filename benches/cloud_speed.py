#!/usr/bin/env python3
"""How long `duet-study cloud` takes for as many values as the paper's data set has, and how much memory.

The values are synthetic: normal, with instances, trials and values that vary on their own, by another amount in each benchmark and
environment. The files are as `pa` reads them, one for each environment. duet's time is that of the whole command: starting, reading the
files, studying, writing tables, figures and JSON.
"""

import json
import random

from study import Study, decimals, median_of, met, one_line, parser, table

HEAD = "project;commit;benchmark;params;instance;trial;fork;iteration;mode;unit;value_count;value\n"
# The most that the command may take.
TIME_MAX_S, MEMORY_MAX_MIB = 60, 2048


def main():
    options = parser(__doc__, "cloud-speed.md")
    options.add_argument("--repetitions", type=int, default=3, help="how often each command is timed")
    options.add_argument("--environments", type=int, default=10, help="number of environments")
    options.add_argument("--shape", default="20,50,10,50", help="benchmarks, instances, trials and values of each environment")
    args = options.parse_args()
    shape = [int(n) for n in args.shape.split(",")]
    study = Study(args, "How long a study of environments takes", lambda study: body(study, args, shape))
    files = [written(study.scratch / f"environment-{i}.csv", shape, i) for i in range(args.environments)]
    for number in range(1, args.repetitions + 1):
        for cores in ("all", "one"):
            for draws in (100, 1):
                study.do(name(cores, draws, number), lambda: studied(study, files, (cores, draws)))
    study.finish()


def name(cores, draws, number):
    return f"{draws} draws, {cores} core{'s' if cores == 'all' else ''}, {number}"


def written(file, shape, seed):
    """The values of an environment."""
    source = random.Random(seed)
    benchmarks, instances, trials, values = shape
    with file.open("w") as text:
        text.write(HEAD)
        for benchmark in range(benchmarks):
            # From a twentieth of a percent to some percent, each source on its own.
            between, of_trial, within = (0.002 * 2 ** source.gauss(0, 1.5) for _ in range(3))
            level = 10 ** source.uniform(1, 6)
            for instance in range(instances):
                at_instance = source.gauss(0, between)
                for trial in range(trials):
                    at_trial = at_instance + source.gauss(0, of_trial)
                    place = f"study;v1;Benchmark{benchmark};;i{instance};{trial + 1};1;"
                    text.writelines(f"{place}{i + 1};avgt;ns/op;1;{level * (1 + at_trial + within * source.gauss(0, 1)):.6g}\n"
                                    for i in range(values))
    return file


def studied(study, files, what):
    """Wall time, processor time and memory of a command."""
    cores, draws = what
    command = [str(study.of_papers()), "cloud", *map(str, files), "--draws", str(draws), "--format", "json", "--out", "tables"]
    result, output = study.resources(command, cores)
    values = sum(one["collected"] for one in json.loads(output)["environments"])
    return result | {"values": values}


def results(study, args, cores, draws):
    found = (study.get(name(cores, draws, number)) for number in range(1, args.repetitions + 1))
    return [result for result in found if result]


def body(study, args, shape):
    def typical(cores, draws, what):
        return median_of(result.get(what) for result in results(study, args, cores, draws))

    def mebibytes(cores, draws):
        memory = typical(cores, draws, "memory_bytes")
        return memory / 2**20 if memory else None

    benchmarks, instances, trials, values = shape
    sizes = (f"{args.environments} environments, {benchmarks} benchmarks, {instances} instances, {trials} trials, {values} values: "
             f"{args.environments * benchmarks * instances * trials * values:,} values in all.")
    wall, memory = typical("all", 100, "wall_s"), mebibytes("all", 100)
    asked = [["time, 100 draws, all cores", f"below {TIME_MAX_S} s", decimals(wall, 1), met(None if wall is None else wall < TIME_MAX_S)],
             ["memory", f"below {MEMORY_MAX_MIB:,} MiB", decimals(memory, 1), met(None if memory is None else memory < MEMORY_MAX_MIB)]]
    rows = [[str(draws), cores, decimals(typical(cores, draws, "wall_s"), 1), decimals(typical(cores, draws, "cpu_s"), 1),
             decimals(mebibytes(cores, draws), 1), f"{typical(cores, draws, 'values') or 0:,.0f}"]
            for draws in (100, 1) for cores in ("all", "one") if results(study, args, cores, draws)]
    return "\n\n".join([
        one_line(__doc__), sizes, table(["what", "asked", "median", "met"], asked), "## By draws and cores",
        table(["draws of each experiment", "cores", "wall, s", "of processor time, s", "memory, MiB", "values read"], rows),
        "Figures are medians over the repetitions. With one draw little but reading is left: the difference is what the experiments take. "
        "One environment is in memory at a time.",
    ])


if __name__ == "__main__":
    main()
