/** Imports that are large: nobody else waits for them. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import t from 'tap';
import { openConversationBed } from '../test-support/conversation-bed.ts';

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
