// Takes a picture of a page: `node shoot.mjs PAGE PICTURE [--width N] [--height N] [--theme dark] [--open NAME] [--whole]`.
// `made:N` in place of a page is one of N made-up benchmarks.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { assemble } from "./assemble.mjs";
import { launch } from "./chromium.mjs";
import { generate } from "./generate.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    width: { type: "string", default: "1280" },
    height: { type: "string", default: "900" },
    theme: { type: "string", default: "light" },
    open: { type: "string" },
    whole: { type: "boolean", default: false },
  },
});
const [page, picture] = positionals;
const folder = mkdtempSync(join(tmpdir(), "duet-page-"));
const browser = await launch();
try {
  const made = /^made:(\d+)$/.exec(page);
  const path = made ? join(folder, "report.html") : resolve(page);
  if (made) writeFileSync(path, assemble(generate(Number(made[1]))));
  const context = await browser.newContext({
    viewport: { width: Number(values.width), height: Number(values.height) },
    colorScheme: values.theme,
    reducedMotion: "reduce",
  });
  const tab = await context.newPage();
  tab.on("pageerror", (error) => process.stderr.write(`${error.stack}\n`));
  await tab.goto(pathToFileURL(path).href);
  await tab.locator(".row, #empty p").first().waitFor();
  if (values.open) {
    await tab.locator(".line", { hasText: values.open }).first().click();
    await tab.locator("svg.chart").first().waitFor();
  }
  await tab.screenshot({ path: picture, fullPage: values.whole });
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
