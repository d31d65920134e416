// Resources and their templates: reading, completion, subscriptions.

import { announce, button, copy, el, failure, fill, json, more } from "./dom.js";
import { offers, list } from "./offers.js";
import { onConnection, section, state } from "./app.js";
import { on, request } from "./api.js";
import { completed } from "./completion.js";
import { run } from "./run.js";
import { resource, setReader } from "./content.js";

const isTemplate = (item) => item.uriTemplate !== undefined;
const keyOf = (item) => item.uriTemplate ?? item.uri;
const label = (item) => item.title ?? item.name ?? keyOf(item);

const resources = offers({
  name: "resources",
  title: "Resources",
  async load() {
    const [plain, templates] = await Promise.all([list("resources"), list("templates").catch(() => ({ items: [], invalid: [] }))]);
    return { items: [...plain.items, ...templates.items], invalid: [...plain.invalid, ...templates.invalid] };
  },
  keyOf,
  labelOf: label,
  about: (item) => (isTemplate(item) ? `Template: ${item.uriTemplate}` : item.uri),
  show: (item) => (isTemplate(item) ? showTemplate(item) : showResource(item)),
});

/** The shown resources, which may change. */
const shown = new Map();
const subscribed = new Set();

function about(item) {
  return [
    el("h3", { className: "wrap" }, label(item)),
    el("p", { className: "mono soft wrap" }, keyOf(item)),
    item.description && el("p", { className: "prose" }, item.description),
    (item.mimeType || item.size !== undefined) && el("p", { className: "soft small" }, [item.mimeType, item.size !== undefined && `${item.size} bytes`].filter(Boolean).join(" · ")),
  ];
}

function showResource(item) {
  const place = el("div", { className: "stack result" });
  const changed = el("p", { className: "error", hidden: true }, "The resource has changed.");
  const read = () => {
    changed.hidden = true;
    return run(place, label(item), "read", { uri: item.uri }, contents);
  };
  shown.clear();
  shown.set(item.uri, changed);
  // A resource is for reading: no second click.
  read();
  return el("div", { className: "stack" }, about(item),
    el("div", { className: "bar" }, button("Read", read, { className: "main" }), subscription(item.uri), button("Copy the URI", () => copy(item.uri), { className: "quiet" })),
    changed, place, more("Definition", () => json(item)));
}

function contents(answer) {
  const all = answer.result.contents ?? [];
  return all.length === 0 ? el("p", { className: "soft" }, "The resource is empty.") : el("div", { className: "stack" }, all.map(resource));
}

/** A button that subscribes to a resource, or ends the subscription. */
function subscription(uri) {
  const can = state.connection?.server?.capabilities?.resources;
  if (!can?.subscribe) return null;
  const note = el("span", { className: "soft small", role: "status" });
  const control = button("", async () => {
    const isOn = subscribed.has(uri);
    try {
      await request(isOn ? "unsubscribe" : "subscribe", { uri });
      if (isOn) subscribed.delete(uri);
      else subscribed.add(uri);
      fill(note);
    } catch (error) {
      fill(note, error.message);
    }
    draw();
  });
  const draw = () => {
    control.textContent = "Subscribe";
    control.setAttribute("aria-pressed", String(subscribed.has(uri)));
    if (subscribed.has(uri)) control.textContent = "Subscribed ✓";
  };
  draw();
  return [control, note];
}

const EXPRESSION = /\{([+#./;?&]?)([^{}]+)\}/g;

/** Returns the names of the variables of a template. */
function variables(template) {
  const names = [...template.matchAll(EXPRESSION)].flatMap(([, , list]) => list.split(","));
  return [...new Set(names.map((name) => name.replace(/(\*|:\d+)$/, "")))];
}

/** Expands a template of RFC 6570 with texts. Variables without a value are left out. */
export function expand(template, values) {
  const plain = (text) => encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const reserved = (text) => encodeURI(text).replace(/%25([0-9A-Fa-f]{2})/g, "%$1");
  return template.replace(EXPRESSION, (whole, operator, names) => {
    const given = names.split(",").map((name) => {
      const [, bare, length] = /^(.*?)(?:\*|:(\d+))?$/.exec(name);
      const value = values[bare] ?? "";
      return { name: bare, value: length ? value.slice(0, Number(length)) : value };
    }).filter(({ value }) => value !== "");
    if (given.length === 0) return "";
    const encode = operator === "+" || operator === "#" ? reserved : plain;
    const isNamed = ";?&".includes(operator) && operator !== "";
    const parts = given.map(({ name, value }) => (isNamed ? `${name}=${encode(value)}` : encode(value)));
    const between = { "": ",", "+": ",", "#": ",", "?": "&", "&": "&" }[operator] ?? operator;
    return (operator === "+" ? "" : operator) + parts.join(between);
  });
}

function showTemplate(item) {
  const place = el("div", { className: "stack result" });
  const uri = el("p", { className: "mono wrap", role: "status" });
  const fields = completed(variables(item.uriTemplate).map((name) => ({ name })), { type: "ref/resource", uri: item.uriTemplate }, () => draw());
  const draw = () => fill(uri, expand(item.uriTemplate, fields.values()));
  const form = el("form", { noValidate: true }, fields.nodes, uri, el("div", { className: "bar" }, el("button", { type: "submit", className: "main" }, "Read")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const read = expand(item.uriTemplate, fields.values());
    run(place, read, "read", { uri: read }, contents);
  });
  draw();
  return el("div", { className: "stack" }, about(item), form, place, more("Definition", () => json(item)));
}

/** Opens a resource that a result links to, which need not be in the list. */
setReader((uri) => {
  if (resources.reveal(uri)) return;
  resources.body.classList.add("chosen");
  fill(resources.detail, showResource({ uri }));
  resources.detail.focus();
});

section({ name: "resources", title: "Resources", panel: resources.panel, offered: (can) => Boolean(can?.resources) });
on("change", (event) => {
  if (event.list === "resources") resources.read();
  const changed = shown.get(event.uri);
  if (changed) changed.hidden = false;
  if (event.uri) announce(`The resource ${event.uri} has changed.`);
});
onConnection((connection) => {
  subscribed.clear();
  connection?.subscriptions?.forEach((uri) => subscribed.add(uri));
  shown.clear();
  resources.clear();
  if (connection?.server?.capabilities?.resources) resources.read();
});
