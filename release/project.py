"""Facts about the project that every part of a release needs: its one version, its day, and the targets."""

import os
import pathlib
import subprocess
import tomllib
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
REPOSITORY = "https://github.com/duetbench/duetbench"
SUMMARY = "Did this change make the code slower or faster, and how sure is that?"
LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"]


@dataclass(frozen=True)
class Target:
    """A machine that releases are built for, as each kind of package calls it."""

    rust: str
    deb: str
    npm: str
    wheel: str
    worker: str


TARGETS = {
    target.rust: target
    for target in [
        Target("x86_64-unknown-linux-gnu", "amd64", "x64", "manylinux_2_17_x86_64.manylinux2014_x86_64", "x86_64"),
        Target("aarch64-unknown-linux-gnu", "arm64", "arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64", "arm64"),
    ]
}


def version():
    """The version, from its only home."""
    with open(ROOT / "Cargo.toml", "rb") as file:
        return tomllib.load(file)["workspace"]["package"]["version"]


def git(*words):
    """Output of git in the project; empty where there is no repository."""
    ended = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True)
    return ended.stdout.strip() if ended.returncode == 0 else ""


def sources():
    """Every file of the project, without what git ignores; relative to its root."""
    return git("ls-files", "--cached", "--others", "--exclude-standard").splitlines()


def epoch():
    """Seconds since 1970 that every file of a release bears: SOURCE_DATE_EPOCH, else the day of the commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct")
    if not given:
        raise SystemExit("release: neither SOURCE_DATE_EPOCH nor a git commit says which time files shall bear")
    return int(given)


def stem(target):
    """Name of the tarball without its ending."""
    return f"duetbench-{version()}-{target.rust}"
