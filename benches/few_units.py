#!/usr/bin/env python3
"""How often equal programs are called changed by the fewest processes that a verdict may rest on.

Two copies of one program that computes for some thirty milliseconds are compared with three fork pairs, in every mode in turn, whatever else the
machine does. Student's t with two degrees of freedom relies on three numbers being normal; time that a scheduler hands out in steps is not.
If that mattered, p-values of equal programs would not be even: the shares below a limit would exceed that limit.
"""

import collections
import os
import shutil
import subprocess

from study import CALLED, MODES, Failed, Study, one_line, parser, percent, table, upper_bound

PROGRAM = """
#include <stdint.h>
int main(void) { volatile uint64_t x = 1; for (int i = 0; i < 30000000; i++) x = x * 6364136223846793005u + 1; return x == 0; }
"""
LIMITS = (0.01, 0.05, 0.10)


def main():
    options = parser(__doc__.splitlines()[0], "few-units.md")
    options.add_argument("--repetitions", type=int, default=100, help="comparisons in each mode")
    options.add_argument("--forks", type=int, default=3, help="fork pairs of each comparison")
    args = options.parse_args()
    study = Study(args, "Verdicts by three processes", lambda study: body(study, args))
    base, head = copies(study)
    for repetition in range(1, args.repetitions + 1):
        for mode in MODES:
            study.do(f"{mode} {repetition}", lambda: compared(study, base, head, mode, args))
    study.finish()


def copies(study):
    source, base, head = (study.scratch / name for name in ("work.c", "base", "head"))
    source.write_text(PROGRAM)
    subprocess.run(["gcc", "-O2", "-o", base, source], check=True)
    shutil.copy(base, head)
    return base, head


def compared(study, base, head, mode, args):
    options = ["--mode", mode, "--forks", str(args.forks)]
    benchmark = study.compare(str(base), str(head), "--command", *options)["benchmarks"][0]
    if benchmark.get("p_value") is None:
        raise Failed(f"nothing was judged: {benchmark['verdict']} {benchmark.get('failure')}")
    return {"verdict": benchmark["verdict"], "p": benchmark["p_value"], "clock": benchmark["clock"],
            "log_ratios": [fork["log_ratio"] for fork in benchmark["forks"]], "load": os.getloadavg()[0]}


def body(study, args):
    by_mode = {mode: [study.get(f"{mode} {n}") for n in range(1, args.repetitions + 1)] for mode in MODES}
    by_mode = {mode: [result for result in results if result] for mode, results in by_mode.items()}
    by_mode["all"] = [result for results in by_mode.values() for result in results]
    rows = [[mode, len(results), *shares(results), called(results)] for mode, results in by_mode.items() if results]
    loads = sorted(result["load"] for result in by_mode["all"]) or [0.0]
    head = ["mode", "comparisons", *(f"p at most {limit}" for limit in LIMITS), "called changed"]
    return "\n\n".join([*(one_line(part) for part in __doc__.split("\n\n")), table(head, rows),
                        f"Load average while measuring: {loads[0]:.1f} to {loads[-1]:.1f}, median {loads[len(loads) // 2]:.1f}. The "
                        "share behind *at most* is the upper bound with 99 % confidence."])


def shares(results):
    return [percent(sum(result["p"] <= limit for result in results) / len(results), 1) for limit in LIMITS]


def called(results):
    words = collections.Counter(result["verdict"] for result in results if result["verdict"] in CALLED)
    hits = sum(words.values())
    which = ", ".join(f"{n} {word}" for word, n in words.items()) or "none"
    return f"{hits} ({which}), at most {percent(upper_bound(hits, len(results)), 1)}"


if __name__ == "__main__":
    main()
