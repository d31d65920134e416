// A list of the server with a filter, and the chosen item beside it.

import { button, el, failure, fill, freshId } from "./dom.js";
import { request } from "./api.js";
import { open, setCount } from "./app.js";

const MAX_SHOWN = 500;

/**
 * Creates the panel of a list. `load` returns {items, invalid}; `keyOf` and `about` describe an item, and `show`
 * returns the element of a chosen one.
 */
export function offers({ name, title, load, keyOf, labelOf, about, show }) {
  const list = el("ul", {});
  const note = el("p", { className: "soft", role: "status" });
  const filter = el("input", { type: "search", "aria-label": `Filter ${title.toLowerCase()}`, placeholder: "Filter", oninput: () => draw() });
  const detail = el("div", { className: "detail stack", tabIndex: -1 });
  const reload = button("Reload", () => read(), { className: "small quiet", "aria-label": `Reload ${title.toLowerCase()}` });
  const head = el("div", { className: "bar" }, el("h2", { className: "grow", id: freshId("t") }, title), reload);
  const body = el("div", { className: "offers" }, el("div", { className: "choices" }, filter, note, list), detail);
  const panel = el("section", {}, head, body);
  let items = [];
  let invalid = [];
  let chosen = null;
  let turn = 0;

  const back = () => {
    chosen = null;
    body.classList.remove("chosen");
    fill(detail);
    draw();
    filter.focus();
  };

  function choose(item, isFocused = true) {
    chosen = keyOf(item);
    body.classList.add("chosen");
    fill(detail, button("‹ Back to the list", back, { className: "back quiet" }), show(item));
    draw();
    if (isFocused) detail.focus();
  }

  function draw() {
    const typed = filter.value.toLowerCase();
    const found = items.filter((item) => `${keyOf(item)} ${labelOf(item)} ${about(item) ?? ""}`.toLowerCase().includes(typed));
    fill(list, found.slice(0, MAX_SHOWN).map((item) => el("li", {}, button([
      el("strong", {}, labelOf(item)), about(item) && el("span", { className: "about" }, about(item)),
    ], () => choose(item), keyOf(item) === chosen ? { "aria-current": "true" } : {}))),
    invalid.map((item) => el("li", { className: "card bad" }, el("strong", {}, item.name ?? "An unreadable item"), el("p", {}, item.reason))));
    const beyond = found.length > MAX_SHOWN ? `${found.length - MAX_SHOWN} more match.` : "";
    fill(note, items.length === 0 ? "The list is empty." : found.length === 0 ? "Nothing matches." : beyond);
    note.hidden = note.textContent === "";
  }

  /** Requests the list. A later request replaces an earlier one. */
  async function read() {
    turn += 1;
    const own = turn;
    try {
      const answer = await load();
      if (own !== turn) return;
      ({ items, invalid = [] } = answer);
      draw();
      setCount(name, items.length);
    } catch (error) {
      if (own === turn) fill(list, failure(error));
    }
  }

  function clear() {
    turn += 1;
    items = [];
    invalid = [];
    chosen = null;
    body.classList.remove("chosen");
    fill(detail);
    draw();
  }

  /** Opens the section with one item. */
  function reveal(key) {
    const item = items.find((item) => keyOf(item) === key);
    open(name);
    if (item) choose(item);
    return Boolean(item);
  }

  return { panel, read, clear, reveal, detail, body };
}

/** Requests a list of a kind. */
export const list = (kind) => request("list", { kind });
