// A server on the official TypeScript SDK, that `pintle` connects to: see `run-tool`.
//
//   node server.mjs          on standard input and output
//   node server.mjs http     Streamable HTTP on a free port, which it prints on standard error

import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, ResourceTemplate, acceptedContent, completable, createMcpHandler, inputRequired } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod/v4';

const VESSELS = ['gudgeon', 'reckoner', 'rule'];
const LOG = 'log://movements';
const movements = [];
const starting = value => VESSELS.filter(name => name.startsWith(value));
const said = text => ({ content: [{ type: 'text', text: String(text) }] });

// Over HTTP every request has a server of its own, and the handler notifies the listeners.
let notify = { toolsChanged: server => server.sendToolListChanged(), updated: (server, uri) => server.server.sendResourceUpdated({ uri }) };

function pilotBook() {
  const server = new McpServer(
    { name: 'pilot-book', version: '1.0' },
    { instructions: 'Ask for the tide first.', capabilities: { resources: { subscribe: true, listChanged: true }, tools: { listChanged: true } } },
  );
  answers(server);
  takesTime(server);
  changes(server);
  keeps(server);
  return server;
}

function answers(server) {
  const sum = { inputSchema: z.object({ a: z.int(), b: z.int() }), outputSchema: z.object({ result: z.number() }) };
  server.registerTool('add', { description: 'Adds two numbers.', ...sum }, async ({ a, b }) => ({
    ...said(a + b),
    structuredContent: { result: a + b },
  }));
  const hour = { inputSchema: z.object({ hour: z.int().min(0).max(23), datum: z.string().default('chart') }) };
  server.registerTool('tide', { description: 'The tide at an hour.', ...hour }, async ({ hour }) => said(Math.abs(12 - hour) / 2));
  server.registerTool('ground', { description: 'Runs aground.' }, async () => {
    throw new Error('she sits on the bar');
  });
  const berth = z.object({ name: z.string().describe('The berth'), hours: z.int().min(1).max(72).default(6) });
  server.registerTool('moor', { description: 'Asks for a berth, and moors.', inputSchema: z.object({ vessel: z.string() }) }, async ({ vessel }, ctx) => {
    const given = acceptedContent(ctx.mcpReq.inputResponses, 'berth', berth);
    if (given) return said(`${vessel} lies at ${given.name} for ${given.hours} hours`);
    return inputRequired({ inputRequests: { berth: inputRequired.elicit({ message: 'Where does she lie?', requestedSchema: berth }) } });
  });
}

function takesTime(server) {
  const progress = (ctx, progress, total, message) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    if (progressToken === undefined) return undefined;
    return ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total, message } });
  };
  server.registerTool('sound', { description: 'Sounds the basin line by line.', inputSchema: z.object({ lines: z.int() }) }, async ({ lines }, ctx) => {
    for (let line = 1; line <= lines; line++) {
      await progress(ctx, line, lines, `line ${line}`);
      await pause(20);
    }
    return said(`${lines} lines`);
  });
  server.registerTool('drift', { description: 'Drifts until the call is cancelled.' }, async ctx => {
    await progress(ctx, 0, undefined, 'adrift');
    await pause(2 ** 31 - 1, undefined, { signal: ctx.mcpReq.signal });
    return said('');
  });
}

function changes(server) {
  server.registerTool('log_movement', { description: 'Logs a movement.', inputSchema: z.object({ vessel: z.string() }) }, async ({ vessel }) => {
    movements.push(vessel);
    await notify.updated(server, LOG);
    return said(movements.length);
  });
  server.registerTool('commission', { description: 'Adds a tool.', inputSchema: z.object({ name: z.string() }) }, async ({ name }) => {
    server.registerTool(`tug_${name}`, { description: 'Pulls.' }, async () => said(`${name} pulls`));
    await notify.toolsChanged(server);
    return said(`tug_${name}`);
  });
}

function keeps(server) {
  const one = (uri, mimeType, content) => ({ contents: [{ uri: String(uri), mimeType, ...content }] });
  const guide = '# Guide\n\nKeep the light to port.\n';
  server.registerResource('guide', 'log://guide', { mimeType: 'text/markdown' }, async uri => one(uri, 'text/markdown', { text: guide }));
  server.registerResource('chart', 'log://chart', { mimeType: 'image/png' }, async uri => one(uri, 'image/png', { blob: 'iVBORw0KGgo=' }));
  server.registerResource('movements', LOG, {}, async uri => one(uri, 'text/plain', { text: movements.join('\n') }));
  server.server.setRequestHandler('resources/subscribe', async () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', async () => ({}));
  const vessels = new ResourceTemplate('log://vessels/{vessel}', { list: undefined, complete: { vessel: starting } });
  server.registerResource('vessel', vessels, {}, async (uri, { vessel }) => one(uri, 'text/plain', { text: `${vessel}, of this harbour` }));
  const argsSchema = z.object({ vessel: completable(z.string(), starting), tone: z.string().optional() });
  server.registerPrompt('passage', { description: 'Plans a passage.', argsSchema }, async ({ vessel, tone = 'brief' }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Plan a ${tone} passage for ${vessel}.` } }],
  }));
}

if (process.argv[2] === 'http') {
  const handler = createMcpHandler(pilotBook);
  notify = { toolsChanged: () => handler.notify.toolsChanged(), updated: (_, uri) => handler.notify.resourceUpdated(uri) };
  const http = createServer(toNodeHandler(handler)).listen(0, '127.0.0.1', () => {
    console.error(`http://127.0.0.1:${http.address().port}/mcp`);
  });
} else {
  serveStdio(pilotBook);
}
