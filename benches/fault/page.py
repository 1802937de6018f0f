"""The tables of the page about faults."""

import collections
import re

from study import table

HEAD = ["injections", "lost", "leaked", "wrong", "open"]


def findings(results):
    """A list of everything that was lost, leaked or wrong, if there is any; what is the same stands there once."""
    lines = collections.Counter(f"{result['kind']}, {result['subject']} ({result['duet']}): {word}, {shown(problem)}"
                                for result in results for word in ("lost", "leaked", "wrong") for problem in result[word])
    return ["\n".join(f"- {number} ×: {line}" for line, number in lines.items())] if lines else []


def counts(made, known):
    """The table of faults, in the order of those that are known."""
    kinds = [kind for kind in known if any(result["kind"] == kind for result in made)]
    return table(["fault", *HEAD], [[kind, *row([r for r in made if r["kind"] == kind])] for kind in kinds] + [["**all**", *row(made)]])


def shown(problem):
    """A finding without what differs from run to run."""
    return re.sub(r"duet-\d+", "duet-PID", re.sub(r" \(\d+\)|/\S*/(?=\S+\.rs)", "", problem))[:200]


def kinds_of(made, revision, known):
    """Kinds of injections that a revision made, where these are not nearly all of those that are known."""
    kinds = sorted({result["kind"] for result in made if result["duet"] == revision})
    return kinds if len(kinds) < len(known) / 2 else ["the others"]


def by_subject(made):
    """The table of commands."""
    names = collections.Counter(result["subject"] for result in made)
    return table(["command", *HEAD], [[name, *row([r for r in made if r["subject"] == name])] for name in sorted(names)])


def row(results):
    """Injections, and after how many cases something was lost, leaked, wrong, or only open."""
    return [f"{sum(r['injections'] for r in results):,}", *(sum(bool(r[word]) for r in results) for word in HEAD[1:])]
