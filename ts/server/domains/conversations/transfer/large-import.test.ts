/** Imports that are large: nobody else waits for them. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import t from 'tap';
import { BodyBudget } from '../../../platform/http/body/body-collector.ts';
import type { ImportStore } from '../store/import-store.ts';
import { openConversationBed } from '../test-support/conversation-bed.ts';
import { ConversationReader } from './conversation-reader.ts';
import { importFile } from './importer.ts';

/** A conversation of ChatGPT's, whose nodes have names that are no ids. */
function manyNodes(nNodes: number): string {
  const nodes = Array.from({ length: nNodes }, (_, i) => `"node ${i}":{"parent":"node ${i - 1}"}`);
  const last = `"last":{"parent":"node 0","message":{"author":{"role":"user"},"content":{"parts":["hello"]}}}`;
  return `[{"id":"many","mapping":{${nodes.join(',')},${last}}}]`;
}

t.test('a conversation of many nodes is imported while the event loop goes on', async (t) => {
  const { ask } = await openConversationBed(t);
  const file = manyNodes(120_000);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const report = await ask('POST', 'import', file);
  delay.disable();
  t.match(report, { status: 200, body: { imported: 1, messages: 1, failed: [] } });
  const longestMs = delay.max / 1e6;
  t.ok(longestMs < 500, `the event loop stood for ${longestMs} ms`);
});

t.test('a conversation of more values than are read is refused by its index, and the next one is imported', async (t) => {
  const { ask } = await openConversationBed(t);
  const values = '{},'.repeat(1_000_001);
  const file = `[{"messages":[${values}{}]},{"id":"next","messages":[{"id":"m","role":"user","content":"hello"}]}]`;
  const { status, body } = await ask('POST', 'import', file);
  t.match({ status, body }, { status: 200, body: { imported: 1, messages: 1, failed: [{ index: 0 }] } });
  t.match(body.failed[0].reason, /more than 1000000 values/);
});

t.test('imports that arrive slowly hold a bounded number of bytes together, and give them back', async (t) => {
  const reader = new ConversationReader();
  t.teardown(() => reader.close());
  const store = { insert: async () => true } as unknown as ImportStore;
  const budget = new BodyBudget(4000);
  const owner = { tenant: 'red', subject: 'ann' } as Parameters<typeof importFile>[1];
  const send = (body: AsyncIterable<Uint8Array>) => importFile({ store, reader, budget }, owner, body, 0);
  const { promise: isGoingOn, resolve: goOn } = Promise.withResolvers<void>();
  const text = (nCharacters: number) => `{"id":"c","messages":[{"id":"m","role":"user","content":"${'x'.repeat(nCharacters)}"}]}`;
  async function* slow(): AsyncGenerator<Uint8Array> {
    const file = Buffer.from(`[${text(3000)}]`);
    yield file.subarray(0, 2500);
    await isGoingOn;
    yield file.subarray(2500);
  }
  async function* whole(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`[${text(2000)}]`);
  }
  const first = send(slow());
  await t.rejects(send(whole()), { code: 'storage_unavailable', message: /hold 4000 bytes together/ });
  goOn();
  t.match(await first, { imported: 1, failed: [] });
  t.match(await send(whole()), { imported: 1, failed: [] });
  t.ok(budget.reserve(4000), 'all of it is given back');
});
