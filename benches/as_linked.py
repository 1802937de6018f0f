#!/usr/bin/env python3
"""Releases of Go modules against the next: how far are two programs as they are linked from what the code makes of them?

`duet compare` says what the code makes, in the mean over layouts that are the same for both versions. Its first trials run the two programs as
the linker lays them out without being asked, a few processes of each, in turns on one core. Where the two ratios are apart, and the answer is not open, it is places
in memory, which are the linker's and the kernel's: whoever compares one build of each version reads it as a change of the code.
"""

import math
import random

from releases import RELEASES, THRESHOLD, compared, estimated, steps
from study import Study, listed, mean, median_of, one_line, parser, percent, spoken, table


def main():
    options = parser(__doc__.splitlines()[0], "as-linked.md")
    options.add_argument("--modules", type=listed, default=list(RELEASES), help="which ones, separated by commas")
    options.add_argument("--budget", default="20s", help="measuring time of a comparison, at most")
    args = options.parse_args()
    study = Study(args, "Programs as they are linked", lambda study: body(study, args))
    for step in random.Random(1).sample(steps(args), len(steps(args))):
        study.do(" ".join(step), lambda: compared(study, step, "--budget", args.budget))
    study.finish()


def body(study, args):
    made = [(step, found) for step in steps(args) if (found := study.get(" ".join(step)))]
    cases = [(step, b) for step, found in made for b in estimated(found) if b["as_linked"] is not None]
    if not cases:
        return "Nothing was measured yet."
    apart = [distance(b) for _, b in cases]
    far = [case for case in cases if distance(case[1]) > math.log1p(THRESHOLD)]
    return "\n\n".join([
        *(one_line(part) for part in __doc__.split("\n\n")),
        f"Of {len(cases)} benchmarks in {len(made)} steps {len(far)} are apart by more than {percent(THRESHOLD, 0)}; the median is {percent(median_of(apart))}, the root mean "
        f"square {percent(math.sqrt(mean(gap * gap for gap in apart)))}.",
        "## Apart", listing(far)])


def distance(b):
    return abs(math.log(b["as_linked"] / b["ratio"]))


def listing(cases):
    rows = [[module, old, new, b["name"].removeprefix("Benchmark"), percent(b["ratio"] - 1), f"[{percent(b['low'] - 1)}, {percent(b['high'] - 1)}]", spoken(b["verdict"]),
             percent(b["as_linked"] - 1)]
            for (module, old, new), b in sorted(cases, key=lambda case: -distance(case[1]))]
    return table(["module", "from", "to", "benchmark", "change", "interval of 90 %", "verdict", "as linked"], rows) if rows else "None."


if __name__ == "__main__":
    main()
