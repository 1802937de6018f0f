/* The list of rows: what is shown of it, which row is open, and which one the keyboard is on. */
const List = (() => {
  /** From so many rows on, those out of sight are not drawn; a picture of the whole page would show them blank. */
  const MANY = 300;

  /** One entry for each benchmark: itself, its row, what is searched of it, whether it is shown. */
  let entries = [];
  /** The runs of which there are times. */
  let runs = [];
  let ordered = [];
  let sort = null;
  let open = null;
  let current = null;

  const button = (entry) => entry.row.firstElementChild;
  const place = (entry) => entry.row.lastElementChild;
  const shown = () => ordered.filter((entry) => entry.shown);

  /** What tells a package from the others: its path without the folders that all have in common; nothing where there is one. */
  function homes(benchmarks) {
    const paths = [...new Set(benchmarks.map((benchmark) => benchmark.package))].map((path) => path.split("/"));
    if (paths.length < 2) return () => null;
    const [first] = paths;
    const most = Math.min(...paths.map((path) => path.length)) - 1;
    const differs = first.findIndex((part, i) => i >= most || paths.some((path) => path[i] !== part));
    return (home) => home.split("/").slice(differs).join("/");
  }

  /** Makes all rows once; later they are only hidden and moved. */
  function fill(data) {
    const axis = Scale.forest(data.benchmarks, data.threshold);
    Dom.get("bar").append(Rows.ruler(axis));
    Dom.get("rows").style.setProperty("--marks", Rows.grid(axis));
    const home = homes(data.benchmarks);
    runs = data.runs;
    Dom.get("rows").classList.toggle("many", data.benchmarks.length > MANY);
    entries = data.benchmarks.map((benchmark) => ({
      benchmark,
      row: Rows.build(benchmark, axis, home(benchmark.package)),
      searched: Selection.searched(benchmark),
      shown: true,
    }));
    for (const entry of entries) button(entry).addEventListener("click", () => toggle(entry));
    Dom.get("rows").addEventListener("keydown", walk);
    Dom.get("rows").addEventListener("focusin", follow);
  }

  function reorder(wanted) {
    if (wanted.sort === sort) return;
    sort = wanted.sort;
    const byBenchmark = new Map(entries.map((entry) => [entry.benchmark, entry]));
    ordered = Selection.sorted(
      entries.map((entry) => entry.benchmark),
      sort,
    ).map((benchmark) => byBenchmark.get(benchmark));
    Dom.get("rows").append(...ordered.map((entry) => entry.row));
  }

  /** Shows what is wanted, touching only rows of which that changes. Gives how many are shown. */
  function show(wanted) {
    reorder(wanted);
    let count = 0;
    for (const entry of entries) {
      const isWanted = Selection.wants(wanted, entry.benchmark, entry.searched);
      if (isWanted !== entry.shown) entry.row.hidden = !isWanted;
      entry.shown = isWanted;
      count += isWanted ? 1 : 0;
    }
    if (current === null || !current.shown) stand(shown()[0] ?? null);
    return count;
  }

  /** Of all rows one is reached by the tabulator; the arrows go on from there. */
  function stand(entry) {
    if (current !== null) button(current).tabIndex = -1;
    current = entry;
    if (current !== null) button(current).tabIndex = 0;
  }

  function follow(event) {
    const entry = entries.find((candidate) => candidate.row.contains(event.target));
    if (entry && entry !== current) stand(entry);
  }

  /** Where a key leads from a place in the list. */
  function step(key, at, last) {
    const steps = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 10, PageUp: at - 10, Home: 0, End: last };
    return key in steps ? Math.max(0, Math.min(last, steps[key])) : null;
  }

  function walk(event) {
    if (!event.target.classList.contains("line") || event.ctrlKey || event.altKey || event.metaKey) return;
    const list = shown();
    const to = step(event.key, list.indexOf(current), list.length - 1);
    if (to === null) return;
    event.preventDefault();
    focus(list[to]);
  }

  function focus(entry) {
    button(entry).focus({ preventScroll: true });
    entry.row.scrollIntoView({ block: "nearest" });
  }

  function shut() {
    if (open === null) return;
    Detail.close(place(open));
    button(open).setAttribute("aria-expanded", "false");
    open.row.classList.remove("open");
    open = null;
  }

  function unfold(entry) {
    shut();
    open = entry;
    stand(entry);
    entry.row.classList.add("open");
    button(entry).setAttribute("aria-expanded", "true");
    Detail.open(place(entry), entry.benchmark, runs);
  }

  function remember(fragment) {
    history.replaceState(null, "", fragment === "" ? location.pathname + location.search : fragment);
  }

  function toggle(entry) {
    if (entry === open) {
      shut();
      remember("");
      return;
    }
    unfold(entry);
    remember(Detail.link(entry.benchmark));
    // Closing one above moves this one away, and what opens below may be out of sight.
    const { top, bottom } = entry.row.getBoundingClientRect();
    if (top < 0 || bottom > innerHeight) entry.row.scrollIntoView({ block: "start" });
  }

  /** Closes what is open, and leaves the keyboard on its row. Gives whether anything was. */
  function close() {
    if (open === null) return false;
    const entry = open;
    shut();
    remember("");
    focus(entry);
    return true;
  }

  /** Opens the benchmark that a link leads to. Gives whether there is one. */
  function follows(fragment) {
    const entry = entries.find((candidate) => Detail.link(candidate.benchmark) === fragment);
    if (!entry) return false;
    if (entry !== open) unfold(entry);
    entry.row.scrollIntoView({ block: "start" });
    return true;
  }

  /** Whether the entry that a link leads to is shown. */
  const isShown = (fragment) => entries.some((entry) => entry.shown && Detail.link(entry.benchmark) === fragment);

  /** Puts the keyboard on the first row, or on the one it was on. */
  function enter() {
    if (current !== null) focus(current);
  }

  return { close, enter, fill, follows, isShown, show };
})();
