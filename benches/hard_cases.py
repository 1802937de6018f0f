#!/usr/bin/env python3
"""How often do verdicts err on benchmarks that are hard to judge? A simulation.

Equal work, or work that is slower by what the case says, through the functions that `duet compare` uses. Fork pairs of one build vary by
1 %, slices by 3 % and by 5 % alike on both sides; in *modes* half of the processes are in one that is 6 or 8 % slower, and fork pairs vary
by 0.3 % besides. *Work* takes CPU time, *waits* and *interruptions* take none. The threshold is 3 %: *changed* should be said of at most
1 % of equal code, *no change* and *regression* of at most 5 % where the truth is 3 % or more, or less.
"""

import csv
import subprocess

from study import REPOSITORY, Failed, Study, decimals, paragraph, parser, table


def main():
    options = parser(__doc__.splitlines()[0], "hard-cases.md")
    options.add_argument("--draws", type=int, default=4000, help="simulated runs of each row")
    options.set_defaults(duet=REPOSITORY / "target" / "release" / "examples" / "hard_cases")
    args = options.parse_args()
    study = Study(args, "A simulation: benchmarks that are hard to judge", lambda study: body(study, args))
    study.do("simulation", lambda: simulated(study, args))
    study.finish()


def simulated(study, args):
    ended = subprocess.run([study.duet, str(args.draws)], capture_output=True, text=True)
    if ended.returncode != 0:
        raise Failed(f"`hard_cases` failed: {ended.stderr[-500:]}")
    return {"rows": list(csv.DictReader(ended.stdout.splitlines()))}


def body(study, args):
    result = study.get("simulation")
    head = ["case", "fork pairs", "changed", "*regression*", "*no change*", "inconclusive", "mean fork pairs"]
    shares = ["changed", "regression", "no_change", "open"]
    row = lambda one: [one["case"].replace("%", " %"), one["design"], *(f"{decimals(float(one[key]), 1)} %" for key in shares),
                       one["fork_pairs"]]
    rows = [row(one) for one in result["rows"]] if result else []
    return "\n\n".join([paragraph(__doc__, 1), table(head, rows), f"Each row is {args.draws:,} runs."])


if __name__ == "__main__":
    main()
