/** A provider for tests: it speaks one dialect, fails as its script says, and counts what it bills. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';

/** The fault that one request meets. */
export type Fault =
  /** It is answered. */
  | 'none'
  /** The connection is taken, and nothing comes. */
  | 'silent'
  /** The connection is closed before a status. */
  | 'refuse'
  /** The head of a 200 and then nothing. */
  | 'hang'
  /** It comes in the middle of the second frame with content. */
  | 'cut'
  /** Nothing more behind the first frame with content. */
  | 'stall'
  /** The stream ends without its terminal event. */
  | 'no-end'
  /** A page in place of a stream. */
  | 'page'
  | 'broken-json'
  /** A 200 whose first frame is an error. */
  | 'error-frame'
  /** An error behind the first content. */
  | 'late-error'
  /** A frame of 100 MB. */
  | 'huge-frame'
  /** A byte a second, behind the first content. */
  | 'drip'
  /** All events, and no content. */
  | 'empty'
  /** The longest of the frames with content comes again and again, behind those before it. */
  | 'endless'
  /** A line without an end, behind the first content. */
  | 'endless-line'
  /** The usage is left out. */
  | 'no-usage'
  | { readonly status: number; readonly headers?: Record<string, string>; readonly message?: string };

/** The words that are said, and what is billed for it. */
interface Said {
  readonly reasoning?: string;
  readonly signature?: string;
  readonly texts: readonly string[];
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly finish?: 'stop' | 'length' | 'tool_calls';
  readonly tokens: Billed;
}

export interface Billed {
  readonly prompt: number;
  readonly cached: number;
  readonly written: number;
  readonly completion: number;
  readonly reasoning: number;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect
type Body = any;

export interface Dialect {
  readonly contentType: string;
  /** Which of the frames with content meets the fault; the ones before it have said something. Default: the second. */
  readonly faultAt?: number;
  /** Whether a request is for a chat; others are for the list of models, or what `other` answers. */
  isChat(path: string): boolean;
  models(names: readonly string[]): object;
  /** Each is written at once; `texts` of them carry content. */
  frames(said: Said, request: { path: string; body: Body }): { before: Frame[]; texts: Frame[]; usage: Frame[]; end: Frame[] };
  error(status: number, message: string): object;
  errorFrame(message: string): Frame;
  other?(path: string, body: Body): object | undefined;
}

type Frame = string | Buffer;

interface Asked {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Body;
}

export const BILLED: Billed = { prompt: 12, cached: 4, written: 0, completion: 3, reasoning: 0 };

export class ProviderServer {
  readonly asked: Asked[] = [];
  /** The tokens that every answer that was sent whole with its usage was billed. */
  readonly billed: Billed[] = [];
  /** Fields of the answers of status 200. */
  fields: Record<string, string> = {};
  /** The faults of the requests to come, in their order; then `defaultFault`. */
  script: Fault[] = [];
  /** A request meets it that no script is for. */
  defaultFault: Fault | (() => Fault) = 'none';
  /** Milliseconds before the first content, and between two frames. */
  pace: { readonly firstMs: number; readonly frameMs: number } | undefined;
  /** Keeps what was asked and billed; a long run would fill the memory with it. */
  keepsRecords = true;
  models: string[] = ['model-a', 'model-b'];
  /** Answers for what is no chat never end. */
  isEndlessElsewhere = false;
  /** Bytes of endless answers that were sent. */
  nEndlessBytes = 0;
  say: (body: Body) => Said = () => ({ texts: ['Hello', ' there', '.'], tokens: BILLED });
  /** Requests whose connection the client has closed before their answer's end. */
  nAborted = 0;
  readonly #dialect: Dialect;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port = 0;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  get nSockets(): number {
    return this.#sockets.size;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get chats(): Asked[] {
    return this.asked.filter(({ path }) => this.#dialect.isChat(path));
  }

