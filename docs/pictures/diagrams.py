#!/usr/bin/env python3
"""Draws the diagrams of the documents as SVG, light or dark as the reader's system is. Needs nothing but Python.

    docs/pictures/diagrams.py
"""

import html
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
STYLE = """
text { font: 14px system-ui, sans-serif; fill: #24292f }
.small { font-size: 12px; fill: #57606a } .strong { font-weight: 600 } .end { text-anchor: end } .middle { text-anchor: middle }
.base { fill: #0969da } .head { fill: #d4691e } .burst { fill: #8c959f; opacity: .28 } .line { stroke: #57606a; fill: none }
.bar { stroke-width: 3; fill: none } .band { fill: #8c959f; opacity: .18 } .box { fill: #8c959f; fill-opacity: .08; stroke: #8c959f; rx: 8 }
.dash { stroke-dasharray: 5 4 } .red { stroke: #cf222e }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .small { fill: #9198a1 } .base { fill: #539bf5 } .head { fill: #f0883e } .line { stroke: #9198a1 } .red { stroke: #f85149 }
}
"""


def main():
    for name, (width, height, label, draw) in DIAGRAMS.items():
        shapes = "\n".join(draw())
        (FOLDER / f"{name}.svg").write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
            f'aria-label="{html.escape(label)}">\n<style>{STYLE}</style>\n{shapes}\n</svg>\n')


def text(x, y, words, kind=""):
    return f'<text x="{x}" y="{y}" class="{kind}">{html.escape(words)}</text>'


def rect(x, y, width, height, kind):
    return f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" class="{kind}"/>'


def line(x, y, to_x, to_y, kind="line"):
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" class="{kind}"/>'


LEFT, RIGHT = 150, 740
BURST = (400, 560)


def slices(y, order):
    """Slices of the two versions one after the other, longer while the neighbour is busy."""
    x, out = LEFT, []
    for kind in order:
        width = 9 if BURST[0] <= x < BURST[1] else 6
        if x + width > RIGHT:
            break
        out.append(rect(x, y, width - 1, 26, kind))
        x += width
    return out


def lockstep():
    """A neighbour's burst over one version after the other, and over both in lock-step."""
    many = 200
    after = ["base"] * 49 + ["head"] * many
    turns = ["base", "head"] * many
    yield rect(BURST[0], 30, BURST[1] - BURST[0], 222, "burst")
    yield text(sum(BURST) / 2, 22, "a neighbour is busy", "small middle")
    for y, name, order, ratio in [(48, "base, then head", after, "hits one"), (158, "in lock-step", turns, "hits both")]:
        yield text(LEFT - 12, y + 18, name, "end strong")
        yield from slices(y, order)
        yield text(LEFT - 12, y + 60, "head to base", "small end")
        yield line(LEFT, y + 68, RIGHT, y + 68, "line dash")
        if ratio == "hits one":
            yield f'<path class="bar" stroke="#d4691e" d="M{LEFT},{y + 56} H{RIGHT}"/>'
            yield text(RIGHT, y + 50, "+9 %: which of it is the neighbour?", "small end")
        else:
            yield f'<path class="bar" stroke="#d4691e" d="M{LEFT},{y + 67} H{RIGHT}"/>'
            yield text(RIGHT, y + 60, "0 %: the burst cancels", "small end")
    yield rect(LEFT, 268, 12, 12, "base")
    yield text(LEFT + 18, 279, "slices of base", "small")
    yield rect(LEFT + 120, 268, 12, 12, "head")
    yield text(LEFT + 138, 279, "slices of head", "small")
    yield text(RIGHT, 279, "time →", "small end")


ANSWERS = [
    ("regression", 4.2, 8.6, "#d4691e", "look at the profile; mend it, or accept it until a day"),
    ("slower, size open", 1.0, 5.2, "#b08800", "more time tells whether it exceeds the threshold"),
    ("slower, within tolerance", 0.5, 2.2, "#8c959f", "nothing: it is real, and smaller than you care about"),
    ("no change", -1.2, 1.0, "#8c959f", "nothing: none is as large as the threshold"),
    ("inconclusive", -4.6, 5.8, "#b08800", "more time, a quieter machine, or a larger threshold"),
    ("improvement", -8.8, -4.4, "#0969da", "nothing: it got faster by more than the threshold"),
]


