#!/usr/bin/env node
// Starts the pitree binary for this system, which npm installed as an optional dependency. The binary replaces this
// process where Node can do that; otherwise this process waits for it and exits with its exit code.
"use strict";

const { accessSync, constants: modes } = require("node:fs");
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

// Node 22.15 and later, except on Windows. It may abort if it fails, so check the file before.
function replaceProcess() {
  if (typeof process.execve !== "function" || process.platform === "win32") return;
  try {
    accessSync(program, modes.X_OK);
    process.execve(program, [program, ...process.argv.slice(2)], process.env);
  } catch {
    // Start it as a child process, which reports why that fails.
  }
}

function startChild() {
  const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
  // A terminal sends SIGINT and SIGQUIT to both processes, and pitree handles them. Other signals are forwarded.
  const forwarded = { SIGINT: false, SIGQUIT: false, SIGTERM: true, SIGHUP: true };
  for (const [signal, isForwarded] of Object.entries(forwarded)) {
    process.on(signal, () => isForwarded && child.kill(signal));
  }
  child.on("error", (error) => fail(`cannot start ${program}: ${error.message}`));
  child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
}

replaceProcess();
startChild();
