// The details that open below a row, whoever made its names, and links that lead there.

import assert from "node:assert/strict";
import { barriers, saysAll } from "./checks.mjs";
import { NASTY } from "./generate.mjs";

const link = ({ package: home, name }) => `#b=${encodeURIComponent(home)}:${encodeURIComponent(name)}`;

export async function a_detail_has_everything(begin) {
  const visit = await begin({ number: 50 });
  const benchmark = visit.data.benchmarks[0];
  assert.equal(await visit.page.locator("#rows svg.chart").count(), 0, "charts are drawn before they are asked for");
  const detail = await visit.open(benchmark);
  await detail.locator("svg.chart").first().waitFor();
  const text = await detail.textContent();
  const wanted = [
    "[+5.",
    "with 90%",
    "the typical slice, by wall time",
    "all slices together +",
    "12 build pairs",
    "16 fork pairs",
    "3 → 4",
    "128 → 144.5",
    "6.2% within so much.",
    "90% of what fork pairs vary",
    "round 2",
    "confirmed",
    "fresh trials: +6.3% [+5.7%, ",
    "encodeState",
    "slower by more than the 3% that duet.toml allows",
  ];
  for (const words of wanted) assert.ok(text.includes(words), `${words} is missing in ${text}`);
  const labels = await detail
    .locator('svg[role="img"]')
    .evaluateAll((all) => all.map((svg) => svg.getAttribute("aria-label")));
  const samples = benchmark.picture.histogram.counts.reduce((a, b) => a + b);
  const slices = Array(3).fill("Both versions' times over 120 slices");
  const charts = [
    "How the times of both versions are spread over one axis, with their medians",
    "The interval at each of 4 looks",
    "Both versions' times over 16 fork pairs",
    "Change of each of 16 fork pairs",
    ...slices,
    `Distribution of the ratios of ${samples} slice pairs around no change`,
  ];
  assert.deepEqual(labels, charts);
  const forks = detail.locator('figure:has-text("Fork pairs over time")');
  assert.equal(await forks.locator("circle").count(), 2 + 2 * 16);
  for (const role of ["baseline", "candidate"]) {
    const line = forks.locator(`g[fill="none"][stroke="var(--${role})"] path`);
    const path = await line.first().getAttribute("d");
    assert.equal(path.split("L").length, 16, `the line of the ${role} is ${path}`);
  }
  assert.equal(
    await detail.locator('figure:has-text("Distribution of") rect').count(),
    1 + benchmark.picture.histogram.counts.length,
  );
  await detail.locator('figure:has-text("Looks") summary').click();
  await detail.locator("tbody tr").first().waitFor();
  const rows = await detail.locator("tbody tr").allTextContents();
  assert.equal(rows.length, benchmark.picture.looks.length);
  assert.ok(rows.at(-1).endsWith("settled"), rows.at(-1));
  await visit.open(visit.data.benchmarks[1]);
  assert.equal(await visit.page.locator(".detail:not([hidden])").count(), 1, "one at a time");
  assert.equal(await detail.locator("svg").count(), 0, "what is closed is still drawn");
  await visit.end();
}

export async function a_detail_begins_with_one_sentence_and_both_times(begin) {
  const change = (data) => {
    const [first] = data.benchmarks;
    Object.assign(first, { baseline_ns: 1000, candidate_ns: 1500, sentence: "Slower." });
    Object.assign(first.estimate, { ratio: 1.5, low: 1.4, high: 1.6 });
    return data;
  };
  const visit = await begin({ number: 5, change });
  const detail = await visit.open(visit.data.benchmarks[0]);
  assert.equal(await detail.locator(".said").textContent(), "Slower.");
  const box = (selector) => detail.locator(selector).evaluate((node) => node.getBoundingClientRect().toJSON());
  const [base, head, whisker] = [await box(".both .is-base .fill"), await box(".both .is-head .fill"), await box(".whisker")];
  const near = (found, wanted) => assert.ok(Math.abs(found - wanted) < 2, `${found} and not ${wanted}`);
  near(head.width, 1.5 * base.width);
  near(whisker.left - base.left, 1.4 * base.width);
  near(whisker.right - base.left, 1.6 * base.width);
  // What the answer rests on is folded, and each of it is explained.
  assert.equal(await detail.locator(".numbers dd").first().isVisible(), false);
  const bare = await detail.locator(".numbers dd").evaluateAll((all) => all.filter((dd) => !dd.querySelector("small")).length);
  assert.equal(bare, 0);
  await visit.end();
}

