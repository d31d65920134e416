// Prompts: their arguments, and the messages that they give.

import { el, json, more } from "./dom.js";
import { offers, list } from "./offers.js";
import { onConnection, section } from "./app.js";
import { on } from "./api.js";
import { completed } from "./completion.js";
import { run } from "./run.js";
import { messages } from "./content.js";

const prompts = offers({
  name: "prompts",
  title: "Prompts",
  load: () => list("prompts"),
  keyOf: (prompt) => prompt.name,
  labelOf: (prompt) => prompt.title ?? prompt.name,
  about: (prompt) => prompt.description,
  show,
});

function show(prompt) {
  const place = el("div", { className: "stack result" });
  const fields = completed(prompt.arguments ?? [], { type: "ref/prompt", name: prompt.name });
  const form = el("form", { noValidate: true }, fields.nodes, el("div", { className: "bar" }, el("button", { type: "submit", className: "main" }, "Get the messages")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run(place, prompt.name, "prompt", { name: prompt.name, arguments: fields.values() }, ({ result }) =>
      el("div", { className: "stack" }, result.description && el("p", { className: "soft" }, result.description), messages(result.messages)));
  });
  return el("div", { className: "stack" },
    el("h3", { className: "wrap" }, prompt.title ?? prompt.name),
    el("p", { className: "mono soft wrap" }, prompt.name),
    prompt.description && el("p", { className: "prose" }, prompt.description),
    form, place, more("Definition", () => json(prompt)));
}

section({ name: "prompts", title: "Prompts", panel: prompts.panel, offered: (can) => Boolean(can?.prompts) });
on("change", (event) => event.list === "prompts" && prompts.read());
onConnection((connection) => {
  prompts.clear();
  if (connection?.server?.capabilities?.prompts) prompts.read();
});
