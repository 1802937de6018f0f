/* What is folded below the benchmarks: noise, plan, environment. */
const Sections = (() => {
  function content({ lines = [], pairs = [] }) {
    if (lines.length === 0 && pairs.length === 0) return [Dom.make("p", { class: "nothing" }, "Nothing to say.")];
    const list =
      pairs.length > 0
        ? Dom.make(
            "dl",
            { class: "facts" },
            pairs.map(([term, word]) => Dom.fact(term, Dom.words(word))),
          )
        : null;
    const said =
      lines.length > 0
        ? Dom.make(
            "ul",
            { class: "lines" },
            lines.map((line) => Dom.make("li", {}, Dom.words(line))),
          )
        : null;
    return [said, list].filter(Boolean);
  }

  /** Fills in all sections, folded. */
  function fill(sections) {
    const folded = (section) =>
      Dom.make(
        "details",
        {},
        Dom.make("summary", {}, Dom.make("h2", {}, section.title)),
        Dom.make("div", {}, content(section)),
      );
    Dom.get("sections").append(...sections.map(folded));
    // Paper cannot be unfolded.
    let shut = [];
    addEventListener("beforeprint", () => {
      shut = [...document.querySelectorAll("#sections details:not([open]), .numbers:not([open])")];
      for (const one of shut) one.open = true;
    });
    addEventListener("afterprint", () => {
      for (const one of shut) one.open = false;
    });
  }

  /** What the signs of the list mean, at the foot of the page. */
  function foot(data) {
    const largest = data.benchmarks.reduce((most, { threshold }) => Math.max(most, threshold), 0);
    const isRuled = data.benchmarks.some(({ threshold }) => threshold !== data.threshold);
    const threshold = isRuled
      ? `the benchmark's threshold, by rules up to ${Format.share(largest)}`
      : `the threshold (${Format.share(data.threshold)})`;
    const signs = [
      `~ any change is smaller than the threshold`,
      `? too uncertain to say`,
      ...data.words,
      `the shaded band is within ${threshold}`,
      `an arrow goes on beyond the axis`,
      `the axis is logarithmic: twice as slow is as far as twice as fast`,
    ];
    Dom.get("foot").append(
      Dom.make(
        "ul",
        { class: "signs" },
        signs.map((sign) => Dom.make("li", {}, sign)),
      ),
      Dom.make(
        "p",
        {},
        Dom.make("kbd", {}, "/"),
        " searches, ",
        Dom.make("kbd", {}, "↑"),
        " ",
        Dom.make("kbd", {}, "↓"),
        " go through the list, ",
        Dom.make("kbd", {}, "Enter"),
        " opens, ",
        Dom.make("kbd", {}, "Esc"),
        " closes.",
      ),
    );
  }

  return { fill, foot };
})();
