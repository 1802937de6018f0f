#!/usr/bin/env python3
"""Checks the documents: every link leads to a file of the repository, and to a heading of it; the glossary's entries can be read.
Needs nothing but Python.

    site/check.py               links and glossary; what `make lint` runs
    site/check.py --readable    also a table of words, words in a sentence and Flesch's reading ease, a page each
"""

import argparse
import functools
import re
import sys
from pathlib import Path

from glossary import entries
from links import REPOSITORY, anchors, documents, links, without_code


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--readable", action="store_true", help="print how readable the pages are")
    args = options.parse_args()
    dead = [f"{path.relative_to(REPOSITORY)}:{line}: `{target}` {why}" for path in documents()
            for line, target in links(path.read_text()) if (why := reason(path, target))]
    if args.readable:
        print(readable())
    _, unread = entries()
    if dead:
        unread = [*dead, f"{len(dead)} links lead nowhere", *unread]
    if unread:
        sys.exit("\n".join(unread))


def reason(path, target):
    """Why a link is dead; nothing if it is not."""
    file, _, anchor = target.partition("#")
    where = (path.parent / file).resolve() if file else path
    if not where.exists():
        return "is no file"
    if not where.is_relative_to(REPOSITORY):
        return "is outside of the repository"
    if anchor and where.suffix == ".md" and anchor not in anchors_of(where):
        return "is no heading there"
    return None


@functools.cache
def anchors_of(path):
    return anchors(path.read_text())


def readable():
    rows = [(str(path.relative_to(REPOSITORY)), *figures(path.read_text())) for path in documents() if "studies" not in path.parts]
    head = f"{'page':44} {'words':>6} {'in a sentence':>13} {'ease':>5}"
    return "\n".join([head, *(f"{name:44} {words:6} {mean:13.1f} {ease:5.0f}" for name, words, mean, ease in rows)])


def figures(text):
    """Words, words in a sentence, and reading ease (Flesch 1948): 206.835 - 1.015 words a sentence - 84.6 syllables a word."""
    prose = re.sub(r"^(\||#|\s*[-*>]|\s*$).*$", lambda found: found[0].strip("|#-*> ") + ".", without_code(text), flags=re.M)
    words = re.findall(r"[A-Za-z][A-Za-z'-]*", prose)
    sentences = max(1, len(re.findall(r"[.!?:;](?=\s|$)", prose)))
    syllables = sum(max(1, len(re.findall(r"[aeiouy]+", re.sub(r"e$", "", word.lower())))) for word in words)
    count = max(1, len(words))
    return len(words), count / sentences, 206.835 - 1.015 * count / sentences - 84.6 * syllables / count


if __name__ == "__main__":
    main()
