/* The charts of one benchmark, drawn by the library when they are looked at. Colours are the page's own, so that they follow its theme. */
const Charts = (() => {
  const BASE = "var(--baseline)";
  const HEAD = "var(--candidate)";
  const BAND = { fill: "var(--band)" };
  const FAINT = "var(--line-strong)";
  const WHOLE_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000];
  /** What is so many times the usual spread beyond it is clipped, with a mark. */
  const SPIKE = 2;
  /** Pixels that a label of an axis needs. */
  const TICK_ROOM = 32;

  /** A drawing with this description for those who do not see it. */
  function frame(label, width, options) {
    const drawing = Plot.plot({
      width,
      height: 230,
      marginTop: 26,
      marginLeft: 58,
      marginRight: 16,
      marginBottom: 40,
      className: "chart",
      style: { background: "none", color: "inherit", fontFamily: "inherit", fontSize: "12px" },
      ...options,
    });
    // The library names its groups, which are nothing to those who hear one description of the whole.
    for (const group of drawing.querySelectorAll("g[aria-label]")) group.removeAttribute("aria-label");
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-label", label);
    return drawing;
  }

  /** An axis of log ratios that is written in percent, from low to high. */
  function ratios(low, high, label, most = 6) {
    return {
      label,
      labelArrow: "none",
      domain: [low, high],
      ticks: Scale.marks(low, high, most),
      tickFormat: Scale.label,
    };
  }

  /** Whole numbers only, as many as there is room for. */
  function wholes([first, last], width) {
    const step = WHOLE_STEPS.find((size) => (last - first) / size <= width / TICK_ROOM) ?? WHOLE_STEPS.at(-1);
    const begin = Math.ceil(first / step) * step;
    return Array.from({ length: Math.max(0, Math.floor((last - begin) / step) + 1) }, (_, i) => begin + i * step);
  }

  /** Both ends of these values. */
  const extent = (values) =>
    values.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)], [Infinity, -Infinity]);

  /** Both ends with some room around. */
  function roomy(values, part = 0.08) {
    const [low, high] = extent(values);
    const room = (high - low || Math.abs(high) || 1) * part;
    return [low - room, high + room];
  }

  const limits = (threshold) => [-Math.log1p(threshold), Math.log1p(threshold)];

  /** The two lines of a pair of versions over something. */
  function tandem(points, radius) {
    const line = (y, stroke, dashes) =>
      Plot.line(points, { x: "x", y, stroke, strokeWidth: 1.5, strokeDasharray: dashes });
    return [
      line("base", BASE, "4 2"),
      line("head", HEAD),
      Plot.dot(points, { x: "x", y: "base", r: radius, stroke: BASE, fill: "var(--surface)" }),
      Plot.dot(points, { x: "x", y: "head", r: radius, fill: HEAD }),
    ];
  }

  /** Stripes behind every second unit; one that is measured in several stretches changes at each. */
  function stripes(pairs) {
    const stretches = [];
    for (const { x, unit } of pairs) {
      if (stretches.at(-1)?.unit === unit) stretches.at(-1).to = x;
      else stretches.push({ unit, from: x, to: x });
    }
    const shaded = stretches.filter((_, i) => i % 2 === 1);
    return Plot.rectX(shaded, { x1: ({ from }) => from - 0.5, x2: ({ to }) => to + 0.5, fill: "var(--stripe)" });
  }

  /** Where a later round begins. */
  const rounds = (pairs) => pairs.filter((pair, i) => i > 0 && pair.round !== pairs[i - 1].round);

  function pairsOf({ forks }, unit) {
    return forks.map(([own, build, round, base, head, ratio], i) => ({
      x: i + 1,
      unit: own,
      build,
      round,
      base: base / unit.factor,
      head: head / unit.factor,
      log: Math.log(ratio),
    }));
  }

  /** Both versions' times, fork pair after fork pair. */
  function forks(picture, unit, width) {
    const pairs = pairsOf(picture, unit);
    const x = {
      label: "fork pair, in the order measured",
      labelArrow: "none",
      domain: [0.5, pairs.length + 0.5],
      ticks: wholes([1, pairs.length], width),
      tickFormat: String,
    };
    const begins = rounds(pairs);
    const marks = [
      stripes(pairs),
      Plot.ruleX(pairs, { x: "x", y1: "base", y2: "head", stroke: FAINT }),
      Plot.ruleX(begins, { x: (pair) => pair.x - 0.5, stroke: "currentColor", strokeDasharray: "2 3" }),
      Plot.text(begins, {
        x: (pair) => pair.x - 0.5,
        text: (pair) => `round ${pair.round}`,
        frameAnchor: "top",
        textAnchor: "end",
        dx: -4,
        stroke: "var(--surface)",
        fill: "currentColor",
      }),
      ...tandem(pairs, pairs.length > 60 ? 2 : 3),
    ];
    const y = {
      label: `time per operation (${unit.name})`,
      labelArrow: "none",
      domain: roomy(pairs.flatMap((p) => [p.base, p.head])),
      ticks: 5,
    };
    return frame(`Both versions' times over ${pairs.length} fork pairs`, width, { x, y, marks });
  }

  /** The ratio of every fork pair, beneath their times. */
  function forkRatios(picture, threshold, width) {
    const pairs = pairsOf(picture, { factor: 1 }).filter((pair) => Number.isFinite(pair.log));
    const [from, to] = limits(threshold);
    const x = {
      label: "fork pair, in the order measured",
      labelArrow: "none",
      domain: [0.5, picture.forks.length + 0.5],
      ticks: wholes([1, picture.forks.length], width),
      tickFormat: String,
    };
    const marks = [
      stripes(pairs),
      Plot.rectY([0], { y1: from, y2: to, ...BAND }),
      Plot.ruleY([0], { stroke: "var(--zero)" }),
      Plot.ruleX(pairs, { x: "x", y1: 0, y2: "log", stroke: FAINT }),
      Plot.dot(pairs, { x: "x", y: "log", r: 3, fill: "currentColor" }),
    ];
    const y = ratios(...roomy([from, to, ...pairs.map((p) => p.log)]), "head against base");
    return frame(`Change of each of ${pairs.length} fork pairs`, width, { x, y, marks });
  }

  /** The axis of times on which these values have room; what single ones are far beyond the rest does not stretch it. */
  function timesEnds(values) {
    const sorted = [...values].sort((a, b) => a - b);
    const at = (part) => sorted[Math.round(part * (sorted.length - 1))];
    const reach = SPIKE * Math.max(at(0.9) - at(0.1), 0.01 * at(0.5));
    return roomy(sorted.filter((value) => value >= at(0.1) - reach && value <= at(0.9) + reach));
  }

  /** Where all these courses of slices have room on one axis, and how many points are beyond it. */
  function slicesAxis(sides, unit) {
    const values = sides.flatMap(({ points }) => points.flatMap(([, base, head]) => [base, head]));
    const domain = timesEnds(values.map((ns) => ns / unit.factor));
    const isBeyond = (ns) => ns / unit.factor < domain[0] || ns / unit.factor > domain[1];
    return { domain, beyond: values.filter(isBeyond).length };
  }

  /** The slices of one fork pair, one after the other, on an axis of times that all of them share. */
  function slices({ points }, unit, { domain }, width) {
    const inside = (ns) => Math.min(domain[1], Math.max(domain[0], ns / unit.factor));
    const samples = points.map(([x, base, head]) => ({ x, base: inside(base), head: inside(head) }));
    const at = (end, side) => samples.filter((sample) => sample[side] === end);
    const spikes = [
      ["base", BASE],
      ["head", HEAD],
    ].flatMap(([side, fill]) =>
      domain.map((end, i) =>
        Plot.dot(at(end, side), { x: "x", y: side, symbol: "triangle", rotate: i === 0 ? 180 : 0, r: 4, fill }),
      ),
    );
    const marks = [...tandem(samples, 0).slice(0, 2), ...spikes];
    const x = {
      label: "slice",
      labelArrow: "none",
      ticks: wholes(extent(samples.map((sample) => sample.x)), width),
      tickFormat: String,
    };
    const y = { label: `time per operation (${unit.name})`, labelArrow: "none", domain, ticks: 5 };
    return frame(`Both versions' times over ${samples.length} slices`, width, { x, y, marks });
  }

  /** How the times of both versions are spread over one axis: the base's above the line, the head's below. */
  function times({ from, width: step, counts, medians }, unit, width) {
    const totals = counts.map((side) => Math.max(1, side.reduce((sum, count) => sum + count, 0)));
    const bars = counts.map((side, i) =>
      side
        .map((count, at) => ({
          x1: (from + at * step) / unit.factor,
          x2: (from + (at + 1) * step) / unit.factor,
          y: ((i === 0 ? 1 : -1) * count) / totals[i],
        }))
        .filter((bar) => bar.y !== 0),
    );
    const [top, low] = bars.map((side) => side.reduce((most, bar) => Math.max(most, Math.abs(bar.y)), 0.01));
    const middles = medians.map((ns, i) => ({ x: ns / unit.factor, y: i === 0 ? top : -low, side: i }));
    const median = (side, stroke, role) => [
      Plot.ruleX(middles.slice(side, side + 1), { x: "x", y1: 0, y2: "y", stroke: "var(--surface)", strokeWidth: 5 }),
      Plot.ruleX(middles.slice(side, side + 1), { x: "x", y1: 0, y2: "y", stroke, strokeWidth: 2.5 }),
      Plot.text(middles.slice(side, side + 1), {
        x: "x",
        y: "y",
        text: ({ x }) => `${role}: ${Format.time(x * unit.factor, unit)}`,
        dy: side === 0 ? -9 : 9,
        fontWeight: 600,
      }),
    ];
    const bar = (side, fill) => Plot.rectY(bars[side], { x1: "x1", x2: "x2", y1: 0, y2: "y", fill, insetLeft: 0.5 });
    const ends = [from / unit.factor, (from + counts[0].length * step) / unit.factor];
    const marks = [
      bar(0, BASE),
      bar(1, HEAD),
      Plot.ruleY([0], { stroke: FAINT }),
      ...median(0, BASE, "base"),
      ...median(1, HEAD, "head"),
    ];
    const options = {
      marginLeft: 16,
      x: { label: `time per operation (${unit.name})`, labelArrow: "none", domain: roomy(ends, 0.12), ticks: 6 },
      y: { axis: null, domain: [-low * 1.35, top * 1.35] },
      marks,
    };
    return frame("How the times of both versions are spread over one axis, with their medians", width, options);
  }

  /** How often slice pairs had which ratio. */
  function histogram({ from, width: step, counts }, threshold, width) {
    const bins = counts.map((count, i) => ({ x1: from + i * step, x2: from + (i + 1) * step, count }));
    const [low, high] = limits(threshold);
    const domain = [Math.min(from, low * 1.2), Math.max(from + counts.length * step, high * 1.2)];
    const marks = [
      Plot.rectX([0], { x1: low, x2: high, ...BAND }),
      Plot.rectY(bins, { x1: "x1", x2: "x2", y: "count", fill: HEAD, fillOpacity: 0.75, inset: 0.5 }),
      Plot.ruleX([0], { stroke: "var(--zero)", strokeWidth: 1.5 }),
      Plot.ruleY([0], { stroke: FAINT }),
    ];
    const total = counts.reduce((sum, count) => sum + count, 0);
    const options = {
      x: ratios(...domain, "head against base", 7),
      y: { label: "slice pairs", labelArrow: "none", ticks: 5 },
      marks,
    };
    return frame(`Distribution of the ratios of ${total} slice pairs around no change`, width, options);
  }

  /** Where an axis of looks ends: early intervals may be many times as wide as the last. */
  function lookEnds(steps, threshold) {
    const last = steps.at(-1);
    const half = Math.max(last.high - last.log, last.log - last.low, Math.log1p(threshold));
    const usual = Number.isFinite(half) ? half : Math.log1p(threshold) * 4;
    const values = steps.flatMap((step) => [step.low, step.high]).concat(limits(threshold).map((limit) => limit * 1.2));
    return values.map((value) => Math.min(last.log + 5 * usual, Math.max(last.log - 5 * usual, value)));
  }

  const logOr = (ratio, otherwise) => (ratio > 0 ? Math.log(ratio) : otherwise);

  /** The interval at each look, until one of them settled the question. */
  function looks(planned, threshold, width) {
    const steps = planned.map(([units, ratio, low, high, passed]) => ({
      units,
      log: logOr(ratio, 0),
      low: logOr(low, -Infinity),
      high: logOr(high, Infinity),
      passed,
    }));
    const [from, to] = roomy(lookEnds(steps, threshold));
    const inside = (value) => Math.min(to, Math.max(from, value));
    const shown = steps.map((step) => ({
      ...step,
      log: inside(step.log),
      low: inside(step.low),
      high: inside(step.high),
      beyond: [step.low < from, step.high > to],
    }));
    const goesOn = ["low", "high"].map((end, i) =>
      Plot.dot(
        shown.filter((step) => step.beyond[i]),
        { x: "units", y: end, symbol: "triangle", rotate: i === 0 ? 180 : 0, r: 4, fill: HEAD },
      ),
    );
    const settled = shown.filter((step) => step.passed).slice(0, 1);
    const [low, high] = limits(threshold);
    const unitsEnds = roomy(
      shown.map((step) => step.units),
      0.1,
    );
    const marks = [
      Plot.rectY([0], { y1: low, y2: high, ...BAND }),
      Plot.ruleY([0], { stroke: "var(--zero)" }),
      Plot.areaY(shown, { x: "units", y1: "low", y2: "high", fill: HEAD, fillOpacity: 0.12 }),
      Plot.ruleX(shown, { x: "units", y1: "low", y2: "high", stroke: HEAD, strokeWidth: 1.5 }),
      Plot.dot(shown, { x: "units", y: "log", r: 3.5, stroke: HEAD, fill: "var(--surface)", strokeWidth: 1.5 }),
      Plot.dot(settled, { x: "units", y: "log", r: 5, fill: HEAD }),
      ...goesOn,
      Plot.text(settled, { x: "units", y: "high", text: () => "settled", dy: -8, fontWeight: 600 }),
    ];
    const x = {
      label: "units",
      labelArrow: "none",
      domain: unitsEnds,
      ticks: shown.map((step) => step.units),
      tickFormat: String,
    };
    return frame(`The interval at each of ${Format.many(steps.length, "look")}`, width, {
      x,
      y: ratios(from, to, "head against base"),
      marks,
    });
  }

  return { forkRatios, forks, histogram, looks, slices, slicesAxis, times };
})();
