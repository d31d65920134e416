// The visit of a TypeScript client to the showcase (`pintle serve`): every server feature, asserted.
//
// `visit(adapter)` takes the differences between the two generations of the client:
//   client           the SDK's client
//   revision         the expected revision
//   connect()        connects; close() ends the session and the connection
//   call(params, o)  tools/call with the SDK's request options, and callWith(params) without
//   firstPage()      the first page of tools/list as the server sends it
//   spoken()         the revision of the conversation
//   on(method, f)    handles notifications
//   onRequest(method, f)  answers requests, and the questions of `input_required` results
//   missingCode      the client's error code of a missing resource before 2026-07-28
//   watch(uri)       subscribes to a resource and to list changes; resolves to a way to stop

import assert from 'node:assert/strict';

import { NotApplicable, finish, logged, sleep, step, until } from './report.mjs';

const GUIDE = 'harbour://guide';
const CHART = 'harbour://charts/tide.png';
const MOVEMENTS = 'harbour://movements';
const TEMPLATE = 'harbour://vessels/{call_sign}';
const CONDITIONS = 'https://harbour.example/conditions';
const ROOTS = [{ uri: 'file:///charts/north', name: 'north' }, { uri: 'file:///charts/south' }];
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const TURNS_BACK = 'the pilot boat turns back';

export async function visit(adapter) {
  const { client, revision } = adapter;
  const isModern = revision >= '2026-07-28';
  const received = { logs: [], updates: [], changes: 0 };
  adapter.on('notifications/message', n => received.logs.push(n.params));
  adapter.on('notifications/resources/updated', n => received.updates.push(n.params.uri));
  adapter.on('notifications/tools/list_changed', () => received.changes++);
  const faults = [];
  client.onerror = error => faults.push(error);
  const call = (name, args = {}, options = {}) => adapter.call({ name, arguments: args }, options);
  const text = result => result.content[0].text;
  const asked = [];
  for (const method of ['elicitation/create', 'sampling/createMessage', 'roots/list'])
    adapter.onRequest(method, request => answered(asked, method, request.params));
  const visitor = { ...adapter, asked, isModern, received, call, text, since: date => revision >= date };

  await step('connect', () => connects(visitor));
  await step('list', () => lists(visitor));
  await step('call', () => callsTools(visitor));
  await step('content', () => showsContent(visitor));
  await step('bad args', () => refusesArguments(visitor));
  await step('read', () => readsResources(visitor));
  await step('unknown', () => refusesUnknownNames(visitor));
  await step('prompt', () => getsPrompts(visitor));
  await step('complete', () => completes(visitor));
  await step('progress', () => receivesProgress(visitor));
  await step('logs', () => receivesLogs(visitor));
  await step('cancel', () => cancels(visitor));
  await step('changes', () => receivesChanges(visitor));
  await step('form', () => fillsInForms(visitor));
  await step('url', () => visitsUrls(visitor));
  await step('sample', () => asksItsModel(visitor));
  await step('roots', () => listsItsRoots(visitor));
  await step('rounds', () => goesThroughRounds(visitor));
  await step('ping', () => pings(visitor));
  await step('quiet', () => assert.deepEqual(faults.map(String).filter(isOurs), []));
  await step('close', () => adapter.close());
  finish();
}

/**
 * Whether the server caused a fault that the client reports. Both clients handle an answer at once and a
 * notification a tick later, so that progress that was read together with the answer finds its
 * token forgotten (typescript-sdk issue 2580).
 */
const isOurs = fault => !/progress notification for an unknown token.*"progress":5,/.test(fault);

async function connects({ client, connect, spoken, revision, isModern, since }) {
  await connect();
  assert.equal(spoken(), revision);
  assert.equal(client.getServerVersion().name, 'pintle-showcase');
  assert.match(client.getInstructions(), /harbour pilot/);
  const capabilities = client.getServerCapabilities();
  const expected = ['tools', 'resources', 'prompts', 'logging'];
  if (since('2025-03-26')) expected.push('completions');
  if (revision === '2025-11-25') expected.push('tasks');
  if (isModern) expected.push('extensions');
  assert.deepEqual(Object.keys(capabilities).sort(), expected.sort());
  assert.equal(capabilities.tools.listChanged, true);
  assert.equal(capabilities.resources.subscribe, true);
}

