// What the report's page must do in a browser. Each case begins visits, and ends them, which also checks that nothing was requested
// and nothing complained about.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { NASTY } from "./generate.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const sorted = (names) => [...names].sort();
const link = ({ package: home, name }) => `#b=${encodeURIComponent(home)}:${encodeURIComponent(name)}`;

/** What axe finds that keeps people out. */
async function barriers(page) {
  // The page's policy lets no script in from outside, so it goes in as the browser's own.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const grave = violations.filter((violation) => ["serious", "critical"].includes(violation.impact));
  return grave.map(
    (violation) => `${violation.id}: ${violation.nodes.map((node) => node.target.join(" ")).slice(0, 3)}`,
  );
}

/** A sentence as it is read: what is typed stands without its backticks. */
const read = (sentence) => (sentence.split("`").length % 2 === 1 ? sentence.replaceAll("`", "") : sentence);

/** Everything of the data stands in the page: counts, rows, commands. */
async function saysAll(visit) {
  const { data, page } = visit;
  assert.equal(await visit.text("h1"), read(data.headline));
  assert.deepEqual(await page.$$eval(".summary p", (all) => all.map((p) => p.textContent)), data.summary.map(read));
  assert.deepEqual(
    await page.$$eval(".command code", (all) => all.map((code) => code.textContent)),
    [data.reproduce, data.accept].filter(Boolean),
  );
  const chips = await page.$$eval(".chip", (all) =>
    all.map((chip) => [chip.dataset.verdict, Number(chip.querySelector("b").textContent)]),
  );
  assert.deepEqual(
    Object.fromEntries(chips),
    Object.fromEntries(Object.entries(data.counts).filter(([, count]) => count > 0)),
  );
  assert.deepEqual(
    sorted(await visit.names()),
    visit.named(() => true),
  );
  const measured = data.benchmarks.filter((benchmark) => benchmark.estimate !== null).length;
  assert.equal(await page.locator("#rows .plot .interval").count(), measured);
}

const filled = (number) => async (begin) => {
  const visit = await begin({ number });
  await saysAll(visit);
  await visit.end();
};

/** What stands in the rows of these benchmarks. */
function cells(visit, benchmark) {
  return visit.page.$eval(`#row-${benchmark.id}`, (row) =>
    [".verdict span", ".change", ".range"].map((selector) => row.querySelector(selector).textContent),
  );
}

async function figures_are_those_of_the_data(begin) {
  const visit = await begin({
    number: 8,
    change: (data) => {
      Object.assign(data.benchmarks[0].estimate, { ratio: 1.0512, low: 1.0472, high: 1.0552 });
      Object.assign(data.benchmarks[1].estimate, { ratio: 0.828, low: 0.818, high: 0.838 });
      Object.assign(data.benchmarks[2].estimate, { ratio: 1.00004, low: 0.99, high: 1.01 });
      Object.assign(data.benchmarks[3].estimate, { ratio: 1.2, low: 0.5, high: 12.5 });
      return data;
    },
  });
  const of = (i) => cells(visit, visit.data.benchmarks[i]);
  assert.deepEqual(await of(0), ["regression", "+5.12%", "[+4.72%, +5.52%]"]);
  assert.deepEqual(await of(1), ["improvement", "−17.20%", "[−18.20%, −16.20%]"]);
  assert.deepEqual(await of(2), ["no change", "~", "[−1.00%, +1.00%]"]);
  assert.deepEqual(await of(3), ["inconclusive", "?", "[−50.00%, +1150%]"]);
  assert.deepEqual(await of(4), ["identical code", "~", ""]);
  assert.deepEqual(await of(7), ["failed", "", ""]);
  await visit.end();
}

/** Where the point of a row is on the page, in pixels. */
const point = (visit, id) =>
  visit.page.$eval(
    `#row-${id} .plot .shape`,
    (shape) => shape.getBoundingClientRect().x + shape.getBoundingClientRect().width / 2,
  );

