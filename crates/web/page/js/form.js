// The form of an object schema, with all of it as JSON as the other view.

import { announce, el, freshId } from "./dom.js";
import { members, readMembers } from "./fields.js";

const MAX_FIELDS = 200;

/**
 * Creates the form of a schema. `submitted` receives the value when the user submits it. `actions` are the buttons.
 * Returns the form, and a function that reads the value, or returns undefined if a field is invalid.
 */
export function formOf(schema, { submitted, actions, extra = [], values }) {
  const list = isFlat(schema) ? members(schema, { root: schema }) : null;
  if (values) list?.forEach(({ name, field }) => { if (values[name] !== undefined) field.set(values[name]); });
  const raw = rawView(list ? undefined : values);
  const fields = el("div", { className: "stack" }, list?.map(({ field }) => field.node));
  const isRaw = el("input", { type: "checkbox", checked: !list });
  const swap = el("label", { className: "check small soft", hidden: !list }, isRaw, "Edit as JSON");
  const none = list?.length === 0 && el("p", { className: "soft" }, "There are no arguments.");
  const show = () => {
    fields.hidden = isRaw.checked;
    raw.node.hidden = !isRaw.checked;
  };
  isRaw.addEventListener("change", () => {
    if (isRaw.checked) raw.set(readMembers(list, null));
    else restore(raw, list);
    show();
  });
  show();
  const read = () => {
    const errors = [];
    const value = isRaw.checked ? raw.read(errors) : readMembers(list, errors);
    if (errors.length === 0) return value;
    errors[0].control.focus();
    announce(errors.map((error) => error.message).join(" "), true);
    return undefined;
  };
  const node = el("form", { noValidate: true }, none, fields, raw.node, swap, extra, el("div", { className: "bar" }, actions));
  node.addEventListener("submit", (event) => {
    event.preventDefault();
    const value = read();
    if (value !== undefined) submitted(value);
  });
  return { node, read };
}

function isFlat(schema) {
  const count = Object.keys(schema?.properties ?? {}).length;
  return count <= MAX_FIELDS && !schema?.anyOf && !schema?.oneOf && !schema?.allOf;
}

function restore(raw, list) {
  const value = raw.read([]);
  list.forEach(({ name, field }) => { if (value?.[name] !== undefined) field.set(value[name]); });
}

/** All arguments as JSON. */
function rawView(values = {}) {
  const control = el("textarea", { rows: 8, spellcheck: false, id: freshId("raw"), value: JSON.stringify(values, null, 2) });
  const error = el("p", { className: "error", hidden: true, id: freshId("x") });
  control.setAttribute("aria-describedby", error.id);
  return {
    node: el("div", { className: "field" }, el("label", { for: control.id }, "All arguments as JSON"), control, error),
    set: (value) => { control.value = JSON.stringify(value, null, 2); },
    read(errors) {
      error.hidden = true;
      control.removeAttribute("aria-invalid");
      try {
        const value = JSON.parse(control.value);
        if (value !== null && typeof value === "object" && !Array.isArray(value)) return value;
        throw new Error("it is not an object");
      } catch (reason) {
        error.textContent = `The arguments are not valid: ${reason.message}`;
        error.hidden = false;
        control.setAttribute("aria-invalid", "true");
        errors.push({ control, message: error.textContent });
        return undefined;
      }
    },
  };
}
