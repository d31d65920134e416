// The first generation of the official TypeScript client.
//   node ts1.mjs legacy URL | node ts1.mjs legacy -- COMMAND ARGUMENTS

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

import { visit } from './desk.mjs';

const SCHEMAS = {
  'notifications/message': LoggingMessageNotificationSchema,
  'notifications/resources/updated': ResourceUpdatedNotificationSchema,
  'notifications/tools/list_changed': ToolListChangedNotificationSchema,
  'elicitation/create': ElicitRequestSchema,
  'sampling/createMessage': CreateMessageRequestSchema,
  'roots/list': ListRootsRequestSchema,
};

const [, url, command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'interop-ts1', version: '1.0.0' }, {
  capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
});
const transport =
  url === '--'
    ? new StdioClientTransport({ command, args, stderr: 'inherit' })
    : new StreamableHTTPClientTransport(new URL(url));
let spoken;
// The client keeps what was agreed to itself; it tells the transports that need it.
const told = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = revision => {
  spoken = revision;
  told?.(revision);
};

await visit({
  client,
  revision: '2025-11-25',
  spoken: () => spoken,
  firstPage: () => client.listTools(),
  connect: () => client.connect(transport),
  call: (params, o) => client.callTool(params, undefined, o),
  callWith: params => client.callTool(params),
  on: (method, hear) => client.setNotificationHandler(SCHEMAS[method], hear),
  answers: (method, answer) => client.setRequestHandler(SCHEMAS[method], answer),
  missingCode: -32002,
  watch: async uri => {
    await client.subscribeResource({ uri });
    return () => client.unsubscribeResource({ uri });
  },
  close: async () => {
    await transport.terminateSession?.();
    await client.close();
  },
});
