// Messages as rows: each answer has its request, and the time between them.

/** Creates a list of rows. At `max` rows the oldest is dropped. */
export function messageRows(max) {
  const rows = [];
  const sent = new Map();
  // Each side of each session numbers its own requests.
  const key = (event, to, id) => `${event.session ?? 0} ${to} ${JSON.stringify(id)}`;

  /** Adds an event of the feed, or a line of a recording. Returns its row. */
  function add(event) {
    const row = rowOf(event);
    const { message } = row;
    if (message?.method !== undefined && message.id !== undefined) sent.set(key(event, event.to, message.id), row);
    if (isAnswer(message)) answered(row, event);
    row.searched = `${row.title} ${row.tags.join(" ")} ${JSON.stringify(message ?? event.text)}`.toLowerCase();
    rows.push(row);
    if (rows.length > max) {
      rows.shift().node?.remove();
      list.missed += 1;
    }
    if (sent.size > max) sent.delete(sent.keys().next().value);
    return row;
  }

  function answered(row, event) {
    const asked = key(event, event.to === "client" ? "server" : "client", row.message.id);
    const request = sent.get(asked);
    sent.delete(asked);
    row.method = request?.message.method;
    row.title = `${row.message.error ? "Error" : "Answer"}: ${row.method ?? row.message.id}`;
    row.detail = request ? `${Math.max(0, Math.round(event.at - request.at))} ms` : "";
    row.isFailed = Boolean(row.message.error || row.message.result?.isError);
    if (request) request.answer = row.message;
  }

  /** Returns the last row before `row` with the same method and the same receiver. */
  function before(row) {
    const isSame = (other) => other.method !== undefined && other.method === row.method && other.to === row.to && other.message?.method === row.message?.method;
    return rows.slice(0, rows.indexOf(row)).findLast(isSame);
  }

  function clear() {
    rows.length = 0;
    sent.clear();
    list.missed = 0;
  }

  const list = { rows, add, before, clear, missed: 0 };
  return list;
}

const isAnswer = (message) => message !== null && !Array.isArray(message) && message.method === undefined && message.id !== undefined;

function rowOf(event) {
  const message = event.message ?? null;
  const row = { event, message, at: event.at, to: event.to, method: undefined, detail: "", isFailed: false, tags: tagsOf(event) };
  if (event.type === "stderr") row.title = `Standard error: ${event.text}`;
  else if (message === null) row.title = event.text === undefined ? "A message that is too long" : `Text: ${event.text}`;
  else if (Array.isArray(message)) row.title = "A batch";
  else if (message.method !== undefined) row.title = `${message.method}${subject(message.params)}`;
  else row.title = "A message";
  row.method = typeof message?.method === "string" ? message.method : undefined;
  row.isFailed = message === null && event.type !== "stderr";
  return row;
}

function tagsOf(event) {
  const session = event.session === undefined ? [] : [`session ${event.session}`];
  return [...session, ...(event.odd ?? [])];
}

function subject(params) {
  const name = params?.name ?? params?.uri;
  return typeof name === "string" ? ` ${name}` : "";
}
