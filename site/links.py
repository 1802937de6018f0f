"""Links of the documents: where they stand, and where they lead."""

import re
import unicodedata
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
# A link or a picture, but not inside of code.
LINK = re.compile(r"(?<!\\)\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
FENCE = re.compile(r"^(```+|~~~+).*?^\1`*\s*$", re.M | re.S)
CODE = re.compile(r"(`+)(?:(?!\1).)+?\1", re.S)


def documents():
    """Every Markdown file that people read, the studies' pages too."""
    folders = ["docs", "benches", "release", "examples", "hooks", "fuzz", "ci", "publish", "site", "schema"]
    return sorted(REPOSITORY.glob("*.md")) + sorted(path for folder in folders for path in (REPOSITORY / folder).rglob("*.md")
                                                    if not {"target", "node_modules"} & set(path.parts))


def without_code(text):
    blank = lambda found: re.sub(r"[^\n]", " ", found[0])
    return CODE.sub(blank, FENCE.sub(blank, text))


def links(text):
    """Targets with the number of their line; those that leave the repository are none of ours."""
    plain = without_code(text)
    for found in LINK.finditer(plain):
        target = found[1]
        if not re.match(r"[a-z][a-z+.-]*:", target):
            yield plain.count("\n", 0, found.start()) + 1, target


def anchors(text):
    """The anchors that GitHub gives to headings."""
    seen, found = {}, set()
    for heading in re.findall(r"^#{1,6}\s+(.*?)\s*#*\s*$", FENCE.sub("", text), re.M):
        words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        kept = "".join(c for c in words.strip().lower() if c in " -_" or unicodedata.category(c)[0] in "LNM")
        anchor = kept.replace(" ", "-")
        number = seen.get(anchor, 0)
        seen[anchor] = number + 1
        found.add(f"{anchor}-{number}" if number else anchor)
    return found | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
