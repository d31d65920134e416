// Content of servers: texts, pictures, sounds, links, and resources inside of results.

import { button, copy, el, fill, json, more } from "./dom.js";
import { structured } from "./table.js";

const MAX_TEXT = 200_000;
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml", "image/avif", "image/bmp"]);

let reader = null;

/** Sets the function that opens a resource of the server. */
export function setReader(read) {
  reader = read;
}

/** The result of a tool. */
export function toolResult(result) {
  const blocks = result.content ?? [];
  const data = result.structuredContent;
  const state = result.isError ? el("span", { className: "tag bad" }, "The tool failed") : el("span", { className: "tag good" }, "Done");
  // Many servers repeat their structured data as a text.
  const isRepeated = (block) => data !== undefined && block.type === "text" && sameJson(block.text, data);
  return el("div", { className: "stack" }, el("div", { className: "tags" }, state),
    data !== undefined && structured(data),
    blocks.filter((block) => !isRepeated(block)).map(block),
    blocks.some(isRepeated) && more("The same data as text", () => blocks.filter(isRepeated).map(block)[0]),
    result._meta && more("Metadata", () => json(result._meta)));
}

function sameJson(text, data) {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(data);
  } catch {
    return false;
  }
}

/** One block of content. */
export function block(content) {
  switch (content?.type) {
    case "text": return text(content.text);
    case "image": return picture(content.data, content.mimeType);
    case "audio": return sound(content.data, content.mimeType);
    case "resource_link": return link(content);
    case "resource": return resource(content.resource ?? {});
    default: return el("div", { className: "card" }, el("p", { className: "soft" }, "Content of an unknown type"), json(content));
  }
}

export function text(value) {
  const whole = String(value ?? "");
  const shown = whole.length > MAX_TEXT ? whole.slice(0, MAX_TEXT) : whole;
  return el("div", { className: "text stack" },
    el("pre", { tabIndex: 0, role: "group", "aria-label": "Text" }, shown),
    shown !== whole && el("p", { className: "soft" }, `The text has ${whole.length} characters; the first ${MAX_TEXT} are shown.`),
    whole.length > 0 && button("Copy", () => copy(whole), { className: "small quiet" }));
}

function picture(data, type) {
  if (!PICTURES.has(type)) return download(data, type, "picture");
  return el("img", { className: "picture", alt: `Picture of the server (${type})`, src: `data:${type};base64,${data}` });
}

function sound(data, type) {
  if (!/^audio\/[\w.+-]+$/.test(type ?? "")) return download(data, type, "sound");
  return el("audio", { controls: true, "aria-label": `Sound of the server (${type})`, src: `data:${type};base64,${data}` });
}

/** A button that saves bytes. A browser never shows them as a document of this page. */
function download(data, type, name) {
  return el("p", {}, button(`Save the ${name} (${type ?? "unknown type"}, ${Math.round((data?.length ?? 0) * 0.75)} bytes)`, () => {
    const bytes = Uint8Array.from(atob(data ?? ""), (char) => char.charCodeAt(0));
    const url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
    el("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }));
}

function link(content) {
  const uri = String(content.uri ?? "");
  return el("div", { className: "card" },
    el("p", { className: "label wrap" }, "Link: ", content.title ?? content.name ?? uri),
    content.description && el("p", { className: "prose" }, content.description),
    el("p", { className: "mono wrap" }, uri),
    el("div", { className: "bar" }, button("Read from the server", () => reader?.(uri)), visitButton(uri)));
}

/** The contents of a resource. */
export function resource(content) {
  const type = content.mimeType;
  const body = content.blob === undefined ? text(content.text)
    : PICTURES.has(type) ? picture(content.blob, type)
    : type?.startsWith("audio/") ? sound(content.blob, type)
    : download(content.blob, type, "resource");
  return el("div", { className: "card" },
    el("p", { className: "label wrap" }, content.uri),
    type && el("p", { className: "soft small" }, type), body);
}

/** The messages of a prompt, or of a request to a model. */
export function messages(list) {
  return el("ol", { className: "stack", role: "list" }, (list ?? []).map((message) =>
    el("li", { className: "card" }, el("p", { className: "label" }, message.role), [message.content].flat().map(block))));
}

/** Returns the URL if a browser may open it: http and https only. */
export function openable(text) {
  try {
    const url = new URL(text);
    return url.protocol === "https:" || url.protocol === "http:" ? url : null;
  } catch {
    return null;
  }
}

function visitButton(uri) {
  return openable(uri) && button("Open in a new tab…", () => consent(uri));
}

/** Asks whether to open a URL of a server, and opens it on a yes. Returns whether it was opened. */
export function consent(uri) {
  const url = openable(uri);
  if (!url) return Promise.resolve(false);
  const dialog = document.getElementById("consent");
  return new Promise((resolve) => {
    const end = (isOpened) => {
      dialog.close();
      if (isOpened) visit(url);
      resolve(isOpened);
    };
    fill(dialog,
      el("h2", { id: "consent-title" }, "Open this address?"),
      el("p", {}, "The server gave this address. It leads to the host ", el("strong", { className: "wrap" }, url.host), "."),
      suspicious(url),
      el("p", { className: "mono wrap" }, uri),
      el("div", { className: "bar" }, button("Open", () => end(true), { className: "main" }), button("Stay here", () => end(false), { autofocus: true })));
    dialog.oncancel = () => resolve(false);
    dialog.showModal();
  });
}

export function suspicious(url) {
  const isOdd = url.hostname.split(".").some((label) => label.startsWith("xn--"));
  return isOdd && el("p", { className: "error" }, "The name of this host has letters that may look like others.");
}

/** Opens a URL after the user agreed. The other page receives no reference to this one. */
export function visit(url) {
  el("a", { href: url.href, target: "_blank", rel: "noopener noreferrer" }).click();
}