async function lists({ client, firstPage, since }) {
  const page = await firstPage();
  assert.equal(page.tools.length, 5);
  assert(page.nextCursor !== undefined);
  const tools = await all('tools', params => client.listTools(params));
  const names = tools.map(tool => tool.name);
  assert.equal(new Set(names).size, names.length);
  for (const name of ['under_keel', 'board', 'watch', 'weather_forecast']) assert(names.includes(name), name);
  const underKeel = tools.find(tool => tool.name === 'under_keel');
  assert.deepEqual(underKeel.inputSchema.required, ['charted_depth', 'tide', 'draught']);
  assert.equal(underKeel.outputSchema !== undefined, since('2025-06-18'));
  assert.equal(underKeel.annotations?.readOnlyHint, since('2025-03-26') ? true : undefined);
  const resources = await all('resources', params => client.listResources(params));
  assert.deepEqual(resources.map(r => r.uri).sort(), [CHART, GUIDE, MOVEMENTS].sort());
  const templates = await all('resourceTemplates', params => client.listResourceTemplates(params));
  assert.deepEqual(templates.map(t => t.uriTemplate), [TEMPLATE]);
  const prompts = await all('prompts', params => client.listPrompts(params));
  assert.deepEqual(prompts.map(p => p.name).sort(), ['passage_plan', 'tide_briefing']);
}

