// The lines that differ in two texts.

import { el } from "./dom.js";

const MAX_CELLS = 4_000_000;
const CONTEXT = 3;

/** Returns the lines of both texts in order: each with its sign, which is a space for a line of both. */
export function difference(old, fresh) {
  const [a, b] = [old.split("\n"), fresh.split("\n")];
  let begin = 0;
  while (begin < a.length && begin < b.length && a[begin] === b[begin]) begin += 1;
  let end = 0;
  while (end < a.length - begin && end < b.length - begin && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const same = (text) => ({ sign: " ", text });
  return [
    ...a.slice(0, begin).map(same),
    ...changed(a.slice(begin, a.length - end), b.slice(begin, b.length - end)),
    ...a.slice(a.length - end).map(same),
  ];
}

/** The longest common lines stay; texts that are too long differ as a whole. */
function changed(a, b) {
  const removed = (text) => ({ sign: "-", text });
  const added = (text) => ({ sign: "+", text });
  if (a.length * b.length > MAX_CELLS) return [...a.map(removed), ...b.map(added)];
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = a[i] === b[j] ? common[(i + 1) * width + j + 1] + 1 : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const lines = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ sign: " ", text: a[i] });
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      lines.push(removed(a[i]));
      i += 1;
    } else {
      lines.push(added(b[j]));
      j += 1;
    }
  }
  return lines;
}

/** Shows the differences of two values, with a few lines around each. */
export function differences(old, fresh, label) {
  const lines = difference(JSON.stringify(old, null, 2), JSON.stringify(fresh, null, 2));
  const isNear = lines.map((_, at) => lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ sign }) => sign !== " "));
  if (!isNear.includes(true)) return el("p", { className: "soft" }, "The messages are equal.");
  const shown = lines.map((line, at) => {
    if (isNear[at]) return lineOf(line);
    return isNear[at - 1] || at === 0 ? el("span", { className: "soft" }, "  …\n") : null;
  });
  return el("pre", { className: "diff", tabIndex: 0, role: "group", "aria-label": label }, shown);
}

function lineOf({ sign, text }) {
  const tag = { "+": "ins", "-": "del" }[sign] ?? "span";
  return el(tag, {}, `${sign} ${text}\n`);
}
