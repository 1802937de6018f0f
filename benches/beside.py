"""duet's estimates beside truths that were told without it."""

import math

from study import spoken, table
from truth import ERRORS, estimate, holds, in_words

POINTS, SHARE = 0.015, 0.1
QUESTIONS = {"near": "near", "wrong": "wrong sign", "holds": "interval holds the truth"}
EXPLAINED = (
    f"An estimate is *near* if it differs from the truth by at most {100 * POINTS:.1f} points or a tenth of the true change. It has the "
    "*wrong sign* if it is on the other side of no change than the truth, where the truth is shown to be on one. The interval *holds* "
    "the truth if its ends, moved outwards by the truth's own uncertainty at the same confidence (Student's t), enclose it. *Open* where the limit "
    f"is within {ERRORS} standard errors of the truth; the word after it says what the middle says.")


def found_in(run, name):
    """The benchmark of this name in a run, if there is either."""
    return next((b for b in run["benchmarks"] if b["name"] == name), None) if run else None


def beside(cases):
    """A table of cases and their totals. A case is a name, the number of the run, the truth and duet's result."""
    cases = [(*case, judged(case[3], case[2])) for case in cases if case[2] and case[3]]
    head = ["benchmark", "run", "truth (standard error)", "duet", "interval", "verdict", "points off", *QUESTIONS.values()]
    rows = [[name, number, in_words(truth), *words(result), verdict["points"], *(verdict[question] for question in QUESTIONS)]
            for name, number, truth, result, verdict in cases]
    return f"{table(head, rows)}\n\n{totals([verdict for *_, verdict in cases])}" if rows else "Nothing was compared."


def together(cases):
    """The mean of each case's runs beside the truth, and totals; both may err. Nothing where no case has two runs."""
    names = dict.fromkeys(case[0] for case in cases)
    rows = []
    for name in names:
        runs = [(truth, result["ratio"]) for one, _, truth, result in cases if one == name and truth and result and result["ratio"]]
        mean = estimate([math.log(ratio) for _, ratio in runs])
        if mean:
            truth = runs[0][0]
            off, change = math.exp(mean.middle) - math.exp(truth.middle), math.expm1(truth.middle)
            uncertain = ERRORS * math.hypot(truth.error, mean.error) * math.exp(truth.middle)
            rows.append([name, len(runs), in_words(truth), in_words(mean), f"{100 * off:+.1f}", near(off, change, uncertain)])
    answers = ["yes", "open, yes", "open, no", "no"]
    given = [row[-1].strip("*") for row in rows]
    head = ["benchmark", "runs", "truth (standard error)", "duet, mean (standard error)", "points off", "near"]
    return f"{table(head, rows)}\n\n{table(answers, [list(map(given.count, answers))])}" if rows else ""


def judged(result, truth):
    """The row of an estimate: its points, and an answer to each question."""
    if result["ratio"] is None:
        return {"points": ""} | dict.fromkeys(QUESTIONS, "")
    middle = truth.middle
    off, change = result["ratio"] - math.exp(middle), math.expm1(middle)
    shown = abs(middle) > ERRORS * truth.error
    return {"points": f"{100 * off:+.1f}", "near": near(off, change, ERRORS * truth.error * math.exp(middle)),
            "wrong": "**yes**" if shown and (result["ratio"] - 1) * change < 0 else "no" if shown else "open",
            "holds": "" if result["low"] is None else "yes" if holds(result, truth) else "**no**"}


def near(off, change, uncertain):
    """Whether an estimate is near the truth; open where the truth is not known well enough to tell."""
    limit = max(POINTS, SHARE * abs(change))
    if abs(off) + uncertain <= limit:
        return "yes"
    return "**no**" if abs(off) - uncertain > limit else "open, yes" if abs(off) <= limit else "open, no"


def words(result):
    """The estimate, its interval and the verdict."""
    if result["ratio"] is None:
        return ["", "", spoken(result["verdict"])]
    interval = "" if result["low"] is None else f"[{100 * result['low'] - 100:+.2f}, {100 * result['high'] - 100:+.2f}]"
    return [f"{100 * result['ratio'] - 100:+.2f} %", interval, spoken(result["verdict"])]


def totals(verdicts):
    answers = ["yes", "open, yes", "open, no", "no", "open", ""]
    rows = []
    for question, name in QUESTIONS.items():
        given = [verdict[question].strip("*") for verdict in verdicts]
        rows.append([name, len(given), *map(given.count, answers)])
    return table(["", "cases", *answers[:-1], "no answer"], rows)
