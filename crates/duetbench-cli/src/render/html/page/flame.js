/* A flame graph of both versions' call stacks, callers above what they call. Colours say what grew and what shrank, and signs repeat it. */
const Flame = (() => {
  const EVERYTHING = "everything";
  /** A frame's colour, in percent of the full one: the least that is told from none, and the most on which words are read. */
  const [PALE, FULL] = [12, 45];
  const SIGNS = { grew: "▲ ", shrank: "▼ ", alike: "" };
  const SAID = { grew: "grew", shrank: "shrank", alike: "no change beyond sampling" };

  const percent = (fraction) => `${(100 * fraction).toFixed(3)}%`;

  /** A name without the path of its package. */
  const short = (name) => name.replace(/^[^[(]*\//, "");

  const change = ([base, head]) => (base === 0 ? "new" : head === 0 ? "gone" : Format.change(head / base));

  /** The frames by name, each with those that it calls and the end of what is below it. */
  function read({ functions, frames }) {
    const above = [];
    return frames.map(([depth, name, left, width, base, head, trend], i) => {
      const full = functions[name] || EVERYTHING;
      const unit = Format.timeUnit([base, head]);
      const times = `${Format.time(base, unit)} → ${Format.time(head, unit)}`;
      let end = i + 1;
      while (end < frames.length && frames[end][0] > depth) end += 1;
      above.length = depth;
      const caller = above.at(-1) ?? null;
      above.push(i);
      return { i, depth, full, left, width, base, head, trend, times, end, caller };
    });
  }

  const told = ({ full, times, base, head, trend }) => `${full}: ${times}, ${change([base, head])}; ${SAID[trend]}`;

  /** How strong a frame's colour is: by its change against the longer of both times. */
  const part = ({ base, head }) => PALE + ((FULL - PALE) * Math.abs(head - base)) / Math.max(base, head);

  function element(frame) {
    return Dom.make(
      "div",
      {
        class: `frame is-${frame.trend}`,
        role: "treeitem",
        tabindex: frame.i === 0 ? "0" : "-1",
        title: told(frame),
        "aria-label": told(frame),
        "aria-level": frame.depth + 1,
        style: frame.trend === "alike" ? null : `--part: ${part(frame).toFixed(1)}%`,
      },
      `${SIGNS[frame.trend]}${short(frame.full)}`,
    );
  }

  /** Gives every frame its place where this one is as wide as the picture: its callers too, and what is beside them has none. */
  function place(frames, nodes, wide) {
    for (const [i, node] of nodes.entries()) {
      const [frame, isCaller] = [frames[i], frames[i].depth < wide.depth];
      const isInside = i >= wide.i && i < wide.end;
      node.hidden = !isInside && !(isCaller && i <= wide.i && wide.i < frame.end);
      const [left, width] = isInside ? [(frame.left - wide.left) / wide.width, frame.width / wide.width] : [0, 1];
      node.style.left = percent(left);
      node.style.width = percent(width);
      node.style.top = `${frame.depth * 1.5}rem`;
    }
  }

  /** The frame to which a key leads; one that is hidden takes no focus. */
  function step(key, frames, at) {
    const siblings = frames.filter((one) => one.caller === at.caller);
    const beside = siblings.indexOf(at);
    const called = frames[at.i + 1];
    const steps = {
      ArrowUp: frames[at.caller ?? 0],
      ArrowDown: called && called.caller === at.i ? called : at,
      ArrowLeft: siblings[Math.max(0, beside - 1)],
      ArrowRight: siblings[Math.min(siblings.length - 1, beside + 1)],
      Home: frames[0],
    };
    return steps[key] ?? null;
  }

  /** The picture, and the line below it that tells of one frame. */
  function draw(frames) {
    const nodes = frames.map(element);
    const levels = 1 + frames.reduce((most, { depth }) => Math.max(most, depth), 0);
    const graph = Dom.make(
      "div",
      { class: "flame", role: "tree", "aria-label": "Call stacks of both versions", style: `height: ${levels * 1.5}rem` },
      nodes,
    );
    const line = Dom.make("p", { class: "frame-told", "aria-hidden": "true" }, told(frames[0]));
    let [current, wide] = [frames[0], frames[0]];
    const widen = (frame) => {
      wide = frame === wide ? frames[0] : frame;
      place(frames, nodes, wide);
    };
    const frameOf = (event) => frames[nodes.indexOf(event.target)];
    const tell = (event) => {
      const frame = frameOf(event);
      if (frame) line.textContent = told(frame);
    };
    graph.addEventListener("pointerover", tell);
    graph.addEventListener("focusin", (event) => {
      nodes[current.i].tabIndex = -1;
      current = frameOf(event);
      nodes[current.i].tabIndex = 0;
      tell(event);
    });
    graph.addEventListener("click", (event) => {
      const frame = frameOf(event);
      if (frame) widen(frame);
    });
    graph.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const isChosen = event.key === "Enter" || event.key === " ";
      const to = isChosen ? current : step(event.key, frames, current);
      if (to === null) return;
      event.preventDefault();
      if (isChosen) widen(to);
      else nodes[to.i].focus();
    });
    place(frames, nodes, wide);
    return [graph, line];
  }

  /** The figure of these stacks. */
  function build(stacks) {
    const frames = read(stacks);
    const title = "Call stacks";
    const note =
      "Callers stand above what they call. A frame is as wide as its time in the version where it is longer; " +
      "▲ orange grew from base to head, ▼ blue shrank. A click or Enter widens one.";
    const rows = frames.map((frame) => {
      const name = `${"· ".repeat(frame.depth)}${frame.full}`;
      return [name, ...frame.times.split(" → "), change([frame.base, frame.head]), SAID[frame.trend]];
    });
    const table = () => [["function", "base", "head", "change", "beyond sampling"], rows];
    return Dom.make(
      "figure",
      {},
      Dom.make("figcaption", {}, Dom.make("h5", {}, title), Dom.make("p", {}, note)),
      draw(frames),
      Figures.asTable({ title, table }),
    );
  }

  return { build };
})();
