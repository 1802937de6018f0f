/* The axis of ratios: logarithmic, the same distance for twice as slow and twice as fast, written in percent. */
const Scale = (() => {
  /** Where an axis may end, as a slowdown. */
  const REACHES = [0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2, 4, 9, 19, 99, 999];
  /** What may stand between two marks of an axis, as fractions. */
  const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5];
  /** Marks of an axis that spans more than steps can; as far on the one side of no change as on the other. */
  const WIDE = [-0.999, -0.99, -0.9, -0.75, -0.5, -0.2, 0, 0.25, 1, 3, 9, 99, 999];
  /** Widest axis, as the difference of its fractions, that steps of one size are for. */
  const STEPS_SPAN_MAX = 1;
  /** What is this many times as far as all others does not stretch the axis; it gets an arrow. */
  const TIMES_MAX = 3;

  /** How far a benchmark wants the axis to go: to the ends of its interval if it changed, else to its point alone. */
  function far({ ratio, low, high }, isChange) {
    const positive = (isChange ? [ratio, low, high] : [ratio]).filter((value) => value > 0);
    return Math.max(0, ...positive.map((value) => Math.abs(Math.log(value))));
  }

  /** How many of these, farthest first, do not stretch the axis: few, far beyond all others, and not most of the changes. */
  function beyond(rows) {
    const isFar = (i) => rows[i - 1].far > TIMES_MAX * rows[i].far;
    const changes = (some) => some.filter((row) => row.isChange).length;
    const most = Math.min(rows.length - 1, Math.max(1, Math.floor(rows.length / 10)));
    const counts = Array.from({ length: Math.max(0, most) }, (_, i) => i + 1);
    return counts.filter((i) => isFar(i) && 2 * changes(rows.slice(0, i)) <= changes(rows)).at(-1) ?? 0;
  }

  /** How far the shared axis goes: so that all changes are seen, and the points of the rest, but what is far beyond. */
  function reach(benchmarks, threshold) {
    const isChange = (b) => /^(regression|improvement|slower|faster)/.test(b.verdict);
    const estimated = benchmarks.filter((b) => b.estimate !== null && b.verdict !== "redefined");
    const rows = estimated.map((b) => ({ far: far(b.estimate, isChange(b)), isChange: isChange(b) }));
    rows.sort((a, b) => b.far - a.far);
    const wanted = Math.max(rows[beyond(rows)]?.far ?? 0, 2 * Math.log1p(threshold));
    return Math.log1p(REACHES.find((end) => Math.log1p(end) >= wanted) ?? REACHES.at(-1));
  }

  /** An axis from -reach to reach, on which a ratio has a place in percent of the width. */
  function forest(benchmarks, threshold) {
    const far = reach(benchmarks, threshold);
    const place = (ratio) => 50 + (50 * (ratio > 0 ? Math.log(ratio) : -Infinity)) / far;
    const clamped = (ratio) => Math.min(100, Math.max(0, place(ratio ?? Infinity)));
    return {
      place: clamped,
      isInside: (ratio) => ratio > 0 && Math.abs(Math.log(ratio)) <= far * 1.0001,
      marks: marks(-far, far, 6),
    };
  }

  /** Multiples of a step between two fractions, at most so many. */
  function steps(from, to, most) {
    const step = STEPS.find((size) => (to - from) / size <= most) ?? STEPS.at(-1);
    const first = Math.ceil(from / step - 1e-9);
    const count = Math.max(0, Math.floor(to / step + 1e-9) - first + 1);
    return Array.from({ length: count }, (_, i) => (first + i) * step);
  }

  /** Those of these log ratios, from no change outwards, between which labels have room. */
  function spaced(logs, room) {
    const side = (sign) => {
      let last = 0;
      return logs
        .filter((log) => log * sign > 0)
        .sort((a, b) => (a - b) * sign)
        .filter((log) => {
          const fits = Math.abs(log - last) >= room;
          if (fits) last = log;
          return fits;
        });
    };
    return [...side(-1).reverse(), ...logs.filter((log) => log === 0), ...side(1)];
  }

  /** Log ratios between two others that are round in percent, at most about so many. */
  function marks(low, high, most) {
    const [from, to] = [Math.expm1(low), Math.expm1(high)];
    const fractions = to - from > STEPS_SPAN_MAX ? WIDE : steps(from, to, most);
    const logs = fractions.filter((fraction) => fraction > -1).map((fraction) => Math.log1p(fraction));
    const inside = logs.filter((log) => log >= low - 1e-9 && log <= high + 1e-9);
    return spaced(inside, (high - low) / (1.6 * most));
  }

  /** How a mark is labelled: a log ratio in percent with its sign. */
  function label(log) {
    const percent = Number((Math.expm1(log) * 100).toPrecision(6));
    const sign = percent > 0 ? "+" : percent < 0 ? "\u2212" : "";
    return `${sign}${Number(Math.abs(percent).toFixed(2))}%`;
  }

  return { forest, label, marks };
})();
