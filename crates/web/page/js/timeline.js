// The timeline: each message between the client and the server.

import { button, copy, el, fill, json, labelled, option } from "./dom.js";
import { on } from "./api.js";
import { section, setCount } from "./app.js";
import { curlCommand, pintleCommand } from "./commands.js";

const MAX_ROWS = 1000;

const rows = [];
const sent = new Map();
let missed = 0;

const list = el("ul", { className: "messages", role: "list" });
const note = el("p", { className: "soft small", role: "status" });
const filter = el("input", { type: "search", placeholder: "Filter", "aria-label": "Filter messages", oninput: redraw });
const direction = el("select", { "aria-label": "Direction of messages", onchange: redraw },
  option("", "All"), option("server", "To the server"), option("client", "From the server"), option("failed", "Errors"));
const clear = button("Clear", () => {
  rows.length = 0;
  missed = 0;
  sent.clear();
  redraw();
}, { className: "small quiet", "aria-label": "Clear the messages" });
const view = el("div", { className: "stack" },
  el("div", { className: "bar" }, el("h2", { className: "grow" }, "Messages"), clear),
  el("div", { className: "bar" }, el("div", { className: "grow" }, filter), el("div", { className: "grow" }, direction)), note, list);
const panel = el("section", {});

/** Adds a message, and pairs an answer with its request. */
function add(event) {
  const message = event.message ?? null;
  const row = { event, message, at: event.at, to: event.to, title: "", detail: "", isFailed: false };
  // Each side numbers its own requests.
  const key = (to, id) => `${to} ${JSON.stringify(id)}`;
  if (message?.method) {
    row.title = message.method + subject(message.params);
    if (message.id !== undefined) sent.set(key(event.to, message.id), row);
  } else if (message && message.id !== undefined) {
    const other = event.to === "client" ? "server" : "client";
    const request = sent.get(key(other, message.id));
    sent.delete(key(other, message.id));
    row.title = `${message.error ? "Error" : "Answer"}: ${request?.message.method ?? message.id}`;
    row.detail = request ? `${Math.max(0, Math.round(event.at - request.at))} ms` : "";
    row.isFailed = Boolean(message.error || message.result?.isError);
  } else {
    row.title = message ? "A batch" : `Text: ${event.text ?? ""}`;
    row.isFailed = !message;
  }
  row.searched = `${row.title} ${JSON.stringify(message ?? event.text)}`.toLowerCase();
  rows.push(row);
  if (rows.length > MAX_ROWS) {
    const dropped = rows.shift();
    missed += 1;
    dropped.node?.remove();
  }
  if (sent.size > MAX_ROWS) sent.delete(sent.keys().next().value);
}

function subject(params) {
  const name = params?.name ?? params?.uri;
  return typeof name === "string" ? ` ${name}` : "";
}

function isShown(row) {
  const wanted = direction.value;
  if (wanted === "failed" ? !row.isFailed : wanted && row.to !== wanted) return false;
  return row.searched.includes(filter.value.toLowerCase());
}

function nodeOf(row) {
  const arrow = row.to === "server" ? "→" : "←";
  const way = row.to === "server" ? "To the server" : "From the server";
  const time = new Date(row.at).toLocaleTimeString();
  const summary = el("summary", {}, el("span", { "aria-hidden": "true" }, arrow),
    el("span", { className: "what" }, el("span", { className: "unseen" }, `${way}: `), row.title),
    el("span", { className: "when" }, row.detail || time));
  const details = el("details", { className: row.isFailed ? "failed" : "" }, summary);
  details.addEventListener("toggle", () => details.append(body(row, time)), { once: true });
  row.node = el("li", {}, details);
  return row.node;
}

function body(row, time) {
  const { message, event } = row;
  const command = message?.method && row.to === "server" ? pintleCommand(message) : null;
  const curl = message?.method && row.to === "server" ? curlCommand(message) : null;
  return el("div", { className: "stack" },
    el("p", { className: "soft small" }, `${time} · ${event.bytes} bytes`),
    el("div", { className: "bar" },
      button("Copy", () => copy(message ? JSON.stringify(message, null, 2) : event.text), { className: "small" }),
      command && button("Copy as pintle", () => copy(command), { className: "small" }),
      curl && button("Copy as curl", () => copy(curl), { className: "small" })),
    message ? json(message) : el("pre", { tabIndex: 0, role: "group", "aria-label": "Text" }, event.text, event.bytes > (event.text ?? "").length ? "…" : ""));
}

function redraw() {
  fill(list, rows.filter(isShown).map(nodeOf).reverse());
  describe();
}

function describe() {
  setCount("messages", rows.length);
  note.textContent = rows.length === 0 ? "Messages appear here." : missed > 0 ? `${missed} earlier messages are not shown.` : "";
  note.hidden = note.textContent === "";
}

let fresh = [];
on("message", (event) => {
  add(event);
  fresh.push(rows.at(-1));
});
on("lost", ({ count }) => { missed += count; });
on("batch", () => {
  for (const row of fresh.filter(isShown)) list.prepend(nodeOf(row));
  fresh = [];
  describe();
});

section({ name: "messages", title: "Messages", panel, isNarrow: true });

/** A wide window shows the messages beside each section, a narrow one in a section of their own. */
const isWide = matchMedia("(min-width: 80rem)");
const move = () => (isWide.matches ? document.getElementById("side") : panel).append(view);
isWide.addEventListener("change", move);
move();
describe();
