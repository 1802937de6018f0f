#!/usr/bin/env python3
"""Makes `terminal.svg`, the moving picture of a comparison on a terminal, from a real run on examples/02-textkit.

    python3 -m venv v && v/bin/pip install -r docs/pictures/requirements.txt && v/bin/python docs/pictures/terminal.py

Waiting is cut to a second; everything else is as it came from the program. The picture moves by CSS alone, so that it does in a README.
"""

import argparse
import fcntl
import html
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import tempfile
import termios
import time
from pathlib import Path

import pyte

REPOSITORY = Path(__file__).resolve().parents[2]
COLUMNS, LINES = 124, 32
CELL, LINE = 8.4, 18
# Seconds between two frames, at most that of a still picture, and of the last one.
FRAME, STILL, LAST = 0.25, 1.0, 6.0
WAITING = "waiting for process"
COLOURS = {"ff8700": "#ff8700", "brightblue": "#6c9ef8", "5f87ff": "#6c9ef8"}


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--duet", type=Path, default=REPOSITORY / "target" / "release" / "duet", help="duet binary")
    options.add_argument("--output", type=Path, default=Path(__file__).with_name("terminal.svg"))
    options.add_argument("arguments", nargs="*", default=["compare", "old", "new", "--threshold", "1%"])
    args = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(shutil.copytree(REPOSITORY / "examples" / "02-textkit", Path(scratch) / "textkit"))
        frames = shortened(record([args.duet.resolve(), *args.arguments], project))
    args.output.write_text(picture("$ duet " + " ".join(args.arguments), frames))
    print(f"{args.output}: {len(frames)} frames, {args.output.stat().st_size // 1000} kB")


def record(command, directory):
    """The screens of a command with the seconds at which they appeared."""
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.ByteStream(screen)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    process = subprocess.Popen(command, cwd=directory, stdin=theirs, stdout=theirs, stderr=theirs,
                               env=os.environ | {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"})
    os.close(theirs)
    began, frames = time.monotonic(), []
    while True:
        ready, _, _ = select.select([ours], [], [], FRAME)
        try:
            content = os.read(ours, 65536) if ready else b""
        except OSError:  # the program has ended
            break
        if ready and not content:
            break
        stream.feed(content)
        now = time.monotonic() - began
        shown = lines_of(screen)
        if not frames or (shown != frames[-1][1] and now - frames[-1][0] >= FRAME):
            frames.append((now, shown))
    process.wait()
    os.close(ours)
    return [*frames, (time.monotonic() - began, lines_of(screen))]


def lines_of(screen):
    """The screen as lines of stretches that look alike: text, colour, bold."""
    lines = []
    for number in range(LINES):
        stretches = []
        for column in range(COLUMNS):
            cell = screen.buffer[number][column]
            look = (cell.fg, cell.bold)
            if stretches and stretches[-1][1] == look:
                stretches[-1][0] += cell.data
            else:
                stretches.append([cell.data, look])
        # Whoever else measures on this machine is no part of the story.
        if WAITING in "".join(text for text, _ in stretches):
            continue
        lines.append(tuple((text, look) for text, look in stretches) if any(text.strip() for text, _ in stretches) else ())
    while lines and not lines[-1]:
        lines.pop()
    return lines


def shortened(frames):
    """The frames with how long each is shown."""
    until = [later for later, _ in frames[1:]] + [None]
    return [(min(STILL, end - start) if end else LAST, lines) for (start, lines), end in zip(frames, until)]


def picture(prompt, frames):
    total = sum(seconds for seconds, _ in frames)
    height = LINE * (1 + max(len(lines) for _, lines in frames)) + 24
    rules, groups, at = [], [], 0.0
    for number, (seconds, lines) in enumerate(frames):
        start, end = 100 * at / total, 100 * (at + seconds) / total
        at += seconds
        before = f"0%{{opacity:0}}{start:.3f}%{{opacity:0}}" if number else ""
        after = f"{end:.3f}%{{opacity:0}}100%{{opacity:0}}" if number + 1 < len(frames) else "100%{opacity:1}"
        rules.append(f"@keyframes f{number}{{{before}{start + 0.001:.3f}%{{opacity:1}}{end - 0.001:.3f}%{{opacity:1}}{after}}}"
                     f"#f{number}{{animation:f{number} {total:.2f}s step-end infinite}}")
        shown = "" if number + 1 == len(frames) else ' opacity="0"'
        groups.append(f'<g id="f{number}"{shown}>' + "".join(line_text(2 + row, line) for row, line in enumerate(lines)) + "</g>")
    width = round(CELL * COLUMNS + 24)
    still = "@media (prefers-reduced-motion: reduce){g{animation:none!important}}"
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" fill="#d4d4d4" '
            f'aria-label="A terminal: duet compare, whose table fills while it measures">'
            f"<style>text{{font:14px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}}"
            f'{"".join(rules)}{still}</style><rect width="100%" height="100%" rx="8" fill="#16181d"/>'
            f'<text x="12" y="{LINE + 6}" font-weight="bold">{html.escape(prompt)}</text>{"".join(groups)}</svg>\n')


def line_text(row, stretches):
    parts, column = [], 0
    for text, (colour, bold) in stretches:
        weight = ' font-weight="bold"' if bold else ""
        fill = "" if colour == "default" else f' fill="{COLOURS.get(colour, "#" + colour if len(colour) == 6 else colour)}"'
        # Words with one space between them; wider gaps are places of their own, since not every viewer keeps them.
        for words in re.finditer(r"\S+(?: \S+)*", text):
            x, length = 12 + CELL * (column + words.start()), CELL * len(words[0])
            parts.append(f'<text x="{x:.1f}" y="{LINE * row + 6}" textLength="{length:.1f}"{weight}{fill}>{html.escape(words[0])}</text>')
        column += len(text)
    return "".join(parts)


if __name__ == "__main__":
    main()
