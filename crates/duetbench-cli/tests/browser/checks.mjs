// Checks that several cases share.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const sorted = (names) => [...names].sort();

/** Violations found by axe that keep people out. */
export async function barriers(page) {
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
export async function saysAll(visit) {
  const { data, page } = visit;
  assert.equal(await visit.text("h1"), read(data.headline));
  assert.deepEqual(await page.$$eval(".summary p", (all) => all.map((p) => p.textContent)), data.summary.map(read));
  assert.deepEqual(
    await page.$$eval(".command code", (all) => all.map((code) => code.textContent)),
    [data.accept, data.reproduce].filter(Boolean),
  );
  assert.deepEqual(await page.$$eval("#versions .hint", (all) => all.map((p) => p.textContent)), data.hints.map(read));
  // What came out stands above the rows, everything else below them.
  const tops = await page.$$eval(".compared, #rows, #versions", (all) => all.map((one) => one.getBoundingClientRect().top));
  assert.deepEqual(tops, [...tops].sort((a, b) => a - b));
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
