/* Which benchmarks are shown, and in which order. Nothing here touches the page. */
const Selection = (() => {
  /** How far from no change; what has no estimate comes last. */
  const size = (b) => (b.estimate?.ratio > 0 ? Math.abs(Math.log(b.estimate.ratio)) : -1);
  const width = (b) => {
    const [low, high] = Format.shownInterval(b.estimate);
    return low > 0 && high > 0 ? Math.log(high / low) : b.estimate ? Infinity : -1;
  };
  const text = (b) => `${b.package} ${b.name}`;
  const byName = (a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : a.id - b.id);
  /** Descending; two that are both without bound are alike. */
  const descending = (x, y) => (x === y ? 0 : y > x ? 1 : -1);
  const bySize = (a, b) => descending(size(a), size(b)) || byName(a, b);

  const SORTS = {
    verdict: {
      title: "Verdict, then size",
      compare: (a, b) => Verdict.rank(a.verdict) - Verdict.rank(b.verdict) || bySize(a, b),
    },
    size: { title: "Size of change", compare: bySize },
    name: { title: "Name", compare: byName },
    width: { title: "Width of interval", compare: (a, b) => descending(width(a), width(b)) || byName(a, b) },
  };

  /** Benchmarks in one of the orders. */
  const sorted = (benchmarks, sort) => [...benchmarks].sort(SORTS[sort].compare);

  /** What is searched of a benchmark. */
  const searched = (benchmark) => text(benchmark).toLowerCase();

  /** Whether a benchmark is wanted: all words are in its name or package, and its verdict and package are asked for. */
  function wants(wanted, benchmark, words) {
    const parts = wanted.words.toLowerCase().split(/\s+/).filter(Boolean);
    const verdict = wanted.verdicts.size === 0 || wanted.verdicts.has(benchmark.verdict);
    const inPackage = wanted.package === null || wanted.package === benchmark.package;
    return verdict && inPackage && parts.every((part) => words.includes(part));
  }

  return { SORTS, searched, sorted, wants };
})();
