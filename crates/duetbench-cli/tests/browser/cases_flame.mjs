// Flame graphs of both versions' call stacks: where frames are, what is told of them, and by which keys.

import assert from "node:assert/strict";

/** Opens the first benchmark, which has been profiled, and gives its flame graph with what stands in its frames. */
async function flame(begin, options = {}) {
  const visit = await begin({ number: 5, ...options });
  const detail = await visit.open(visit.data.benchmarks[0]);
  const graph = detail.locator(".flame");
  /** Ends of every frame that is shown, in percent of the picture, with its level from the top. */
  const places = () =>
    graph.evaluate((node) => {
      const whole = node.getBoundingClientRect();
      const place = (frame) => {
        const { left, right, top, height } = frame.getBoundingClientRect();
        const ends = [left, right].map((x) => Math.round((1000 * (x - whole.left)) / whole.width) / 10);
        return [frame.textContent.replace(/^[▲▼] /, ""), ...ends, Math.round((top - whole.top) / height)];
      };
      return [...node.children].filter((frame) => !frame.hidden).map(place);
    });
  return { visit, detail, graph, places };
}

const NASTY = `<b title="x">&amp;`;

export async function call_stacks_are_a_flame_graph(begin) {
  for (const width of [360, 1280]) {
    const { visit, detail, graph, places } = await flame(begin, { width });
    const whole = [
      ["everything", 0, 100, 0],
      ["codec.BenchmarkEncode", 0, 90, 1],
      ["json.(*encodeState).string", 0, 60, 2],
      [NASTY, 0, 0.6, 3],
      ["json.old", 60, 70, 2],
      ["runtime.mallocgc", 70, 80, 2],
      ["runtime.mallocgc", 90, 100, 1],
    ];
    const near = (found, wanted) => {
      assert.deepEqual(found.map(([name, , , level]) => [name, level]), wanted.map(([name, , , level]) => [name, level]));
      for (const [i, [name, left, right]] of found.entries())
        assert.ok(Math.abs(left - wanted[i][1]) < 0.5 && Math.abs(right - wanted[i][2]) < 0.5, `${name}: ${left} to ${right}`);
    };
    near(await places(), whole);
    const string = graph.getByText("json.(*encodeState).string");
    const told = "encoding/json.(*encodeState).string: 500.0 ns → 850.0 ns, +70%; grew";
    assert.equal(await string.getAttribute("title"), told);
    assert.equal(await string.getAttribute("aria-label"), told);
    await string.hover();
    assert.equal(await detail.locator(".frame-told").textContent(), told);
    // A click widens a frame with its callers, and once more takes that back.
    await string.click();
    near(await places(), [whole[0], ["codec.BenchmarkEncode", 0, 100, 1], ["json.(*encodeState).string", 0, 100, 2], [NASTY, 0, 1, 3]]);
    await string.click();
    near(await places(), whole);
    const old = graph.getByText("json.old");
    await old.click();
    near(await places(), [whole[0], ["codec.BenchmarkEncode", 0, 100, 1], ["json.old", 0, 100, 2]]);
    await old.click();
    assert.equal(await visit.overflows(), false);
    await detail.locator('figure:has(.flame) summary').click();
    const table = detail.locator("figure:has(.flame) tbody tr");
    await table.first().waitFor();
    const rows = await table.evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
    assert.deepEqual(rows[4], ["· · encoding/json.old", "141.0 ns", "0 ns", "gone", "shrank"]);
    assert.equal(rows.length, whole.length);
    await visit.end();
  }
}

export async function a_flame_graph_works_by_keyboard(begin) {
  const { visit, detail, graph, places } = await flame(begin);
  const { page } = visit;
  assert.equal(await graph.locator('[tabindex="0"]').count(), 1, "one stop for the Tab key");
  await graph.locator('[tabindex="0"]').focus();
  const focused = () => page.evaluate(() => document.activeElement.textContent.replace(/^[▲▼] /, ""));
  for (const [key, name] of [
    ["ArrowUp", "everything"],
    ["ArrowDown", "codec.BenchmarkEncode"],
    ["ArrowRight", "runtime.mallocgc"],
    ["ArrowDown", "runtime.mallocgc"],
    ["ArrowLeft", "codec.BenchmarkEncode"],
    ["ArrowDown", "json.(*encodeState).string"],
    ["ArrowRight", "json.old"],
    ["ArrowUp", "codec.BenchmarkEncode"],
    ["Home", "everything"],
  ]) {
    await page.keyboard.press(key);
    assert.equal(await focused(), name, key);
  }
  assert.equal(await graph.locator('[tabindex="0"]').count(), 1);
  await page.keyboard.press("ArrowDown");
  assert.ok((await detail.locator(".frame-told").textContent()).startsWith("example.com/shop/codec.BenchmarkEncode: 900.0 ns"));
  await page.keyboard.press("Enter");
  assert.equal((await places()).length, 6);
  // What is hidden is passed by.
  await page.keyboard.press("ArrowRight");
  assert.equal(await focused(), "codec.BenchmarkEncode");
  await page.keyboard.press("Enter");
  assert.equal((await places()).length, 7);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".detail:not([hidden])").count(), 0);
  await visit.end();
}

export async function a_flame_graph_is_told_without_colour(begin) {
  const { visit, graph } = await flame(begin, { scheme: "dark" });
  const frames = await graph.evaluate((node) =>
    [...node.children].map((frame) => [frame.textContent[0], getComputedStyle(frame).backgroundColor]),
  );
  const [signs, colours] = [frames.map(([sign]) => sign), frames.map(([, colour]) => colour)];
  assert.deepEqual(signs, ["▲", "▲", "▲", "<", "▼", "▲", "r"]);
  assert.equal(new Set([colours[3], colours[6]]).size, 1, "what is alike is coloured");
  assert.equal(new Set(colours).size, 6, `a larger change is no stronger: ${colours}`);
  const { page } = visit;
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.isVisible(".flame .frame"), true);
  assert.equal(await page.isVisible(".frame-told"), false);
  await visit.end();
}
