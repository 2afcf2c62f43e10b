/** Tests send bytes over TLS as they are written, and requests over HTTP/2. */
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import type { Test } from 'tap';

interface RawAnswer {
  /** The status of the first response. */
  status: number;
  /** All that came until the connection ended, or was silent. */
  text: string;
  nResponses: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests match what they expect
  json: any;
}

/** Sends the bytes and reads until the other side closes, or is silent for `silenceMs` after it said something. */
export function sendRaw(port: number, bytes: string, silenceMs = 400): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] }, () =>
      socket.write(Buffer.from(bytes, 'latin1')),
    );
    let timer = setTimeout(() => socket.destroy(), 10_000);
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      clearTimeout(timer);
      timer = setTimeout(() => socket.destroy(), silenceMs);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(parse(Buffer.concat(chunks).toString('latin1')));
    });
  });
}

function parse(text: string): RawAnswer {
  const heads = text.match(/HTTP\/1\.[01] \d{3}/g) ?? [];
  const body = text.slice(text.indexOf('\r\n\r\n') + 4);
  const json = body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1);
  return { status: Number(heads[0]?.slice(-3) ?? 0), text, nResponses: heads.length, json: parseJson(json) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Arrival {
  atMs: number;
  text: string;
}

/** One request over HTTP/2; tells when each piece of the answer arrived. */
export async function askHttp2(t: Test, port: number, path: string, headers: Record<string, string> = {}) {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  t.teardown(() => session.destroy());
  const startedAt = performance.now();
  const stream = session.request({ ':path': path, ...headers });
  const arrivals: Arrival[] = [];
  let status = 0;
  stream.on('response', (head) => {
    status = Number(head[':status']);
  });
  for await (const chunk of stream) arrivals.push({ atMs: performance.now() - startedAt, text: String(chunk) });
  session.close();
  return { status, arrivals, text: arrivals.map(({ text }) => text).join('') };
}
