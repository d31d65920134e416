// Latencies as a plot: the share of calls, and the time that it does not exceed.

import { el } from "./dom.js";

const SHARES = [0, 0.5, 0.9, 0.99, 0.999];
const [HEIGHT, LEFT, TOP, BOTTOM, RIGHT] = [300, 76, 14, 34, 20];
const [LEAST_WIDTH, MOST_WIDTH] = [320, 720];

function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children.flat(Infinity).map((child) => (child instanceof Node ? child : document.createTextNode(String(child)))));
  return node;
}

/** Shows a time in microseconds with a fitting unit. */
export function time(micros) {
  if (micros < 1000) return `${micros.toFixed(1)} µs`;
  return micros < 1e6 ? `${(micros / 1e3).toFixed(2)} ms` : `${(micros / 1e6).toFixed(2)} s`;
}

/** The points of a measurement: the share of the calls up to each time. */
function points({ histogram }) {
  const all = histogram.reduce((sum, { calls }) => sum + calls, 0);
  let below = 0;
  return histogram.map(({ upToMicroseconds, calls }) => {
    const share = below / all;
    below += calls;
    return { share, micros: upToMicroseconds };
  });
}

/** Shows up to four measurements. Each has a name, and the members of `pintle bench --json`. */
export function plot(measured) {
  // The texts of a plot as wide as the page have the size of other texts.
  const room = document.getElementById("main").clientWidth - 32;
  const width = Math.max(LEAST_WIDTH, Math.min(MOST_WIDTH, room));
  const curves = measured.map(points);
  const times = curves.flat().map(({ micros }) => micros);
  const [least, most] = [Math.min(...times), Math.max(...times)];
  const [low, high] = [Math.log10(least) - 0.05, Math.log10(most) + 0.05];
  const y = (micros) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - (Math.log10(micros) - low) / (high - low));
  // Each further nine has the same width.
  const end = -Math.log10(1 - 0.9995);
  const x = (share) => LEFT + (width - LEFT - RIGHT) * (Math.min(end, -Math.log10(1 - Math.min(share, 0.99999))) / end);
  const lines = SHARES.map((share) => [
    svg("line", { class: "grid", x1: x(share), x2: x(share), y1: TOP, y2: HEIGHT - BOTTOM }),
    svg("text", { x: x(share), y: HEIGHT - BOTTOM + 20, "text-anchor": "middle" }, share === 0 ? (room < 480 ? "" : "min") : `${share * 100} %`),
  ]);
  const steps = [...new Set([least, Math.sqrt(least * most), most])].map((micros) => [
    svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(micros), y2: y(micros) }),
    svg("text", { x: LEFT - 8, y: y(micros) + 4, "text-anchor": "end" }, time(micros)),
  ]);
  const drawn = curves.map((curve, at) => svg("polyline", { class: `curve curve-${at}`, points: curve.map(({ share, micros }) => `${x(share).toFixed(1)},${y(micros).toFixed(1)}`).join(" ") }));
  return svg("svg", { class: "plot", viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": "Plot of the latencies; the table below has the numbers" }, lines, steps, drawn);
}

/** The table of the same measurements. */
export function percentiles(measured) {
  const rows = [
    ["Calls", ({ calls }) => calls], ["Calls per second", ({ callsPerSecond }) => Math.round(callsPerSecond)], ["Tool errors", ({ toolErrors }) => toolErrors],
    ...[["Minimum", "min"], ["Mean", "mean"], ["50 %", "p50"], ["90 %", "p90"], ["99 %", "p99"], ["99.9 %", "p999"], ["Maximum", "max"]].map(([name, member]) => [name, ({ microseconds }) => time(microseconds[member])]),
  ];
  return el("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Latencies" },
    el("table", { "aria-label": "Latencies" },
      el("thead", {}, el("tr", {}, el("td", {}), measured.map(({ name }, at) => el("th", { scope: "col" }, el("span", { className: `key key-${at}`, "aria-hidden": "true" }), name)))),
      el("tbody", {}, rows.map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), measured.map((one) => el("td", {}, value(one))))))));
}
