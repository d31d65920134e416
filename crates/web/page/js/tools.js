// Tools: a form for each, its calls and their results.

import { button, el, json, more } from "./dom.js";
import { offers, list } from "./offers.js";
import { onConnection, section, state } from "./app.js";
import { on } from "./api.js";
import { formOf } from "./form.js";
import { run } from "./run.js";
import { toolResult } from "./content.js";
import { adopt } from "./tasks.js";

const title = (tool) => tool.title ?? tool.annotations?.title ?? tool.name;

const tools = offers({
  name: "tools",
  title: "Tools",
  load: () => list("tools"),
  keyOf: (tool) => tool.name,
  labelOf: title,
  about: (tool) => tool.description,
  show,
});

function show(tool) {
  const place = el("div", { className: "stack result" });
  const asTask = el("input", { type: "checkbox", checked: tool.execution?.taskSupport === "required" });
  const form = formOf(tool.inputSchema ?? {}, {
    actions: [el("button", { type: "submit", className: "main" }, "Call the tool")],
    extra: mayBeTask(tool) ? el("label", { className: "check" }, asTask, "Run as a task") : null,
    submitted: (values) => run(place, title(tool), "call",
      { name: tool.name, arguments: values, asTask: asTask.checked },
      (answer) => (answer.result ? toolResult(answer.result) : started(answer))),
  });
  return el("div", { className: "stack" },
    el("h3", { className: "wrap" }, title(tool)),
    el("p", { className: "mono soft wrap" }, tool.name),
    tags(tool),
    tool.description && el("p", { className: "prose" }, tool.description),
    form.node, place,
    more("Definition", () => json(tool)));
}

function mayBeTask(tool) {
  const tasks = state.connection?.server?.capabilities;
  const isLegacy = ["optional", "required"].includes(tool.execution?.taskSupport) && tasks?.tasks;
  return isLegacy || Object.hasOwn(tasks?.extensions ?? {}, "io.modelcontextprotocol/tasks");
}

function started(answer) {
  adopt(answer.task ?? { taskId: answer.taskId });
  return el("div", { className: "card" }, el("p", {}, "The call is now the task ", el("code", {}, answer.taskId), "."),
    button("Show the tasks", () => adopt(null)));
}

function tags({ annotations = {} }) {
  const named = [
    annotations.readOnlyHint === true && "Changes nothing",
    annotations.readOnlyHint !== true && annotations.destructiveHint === true && "May destroy data",
    annotations.idempotentHint === true && "Can be repeated",
    annotations.openWorldHint === true && "Reaches other systems",
  ].filter(Boolean);
  return named.length > 0 && el("ul", { className: "tags", "aria-label": "Hints of the server" }, named.map((name) => el("li", { className: "tag" }, name)));
}

section({ name: "tools", title: "Tools", panel: tools.panel, offered: (can) => Boolean(can?.tools) });
on("change", (event) => event.list === "tools" && tools.read());
onConnection((connection) => {
  tools.clear();
  if (connection?.server?.capabilities?.tools) tools.read();
});
