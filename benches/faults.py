#!/usr/bin/env python3
"""The cost of faults: duet is killed, stopped, starved and lied to at random points of every command, and then goes on.

Each injection has a directory of its own. A command is begun there and one thing is done to it, at a point of its own progress
that is drawn and stands in the results: at the n-th of its calls of the C library, or once so many trials are in its store. Then it goes on
(`--resume latest`, or the same command again), which must end. *Lost* is what was in the store before and is not, or is another
afterwards, and a file of the user's that is neither the former nor the new one. *Leaked* is every process that outlives duet by more
than 10 s, and every file, directory, worktree or page that is still there after the next run. *Wrong* is an equal benchmark that is
called changed, one that takes three times as long that is called anything but a regression, an exit code that its report does not
have, a report by script that differs in any digit, a panic, an abort, a hang, and a run that cannot go on.

*Open* is no error: a benchmark that takes three times as long ended without an answer, as inconclusive, since other work on the
machine makes intervals wide, or as failed, with the reason, where the fault made its trials fail. After faults that only interrupt,
to fail is wrong.
"""

import collections
import random
import re
import time
import zlib

from fault.case import Case
from fault.kinds import KINDS
from fault.place import Place
from fault.subjects import Tools, subjects, worker_beside
from study import Study, paragraph, parser, say, table

# Begins the names of results that an earlier duet gave, whose defects have been mended since.
BEFORE = "before: "


def main():
    options = parser(__doc__.splitlines()[0], "faults.md")
    options.add_argument("--seed", type=int, default=1, help="of everything that is drawn")
    options.add_argument("--scale", type=float, default=1.0, help="so many times as many injections of every kind")
    options.add_argument("--kinds", default="", help="only kinds whose name contains this")
    options.add_argument("--subjects", default="", help="only commands whose name contains this")
    args = options.parse_args()
    study = Study(args, "A thousand faults", body)
    worker = worker_beside(study.duet, study.scratch)
    all_subjects = subjects(worker)
    tools = Tools(study, worker)
    say("learning how every command goes undisturbed")
    tools.warm(all_subjects)
    planned = plan(args, all_subjects)
    names = sorted({name for _, name, _ in planned})
    if any(all_subjects[name].project == "go" for name in names):
        tools.built = warm_go(tools, all_subjects)
    for name in names:
        all_subjects[name].learn(tools)
    inject(study, tools, all_subjects, (planned, args.seed))
    study.finish()


def warm_go(tools, all_subjects):
    """A cache with the linkers and rewriters that duet builds, which all places share."""
    place = Place(tools, tools.projects["go"])
    place.duet(all_subjects["compare, Go, many builds"].args, wait_s=600)
    return place.root / "cache"


def plan(args, all_subjects):
    """All injections: kind, command, number; in a random order, so that a time limit leaves them out evenly."""
    planned = []
    for kind, (_, counts) in KINDS.items():
        for name, number in counts.items():
            if args.kinds in kind and args.subjects in name and (all_subjects[name].args.count("None") == 0):
                planned += [(kind, name, i) for i in range(max(1, round(number * args.scale)))]
    random.Random(args.seed).shuffle(planned)
    return planned


def inject(study, tools, all_subjects, course):
    began, made, (planned, seed) = time.monotonic(), 0, course
    for done, (kind, name, number) in enumerate(planned, 1):
        key = f"{kind} / {name} / {number}"
        fresh = key not in study.results
        rng = random.Random(zlib.crc32(f"{key} {seed}".encode()))
        result = study.do(key, lambda: Case(tools, all_subjects[name], kind, rng).result(KINDS[kind][0]))
        made += fresh
        problems = [problem for word in ("lost", "leaked", "wrong") for problem in (result or {}).get(word, [])]
        for problem in problems if fresh else []:
            say(f"  {key}: {problem}")
        if fresh and done % 10 == 0:
            left = (time.monotonic() - began) / made * (len(planned) - done)
            say(f"{done} of {len(planned)}, {left / 60:.0f} min left")


def body(study):
    results = [result for key in study.results if not key.startswith(BEFORE) and (result := study.get(key))]
    made = [result for result in results if result["injections"]]
    parts = ["\n\n".join(paragraph(__doc__, number) for number in (1, 2)), "## Counts", counts(made)]
    missed = len(results) - len(made)
    if missed:
        parts.append(f"{missed} more did not come about, because the command had ended before its point was reached; they count nowhere.")
    revisions = collections.Counter(result["duet"] for result in made)
    if len(revisions) > 1:
        made_by = "; ".join(f"{row([r for r in made if r['duet'] == name])[0]} by {name} ({', '.join(kinds_of(made, name))})" for name in revisions)
        parts.append(f"Not all were made by one revision: {made_by}.")
    parts += ["## By command", by_subject(made)]
    mended = findings([result for key in study.results if key.startswith(BEFORE) and (result := study.get(key))])
    parts += ["## Found before, and mended", "They are not in the counts above.", *mended] if mended else []
    found = findings(made)
    return "\n\n".join([*parts, *(["## Findings", *found] if found else [])])


def findings(results):
    """A list of everything that was lost, leaked or wrong, if there is any; what is the same stands there once."""
    lines = collections.Counter(f"{result['kind']}, {result['subject']} ({result['duet']}): {word}, {shown(problem)}"
                                for result in results for word in ("lost", "leaked", "wrong") for problem in result[word])
    return ["\n".join(f"- {number} ×: {line}" for line, number in lines.items())] if lines else []


def counts(made):
    kinds = [kind for kind in KINDS if any(result["kind"] == kind for result in made)]
    return table(["fault", *HEAD], [[kind, *row([r for r in made if r["kind"] == kind])] for kind in kinds] + [["**all**", *row(made)]])


def shown(problem):
    """A finding without what differs from run to run."""
    return re.sub(r"duet-\d+", "duet-PID", re.sub(r" \(\d+\)|/\S*/(?=\S+\.rs)", "", problem))[:200]


def kinds_of(made, revision):
    """Kinds of injections that a revision made, where these are not nearly all."""
    kinds = sorted({result["kind"] for result in made if result["duet"] == revision})
    return kinds if len(kinds) < len(KINDS) / 2 else ["the others"]


def by_subject(made):
    names = collections.Counter(result["subject"] for result in made)
    return table(["command", *HEAD], [[name, *row([r for r in made if r["subject"] == name])] for name in sorted(names)])


HEAD = ["injections", "lost", "leaked", "wrong", "open"]


def row(results):
    """Injections, and after how many cases something was lost, leaked, wrong, or only open."""
    return [f"{sum(r['injections'] for r in results):,}", *(sum(bool(r[word]) for r in results) for word in HEAD[1:])]


if __name__ == "__main__":
    main()
