const faults = [];
const visible = (node) => node.checkVisibility({ checkVisibilityCSS: true });
const path = (node) => `${node.tagName.toLowerCase()}${node.id ? `#${node.id}` : ""} "${(node.textContent || node.value || "").trim().slice(0, 40)}"`;
const byIds = (ids) => (ids ?? "").split(" ").filter(Boolean).map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
const nameOf = (node) => [node.getAttribute("aria-label"), byIds(node.getAttribute("aria-labelledby")),
  ...[...(node.labels ?? [])].map((label) => label.textContent), ["BUTTON", "SUMMARY", "A"].includes(node.tagName) ? node.textContent : ""]
  .filter(Boolean).join(" ").trim();

for (const node of document.querySelectorAll("button, input, select, textarea, summary, a[href], audio, progress, dialog, [role=region], table")) {
  if (visible(node) && nameOf(node) === "" && node.tagName !== "DIALOG") faults.push(`no name: ${path(node)}`);
}
for (const node of document.querySelectorAll("img")) {
  if (!node.hasAttribute("alt")) faults.push(`no text for a picture: ${node.src.slice(0, 60)}`);
}
for (const node of document.querySelectorAll("[tabindex]")) {
  if (node.tabIndex > 0) faults.push(`positive tabindex: ${path(node)}`);
}
const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
for (const id of ids.filter((id, at) => ids.indexOf(id) !== at)) faults.push(`id is not unique: ${id}`);
for (const node of document.querySelectorAll("[aria-describedby], [aria-labelledby]")) {
  for (const id of `${node.getAttribute("aria-describedby") ?? ""} ${node.getAttribute("aria-labelledby") ?? ""}`.split(" ").filter(Boolean)) {
    if (!document.getElementById(id) && visible(node)) faults.push(`reference to a missing element: ${path(node)} ${id}`);
  }
}
let level = 0;
for (const node of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
  if (!visible(node)) continue;
  const own = Number(node.tagName[1]);
  if (own > level + 1) faults.push(`heading skips a level: ${path(node)} after h${level}`);
  level = own;
}
if (document.querySelectorAll("main").length !== 1 || !document.documentElement.lang || !document.title) faults.push("no main, language or title");
for (const node of document.querySelectorAll("button, input, select, summary")) {
  const { width, height } = node.getBoundingClientRect();
  if (visible(node) && node.tagName !== "INPUT" && (width < 24 || height < 24)) faults.push(`too small: ${path(node)} ${width}x${height}`);
}

const parse = (text) => (text.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
const light = ([r, g, b]) => {
  const [x, y, z] = [r, g, b].map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
const behind = (node) => {
  for (let at = node; at; at = at.parentElement) {
    const color = parse(getComputedStyle(at).backgroundColor);
    if (color.length < 4 || color[3] > 0.99) return color;
  }
  return [255, 255, 255];
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const seen = new Set();
while (walker.nextNode()) {
  const node = walker.currentNode.parentElement;
  if (!walker.currentNode.textContent.trim() || !visible(node) || seen.has(node) || node.closest(".unseen, .skip, option, :disabled, noscript")) continue;
  seen.add(node);
  const [a, b] = [light(parse(getComputedStyle(node).color)), light(behind(node))].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < 4.5) faults.push(`contrast ${ratio.toFixed(2)}: ${path(node)}`);
}
if (document.documentElement.scrollWidth > innerWidth + 1) faults.push(`wider than the window: ${document.documentElement.scrollWidth} of ${innerWidth}`);
return faults;
