// Messages as commands for a terminal.

import { state } from "./app.js";

const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** Returns the command with the server in its place: behind `--` if it is a program. */
function command(words) {
  const server = state.connection?.words ?? [];
  const all = server[0] === "--" ? ["pintle", ...words, ...server] : ["pintle", words[0], ...server, ...words.slice(1)];
  return all.map(quoted).join(" ");
}

/** Returns the `pintle` command of a request, or null if there is none. */
export function pintleCommand({ method, params = {} }) {
  if ((state.connection?.words ?? []).length === 0) return null;
  switch (method) {
    case "tools/call": return command(["call", params.name, JSON.stringify(params.arguments ?? {})]);
    case "resources/read": return command(["read", params.uri]);
    case "prompts/get": return command(["prompt", params.name, ...Object.entries(params.arguments ?? {}).map(([name, text]) => `${name}=${text}`)]);
    case "tools/list": return command(["list", "tools"]);
    case "resources/list": return command(["list", "resources"]);
    case "resources/templates/list": return command(["list", "templates"]);
    case "prompts/list": return command(["list", "prompts"]);
    case "server/discover":
    case "initialize": return command(["inspect"]);
    default: return null;
  }
}

/** Returns the `curl` command of a message, or null if the server has no URL. The session and the credentials are the user's. */
export function curlCommand(message) {
  const { url, server } = state.connection ?? {};
  if (!url?.startsWith("http") || !message.method) return null;
  const headers = ["Content-Type: application/json", "Accept: application/json, text/event-stream", `MCP-Protocol-Version: ${server?.revision}`];
  if (server?.isModern) {
    headers.push(`Mcp-Method: ${message.method}`);
    const name = message.params?.name ?? message.params?.uri;
    if (name && /^[\x21-\x7e]+$/.test(name)) headers.push(`Mcp-Name: ${name}`);
  } else if (message.method !== "initialize") {
    headers.push("Mcp-Session-Id: $SESSION");
  }
  const lines = headers.map((header) => (header.includes("$") ? `  -H "${header}"` : `  -H ${quoted(header)}`));
  return [`curl -s ${quoted(url)}`, ...lines, `  -d ${quoted(JSON.stringify(message))}`].join(" \\\n");
}
