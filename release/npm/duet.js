#!/usr/bin/env node
// Starts the `duet` that npm installed for this platform, and ends as it ends.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `@duetbench/${process.platform}-${process.arch}`;

function program() {
  try {
    return require.resolve(`${name}/bin/duet`);
  } catch {
    console.error(`duet: there is no program for ${process.platform}-${process.arch} here (package ${name})`);
    console.error("hint: duet runs on Linux with glibc 2.17 or later, not with musl (Alpine); if this is one, `npm install` without `--omit=optional` brings the package");
    process.exit(1);
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
// Ctrl-C reaches the child by itself, and a second one would end it at once.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`duet: ${error.message}`);
  process.exit(1);
});
child.on("close", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
