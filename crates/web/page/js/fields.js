// One field for each kind of schema. A field has `node`, `read(errors)`, and `set(value)`.
//
// `read` returns undefined for a field that the user left empty. It adds {control, message} to `errors`, and shows the
// message at the control. With null in place of the list, it shows nothing.

import { announce, button, el, freshId, option } from "./dom.js";

const MAX_DEPTH = 6;
const MAX_ROWS = 200;

/** Returns the field of a schema. `context` has the name, whether it is required, the root schema, and the depth. */
export function fieldOf(given, context) {
  const { schema, isNullable } = simplified(given, context.root);
  const inner = { ...context, isNullable, title: schema.title ?? context.name };
  const build = (context.depth ?? 0) > MAX_DEPTH ? jsonField : BUILDERS[kindOf(schema)] ?? jsonField;
  const field = build(schema, inner);
  if (schema.default !== undefined) field.set(schema.default);
  return field;
}

/** Follows references inside of the document, and removes `null` from the types. */
function simplified(given, root) {
  let schema = given === true || given === undefined ? {} : given;
  let isNullable = false;
  for (let steps = 0; steps < 16; steps += 1) {
    const rest = { ...schema };
    if (typeof schema.$ref === "string") {
      delete rest.$ref;
      schema = { ...pointed(schema.$ref, root), ...rest };
    } else if (schema.allOf?.length === 1) {
      delete rest.allOf;
      schema = { ...schema.allOf[0], ...rest };
    } else if (Array.isArray(schema.type) && schema.type.length === 2 && schema.type.includes("null")) {
      isNullable = true;
      schema = { ...schema, type: schema.type.find((type) => type !== "null") };
    } else if (schema.anyOf?.length === 2 && schema.anyOf.some((part) => part.type === "null")) {
      isNullable = true;
      delete rest.anyOf;
      schema = { ...schema.anyOf.find((part) => part.type !== "null"), ...rest };
    } else {
      break;
    }
  }
  return { schema: schema ?? {}, isNullable };
}

function pointed(reference, root) {
  if (!reference.startsWith("#/")) return {};
  const names = reference.slice(2).split("/").map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  let at = root;
  for (const name of names) at = at !== null && typeof at === "object" && Object.hasOwn(at, name) ? at[name] : undefined;
  return at !== null && typeof at === "object" ? at : {};
}

const titledChoices = (schema) => {
  const list = schema.oneOf ?? schema.anyOf;
  return Array.isArray(list) && list.length > 0 && list.every((part) => part && Object.hasOwn(part, "const")) ? list : null;
};

function kindOf(schema) {
  if (Object.hasOwn(schema, "const")) return "fixed";
  if (Array.isArray(schema.enum) || titledChoices(schema)) return "choice";
  if (schema.anyOf || schema.oneOf || schema.allOf || schema.not || schema.if) return "json";
  if (schema.type === "array") return kindOfArray(schema);
  if (schema.type === "object" || schema.properties) return schema.properties ? "object" : "json";
  return schema.type;
}

function kindOfArray(schema) {
  const items = schema.items;
  if (items && (Array.isArray(items.enum) || titledChoices(items))) return "choices";
  return items && typeof items === "object" && !schema.prefixItems ? "array" : "json";
}

const BUILDERS = {
  string: stringField, number: numberField, integer: numberField, boolean: booleanField,
  fixed: fixedField, choice: choiceField, choices: choicesField, array: arrayField, object: objectField, json: jsonField,
};

/** A label, a control, the description, and a place for an error. */
function framed(schema, context, control, hints = []) {
  control.id = freshId("f");
  const hint = el("p", { className: "hint", id: freshId("h") }, [schema.description, ...hints].filter(Boolean).join("\n"));
  const error = el("p", { className: "error", id: freshId("x"), hidden: true });
  control.setAttribute("aria-describedby", hint.textContent ? `${hint.id} ${error.id}` : error.id);
  if (context.isRequired) control.setAttribute("aria-required", "true");
  const mark = context.isRequired ? " *" : "";
  const label = el("label", { for: control.id }, context.title, mark && el("span", { "aria-hidden": "true" }, mark));
  const node = el("div", { className: "field" }, label, control, hint.textContent && hint, error);
  return { node, fail: (errors, message) => fail({ control, error }, errors, message), clear: () => clear({ control, error }) };
}

