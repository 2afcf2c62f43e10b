/** For tests: a real HTTP server that takes deliveries and answers as it is told. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

interface Received {
  path: string;
  id: string;
  headers: IncomingHttpHeaders;
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests match what they expect
  json: any;
}

interface Receiver {
  url: string;
  host: string;
  received: Received[];
  /** How the next requests are answered; 204 by default. */
  answer: (response: ServerResponse, received: Received) => void;
}

export async function openReceiver(t: Test): Promise<Receiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const { headers, url: path = '' } = request;
      const received = { path, id: String(headers['webhook-id']), headers, body, json: JSON.parse(body || 'null') as unknown };
      receiver.received.push(received);
      receiver.answer(response, received);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const receiver: Receiver = {
    url: `http://${host}/hook`,
    host,
    received: [],
    answer: (response) => response.writeHead(204).end(),
  };
  return receiver;
}

/** What the receiver's own library would compute. */
export function isSigned({ headers, body }: Received, secret: string): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const expected = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(expected);
}
