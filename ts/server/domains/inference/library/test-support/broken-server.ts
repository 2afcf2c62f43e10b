/** A model server for tests that misbehaves in one chosen way for each request. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Seen {
  url: string;
  headers: IncomingMessage['headers'];
}

export type Behaviour = (request: IncomingMessage, response: ServerResponse) => void;

export class BrokenServer {
  readonly seen: Seen[] = [];
  readonly #server: Server;
  readonly #queue: Behaviour[] = [];
  readonly #last: Behaviour;

  private constructor(last: Behaviour) {
    this.#last = last;
    this.#server = createServer((request, response) => {
      this.seen.push({ url: request.url ?? '', headers: request.headers });
      (this.#queue.shift() ?? this.#last)(request, response);
    });
  }

  /** The first requests meet the queued behaviours, every later one meets `last`. */
  static async start(last: Behaviour, ...queue: Behaviour[]): Promise<BrokenServer> {
    const server = new BrokenServer(last);
    server.#queue.push(...queue);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get base(): URL {
    return new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const startOf = (request: IncomingMessage) => Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);

/** A sound server: ranges, If-Range and 416. */
export function sound(
  bytes: Buffer,
  { etag = '"v1"', headers = {} }: { etag?: string; headers?: Record<string, string> } = {},
): Behaviour {
  return (request, response) => {
    const condition = request.headers['if-range'];
    const start = condition === undefined || condition === etag ? startOf(request) : 0;
    if (start >= bytes.length) {
      response.writeHead(416, { 'content-range': `bytes */${bytes.length}`, etag, ...headers }).end();
      return;
    }
    const part = bytes.subarray(start);
    const range = start > 0 ? { 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` } : {};
    response.writeHead(start > 0 ? 206 : 200, { 'content-length': part.length, etag, ...range, ...headers }).end(part);
  };
}

/** Sends some bytes of the rest and cuts the connection; an empty etag is not sent. */
export function cutAfter(bytes: Buffer, nBytes: number, etag = '"v1"'): Behaviour {
  return (request, response) => {
    const start = startOf(request);
    const range = start > 0 ? { 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` } : {};
    response.writeHead(start > 0 ? 206 : 200, { 'content-length': bytes.length - start, ...(etag && { etag }), ...range });
    response.write(bytes.subarray(start, start + nBytes), () => response.socket?.destroySoon());
  };
}

export function withoutRanges(bytes: Buffer): Behaviour {
  return (_request, response) => void response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
}

export function answer(status: number, headers: Record<string, string> = {}, body: Buffer | string = ''): Behaviour {
  return (_request, response) => void response.writeHead(status, headers).end(body);
}

export function redirect(location: string | URL, headers: Record<string, string> = {}): Behaviour {
  return answer(302, { location: String(location), ...headers });
}

/** Answers a range with bytes from somewhere else. */
export function wrongRange(bytes: Buffer): Behaviour {
  return (_request, response) => {
    response.writeHead(206, {
      'content-range': `bytes 1-${bytes.length - 1}/${bytes.length}`,
      'content-length': bytes.length - 1,
    });
    response.end(bytes.subarray(1));
  };
}

/** A body without end and without a length. */
export function endless(first: Buffer): Behaviour {
  return (_request, response) => {
    response.writeHead(200);
    response.write(first);
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(64 * 1024)));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  };
}

/** Sends the head and then nothing. */
export function silent(bytes: Buffer): Behaviour {
  return (_request, response) => void response.writeHead(200, { 'content-length': bytes.length }).flushHeaders();
}
