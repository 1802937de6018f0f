// The list: what stands in rows, how it is narrowed and ordered, and what a thousand of them cost.

import assert from "node:assert/strict";
import { saysAll, sorted } from "./checks.mjs";
import { NASTY } from "./generate.mjs";

export const filled = (number) => async (begin) => {
  const visit = await begin({ number });
  await saysAll(visit);
  await visit.end();
};

/** Texts in the rows of these benchmarks. */
function cells(visit, benchmark) {
  return visit.page.$eval(`#row-${benchmark.id}`, (row) =>
    [".verdict span", ".change", ".range"].map((selector) => row.querySelector(selector).textContent),
  );
}

export async function figures_are_those_of_the_data(begin) {
  const visit = await begin({
    number: 12,
    change: (data) => {
      Object.assign(data.benchmarks[0].estimate, { ratio: 1.0512, low: 1.0472, high: 1.0552 });
      data.benchmarks[0].verdict_words = "regression, confirmed at +5.1%";
      Object.assign(data.benchmarks[1].estimate, { ratio: 0.828, low: 0.818, high: 0.838 });
      Object.assign(data.benchmarks[2].estimate, { ratio: 1.00004, low: 0.99, high: 1.01 });
      Object.assign(data.benchmarks[3].estimate, { ratio: 1.2, low: 0.5, high: 12.5 });
      return data;
    },
  });
  const of = (i) => cells(visit, visit.data.benchmarks[i]);
  assert.deepEqual(await of(0), ["regression, confirmed at +5.1%", "+5.1%", "[+4.7%, +5.5%]"]);
  assert.deepEqual(await of(1), ["improvement", "−17%", "[−18.2%, −16.2%]"]);
  assert.deepEqual(await of(2), ["no change", "~", "[−1.0%, +1.0%]"]);
  assert.deepEqual(await of(3), ["inconclusive", "?", "too few processes"]);
  assert.deepEqual(await of(4), ["identical code", "~", ""]);
  assert.deepEqual(await of(7), ["failed", "", ""]);
  assert.deepEqual(await of(8), ["slower, size open", "+3.0%", "[+1.5%, +4.6%]"]);
  assert.deepEqual(await of(9), ["slower, within tolerance", "+1.2%", "[+0.60%, +1.8%]"]);
  assert.deepEqual(await of(10), ["faster, size open", "−3.0%", "[−4.4%, −1.5%] cpu"]);
  assert.deepEqual(await of(11), ["faster, within tolerance", "−1.2%", "[−1.8%, −0.60%]"]);
  // A sign is nothing to those who hear it, a number is.
  const heard = (i) => visit.page.getAttribute(`#row-${visit.data.benchmarks[i].id} .change`, "aria-hidden");
  assert.deepEqual(await Promise.all([0, 2, 3, 4].map(heard)), [null, "true", "true", "true"]);
  const signs = await visit.page.locator(".signs").textContent();
  for (const words of visit.data.words) assert.ok(signs.includes(words), `${words} is not shown`);
  await visit.end();
}

/** Where the point of a row is on the page, in pixels. */
const point = (visit, id) =>
  visit.page.$eval(
    `#row-${id} .plot .shape`,
    (shape) => shape.getBoundingClientRect().x + shape.getBoundingClientRect().width / 2,
  );

export async function intervals_share_a_logarithmic_axis(begin) {
  const ratios = [1.1, 1 / 1.1, 1, 1.21];
  const change = (data) => {
    ratios.forEach((ratio, i) =>
      Object.assign(data.benchmarks[i], {
        verdict: "regression",
        estimate: { ...data.benchmarks[0].estimate, ratio, low: ratio * 0.99, high: ratio * 1.01 },
      }),
    );
    return data;
  };
  const visit = await begin({ number: 4, change });
  const [slower, faster, same, twice] = await Promise.all(ratios.map((_, i) => point(visit, i)));
  assert.ok(slower > same + 20, `${slower} against ${same}`);
  assert.ok(Math.abs(slower - same - (same - faster)) < 1.5, `${faster} ${same} ${slower}`);
  assert.ok(Math.abs(twice - same - 2 * (slower - same)) < 2, `${same} ${slower} ${twice}`);
  const zero = await visit.page.$eval("#row-2 .zero", (line) => line.getBoundingClientRect().x);
  assert.ok(Math.abs(zero - same) < 2, `${zero} against ${same}`);
  await visit.end();
}

