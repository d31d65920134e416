// What `pintle check` and `pintle lint` find about the connected server.

import { button, el, json, more } from "./dom.js";
import { onConnection, section, state } from "./app.js";
import { run } from "./run.js";

const MAX_SHOWN = 300;
const LEVELS = ["must", "should", "robust"];

const checked = el("div", { className: "stack result" });
const linted = el("div", { className: "stack result" });
const panel = el("section", {}, el("h2", {}, "Checks"),
  part("Requirements of the protocol", "The check opens its own conversations with the server, in each revision. It calls only tools that are read-only and require no arguments.",
    button("Check the server", () => run(checked, "Check", "check", {}, ({ result }) => report(result)), { className: "main" }), checked),
  part("Limits of hosts", "Names and schemas of the tools, compared with the limits of Claude, OpenAI, Gemini, Copilot and Cursor. No tool is called.",
    button("Check the tools", () => run(linted, "Lint", "lint", {}, ({ result }) => findings(result.findings ?? [])), { className: "main" }), linted));

function part(title, about, action, place) {
  return el("section", { className: "card", "aria-label": title }, el("h3", {}, title), el("p", { className: "soft" }, about), el("div", { className: "bar" }, action), place);
}

/** The report of a check: counts, failures, and all checks. */
function report({ name, carrier, revisions = [], findings = [] }) {
  const failed = byCheck(findings.filter(({ verdict }) => verdict === "failed"));
  return el("div", { className: "stack" },
    el("p", { className: "wrap" }, `${name} over ${carrier}`),
    counts(revisions, findings),
    failed.length === 0 ? el("p", { className: "tags" }, el("span", { className: "tag good" }, "No check failed")) : failed.slice(0, MAX_SHOWN).map(failure),
    beyond(failed.length),
    more("All checks", () => all(findings)),
    more("As JSON", () => json({ name, carrier, revisions, findings: findings.slice(0, MAX_SHOWN) })));
}

function byCheck(failed) {
  const groups = new Map();
  for (const finding of failed) groups.set(finding.check, [...(groups.get(finding.check) ?? []), finding]);
  return [...groups.values()].sort(([a], [b]) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level));
}

function counts(revisions, findings) {
  const count = (revision, verdict) => findings.filter((finding) => finding.revision === revision && finding.verdict === verdict).length;
  const head = el("tr", {}, ["Revision", "Passed", "Failed", "Skipped"].map((name) => el("th", { scope: "col" }, name)));
  const rows = revisions.map((revision) => el("tr", {}, el("th", { scope: "row" }, revision),
    ["passed", "failed", "skipped"].map((verdict) => el("td", {}, count(revision, verdict)))));
  return scrolled("Checks of each revision", head, rows);
}

function scrolled(label, head, rows) {
  return el("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": label },
    el("table", { "aria-label": label }, el("thead", {}, head), el("tbody", {}, rows)));
}

function failure(group) {
  const [first] = group;
  return el("div", { className: "card" },
    el("div", { className: "tags" }, el("span", { className: first.level === "must" ? "tag bad" : "tag" }, first.level)),
    el("h4", { className: "mono wrap" }, first.check),
    el("p", { className: "prose" }, first.expected),
    el("ul", { className: "small" }, group.map(({ revision, requirements = [] }) => el("li", {}, `${revision}: ${requirements.join(", ")}`))),
    first.sent && bytes("Sent", first.sent), first.came && bytes("Came", first.came),
    el("p", { className: "soft small wrap" }, `Page: ${first.page}`));
}

function bytes(title, text) {
  return el("div", {}, el("p", { className: "label small" }, title), el("pre", { tabIndex: 0, role: "group", "aria-label": title }, text));
}

function all(findings) {
  const head = el("tr", {}, ["Check", "Level", "Revision", "Verdict", "Requirements"].map((name) => el("th", { scope: "col" }, name)));
  const rows = findings.map(({ check, level, revision, verdict, reason, requirements = [] }) => el("tr", {},
    el("th", { scope: "row", className: "mono" }, check), [level, revision, reason ? `${verdict}: ${reason}` : verdict, requirements.join(", ")].map((text) => el("td", {}, text))));
  return scrolled("All checks", head, rows);
}

function beyond(count) {
  return count > MAX_SHOWN && el("p", { className: "soft" }, `${count - MAX_SHOWN} more failures are not shown.`);
}

/** The findings about tools, errors first. */
function findings(list) {
  if (list.length === 0) return el("p", { className: "tags" }, el("span", { className: "tag good" }, "Nothing is found"));
  return el("div", { className: "stack" }, list.slice(0, MAX_SHOWN).map((finding) => el("div", { className: "card" },
    el("div", { className: "tags" }, el("span", { className: finding.severity === "error" ? "tag bad" : "tag" }, finding.severity), el("span", { className: "tag" }, finding.host ?? "every host")),
    el("h4", { className: "mono wrap" }, `${finding.tool ?? "the server"} ${finding.pointer}`),
    el("p", { className: "wrap" }, `${finding.limit}; found ${finding.found}`),
    finding.host_error && el("p", { className: "wrap" }, `Error of the host: ${finding.host_error}`),
    el("p", { className: "wrap" }, `Fix: ${finding.fix}`),
    el("p", { className: "soft small wrap" }, `${finding.id}, ${finding.source}`))), beyond(list.length));
}

section({ name: "checks", title: "Checks", panel, offered: () => state.connection?.canJudge === true });
onConnection(() => {
  checked.replaceChildren();
  linted.replaceChildren();
});
