/** Requests over kept connections, with every header of the answer. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, unless it is a string. */
  readonly body?: unknown;
  /** Of a body that is a string. */
  readonly type?: string;
}

/** An answer that takes longer is a stream that would not end, which is a fault. */
const LIMIT_MS = 20_000;
/** Events may go on for ever, as those of a log do: what came until then is the answer. */
const EVENTS_MS = 2_000;

export class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8 });
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
  }

  send({ method, path, headers = {}, body, type: textType = 'application/octet-stream' }: Request): Promise<Answer> {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const type = typeof body === 'string' ? textType : 'application/json';
    const length = { 'content-type': type, 'content-length': String(Buffer.byteLength(text ?? '')) };
    const options = { host: '127.0.0.1', port: this.#port, method, path, agent: this.#agent };
    return new Promise((resolve, reject) => {
      const sent = request({ ...options, headers: { ...headers, ...(text !== undefined && length) } }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        const end = (): void =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() });
        response.on('end', end);
        if (!response.headers['content-type']?.startsWith('text/event-stream')) return;
        const leave = setTimeout(() => {
          end();
          sent.destroy();
        }, EVENTS_MS);
        response.on('close', () => clearTimeout(leave));
      });
      sent.setTimeout(LIMIT_MS, () => sent.destroy(new Error(`${method} ${path} did not end`)));
      sent.on('error', reject);
      sent.end(text);
    });
  }

  /** The JSON of an answer that must be a success. */
  async json(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: unknown,
    type?: string,
    // biome-ignore lint/suspicious/noExplicitAny: tests read what they made
  ): Promise<any> {
    const { status, text } = await this.send({ method, path, headers, body, ...(type !== undefined && { type }) });
    if (status >= 300) throw new Error(`${method} ${path} answers ${status}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  close(): void {
    this.#agent.destroy();
  }
}
