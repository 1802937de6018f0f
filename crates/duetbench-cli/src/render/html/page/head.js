/* What stands above the benchmarks, which is what came out in plain words, and below them: what to do next, and what was compared. */
const Head = (() => {
  /** The button that changes between light and dark. What was chosen is kept, where the browser keeps anything. */
  function themes() {
    const isDark = () =>
      (document.documentElement.dataset.theme ??
        (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    const button = Dom.make("button", { type: "button", class: "theme", id: "theme" });
    const tell = () => (button.textContent = isDark() ? "Light theme" : "Dark theme");
    button.addEventListener("click", () => {
      document.documentElement.dataset.theme = isDark() ? "light" : "dark";
      remember(document.documentElement.dataset.theme);
      tell();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
    tell();
    return button;
  }

  function remember(theme) {
    try {
      localStorage.setItem("duet-theme", theme);
    } catch {
      // A browser that keeps nothing forgets it with the page.
    }
  }

  /** Takes the theme that was chosen before. */
  function recall() {
    try {
      const theme = localStorage.getItem("duet-theme");
      if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    } catch {
      // Nothing is kept.
    }
  }

  function origin(data) {
    const parts = [data.duet, data.run && `run ${data.run}`, data.started && Format.moment(data.started)].filter(
      Boolean,
    );
    const incomplete = data.complete ? null : Dom.make("span", { class: "incomplete" }, "incomplete");
    return Dom.make(
      "p",
      { class: "origin" },
      parts.map((part) => Dom.make("span", {}, part)),
      incomplete,
    );
  }

  /** What does not hold as it should, whole, with a sign. */
  function warnings({ warnings: said }) {
    if (said.length === 0) return [];
    const line = (sentence) => Dom.make("li", {}, Dom.make("strong", {}, "Warning: "), Dom.words(sentence));
    return [Dom.make("ul", { class: "warnings", role: "list" }, said.map(line))];
  }

  /** Fills the head of the page. */
  function fill(data) {
    recall();
    const [word, verdict] = Verdict.outcome(data.outcome === "clean" && !data.complete ? "incomplete" : data.outcome);
    Dom.get("head").append(
      Dom.make("div", { class: "topmost" }, origin(data), themes()),
      Dom.make("p", { class: `outcome is-${verdict}` }, Verdict.icon(verdict), word),
      Dom.make("h1", {}, Dom.words(data.headline)),
      Dom.make("p", { class: "compared" }, Dom.name(data.baseline.resolved), " → ", Dom.name(data.candidate.resolved)),
      Dom.make(
        "div",
        { class: "summary" },
        data.summary.map((sentence) => Dom.make("p", {}, Dom.words(sentence))),
      ),
      ...warnings(data),
    );
  }

  function version(role, { requested, resolved }) {
    const exact =
      resolved && resolved !== requested
        ? Dom.make("span", { class: "exact", title: resolved }, Dom.name(resolved))
        : null;
    return Dom.fact(role, Dom.make("strong", {}, Dom.name(requested)), exact);
  }

  /** Fills in the next steps, what was compared, and how to do it again. */
  function versions(data) {
    const settings = `threshold ${Format.share(data.threshold)}, confidence ${Format.confidence(data.confidence)}`;
    Dom.get("versions").append(
      ...data.hints.map((sentence) => Dom.make("p", { class: "hint" }, Dom.words(sentence))),
      ...[
        Dom.command("Accept the slowdown", data.accept),
        Dom.command("Measure again", data.reproduce),
      ].filter(Boolean),
      Dom.make(
        "dl",
        { class: "facts" },
        version("Base", data.baseline),
        version("Head", data.candidate),
        Dom.fact("Settings", settings),
      ),
    );
  }

  return { fill, versions };
})();
