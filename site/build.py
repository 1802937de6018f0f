#!/usr/bin/env python3
"""Builds the site from the documents: gathers them below dist/site-source, with links that fit there, and runs Zensical.

    make site
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from links import REPOSITORY

DIST = REPOSITORY / "dist"
SOURCE = DIST / "site-source"
# Documents outside of docs/ that are pages too.
PAGES = {"README.md": "index.md", "GLOSSARY.md": "glossary.md", "CHANGELOG.md": "changelog.md", "SECURITY.md": "security.md",
         "ARCHITECTURE.md": "architecture.md", "CONTRIBUTING.md": "contributing.md", "STYLE.md": "style.md"}
ELSEWHERE = "https://github.com/duetbench/duetbench/blob/main/"
TARGET = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")


def main():
    shutil.rmtree(SOURCE, ignore_errors=True)
    for path in sorted((REPOSITORY / "docs").rglob("*")):
        if path.is_file() and path.suffix in (".md", ".svg", ".png"):
            gather(path, SOURCE / path.relative_to(REPOSITORY / "docs"))
    for name, page in PAGES.items():
        gather(REPOSITORY / name, SOURCE / page)
    # The generator writes only below the folder of its settings.
    shutil.copy(Path(__file__).with_name("zensical.toml"), DIST)
    words = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    sys.exit(subprocess.run(words, cwd=DIST, check=False).returncode)


def gather(path, target):
    """Copies a document; links of a page lead to pages of the site, or to files of the repository."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix != ".md":
        shutil.copy(path, target)
        return
    target.write_text(TARGET.sub(lambda found: linked(found[1], path, target), path.read_text()))


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
    is_page = path.suffix in (".md", ".svg", ".png") and path.is_relative_to(REPOSITORY / "docs")
    return path.relative_to(REPOSITORY / "docs") if is_page else None


if __name__ == "__main__":
    main()
