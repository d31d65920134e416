#!/usr/bin/env node
// Starts the program of the package for this platform, which npm installs as an optional dependency.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

function program() {
  const name = `@pintle-mcp/pintle-${process.platform}-${process.arch}`;
  const file = process.platform === "win32" ? "pintle.exe" : "pintle";
  try {
    return require.resolve(`${name}/bin/${file}`);
  } catch {
    console.error(
      `pintle: the package ${name} is not installed; either this platform has no program, ` +
        "or npm was told to omit optional dependencies",
    );
    process.exit(1);
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
// A host ends this process. Its signals are for the program, which ends in its own way.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`pintle: the program does not start: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