/** Left and right edge of every label of the axis that is seen. */
const labels = (page) =>
  page.$$eval(".ruler .mark:not(.crowded)", (marks) =>
    marks.map((mark) => [mark.getBoundingClientRect().left, mark.getBoundingClientRect().right]),
  );

export async function an_axis_is_made_by_changes_and_its_labels_have_room(begin) {
  const wild = [11.19, 3.08, 2.68, 1.65, 1.45];
  const change = (data) => {
    data.benchmarks.forEach((one, i) => {
      const [verdict, ratio] = i === 0 ? ["regression", 1.23] : ["inconclusive", 1.01];
      const high = i === 0 ? 1.36 : wild[i - 1];
      Object.assign(one, { verdict, estimate: { ...data.benchmarks[0].estimate, ratio, low: 2 - ratio, high } });
    });
    Object.assign(data.benchmarks[0].estimate, { low: 1.12 });
    return data;
  };
  const visit = await begin({ number: 6, change });
  // The open rows do not stretch the axis: the only change takes a good part of it, and theirs get arrows.
  const width = await visit.page.$eval("#row-0 .plot", (plot) => plot.getBoundingClientRect().width);
  const interval = await visit.page.$eval("#row-0 .interval", (line) => line.getBoundingClientRect().width);
  assert.ok(interval > width / 8, `${interval} of ${width}`);
  for (const viewport of [390, 800, 1024, 1440, 1920]) {
    await visit.page.setViewportSize({ width: viewport, height: 900 });
    for (const figure of ["change", "range", "times"])
      assert.ok(await visit.page.locator(`#row-0 .${figure}`).isVisible(), `no ${figure} at ${viewport}`);
    // Two frames, after which observers of sizes have been told.
    await visit.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const boxes = (await labels(visit.page)).sort((a, b) => a[0] - b[0]);
    assert.ok(boxes.length >= 2, `${boxes.length} labels at ${viewport}`);
    boxes.slice(1).forEach(([left], i) => assert.ok(left > boxes[i][1], `labels overlap at ${viewport}`));
  }
  await visit.end();
}

