// Text fields whose values the server completes.

import { el, freshId, labelled, option, fill } from "./dom.js";
import { request } from "./api.js";
import { state } from "./app.js";

const DELAY = 200;

/**
 * Creates fields for the arguments of a prompt, or the variables of a template. `reference` names it in requests, and
 * `changed` is called after each change. Returns the nodes, and the values of the fields that are not empty.
 */
export function completed(given, reference, changed = () => {}) {
  const fields = given.map((argument) => {
    const choices = el("datalist", { id: freshId("d") });
    const control = el("input", { list: choices.id, autocomplete: "off", spellcheck: false });
    if (argument.required) control.setAttribute("aria-required", "true");
    const node = el("div", {}, labelled(`${argument.title ?? argument.name}${argument.required ? " *" : ""}`, control, argument.description), choices);
    return { name: argument.name, control, choices, node };
  });
  const values = () => Object.fromEntries(fields.filter(({ control }) => control.value !== "").map(({ name, control }) => [name, control.value]));
  for (const field of fields) {
    let timer = 0;
    let turn = 0;
    const complete = async () => {
      turn += 1;
      const own = turn;
      const found = await suggestions(reference, field.name, values());
      if (own === turn) fill(field.choices, found.map((value) => option(value)));
    };
    field.control.addEventListener("input", () => {
      changed();
      clearTimeout(timer);
      timer = setTimeout(complete, DELAY);
    });
    field.control.addEventListener("focus", complete, { once: true });
  }
  return { nodes: fields.map(({ node }) => node), values };
}

/** Returns the suggestions of the server, and none if it has no completion. */
async function suggestions(reference, name, values) {
  if (!state.connection?.server?.capabilities?.completions) return [];
  const { [name]: value = "", ...others } = values;
  try {
    const answer = await request("complete", { params: { ref: reference, argument: { name, value }, context: { arguments: others } } });
    return answer.result.completion?.values ?? [];
  } catch {
    return [];
  }
}
