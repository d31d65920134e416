// Measurements of tools: short ones from this page, and the files of `pintle bench --json`.

import { announce, button, el, failure, fill, labelled, option } from "./dom.js";
import { onConnection, section, state } from "./app.js";
import { list } from "./offers.js";
import { percentiles, plot } from "./plot.js";
import { run } from "./run.js";

const MAX_CURVES = 4;
const MAX_FILE = 4 * 2 ** 20;
const MAX_BUCKETS = 5000;
const NUMBERS = ["min", "mean", "p50", "p90", "p99", "p999", "max"];

let measured = [];
let tools = [];

const tool = el("select", { onchange: () => describe() });
const given = el("textarea", { rows: 3, spellcheck: false, value: "{}" });
const calls = el("input", { type: "number", min: 1, max: 20000, value: 200 });
const callers = el("input", { type: "number", min: 1, max: 32, value: 4 });
const warning = el("p", { className: "error", hidden: true }, "The server does not state that this tool changes nothing. Each call may change something.");
const problem = el("p", { className: "error", hidden: true, role: "alert" });
const place = el("div", { className: "stack result" });
const plotted = el("div", { className: "stack" });
const form = el("form", { noValidate: true }, labelled("Tool", tool), warning, labelled("Arguments as JSON", given), labelled("Calls", calls), labelled("Calls at a time", callers), problem,
  el("div", { className: "bar" }, el("button", { type: "submit", className: "main" }, "Measure")));
const picker = el("input", { type: "file", accept: ".json", onchange: pick });
const panel = el("section", {}, el("h2", {}, "Bench"),
  el("p", { className: "soft" }, "A measurement has a connection of its own. Its messages are not in the timeline."),
  form, place, plotted, labelled("Open results", picker, "A file of pintle bench --json. It stays in this browser."));

form.addEventListener("submit", (event) => {
  event.preventDefault();
  measure();
});

async function measure() {
  problem.hidden = true;
  let values;
  try {
    values = JSON.parse(given.value);
  } catch (error) {
    problem.textContent = `The arguments are not JSON: ${error.message}`;
    problem.hidden = false;
    given.focus();
    return;
  }
  const body = { name: tool.value, arguments: values, calls: Number(calls.value), callers: Number(callers.value) };
  await run(place, tool.value, "bench", body, ({ result }) => {
    add(result, result.tool);
    return el("p", {}, `${result.calls} calls in ${result.seconds.toFixed(2)} s`);
  });
}

async function pick() {
  const file = picker.files[0];
  if (!file) return;
  try {
    if (file.size > MAX_FILE) throw new Error("it is too large");
    const results = JSON.parse(await file.text());
    (results?.targets ?? [results]).slice(0, MAX_CURVES).forEach((result) => add(result, result?.target ?? file.name));
    fill(place);
  } catch (error) {
    fill(place, failure({ messages: [`The file has no results of pintle bench: ${error.message}`] }));
    announce("The file has no results.", true);
  }
  picker.value = "";
}

/** Adds a measurement, and drops the oldest one. Throws if it is not a measurement. */
function add(result, name) {
  const isNumber = (value) => typeof value === "number" && value > 0;
  const buckets = result?.histogram;
  if (!Array.isArray(buckets) || buckets.length === 0 || buckets.length > MAX_BUCKETS) throw new Error("it has no histogram");
  if (!buckets.every((bucket) => isNumber(bucket?.upToMicroseconds) && isNumber(bucket?.calls))) throw new Error("its histogram is not valid");
  if (!NUMBERS.every((member) => typeof result.microseconds?.[member] === "number")) throw new Error("it has no percentiles");
  measured = [...measured, { ...result, name: String(name) }].slice(-MAX_CURVES);
  draw();
}

function draw() {
  fill(plotted, measured.length > 0 && [plot(measured), percentiles(measured), el("div", { className: "bar" }, button("Remove the results", () => {
    measured = [];
    draw();
    fill(place);
    announce("The results are removed.");
  }, { className: "small" }))]);
}

function describe() {
  warning.hidden = tools.find(({ name }) => name === tool.value)?.annotations?.readOnlyHint === true || tool.value === "";
}

/** Reads the tools when the section is opened. */
async function shown() {
  if (!state.connection?.server?.capabilities?.tools) return;
  const chosen = tool.value;
  try {
    ({ items: tools } = await list("tools"));
  } catch {
    tools = [];
  }
  fill(tool, tools.map(({ name }) => option(name)));
  if (tools.some(({ name }) => name === chosen)) tool.value = chosen;
  describe();
}

section({ name: "bench", title: "Bench", panel, shown });
onConnection((connection) => {
  form.hidden = !connection?.server?.capabilities?.tools;
  fill(tool);
  fill(place);
});
form.hidden = true;