function fail({ control, error }, errors, message) {
  if (errors === null) return;
  error.textContent = message;
  error.hidden = false;
  control.setAttribute("aria-invalid", "true");
  errors.push({ control, message });
}

function clear({ control, error }) {
  error.hidden = true;
  control.removeAttribute("aria-invalid");
}

/** A field of one control whose value is a text. `parse` returns the value, or throws the text of an error. */
function textual(schema, context, control, parse, hints) {
  const frame = framed(schema, context, control, hints);
  return {
    node: frame.node,
    control,
    set: (value) => { control.value = typeof value === "string" ? value : JSON.stringify(value); },
    read(errors) {
      frame.clear();
      if (control.value === "") {
        if (context.isRequired) frame.fail(errors, `${context.title} is required.`);
        return undefined;
      }
      try {
        return parse(control.value);
      } catch (error) {
        frame.fail(errors, String(error.message ?? error));
        return undefined;
      }
    },
  };
}

const INPUT_TYPES = { email: "email", date: "date", uri: "url" };

function stringField(schema, context) {
  const isLong = schema.maxLength === undefined ? /text|content|body|prompt|message|code|query|sql/i.test(context.name ?? "")
    : schema.maxLength > 200;
  const control = isLong ? el("textarea", { rows: 3 }) : el("input", { type: INPUT_TYPES[schema.format] ?? "text", autocomplete: "off", spellcheck: false });
  const hints = [schema.format && !INPUT_TYPES[schema.format] && `Format: ${schema.format}`, schema.pattern && `Pattern: ${schema.pattern}`];
  return textual(schema, context, control, (text) => {
    if (text.length < (schema.minLength ?? 0)) throw `${context.title} has at least ${schema.minLength} characters.`;
    if ([...text].length > (schema.maxLength ?? Infinity)) throw `${context.title} has at most ${schema.maxLength} characters.`;
    return text;
  }, hints);
}

function numberField(schema, context) {
  const isWhole = schema.type === "integer";
  const control = el("input", { type: "text", inputMode: isWhole ? "numeric" : "decimal", autocomplete: "off" });
  const { minimum, maximum } = schema;
  const range = [minimum !== undefined && `from ${minimum}`, maximum !== undefined && `to ${maximum}`].filter(Boolean).join(" ");
  return textual(schema, context, control, (text) => {
    const number = Number(text);
    if (text.trim() === "" || !Number.isFinite(number)) throw `${context.title} is not a number.`;
    if (isWhole && !Number.isInteger(number)) throw `${context.title} is not a whole number.`;
    if (isWhole && !Number.isSafeInteger(number)) throw `${context.title} is too large for this form.`;
    if (number < (minimum ?? -Infinity) || number > (maximum ?? Infinity)) throw `${context.title} is out of range: ${range}.`;
    return number;
  }, [range && `${isWhole ? "A whole number" : "A number"} ${range}`]);
}

function booleanField(schema, context) {
  const control = el("select", {}, !context.isRequired && option("", "Not set"), option("true"), option("false"));
  if (context.isRequired) control.value = "false";
  return textual(schema, context, control, (text) => text === "true");
}

function fixedField(schema, context) {
  const control = el("input", { readOnly: true, value: JSON.stringify(schema.const) });
  const frame = framed(schema, context, control);
  return { node: frame.node, control, set() {}, read: () => schema.const };
}

function choicesOf(schema) {
  const titled = titledChoices(schema);
  if (titled) return titled.map((part) => ({ value: part.const, label: part.title ?? String(part.const) }));
  const labels = schema.enumNames ?? [];
  return schema.enum.map((value, at) => ({ value, label: labels[at] ?? (typeof value === "string" ? value : JSON.stringify(value)) }));
}

function choiceField(schema, context) {
  const choices = choicesOf(schema);
  const control = el("select", {}, option("", context.isRequired ? "Choose…" : "Not set"),
    choices.map(({ label }, at) => option(String(at), label)));
  const field = textual(schema, context, control, (text) => choices[Number(text)].value);
  field.set = (value) => {
    const at = choices.findIndex((choice) => JSON.stringify(choice.value) === JSON.stringify(value));
    control.value = at < 0 ? "" : String(at);
  };
  return field;
}

function group(schema, context, ...children) {
  const mark = context.isRequired ? " *" : "";
  const error = el("p", { className: "error", hidden: true });
  const about = schema.description && el("p", { className: "hint soft small prose" }, schema.description);
  const node = el("fieldset", {}, el("legend", {}, context.title, mark), about, children, error);
  return { node, error };
}

