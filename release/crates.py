#!/usr/bin/env python3
"""Lays the crates out as crates.io takes them, in `target/crates`, and packs them: `cargo install duetbench --locked`.

    release/crates.py [-- WORDS...]

Words go to `cargo package`; without any they are `--no-verify --offline`. There, a crate holds every file that it is compiled from, while here some of those lie at the
project's root, where they belong. And the command's crate is called `duetbench` there, as everywhere, so that people have one name to remember.
"""

import pathlib
import re
import shutil
import subprocess
import sys

from project import LICENCES, ROOT, sources, version

# Folders of the root from which crates take files, and the crates that do.
SHARED = {
    "duetbench-run": ["hooks"],
    "duetbench-cli": ["schema", "examples/01-demo", "ci"],
    "duetbench-stats": [],
    "duetbench-core": [],
    "duetbench-formats": [],
    "duetbench-lambda": [],
}
# A path from a file of a crate up to one of those folders: two steps shorter from inside.
UP = re.compile(r"\.\./\.\./((?:\.\./)*(?:hooks|schema|examples|ci)/)")


def lay_out(stage):
    """Copies the workspace, with everything that a crate needs inside of it."""
    shutil.rmtree(stage, ignore_errors=True)
    names = [name for name in sources() if (ROOT / name).is_file()]
    for name in names:
        if name.startswith("crates/") or name in ("Cargo.toml", "Cargo.lock", "clippy.toml"):
            copy(ROOT / name, stage / name)
    for crate, folders in SHARED.items():
        for name in names:
            if any(name.startswith(f"{folder}/") for folder in folders) or name in LICENCES:
                copy(ROOT / name, stage / "crates" / crate / name)
        for path in (stage / "crates" / crate / "src").rglob("*.rs"):
            path.write_text(UP.sub(r"\1", path.read_text()))
    edit(stage / "Cargo.toml", [(r'(duetbench-\w+ = \{ )path', rf'\1version = "={version()}", path'),
                                (r'duetbench-cli = \{ version', 'duetbench-cli = { package = "duetbench", version')])
    edit(stage / "Cargo.lock", [('"duetbench-cli"', '"duetbench"')])
    edit(stage / "crates/duetbench-cli/Cargo.toml", [('name = "duetbench-cli"', 'name = "duetbench"\nautotests = false')])
    # `duet init` names the action of the release that the crate is of.
    edit(stage / "crates/duetbench-cli/src/commands/init/files.rs", [('None => "main"', 'None => concat!("v", env!("CARGO_PKG_VERSION"))')])
    manifest = stage / "crates/duetbench-cli/Cargo.toml"
    # Tests stay here: they need the whole project.
    text = re.sub(r"\[\[test\]\]\n(?:[^\[\n].*\n)*", "", manifest.read_text())
    manifest.write_text(text.replace("[[bin]]", '[lib]\nname = "duetbench_cli"\n\n[[bin]]'))


def copy(here, there):
    there.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(here, there)


def edit(path, changes):
    """Replaces by regular expressions, each of which must be found."""
    text = path.read_text()
    for pattern, replacement in changes:
        text, count = re.subn(pattern, replacement, text)
        if count == 0:
            raise SystemExit(f"release: `{pattern}` is not in {path}")
    path.write_text(text)


def main():
    stage = ROOT / "target" / "crates"
    lay_out(stage)
    names = ["duetbench" if name == "duetbench-cli" else name for name in SHARED]
    words = sys.argv[2:] or ["--no-verify", "--offline"]
    packages = [word for name in names for word in ("-p", name)]
    ended = subprocess.run(["cargo", "package", "--locked", "--allow-dirty", *packages, *words], cwd=stage)
    packed = sorted(pathlib.Path(stage).glob("target/package/*.crate"))
    for path in packed:
        print(f"{path.stat().st_size:>10}  {path.relative_to(ROOT)}")
    return ended.returncode


if __name__ == "__main__":
    sys.exit(main())
