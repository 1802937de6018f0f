#!/usr/bin/env python3
"""Whether the tests of statistics and tuning notice a defect.

One defect at a time is planted in a copy of the sources, and the tests that are about that room are run. A defect that no test
notices has *survived*: either a test is missing, or the defect changes nothing that anybody could see.
"""

import shutil
import subprocess

from planted_defects import BOOTSTRAP, DETECT, STUDY, TESTS, TUNE
from study import REPOSITORY, Failed, Study, listed, paragraph, parser, table

# Room: its defects, its crate, and what is asked of `cargo test -p` there, one command after the other.
ROOMS = {
    "tune": (TUNE, "duetbench-core", [["--lib", "tune"], ["--test", "it", "tune"]]),
    "bootstrap": (BOOTSTRAP, "duetbench-stats", [["--lib", "bootstrap"], ["--test", "it", "bootstrap"]]),
    "tests": (TESTS, "duetbench-stats", [["--lib"], ["--test", "it", "rank_tests"]]),
    "detect": (DETECT, "duetbench-core", [["--lib", "detect"], ["--test", "it", "detect"]]),
    "study": (STUDY, "duetbench-study", [["--lib"], ["--test", "it", "--", "published", "statistics"]]),
}
LIMIT_S = 300


def main():
    options = parser(__doc__.splitlines()[0], "mutants.md")
    options.add_argument("--rooms", type=listed, default=list(ROOMS), help="which ones")
    args = options.parse_args()
    study = Study(args, "Whether tests notice defects", lambda study: body(study, args))
    copy = study.scratch / "copy"
    shutil.copytree(REPOSITORY, copy, ignore=shutil.ignore_patterns("target", ".git", ".duet"))
    for room in args.rooms:
        defects, crate, commands = ROOMS[room]
        if study.do(f"{room} unharmed", lambda: {"outcome": outcome(copy, crate, commands)})["outcome"] != "survived":
            raise SystemExit(f"the tests of {room} fail without any defect")
        for defect in defects:
            study.do(key_of(room, defect), lambda: planted(copy, defect, crate, commands))
    study.finish()


def key_of(room, defect):
    return " | ".join([room, *defect])


def planted(copy, defect, crate, commands):
    name, sound, harmed = defect
    file = copy / "crates" / crate / "src" / name
    text = file.read_text()
    if sound not in text:
        raise Failed(f"`{sound}` does not stand in `{name}` any more")
    file.write_text(text.replace(sound, harmed, 1))
    try:
        return {"outcome": outcome(copy, crate, commands)}
    finally:
        file.write_text(text)


def outcome(copy, crate, commands):
    """The outcome of a crate's tests on the sources as they are."""
    for command in commands:
        words = ["cargo", "test", "--quiet", "--package", crate, "--target-dir", REPOSITORY / "target" / "mutants", *command]
        try:
            done = subprocess.run(words, cwd=copy, capture_output=True, text=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return "noticed: it does not end"
        if "could not compile" in done.stderr:
            raise Failed("it does not compile")
        if done.returncode:
            return "noticed"
    return "survived"


def body(study, args):
    rows, survivors = [], []
    for room in args.rooms:
        found = [(defect, study.get(key_of(room, defect))) for defect in ROOMS[room][0]]
        found = [(defect, result["outcome"]) for defect, result in found if result]
        survived = [defect for defect, result in found if result == "survived"]
        rows.append([room, len(found), len(found) - len(survived), len(survived)])
        survivors += [[name, f"`{code(sound)}`", f"`{code(harmed)}`"] for name, sound, harmed in survived]
    parts = [paragraph(__doc__, 1), table(["room", "defects", "noticed", "survived"], rows)]
    if survivors:
        parts += ["## Survivors", table(["file", "sound", "planted"], survivors)]
    return "\n\n".join(parts)


def code(text):
    """Code that does not end a cell of a table."""
    return text.replace("|", "\\|")


if __name__ == "__main__":
    main()
