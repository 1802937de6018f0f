#!/usr/bin/env python3
"""What a process costs that does nothing: `/bin/true` against itself, in each mode.

Programs that take less than a few times that are mostly what the system does to start and end a process. The table also says
how small a change of such a process would have been found.
"""

from study import MODES, Failed, Study, mean, one_line, parser, percent, table


def main():
    options = parser(__doc__, "command-floor.md")
    options.add_argument("--command", default="/bin/true", help="the command line")
    options.add_argument("--budget", default="20s", help="measuring time per run")
    options.add_argument("--repetitions", type=int, default=3, help="runs in each mode")
    args = options.parse_args()
    study = Study(args, "What a process costs that does nothing", lambda study: body(study, args))
    for repetition in range(1, args.repetitions + 1):
        for mode in MODES:
            study.do(f"{mode} {repetition}", lambda: measure(study, mode, args))
    study.finish()


def measure(study, mode, args):
    options = ["--mode", mode, "--budget", args.budget, "--fixed"]
    benchmark = study.compare(args.command, args.command, "--command", *options)["benchmarks"][0]
    if not benchmark["forks"]:
        raise Failed(f"nothing was measured: {benchmark['verdict']} {benchmark.get('failure')}")
    sides = [fork[side] for fork in benchmark["forks"] for side in ("baseline", "candidate")]
    return {"verdict": benchmark["verdict"], "wall_ns": mean([side["ns_per_op"] for side in sides]),
            "cpu_ns": mean([side["cpu_ns_per_op"] for side in sides]), "forks": len(benchmark["forks"]),
            "slices": (benchmark["counts"] or {}).get("slices"),
            "detects": benchmark["minimal_detectable_change"]}


def body(study, args):
    rows = []
    for mode in MODES:
        for repetition in range(1, args.repetitions + 1):
            result = study.get(f"{mode} {repetition}")
            if result:
                rows.append([mode, repetition, f"{result['wall_ns'] * 1e-6:.3f}", f"{result['cpu_ns'] * 1e-6:.3f}",
                             result["verdict"], percent(result["detects"]), result["forks"], result["slices"]])
    head = ["mode", "run", "wall ms", "CPU ms", "verdict", "detects", "fork pairs", "processes of each side"]
    return "\n\n".join([one_line(__doc__), table(head, rows), f"The command was `{args.command}` on both sides."])


if __name__ == "__main__":
    main()
