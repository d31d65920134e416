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

import { visit } from './ts-visit.mjs';

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
// The client does not expose the agreed revision. It passes the revision to transports that need it.
const setProtocolVersion = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = revision => {
  spoken = revision;
  setProtocolVersion?.(revision);
};

await visit({
  client,
  revision: '2025-11-25',
  spoken: () => spoken,
  firstPage: () => client.listTools(),
  connect: () => client.connect(transport),
  call: (params, o) => client.callTool(params, undefined, o),
  callWith: params => client.callTool(params),
  on: (method, handler) => client.setNotificationHandler(SCHEMAS[method], handler),
  onRequest: (method, answer) => client.setRequestHandler(SCHEMAS[method], answer),
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
