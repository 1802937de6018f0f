/* The figures of one benchmark: which there are, what they mean in a sentence, and the same as tables. */
const Figures = (() => {
  /** Width that a small chart needs. */
  const NARROW = 240;
  const GAP = 12;

  /** What the two lines are, with their strokes. */
  function legend() {
    const sample = (role) =>
      Dom.draw(
        "svg",
        { class: `sample is-${role}`, width: 28, height: 12, "aria-hidden": "true" },
        Dom.draw("line", { x1: 1, x2: 27, y1: 6, y2: 6 }),
        Dom.draw("circle", { cx: 14, cy: 6, r: 3.25 }),
      );
    return Dom.make(
      "p",
      { class: "legend" },
      Dom.make("span", {}, sample("baseline"), "base"),
      Dom.make("span", {}, sample("candidate"), "head"),
    );
  }

  const times = (benchmark, pairs) =>
    Format.timeUnit(pairs.length > 0 ? pairs.flat() : [benchmark.baseline_ns, benchmark.candidate_ns]);

  /** Ratios and times are by two clocks where CPU time was judged. */
  const byClock = ({ estimate }) => (estimate?.by_cpu ? " Times are wall time; the change is that of CPU time." : "");

  function forks(benchmark) {
    const { picture } = benchmark;
    const unit = times(
      benchmark,
      picture.forks.map((fork) => [fork[3], fork[4]]),
    );
    const row = ([own, build, round, base, head, ratio], i) => [
      i + 1,
      own + 1,
      build + 1,
      round,
      Format.time(base, unit),
      Format.time(head, unit),
      Format.change(ratio),
    ];
    return [
      {
        title: "Fork pairs over time",
        note: `Two fresh processes at a time. What disturbs both moves the lines in tandem and cancels in the ratio; stripes are units.${byClock(benchmark)}`,
        isTandem: true,
        draw: (width) => [Charts.forks(picture, unit, width)],
        table: () => [
          ["pair", "unit", "build pair", "round", "base", "head", "change"],
          picture.forks.map(row),
        ],
      },
      {
        title: "Ratio of each fork pair",
        note: `The shaded band is within the threshold of ${Format.share(benchmark.threshold)}.`,
        draw: (width) => [Charts.forkRatios(picture, benchmark.threshold, width)],
        table: () => [["pair", "change"], picture.forks.map((fork, i) => [i + 1, Format.change(fork[5])])],
      },
    ];
  }

  /** How slices of both sides came to stand side by side. */
  function meeting(mode) {
    if (mode?.startsWith("duet"))
      return "Both processes run at the same time, slice beside slice, so that both see the same state of the machine.";
    if (mode?.startsWith("sequential"))
      return "Slices of the same number stand side by side, though they were not measured together.";
    return "The two processes take turns, slice by slice, so that both see the same state of the machine.";
  }

  /** Width of each of so many charts: beside each other where all have room, else below. */
  function beside(width, count) {
    const each = Math.floor((width - GAP * (count - 1)) / count);
    return each < NARROW ? width : each;
  }

  function slices(benchmark) {
    const { slices: sides } = benchmark.picture;
    if (sides.length === 0) return [];
    const unit = times(
      benchmark,
      sides.flatMap((side) => side.points.map(([, base, head]) => [base, head])),
    );
    const axis = Charts.slicesAxis(sides, unit);
    const spikes = axis.beyond > 0 ? ` A triangle at the edge is farther out (${axis.beyond} of them).` : "";
    const chart = (width) => (side) =>
      Dom.make(
        "div",
        { class: "small" },
        Dom.make("p", { class: "which" }, `fork pair ${side.fork + 1}`),
        Charts.slices(side, unit, axis, width),
      );
    const rows = sides.flatMap((side) =>
      side.points.map(([i, base, head]) => [side.fork + 1, i, Format.time(base, unit), Format.time(head, unit)]),
    );
    return [
      {
        title: `Slices of ${Format.many(sides.length, "fork pair")}`,
        note: `${meeting(benchmark.mode)}${spikes}`,
        isTandem: true,
        isWide: true,
        draw: (width) => sides.map(chart(beside(width, sides.length))),
        table: () => [["fork pair", "slice", "base", "head"], rows],
      },
    ];
  }

  function beyond({ below, above }) {
    const parts = [below > 0 && `${below} further left`, above > 0 && `${above} further right`].filter(Boolean);
    return parts.length > 0 ? ` Not shown: ${parts.join(", ")}.` : "";
  }

  function histogram(benchmark) {
    const { histogram: bins } = benchmark.picture;
    if (bins === null) return [];
    const row = (count, i) => [
      `${Scale.label(bins.from + i * bins.width)} to ${Scale.label(bins.from + (i + 1) * bins.width)}`,
      count,
    ];
    return [
      {
        title: "Distribution of log ratios",
        note: `All slice pairs, left of 0% faster, right of it slower.${beyond(bins)}`,
        draw: (width) => [Charts.histogram(bins, benchmark.threshold, width)],
        table: () => [["change", "slice pairs"], bins.counts.map(row)],
      },
    ];
  }

  function looks(benchmark) {
    const { looks: planned } = benchmark.picture;
    if (planned.length === 0) return [];
    const settled = planned.find((look) => look[4]);
    const row = ([units, ratio, low, high, passed]) => [
      units,
      Format.change(ratio),
      Format.interval(low, high),
      passed ? "settled" : "open",
    ];
    return [
      {
        title: "Looks, and where it stopped",
        note: `The interval allows for all looks. ${settled ? `It was settled after ${Format.many(settled[0], "unit")}.` : "No look settled it."} Where an end is cut off, a triangle stands at the edge.`,
        draw: (width) => [Charts.looks(planned, benchmark.threshold, width)],
        table: () => [["units", "change", "interval", "answer"], planned.map(row)],
      },
    ];
  }

  /** Both sides' times over each other. */
  function spread(benchmark) {
    const { times: both } = benchmark.picture;
    if (both === null) return [];
    const unit = times(benchmark, [both.medians]);
    const [base, head] = both.beyond;
    const far = base + head > 0 ? ` Farther out: ${base} of base, ${head} of head.` : "";
    const row = (count, i) => [
      `${Format.time(both.from + i * both.width, unit)} to ${Format.time(both.from + (i + 1) * both.width, unit)}`,
      count,
      both.counts[1][i],
    ];
    return [
      {
        title: "Times of both versions",
        note: `Every slice of the first round: base above the line, head below, on one axis.${far}`,
        draw: (width) => [Charts.times(both, unit, width)],
        table: () => [["time", "base", "head"], both.counts[0].map(row)],
      },
    ];
  }

  /** All figures that there is something to draw for. */
  function all(benchmark) {
    if (benchmark.picture === null) return [];
    const hasForks = benchmark.picture.forks.length > 0;
    return [
      ...spread(benchmark),
      ...looks(benchmark),
      ...(hasForks ? forks(benchmark) : []),
      ...slices(benchmark),
      ...histogram(benchmark),
    ];
  }

  /** The same as a table, made when it is asked for. */
  function asTable(figure) {
    const place = Dom.make("div", {
      class: "scrolling",
      tabindex: "0",
      role: "region",
      "aria-label": `${figure.title}, as a table`,
    });
    const folded = Dom.make("details", {}, Dom.make("summary", {}, "As a table"), place);
    folded.addEventListener("toggle", () => {
      if (folded.open && place.childElementCount === 0) place.append(Dom.table(figure.title, ...figure.table()));
    });
    return folded;
  }

  /** The element of a figure with an empty place for its drawing. */
  function build(figure) {
    const place = Dom.make("div", { class: "drawing" });
    const caption = Dom.make(
      "figcaption",
      {},
      Dom.make("h4", {}, figure.title),
      Dom.make("p", {}, figure.note),
      figure.isTandem ? legend() : null,
    );
    const element = Dom.make("figure", { class: figure.isWide ? "wide" : null }, caption, place, asTable(figure));
    return { element, draw: () => place.replaceChildren(...figure.draw(Math.max(240, Math.floor(place.clientWidth)))) };
  }

  return { all, asTable, build };
})();