async function intervals_share_a_logarithmic_axis(begin) {
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

async function what_is_far_beyond_the_others_gets_an_arrow(begin) {
  const visit = await begin({ number: 50 });
  const { page, data } = visit;
  assert.ok(data.benchmarks[13].estimate.ratio > 4);
  assert.equal(await page.locator("#row-13 .clipped").count(), 1);
  assert.equal(await page.locator("#row-13 .plot .shape").count(), 0);
  assert.equal(await page.locator("#row-0 .clipped").count(), 0);
  assert.equal(await page.locator("#row-0 .plot .shape").count(), 1);
  await visit.end();
}

async function chips_and_packages_filter(begin) {
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

async function search_finds_names_and_packages(begin) {
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

async function nothing_found_is_said_in_words(begin) {
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

async function rows_are_sorted_as_asked(begin) {
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

async function everything_works_by_keyboard(begin) {
  const visit = await begin({ number: 50 });
  const { page } = visit;
  const names = await visit.names();
  const press = (key) => page.keyboard.press(key);
  await press("/");
  assert.equal(await visit.focused(), "input#search");
  await page.keyboard.type("merge");
  const found = await visit.names();
  assert.ok(found.length > 1 && found.length < names.length);
  await press("ArrowDown");
  assert.equal(await visit.focused(), found[0]);
  await press("ArrowDown");
  assert.equal(await visit.focused(), found[1]);
  await press("/");
  await press("Escape");
  assert.equal((await visit.names()).length, 50);
  assert.equal(await visit.focused(), "input#search");
  await press("Escape");
  for (const [key, name] of [
    ["Home", names[0]],
    ["ArrowUp", names[0]],
    ["PageDown", names[10]],
    ["ArrowUp", names[9]],
    ["End", names[49]],
    ["Home", names[0]],
  ]) {
    await press(key);
    assert.equal(await visit.focused(), name, key);
  }
  await press("Enter");
  assert.equal(await page.locator(".detail:not([hidden])").count(), 1);
  assert.equal(await page.getAttribute(".row.open > .line", "aria-expanded"), "true");
  await press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.closest(".detail") !== null), true);
  await press("Escape");
  assert.equal(await page.locator(".detail:not([hidden])").count(), 0);
  assert.equal(await visit.focused(), names[0]);
  assert.equal(await page.locator('.line[tabindex="0"]').count(), 1);
  await visit.end();
}

async function the_focus_is_seen_and_first_skips(begin) {
  const visit = await begin({ number: 5 });
  const { page } = visit;
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  for (let i = 0; i < 12; i += 1) {
    const seen = await page.evaluate(() => {
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
      return [document.activeElement.outerHTML.slice(0, 80), outlineStyle !== "none" && parseFloat(outlineWidth) >= 2];
    });
    assert.ok(seen[1], `the focus is not seen on ${seen[0]}`);
    await page.keyboard.press("Tab");
  }
  await visit.end();
}

async function a_detail_has_everything(begin) {
  const visit = await begin({ number: 50 });
  const benchmark = visit.data.benchmarks[0];
  assert.equal(await visit.page.locator("#rows svg.chart").count(), 0, "charts are drawn before they are asked for");
  const detail = await visit.open(benchmark);
  await detail.locator("svg.chart").first().waitFor();
  const text = await detail.textContent();
  const wanted = [
    "[+5.",
    "with 99%",
    "12 build pairs",
    "16 fork pairs",
    "3 → 4",
    "128 → 144.5",
    "90% of what fork pairs vary",
    "round 2",
    "seen again",
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
    "Both versions' times over 16 fork pairs",
    "Change of each of 16 fork pairs",
    `Distribution of the ratios of ${samples} slice pairs around no change`,
    "The interval at each of 4 looks",
  ];
  assert.deepEqual(labels, [...charts, ...slices]);
  assert.equal(await detail.locator("figure").first().locator("circle").count(), 2 + 2 * 16);
  assert.equal(
    await detail.locator('figure:has-text("Distribution") rect').count(),
    1 + benchmark.picture.histogram.counts.length,
  );
  await detail.locator("details").nth(3).locator("summary").click();
  await detail.locator("tbody tr").first().waitFor();
  const rows = await detail.locator("tbody tr").allTextContents();
  assert.equal(rows.length, benchmark.picture.looks.length);
  assert.ok(rows.at(-1).endsWith("settled"), rows.at(-1));
  await visit.open(visit.data.benchmarks[1]);
  assert.equal(await visit.page.locator(".detail:not([hidden])").count(), 1, "one at a time");
  assert.equal(await detail.locator("svg").count(), 0, "what is closed is still drawn");
  await visit.end();
}

async function every_verdict_opens(begin) {
  const visit = await begin({
    number: 50,
    change: (data) => {
      // What a run that was killed early leaves, and bounds that are not known.
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

async function foreign_names_stay_text(begin) {
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

async function a_link_opens_its_benchmark(begin) {
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

const contrasts = (scheme, width) => async (begin) => {
  const visit = await begin({ number: 50, scheme, width });
  assert.deepEqual(await barriers(visit.page), []);
  const detail = await visit.open(visit.data.benchmarks[0]);
  await detail.locator("svg.chart").first().waitFor();
  for (const folded of await visit.page.locator("details:visible > summary").all()) await folded.click();
  assert.deepEqual(await barriers(visit.page), []);
  await visit.open(visit.data.benchmarks[3]);
  await visit.page.click('[data-verdict="inconclusive"]');
  assert.deepEqual(await barriers(visit.page), []);
  await visit.end();
};

async function the_theme_can_be_chosen(begin) {
  const visit = await begin({ number: 5, scheme: "light" });
  const { page } = visit;
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  assert.equal(await visit.text("#theme"), "Dark theme");
  await page.click("#theme");
  const dark = await ground();
  assert.notEqual(dark, light);
  assert.equal(await visit.text("#theme"), "Light theme");
  await page.reload();
  assert.equal(await ground(), dark, "the choice is forgotten");
  await page.click("#theme");
  await page.emulateMedia({ colorScheme: "dark" });
  assert.equal(await ground(), light, "the system overrules the choice");
  await visit.end();
}

async function a_phone_needs_no_sideways_scrolling(begin) {
  const visit = await begin({ number: 50, width: 360, height: 740 });
  assert.equal(await visit.overflows(), false);
  for (const benchmark of visit.data.benchmarks.slice(0, 13)) {
    await visit.open(benchmark);
    assert.equal(await visit.overflows(), false, benchmark.name);
  }
  const small = await visit.page.$$eval("button:not([hidden]), select, input, summary", (all) =>
    all
      .filter((node) => node.checkVisibility() && node.getBoundingClientRect().height < 24)
      .map((node) => node.outerHTML.slice(0, 80)),
  );
  assert.deepEqual(small, [], "too small for a finger");
  await visit.end();
}

async function a_thousand_rows_cost_little(begin) {
  const visit = await begin({ number: 1000 });
  const { page, data } = visit;
  const rendered = await page.$$eval(
    "#rows > li > .line",
    (all) => all.filter((line) => line.checkVisibility({ contentVisibilityAuto: true })).length,
  );
  assert.ok(rendered >= 2 && rendered < 100, `${rendered} rows are rendered`);
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
  await visit.end();
}

async function commands_are_copied(begin) {
  const visit = await begin({ number: 5 });
  const { page, context, data } = visit;
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.click(".command .copy");
  await page.locator(".told", { hasText: "Copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), data.reproduce);
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await page.locator(".command .copy").nth(1).click();
  await page.locator(".told", { hasText: "Selected" }).waitFor();
  assert.equal(await page.evaluate(() => getSelection().toString()), data.accept);
  await visit.end();
}

async function several_commands_stand_in_lines(begin) {
  const accept = ["duet waive A --expires YYYY-MM-DD", `duet waive ${"B".repeat(300)}`];
  const visit = await begin({ number: 5, width: 360, change: (data) => ({ ...data, accept: accept.join("\n") }) });
  const heights = await visit.page.$$eval(".command code", (all) => all.map((code) => code.clientHeight));
  assert.ok(heights[1] > 1.5 * heights[0], `${heights}`);
  assert.equal(await visit.overflows(), false);
  await visit.end();
}

async function slices_are_explained_by_their_mode(begin) {
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

/** A page that `duet report` wrote, at `DUET_PAGE`. */
async function a_written_page_says_all(begin) {
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

async function sections_are_folded_and_complete(begin) {
  const visit = await begin({ number: 5 });
  const { page, data } = visit;
  assert.deepEqual(
    await page.$$eval("#sections h2", (all) => all.map((title) => title.textContent)),
    data.sections.map((section) => section.title),
  );
  assert.equal(await page.locator("#sections details[open]").count(), 0);
  for (const folded of await page.locator("#sections summary").all()) await folded.click();
  assert.equal(await page.locator("#sections dd", { hasText: "AMD EPYC 7B13" }).isVisible(), true);
  assert.equal(await page.locator("#sections li", { hasText: "(steal)" }).isVisible(), true);
  assert.equal(await page.locator(".origin", { hasText: "incomplete" }).isVisible(), true);
  await visit.end();
}

async function paper_has_all_rows_and_no_controls(begin) {
  const visit = await begin({ number: 50, scheme: "dark" });
  const { page } = visit;
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.equal(await page.isVisible("#search"), false);
  const rows = await page.$$eval(
    "#rows > li > .line",
    (all) => all.filter((line) => line.checkVisibility({ contentVisibilityAuto: true })).length,
  );
  assert.equal(rows, 50);
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
  await visit.end();
}

async function data_that_cannot_be_read_are_named(begin) {
  const visit = await begin({ number: 5, change: (data) => ({ ...data, format: "duet-page-2" }) });
  assert.equal(
    await visit.text('[role="alert"]'),
    "This report cannot be shown: its data are duet-page-2, and this page reads duet-page-1.",
  );
  visit.complaints.length = 0;
  await visit.end();
}

export const CASES = {
  a_page_of_5_says_all: filled(5),
  a_page_of_50_says_all: filled(50),
  a_page_of_1000_says_all: filled(1000),
  figures_are_those_of_the_data,
  intervals_share_a_logarithmic_axis,
  what_is_far_beyond_the_others_gets_an_arrow,
  chips_and_packages_filter,
  search_finds_names_and_packages,
  nothing_found_is_said_in_words,
  rows_are_sorted_as_asked,
  everything_works_by_keyboard,
  the_focus_is_seen_and_first_skips,
  a_detail_has_everything,
  every_verdict_opens,
  foreign_names_stay_text,
  a_link_opens_its_benchmark,
  light_has_no_barriers: contrasts("light", 1280),
  dark_has_no_barriers: contrasts("dark", 1280),
  a_phone_has_no_barriers: contrasts("light", 360),
  the_theme_can_be_chosen,
  a_phone_needs_no_sideways_scrolling,
  a_thousand_rows_cost_little,
  commands_are_copied,
  several_commands_stand_in_lines,
  slices_are_explained_by_their_mode,
  sections_are_folded_and_complete,
  paper_has_all_rows_and_no_controls,
  data_that_cannot_be_read_are_named,
  a_written_page_says_all,
};
