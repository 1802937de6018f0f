#!/usr/bin/env python3
"""A doubled workload in duet mode: does the ratio come out as 2.0, idle and under load?

Section 4.4 of Bulej et al., "Duet Benchmarking" (RQ4): where one side takes longer, it runs alone at the end of each iteration, and the ratio
may be underestimated. Four artificial workloads that press on one resource each run side by side, the candidate with twice the
operations. Besides the lock-step of iterations, whole processes are compared, with and without starting the shorter side again until
the longer one ends (`--refill`).
"""

import statistics

from noise import noise
from study import REPOSITORY, Study, decimals, listed, paragraph, parser, run, table

KINDS = ["integer", "float", "cache", "memory"]
WAYS = {
    "iterations": ["--lockstep", "--warmup", "2"],
    "processes": [],
    "processes, refilled": ["--refill"],
}
LOADS = {"idle": "quiet", "busy": "burst2"}
TRUE = 2.0


def main():
    options = parser(__doc__.splitlines()[0], "doubled.md")
    options.add_argument("--kinds", type=listed, default=KINDS, help="workloads, separated by commas")
    options.add_argument("--ways", type=lambda text: text.split(";"), default=list(WAYS), help="separated by semicolons")
    options.add_argument("--repetitions", type=int, default=10, help="runs of each")
    options.add_argument("--forks", type=int, default=4, help="fork pairs in each run")
    options.add_argument("--iterations", type=int, default=12, help="iterations of each process")
    args = options.parse_args()
    study = Study(args, "A doubled workload, side by side", lambda study: body(study, args))
    program = built(study)
    for repetition in range(1, args.repetitions + 1):
        for kind in args.kinds:
            for load in LOADS:
                for way in args.ways:
                    study.do(f"{kind}, {load}, {way}, {repetition}",
                             lambda: measured(study, args, program, (kind, load, way, repetition)))
    study.finish()


def built(study):
    """The program with the four workloads."""
    program = study.scratch / "pressure"
    run(["cc", "-O2", "-I", REPOSITORY / "hooks" / "c", REPOSITORY / "benches" / "pressure.c", "-o", program], study.scratch)
    return program


def operations(study, program, kind):
    """Operations that take a tenth of a second here."""
    return study.do(f"{kind} calibrated", lambda: {"operations": int(run([program, kind, "--calibrate"], study.scratch))})["operations"]


def measured(study, args, program, what):
    kind, load, way, repetition = what
    once = operations(study, program, kind)
    iterations = args.iterations if way == "iterations" else 1
    commands = [f"{program} {kind} {once * times} {iterations}" for times in (1, 2)]
    options = ["--command", *study.known(*WAYS[way]), "--mode", "duet", "--forks", str(args.forks), "--fixed"]
    with noise(LOADS[load], repetition):
        report = study.compare(*commands, *options)
    benchmark = report["benchmarks"][0]
    return {"ratio": benchmark["ratio"], "mode": benchmark["mode"], "verdict": benchmark["verdict"], "wall_s": report["wall_s"]}


def body(study, args):
    rows = []
    for kind in args.kinds:
        for way in args.ways:
            rows.append([kind, way, *(cell for load in LOADS for cell in cells(study, args, (kind, load, way)))])
    head = ["workload", "what runs side by side", *(column for load in LOADS for column in
                                                    (f"{load}: median ratio", f"{load}: lowest to highest", f"{load}: runs"))]
    return "\n\n".join([
        paragraph(__doc__, 1),
        f"The true ratio is {TRUE}. *Busy*: a neighbour on each of two cores, busy and idle by turns for 20 to 200 ms. Each run has "
        f"{args.forks} fork pairs; runs asked for: {args.repetitions}. Whole processes also fill their memory before they begin, which is not "
        "doubled: for `memory` (64 MiB) that is a good part of them, and their ratio is lower for it.",
        "## Ratios", table(head, rows)])


def cells(study, args, what):
    kind, load, way = what
    found = (study.get(f"{kind}, {load}, {way}, {r}") for r in range(1, args.repetitions + 1))
    ratios = [result["ratio"] for result in found if result and result["ratio"] is not None]
    if not ratios:
        return ["", "", 0]
    return [decimals(statistics.median(ratios), 3), f"{min(ratios):.3f} to {max(ratios):.3f}", len(ratios)]


if __name__ == "__main__":
    main()
