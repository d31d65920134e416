// The MCP client of the AI SDK visits the showcase.
//   node ai-sdk.mjs auto URL | node ai-sdk.mjs auto -- COMMAND ARGUMENTS

import assert from 'node:assert/strict';

import { ElicitationRequestSchema, createMCPClient } from '@ai-sdk/mcp';
import { StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio';

import { BERTH, KEEL, PASSAGE, finish, step } from './showcase.mjs';

const [, url, command, ...args] = process.argv.slice(2);
const transport = url === '--' ? new StdioMCPTransport({ command, args }) : { type: 'http', url };
const call = { toolCallId: 'call', messages: [] };
let client;
let tools;

await step('connect', async () => {
  client = await createMCPClient({ transport, capabilities: { elicitation: {} } });
  assert.equal(client.serverInfo.name, 'pintle-showcase');
  assert.match(client.instructions, /harbour pilot/);
  client.onElicitationRequest(ElicitationRequestSchema, () => ({ action: 'accept', content: BERTH }));
});
await step('list', async () => {
  tools = await client.tools();
  assert('weather_forecast' in tools, Object.keys(tools).join());
  const resources = await client.listResources();
  assert(resources.resources.some(resource => resource.uri === 'harbour://guide'));
  const prompts = await client.listPrompts();
  assert(prompts.prompts.some(prompt => prompt.name === 'passage_plan'));
});
await step('call', async () => {
  const result = await tools.under_keel.execute(KEEL, call);
  assert.equal(result.structuredContent.is_safe, true);
});
await step('wrong', async () => {
  const result = await tools.under_keel.execute({ ...KEEL, draught: 99 }, call);
  assert.equal(result.isError, true);
  assert.match(result.content[0].text, /draught/);
});
await step('read', async () => {
  const { contents } = await client.readResource({ uri: 'harbour://guide' });
  assert.match(contents[0].text, /^# Pilotage guide/);
});
await step('prompt', async () => {
  const prompt = await client.getPrompt({ name: 'passage_plan', arguments: PASSAGE });
  assert.match(prompt.messages[0].content.text, /RECK to grain-pier/);
});
await step('ask', async () => {
  const result = await tools.allot_berth.execute({ call_sign: 'RECK' }, call);
  assert.equal(result.content[0].text, 'RECK lies at grain-pier for 6 hours, with power');
});
await step('close', () => client.close());
finish();
