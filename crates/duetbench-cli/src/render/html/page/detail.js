/* What opens below a row: everything that is known of one benchmark. */
const Detail = (() => {
  /** Where a link to this benchmark leads. */
  const link = (benchmark) => `#b=${encodeURIComponent(benchmark.package)}:${encodeURIComponent(benchmark.name)}`;

  function times({ baseline_ns: base, candidate_ns: head }) {
    const unit = Format.timeUnit([base, head].filter((ns) => ns !== null));
    return [Dom.fact("Base", Format.time(base, unit)), Dom.fact("Head", Format.time(head, unit))];
  }

  /** A change with its interval. */
  const ranged = ({ ratio, low, high }) => `${Format.change(ratio)} ${Format.interval(low, high)}`;

  function estimated({ estimate }) {
    if (estimate === null) return [];
    const adjusted = `p ${Format.probability(estimate.p_adjusted)} over the suite, ${Format.probability(estimate.p)} alone`;
    const counts = [
      [estimate.units, "unit"],
      [estimate.builds, "build pair"],
      [estimate.forks, "fork pair"],
      [estimate.slices, "slice pair"],
      [estimate.looks, "look"],
    ];
    return [
      Dom.fact("Change", Format.change(estimate.ratio)),
      Dom.fact(
        "Interval",
        `${Format.interval(estimate.low, estimate.high)} with ${Format.confidence(estimate.confidence)}`,
      ),
      Dom.fact("Judged", estimate.judged),
      estimate.beside && Dom.fact("Beside it", `${estimate.beside.words} ${ranged(estimate.beside)}`),
      estimate.by_wall && Dom.fact("By wall time", ranged(estimate.by_wall)),
      Dom.fact("Detects", estimate.detectable === null ? "" : `≥ ${Format.share(estimate.detectable)}`),
      Dom.fact("Evidence", adjusted),
      Dom.fact(
        "Measured",
        counts
          .filter(([count]) => count > 0)
          .map(([count, noun]) => Format.many(count, noun))
          .join(", "),
      ),
    ];
  }

  function memory(term, counts) {
    if (counts === null) return null;
    const [base, head] = [Format.counted(counts.baseline), Format.counted(counts.candidate)];
    return Dom.fact(term, counts.changed ? Dom.make("strong", {}, `${base} → ${head}`) : `${base}, unchanged`);
  }

  function layout({ layout: spread }) {
    if (spread === null) return null;
    const share = `${Format.share(spread.share)} of what fork pairs vary`;
    return Dom.fact(
      "Layout",
      `${share}: standard deviation ${Format.share(spread.sd_between)} between build pairs, ${Format.share(spread.sd_within)} within`,
    );
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

  function facts(benchmark) {
    const list = [
      ...times(benchmark),
      ...estimated(benchmark),
      memory("Allocations per operation", benchmark.allocs),
      memory("Bytes per operation", benchmark.bytes),
      layout(benchmark),
      confirmation(benchmark),
      benchmark.mode && Dom.fact("Mode", benchmark.mode),
      Dom.fact("Threshold", Format.share(benchmark.threshold)),
      benchmark.standing && Dom.fact("Policy", benchmark.standing),
    ];
    return Dom.make("dl", { class: "facts" }, list);
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

  /** Lines below a heading, as they are; nothing where there are none. */
  function lines(heading, all) {
    if (all.length === 0) return null;
    const text = Dom.make("pre", { tabindex: "0", role: "region", "aria-label": heading }, all.join("\n"));
    return Dom.make("section", { class: "profile" }, Dom.make("h4", {}, heading), text);
  }

  /** Why there is nothing to draw. */
  function nothing({ verdict, picture, mode }) {
    if (picture === null)
      return verdict === "identical_code"
        ? "Both versions run the same machine code, so nothing was measured."
        : "There are no measurements to draw.";
    return picture.histogram === null && mode?.startsWith("sequential")
      ? "In sequential mode slices have no partner, so they have no ratios to show."
      : null;
  }

  /** Fills the place below a row. Gives what draws its charts, and draws them again when the width changes. */
  function open(place, benchmark) {
    const figures = Figures.all(benchmark).map(Figures.build);
    const why = nothing(benchmark);
    const title = Dom.make("h3", {}, Dom.name(benchmark.name));
    const parts = [
      Dom.make("div", { class: "title" }, title, Dom.make("a", { href: link(benchmark) }, "Link to this benchmark")),
      Dom.make("p", { class: "package" }, Dom.name(benchmark.package)),
      benchmark.standing_words && Dom.make("p", { class: "standing" }, Dom.words(benchmark.standing_words)),
      warnings(benchmark),
      facts(benchmark),
      lines("Instructions beside the time", benchmark.instructions),
      lines("Where the time went", benchmark.profile),
      why && Dom.make("p", { class: "nothing" }, why),
      Dom.make(
        "div",
        { class: "figures" },
        figures.map((figure) => figure.element),
      ),
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
