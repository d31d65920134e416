// The sections of the page, and the state that they share.

import { announce, button, el, fill } from "./dom.js";

/** The connection, or null. It has the members of `Session::shown`. */
export const state = { connection: null, about: null };

const sections = [];

/** The order of the sections, whatever the order of the modules is. */
const ORDER = ["server", "tools", "resources", "prompts", "tasks", "checks", "bench", "messages"];

/**
 * Adds a section. `panel` is its element. `offered` returns false if the server does not have it, and `shown` is
 * called when the user opens it.
 */
export function section({ name, title, panel, offered = () => true, shown = () => {}, isNarrow = false }) {
  const count = el("span", { className: "count" });
  const control = button([title, count], () => open(name), { className: isNarrow ? "narrow" : "" });
  panel.hidden = true;
  panel.id = `panel-${name}`;
  panel.setAttribute("aria-label", title);
  sections.push({ name, title, panel, offered, shown, control, count });
  sections.sort((a, b) => ORDER.indexOf(a.name) - ORDER.indexOf(b.name));
  const item = el("li", { className: isNarrow ? "narrow" : "" }, control);
  const after = sections[sections.findIndex((section) => section.name === name) + 1];
  document.getElementById("sections").insertBefore(item, after?.control.parentElement ?? null);
  document.getElementById("panels").append(panel);
}

/** Opens a section. */
export function open(name) {
  for (const section of sections) {
    const isOpen = section.name === name;
    section.panel.hidden = !isOpen;
    if (isOpen) section.control.setAttribute("aria-current", "page");
    else section.control.removeAttribute("aria-current");
    if (isOpen) {
      document.title = `${section.title} – Pintle`;
      section.shown();
    }
  }
}

/** Shows a number beside the title of a section. */
export function setCount(name, count) {
  const found = sections.find((section) => section.name === name);
  fill(found.count, count > 0 ? count : "");
}

const watchers = [];

/** Calls `watcher` after each connection and disconnection. */
export function onConnection(watcher) {
  watchers.push(watcher);
}

/** Sets the connection, and shows the sections that its server offers. */
export function setConnection(connection) {
  state.connection = connection;
  const server = connection?.server;
  const name = server?.identity?.title ?? server?.identity?.name ?? connection?.label;
  const where = connection ? `${name} · ${server?.revision ?? ""}` : "Not connected";
  fill(document.getElementById("where"), where);
  document.getElementById("disconnect").hidden = !connection;
  for (const section of sections) {
    const isOffered = section.offered(server?.capabilities ?? null);
    section.control.parentElement.hidden = !isOffered;
    fill(section.count);
  }
  watchers.forEach((watcher) => watcher(connection));
  announce(connection ? `Connected to ${name}.` : "Not connected.");
}
