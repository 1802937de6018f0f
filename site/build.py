#!/usr/bin/env python3
"""Builds the site from the documents: gathers them below dist/site-source, with links that fit there, and runs Zensical.

    make site
"""

import gzip
import re
import shutil
import subprocess
import sys
from pathlib import Path

from glossary import entries, explained
from links import REPOSITORY

DIST = REPOSITORY / "dist"
SOURCE = DIST / "site-source"
# Documents outside of docs/ that are pages too.
PAGES = {"README.md": "index.md", "GLOSSARY.md": "glossary.md", "CHANGELOG.md": "changelog.md", "SECURITY.md": "security.md",
         "ARCHITECTURE.md": "architecture.md", "CONTRIBUTING.md": "contributing.md", "STYLE.md": "style.md",
         "site/samples/README.md": "samples.md"}
SAMPLES = REPOSITORY / "site" / "samples"
ELSEWHERE = "https://github.com/duetbench/duetbench/blob/main/"
TARGET = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
# Pages that define words, or are about something else.
UNEXPLAINED = {"GLOSSARY.md", "CHANGELOG.md", "STYLE.md"}


def main():
    words, unread = entries()
    if unread:
        sys.exit("\n".join(unread))
    shutil.rmtree(SOURCE, ignore_errors=True)
    for path in sorted((REPOSITORY / "docs").rglob("*")):
        if path.is_file() and path.suffix in (".md", ".svg", ".png"):
            gather(path, SOURCE / path.relative_to(REPOSITORY / "docs"), words)
    for name, page in PAGES.items():
        gather(REPOSITORY / name, SOURCE / page, {} if name in UNEXPLAINED else words)
    for packed in SAMPLES.glob("*.html.gz"):
        target = SOURCE / place(packed)
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(gzip.decompress(packed.read_bytes()))
    # The generator writes only below the folder of its settings.
    shutil.copy(Path(__file__).with_name("zensical.toml"), DIST)
    words = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    sys.exit(subprocess.run(words, cwd=DIST, check=False).returncode)


def gather(path, target, words):
    """Copies a document; links of a page lead to pages of the site, or to files of the repository, and words have their meanings."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix != ".md":
        shutil.copy(path, target)
        return
    text = explained(path.read_text(), words) if words else path.read_text()
    target.write_text(TARGET.sub(lambda found: linked(found[1], path, target), text))


def linked(link, path, target):
    file, mark, anchor = link.partition("#")
    if not file or re.match(r"[a-z][a-z+.-]*:", file):
        return link
    leads = (path.parent / file).resolve()
    if not leads.exists() or not leads.is_relative_to(REPOSITORY):
        return link
    inside = place(leads)
    if inside is None:
        return ELSEWHERE + str(leads.relative_to(REPOSITORY)) + mark + anchor
    up = "../" * (len(target.relative_to(SOURCE).parts) - 1)
    return up + str(inside) + mark + anchor


def place(path):
    """The place of a document on the site; none for what is no page."""
    name = str(path.relative_to(REPOSITORY))
    if name in PAGES:
        return Path(PAGES[name])
    if path.parent == SAMPLES:
        return Path("samples") / path.name.removesuffix(".gz")
    is_page = path.suffix in (".md", ".svg", ".png") and path.is_relative_to(REPOSITORY / "docs")
    return path.relative_to(REPOSITORY / "docs") if is_page else None


if __name__ == "__main__":
    main()
