/**
 * One HTTP/1.1 request on a connection of its own, with as little work for each byte as a client can do: the body is handed on as it
 * arrives, chunk framing included, and is neither decoded nor copied. Node's own client costs several times as much for each chunk,
 * which on a small machine would be measured with the server.
 */
import { connect, type Socket } from 'node:net';
import type { TenantKeys } from '../load/tenant-keys.ts';

export interface Target {
  host: string;
  port: number;
  /** Keys of the server's tenants; absent: it asks for none. */
  keys?: TenantKeys;
}

export interface HttpRequest {
  method: 'GET' | 'POST';
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

interface ResponseHandler {
  onHead(status: number, headers: ReadonlyMap<string, string>): void;
  /** Valid during the call only; chunk framing is left in it. */
  onBody(bytes: Buffer): void;
  /** Whole: the answer is complete. Otherwise the connection ended or failed before that. Called once; never after abort(). */
  onEnd(isWhole: boolean): void;
}

/** Reads land here and are handled at once, so that all connections can share it. */
const readBuffer = Buffer.allocUnsafe(65_536);

export class Connection {
  readonly #socket: Socket;
  readonly #handler: ResponseHandler;
  #head = '';
  #isBody = false;
  /** Body bytes still to come; undefined for a chunked body, which ends with an empty chunk. */
  #remaining: number | undefined;
  #tail = '';
  #isOver = false;

  constructor({ host, port }: Target, request: HttpRequest, handler: ResponseHandler) {
    this.#handler = handler;
    const onread = { buffer: readBuffer, callback: (n: number, buffer: Uint8Array) => this.#read(buffer as Buffer, n) };
    this.#socket = connect({ host, port, noDelay: true, onread });
    this.#socket.on('error', () => this.#end(false));
    this.#socket.on('close', () => this.#end(false));
    this.#socket.write(requestText(host, request));
  }

  /** Goes away without a word; the handler hears nothing more. */
  abort(): void {
    this.#isOver = true;
    this.#socket.destroy();
  }

  #read(buffer: Buffer, length: number): boolean {
    if (this.#isBody) this.#readBody(buffer.subarray(0, length));
    else this.#readHead(buffer.subarray(0, length));
    return true;
  }

  #readHead(bytes: Buffer): void {
    this.#head += bytes.toString('latin1');
    const end = this.#head.indexOf('\r\n\r\n');
    if (end === -1 || this.#isOver) return;
    const [statusLine = '', ...lines] = this.#head.slice(0, end).split('\r\n');
    const headers = new Map(lines.map(splitHeader));
    const length = headers.get('content-length');
    this.#remaining = length === undefined ? undefined : Number(length);
    this.#isBody = true;
    this.#handler.onHead(Number(statusLine.split(' ')[1]), headers);
    this.#readBody(Buffer.from(this.#head.slice(end + 4), 'latin1'));
  }

  #readBody(bytes: Buffer): void {
    if (this.#isOver) return;
    if (bytes.length > 0) this.#handler.onBody(bytes);
    if (this.#remaining !== undefined) {
      this.#remaining -= bytes.length;
      if (this.#remaining <= 0) this.#end(true);
      return;
    }
    this.#tail = (this.#tail + bytes.toString('latin1', Math.max(0, bytes.length - lastChunk.length))).slice(-lastChunk.length);
    if (this.#tail === lastChunk) this.#end(true);
  }

  #end(isWhole: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket.destroy();
    this.#handler.onEnd(isWhole);
  }
}

const lastChunk = '\r\n0\r\n\r\n';

function splitHeader(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

function requestText(host: string, { method, path, headers = {}, body = '' }: HttpRequest): string {
  const all = {
    host,
    ...(body === '' ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}
