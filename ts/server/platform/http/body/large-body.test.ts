import t, { type Test } from 'tap';
import { MetricsRegistry } from '../../metrics/registry.ts';
import { defineTask } from '../../pool/task-spec.ts';
import { WorkerPool } from '../../pool/worker-pool.ts';
import { json } from '../route.ts';
import { Acted, read, type run } from '../test-support/reading-task.ts';
import { openTestBed, plainRoute, RawClient, type TestBed } from '../test-support/test-bed.ts';
import { joinBytes } from './body-collector.ts';
import { LARGE_BODY_BYTES } from './large-body.ts';
import type { QueuedBytes } from './queued-bytes.ts';

const task = defineTask<typeof run>('reading', new URL('../test-support/reading-task.ts', import.meta.url));

/** Answers how the text came and how long it is. */
const acting = plainRoute(
  'POST',
  '/act',
  ({ body }) => {
    const { text } = body as { text: string | Uint8Array | QueuedBytes };
    if (typeof text === 'string') return json(200, { came: 'inline', length: text.length });
    const bytes = text instanceof Uint8Array ? text : joinBytes({ port: text.port, last: new Uint8Array() });
    return json(200, { came: text instanceof Uint8Array ? 'bytes' : 'queued', length: bytes.length });
  },
  { maxBody: 16 * 1024 * 1024, body: Acted, reading: { read, thread: { task, reader: '' } } },
);

function open(t: Test, pool?: WorkerPool): Promise<TestBed> {
  if (pool) t.teardown(() => pool.close(0));
  return openTestBed(t, [acting], pool ? { pool } : {});
}

async function post(url: string, body: unknown): Promise<{ status: number; json: unknown }> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/act`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: answer.status, json: await answer.json() };
}

const large = 'x'.repeat(LARGE_BODY_BYTES);

t.test('a body is read inline up to a size, and in a thread beyond it', async (t) => {
  const { url } = await open(t);
  for (const [length, came] of [
    [10, 'inline'],
    [LARGE_BODY_BYTES - 100, 'inline'],
    [LARGE_BODY_BYTES, 'bytes'],
    [9_000_000, 'queued'],
  ] as const) {
    t.strictSame(await post(url, { act: 'none', text: 'x'.repeat(length) }), { status: 200, json: { came, length } });
  }
});

t.test('a refusal in a thread is the one that it is inline', async (t) => {
  const { url } = await open(t);
  for (const more of [{ act: 'refuse' }, { act: 1 }]) {
    const inline = await post(url, { text: 'short', ...more });
    t.ok(inline.status >= 400);
    t.strictSame(await post(url, { text: large, ...more }), inline);
  }
});

t.test('a thread that dies costs its own request, with 500, and one that takes too much memory, with 413', async (t) => {
  const { url } = await open(t, new WorkerPool({ nThreads: 2, maxMemoryMb: 128, maxQueue: 4 }));
  const beside = Array.from({ length: 4 }, () => post(url, { act: 'none', text: large }));
  t.match(await post(url, { act: 'exit', text: large }), { status: 500, json: { error: 'internal' } });
  t.match(await post(url, { act: 'grow', text: large }), { status: 413, json: { error: 'body_too_costly' } });
  for (const { status } of await Promise.all(beside)) t.equal(status, 200);
  t.equal((await post(url, { act: 'none', text: large })).status, 200);
});

t.test('bodies beyond the queue are refused with 503, and small ones go on', async (t) => {
  const { url } = await open(t, new WorkerPool({ nThreads: 1, maxMemoryMb: 512, maxQueue: 1 }));
  const answers = await Promise.all(Array.from({ length: 6 }, () => post(url, { act: 'none', text: large })));
  const statuses = answers.map(({ status }) => status);
  t.ok(statuses.includes(200) && statuses.includes(503), String(statuses));
  t.equal((await post(url, { act: 'none', text: 'x' })).status, 200);
});

t.test('a client that goes away ends the reading of its body', async (t) => {
  const metrics = new MetricsRegistry();
  const bed = await open(t, new WorkerPool({ nThreads: 1, maxMemoryMb: 4096, maxQueue: 1, metrics }));
  const body = JSON.stringify({ act: 'grow', text: large });
  const client = await RawClient.open(t, bed.port);
  client.send(`POST /act HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  while (!metrics.expose().includes('svc_pool_busy_threads 1')) await new Promise((resolve) => setTimeout(resolve, 5));
  client.socket.destroy();
  t.equal((await post(bed.url, { act: 'none', text: large })).status, 200);
});
