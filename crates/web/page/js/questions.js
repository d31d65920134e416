// Questions of the server: forms, addresses to visit, and requests to a model.

import { announce, button, el, fill, freshId } from "./dom.js";
import { on, request } from "./api.js";
import { formOf } from "./form.js";
import { openable, suspicious, visit } from "./content.js";
import { samplingCard } from "./sampling.js";

const region = document.getElementById("questions");
const cards = new Map();

/** Shows the questions that are open when the page starts. */
export function showOpen(questions) {
  questions.forEach(show);
}

function show(question) {
  if (cards.has(question.id)) return;
  const title = el("h2", { tabIndex: -1, id: freshId("q") }, TITLES[question.kind] ?? "The server asks");
  const note = el("p", { className: "error", hidden: true });
  const answer = (value) => send(question.id, value, note);
  const build = { form: formCard, url: urlCard, sampling: samplingCard }[question.kind];
  const card = el("section", { className: "card asks", "aria-labelledby": title.id }, title,
    question.server && el("p", { className: "soft small" }, `From ${question.server}. The name is not verified.`),
    build ? build(question, answer) : decisions(answer), note);
  cards.set(question.id, card);
  region.append(card);
  region.hidden = false;
  announce(`${title.textContent}: ${question.message ?? ""}`, true);
  if (!isTyping()) title.focus();
}

const TITLES = {
  form: "The server asks for values",
  url: "The server asks you to visit an address",
  sampling: "The server asks a model",
};

/** The focus stays in a field in which the user may be typing. */
function isTyping() {
  return ["INPUT", "TEXTAREA", "SELECT"].includes(document.activeElement?.tagName);
}

async function send(id, answer, note) {
  try {
    await request("answer", { id, answer });
    remove(id);
    announce("The answer was sent.");
  } catch (error) {
    note.textContent = error.message;
    note.hidden = false;
  }
}

function remove(id) {
  const card = cards.get(id);
  cards.delete(id);
  const hadFocus = card?.contains(document.activeElement);
  card?.remove();
  region.hidden = cards.size === 0;
  if (!hadFocus) return;
  const next = cards.values().next().value?.querySelector("h2");
  (next ?? document.getElementById("main")).focus();
}

function decisions(answer) {
  return [
    button("Decline", () => answer({ action: "decline" })),
    button("Cancel", () => answer({ action: "cancel" })),
  ];
}

function formCard(question, answer) {
  const form = formOf(question.schema, {
    values: question.defaults,
    actions: [el("button", { type: "submit", className: "main" }, "Send the answer"), decisions(answer)],
    submitted: (content) => answer({ action: "accept", content }),
  });
  return [el("p", { className: "prose" }, question.message), form.node];
}

function urlCard(question, answer) {
  const url = openable(question.url);
  const accept = () => {
    visit(url);
    answer({ action: "accept" });
  };
  return [
    el("p", { className: "prose" }, question.message),
    el("p", {}, "It leads to the host ", el("strong", { className: "wrap" }, question.host), "."),
    url && suspicious(url),
    el("p", { className: "mono wrap" }, question.url),
    el("div", { className: "bar" }, url && button("Open in a new tab", accept, { className: "main" }), decisions(answer)),
  ];
}

on("question", ({ question }) => show(question));
on("questionEnd", ({ id }) => {
  if (!cards.has(id)) return;
  remove(id);
  announce("The server does not ask any more.");
});
on("visitEnd", () => announce("The server reports that the visit is complete."));
on("lost", async () => {
  // A question may be among the lost events.
  const { questions } = await request("state");
  const open = new Set(questions.map((question) => question.id));
  [...cards.keys()].filter((id) => !open.has(id)).forEach(remove);
  showOpen(questions);
});
on("gone", () => fill(region).toggleAttribute("hidden", true));
