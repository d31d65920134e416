// The second generation of the official TypeScript client.
//   node ts2.mjs ERA URL | node ts2.mjs ERA -- COMMAND ARGUMENTS
// ERA: `modern` (pinned), `auto` (finds out), `legacy`, or the date of a legacy revision.

import assert from 'node:assert/strict';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { visit } from './ts-visit.mjs';

const MODERN = '2026-07-28';
const [era, url, command, ...args] = process.argv.slice(2);
const isModern = era === 'modern' || era === 'auto';
const modes = { modern: { pin: MODERN }, auto: 'auto' };
const options = {
  versionNegotiation: { mode: modes[era] ?? 'legacy' },
  capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
};
if (/^\d/.test(era)) options.supportedProtocolVersions = [era];

const client = new Client({ name: 'interop-ts2', version: '1.0.0' }, options);
const transport =
  url === '--'
    ? new StdioClientTransport({ command, args, stderr: 'inherit' })
    : new StreamableHTTPClientTransport(new URL(url));

await visit({
  client,
  revision: isModern ? MODERN : /^\d/.test(era) ? era : '2025-11-25',
  spoken: () => client.getNegotiatedProtocolVersion(),
  // `listTools()` turns the pages itself.
  firstPage: () => client.request({ method: 'tools/list', params: {} }),
  connect: () => client.connect(transport),
  call: (params, o) => client.callTool(params, o),
  callWith: params => client.callTool(params),
  on: (method, handler) => client.setNotificationHandler(method, handler),
  onRequest: (method, answer) => client.setRequestHandler(method, answer),
  // It makes -32602 of -32002, in every revision.
  missingCode: -32602,
  watch: isModern ? listen : subscribe,
  close,
});

async function listen(uri) {
  const filter = { toolsListChanged: true, resourceSubscriptions: [uri] };
  const subscription = await client.listen(filter);
  assert.deepEqual(subscription.honoredFilter, filter);
  return async () => {
    await subscription.close();
    assert.equal(await subscription.closed, 'local');
  };
}

async function subscribe(uri) {
  await client.subscribeResource({ uri });
  return () => client.unsubscribeResource({ uri });
}

async function close() {
  await transport.terminateSession?.();
  await client.close();
}
