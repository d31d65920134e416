// Structured data as tables.

import { el, json, more } from "./dom.js";

const MAX_ROWS = 500;
const MAX_COLUMNS = 40;
const MAX_DEPTH = 4;

/** Shows a value: a table for objects and lists of objects, a text for the rest. */
export function table(value, label = "Structured data", depth = 0) {
  if (value === null || typeof value !== "object") return el("span", { className: "prose" }, plain(value));
  if (depth >= MAX_DEPTH) return json(value);
  if (!Array.isArray(value)) return pairs(value, label, depth);
  if (value.length === 0) return el("span", { className: "soft" }, "An empty list");
  const areObjects = value.every((row) => row !== null && typeof row === "object" && !Array.isArray(row));
  return areObjects ? rows(value, label, depth) : items(value, label, depth);
}

function plain(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function scrolled(node, label, depth) {
  if (depth > 0) return node;
  return el("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": label }, node);
}

function pairs(value, label, depth) {
  const names = Object.keys(value);
  if (names.length === 0) return el("span", { className: "soft" }, "An empty object");
  const body = names.slice(0, MAX_ROWS).map((name) =>
    el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, table(value[name], name, depth + 1))));
  return scrolled(el("table", { "aria-label": label }, el("tbody", {}, body, rest(names.length, 2))), label, depth);
}

function rows(value, label, depth) {
  const names = [...new Set(value.slice(0, MAX_ROWS).flatMap(Object.keys))].slice(0, MAX_COLUMNS);
  const head = el("tr", {}, names.map((name) => el("th", { scope: "col" }, name)));
  const body = value.slice(0, MAX_ROWS).map((row) =>
    el("tr", {}, names.map((name) => el("td", {}, Object.hasOwn(row, name) ? table(row[name], name, depth + 1) : ""))));
  const all = el("table", { "aria-label": label }, el("thead", {}, head), el("tbody", {}, body, rest(value.length, names.length)));
  return scrolled(all, label, depth);
}

function items(value, label, depth) {
  const body = value.slice(0, MAX_ROWS).map((item, at) =>
    el("tr", {}, el("th", { scope: "row" }, at + 1), el("td", {}, table(item, `${label} ${at + 1}`, depth + 1))));
  return scrolled(el("table", { "aria-label": label }, el("tbody", {}, body, rest(value.length, 2))), label, depth);
}

function rest(count, columns) {
  if (count <= MAX_ROWS) return null;
  return el("tr", {}, el("td", { colSpan: columns, className: "soft" }, `${count - MAX_ROWS} more rows are not shown.`));
}

/** Structured content: the table, and its JSON. */
export function structured(value) {
  return el("div", { className: "card" }, el("h4", {}, "Structured data"), table(value), more("As JSON", () => json(value)));
}
