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
  const found = grave.map(
    (violation) => `${violation.id}: ${violation.nodes.map((node) => node.target.join(" ")).slice(0, 3)}`,
  );
  return [...found, ...(await faintTexts(page))];
}

/** Texts of which the contrast to the plain colours behind them is below 4.5; axe leaves those beside a drawing undecided. */
export function faintTexts(page) {
  return page.evaluate(() => {
    const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const parse = (colour) => {
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      return [...context.getImageData(0, 0, 1, 1).data];
    };
    const linear = (part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
    const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    const behind = (node) => {
      for (let at = node; at !== null; at = at.parentElement) {
        const colour = parse(getComputedStyle(at).backgroundColor);
        if (colour[3] > 250) return colour;
      }
      return parse(getComputedStyle(document.documentElement).colorScheme.includes("dark") ? "black" : "white");
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = new Set();
    let seen = 0;
    while (walker.nextNode()) {
      const node = walker.currentNode.parentElement;
      if (walker.currentNode.data.trim() === "" || node.closest("script, style, svg, option") || !node.checkVisibility()) continue;
      seen += 1;
      const [light, dark] = [luminance(parse(getComputedStyle(node).color)), luminance(behind(node))].sort((a, b) => b - a);
      const contrast = (light + 0.05) / (dark + 0.05);
      if (contrast < 4.5) found.add(`contrast ${contrast.toFixed(2)}: ${node.className || node.tagName} ${node.textContent.slice(0, 30)}`);
    }
    return seen === 0 ? ["no text was looked at"] : [...found];
  });
}

/** A sentence as it is read: what is typed stands without its backticks. */
const read = (sentence) => (sentence.split("`").length % 2 === 1 ? sentence.replaceAll("`", "") : sentence);

/** Everything of the data stands in the page: counts, rows, commands. */
export async function saysAll(visit) {
  const { data, page } = visit;
  assert.equal(await visit.text("h1"), read(data.headline));
  assert.deepEqual(await page.$$eval(".summary p", (all) => all.map((p) => p.textContent)), data.summary.map(read));
  assert.deepEqual(
    await page.$$eval(".warnings li", (all) => all.map((li) => li.textContent)),
    data.warnings.map((words) => `Warning: ${read(words)}`),
  );
  assert.deepEqual(
    await page.$$eval("#versions .command code", (all) => all.map((code) => code.textContent)),
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
  assert.equal(await page.locator("#rows .plot:has(.interval, circle.shape)").count(), measured);
}