  /** Again on the port of the first time. */
  async start(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const path = request.url ?? '';
    const body = text === '' ? undefined : (JSON.parse(text) as Body);
    if (this.keepsRecords) this.asked.push({ path, headers: request.headers, body });
    if (this.isEndlessElsewhere && !this.#dialect.isChat(path)) {
      response.writeHead(200, { 'content-type': 'application/json' });
      return void (await this.#repeat(response, Buffer.from('['.padEnd(256 * 1024, '0,'))));
    }
    const other = this.#dialect.other?.(path, body);
    if (other !== undefined)
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(other));
    if (!this.#dialect.isChat(path)) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(this.#dialect.models(this.models)));
      return;
    }
    response.on('close', () => {
      if (!response.writableFinished) this.nAborted += 1;
    });
    const { defaultFault: fault } = this;
    await this.#chat(path, body, response, this.script.shift() ?? (typeof fault === 'function' ? fault() : fault));
  }

  async #chat(path: string, body: Body, response: ServerResponse, fault: Fault): Promise<void> {
    if (fault === 'silent') return;
    if (fault === 'refuse') return void response.destroy();
    if (typeof fault === 'object') {
      const { status, headers = {}, message = `fault ${status}` } = fault;
      const error = JSON.stringify(this.#dialect.error(status, message));
      return void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(error);
    }
    if (fault === 'page')
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html><script>alert(1)</script></html>');
    response.writeHead(200, { 'content-type': this.#dialect.contentType, ...this.fields });
    response.flushHeaders();
    if (fault === 'hang') return;
    const said = this.say(body);
    const { before, texts, usage, end } = this.#dialect.frames(said, { path, body });
    const write = (frame: Frame): void => void response.write(frame);
    if (fault === 'error-frame') {
      write(this.#dialect.errorFrame('The engine is overloaded'));
      return void response.end();
    }
    for (const frame of before) write(frame);
    // As slow as it is then, to the end.
    const { pace } = this;
    if (pace !== undefined) await sleep(pace.firstMs);
    if (fault === 'huge-frame') return void (await writeHuge(response));
    if (fault === 'broken-json') {
      write(Buffer.from(String(texts[0])).subarray(0, -8));
      write('\n\n');
      return void response.end();
    }
    const longest = texts.toSorted((a, b) => b.length - a.length)[0];
    for (const [index, frame] of (fault === 'empty' ? [] : texts).entries()) {
      if (fault === 'endless' && frame === longest) return void (await this.#repeat(response, frame));
      if (fault === 'endless-line' && index === 1) return void (await this.#repeat(response, 'x'.repeat(64 * 1024)));
      if (index === (this.#dialect.faultAt ?? 1)) {
        // What came before is read by itself.
        await sleep(fault === 'none' ? 5 : 200);
        if (fault === 'cut') {
          write(Buffer.from(frame).subarray(0, Math.floor(Buffer.byteLength(frame) / 2)));
          await sleep(20);
          return void response.destroy();
        }
        if (fault === 'stall') return;
        if (fault === 'late-error') {
          write(this.#dialect.errorFrame('The engine is overloaded'));
          return void response.end();
        }
        if (fault === 'drip') return void (await drip(response, Buffer.from(frame)));
      }
      if (pace !== undefined && index > 0) await sleep(pace.frameMs);
      if (response.destroyed) return;
      write(frame);
    }
    if (fault === 'no-end') return void response.end();
    if (fault !== 'no-usage') for (const frame of usage) write(frame);
    for (const frame of end) write(frame);
    response.end();
    if (fault !== 'no-usage' && this.keepsRecords) this.billed.push(said.tokens);
  }

  /** Sends the frame until whoever reads it closes the connection. */
  async #repeat(response: ServerResponse, frame: Frame): Promise<void> {
    const counted = (): Frame => {
      this.nEndlessBytes += frame.length;
      return frame;
    };
    const frames = async function* (): AsyncGenerator<Frame> {
      for (;;) yield counted();
    };
    await pipeline(frames, response).catch(() => undefined);
  }
}

async function writeHuge(response: ServerResponse): Promise<void> {
  const piece = Buffer.alloc(1024 * 1024, 'x');
  response.write('data: {"');
  for (let i = 0; i < 100 && !response.destroyed; i++) {
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  }
}

async function drip(response: ServerResponse, frame: Buffer): Promise<void> {
  for (const byte of frame) {
    if (response.destroyed) return;
    response.write(Buffer.from([byte]));
    await sleep(1000);
  }
}

/** Ends with the test. */
export async function startProvider(t: Test, dialect: Dialect): Promise<ProviderServer> {
  const server = new ProviderServer(dialect);
  await server.start();
  t.teardown(() => server.stop());
  return server;
}
