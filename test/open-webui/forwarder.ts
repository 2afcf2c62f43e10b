/** Stands between a program and a server, passes everything on, and remembers what was asked of chats. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

interface AskedChat {
  readonly model: string;
  readonly nTools: number;
  readonly status: number;
  /** The reason why its tools were left out, if they were. */
  readonly ignored: string | undefined;
}

export class Forwarder {
  readonly chats: AskedChat[] = [];
  readonly #upstream: string;
  readonly #server = createServer((request, response) => {
    this.#forward(request, response).catch((error: Error) => response.destroy(error));
  });

  static async start(upstream: string): Promise<Forwarder> {
    const forwarder = new Forwarder(upstream);
    forwarder.#server.listen(0, '127.0.0.1');
    await once(forwarder.#server, 'listening');
    return forwarder;
  }

  private constructor(upstream: string) {
    this.#upstream = upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const body = Buffer.concat(await request.toArray());
    const type = request.headers['content-type'];
    const answer = await fetch(this.#upstream + url, {
      method,
      ...(type === undefined ? {} : { headers: { 'content-type': type } }),
      ...(body.length === 0 ? {} : { body }),
    });
    if (url.endsWith('/chat/completions')) this.#remember(body, answer);
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' });
    if (answer.body === null) response.end();
    else Readable.fromWeb(answer.body as never).pipe(response);
  }

  #remember(body: Buffer, { status, headers }: Response): void {
    const { model, tools } = JSON.parse(body.toString()) as { model: string; tools?: unknown[] };
    this.chats.push({ model, nTools: tools?.length ?? 0, status, ignored: headers.get('x-svc-tools-ignored') ?? undefined });
  }
}
