import t from 'tap';
import { TokenizerQueue } from './tokenizer-queue.ts';

const limits = { maxTextBytes: 1_000_000, maxRunning: 1, maxBytes: 3_000_000, maxTenantBytes: 2_000_000 };
const { signal } = new AbortController();

function gated(): { work: () => Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { work: () => promise, open: resolve };
}

t.test('a text that is too long is refused by its bytes, and never read', async (t) => {
  const queue = new TokenizerQueue(limits);
  const work = () => Promise.reject(new Error('it was read'));
  await t.rejects(queue.run('a', 1_000_001, signal, work), { code: 'invalid_request', message: /1000001 bytes/ });
});

t.test('what waits is bounded, for one tenant and for all; short texts pass', async (t) => {
  const queue = new TokenizerQueue(limits);
  const gate = gated();
  const running = [queue.run('a', 1_000_000, signal, gate.work), queue.run('a', 1_000_000, signal, gate.work)];
  await t.rejects(queue.run('a', 70_000, signal, gate.work), { code: 'queue_full', retryAfterMs: 1000 });
  running.push(queue.run('b', 1_000_000, signal, gate.work));
  await t.rejects(queue.run('c', 70_000, signal, gate.work), { code: 'queue_full' });
  t.equal(await queue.run('c', 60_000, signal, async () => 'short'), 'short');
  gate.open();
  await Promise.all(running);
  t.equal(await queue.run('c', 1_000_000, signal, async () => 'room again'), 'room again');
});

t.test('tenants take turns, and what was given up in the queue is not read', async (t) => {
  const queue = new TokenizerQueue(limits);
  const gate = gated();
  const order: string[] = [];
  const note = (name: string) => async () => void order.push(name);
  const abort = new AbortController();
  const all = [
    queue.run('a', 100_000, signal, gate.work),
    queue.run('a', 100_000, signal, note('a1')),
    queue.run('a', 100_000, signal, note('a2')),
    queue.run('b', 100_000, signal, note('b1')),
    t.rejects(queue.run('b', 100_000, abort.signal, note('b2')), { name: 'AbortError' }),
  ];
  abort.abort();
  gate.open();
  await Promise.all(all);
  t.strictSame(order, ['a1', 'b1', 'a2']);
});

t.test('work that fails leaves its place', async (t) => {
  const queue = new TokenizerQueue(limits);
  await t.rejects(
    queue.run('a', 100_000, signal, () => Promise.reject(new Error('x'))),
    { message: 'x' },
  );
  t.equal(await queue.run('a', 100_000, signal, async () => 1), 1);
});
