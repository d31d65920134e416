// The timeline: each message between the client and the server, or those of a recording.

import { announce, button, copy, el, failure, fill, json, option } from "./dom.js";
import { on, request } from "./api.js";
import { open, section, setCount } from "./app.js";
import { curlCommand, pintleCommand, testCode } from "./commands.js";
import { differences } from "./diff.js";
import { addRecording, readFile } from "./recording.js";
import { messageRows } from "./rows.js";

const MAX_ROWS = 1000;
const MAX_RECORDED = 5000;

const live = messageRows(MAX_ROWS);
/** The open recording, or null: its rows, its name, and the number of its other lines. */
let recording = null;
/** The message that others are compared with. */
let marked = null;

const shown = () => recording?.rows ?? live;
const list = el("ul", { className: "messages", role: "list" });
const note = el("p", { className: "soft small", role: "status" });
const problem = el("div", {});
const filter = el("input", { type: "search", placeholder: "Filter", "aria-label": "Filter messages", oninput: redraw });
const direction = el("select", { "aria-label": "Direction of messages", onchange: redraw },
  option("", "All"), option("server", "To the server"), option("client", "From the server"), option("failed", "Errors"), option("stderr", "Standard error"));
const clear = button("Clear", () => {
  live.clear();
  marked = null;
  redraw();
}, { className: "small quiet", "aria-label": "Clear the messages" });
const picker = el("input", { type: "file", accept: ".jsonl,.json,.ndjson", "aria-label": "Open a recording", onchange: pick });
const opened = el("div", { className: "bar", hidden: true });
const view = el("div", { className: "stack" },
  el("div", { className: "bar" }, el("h2", { className: "grow" }, "Messages"), clear),
  el("div", { className: "bar" }, el("div", { className: "grow" }, filter), el("div", { className: "grow" }, direction)),
  el("details", {}, el("summary", {}, "Recordings"), el("p", { className: "soft" }, "A file of pintle tap --record. It stays in this browser."), picker),
  opened, problem, note, list);
const panel = el("section", {});

async function pick() {
  const file = picker.files[0];
  if (!file) return;
  await show(() => readFile(file));
  // The same file may be chosen again.
  picker.value = "";
}

/** Shows the recording that `load` returns, in place of the live messages. */
async function show(load) {
  try {
    const { name, text } = await load();
    const rows = messageRows(MAX_RECORDED);
    const skipped = addRecording(rows, text, MAX_RECORDED);
    recording = { rows, name, skipped };
    fill(problem);
    announce(`The recording ${name} has ${rows.rows.length} messages.`);
  } catch (error) {
    fill(problem, failure({ messages: [`The recording is not shown: ${error.message}`] }));
    announce("The recording is not shown.", true);
  }
  marked = null;
  redraw();
}

/** Shows the recording of the command line. */
export function showRecording() {
  open("messages");
  return show(() => request("recording"));
}

function closeRecording() {
  recording = null;
  marked = null;
  redraw();
  filter.focus();
}

function isShown(row) {
  const wanted = direction.value;
  const isStderr = row.event.type === "stderr";
  if (wanted === "stderr" ? !isStderr : wanted === "failed" ? !row.isFailed : wanted && (isStderr || row.to !== wanted)) return false;
  return row.searched.includes(filter.value.toLowerCase());
}

function timeOf({ event, at }) {
  return event.offset === undefined ? new Date(at).toLocaleTimeString() : `+${(event.offset / 1000).toFixed(3)} s`;
}

function nodeOf(row) {
  const isSent = row.to === "server";
  const isStderr = row.event.type === "stderr";
  const way = isStderr ? "" : isSent ? "To the server: " : "From the server: ";
  const summary = el("summary", {}, el("span", { "aria-hidden": "true" }, isStderr ? "!" : isSent ? "→" : "←"),
    el("span", { className: "what" }, el("span", { className: "unseen" }, way), row.title),
    el("span", { className: "when" }, row.detail || timeOf(row)));
  const details = el("details", { className: row.isFailed ? "failed" : "" }, summary);
  details.addEventListener("toggle", () => details.append(body(row)), { once: true });
  row.node = el("li", {}, details);
  return row.node;
}

function body(row) {
  const { message, event } = row;
  const place = el("div", {});
  const size = event.bytes === undefined ? "" : ` · ${event.bytes} bytes`;
  return el("div", { className: "stack" },
    el("p", { className: "soft small" }, `${timeOf(row)}${size}`),
    row.tags.length > 0 && el("ul", { className: "tags", "aria-label": "Marks" }, row.tags.map((tag) => el("li", { className: "tag" }, tag))),
    el("div", { className: "bar" }, copies(row), message && comparisons(row, place)),
    place, message ? json(message) : textOf(event));
}

function textOf({ text = "", bytes = 0, dropped = 0 }) {
  return el("div", { className: "stack" },
    el("pre", { tabIndex: 0, role: "group", "aria-label": "Text" }, text, bytes > text.length ? "…" : ""),
    dropped > 0 && el("p", { className: "soft small" }, `${dropped} lines before are not shown.`));
}

function copies(row) {
  const { message, event } = row;
  const isOwn = recording === null && message?.method !== undefined && row.to === "server";
  const copied = (label, text) => text && button(label, () => copy(text), { className: "small" });
  return [
    copied("Copy", message ? JSON.stringify(message, null, 2) : event.text ?? " "),
    copied("Copy as pintle", isOwn && pintleCommand(message)),
    copied("Copy as curl", isOwn && curlCommand(message)),
    message?.method !== undefined && row.to === "server" && testCode(message) !== null
      && button("Copy as test", () => copy(testCode(message, row.answer)), { className: "small" }),
  ];
}

function comparisons(row, place) {
  const earlier = shown().before(row);
  const compare = (other, label) => {
    fill(place, differences(other.message, row.message, label));
    announce("The differences are shown.");
  };
  return [
    earlier && button("Compare with the one before", () => compare(earlier, `Differences to the ${earlier.title} before`), { className: "small" }),
    button("Mark", () => {
      marked = row;
      announce("Marked. Another message may now be compared with it.");
    }, { className: "small" }),
    button("Compare with the marked", () => {
      if (marked) compare(marked, "Differences to the marked message");
      else fill(place, el("p", { className: "soft" }, "Mark another message first."));
    }, { className: "small" }),
  ];
}

function redraw() {
  fill(list, shown().rows.filter(isShown).map(nodeOf).reverse());
  describe();
}

function describe() {
  const { rows, missed } = shown();
  setCount("messages", live.rows.length);
  opened.hidden = recording === null;
  clear.hidden = recording !== null;
  if (recording && opened.dataset.name !== recording.name) {
    opened.dataset.name = recording.name;
    fill(opened, el("p", { className: "grow wrap" }, "Recording ", el("strong", {}, recording.name)), button("Close the recording", closeRecording, { className: "small" }));
  }
  if (recording === null) delete opened.dataset.name;
  const other = recording?.skipped ?? missed;
  note.textContent = rows.length === 0 ? "Messages appear here." : other > 0 ? `${other} ${recording ? "other lines" : "earlier messages"} are not shown.` : "";
  note.hidden = note.textContent === "";
}

let fresh = [];
const add = (event) => fresh.push(live.add(event));
on("message", add);
on("stderr", add);
on("lost", ({ count }) => { live.missed += count; });
on("batch", () => {
  if (recording === null) for (const row of fresh.filter(isShown)) list.prepend(nodeOf(row));
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
