// The report of a client: a line for each step. `run` makes a table of the lines.

import { readFileSync } from 'node:fs';

const STEP_TIMEOUT_MS = 20_000;

/** A step does not apply to a client or a revision. */
export class NotApplicable extends Error {}

let failures = 0;

/** Runs a step and prints `verdict TAB step TAB reason`. A failed step does not stop the next. */
export async function step(name, body) {
  const [verdict, reason] = await verdictOf(body);
  if (verdict === 'FAIL') failures++;
  console.log([verdict, name, reason].join('\t'));
}

async function verdictOf(body) {
  try {
    await within(STEP_TIMEOUT_MS, body());
    return ['ok', ''];
  } catch (error) {
    if (error instanceof NotApplicable) return ['-', error.message];
    return ['FAIL', String(error.message ?? error).replace(/\s+/g, ' ')];
  }
}

/** Ends the process: exit code 1 if a step failed. */
export function finish() {
  process.exit(failures === 0 ? 0 : 1);
}

export const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));

async function within(ms, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing happened for ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Waits until a condition holds. */
export async function until(what, holds, ms = 3_000) {
  const deadline = Date.now() + ms;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`${what}: not within ${ms} ms`);
    await sleep(10);
  }
}

/** Returns how often a text is in the log of the server. */
export function logged(text) {
  return readFileSync(process.env.INTEROP_LOG, 'utf8').split(text).length - 1;
}
