/** The least that a forward can be, as two processes: plain HTTP to TLS, and TLS to the server that is asked. A role and its addresses as JSON in the first argument. */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, Agent as TlsAgent, request as tlsRequest } from 'node:https';

export type BareForward = { port: number; to: number; cert: string; key: string; isBack: boolean };

const { port, to, cert, key, isBack } = JSON.parse(process.argv[2] ?? '') as BareForward;
const agent = isBack
  ? new Agent({ keepAlive: true })
  : new TlsAgent({ keepAlive: true, ca: cert, checkServerIdentity: () => undefined });

function forward(asked: IncomingMessage, answer: ServerResponse): void {
  const options = { agent, host: '127.0.0.1', port: to, method: asked.method, path: asked.url, headers: asked.headers };
  const sent = (isBack ? request : tlsRequest)(options, (got) => {
    answer.writeHead(got.statusCode ?? 502, got.headers);
    got.pipe(answer);
  });
  sent.on('error', () => answer.destroy());
  asked.pipe(sent);
}

const server = isBack ? createTlsServer({ cert, key, minVersion: 'TLSv1.3' }, forward) : createServer(forward);
server.listen(port, '127.0.0.1');
