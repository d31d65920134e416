// The MCP client of Mastra visits the showcase.
//   node mastra.mjs ERA URL | node mastra.mjs ERA -- COMMAND ARGUMENTS
// ERA: `auto` (finds out), `modern` (pinned) or `legacy`.

import assert from 'node:assert/strict';

import { MCPClient } from '@mastra/mcp';

import { BERTH, KEEL, PASSAGE, finish, step } from './showcase.mjs';

const [era, url, command, ...args] = process.argv.slice(2);
const pins = { modern: { protocolVersion: '2026-07-28' }, legacy: { protocolVersion: 'legacy' } };
const inputRequests = async () => ({ action: 'accept', content: BERTH });
const server = { inputRequests, ...(url === '--' ? { command, args } : { url: new URL(url) }) };
const mcp = new MCPClient({ id: 'interop', servers: { showcase: { ...server, ...pins[era] } } });
let tools;

await step('connect', async () => {
  tools = await mcp.listTools();
  const spoken = Object.values(await mcp.getServerProtocolVersions());
  assert.deepEqual(spoken, [era === 'legacy' ? '2025-11-25' : '2026-07-28']);
});
await step('list', async () => {
  assert('showcase_weather_forecast' in tools, Object.keys(tools).join());
  const resources = await mcp.resources.list();
  assert(resources.showcase.some(resource => resource.uri === 'harbour://guide'));
  const prompts = await mcp.prompts.list();
  assert(prompts.showcase.some(prompt => prompt.name === 'passage_plan'));
});
await step('call', async () => {
  const result = await tools.showcase_under_keel.execute(KEEL);
  assert.equal((result.structuredContent ?? result).is_safe, true, JSON.stringify(result));
});
await step('wrong', async () => {
  const result = await tools.showcase_under_keel.execute({ ...KEEL, draught: 99 });
  assert.match(JSON.stringify(result), /draught/);
});
await step('read', async () => {
  const { contents } = await mcp.resources.read('showcase', 'harbour://guide');
  assert.match(contents[0].text, /^# Pilotage guide/);
});
await step('prompt', async () => {
  const { messages } = await mcp.prompts.get({ serverName: 'showcase', name: 'passage_plan', args: PASSAGE });
  assert.match(messages[0].content.text, /RECK to grain-pier/);
});
await step('ask', async () => {
  const result = await tools.showcase_allot_berth.execute({ call_sign: 'RECK' });
  assert.match(JSON.stringify(result), /RECK lies at grain-pier for 6 hours, with power/);
});
await step('close', () => mcp.disconnect());
finish();
