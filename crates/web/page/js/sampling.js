// A request to a model, which the user answers by hand.

import { button, el, json, labelled, more, option } from "./dom.js";
import { messages } from "./content.js";

/** The messages for the model, and a form for the answer. */
export function samplingCard(question, answer) {
  const { params } = question;
  const text = el("textarea", { rows: 4 });
  const model = el("input", { value: "human", autocomplete: "off" });
  const reason = el("select", {}, ["endTurn", "stopSequence", "maxTokens"].map((name) => option(name)));
  const tool = toolUse(params.tools ?? []);
  const form = el("form", { noValidate: true }, labelled("The answer of the model", text), tool.node,
    more("Model and end of the answer", () => el("div", { className: "stack" }, labelled("Name of the model", model), labelled("Reason of the end", reason))),
    el("div", { className: "bar" }, el("button", { type: "submit", className: "main" }, "Send the answer"),
      button("Refuse", () => answer({ action: "decline" }))));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const used = tool.read();
    if (used === undefined) return;
    const content = used ?? { type: "text", text: text.value };
    const stopReason = used ? "toolUse" : reason.value;
    answer({ message: { role: "assistant", content, model: model.value || "human", stopReason } });
  });
  return [
    params.systemPrompt && more("System prompt", () => el("p", { className: "prose" }, params.systemPrompt)),
    messages(params.messages),
    el("p", { className: "soft small" }, `At most ${params.maxTokens} tokens.`),
    more("The whole request", () => json(params)),
    form,
  ];
}

/** Lets the answer call one of the tools of the request. `read` returns null without one, and undefined for invalid JSON. */
function toolUse(tools) {
  if (tools.length === 0) return { node: null, read: () => null };
  const name = el("select", {}, option("", "No tool: answer with the text"), tools.map((tool) => option(tool.name)));
  const input = el("textarea", { rows: 3, value: "{}", spellcheck: false });
  const error = el("p", { className: "error", hidden: true });
  const node = el("div", { className: "stack" }, labelled("Call a tool instead", name), labelled("Its arguments as JSON", input), error);
  const read = () => {
    if (name.value === "") return null;
    try {
      error.hidden = true;
      return [{ type: "tool_use", id: `call-${Date.now()}`, name: name.value, input: JSON.parse(input.value) }];
    } catch (reason) {
      error.textContent = `The arguments are not JSON: ${reason.message}`;
      error.hidden = false;
      input.focus();
      return undefined;
    }
  };
  return { node, read };
}