export async function profiles_are_bars_by_function(begin) {
  const visit = await begin({ number: 5 });
  const { page, data } = visit;
  const detail = await visit.open(data.benchmarks[0]);
  const widths = await detail
    .locator(".gains .fill")
    .evaluateAll((all) => all.map((fill) => fill.getBoundingClientRect().width));
  assert.equal(widths.length, 4);
  assert.ok(Math.abs(widths[0] / widths[1] - 191 / 359) < 0.02, `${widths}`);
  assert.ok(Math.abs(widths[3] / widths[1] - 58 / 359) < 0.02, `${widths}`);
  assert.equal(await detail.locator(".profile .command code").textContent(), data.benchmarks[0].profile.command);
  await visit.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await detail.locator(".profile .copy").click();
  await detail.locator(".told", { hasText: "Copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), data.benchmarks[0].profile.command);
  await visit.end();
}

export async function earlier_runs_are_a_line_with_this_one_marked(begin) {
  const visit = await begin({ number: 5 });
  const { data } = visit;
  const detail = await visit.open(data.benchmarks[0]);
  const history = detail.locator(".history");
  assert.equal(await history.locator("figcaption p").textContent(), data.benchmarks[0].history.words);
  const points = await history
    .locator("circle")
    .evaluateAll((all) => all.map((dot) => [dot.classList.value, ...["cx", "cy", "r"].map((name) => Number(dot.getAttribute(name)))]));
  assert.equal(points.length, 11);
  assert.deepEqual(points.map(([kind]) => kind), [...Array(10).fill("past"), "now"]);
  const [first, last] = [points[0], points.at(-1)];
  assert.ok(last[1] > first[1] && last[2] < first[2] && last[3] > first[3], "the last one is right, above, and larger");
  assert.ok(points.every(([, x, y]) => x > 0 && x < 220 && y > 0 && y < 44), `${points}`);
  await history.locator("summary").click();
  await history.locator("tbody tr").first().waitFor();
  const rows = await history.locator("tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  assert.deepEqual(rows[3], ["r4", "2026-11-13 16:00 UTC", "<i>topic</i>", "1.000 µs"]);
  assert.deepEqual(rows[5], ["r7", "2026-11-16 16:00 UTC", "work tree", "1.000 µs"]);
  assert.equal(await (await visit.open(data.benchmarks[1])).locator(".history").count(), 0);
  await visit.end();
}

export async function slices_share_an_axis_and_spikes_are_clipped(begin) {
  const change = (data) => {
    data.benchmarks[0].picture.slices[1].points[7][1] *= 20;
    return data;
  };
  for (const width of [1024, 1280]) {
    const visit = await begin({ number: 5, width, change });
    const figure = (await visit.open(visit.data.benchmarks[0])).locator('figure:has-text("Slices of")');
    await figure.locator("svg.chart").first().waitFor();
    const axes = await figure
      .locator("svg.chart")
      .evaluateAll((all) => all.map((svg) => [...svg.querySelectorAll("text")].map((text) => text.textContent).filter((text) => /^[\d.,]+$/.test(text)).slice(0, 4)));
    assert.equal(axes.length, 3);
    assert.deepEqual(axes[1], axes[0]);
    assert.deepEqual(axes[2], axes[0]);
    const tops = await figure.locator("svg.chart").evaluateAll((all) => all.map((svg) => Math.round(svg.getBoundingClientRect().top)));
    assert.equal(new Set(tops).size, 1, `${tops} at ${width}`);
    assert.ok((await figure.locator("figcaption").textContent()).includes("farther out (1 of them)"));
    await visit.end();
  }
}

export async function every_verdict_opens(begin) {
  const visit = await begin({
    number: 50,
    change: (data) => {
      // The data of a run that was killed early, with bounds that are not known.
      Object.assign(data.benchmarks[0].picture, {
        forks: data.benchmarks[0].picture.forks.slice(0, 1),
        slices: [],
        histogram: null,
        looks: [],
      });
      data.benchmarks[1].picture.looks[0] = [1, 0.9, null, null, false];
      Object.assign(data.benchmarks[2].estimate, { high: null, detectable: null });
      data.benchmarks[3].picture.forks = data.benchmarks[3].picture.forks.map((fork) => [
        ...fork.slice(0, 3),
        0.25,
        0.25,
        1,
      ]);
      return data;
    },
  });
  for (const benchmark of visit.data.benchmarks) {
    const detail = await visit.open(benchmark);
    assert.equal(await detail.locator("h3").textContent(), benchmark.name);
    await visit.page.waitForFunction(
      ([id, some]) => !some || document.querySelector(`#detail-${id} svg.chart`) !== null,
      [benchmark.id, benchmark.picture !== null],
    );
    assert.equal(
      await detail.locator("svg [d*=NaN], svg [cx=NaN], svg [cy=NaN], svg [height*=NaN]").count(),
      0,
      benchmark.name,
    );
  }
  await visit.end();
}

export async function slices_are_explained_by_their_mode(begin) {
  const modes = ["interleaved on one core", "duet", "sequential", null];
  const change = (data) => {
    modes.forEach((mode, i) => Object.assign(data.benchmarks[i], { mode, picture: data.benchmarks[0].picture }));
    return data;
  };
  const visit = await begin({ number: 5, change });
  const said = [];
  for (const benchmark of visit.data.benchmarks.slice(0, 4))
    said.push(
      await (await visit.open(benchmark)).locator('figure:has-text("Slices of") figcaption > p').first().textContent(),
    );
  for (const [i, words] of ["take turns", "at the same time", "not measured together", "take turns"].entries())
    assert.ok(said[i].includes(words), said[i]);
  await visit.end();
}

export async function foreign_names_stay_text(begin) {
  const visit = await begin({
    number: 50,
    change: (data) => ({ ...data, headline: `</title><script>document.body.id="broken"</script>` }),
  });
  const { page, data } = visit;
  assert.equal(await page.title(), data.headline);
  for (const name of NASTY) {
    const benchmark = data.benchmarks.find((b) => b.name === name);
    const detail = await visit.open(benchmark);
    assert.equal(await detail.locator("h3").textContent(), name);
  }
  assert.deepEqual(
    await page.$$eval("#main script, img, iframe, [onerror], body#broken", (all) => all.map((node) => node.outerHTML)),
    [],
  );
  assert.deepEqual(
    await page.$$eval("h3, .own", (all) => all.filter((node) => node.firstElementChild?.tagName !== "BDI").length),
    0,
  );
  await visit.end();
}

export async function a_link_opens_its_benchmark(begin) {
  const probe = await begin({ number: 50 });
  const { page, data } = probe;
  const [first, last] = [data.benchmarks[8], data.benchmarks[49]];
  await probe.open(first);
  assert.equal(new URL(page.url()).hash, link(first));
  await page.keyboard.press("Escape");
  assert.equal(new URL(page.url()).hash, "");
  await page.fill("#search", "nothing of the kind");
  await page.evaluate((hash) => (location.hash = hash), link(last));
  await page.locator(`#detail-${last.id} h3`).waitFor();
  assert.equal((await probe.names()).length, 50, "what is linked to is filtered away");
  await probe.end();
  for (const benchmark of [first, last]) {
    const visit = await begin({ number: 50, hash: link(benchmark) });
    await visit.page.locator(`#detail-${benchmark.id} h3`).waitFor();
    const top = await visit.page.$eval(`#row-${benchmark.id}`, (row) => row.getBoundingClientRect().top);
    assert.ok(top >= 0 && top < 400, `the row is at ${top}`);
    await visit.end();
  }
  const nowhere = await begin({ number: 5, hash: "#b=%E0%A4%A:x" });
  assert.equal(await nowhere.page.locator(".detail:not([hidden])").count(), 0);
  await nowhere.end();
}

/** A page that `duet report` wrote, at `DUET_PAGE`. */
export async function a_written_page_says_all(begin) {
  assert.ok(process.env.DUET_PAGE, "DUET_PAGE names no page");
  const visit = await begin({ file: process.env.DUET_PAGE });
  visit.data = JSON.parse(await visit.text("#data"));
  await saysAll(visit);
  for (const benchmark of visit.data.benchmarks) {
    const detail = await visit.open(benchmark);
    assert.equal(await detail.locator("h3").textContent(), benchmark.name);
    if (benchmark.picture !== null) await detail.locator("svg.chart").first().waitFor();
  }
  assert.deepEqual(await barriers(visit.page), []);
  await visit.end();
}
