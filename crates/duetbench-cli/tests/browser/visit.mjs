// A visit to a page with made-up data, which ends with what must hold on every visit: no request, no complaint.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { assemble } from "./assemble.mjs";
import { generate } from "./generate.mjs";

export class Visit {
  /** Opens a page with so many benchmarks; `change` may alter its data, `hash` is a link into it. */
  static async begin(
    browser,
    { number = 50, width = 1280, height = 900, scheme = "light", hash = "", change = (data) => data, file } = {},
  ) {
    const visit = new Visit();
    visit.folder = mkdtempSync(join(tmpdir(), "duet-page-"));
    visit.data = change(generate(number));
    const path = file ?? join(visit.folder, "report.html");
    if (!file) writeFileSync(path, assemble(visit.data));
    visit.context = await browser.newContext({
      viewport: { width, height },
      colorScheme: scheme,
      reducedMotion: "reduce",
    });
    visit.page = await visit.context.newPage();
    visit.url = pathToFileURL(path).href;
    visit.requests = [];
    visit.complaints = [];
    visit.page.on("request", (request) => visit.requests.push(request.url()));
    visit.page.on("console", (message) => visit.complaints.push(message.text()));
    visit.page.on("pageerror", (error) => visit.complaints.push(error.stack));
    await visit.page.goto(visit.url + hash);
    await visit.page.locator("#status:not(:empty), [role=alert]").first().waitFor({ state: "attached" });
    return visit;
  }

  /** Ends it. */
  async end() {
    await this.context.close();
    rmSync(this.folder, { recursive: true });
    assert.deepEqual(this.complaints, []);
    assert.deepEqual(
      this.requests.filter((url) => url.split("#")[0] !== this.url),
      [],
    );
  }

  /** Names of the rows that are shown, from the top. */
  names() {
    return this.page.$$eval("#rows > li:not([hidden]) .name", (rows) => rows.map((row) => row.title));
  }

  /** Names of the benchmarks that satisfy a condition, sorted. */
  named(condition) {
    return this.data.benchmarks
      .filter(condition)
      .map((benchmark) => benchmark.name)
      .sort();
  }

  /** The text of the first element that a selector finds. */
  text(selector) {
    return this.page.textContent(selector);
  }

  /** The element that has the focus: its name in the list, or its tag and identity. */
  focused() {
    return this.page.evaluate(() => {
      const node = document.activeElement;
      if (node === document.body) return "nothing";
      return node.querySelector(".name")?.title ?? `${node.tagName.toLowerCase()}#${node.id}`;
    });
  }

  /** Opens the row of a benchmark by a click and gives a locator of its detail. */
  async open(benchmark) {
    await this.page.click(`#row-${benchmark.id} > .line`);
    return this.page.locator(`#detail-${benchmark.id}`);
  }

  /** Whether the page is wider than the window. */
  overflows() {
    return this.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  }
}
