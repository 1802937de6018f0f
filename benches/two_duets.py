#!/usr/bin/env python3
"""How long two versions of duet take to say that nothing changed, and how sharply they see: zap against itself, by both, in turns.

Both measure until every benchmark is settled or has all the build pairs that it may have, or as many fork pairs as they are told to. Every other
repetition goes the other way round, and both get the same seed. Nothing differs, so every benchmark called changed is a false alarm.
"""

import shlex
import statistics
from pathlib import Path

from study import Study, changed, digest, half_width, median_of, one_line, parser, percent, table

MODULE = "go.uber.org/zap@v1.23.0"


def main():
    options = parser(__doc__.splitlines()[0], "two-duets.md")
    options.add_argument("--former", type=Path, required=True, help="the duet to compare with")
    options.add_argument("--former-revision", required=True, help="its revision")
    options.add_argument("--repetitions", type=int, default=5)
    options.add_argument("--module", default=MODULE, help="what is compared with itself")
    options.add_argument("--seed", type=int, default=1, help="of the first repetition")
    options.add_argument("--flags", type=shlex.split, default=[], help="more options for both")
    args = options.parse_args()
    duets = {"former": args.former.resolve(), "now": args.duet.resolve()}
    study = Study(args, "Two versions of duet", lambda study: body(study, args))
    study.environment.pop("DUET_SAME_BENCHMARKS")  # nothing is planted, and a former duet need not know it
    for repetition in range(1, args.repetitions + 1):
        for name in list(duets)[:: 1 if repetition % 2 else -1]:
            study.duet, study._help = duets[name], None
            flags = study.known("--measure-identical", "--packages", ".", "--seed", str(args.seed + repetition), *args.flags)
            study.do(f"{name} {repetition}", lambda: digest(study.compare(args.module, args.module, *flags, db=f"{name}.db")))
    study.finish()


def body(study, args):
    pairs = [(r, study.get(f"former {r}"), study.get(f"now {r}")) for r in range(1, args.repetitions + 1)]
    pairs = [(r, former, now) for r, former, now in pairs if former and now]
    rows = [[r, name, f"{result['measured_s']:.1f}", forks(result), changed(result), result["counts"].get("no_change", 0),
             result["counts"].get("inconclusive", 0), percent(typical_half_width(result))]
            for r, *both in pairs for name, result in zip(("former", "now"), both)]
    head = ["repetition", "duet", "measured s", "fork pairs", "called changed", "no change", "inconclusive", "half-width, median"]
    parts = [*map(one_line, __doc__.strip().split("\n\n")), f"The former is revision {args.former_revision}.", table(head, rows)]
    if pairs:
        numbers = {"time": lambda result: result["measured_s"], "fork pairs": forks, "half-width": typical_half_width}
        rows = [[name, f"{middle(pairs, number):.2f}"] for name, number in numbers.items()]
        rows.append(["time of an invocation, median", f"{statistics.median(slower(former, now) for _, former, now in pairs):.3f}"])
        parts.append(table(["median over repetitions", "now to former"], rows))
    return "\n\n".join(parts)


def forks(result):
    """Fork pairs of all benchmarks."""
    return sum(b["forks"] or 0 for b in result["benchmarks"])


def typical_half_width(result):
    """The median over benchmarks of half of an interval's width."""
    return median_of(half_width(b) for b in result["benchmarks"] if b["ratio"])


def slower(former, now):
    """The median over benchmarks of what an invocation of base takes, now to former."""
    before = {b["name"]: b["base_ns"] for b in former["benchmarks"]}
    return median_of(b["base_ns"] / before[b["name"]] for b in now["benchmarks"] if b["base_ns"] and before.get(b["name"]))


def middle(pairs, number):
    """The median of the ratios of a number of both."""
    return statistics.median(number(now) / number(former) for _, former, now in pairs)


if __name__ == "__main__":
    main()
