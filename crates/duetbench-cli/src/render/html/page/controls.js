/* What narrows and orders the list: chips with counts, search, package, order. They change what is wanted and tell `changed`. */
const Controls = (() => {
  function chip(verdict, count, wanted, changed) {
    const button = Dom.make(
      "button",
      { type: "button", class: `chip is-${verdict}`, "aria-pressed": "false", "data-verdict": verdict },
      Verdict.icon(verdict),
      Dom.make("b", {}, String(count)),
      ` ${Verdict.counted(verdict, count)}`,
    );
    button.addEventListener("click", () => {
      if (!wanted.verdicts.delete(verdict)) wanted.verdicts.add(verdict);
      changed();
    });
    return button;
  }

  function search(wanted, changed) {
    const input = Dom.make("input", {
      type: "search",
      id: "search",
      placeholder: "Name or package",
      autocomplete: "off",
      spellcheck: "false",
      "aria-keyshortcuts": "/",
    });
    input.addEventListener("input", () => {
      wanted.words = input.value;
      changed();
    });
    return labelled("Search", input);
  }

  const labelled = (words, input) =>
    Dom.make("label", { for: input.id, class: `control for-${input.id}` }, Dom.make("span", {}, words), input);

  /** A choice of one value; its options are pairs of value and words. */
  function choice(id, words, options, take) {
    const list = Dom.make(
      "select",
      { id },
      options.map(([value, text]) => Dom.make("option", { value }, text)),
    );
    list.addEventListener("change", () => take(list.value));
    return labelled(words, list);
  }

  function packages(benchmarks, wanted, changed) {
    const names = [...new Set(benchmarks.map((benchmark) => benchmark.package))].sort();
    if (names.length < 2) return null;
    // A package may have any name, also an empty one, so that its place in the list stands for it.
    const options = [["", "All packages"], ...names.map((name, i) => [String(i), name || "(no package)"])];
    return choice("package", "Package", options, (value) => {
      wanted.package = value === "" ? null : names[Number(value)];
      changed();
    });
  }

  function order(wanted, changed) {
    const options = Object.entries(Selection.SORTS).map(([key, { title }]) => [key, title]);
    return choice("sort", "Order", options, (value) => {
      wanted.sort = value;
      changed();
    });
  }

  /** Fills in all of them. */
  function fill(data, wanted, changed) {
    const present = Verdict.order.filter((verdict) => data.counts[verdict] > 0);
    Dom.get("chips").append(...present.map((verdict) => chip(verdict, data.counts[verdict], wanted, changed)));
    const parts = [search(wanted, changed), packages(data.benchmarks, wanted, changed), order(wanted, changed)];
    const status = Dom.make("p", { id: "status", role: "status" });
    Dom.get("bar").append(Dom.make("div", { class: "controls" }, parts, status));
  }

  /** Makes them show what is wanted. */
  function show(wanted) {
    for (const button of Dom.get("chips").children)
      button.setAttribute("aria-pressed", String(wanted.verdicts.has(button.dataset.verdict)));
    if (Dom.get("search").value !== wanted.words) Dom.get("search").value = wanted.words;
    if (wanted.package === null && Dom.get("package")) Dom.get("package").value = "";
  }

  return { fill, show };
})();