def answers():
    """The answers by where the interval lies."""
    scale, zero = 17, 360
    x = lambda percent: zero + scale * percent
    yield rect(x(-3), 34, scale * 6, 40 * len(ANSWERS) - 6, "band")
    yield text(x(0), 20, "threshold: 3 % either way", "small middle")
    yield line(x(0), 30, x(0), 34 + 40 * len(ANSWERS))
    for number, (word, low, high, colour, wanted) in enumerate(ANSWERS):
        y = 54 + 40 * number
        yield text(8, y + 5, word, "strong")
        yield (f'<path class="bar" stroke="{colour}" d="M{x(low):.1f},{y - 6} v12 m0,-6 H{x(high):.1f} m0,-6 v12"/>'
               f'<circle cx="{x((low + high) / 2):.1f}" cy="{y}" r="5" fill="{colour}"/>')
        yield text(540, y + 5, wanted, "small")
    for percent in (-9, -6, -3, 0, 3, 6, 9):
        label = f"{percent:+d} %" if percent else "0"
        yield text(x(percent), 52 + 40 * len(ANSWERS), label, "small middle")


def forks():
    """Two workflows with the line of trust between them."""
    boxes = [(16, "measures", ["on: pull_request", "runs the fork's code", "contents: read, no secret"]),
             (476, "publishes", ["on: workflow_run", "runs nothing of the fork's", "pull-requests: write"])]
    for x, title, lines in boxes:
        yield f'<rect x="{x}" y="44" width="250" height="120" class="box"/>'
        yield text(x + 16, 70, title, "strong")
        for number, words in enumerate(lines):
            yield text(x + 16, 96 + 22 * number, words, "small")
    yield line(371, 12, 371, 190, "line dash red")
    yield text(371, 208, "line of trust", "small middle")
    yield f'<path class="line" d="M270,104 H464 m-9,-5 l9,5 l-9,5"/>'
    yield text(371, 92, "artifact: data, not code", "small middle")
    yield text(16, 30, "somebody's pull request", "small")
    yield text(476, 30, "your repository's own workflow", "small")


def layouts():
    """The same functions in two versions, as the linker orders them and matched."""
    rows = [("as linked", [("f", 60), ("g", 90), ("h", 50), ("k", 70)], [("f", 60), ("new", 34), ("g", 112), ("h", 50), ("k", 70)]),
            ("matched", [("k", 70), ("g", 112), ("f", 60), ("h", 50)], [("k", 70), ("g", 112), ("f", 60), ("h", 50), ("new", 34)])]
    for number, (title, base, head) in enumerate(rows):
        top = 30 + 150 * number
        yield text(8, top + 12, title, "strong")
        for offset, side, functions in ((24, "base", base), (74, "head", head)):
            x = 110
            yield text(x - 10, top + offset + 24, side, "small end")
            for name, width in functions:
                # Where matched, base's g has room for head's.
                yield rect(x, top + offset, width - 3, 34, side)
                yield f'<text x="{x + width / 2 - 1:.1f}" y="{top + offset + 22}" text-anchor="middle" style="fill:#fff">{name}</text>'
                x += width
        words = ("behind the new function everything lies elsewhere,", "which alone moves times by a few percent") if not number else (
            "every common function lies at the same address,", "drawn anew for each pair of builds")
        for row, sentence in enumerate(words):
            yield text(460, top + 62 + 20 * row, sentence, "small")


DIAGRAMS = {
    "lock-step": (760, 292, "Slices of two versions on a time axis: a burst hits one of two runs in a row, and both in lock-step", lockstep),
    "answers": (900, 316, "Six intervals over the band of the threshold, with the answer and what each asks of you", answers),
    "trust": (742, 220, "Two workflows: one measures and may write nothing, the other publishes and runs nothing of the fork", forks),
    "layouts": (780, 320, "Functions in memory: as linked they move behind a new function, matched they lie at the same addresses", layouts),
}

if __name__ == "__main__":
    main()
