// Puts a page together as `duet report` does, so that it can be tested with made-up data.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const sources = process.env.DUET_PAGE_SOURCES ?? join(here, "../../src/render/html/page");

const read = (name) => readFileSync(join(sources, name), "utf8");
/** The page's own scripts, in the order in which `duet` puts them together. */
export const SCRIPTS = [...read("../mod.rs").matchAll(/"(\w+\.js)"/g)].map((found) => found[1]);

const escaped = (text) => text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);

/** Data as they stand in the page: those of a large one deflated. */
const packed = (json) => (json.length < 1_000_000 ? json : deflateRawSync(json).toString("base64"));

/** Changes in words, as duet writes them where nothing is known or nothing changed. */
const SIGNS = { no_change: "~", identical_code: "~", not_affected: "~", inconclusive: "?" };

/** The change of a row in words, as duet writes it. */
function changeOf({ verdict, estimate }) {
  if (verdict in SIGNS) return SIGNS[verdict];
  if (estimate === null) return "";
  const percent = (estimate.ratio - 1) * 100;
  const size = Math.abs(percent);
  return `${percent > 0 ? "+" : ""}${percent.toFixed(size >= 9.95 ? 0 : size >= 0.995 ? 1 : 2)}%`;
}

/** The page with these data, as one text. */
export function assemble(made) {
  const data = { ...made, benchmarks: made.benchmarks.map((one) => ({ change: changeOf(one), ...one })) };
  const parts = {
    "{{title}}": escaped(data.headline),
    "/*{{style}}*/": read("page.css"),
    "/*{{library}}*/": read("vendor/plot.js"),
    "/*{{script}}*/": SCRIPTS.map(read).join("\n"),
    "{{data}}": packed(JSON.stringify(data).replaceAll("<", "\\u003c")),
  };
  // In one pass, because what is put in may itself look like a marked place.
  return read("page.html").replace(/\/\*\{\{\w+\}\}\*\/|\{\{\w+\}\}/g, (place) => parts[place]);
}
