/** A random client makes visits: each is one connection's worth of trouble, and reports the answers that it got. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { SeededRandom } from '../../models/random/seeded-random.ts';
import type { Headers } from '../matrix/credentials.ts';
import { broken, rightRequest, spoiled } from './bodies.ts';
import type { Answer } from './contract.ts';

/** Where one visits, and as whom. */
export interface Site {
  readonly url: string;
  readonly headers: Headers;
}

export type Visit = (site: Site, random: SeededRandom) => Promise<Answer[]>;

export async function ask(
  site: Site,
  method: string,
  path: string,
  body?: string,
  headers: Record<string, string> = {},
): Promise<Answer[]> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const init = { headers: { ...site.headers, ...type, ...headers }, ...(body !== undefined && { body }) };
  try {
    const response = await fetch(site.url + path, { method, ...init, signal: AbortSignal.timeout(60_000) });
    const retryAfter = response.headers.get('retry-after') ?? undefined;
    return [{ method, path: withoutQuery(path), status: response.status, body: await response.text(), retryAfter }];
  } catch (error) {
    throw new Error(`${method} ${path} got no answer to ${body?.slice(0, 300)}`, { cause: error });
  }
}

function withoutQuery(path: string): string {
  return path.split('?')[0] ?? '';
}

const behave: Visit = (site, random) => {
  const [path, body] = rightRequest(random);
  return ask(site, 'POST', path, JSON.stringify(body));
};

const spoil: Visit = (site, random) => {
  const [path, body] = rightRequest(random);
  return ask(site, 'POST', path, spoiled(random, body));
};

const breakJson: Visit = (site, random) => {
  const [path, body] = rightRequest(random);
  return ask(site, 'POST', path, broken(random, body), random.chance(0.2) ? { 'content-type': 'text/plain' } : {});
};

const wander: Visit = (site, random) => {
  const path = random.pick([
    '/nothing',
    '/v1/models/x',
    '/api/v1/nothing',
    '/v1/completions',
    '/v1/chat/completions',
    '/%00',
    '/a/../b',
  ]);
  return ask(site, random.pick(['GET', 'POST', 'PUT', 'DELETE', 'PATCH']), path);
};

const look: Visit = (site, random) =>
  ask(site, 'GET', random.pick(['/livez', '/readyz', '/health', '/metrics', '/v1/models', '/api/v1/models']));

/** Opens a stream and leaves: before the first byte, or after some. */
const hangUp: Visit = async (site, random) => {
  const [path, body] = rightRequest(random);
  const leave = new AbortController();
  const response = fetch(site.url + path, {
    method: 'POST',
    headers: { ...site.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, stream: true, max_tokens: 500 }),
    signal: leave.signal,
  });
  if (random.chance(0.5)) setImmediate(() => leave.abort());
  try {
    await (await response).body?.getReader().read();
  } catch (error) {
    if (!leave.signal.aborted) throw error;
  }
  leave.abort();
  return [];
};

/** Requests that are answered at once, in one segment: as many answers must come back, in order. */
const pipeline: Visit = async (site) => {
  const text = await sendTogether(site, ['/livez', '/metrics', '/nothing', '/livez'], 4);
  if (statuses(text).join() !== '200,200,404,200')
    throw new Error(`pipelined requests were answered ${statuses(text).join()}: ${text.slice(0, 300)}`);
  return [];
};

/**
 * A request behind one that still works. uWebSockets.js closes the connection then, before any of our code runs, and a client has
 * to send again what was not answered (RFC 9112, section 9.3.2): fewer answers are fine, wrong ones are not.
 */
const pipelineBehindWork: Visit = async (site) => {
  const text = await sendTogether(site, ['/livez', '/v1/models', '/livez'], 3);
  if (!['', '200', '200,200', '200,200,200'].includes(statuses(text).join()))
    throw new Error(`pipelined requests were answered ${text.slice(0, 300)}`);
  return [];
};

async function sendTogether(site: Site, paths: readonly string[], nExpected: number): Promise<string> {
  const socket = connect(Number(new URL(site.url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(paths.map((path) => getRequest(site, path)).join(''));
  let text = '';
  for await (const chunk of socket) {
    text += String(chunk);
    if (statuses(text).length === nExpected && text.endsWith('}')) break;
  }
  socket.destroy();
  return text;
}

export function getRequest({ headers }: Site, path: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}\r\n`;
}

function statuses(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
}

/** Half a request, then silence and a cut. */
const stall: Visit = async (site, random) => {
  const socket = connect(Number(new URL(site.url).port), '127.0.0.1');
  await once(socket, 'connect');
  const head =
    'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"model":';
  socket.write(head.slice(0, 1 + random.integer(head.length)), () => socket.destroy());
  await once(socket, 'close');
  return [];
};

export type WeightedVisit = readonly [name: string, weight: number, visit: Visit];

/** Name and weight of each kind of visit that is no attack: what a busy server has anyway. */
export const ordinaryVisits: readonly WeightedVisit[] = [
  ['right', 30, behave],
  ['spoiled', 30, spoil],
  ['broken', 12, breakJson],
  ['wandering', 6, wander],
  ['looking', 6, look],
  ['hanging up', 10, hangUp],
  ['pipelined', 3, pipeline],
  ['pipelined behind work', 2, pipelineBehindWork],
  ['stalled', 3, stall],
];
