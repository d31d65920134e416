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

/** A raw string of Rust, whatever the text contains. */
function raw(text) {
  const longest = Math.max(0, ...[...text.matchAll(/"(#*)/g)].map(([, hashes]) => hashes.length + 1));
  const hashes = "#".repeat(longest);
  return `r${hashes}"${text}"${hashes}`;
}

const CALLS = {
  "tools/call": { of: ({ name, arguments: given = {} }) => [name, `call_tool(${raw(name)}, arguments)`, given], member: "content" },
  "prompts/get": { of: ({ name, arguments: given = {} }) => [name, `get_prompt(${raw(name)}, arguments)`, given], member: "messages" },
  "resources/read": { of: ({ uri }) => ["resource", `read_resource(${raw(uri)})`], member: "contents" },
};

/** Returns a Rust test that repeats a request, and expects its answer if it is known. Null for other methods. */
export function testCode({ method, params = {} }, answer) {
  const call = Object.hasOwn(CALLS, method) ? CALLS[method] : null;
  if (typeof (params.name ?? params.uri) !== "string" || call === null) return null;
  const [name, code, given] = call.of(params);
  const json = (value) => `serde_json::from_str(${raw(JSON.stringify(value))}).expect("JSON")`;
  const expected = answer?.result?.[call.member];
  const lines = [
    'let client = pintle::client::Client::connect(server()).await.expect("a server");',
    given && `let arguments: serde_json::Value = ${json(given)};`,
    `let result = client.${code}.await.expect("a result");`,
    expected && 'let result = serde_json::to_value(&result).expect("JSON");',
    expected && `let expected: serde_json::Value = ${json(expected)};`,
    expected && `assert_eq!(result["${call.member}"], expected);`,
  ];
  const title = name.replace(/[^A-Za-z0-9]+/g, "_").replace(/^_+|_+$/g, "").toLowerCase() || "it";
  return ["#[tokio::test]", `async fn the_call_of_${title}_is_answered() {`, ...lines.filter(Boolean).map((line) => `    ${line}`), "}", ""].join("\n");
}
