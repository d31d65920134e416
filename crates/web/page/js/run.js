// One call: its progress, its cancellation, and its result.

import { announce, button, el, failure, fill } from "./dom.js";
import { nextOperation, on, request } from "./api.js";

const MAX_RUNNING = 3;
const running = new Map();

on("progress", ({ op, progress }) => running.get(op)?.(progress));

/**
 * Sends a request with a number, and shows it in `place` until its end. `show` returns the element of the result.
 * At most three run at once, because browsers open few connections to one address.
 */
export async function run(place, title, name, body, show) {
  if (running.size >= MAX_RUNNING) {
    fill(place, failure({ messages: [`${MAX_RUNNING} calls are running; cancel one, or wait for its end`] }));
    announce("Too many calls are running.", true);
    return;
  }
  const op = nextOperation();
  const end = new AbortController();
  const bar = el("progress", { "aria-label": `Progress of ${title}` });
  const note = el("p", { className: "soft" }, "Running…");
  const cancel = button("Cancel", () => end.abort());
  fill(place, el("div", { className: "card" }, el("div", { className: "bar" }, el("div", { className: "grow stack" }, note, bar), cancel)));
  // The user has finished typing: a question may take the focus, and Enter cancels.
  cancel.focus();
  running.set(op, (progress) => {
    if (progress.total > 0) {
      bar.max = progress.total;
      bar.value = progress.progress;
    }
    note.textContent = progress.message ?? `${progress.progress}${progress.total ? ` of ${progress.total}` : ""}`;
  });
  const began = performance.now();
  try {
    const answer = await request(name, { ...body, op }, end.signal);
    const time = Math.round(performance.now() - began);
    fill(place, el("h3", { tabIndex: -1 }, "Result"), el("p", { className: "soft small" }, `${time} ms`), show(answer));
    announce(`${title}: ${answer.result?.isError ? "the tool failed" : "done"}.`);
  } catch (error) {
    fill(place, el("h3", { tabIndex: -1 }, end.signal.aborted ? "Cancelled" : "Failed"), failure(error));
    announce(`${title}: ${end.signal.aborted ? "cancelled" : error.message}.`, !end.signal.aborted);
  } finally {
    place.scrollIntoView({ block: "nearest" });
    // The focused button is gone; the result is next.
    if ([document.body, document.getElementById("main")].includes(document.activeElement)) place.querySelector("h3")?.focus();
    running.delete(op);
  }
}
