/** A server for tests that answers with what a script says, byte by byte as it says. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Target } from './connection.ts';

interface ScriptedServer {
  target: Target;
  /** Requests that arrived, as they were sent. */
  requests: string[];
  /** Resolves when a client has closed its connection. */
  clientLeft: Promise<void>;
  close(): void;
}

/** @param answer gets the socket once a request with its body has arrived. */
export async function startScripted(answer: (socket: Socket, nth: number) => void): Promise<ScriptedServer> {
  const requests: string[] = [];
  let left: () => void = () => undefined;
  const clientLeft = new Promise<void>((resolve) => {
    left = resolve;
  });
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('close', () => left());
    socket.once('data', (bytes) => {
      requests.push(bytes.toString());
      answer(socket, requests.length);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the scripted server has no port');
  return { target: { host: '127.0.0.1', port: address.port }, requests, clientLeft, close: () => server.close() };
}

/** An event stream in chunks, one for each text. */
export function chunked(texts: readonly string[]): string {
  const chunks = texts.map((text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
  return `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`;
}

export function whole(status: string, body: string, headers = ''): string {
  return `HTTP/1.1 ${status}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;
}
