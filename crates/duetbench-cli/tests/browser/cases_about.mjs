// The parts around the list: commands, sections, and the words when there is nothing to show.

import assert from "node:assert/strict";

export async function commands_are_copied(begin) {
  const visit = await begin({ number: 5 });
  const { page, context, data } = visit;
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.click(".command .copy");
  await page.locator(".told", { hasText: "Copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), data.accept);
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await page.locator(".command .copy").nth(1).click();
  await page.locator(".told", { hasText: "Selected" }).waitFor();
  assert.equal(await page.evaluate(() => getSelection().toString()), data.reproduce);
  await visit.end();
}

export async function several_commands_stand_in_lines(begin) {
  const accept = ["duet waive A --days 90", `duet waive ${"B".repeat(300)}`];
  const visit = await begin({ number: 5, width: 360, change: (data) => ({ ...data, accept: accept.join("\n") }) });
  const heights = await visit.page.$$eval(".command code", (all) => all.map((code) => code.clientHeight));
  assert.ok(heights[0] > 1.5 * heights[1], `${heights}`);
  assert.equal(await visit.overflows(), false);
  await visit.end();
}

export async function nothing_stands_where_no_command_is_offered(begin) {
  const visit = await begin({ number: 5, change: (data) => ({ ...data, accept: null, reproduce: null }) });
  assert.equal(await visit.page.locator("#versions .command").count(), 0);
  assert.ok(!(await visit.text("#versions")).includes("null"));
  await visit.end();
}

export async function sections_are_folded_and_complete(begin) {
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
  assert.equal(await page.locator("#sections dd", { hasText: "uses N cores" }).locator("code").textContent(), "-- -cpu N");
  assert.equal(await page.locator(".origin", { hasText: "incomplete" }).isVisible(), true);
  await visit.end();
}

export async function data_that_cannot_be_read_are_named(begin) {
  const visit = await begin({ number: 5, change: (data) => ({ ...data, format: "duet-page-2" }) });
  assert.equal(
    await visit.text('[role="alert"]'),
    "This report cannot be shown: its data are duet-page-2, and this page reads duet-page-1.",
  );
  visit.complaints.length = 0;
  await visit.end();
}
