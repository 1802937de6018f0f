// Runs one case of the report's page in a browser: `node run.mjs NAME`. Without a name it lists the cases.

import { CASES } from "./cases.mjs";
import { launch } from "./chromium.mjs";
import { Visit } from "./visit.mjs";

const [name] = process.argv.slice(2);
if (name === undefined) {
  process.stdout.write(`${Object.keys(CASES).join("\n")}\n`);
} else if (!(name in CASES)) {
  process.stderr.write(`there is no case ${name}\n`);
  process.exitCode = 2;
} else {
  const browser = await launch();
  try {
    await CASES[name]((options) => Visit.begin(browser, options));
  } catch (error) {
    process.stderr.write(`${error.stack}\n`);
    process.exitCode = 1;
  } finally {
    await browser.close();
  }
}
