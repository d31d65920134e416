// Recordings of `pintle tap`: JSON Lines, with a message in each line.

const MAX_BYTES = 64 * 2 ** 20;

/** Reads a file that the user chose. */
export async function readFile(file) {
  if (file.size > MAX_BYTES) throw new Error(`the file has more than ${MAX_BYTES / 2 ** 20} MiB`);
  return { name: file.name, text: await file.text() };
}

/** Adds the messages of a recording to `rows`. Returns the number of lines that are not shown. Throws if it is not a recording. */
export function addRecording(rows, text, max) {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  let started = 0;
  let skipped = 0;
  lines.forEach((line, at) => {
    const entry = parsed(line);
    if (at === 0) started = startOf(entry);
    if (!isMessage(entry)) skipped += isKnown(entry) ? 0 : 1;
    else if (rows.rows.length >= max) skipped += 1;
    else rows.add(eventOf(entry, started));
  });
  return skipped;
}

function parsed(line) {
  try {
    const value = JSON.parse(line);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function startOf(entry) {
  if (entry === null || (entry.pintle_recording === undefined && !isMessage(entry))) throw new Error("the file is not a recording");
  if (entry.pintle_recording !== undefined && entry.pintle_recording !== 1) throw new Error("the recording has another version");
  return Date.parse(entry.started) || 0;
}

const isMessage = (entry) => entry?.to === "server" || entry?.to === "client";
const isKnown = (entry) => entry?.pintle_recording !== undefined || entry?.end !== undefined;

function eventOf({ ms, to, session, stream, message, text, bytes, odd }, started) {
  const offset = Number(ms) || 0;
  return {
    type: "message", to, at: started + offset, offset, session, stream, bytes: Number(bytes) || undefined,
    message: typeof message === "object" ? message : undefined,
    text: typeof text === "string" ? text : undefined,
    odd: Array.isArray(odd) ? odd.map(String) : undefined,
  };
}
