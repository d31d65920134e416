// Requests to the program that serves this page, and the feed of its events.

const STORED = "pintle-token";

/** Reads the token of the fragment, and removes it from the address bar. A reload finds it in this tab's storage. */
function readToken() {
  const given = location.hash.slice(1);
  if (/^[0-9a-f]{64}$/.test(given)) {
    sessionStorage.setItem(STORED, given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(STORED) ?? "";
}

const token = readToken();

/** Why a request failed: texts, a hint, and the error of the server. */
export class RequestError extends Error {
  constructor(details, status) {
    super(details.messages?.[0] ?? "the request failed");
    Object.assign(this, details);
    this.status = status;
  }
}

/** Sends a request. `signal` ends it; a call is then cancelled at the server. */
export async function request(name, body = {}, signal = undefined) {
  let response;
  try {
    response = await fetch(`/api/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Pintle-Token": token },
      body: JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (signal?.aborted) throw new RequestError({ messages: ["cancelled"] }, 0);
    throw new RequestError({ messages: ["the program that serves this page does not answer"] }, 0);
  }
  const answer = await response.json();
  if (answer.error) throw new RequestError(answer.error, response.status);
  return answer;
}

let operations = Date.now();

/** Returns a number for a call, which its progress repeats. */
export function nextOperation() {
  operations += 1;
  return operations;
}

const listeners = new Map();

/** Calls `listener` for each event of a type. */
export function on(type, listener) {
  const list = listeners.get(type) ?? [];
  list.push(listener);
  listeners.set(type, list);
}

function emit(event) {
  for (const listener of listeners.get(event.type) ?? []) listener(event);
}

/** Passes each event after the number `after` to the listeners, until the program ends. */
export async function follow(after) {
  let failures = 0;
  while (failures < 5) {
    try {
      const { events, next, lost } = await request("events", { after });
      failures = 0;
      after = next;
      if (lost > 0) emit({ type: "lost", count: lost });
      events.forEach(emit);
      if (events.length > 0) emit({ type: "batch" });
    } catch (error) {
      if (error.status === 401) break;
      failures += 1;
      await new Promise((resume) => setTimeout(resume, 500 * failures));
    }
  }
  emit({ type: "gone" });
}
