#!/usr/bin/env python3
"""Makes the sample reports of the site, in site/samples/, by real runs: a page of each, packed, and README.md with what made them.

    site/samples.py                                  by target/release/duet; takes about five minutes
    site/samples.py --duet target/debug/duet

Run it alone on the machine: what else runs makes the intervals wider, which the pages then show. Modules come from the Go module proxy.
"""

import argparse
import gzip
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from links import REPOSITORY

HERE = Path(__file__).with_name("samples")
DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.S)
SIZE_MAX = 500_000


@dataclass
class Sample:
    """A comparison whose report is shown."""

    name: str
    about: str
    arguments: list[str]
    project: Path | None = None


SAMPLES = [
    Sample("textkit", "three small benchmarks of an [example](../../examples/02-textkit), of which one got slower and one faster",
           ["old", "new"], REPOSITORY / "examples" / "02-textkit"),
    Sample("zap", "the root package of a logger, two releases that follow each other: measuring ends where nothing is left to know",
           ["go.uber.org/zap@v1.22.0", "go.uber.org/zap@v1.23.0", "--packages", ".", "--budget", "10m"]),
]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--duet", type=Path, default=REPOSITORY / "target" / "release" / "duet", help="duet binary")
    duet = options.parse_args().duet.resolve()
    HERE.mkdir(exist_ok=True)
    load = f"load {os.getloadavg()[0]:.1f} before"
    rows = [row(sample, *made(sample, duet)) for sample in SAMPLES]
    (HERE / "README.md").write_text(page(rows, duet, load))


def made(sample, duet):
    """The report of a run, as it is stored, and what it says of itself."""
    command = ["compare", *sample.arguments, "--format", "html", "--output", "report.html"]
    with tempfile.TemporaryDirectory(prefix="duet-sample-") as scratch:
        project = Path(scratch) / sample.name
        if sample.project:
            shutil.copytree(sample.project, project, ignore=shutil.ignore_patterns(".duet"))
        else:
            project.mkdir()
        code = subprocess.run([duet, *command], cwd=project, check=False, env={**os.environ, "CI": ""}).returncode
        report = project / "report.html"
        if code not in (0, 3) or not report.is_file():
            sys.exit(f"`duet {' '.join(command)}` ended with {code}")
        text = report.read_text()
    packed = HERE / f"{sample.name}.html.gz"
    packed.write_bytes(gzip.compress(text.encode(), mtime=0))
    if packed.stat().st_size > SIZE_MAX:
        sys.exit(f"{packed} has {packed.stat().st_size} bytes, more than {SIZE_MAX}")
    return command, json.loads(DATA.search(text)[1])


def row(sample, command, data):
    """The line of the table about this sample."""
    shown = "duet " + " ".join(command[:-2])
    return f"| [{sample.name}]({sample.name}.html.gz) | {sample.about} | `{shown}` | {data['headline']} | {data['started'][:10]} |"


def page(rows, duet, load):
    """The page that leads to the samples, with the machine and the revision that made them."""
    said = lambda *words: subprocess.run(words, capture_output=True, text=True, check=True, cwd=REPOSITORY).stdout.strip()
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    machine = f"{model[1] if model else platform.machine()}, {os.cpu_count()} processors, Linux {platform.release()}, {load}"
    return "\n".join([
        "# Sample reports", "",
        "Pages that `duet compare --format html` wrote, as they are. [Reading a verdict](../../docs/reading-a-verdict.md) explains the answers,",
        "[the HTML report](../../docs/html-report.md) the pictures.", "",
        "| report | of | command | answer | day |", "| --- | --- | --- | --- | --- |", *rows, "",
        f"Made by `site/samples.py` with {said(duet, '--version')} (revision {said('git', 'rev-parse', '--short=10', 'HEAD')}) and "
        f"{said('go', 'version').removeprefix('go version ')}, on {machine}. In the repository they are packed (`gunzip`).", ""])


if __name__ == "__main__":
    main()
