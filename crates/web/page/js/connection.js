// The connection: the server to connect to, its description, roots, log level and log.

import { announce, button, el, failure, fill, json, labelled, more, option } from "./dom.js";
import { on, request } from "./api.js";
import { clearOutput, output } from "./stderr.js";
import { signIn } from "./signin.js";
import { onConnection, open, section, setConnection, state } from "./app.js";

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const MAX_LOGS = 500;
let canSignIn = false;
const OTHER = "\u0000url";

const target = el("select", { onchange: () => chooseTarget() });
const url = el("input", { type: "url", placeholder: "https://example.com/mcp", autocomplete: "off", spellcheck: false });
const urlField = labelled("URL of the server", url);
const revision = el("select", {});
const submit = el("button", { type: "submit", className: "main" }, "Connect");
const note = el("div", { className: "stack" });
const form = el("form", { noValidate: true },
  labelled("Server", target), urlField,
  labelled("Revision", revision, "Automatic is the newest revision that both sides support."),
  el("div", { className: "bar" }, submit), note);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  connect();
});
const about = el("div", { className: "stack" });
const logs = el("ol", { className: "stack small", role: "log", "aria-label": "Log of the server" });
const panel = el("section", {}, el("h2", {}, "Server"), form, about, output);

function chooseTarget() {
  urlField.hidden = target.value !== OTHER;
}

/** Connects to the chosen server, and opens its first section. */
export async function connect() {
  const name = target.value === OTHER ? url.value.trim() : target.value;
  if (name === "") {
    fill(note, failure({ messages: ["Which server? Type its URL."] }));
    url.focus();
    return;
  }
  submit.disabled = true;
  clearOutput();
  fill(note, el("p", { className: "soft" }, "Connecting…"));
  announce("Connecting.");
  try {
    const connection = await request("connect", { target: name, revision: revision.value });
    fill(note);
    setConnection(connection);
    openFirst(connection.server?.capabilities ?? {});
  } catch (error) {
    setConnection(null);
    fill(note, failure(error), error.needsSignIn && canSignIn && signIn(name, connect));
    announce(`Not connected: ${error.message}`, true);
    open("server");
  } finally {
    submit.disabled = false;
  }
}

function openFirst(can) {
  open(can.tools ? "tools" : can.resources ? "resources" : can.prompts ? "prompts" : "server");
}

/** Fills the form from the state of the program. Returns true if a server was named on its command line. */
export function describeTargets({ targets, acceptsUrls, revisions, canSignIn: can }) {
  canSignIn = can === true;
  fill(target, targets.map(({ name, label }) => option(name, label)), acceptsUrls && option(OTHER, "Another URL"));
  fill(revision, option("", "Automatic"), [...revisions].reverse().map((name) => option(name)));
  chooseTarget();
  return targets[0]?.isGiven === true;
}

function describe(connection) {
  fill(logs);
  if (!connection) {
    fill(about);
    return;
  }
  const { server } = connection;
  const identity = server?.identity ?? {};
  fill(about,
    el("h3", {}, identity.title ?? identity.name ?? connection.label),
    el("dl", {},
      pair("Name", identity.name), pair("Version", identity.version), pair("Website", identity.websiteUrl),
      pair("Revision", server?.revision), pair("Era", server?.isModern ? "modern" : "with a handshake"),
      pair("Supported", server?.supported?.join(", ")), pair("Command", connection.words.length > 0 && connection.words.join(" "))),
    server?.instructions && el("div", { className: "stack" }, el("h3", {}, "Instructions for the model"), el("p", { className: "prose card" }, server.instructions)),
    more("Capabilities", () => json(server?.capabilities ?? {})),
    tools(server), rootsForm(connection.roots), el("h3", {}, "Log"), logs);
}

function pair(name, value) {
  return value ? [el("dt", {}, name), el("dd", {}, value)] : null;
}

/** The ping, and the log level. */
function tools(server) {
  const result = el("p", { className: "soft", role: "status" });
  const attempt = async (name, body, show) => {
    try {
      const answer = await request(name, body);
      fill(result, show(answer));
    } catch (error) {
      fill(result, error.message);
    }
  };
  const ping = button("Ping", () => attempt("ping", {}, ({ ms }) => `Answered in ${ms.toFixed(1)} ms.`));
  const level = el("select", { onchange: () => level.value && attempt("level", { level: level.value }, () => `The level is ${level.value}.`) },
    option("", "Default of the server"), LEVELS.map((name) => option(name)));
  const hasLog = server?.capabilities?.logging || server?.isModern;
  return el("div", { className: "stack" }, el("div", { className: "bar" }, ping, result), hasLog && labelled("Least severe log level", level));
}

function rootsForm(roots) {
  const control = el("textarea", { rows: 3, spellcheck: false, value: roots.map((root) => root.uri).join("\n") });
  const result = el("p", { className: "soft", role: "status" });
  const form = el("form", { noValidate: true }, labelled("Roots", control, "One file:// URI on each line. The server may ask for them."),
    el("div", { className: "bar" }, el("button", { type: "submit" }, "Set the roots"), result));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const uris = control.value.split("\n").map((line) => line.trim()).filter(Boolean);
    try {
      await request("roots", { roots: uris.map((uri) => ({ uri })) });
      fill(result, "The roots are set.");
    } catch (error) {
      fill(result, error.messages?.join(": ") ?? error.message);
    }
  });
  return form;
}

function log(level, logger, data) {
  const time = new Date().toLocaleTimeString();
  const text = typeof data === "string" ? data : JSON.stringify(data);
  logs.append(el("li", { className: "wrap" }, el("span", { className: "soft" }, `${time} `),
    el("span", { className: "tag" }, level), ` ${logger ? `${logger}: ` : ""}`, text));
  while (logs.children.length > MAX_LOGS) logs.firstElementChild.remove();
}

section({ name: "server", title: "Server", panel });
onConnection(describe);
on("log", ({ message }) => log(message.level, message.logger, message.data));
on("ended", ({ error }) => {
  if (!state.connection) return;
  const reason = error?.messages?.join(": ");
  fill(note, failure({ messages: [`The connection has ended${reason ? `: ${reason}` : ""}.`], hint: "The next call connects again." }));
  announce("The connection has ended.", true);
});
document.getElementById("disconnect").addEventListener("click", async () => {
  await request("disconnect");
  setConnection(null);
  open("server");
});
