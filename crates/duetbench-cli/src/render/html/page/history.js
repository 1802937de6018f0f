/* How long head took in earlier runs of the same store: a line of small points, with this run's as the large one. */
const History = (() => {
  const [WIDTH, HEIGHT, EDGE] = [220, 44, 6];
  /** Least height of the picture, as a part of the time: what varies less looks flat. */
  const SPAN_MIN = 0.1;

  /** The points on the paper, from the oldest run to this one. */
  function places(times) {
    const [least, most] = [Math.min(...times), Math.max(...times)];
    const [middle, span] = [(least + most) / 2, Math.max(most - least, SPAN_MIN * most)];
    const step = (WIDTH - 2 * EDGE) / (times.length - 1);
    const height = HEIGHT - 2 * EDGE;
    return times.map((ns, i) => ({ x: EDGE + i * step, y: HEIGHT / 2 - (height * (ns - middle)) / span }));
  }

  function sparkline(points) {
    const at = points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
    const last = points.length - 1;
    const dot = ({ x, y }, i) =>
      Dom.draw("circle", { class: i === last ? "now" : "past", cx: x.toFixed(1), cy: y.toFixed(1), r: i === last ? 4 : 1.75 });
    return Dom.draw(
      "svg",
      { class: "sparkline", width: WIDTH, height: HEIGHT, "aria-hidden": "true" },
      Dom.draw("polyline", { points: at }),
      points.map(dot),
    );
  }

  /** The figure of a benchmark's history in these runs. */
  function build({ words, points }, runs) {
    const unit = Format.timeUnit(points.map(([, ns]) => ns));
    const title = "Head in earlier runs";
    const rows = points.map(([run, ns]) => {
      const { name, started, version } = runs[run];
      return [name, Format.moment(started), version, Format.time(ns, unit)];
    });
    return Dom.make(
      "figure",
      { class: "history" },
      Dom.make("figcaption", {}, Dom.make("h4", {}, title), Dom.make("p", {}, words)),
      sparkline(places(points.map(([, ns]) => ns))),
      Figures.asTable({ title, table: () => [["run", "started", "head", "time"], rows] }),
    );
  }

  return { build };
})();
