// A Chromium to test with: the one that DUET_CHROMIUM names, one that is installed, or the one inside an npm package.

import { existsSync, mkdirSync, renameSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

function installed() {
  const paths = (process.env.PATH ?? "").split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...paths, chromium.executablePath()].find((path) => path && existsSync(path));
}

/** Unpacks the browser of the package beside it, once; what was killed half way is made again. */
async function packaged() {
  const [home, partial] = [join(here, "browser"), join(here, `browser-${process.pid}`)];
  if (!existsSync(home)) {
    mkdirSync(partial);
    // The package unpacks to where temporary files go, which it asks for when it is loaded.
    process.env.TMPDIR = partial;
    const { default: shipped, inflate } = await import("@sparticuz/chromium");
    shipped.setGraphicsMode = false;
    await shipped.executablePath();
    await inflate(join(here, "node_modules/@sparticuz/chromium/bin/al2023.tar.br"));
    renameSync(partial, home);
    delete process.env.TMPDIR;
  }
  return home;
}

/** Starts a browser. */
export async function launch() {
  const args = ["--no-sandbox", "--font-render-hinting=none"];
  const path = process.env.DUET_CHROMIUM ?? installed();
  if (path) return chromium.launch({ executablePath: path, args });
  const home = await packaged();
  const options = { executablePath: join(home, "chromium"), args };
  // On a system without its libraries it brings them.
  const libraries = { ...process.env, LD_LIBRARY_PATH: join(home, "al2023/lib") };
  return chromium.launch(options).catch(() => chromium.launch({ ...options, env: libraries }));
}
