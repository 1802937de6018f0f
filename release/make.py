#!/usr/bin/env python3
"""Makes a release in `dist`: programs, packages, sums, papers. `--check` builds a second time elsewhere and compares every byte.

    release/make.py [--target TRIPLE] [--check] [--sums]

Needs cargo, a JDK with Maven and Python 3.11; the linker comes from PyPI, pinned, into target/release-tools. `--sums` only writes SHA256SUMS anew over what is in
`dist`, where several machines have built.
"""

import argparse
import os
import pathlib
import shutil
import sys
import tempfile

import about
import build
import kinds
import maven
from project import DIST, ROOT, TARGETS, epoch, sources, stem

# A program larger than this has got something in that does not belong there.
DUET_BYTES_MAX = 20_000_000


def main():
    asked = arguments()
    DIST.mkdir(exist_ok=True)
    if asked.sums:
        return write_sums()
    os.environ["SOURCE_DATE_EPOCH"] = str(epoch())
    target = TARGETS[asked.target]
    shutil.rmtree(DIST)
    DIST.mkdir()
    made = release(target, build.programs(ROOT, target, ROOT / "target" / "dist"))
    for name, content in made.items():
        (DIST / name).write_bytes(content)
    write_sums()
    for path in sorted(DIST.iterdir()):
        print(f"{path.stat().st_size:>10}  dist/{path.name}")
    return compare(target, made) if asked.check else None


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", choices=sorted(TARGETS), default="x86_64-unknown-linux-gnu")
    parser.add_argument("--check", action="store_true", help="build twice and compare")
    parser.add_argument("--sums", action="store_true", help="only SHA256SUMS")
    return parser.parse_args()


def release(target, paths):
    """All files of a target's release: name to bytes."""
    duet, worker = (pathlib.Path(path).read_bytes() for path in paths)
    if len(duet) > DUET_BYTES_MAX:
        raise SystemExit(f"release: `duet` has {len(duet)} bytes, more than {DUET_BYTES_MAX}")
    programs = kinds.Programs(target, duet, worker)
    files = kinds.of(programs) | kinds.npm(list(TARGETS.values())) | maven.platform(programs) | maven.plugin(target)
    files[f"{stem(target)}.cdx.json"] = about.text(about.bill(target))
    files["install.sh"] = (ROOT / "release" / "install.sh").read_bytes()
    files[f"{stem(target)}.provenance.json"] = about.text(about.provenance(target, files))
    return files


def write_sums():
    """One line for each file, as `sha256sum --check` reads them."""
    files = sorted(path for path in DIST.iterdir() if path.name != "SHA256SUMS")
    lines = [f"{about.sum_of(path.read_bytes())}  {path.name}\n" for path in files]
    (DIST / "SHA256SUMS").write_text("".join(lines))


def compare(target, made):
    """Builds copies of the sources in another folder, with nothing compiled before, and compares."""
    with tempfile.TemporaryDirectory(prefix="duet-release-") as folder:
        copy = pathlib.Path(folder) / "elsewhere"
        for name in filter(lambda name: (ROOT / name).is_file(), sources()):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
        again = release(target, build.programs(copy, target, copy / "target"))
    differ = sorted(name for name in made if made[name] != again[name])
    if differ:
        raise SystemExit(f"release: built twice, these differ: {', '.join(differ)}")
    print(f"built twice in different folders: all {len(made)} files are the same bytes")


if __name__ == "__main__":
    sys.exit(main())
