#!/usr/bin/env node
// Starts the pitree binary for this system, which npm installed as an optional dependency, and exits with its exit code.
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
    `the package pitree-${platform} is not installed; reinstall pitree without --omit=optional, ` +
      "or build it with cargo if there is no package for this system",
  );
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends SIGINT and SIGQUIT to both processes, and pitree handles them. Other signals are forwarded.
const forwarded = { SIGINT: false, SIGQUIT: false, SIGTERM: true, SIGHUP: true };
for (const [signal, isForwarded] of Object.entries(forwarded)) {
  process.on(signal, () => isForwarded && child.kill(signal));
}
child.on("error", (error) => fail(`cannot start ${program}: ${error.message}`));
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
