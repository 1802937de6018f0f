/* Where the page begins: reads the data, fills everything in, and listens to keys and links. */
(() => {
  const FORMAT = "duet-page-1";
  const wanted = { words: "", verdicts: new Set(), package: null, sort: "verdict" };
  let total = 0;

  /** Forgets every wish but the order. */
  function all() {
    wanted.words = "";
    wanted.verdicts.clear();
    wanted.package = null;
    changed();
  }

  /** Why no benchmark is shown, and the way back. */
  function empty() {
    if (total === 0) return [Dom.make("p", {}, "Nothing was compared: this report has no benchmarks.")];
    const words = wanted.words.trim();
    const narrowed = wanted.verdicts.size > 0 || wanted.package !== null;
    const sentence =
      words === ""
        ? ["No benchmark has such a verdict there."]
        : ["No benchmark matches ", Dom.make("code", {}, Dom.name(words)), narrowed ? " among those chosen." : "."];
    const back = Dom.make("button", { type: "button", id: "all" }, "Show all benchmarks");
    back.addEventListener("click", () => {
      all();
      List.enter();
    });
    return [Dom.make("p", {}, sentence), back];
  }

  /** How the list is narrowed, in words for paper; nothing where all are shown. */
  function narrowed() {
    const words = wanted.words.trim();
    const parts = [
      wanted.verdicts.size > 0 && [...wanted.verdicts].map((verdict) => Verdict.counted(verdict, 2)).join(", "),
      wanted.package !== null && `in ${wanted.package || "(no package)"}`,
      words !== "" && `found by “${words}”`,
    ].filter(Boolean);
    return parts.length === 0 ? "" : `Only ${parts.join(", ")}: ${Dom.get("status").textContent}.`;
  }

  function changed() {
    const count = List.show(wanted);
    Controls.show(wanted);
    Dom.get("status").textContent =
      count === total ? Format.many(total, "benchmark") : `${count} of ${Format.many(total, "benchmark")}`;
    Dom.get("only").textContent = narrowed();
    Dom.get("empty").hidden = count > 0;
    Dom.get("empty").replaceChildren(...(count > 0 ? [] : empty()));
  }

  function linked() {
    if (!location.hash.startsWith("#b=")) return;
    const isHidden = !List.isShown(location.hash);
    if (List.follows(location.hash) && isHidden) {
      all();
      List.follows(location.hash);
    }
  }

  function leave(event) {
    const search = Dom.get("search");
    if (event.target !== search) return List.close();
    if (wanted.words !== "") {
      wanted.words = "";
      changed();
    } else {
      List.enter();
    }
    return true;
  }

  const isTyping = (node) => node.matches("input, select, textarea");

  function pressed(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const search = Dom.get("search");
    if (event.key === "/" && !isTyping(event.target)) {
      event.preventDefault();
      search.focus();
      search.select();
    } else if (event.key === "Escape" && leave(event)) {
      event.preventDefault();
    } else if (event.target === search && (event.key === "ArrowDown" || event.key === "Enter")) {
      event.preventDefault();
      List.enter();
    }
  }

  /** The data of a large page, which are deflated and in base 64. */
  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return JSON.parse(await new Response(inflated).text());
  }

  async function start() {
    const text = Dom.get("data").textContent;
    const data = text.startsWith("{") ? JSON.parse(text) : await unpacked(text);
    if (data.format !== FORMAT) throw new Error(`its data are ${data.format}, and this page reads ${FORMAT}`);
    total = data.benchmarks.length;
    Head.fill(data);
    Head.versions(data);
    Controls.fill(data, wanted, changed);
    List.fill(data);
    Sections.fill(data.sections);
    Sections.foot(data);
    changed();
    linked();
    document.addEventListener("keydown", pressed);
    addEventListener("hashchange", linked);
  }

  start().catch((error) => {
    Dom.get("main").prepend(
      Dom.make("p", { class: "notice", role: "alert" }, `This report cannot be shown: ${error.message}.`),
    );
    throw error;
  });
})();
