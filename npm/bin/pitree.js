#!/usr/bin/env node
// Starts the pitree of this system, which npm installed as an optional dependency, and ends as it ends.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { dirname, join } = require("node:path");

const platform = `${process.platform}-${process.arch}`;

function binary() {
  const name = process.platform === "win32" ? "pitree.exe" : "pitree";
  return join(dirname(require.resolve(`pitree-${platform}/package.json`)), "bin", name);
}

function fail(reason) {
  console.error(`pitree: ${reason}`);
  process.exit(1);
}

let program;
try {
  program = binary();
} catch {
  fail(
    `the package pitree-${platform} is not installed; install pitree again without --omit=optional, ` +
      "or build it with cargo if there is no such package",
  );
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends keys that end programs to both: pitree decides what becomes of them. Others are passed on.
const passOn = { SIGINT: false, SIGQUIT: false, SIGTERM: true, SIGHUP: true };
for (const [signal, isSentOn] of Object.entries(passOn)) {
  process.on(signal, () => isSentOn && child.kill(signal));
}
child.on("error", (error) => fail(`can't start ${program}: ${error.message}`));
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
