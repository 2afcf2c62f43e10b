/**
 * Stands before a server and answers chats itself, at a pace of its own: what a page does with tokens is measured without a model. All else goes to
 * the server, which sees its own name and no foreign origin.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Pace {
  tokensPerSecond: number;
  nTokens: number;
}

interface StreamingProxy {
  url: string;
  close(): Promise<void>;
}

/** Words, lists, a table, code and emphasis, as answers of models are. */
const PARAGRAPH = `The **queue** holds what waits, and \`admit()\` takes the oldest first [1].

1. A request comes in and is *counted*.
2. Its prompt is cut into chunks.

| step | rows | ms |
| --- | ---: | ---: |
| prefill | 512 | 118 |
| decode | 32 | 4 |

\`\`\`ts
const next = queue.take((job) => job.cost <= budget);
if (next !== undefined) engine.submit(next); // within one step
\`\`\`

> What is quoted here stands in the handbook, with its page.

`;

export async function openStreamingProxy(target: string, pace: Pace): Promise<StreamingProxy> {
  const server = createServer((incoming, outgoing) => {
    if (incoming.method === 'POST' && incoming.url === '/v1/chat/completions') void answer(incoming, outgoing, pace);
    else forward(new URL(target), incoming, outgoing);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => close(server) };
}

async function answer(incoming: IncomingMessage, outgoing: ServerResponse, { tokensPerSecond, nTokens }: Pace): Promise<void> {
  incoming.resume();
  outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  const tokens = tokensOf(nTokens);
  const begun = performance.now();
  let nSent = 0;
  while (nSent < tokens.length && !outgoing.destroyed) {
    const nDue = Math.min(tokens.length, Math.floor(((performance.now() - begun) / 1000) * tokensPerSecond));
    for (; nSent < nDue; nSent++) outgoing.write(frame({ delta: { content: tokens[nSent] }, finish_reason: null }));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  outgoing.write(frame({ delta: {}, finish_reason: 'stop' }));
  outgoing.end('data: [DONE]\n\n');
}

function tokensOf(nTokens: number): string[] {
  const pieces = PARAGRAPH.match(/\s?\S{1,5}|\s+/g) ?? [];
  return Array.from({ length: nTokens }, (_, index) => pieces[index % pieces.length] ?? '');
}

function frame(choice: object): string {
  return `data: ${JSON.stringify({ id: 'chat', object: 'chat.completion.chunk', created: 1, model: 'paced', choices: [{ index: 0, ...choice }] })}\n\n`;
}

function forward(target: URL, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { origin, ...headers } = incoming.headers;
  const named = { ...headers, host: target.host, ...(origin === undefined ? {} : { origin: target.origin }) };
  const passed = request(
    { host: target.hostname, port: target.port, method: incoming.method, path: incoming.url, headers: named },
    (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    },
  );
  passed.on('error', () => outgoing.destroy());
  incoming.pipe(passed);
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}