function choicesField(schema, context) {
  const choices = choicesOf(schema.items).map((choice) => ({ ...choice, box: el("input", { type: "checkbox" }) }));
  const { node, error } = group(schema, context, choices.map(({ label, box }) => el("label", { className: "check" }, box, label)));
  return {
    node,
    control: choices[0]?.box,
    set: (value) => choices.forEach((choice) => { choice.box.checked = Array.isArray(value) && value.includes(choice.value); }),
    read(errors) {
      error.hidden = true;
      const chosen = choices.filter((choice) => choice.box.checked).map((choice) => choice.value);
      checkCount(schema, context, chosen, errors, { control: choices[0]?.box ?? node, error });
      return chosen.length > 0 || context.isRequired ? chosen : undefined;
    },
  };
}

function checkCount(schema, context, values, errors, place) {
  if (values.length === 0 && !context.isRequired) return;
  if (values.length < (schema.minItems ?? 0)) fail(place, errors, `${context.title} has at least ${schema.minItems} items.`);
  if (values.length > (schema.maxItems ?? Infinity)) fail(place, errors, `${context.title} has at most ${schema.maxItems} items.`);
}

function arrayField(schema, context) {
  const rows = [];
  const list = el("div", { className: "stack" });
  const add = button("Add an item", () => addRow()?.field.node.querySelector("input,select,textarea")?.focus(), { className: "small" });
  const { node, error } = group(schema, context, list, add);
  function addRow(value) {
    if (rows.length >= MAX_ROWS) return undefined;
    const name = `${context.title} ${rows.length + 1}`;
    const field = fieldOf(schema.items, { ...context, name, isRequired: true, depth: (context.depth ?? 0) + 1 });
    const remove = button("Remove", () => removeRow(row), { className: "small", "aria-label": `Remove ${name}` });
    const row = { field, node: el("div", { className: "bar" }, el("div", { className: "grow" }, field.node), remove) };
    if (value !== undefined) field.set(value);
    rows.push(row);
    list.append(row.node);
    return row;
  }
  function removeRow(row) {
    rows.splice(rows.indexOf(row), 1);
    row.node.remove();
    add.focus();
    announce("Removed.");
  }
  return {
    node,
    control: add,
    set(value) {
      rows.splice(0).forEach((row) => row.node.remove());
      if (Array.isArray(value)) value.forEach(addRow);
    },
    read(errors) {
      error.hidden = true;
      const values = rows.map((row) => row.field.read(errors)).filter((value) => value !== undefined);
      checkCount(schema, context, values, errors, { control: add, error });
      return rows.length > 0 || context.isRequired ? values : undefined;
    },
  };
}

/** The fields of the members of an object schema, in their order. */
export function members(schema, context) {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(schema.properties ?? {}).map(([name, member]) => ({
    name,
    field: fieldOf(member, { root: context.root, name, isRequired: required.has(name), depth: (context.depth ?? 0) + 1 }),
  }));
}

/** Reads members. Empty ones are left out. */
export function readMembers(list, errors) {
  const value = {};
  for (const { name, field } of list) {
    const member = field.read(errors);
    // A member may have the name `__proto__`.
    if (member !== undefined) Object.defineProperty(value, name, { value: member, enumerable: true, writable: true, configurable: true });
  }
  return value;
}

function objectField(schema, context) {
  const list = members(schema, context);
  const { node } = group(schema, context, list.map(({ field }) => field.node));
  return {
    node,
    control: list[0]?.field.control,
    set: (value) => list.forEach(({ name, field }) => { if (value?.[name] !== undefined) field.set(value[name]); }),
    read(errors) {
      // An optional object that the user left empty is not sent, so that its required members are not missing.
      const isEmpty = Object.keys(readMembers(list, null)).length === 0;
      return isEmpty && !context.isRequired ? undefined : readMembers(list, errors);
    },
  };
}

function jsonField(schema, context) {
  const control = el("textarea", { rows: 3, spellcheck: false });
  const field = textual(schema, context, control, (text) => {
    try {
      return JSON.parse(text);
    } catch (error) {
      throw `${context.title} is not JSON: ${error.message}`;
    }
  }, ["A value as JSON"]);
  field.set = (value) => { control.value = JSON.stringify(value, null, 2); };
  return field;
}
