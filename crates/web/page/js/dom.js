// Elements from values. Texts become text nodes: a text of a server is never markup.

let ids = 0;

/** Returns an id that no other element has. */
export function freshId(prefix = "e") {
  ids += 1;
  return `${prefix}-${ids}`;
}

/**
 * Creates an element. `members` are properties, or attributes if their name has a hyphen or is in the list below.
 * Members that begin with `on` are listeners. Children are nodes or texts; others are left out.
 */
export function el(name, members = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(members)) {
    if (value === undefined || value === null) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key.includes("-") || ATTRIBUTES.has(key)) node.setAttribute(key, value);
    else node[key] = value;
  }
  append(node, children);
  return node;
}

const ATTRIBUTES = new Set(["role", "for", "list", "scope"]);

function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Replaces the children of an element. */
export function fill(node, ...children) {
  node.replaceChildren();
  append(node, children);
  return node;
}

export function button(label, onclick, members = {}) {
  return el("button", { type: "button", onclick, ...members }, label);
}

/** A label with its control, and a hint below it. */
export function labelled(label, control, hint) {
  control.id ||= freshId("c");
  const about = hint ? el("p", { className: "hint", id: freshId("h") }, hint) : null;
  if (about) control.setAttribute("aria-describedby", about.id);
  return el("div", { className: "field" }, el("label", { for: control.id }, label), control, about);
}

export function option(value, label = value) {
  return el("option", { value }, label);
}

/** A part that the user opens. Its content is created when it is opened first. */
export function more(title, content) {
  const details = el("details", {}, el("summary", {}, title));
  details.addEventListener("toggle", () => details.append(content()), { once: true });
  return details;
}

/** JSON as text. */
export function json(value) {
  return el("pre", { tabIndex: 0, role: "group", "aria-label": "JSON" }, JSON.stringify(value, null, 2));
}

/** Announces a text to screen readers, without a change of the focus. */
export function announce(text, isUrgent = false) {
  const region = document.getElementById(isUrgent ? "alert" : "status");
  // The same text twice is a change, too.
  region.textContent = region.textContent === text ? `${text}\u00a0` : text;
}

/** The card of a failed request. */
export function failure(error) {
  const [first, ...causes] = error.messages ?? [String(error.message ?? error)];
  return el("div", { className: "card bad" },
    el("p", { className: "error" }, first),
    causes.length > 0 && el("ul", { className: "small" }, causes.map((cause) => el("li", {}, cause))),
    error.answer && el("p", { className: "small soft" }, `code ${error.answer.code}`),
    error.answer?.data !== undefined && more("Data of the error", () => json(error.answer.data)),
    error.hint && el("p", { className: "wrap" }, error.hint));
}

/** Copies a text, and announces it. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    announce("Copied.");
  } catch {
    announce("The browser does not allow copies.", true);
  }
}
