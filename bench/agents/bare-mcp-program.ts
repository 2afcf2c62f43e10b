/** The least that the MCP library can do over HTTP: one tool with a constant answer, nobody asked who is calling, nothing written down. */
import { createServer } from 'node:http';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { TOOL } from './agent-load.ts';

const port = Number(process.argv[2]);
const result = { hits: [] };
const handler = createMcpHandler(() => {
  const server = new Server({ name: 'bare', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: [{ name: TOOL.wireName, inputSchema: { type: 'object' } }] }));
  server.setRequestHandler('tools/call', () => ({
    content: [{ type: 'text', text: JSON.stringify(result) }],
    structuredContent: result,
  }));
  return server;
});

createServer(async (request, response) => {
  if (request.url === '/livez') return void response.end('ok');
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) if (typeof value === 'string') headers.set(name, value);
  const { method = 'GET' } = request;
  const body = Buffer.concat(parts);
  const asked = new Request(`http://127.0.0.1:${port}/mcp`, { method, headers, ...(body.length > 0 && { body }) });
  const answer = await handler.fetch(asked);
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(Buffer.from(await answer.arrayBuffer()));
}).listen(port, '127.0.0.1');
