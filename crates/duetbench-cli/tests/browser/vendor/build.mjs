// Makes the chart library of the report's page, and beside it the licences of what is in it: `npm ci && npm run build`.
// The same lock file gives the same bytes.

import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.env.DUET_VENDOR ?? join(here, "../../../src/render/html/page/vendor");

/** The package that a bundled file belongs to, or undefined for our own. */
function packageOf(file) {
  if (!file.includes("node_modules/")) return undefined;
  const parts = file.split("node_modules/").pop().split("/");
  return parts[0].startsWith("@") ? `${parts[0]}/${parts[1]}` : parts[0];
}

/** A package's name and version with its copyright lines, and the text of its licence; one without a licence ends the build. */
function licence(name) {
  const folder = join(here, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no licence file`);
  const lines = readFileSync(join(folder, file), "utf8").trim().split(/\r?\n/);
  const isCopyright = (line) => /^copyright/i.test(line);
  const owners = lines.filter(isCopyright).map((line) => `    ${line}`);
  const text = lines
    .filter((line) => !isCopyright(line))
    .join("\n")
    .trim();
  return { head: [`${name} ${version} (${license})`, ...owners].join("\n"), text };
}

/** All licences, each text once below the packages that are under it. */
function licences(names) {
  const heads = new Map();
  for (const { head, text } of names.map(licence)) heads.set(text, [...(heads.get(text) ?? []), head]);
  return [...heads].map(([text, group]) => `${group.join("\n")}\n\n${text}\n`).join(`\n${"-".repeat(80)}\n\n`);
}

const result = await build({
  absWorkingDir: here,
  entryPoints: [join(here, "entry.js")],
  bundle: true,
  minify: true,
  charset: "ascii",
  format: "iife",
  globalName: "Plot",
  target: "es2020",
  legalComments: "none",
  metafile: true,
  write: false,
});
const inputs = Object.keys(result.metafile.inputs);
const names = [...new Set(inputs.map(packageOf).filter(Boolean))].sort();
const notices = licences(names);
mkdirSync(target, { recursive: true });
// Whoever gets a page gets the notices with it.
writeFileSync(join(target, "plot.js"), `/*!\n${notices}*/\n${result.outputFiles[0].text}`);
writeFileSync(join(target, "LICENCES.txt"), notices);
