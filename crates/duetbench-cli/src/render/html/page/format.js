/* How numbers are written for people. Fractions and ratios come in, percent goes out. */
const Format = (() => {
  const MINUS = "\u2212";
  /** Largest and smallest ratio that an open question may leave possible before its interval says nothing. */
  const OPEN_MAX = 2;
  const LEFT_MIN = 0.01;
  const TIMES = [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
    [1, "ns"],
  ];

  /** Figures with a true minus sign, so that columns align. */
  const withMinus = (figures) => figures.replace("-", MINUS);

  const fixed = (value, decimals) => withMinus(value.toFixed(decimals));

  const percentOf = (ratio) => (ratio - 1) * 100;

  /** Decimals that leave a change two significant digits; of what takes almost no time any more, the rest tells. */
  function decimalsOf(percent) {
    const size = percent < -99 ? percent + 100 : Math.abs(percent);
    return size >= 9.95 ? 0 : size >= 0.995 ? 1 : 2;
  }

  /** Decimals by which the width of an interval can be read. */
  function decimalsBetween(low, high) {
    const quarter = (Math.abs(high - low) * 100) / 4;
    return low === null || high === null || quarter >= 1 ? 0 : quarter >= 0.1 ? 1 : 2;
  }

  /** A ratio as a change in percent with its sign: 1.0512 is "+5.1%". What has no bound arrives as null. */
  function change(ratio, least = 0) {
    if (ratio === null || ratio === undefined) return "∞";
    const percent = percentOf(ratio);
    if (Math.abs(percent) < 0.005) return "0.00%";
    const sign = percent > 0 ? "+" : "";
    return `${sign}${fixed(percent, Math.max(least, decimalsOf(percent)))}%`;
  }

  /** A change beside its interval: with more digits where fewer would lie outside of it. */
  function changeWithin(ratio, low, high) {
    const percent = percentOf(ratio);
    const rounded = Number(percent.toFixed(decimalsOf(percent)));
    const isWithin = (low === null || percentOf(low) <= rounded) && (high === null || rounded <= percentOf(high));
    return change(ratio, isWithin ? 0 : decimalsBetween(low, high));
  }

  /** Both ends of an interval, with so many digits that its width can be read; words where it says nothing of the code. */
  function interval(low, high) {
    const isOpen = !(low > 1 || (high !== null && high < 1));
    if (isOpen && (high === null || high > OPEN_MAX || low < LEFT_MIN)) return "too few processes";
    const least = decimalsBetween(low, high);
    return `[${change(low, least)}, ${change(high, least)}]`;
  }

  /** A fraction in percent with at most two significant digits below ten: 0.03 is "3%"; of almost all, those of what is missing. */
  function share(fraction) {
    if (fraction === null || fraction === undefined) return "?";
    const percent = fraction * 100;
    const size = percent >= 99.5 && percent < 100 ? 100 - percent : Math.abs(percent);
    const decimals = size >= 10 ? 0 : size >= 1 ? 1 : size >= 0.1 ? 2 : 3;
    return `${withMinus(Number(percent.toFixed(decimals)).toString())}%`;
  }

  /** A confidence, of which the nines matter: 0.995 is "99.5%". */
  const confidence = (fraction) => `${Number((fraction * 100).toPrecision(4))}%`;

  /** A probability with two significant digits. */
  function probability(p) {
    if (p === null || p === undefined) return "?";
    return p < 0.0001 ? "< 0.0001" : String(Number(p.toPrecision(2)));
  }

  /** The unit in which all these times in nanoseconds are best read: its factor and its name. */
  function timeUnit(times) {
    const known = times.filter((time) => time > 0);
    const least = known.length > 0 ? known.reduce((a, b) => Math.min(a, b)) : 1;
    const [factor, name] = TIMES.find(([size]) => least >= size * 0.99995) ?? TIMES.at(-1);
    return { factor, name };
  }

  /** One time in nanoseconds in such a unit, with four significant digits. */
  function time(ns, unit) {
    if (ns === null || ns === undefined) return "";
    const value = ns / unit.factor;
    const digits = value > 0 ? Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(value)))) : 0;
    return `${value.toFixed(digits)} ${unit.name}`;
  }

  /** A counted quantity: all its digits before the point. */
  const counted = (value) => (Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(4))));

  /** A count with its noun. */
  const many = (count, one, several = `${one}s`) => `${count} ${count === 1 ? one : several}`;

  /** A moment as the report gives it, to the minute: "2026-11-22 16:00 UTC". */
  const moment = (text) => text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*Z$/, "$1 $2 UTC");

  /** Ends of all that an estimate leaves possible, as its row says it: of an open question both numbers'. */
  const shownInterval = (estimate) => estimate?.open ?? [estimate?.low ?? null, estimate?.high ?? null];

  return {
    change,
    changeWithin,
    confidence,
    counted,
    interval,
    many,
    moment,
    probability,
    share,
    shownInterval,
    time,
    timeUnit,
    withMinus,
  };
})();
