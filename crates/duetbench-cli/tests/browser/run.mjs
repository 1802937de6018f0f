// Runs cases of the report's page in a browser: `node run.mjs NAME`, or `node run.mjs -` for those that standard input names in lines, each
// answered by a line of JSON: null, or its failure. Without a name it lists the cases.

import { createInterface } from "node:readline";
import { CASES } from "./cases.mjs";
import { launch } from "./chromium.mjs";
import { Visit } from "./visit.mjs";

/** Failure of a case in words; null where it passes. */
async function failure(browser, name) {
  if (!(name in CASES)) return `there is no case ${name}`;
  try {
    await CASES[name]((options) => Visit.begin(browser, options));
    return null;
  } catch (error) {
    return error.stack;
  }
}

async function answer(browser) {
  for await (const name of createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(await failure(browser, name))}\n`);
  }
}

async function only(browser, name) {
  const failed = await failure(browser, name);
  if (failed === null) return;
  process.stderr.write(`${failed}\n`);
  process.exitCode = 1;
}

const [name] = process.argv.slice(2);
if (name === undefined) {
  process.stdout.write(`${Object.keys(CASES).join("\n")}\n`);
} else {
  const browser = await launch();
  try {
    await (name === "-" ? answer(browser) : only(browser, name));
  } finally {
    await browser.close();
  }
}
