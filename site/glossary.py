"""The glossary's words with their meanings, and pages on which each word says its own at its first use.

GLOSSARY.md is the only home of definitions: this reads its tables whenever the site is built or checked.
"""

import html
import re

from links import REPOSITORY, without_code

GLOSSARY = REPOSITORY / "GLOSSARY.md"
ENTRY = re.compile(r"\| \*\*(?P<word>[^*|]+)\*\* \| (?P<meaning>[^|]+\.\)?) \|(?: [^|]+)? \|")
# Words that are also everyday words, or something else on some pages (a fork of a repository, a role at a provider): they are
# explained where the page stresses them, which is where it means the glossary's.
ORDINARY = {"artifact", "call", "conditions", "design", "fork", "gate", "look", "open", "package", "page", "pair", "role", "round",
            "rule", "run", "side", "style", "unit"}
# Headings, links and pictures, tags, and blocks of code by indentation: no place for an explanation.
ELSEWHERE = re.compile(r"^#.*$|^ {4,}.*$|!?\[(?:[^\[\]]|\[[^\]]*\])*\]\([^)]*\)|<[^>\n]+>", re.M)


def entries():
    """Words and meanings, and the lines of the tables of words that cannot be read."""
    words, unread = {}, []
    inside = True
    for number, line in enumerate(GLOSSARY.read_text().splitlines(), 1):
        if line.startswith("## "):
            inside = "do not use" not in line
        if not inside or not line.startswith("|") or re.fullmatch(r"\| (word|---) \|.*", line):
            continue
        found = ENTRY.fullmatch(line)
        if not found or found["word"] in words:
            unread.append(f"GLOSSARY.md:{number}: `{line[:60]}` is no entry with a word of its own in bold, and a meaning that ends with a period")
        else:
            words[found["word"]] = plain(found["meaning"])
    return words, unread if words else ["GLOSSARY.md: no entry was found"]


def plain(text):
    """Without the marks of Markdown, which a tooltip would show."""
    return re.sub(r"[`*]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text))


def explained(text, words):
    """The page with each word's meaning at its first use."""
    by_length = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    use = re.compile(rf"(?P<stress>\*{{1,2}})?(?<![\w/-])(?P<word>{by_length})s?(?![\w-])(?P<end>\*)?", re.I)
    spelling = {word.lower(): word for word in words}
    seen, pieces, done = set(), [], 0
    for found in use.finditer(ELSEWHERE.sub(lambda hidden: " " * len(hidden[0]), without_code(text))):
        word = spelling[found["word"].lower()]
        stressed = found["stress"] and found["end"]
        if word in seen or (word in ORDINARY and not stressed):
            continue
        seen.add(word)
        start, end = found.start() + len(found["stress"] or ""), found.end() - len(found["end"] or "")
        pieces += [text[done:start], f'<abbr title="{html.escape(words[word])}">{text[start:end]}</abbr>']
        done = end
    return "".join([*pieces, text[done:]])
