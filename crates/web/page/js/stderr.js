// The standard error of a program that is the server.

import { el, fill } from "./dom.js";
import { on } from "./api.js";

const MAX_LINES = 500;

const lines = el("ol", { className: "small mono", role: "log", "aria-label": "Standard error of the server" });

/** The part of the section of the server. It is visible after the first line. */
export const output = el("div", { className: "stack", hidden: true }, el("h3", {}, "Standard error"), lines);

/** Removes the lines of the server before. */
export function clearOutput() {
  fill(lines);
  output.hidden = true;
}

on("stderr", ({ text, dropped }) => {
  if (dropped > 0) lines.append(el("li", { className: "soft" }, `${dropped} lines are not shown`));
  lines.append(el("li", { className: "wrap" }, text));
  while (lines.children.length > MAX_LINES) lines.firstElementChild.remove();
  output.hidden = false;
});
