/* What opens below a row: everything that is known of one benchmark. */
const Detail = (() => {
  /** Share of what fork pairs vary below which layout is not told from the rest. */
  const LAYOUT_SHARE_MIN = 0.005;
  /** An interval stretches the bars of both times at most so many times. */
  const WHOLE_MAX = 2;

  /** Where a link to this benchmark leads. */
  const link = (benchmark) => `#b=${encodeURIComponent(benchmark.package)}:${encodeURIComponent(benchmark.name)}`;

  /** Pages of the documents that explain terms. */
  const DOCS = "https://github.com/duetbench/duetbench/blob/main/docs";
  const READING = `${DOCS}/reading-a-verdict.md`;
  const STATISTICS = `${DOCS}/statistics.md`;

  /** A change with its interval. */
  const ranged = ({ ratio, low, high }) => `${Format.changeWithin(ratio, low, high)} ${Format.interval(low, high)}`;

  /** A term, what is said about it, and what the term means. */
  const explained = (term, said, meaning) =>
    Dom.fact(term, said, said ? Dom.make("small", {}, meaning) : null);

  /** How sure the change is: what was judged, and by which numbers. */
  function evidence({ estimate, threshold }) {
    if (estimate === null) return [];
    const p =
      estimate.p === null
        ? ""
        : `${Format.probability(estimate.p_adjusted)} over the suite, ${Format.probability(estimate.p)} alone`;
    return [
      explained("Judged", estimate.judged, "the number of each fork that the answer rests on"),
      estimate.beside &&
        explained(
          "Beside it",
          `${estimate.beside.words} ${ranged(estimate.beside)}`,
          "the other number, which no change must hold for as well",
        ),
      explained(
        "Interval",
        `${ranged(estimate)} with ${Format.confidence(estimate.confidence)}`,
        "where the true change is, however often it was looked at",
      ),
      explained("p", p, "how often chance alone would make so much of no change"),
      explained(
        "Detects",
        estimate.detectable === null ? "" : `≥ ${Format.share(estimate.detectable)}`,
        "the smallest true change that such a run usually finds",
      ),
      explained("Threshold", Format.share(threshold), "a smaller change is none"),
    ];
  }

  /** How much was measured, and how. */
  function measured({ estimate, mode }) {
    const counts = [
      [estimate?.units, "unit"],
      [estimate?.builds, "build pair"],
      [estimate?.forks, "fork pair"],
      [estimate?.slices, "slice pair"],
      [estimate?.looks, "look"],
    ].filter(([count]) => count > 0);
    const said = counts.map(([count, noun]) => Format.many(count, noun)).join(", ");
    return [
      explained("Measured", said, "a unit is what counts as one observation; a fork pair is a process of each version"),
      mode && explained("Mode", mode, "how the processes of both versions share the machine"),
    ];
  }

  function memory(term, counts) {
    if (counts === null) return null;
    const [base, head] = [Format.counted(counts.baseline), Format.counted(counts.candidate)];
    return Dom.fact(term, counts.changed ? Dom.make("strong", {}, `${base} → ${head}`) : `${base}, unchanged`);
  }

  function layout({ layout: spread }) {
    if (spread === null) return null;
    const meaning = "what the place of code in memory does to the time";
    if (spread.share < LAYOUT_SHARE_MIN) return explained("Layout", "too little to tell", meaning);
    const share = `${Format.share(spread.share)} of what fork pairs vary`;
    const spreads = `standard deviation ${Format.share(spread.sd_between)} between build pairs, ${Format.share(spread.sd_within)} within`;
    return explained("Layout", `${share}: ${spreads}`, meaning);
  }

  function asLinked({ as_linked: ratio }) {
    if (ratio === null) return null;
    const meaning = "the two programs where the linker puts their parts without being asked";
    return explained("As linked", `${Format.change(ratio)} in first trials`, meaning);
  }

  function confirmation({ confirmation: said }) {
    if (said === null) return null;
    const rounds = said.rounds.map(
      (round, i) => `round ${i + 1}: ${Format.change(round.ratio)} (${Format.many(round.units, "unit")})`,
    );
    const lines = [said.words, `fresh trials: ${ranged(said.fresh)}`, ...rounds];
    return Dom.fact(
      "Confirmation",
      lines.map((line) => Dom.make("div", {}, line)),
    );
  }

  /** Both times as bars, and on the head's the interval of the change. */
  function beforeAfter(benchmark) {
    const { baseline_ns: base, candidate_ns: head, estimate, verdict } = benchmark;
    if (base === null || head === null) return null;
    const unit = Format.timeUnit([base, head]);
    const [low, high] = Format.shownInterval(estimate).map((ratio) => ratio * base);
    const isShown = estimate !== null && !estimate.by_cpu && high > 0;
    const whole = Math.min(Math.max(base, head, isShown ? high : 0), WHOLE_MAX * Math.max(base, head));
    const at = (ns) => `${Math.min(100, (100 * ns) / whole).toFixed(2)}%`;
    const ends = high > whole ? "whisker goes-on" : "whisker";
    const bar = (role, ns, whisker) =>
      Dom.make(
        "div",
        { class: `bar is-${role}` },
        Dom.make("span", { class: "role" }, role),
        Dom.make(
          "span",
          { class: "track" },
          Dom.make("span", { class: "fill", style: `width: ${at(ns)}` }),
          whisker && Dom.make("span", { class: ends, style: `left: ${at(low)}; right: calc(100% - ${at(high)})` }),
        ),
        Dom.make("span", { class: "time" }, Format.time(ns, unit)),
      );
    return Dom.make("div", { class: `both is-${verdict}` }, bar("base", base, false), bar("head", head, isShown));
  }

  /** What is known beside times, where there is something. */
  function facts(benchmark) {
    const list = [
      memory("Allocations per operation", benchmark.allocs),
      memory("Bytes per operation", benchmark.bytes),
      benchmark.estimate?.by_wall && Dom.fact("By wall time", ranged(benchmark.estimate.by_wall)),
      confirmation(benchmark),
    ].filter(Boolean);
    return list.length === 0 ? null : Dom.make("dl", { class: "facts" }, list);
  }

  /** The numbers that the answer rests on, folded, each with its meaning. */
  function numbers(benchmark) {
    const list = [...evidence(benchmark), ...measured(benchmark), layout(benchmark), asLinked(benchmark)].filter(Boolean);
    if (benchmark.estimate === null || list.length === 0) return null;
    const more = Dom.make(
      "p",
      {},
      "More: ",
      Dom.make("a", { href: READING }, "reading a verdict"),
      ", ",
      Dom.make("a", { href: STATISTICS }, "the statistics behind it"),
      ".",
    );
    return Dom.make(
      "details",
      { class: "numbers" },
      Dom.make("summary", {}, "The numbers behind it"),
      Dom.make("dl", { class: "facts" }, list),
      more,
    );
  }

  function warnings({ words }) {
    return words.length === 0
      ? null
      : Dom.make(
          "ul",
          { class: "words" },
          words.map((line) => Dom.make("li", {}, Dom.words(line))),
        );
  }

  /** One function: its times before and after on a scale that all share. */
  function gained(most) {
    return ({ name, origin, baseline_ns: base, candidate_ns: head, gain, share }) => {
      const unit = Format.timeUnit([base, head]);
      const track = (role, ns) =>
        Dom.make(
          "span",
          { class: `track is-${role}` },
          Dom.make("span", { class: "fill", style: `width: ${((100 * ns) / most).toFixed(2)}%` }),
        );
      const of = share === null ? null : Dom.make("small", {}, `${Format.share(share)} of the change`);
      return Dom.make(
        "li",
        {},
        Dom.make("span", { class: "function" }, Dom.name(name), origin && Dom.make("small", {}, ` ${origin}`)),
        Dom.make("span", { class: "tracks", "aria-hidden": "true" }, track("base", base), track("head", head)),
        Dom.make("span", { class: "time" }, `${Format.time(base, unit)} → ${Format.time(head, unit)}`),
        Dom.make("span", { class: "gain" }, Dom.make("strong", {}, gain), of),
      );
    };
  }

  function gains(title, functions) {
    if (functions.length === 0) return [];
    const most = functions.reduce((max, one) => Math.max(max, one.baseline_ns, one.candidate_ns), 0);
    return [Dom.make("h5", {}, title), Dom.make("ul", { class: "gains", role: "list" }, functions.map(gained(most)))];
  }

  function profile({ profile: found }) {
    if (found === null) return null;
    return Dom.make(
      "section",
      { class: "profile" },
      Dom.make("h4", {}, "Where the time went"),
      found.words.map((line) => Dom.make("p", {}, Dom.words(line))),
      gains("Functions by themselves", found.flat),
      gains("Functions with what they call", found.cumulative),
      found.stacks && Flame.build(found.stacks),
      Dom.command("Look closer", found.command),
    );
  }

  function instructions({ instructions: said }) {
    if (said.length === 0) return null;
    const lines = said.map((line) => Dom.make("p", {}, Dom.words(line)));
    return Dom.make("section", { class: "profile" }, Dom.make("h4", {}, "Instructions beside the time"), lines);
  }

  /** What was proven instead of measured. */
  const PROVEN = {
    identical_code: "Both versions run the same machine code, so nothing was measured.",
    not_affected: "All code that it can reach is identical in both versions, so nothing was measured.",
  };

  /** Why there is nothing to draw. */
  function nothing({ verdict, picture, mode }) {
    if (picture === null) return PROVEN[verdict] ?? "There are no measurements to draw.";
    return picture.histogram === null && mode?.startsWith("sequential")
      ? "In sequential mode slices have no partner, so they have no ratios to show."
      : null;
  }

  /** Fills the place below a row; `runs` are those of its history. Gives what draws its charts, and draws them again when the width changes. */
  function open(place, benchmark, runs) {
    const figures = Figures.all(benchmark).map(Figures.build);
    const why = nothing(benchmark);
    const title = Dom.make("h3", {}, Dom.name(benchmark.name));
    const parts = [
      Dom.make("div", { class: "title" }, title, Dom.make("a", { href: link(benchmark) }, "Link to this benchmark")),
      Dom.make("p", { class: "package" }, Dom.name(benchmark.package)),
      benchmark.sentence && Dom.make("p", { class: "said" }, benchmark.sentence),
      beforeAfter(benchmark),
      benchmark.standing_words && Dom.make("p", { class: "standing" }, Dom.words(benchmark.standing_words)),
      warnings(benchmark),
      profile(benchmark),
      instructions(benchmark),
      benchmark.history && History.build(benchmark.history, runs),
      facts(benchmark),
      why && Dom.make("p", { class: "nothing" }, why),
      Dom.make(
        "div",
        { class: "figures" },
        figures.map((figure) => figure.element),
      ),
      numbers(benchmark),
    ];
    place.replaceChildren(...parts.filter(Boolean));
    place.hidden = false;
    watch(place, figures);
  }

  let observer = null;

  /** Draws now and at every new width. */
  function watch(place, figures) {
    observer?.disconnect();
    let width = -1;
    observer = new ResizeObserver(() => {
      if (Math.abs(place.clientWidth - width) < 1 || place.hidden) return;
      width = place.clientWidth;
      for (const figure of figures) figure.draw();
    });
    observer.observe(place);
  }

  /** Empties it again. */
  function close(place) {
    observer?.disconnect();
    place.hidden = true;
    place.replaceChildren();
  }

  return { close, link, open };
})();
