/* One row of the forest plot for each benchmark: its verdict, its name, its interval on the shared axis, and figures. */
const Rows = (() => {
  /** Room between two labels of the axis, in pixels. */
  const LABEL_GAP = 4;
  /** Part of the axis, in percent, below which an interval is a plain dot: its ends would be hidden by the marker. */
  const NARROW = 1.6;
  /** Longest name of a row; a longer one loses its middle, since both ends tell it apart. */
  const NAME_MAX = 64;

  /** Signs that stand for a verdict where there is no number. */
  const SIGNS = ["~", "?"];

  const percent = (place) => `${place.toFixed(3)}%`;

  /** Something small around a place on the axis. */
  const at = (place, ...children) =>
    Dom.draw("svg", { x: percent(place), y: "50%", overflow: "visible", width: 1, height: 1 }, children);

  /** What is within the threshold, and no change. */
  function ground(axis, threshold) {
    const [from, to] = [axis.place(1 / (1 + threshold)), axis.place(1 + threshold)];
    return [
      Dom.draw("rect", { class: "band", x: percent(from), width: percent(to - from), y: 0, height: "100%" }),
      Dom.draw("line", { class: "zero", x1: "50%", x2: "50%", y1: 0, y2: "100%" }),
    ];
  }

  /** An end of the interval: a stroke across, or an arrow where the axis ends before it. */
  function end(axis, ratio) {
    const place = axis.place(ratio);
    if (axis.isInside(ratio)) return at(place, Dom.draw("path", { class: "end", d: "M0-6V6" }));
    const arrow = place < 50 ? "M14 0H0M6-5L0 0L6 5" : "M-14 0H0M-6-5L0 0L-6 5";
    return at(place, Dom.draw("path", { class: "end clipped", d: arrow }));
  }

  /** Both ends of what a row shows: of an open question all that it leaves open. */
  const ends = ({ low, high, open }) => open ?? [low, high];

  /** The interval of one benchmark on the shared axis. */
  function plot(benchmark, axis) {
    const estimate = benchmark.estimate;
    const drawing = Dom.draw("svg", { class: "plot", "aria-hidden": "true" }, ground(axis, benchmark.threshold));
    if (estimate === null) return drawing;
    const { ratio } = estimate;
    const [low, high] = ends(estimate);
    const [from, to] = [axis.place(low ?? 0), axis.place(high)];
    if (to - from < NARROW && axis.isInside(ratio)) {
      drawing.append(at(axis.place(ratio), Dom.draw("circle", { class: "shape", r: 4 })));
      return drawing;
    }
    const isBeyond = from === to && !axis.isInside(low);
    drawing.append(Dom.draw("line", { class: "interval", x1: percent(from), x2: percent(to), y1: "50%", y2: "50%" }));
    drawing.append(end(axis, low ?? 0), ...(isBeyond ? [] : [end(axis, high)]));
    if (axis.isInside(ratio))
      drawing.append(
        at(axis.place(ratio), Dom.draw("g", { transform: "scale(0.8)" }, Verdict.shape(benchmark.verdict))),
      );
    return drawing;
  }

  /**
   * The change in its column, as the table has it. A sign is for the eye: those who hear the row have heard the verdict that it
   * stands for.
   */
  function change(benchmark) {
    const shown = Format.withMinus(benchmark.change);
    return Dom.make("span", { class: "change", ...(SIGNS.includes(shown) && { "aria-hidden": "true" }) }, shown);
  }

  const interval = ({ estimate }) => {
    if (estimate === null) return "";
    const range = Format.interval(...ends(estimate));
    return estimate.by_cpu ? `${range} cpu` : range;
  };

  /** The times before and after. */
  function times({ baseline_ns: base, candidate_ns: head }) {
    const known = [base, head].filter((ns) => ns !== null && ns !== undefined);
    const unit = Format.timeUnit(known);
    return known.map((ns) => Format.time(ns, unit)).join(" → ");
  }

  /** A name that may break behind its slashes. */
  function named(label) {
    const letters = [...label];
    const half = Math.floor(NAME_MAX / 2);
    const short =
      letters.length > NAME_MAX ? `${letters.slice(0, half).join("")}…${letters.slice(-half).join("")}` : label;
    const parts = short.split(/(?<=\/)/);
    return Dom.make("bdi", {}, parts.flatMap((part, i) => (i === 0 ? [part] : [Dom.make("wbr"), part])));
  }

  /** The row of a benchmark, closed. `home` is the part of its package that tells it from others. */
  function build(benchmark, axis, home) {
    const standing =
      benchmark.standing && benchmark.standing !== "fails" ? Dom.make("small", {}, benchmark.standing) : null;
    const button = Dom.make(
      "button",
      {
        type: "button",
        class: "line",
        "aria-expanded": "false",
        "aria-controls": `detail-${benchmark.id}`,
        tabindex: "-1",
      },
      Dom.make(
        "span",
        { class: "verdict" },
        Verdict.icon(benchmark.verdict),
        Dom.make("span", {}, benchmark.verdict_words, standing),
      ),
      Dom.make(
        "span",
        { class: "name", title: benchmark.name },
        Dom.make("span", { class: "own" }, named(benchmark.label)),
        home && Dom.make("small", {}, Dom.name(home)),
      ),
      Dom.make("span", { class: "picture" }, plot(benchmark, axis)),
      change(benchmark),
      Dom.make("span", { class: "range" }, interval(benchmark)),
      Dom.make("span", { class: "times" }, times(benchmark)),
    );
    const detail = Dom.make("div", { class: "detail", id: `detail-${benchmark.id}`, hidden: true });
    return Dom.make(
      "li",
      { class: `row is-${benchmark.verdict}${benchmark.estimate === null ? " bare" : ""}`, id: `row-${benchmark.id}` },
      button,
      detail,
    );
  }

  /** The axis that stands above all rows. */
  function ruler(axis) {
    const label = (log) =>
      Dom.make("span", { class: "mark", style: `left: ${percent(axis.place(Math.exp(log)))}` }, Scale.label(log));
    const marks = Dom.make("div", { class: "marks", "aria-hidden": "true" }, axis.marks.map(label));
    new ResizeObserver(() => thin(marks)).observe(marks);
    const ways = Dom.make("div", { class: "ways" }, Dom.make("span", {}, "← faster"), Dom.make("span", {}, "slower →"));
    return Dom.make(
      "div",
      { class: "ruler" },
      Dom.make("span", { class: "verdict" }, "Verdict"),
      Dom.make("span", { class: "name" }, "Benchmark"),
      Dom.make("div", { class: "picture" }, ways, marks),
      Dom.make("span", { class: "change" }, "Change"),
      Dom.make("span", { class: "range" }, "Interval"),
    );
  }

  /** Hides labels of the axis that would run into others; no change and the ends stay longest. */
  function thin(marks) {
    const labels = [...marks.children];
    labels.forEach((label) => label.classList.remove("crowded"));
    const boxes = new Map(labels.map((label) => [label, label.getBoundingClientRect()]));
    const zero = labels.findIndex((label) => label.textContent === Scale.label(0));
    const ends = [labels[zero], labels[0], labels.at(-1)].filter((label) => label !== undefined);
    const shown = new Set();
    for (const label of [...ends, ...labels]) {
      const { left, right } = boxes.get(label);
      const isFree = (other) => right + LABEL_GAP <= boxes.get(other).left || left >= boxes.get(other).right + LABEL_GAP;
      if (shown.has(label) || [...shown].every(isFree)) shown.add(label);
      else label.classList.add("crowded");
    }
  }

  /** Lines behind all rows where the axis has its marks, as one background. */
  function grid(axis) {
    const line = (log) =>
      `linear-gradient(var(--grid), var(--grid)) ${percent(axis.place(Math.exp(log)))} 0 / 1px 100% no-repeat`;
    return axis.marks.map(line).join(", ");
  }

  return { build, grid, ruler };
})();
