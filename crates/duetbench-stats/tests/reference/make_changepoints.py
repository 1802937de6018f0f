"""Writes changepoints.json, the known answers that tests/it/changepoints.rs holds `changepoints` against.

    python3 -m venv /tmp/changes && /tmp/changes/bin/pip install numpy==2.4.6 ruptures==1.1.10
    /tmp/changes/bin/python crates/duetbench-stats/tests/reference/make_changepoints.py

Takes a minute. The answers are exact: optimal partitioning tries every last change of every beginning (Jackson et al. 2005). Where
no variance is at the floor, `ruptures` has to agree with its own normal cost.
"""

import json
import pathlib

import numpy as np
import ruptures

SEGMENT_MIN = 2
VARIANCE_MIN = 1e-8


def cost_of(values, floor):
    def cost(start, end):
        variance = np.var(values[start:end])
        assumed = max(variance, floor)
        return (end - start) * (np.log(assumed) + variance / assumed)

    return cost


def optimum(values, penalty):
    floor = VARIANCE_MIN * np.mean(np.square(values))
    cost = cost_of(values, floor)
    n = len(values)
    best = [np.inf] * (n + 1)
    change = [0] * (n + 1)
    best[0] = -penalty
    for end in range(SEGMENT_MIN, n + 1):
        for start in range(0, end - SEGMENT_MIN + 1):
            total = best[start] + cost(start, end) + penalty
            if total < best[end]:
                best[end], change[end] = total, start
    changes, end = [], n
    while change[end] > 0:
        end = change[end]
        changes.append(end)
    return changes[::-1], best[n]


def by_ruptures(values, penalty):
    """The same by another implementation, whose cost lacks a constant per value."""
    found = ruptures.Pelt(model="normal", min_size=SEGMENT_MIN, jump=1)
    found.cost.add_small_diag = False
    return [int(end) for end in found.fit(values).predict(pen=penalty)][:-1]


def levels(rng, parts):
    return np.concatenate([rng.normal(mean, sd, n) for mean, sd, n in parts])


def case(values, factor):
    penalty = factor * np.log(len(values))
    changes, total = optimum(values, penalty)
    return {"values": list(values), "penalty": penalty, "changes": changes, "cost": total}


def main():
    rng = np.random.default_rng(17)
    series = [
        (levels(rng, [(10, 0.2, 120)]), 15),
        (levels(rng, [(15, 0.5, 30), (10, 0.2, 150)]), 15),
        (levels(rng, [(40, 4, 5), (20, 1, 15), (12, 0.5, 40), (10, 0.2, 120)]), 15),
        (levels(rng, [(10, 0.1, 60), (10, 1.0, 60)]), 15),
        (levels(rng, [(10, 0.2, 50), (11, 0.2, 50), (10, 0.2, 50)]), 3),
        (levels(rng, [(10, 0.5, 10)]), 15),
        (levels(rng, [(20, 0.2, 3), (10, 0.2, 9)]), 3),
        (rng.lognormal(0, 0.5, 100), 3),
        (rng.standard_t(2, 100) + 100, 3),
        (np.cumsum(rng.normal(0, 1, 80)) + 100, 3),
    ]
    cases = [case(values, factor) for values, factor in series]
    for one in cases:
        theirs = by_ruptures(np.array(one["values"]), one["penalty"])
        assert theirs == one["changes"], (theirs, one["changes"])
    # Values on a grid have segments without any spread: only the floor keeps these finite, which others do differently.
    cases.append(case(np.round(levels(rng, [(12, 0.4, 40), (10, 0.4, 60)])), 15))
    cases.append(case(np.repeat([3.0, 2.0, 1.0], [4, 6, 20]), 15))
    path = pathlib.Path(__file__).with_name("changepoints.json")
    rounded = json.loads(json.dumps(cases))
    path.write_text(json.dumps(rounded, indent=0, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