export async function the_plot_has_two_fifths_and_names_say_what_differs(begin) {
  const long = `BenchmarkUnmarshal/${"ReferenceFile/".repeat(8)}struct`;
  const change = (data) => {
    Object.assign(data.benchmarks[0], { name: long, label: long.slice(9) });
    return data;
  };
  const visit = await begin({ number: 50, change });
  const { page } = visit;
  for (const width of [1024, 1280, 1440, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    const share = await page.$eval("#row-1", (row) => row.querySelector(".picture").clientWidth / row.clientWidth);
    assert.ok(share >= 0.4, `${share} at ${width}`);
    assert.equal(await visit.overflows(), false);
  }
  const own = await visit.text("#row-0 .own");
  assert.ok(own.startsWith("Unmarshal/") && own.includes("…") && own.endsWith("/struct") && own.length < 70, own);
  assert.equal(await page.getAttribute("#row-0 .name", "title"), long);
  const homes = await page.$$eval(".name small", (all) => [...new Set(all.map((small) => small.textContent))].sort());
  assert.deepEqual(homes, ["codec", "http", "internal/index", "store"]);
  await visit.end();
}

export async function a_narrow_interval_is_a_dot(begin) {
  const change = (data) => {
    Object.assign(data.benchmarks[2].estimate, { ratio: 1.0, low: 0.9999, high: 1.0001 });
    return data;
  };
  const visit = await begin({ number: 5, change });
  assert.equal(await visit.page.locator("#row-2 .plot circle").count(), 1);
  assert.equal(await visit.page.locator("#row-2 .plot .end").count(), 0);
  assert.equal(await visit.page.locator("#row-0 .plot .end").count(), 2);
  await visit.end();
}

export async function changes_of_both_kinds_come_before_open_ones(begin) {
  const visit = await begin({ number: 50 });
  const { page, data } = visit;
  const ids = await page.$$eval("#rows > li", (rows) => rows.map((row) => Number(row.id.slice(4))));
  const verdicts = ids.map((id) => data.benchmarks[id].verdict);
  const first = (verdict) => verdicts.indexOf(verdict);
  assert.ok(first("regression") < first("improvement") && first("improvement") < first("inconclusive"), `${verdicts}`);
  assert.ok(first("faster_within_tolerance") < first("failed") && first("failed") < first("inconclusive"), `${verdicts}`);
  await visit.end();
}

export async function what_is_far_beyond_the_others_gets_an_arrow(begin) {
  const visit = await begin({ number: 50 });
  const { page, data } = visit;
  assert.ok(data.benchmarks[13].estimate.ratio > 4);
  assert.equal(await page.locator("#row-13 .clipped").count(), 1);
  assert.equal(await page.locator("#row-13 .plot .shape").count(), 0);
  assert.equal(await page.locator("#row-0 .clipped").count(), 0);
  assert.equal(await page.locator("#row-0 .plot .shape").count(), 1);
  await visit.end();
}

export async function chips_and_packages_filter(begin) {
  const visit = await begin({ number: 50 });
  const { page } = visit;
  await page.click('[data-verdict="regression"]');
  assert.deepEqual(
    sorted(await visit.names()),
    visit.named((b) => b.verdict === "regression"),
  );
  await page.click('[data-verdict="inconclusive"]');
  assert.deepEqual(
    sorted(await visit.names()),
    visit.named((b) => ["regression", "inconclusive"].includes(b.verdict)),
  );
  assert.equal(await page.getAttribute('[data-verdict="regression"]', "aria-pressed"), "true");
  const home = "example.com/shop/store";
  await page.selectOption("#package", { label: home });
  const wanted = visit.named((b) => ["regression", "inconclusive"].includes(b.verdict) && b.package === home);
  assert.deepEqual(sorted(await visit.names()), wanted);
  assert.equal(await visit.text("#status"), `${wanted.length} of 50 benchmarks`);
  await page.click('[data-verdict="regression"]');
  await page.click('[data-verdict="inconclusive"]');
  assert.deepEqual(
    sorted(await visit.names()),
    visit.named((b) => b.package === home),
  );
  await visit.end();
}

export async function search_finds_names_and_packages(begin) {
  const visit = await begin({ number: 1000 });
  const { page } = visit;
  await page.fill("#search", "ENCODE codec");
  assert.deepEqual(
    sorted(await visit.names()),
    visit.named((b) => b.name.includes("Encode") && b.package.includes("codec")),
  );
  await page.fill("#search", NASTY[1].slice(16, 20));
  assert.deepEqual(await visit.names(), [NASTY[1]]);
  await page.fill("#search", "<script>");
  assert.deepEqual(await visit.names(), [NASTY[0]]);
  await page.fill("#search", "");
  assert.equal((await visit.names()).length, 1000);
  await visit.end();
}

export async function nothing_found_is_said_in_words(begin) {
  const visit = await begin({ number: 5 });
  const { page } = visit;
  await page.fill("#search", "<b>x");
  assert.equal(await visit.text("#empty p"), "No benchmark matches <b>x.");
  assert.deepEqual(await visit.names(), []);
  await page.click('[data-verdict="regression"]');
  assert.equal(await visit.text("#empty p"), "No benchmark matches <b>x among those chosen.");
  await page.click("#all");
  assert.equal((await visit.names()).length, 5);
  assert.equal(await page.inputValue("#search"), "");
  assert.equal(await page.isVisible("#empty"), false);
  await visit.end();
  const none = await begin({ number: 0 });
  assert.equal(await none.text("#empty p"), "Nothing was compared: this report has no benchmarks.");
  await none.end();
}

const descending = (values) => values.every((value, i) => i === 0 || values[i - 1] >= value);

export async function rows_are_sorted_as_asked(begin) {
  const visit = await begin({ number: 50 });
  const { page, data } = visit;
  const ids = () => page.$$eval("#rows > li", (rows) => rows.map((row) => Number(row.id.slice(4))));
  const estimates = async () => (await ids()).map((id) => data.benchmarks[id].estimate);
  const verdicts = (await ids()).map((id) => data.benchmarks[id].verdict);
  assert.equal(verdicts[0], "regression");
  assert.equal(
    new Set(verdicts).size,
    verdicts.filter((verdict, i) => verdict !== verdicts[i - 1]).length,
    "verdicts are mixed",
  );
  await page.selectOption("#sort", "size");
  assert.ok(descending((await estimates()).map((e) => (e ? Math.abs(Math.log(e.ratio)) : -1))));
  await page.selectOption("#sort", "width");
  assert.ok(descending((await estimates()).map((e) => (e ? Math.log(e.high / e.low) : -1))));
  await page.selectOption("#sort", "name");
  const texts = (await ids()).map((id) => `${data.benchmarks[id].package} ${data.benchmarks[id].name}`);
  assert.deepEqual(texts, sorted(texts));
  await visit.end();
}

export async function a_picture_of_the_whole_page_has_no_blank_rows(begin) {
  const visit = await begin({ number: 50 });
  const drawn = await visit.page.$$eval(
    "#rows > li > .line",
    (all) => all.filter((line) => line.checkVisibility({ contentVisibilityAuto: true })).length,
  );
  assert.equal(drawn, 50);
  await visit.end();
}

export async function a_thousand_rows_cost_little(begin) {
  const visit = await begin({ number: 1000 });
  const { page, data } = visit;
  const rendered = await page.$$eval(
    "#rows > li > .line",
    (all) => all.filter((line) => line.checkVisibility({ contentVisibilityAuto: true })).length,
  );
  assert.ok(rendered >= 2 && rendered < 100, `${rendered} rows are rendered`);
  // Numbers of list items would be counted again for every row that is out of sight: a filter took the square of their number.
  assert.equal(await page.$eval("#rows > li", (row) => getComputedStyle(row).display), "block");
  const nodes = await page.$$eval("#rows *", (all) => all.length);
  assert.ok(nodes < 40 * 1000, `${nodes} elements`);
  const changes = async (act) => {
    await page.evaluate(() => {
      globalThis.seen = 0;
      globalThis.watcher = new MutationObserver((records) => (globalThis.seen += records.length));
      globalThis.watcher.observe(document.querySelector("#rows"), {
        subtree: true,
        childList: true,
        attributes: true,
        characterData: true,
      });
    });
    await act();
    return page.evaluate(
      () => (
        (globalThis.seen += globalThis.watcher.takeRecords().length),
        globalThis.watcher.disconnect(),
        globalThis.seen
      ),
    );
  };
  const hidden = data.benchmarks.filter((b) => b.verdict !== "regression").length;
  const filtering = await changes(() => page.click('[data-verdict="regression"]'));
  assert.ok(filtering >= hidden && filtering <= hidden + 4, `${filtering} changes hide ${hidden} rows`);
  assert.equal(await changes(() => page.fill("#search", "b")), 0, "rows that stay are touched");
  assert.ok(
    (await changes(() => page.selectOption("#sort", "name"))) <= 2001,
    "sorting moves every row more than once",
  );
  // An open row may reach over its edges.
  await visit.open(data.benchmarks[0]);
  assert.equal(await page.$eval(".row.open", (row) => getComputedStyle(row).contentVisibility), "visible");
  await visit.end();
}

/** Pages of all sizes at every width and in both themes: all rows, nothing sideways, and a list that narrows. */
export const fits = (number) => async (begin) => {
  const visit = await begin({ number });
  const { page, data } = visit;
  assert.equal(await page.locator("#rows > li").count(), number);
  for (const width of [390, 768, 1280, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      assert.equal(await visit.overflows(), false, `${number} at ${width}, ${colorScheme}`);
    }
    assert.ok(await page.locator("#rows > li .plot").first().isVisible());
  }
  await page.click('[data-verdict="regression"]');
  assert.equal(await page.locator("#rows > li:not([hidden])").count(), data.counts.regression);
  await (await visit.open(data.benchmarks[0])).locator("svg.chart").first().waitFor();
  await visit.end();
};