/** Every entry of a list, page by page. */
async function all(member, list) {
  const entries = [];
  let cursor;
  do {
    const page = await list(cursor === undefined ? {} : { cursor });
    entries.push(...page[member]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return entries;
}

async function callsTools({ call, text, since, isModern }) {
  const keel = await call('under_keel', { charted_depth: 8, tide: 2, draught: 6.8, speed: 10 });
  const clearance = since('2025-06-18') ? keel.structuredContent : JSON.parse(text(keel));
  assert.equal(clearance.squat, 1);
  assert(Math.abs(clearance.clearance - 2.2) < 1e-9);
  assert.equal(clearance.is_safe, true);
  assert.deepEqual(JSON.parse(text(keel)), clearance);
  const vessels = await call('vessels', { kind: 'tug' });
  const register = { call_sign: 'GUDG', name: 'Gudgeon', kind: 'tug', draught: 3.2, berth: 'fish-quay' };
  if (isModern) assert.deepEqual(vessels.structuredContent, [register]);
  else if (since('2025-06-18')) assert.deepEqual(Object.values(vessels.structuredContent), [[register]]);
  assert.match(text(await call('berth', { name: 'fish-quay' })), /Gudgeon lies at fish-quay/);
  assert.equal(text(await call('weather_forecast', { day: 2 })), 'gale later');
  assert.match(text(await call('highest_tide', { days: 3 })), /6\.3/);
}

async function showsContent({ call, since }) {
  const { content } = await call('notice');
  const link = since('2025-06-18') ? 'resource_link' : 'text';
  assert.deepEqual(content.map(block => block.type), ['text', 'resource', link, link]);
  assert.equal(content[0].annotations.priority, 1);
  assert.match(content[1].resource.text, /fairway light/);
  const [image] = (await call('tide_curve')).content;
  assert.equal(image.mimeType, 'image/png');
  assert(Buffer.from(image.data, 'base64').subarray(1, 4).equals(Buffer.from('PNG')));
  const [sound] = (await call('sound_signal', { manoeuvre: 'port' })).content;
  assert.equal(sound.type, since('2025-03-26') ? 'audio' : 'text');
}

async function refusesArguments({ call, text }) {
  const deep = await call('under_keel', { charted_depth: 'deep', tide: 2, draught: 6.8 });
  assert.equal(deep.isError, true);
  assert.match(text(deep), /\/charted_depth/);
  const over = await call('under_keel', { charted_depth: 8, tide: 2, draught: 99 });
  assert.equal(over.isError, true);
  assert.match(text(over), /\/draught/);
  const silence = await call('hail', { call_sign: 'NONE' });
  assert.equal(silence.isError, true);
  assert.match(text(silence), /no vessel has the call sign NONE/);
}

async function readsResources({ client }) {
  const [guide] = (await client.readResource({ uri: GUIDE })).contents;
  assert.equal(guide.mimeType, 'text/markdown');
  assert.match(guide.text, /^# Pilotage guide/);
  const [chart] = (await client.readResource({ uri: CHART })).contents;
  assert(Buffer.from(chart.blob, 'base64').length > 100);
  const [vessel] = (await client.readResource({ uri: 'harbour://vessels/RULE' })).contents;
  assert.equal(vessel.uri, 'harbour://vessels/RULE');
  assert.equal(JSON.parse(vessel.text).name, 'Rule of Twelfths');
}

async function refusesUnknownNames({ client, call, isModern, missingCode }) {
  const missing = isModern ? -32602 : missingCode;
  for (const uri of ['harbour://nowhere', 'harbour://vessels/NONE']) {
    const error = await client.readResource({ uri }).then(() => undefined, e => e);
    assert.equal(error?.code, missing, String(error));
    assert.equal(error.data?.uri, uri);
  }
  await assert.rejects(call('no_such_tool'), { code: -32602 });
  await assert.rejects(client.getPrompt({ name: 'no_such_prompt' }), { code: -32602 });
}

async function getsPrompts({ client }) {
  const plan = await client.getPrompt({
    name: 'passage_plan',
    arguments: { call_sign: 'RECK', berth: 'grain-pier', hours: '1.5' },
  });
  assert.match(plan.messages[0].content.text, /RECK to grain-pier, 1\.5 hours/);
  assert.equal(plan.messages[1].content.resource.uri, 'harbour://vessels/RECK');
  const briefing = await client.getPrompt({ name: 'tide_briefing' });
  assert.deepEqual(briefing.messages.map(m => m.role), ['user', 'assistant', 'user']);
  assert.equal(briefing.messages[0].content.type, 'image');
  await assert.rejects(client.getPrompt({ name: 'passage_plan', arguments: {} }), { code: -32602 });
}

async function completes({ client, since }) {
  const plan = { type: 'ref/prompt', name: 'passage_plan' };
  const signs = await client.complete({ ref: plan, argument: { name: 'call_sign', value: 'r' } });
  assert.deepEqual(signs.completion.values, ['RULE', 'RECK']);
  const berths = { ref: plan, argument: { name: 'berth', value: '' } };
  if (since('2025-06-18')) berths.context = { arguments: { call_sign: 'GUDG' } };
  const { values } = (await client.complete(berths)).completion;
  assert.equal(values.includes('fish-quay'), !since('2025-06-18'));
  const vessel = { type: 'ref/resource', uri: TEMPLATE };
  const templated = await client.complete({ ref: vessel, argument: { name: 'call_sign', value: 'SL' } });
  assert.deepEqual(templated.completion.values, ['SLAK']);
}

async function receivesProgress({ call, text, since }) {
  const steps = [];
  let isAnswered = false;
  const onprogress = progress => {
    assert(!isAnswered, 'progress after the result');
    steps.push(progress);
  };
  const trip = await call('board', { call_sign: 'RULE', cables: 5 }, { onprogress });
  isAnswered = true;
  assert.match(text(trip), /on board of RULE/);
  // The fifth may be lost on the client's side: see `isOurs`.
  assert(steps.length >= 4, `${steps.length} notices`);
  assert.deepEqual(steps.map(s => [s.progress, s.total]), steps.map((_, n) => [n + 1, 5]));
  if (since('2025-03-26')) assert.equal(steps[1].message, '2 of 5 cables');
  await sleep(100);
}

async function receivesLogs({ client, callWith, received, isModern }) {
  const watch = async level => {
    received.logs.length = 0;
    if (!isModern) await client.setLoggingLevel(level ?? 'emergency');
    const meta = isModern && level ? { _meta: { [LOG_LEVEL]: level } } : {};
    await callWith({ name: 'watch', arguments: { channel: 16 }, ...meta });
    await sleep(100);
    return received.logs.map(log => log.level);
  };
  assert.deepEqual(await watch('warning'), ['warning', 'error']);
  assert.deepEqual(received.logs[0].data, { channel: 16, heard: 'fog is coming in' });
  assert.equal(received.logs[0].logger, 'radio');
  assert.deepEqual(await watch('debug'), ['debug', 'info', 'warning', 'error', 'info']);
  assert.deepEqual(await watch(undefined), []);
}

async function cancels({ call, text }) {
  let isUnderWay = false;
  await stopsOne(call, { onprogress: () => (isUnderWay = true) }, () => until('progress', () => isUnderWay));
  // The server has sent nothing yet: over HTTP the answer has no status so far.
  await stopsOne(call, {}, () => sleep(300));
  const began = Date.now();
  assert.match(text(await call('hail', { call_sign: 'SLAK' })), /Slack Water/);
  assert(Date.now() - began < 1_000);
}

async function stopsOne(call, options, underWay) {
  const before = logged(TURNS_BACK);
  const stop = new AbortController();
  const trip = call('board', { call_sign: 'RECK', cables: 60 }, { ...options, signal: stop.signal });
  const ended = trip.then(() => 'answered', () => 'stopped');
  await underWay();
  stop.abort('the pilot is ill');
  assert.equal(await ended, 'stopped');
  await until('the server receives the cancellation', () => logged(TURNS_BACK) === before + 1);
}

async function receivesChanges({ client, call, text, received, watch }) {
  const stop = await watch(MOVEMENTS);
  const today = Number(text(await call('log_movement')));
  await until('an update', () => received.updates.length === 1);
  assert.deepEqual(received.updates, [MOVEMENTS]);
  const [movements] = (await client.readResource({ uri: MOVEMENTS })).contents;
  assert.equal(JSON.parse(movements.text).today, today);
  const name = `t${process.pid}`.replace(/\d/g, digit => 'abcdefghij'[digit]);
  const names = async () => (await all('tools', params => client.listTools(params))).map(tool => tool.name);
  await call('hire_tug', { name });
  await until('a change', () => received.changes >= 1);
  assert((await names()).includes(`tug_${name}`));
  assert.equal(text(await call(`tug_${name}`)), `${name} pulls`);
  const changes = received.changes;
  await call('release_tug', { name });
  await until('another change', () => received.changes > changes);
  assert(!(await names()).includes(`tug_${name}`));
  await stop();
  await call('log_movement');
  await sleep(300);
  assert.equal(received.updates.length, 1, 'an update after the subscription ended');
}

/** The answers of the user, the model and the host. */
function answered(asked, method, params) {
  asked.push({ method, params });
  if (method === 'roots/list') return { roots: ROOTS };
  if (method === 'sampling/createMessage')
    return { role: 'assistant', model: 'parrot', content: { type: 'text', text: `Aye: ${params.messages[0].content.text}` } };
  if (params.mode === 'url') return { action: 'accept' };
  if (/RULE/.test(params.message)) return { action: 'decline' };
  if (/SLAK/.test(params.message)) return { action: 'cancel' };
  if (/may RECK leave/.test(params.message)) return { action: 'accept', content: { may_leave: true, remark: 'mind the ferry' } };
  return { action: 'accept', content: { berth: 'grain-pier', hours: 6, shore_power: true } };
}

async function fillsInForms({ call, text, asked, since }) {
  if (!since('2025-06-18')) return refusesToAsk(call('allot_berth', { call_sign: 'RECK' }), text, asked);
  asked.length = 0;
  const allot = async call_sign => text(await call('allot_berth', { call_sign }));
  assert.equal(await allot('RECK'), 'RECK lies at grain-pier for 6 hours, with power');
  assert.equal(await allot('RULE'), 'RULE gets no berth');
  assert.equal(await allot('SLAK'), 'nobody has decided about SLAK');
  assert.deepEqual(asked.map(({ method }) => method), Array(3).fill('elicitation/create'));
  const { message, requestedSchema } = asked[0].params;
  assert.match(message, /Where does RECK lie/);
  assert.deepEqual(requestedSchema.required, ['berth', 'hours']);
  const { berth, hours } = requestedSchema.properties;
  assert.deepEqual([hours.type, hours.minimum, hours.maximum], ['integer', 1, 72]);
  assert.deepEqual(berth.enum, ['breakwater', 'fish-quay', 'grain-pier', 'old-dock']);
}

async function visitsUrls({ call, text, asked, since, isModern }) {
  if (!since('2025-11-25')) return refusesToAsk(call('sign_conditions'), text, asked);
  asked.length = 0;
  assert.equal(text(await call('sign_conditions')), 'the master is on the way to sign');
  const [{ params }] = asked;
  assert.deepEqual([params.mode, params.url], ['url', CONDITIONS]);
  assert.equal(typeof params.elicitationId, isModern ? 'undefined' : 'string');
}

async function asksItsModel({ call, text, asked }) {
  asked.length = 0;
  const report = 'The fairway light is out.';
  assert.equal(text(await call('phrase_report', { report })), `Aye: Put into one sentence for the radio: ${report}`);
  assert.deepEqual(asked.map(({ method }) => method), ['sampling/createMessage']);
  assert.equal(asked[0].params.maxTokens, 200);
}

async function listsItsRoots({ call, text, asked }) {
  asked.length = 0;
  assert.deepEqual(JSON.parse(text(await call('chart_folders'))), ['north', 'file:///charts/south']);
  assert.deepEqual(asked.map(({ method }) => method), ['roots/list']);
}

/** One call asks two questions, one after the other. The work before them is done once. */
async function goesThroughRounds({ call, text, asked, since }) {
  if (!since('2025-06-18')) return refusesToAsk(call('clear_for_sea', { call_sign: 'RECK' }), text, asked);
  asked.length = 0;
  const before = Number(text(await call('log_movement')));
  const cleared = text(await call('clear_for_sea', { call_sign: 'RECK' }));
  assert.equal(cleared, `${before + 1}: Aye: Clear RECK for sea: mind the ferry`);
  assert.deepEqual(asked.map(({ method }) => method), ['elicitation/create', 'sampling/createMessage']);
  assert.equal(Number(text(await call('log_movement'))), before + 2);
}

/** A revision without this question: the client is not asked, and the result is an error for the model. */
async function refusesToAsk(called, text, asked) {
  asked.length = 0;
  const result = await called;
  assert.equal(result.isError, true);
  assert.match(text(result), /does not support/);
  assert.deepEqual(asked, []);
}

async function pings({ client, isModern }) {
  if (isModern) throw new NotApplicable('no ping in this revision');
  await client.ping();
}
