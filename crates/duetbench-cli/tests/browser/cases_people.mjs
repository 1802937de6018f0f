// The page for everybody: by keyboard, in the light and the dark, on a phone, on paper, and to those who hear it.

import assert from "node:assert/strict";
import { barriers } from "./checks.mjs";

export async function everything_works_by_keyboard(begin) {
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

export async function the_focus_is_seen_and_first_skips(begin) {
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

export const contrasts = (scheme, width) => async (begin) => {
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

export async function the_theme_can_be_chosen(begin) {
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

export async function a_phone_needs_no_sideways_scrolling(begin) {
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

export async function paper_has_all_rows_and_no_controls(begin) {
  const visit = await begin({ number: 50, scheme: "dark" });
  const { page, data } = visit;
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.equal(await page.isVisible("#search"), false);
  const rows = await page.$$eval(
    "#rows > li > .line",
    (all) => all.filter((line) => line.checkVisibility({ contentVisibilityAuto: true })).length,
  );
  assert.equal(rows, 50);
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
  assert.equal(await page.isVisible("#row-0 .range"), true);
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.equal(await page.isVisible("#sections dd"), true);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.equal(await page.locator("#sections details[open]").count(), 0);
  await page.emulateMedia({ media: "screen" });
  await page.click('[data-verdict="regression"]');
  assert.equal(await page.isVisible("#only"), false);
  await page.emulateMedia({ media: "print" });
  const count = data.counts.regression;
  assert.equal(await visit.text("#only"), `Only regressions: ${count} of 50 benchmarks.`);
  assert.equal(await page.isVisible("#only"), true);
  await visit.end();
}
