// A sign-in: the program does it, and the user visits the page of the issuer. No token reaches this page.

import { announce, button, copy, el, failure, fill } from "./dom.js";
import { nextOperation, on, request } from "./api.js";
import { openable, suspicious, visit } from "./content.js";

const waiting = new Map();
on("signIn", (event) => waiting.get(event.op)?.(event));

/** The button of a sign-in to a server, with its steps. `done` is called after it. */
export function signIn(target, done) {
  const place = el("div", { className: "stack" });
  const begin = button("Sign in", () => run(place, target, done), { className: "main" });
  return fill(place, el("p", { className: "soft" }, "The server requires a sign-in."), el("div", { className: "bar" }, begin));
}

async function run(place, target, done) {
  const op = nextOperation();
  const end = new AbortController();
  const steps = el("div", { className: "stack" }, el("p", { className: "soft" }, "Asking the server where to sign in…"));
  const cancel = button("Cancel the sign-in", () => end.abort());
  waiting.set(op, (event) => {
    fill(steps, step(event));
    steps.querySelector("button")?.focus();
    announce(`Sign in at ${event.issuer}.`, true);
  });
  fill(place, el("section", { className: "card asks", "aria-label": "Sign-in" }, el("h3", {}, "Sign in"), steps, el("div", { className: "bar" }, cancel)));
  cancel.focus();
  try {
    await request("sign-in", { op, target }, end.signal);
    fill(place);
    announce("You are signed in.");
    done();
  } catch (error) {
    fill(place, end.signal.aborted ? el("p", {}, "The sign-in was cancelled.") : failure(error), el("div", { className: "bar" }, button("Sign in", () => run(place, target, done), { className: "main" })));
    announce(end.signal.aborted ? "The sign-in was cancelled." : `The sign-in failed: ${error.message}`, true);
    place.querySelector("button")?.focus();
  } finally {
    waiting.delete(op);
  }
}

function step({ issuer, url: given, code }) {
  const url = openable(given);
  return [
    el("p", {}, "The server names ", el("strong", { className: "wrap" }, issuer), " for its sign-ins."),
    code && el("p", {}, "Enter this code there: ", el("strong", { className: "mono" }, code)),
    url && el("p", {}, "The address leads to the host ", el("strong", { className: "wrap" }, url.host), "."),
    url && suspicious(url),
    el("p", { className: "mono wrap small" }, given),
    el("div", { className: "bar" }, url && button("Open the sign-in page", () => visit(url), { className: "main" }),
      button("Copy the address", () => copy(given), { className: "quiet" })),
    el("p", { className: "soft" }, "This page continues after the sign-in there."),
  ];
}
