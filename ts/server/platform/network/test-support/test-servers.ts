/** Real servers on loopback for tests of the HTTP client. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { Test } from 'tap';

async function listen(t: Test, server: Server, scheme: string): Promise<URL> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return new URL(`${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

export function httpServer(t: Test, listener: RequestListener): Promise<URL> {
  return listen(t, createServer(listener), 'http');
}

export function httpsServer(t: Test, files: { cert: Buffer; key: Buffer }, listener: RequestListener): Promise<URL> {
  return listen(t, createSecureServer(files, listener), 'https');
}

/** Takes connections and does with them what is given. */
export function tcpServer(t: Test, onConnection: (socket: Socket) => void, scheme = 'http'): Promise<URL> {
  return listen(t, createTcpServer(onConnection), scheme);
}

export interface TestProxy {
  readonly url: URL;
  /** Method, target and credentials of each request to the proxy. */
  readonly asked: string[];
}

/** A forward proxy: tunnels for CONNECT and absolute addresses for the rest; all lead to 127.0.0.1, whatever the name. */
export async function proxyServer(t: Test, connectStatus = 200): Promise<TestProxy> {
  const asked: string[] = [];
  const note = ({ method, url, headers }: IncomingMessage): void => {
    asked.push(`${method} ${url} ${headers['proxy-authorization'] ?? ''}`.trim());
  };
  const server = createServer((request, response) => {
    note(request);
    response.end(`${request.headers.host} by proxy`);
  });
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    note(request);
    if (connectStatus !== 200) return socket.end(`HTTP/1.1 ${connectStatus} No\r\n\r\n`);
    const upstream = connect(Number(request.url?.split(':').at(-1)), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    for (const end of [upstream, socket]) end.on('error', () => undefined);
    socket.on('close', () => upstream.destroy());
    return undefined;
  });
  return { url: await listen(t, server, 'http'), asked };
}
