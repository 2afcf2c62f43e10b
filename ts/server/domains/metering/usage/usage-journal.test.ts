import t from 'tap';
import { silentLog } from '../../../platform/module/test-support/scripted-context.ts';
import { StorageError, systemScope } from '../../../platform/storage/index.ts';
import { UsageJournal } from './usage-journal.ts';
import type { EndedRequest, UsageBatch, UsageStore } from './usage-store.ts';

type Outcome = 'written' | 'not_applied' | 'unknown, written' | 'unknown, lost' | 'late';

/** A database that does with each write what the test says, and then works. */
function scriptedStore(outcomes: Outcome[], during: () => void = () => undefined) {
  const written: UsageBatch[] = [];
  let last = 0;
  /** Its connection was given up, and its COMMIT is on its way. */
  let late: UsageBatch | undefined;
  const store: Pick<UsageStore, 'write' | 'lastBatch'> = {
    lastBatch: async () => last,
    write: async (_everyone, _node, number, batch) => {
      await new Promise((resolve) => setImmediate(resolve));
      during();
      const outcome = outcomes.shift() ?? 'written';
      if (late !== undefined) {
        last = number;
        written.push(late);
        late = undefined;
        throw new StorageError('constraint_violation', 'the batch is there');
      }
      if (outcome === 'late') late = batch;
      if (outcome === 'written' || outcome === 'unknown, written') {
        last = number;
        written.push(batch);
      }
      if (outcome === 'written') return;
      const known = outcome === 'not_applied' ? ('not_applied' as const) : ('unknown' as const);
      throw new StorageError('storage_unavailable', outcome, { outcome: known });
    },
  };
  const journal = new UsageJournal({ store: store as UsageStore, everyone: systemScope(), nodeId: () => 'n', log: silentLog });
  return { journal, written, endedIds: () => written.flatMap(({ ended }) => ended.map(({ id }) => id)) };
}

function ended(id: string): EndedRequest {
  const key = { tenant: 'red', user_id: 'u', key_id: 'k', model: 'm', operation: 'chat' };
  return { ...key, id, wasOpened: false, startedAt: 0, endedAt: 5, promptTokens: 1, cachedTokens: 0, completionTokens: 1 };
}

t.test('what comes while a write runs shares the next one', async (t) => {
  const { journal, written } = scriptedStore([]);
  await journal.start();
  const first = journal.end(ended('a'));
  await new Promise((resolve) => process.nextTick(resolve));
  await Promise.all([first, ...['b', 'c', 'd'].map((id) => journal.end(ended(id)))]);
  t.ok(written.length <= 2, `${written.length} writes`);
});

for (const [outcomes, isToldOfFailure] of [
  [['not_applied'], true],
  [['unknown, written'], false],
  [['unknown, lost'], false],
  [['unknown, lost', 'unknown, written'], false],
  [['unknown, lost', 'unknown, lost'], true],
  [['late'], false],
] as const) {
  t.test(`each request that ended is written once when a write is ${outcomes.join(', then ')}`, async (t) => {
    const { journal, endedIds } = scriptedStore([...outcomes]);
    await journal.start();
    const told = await Promise.allSettled([journal.end(ended('a')), journal.end(ended('b'))]);
    t.equal(told[0]?.status, isToldOfFailure ? 'rejected' : 'fulfilled');
    await journal.end(ended('c'));
    await journal.stop();
    t.strictSame(endedIds().sort(), ['a', 'b', 'c']);
  });
}

t.test('an answer that ends before its beginning is on disk is written once, as ended', async (t) => {
  const { journal, written } = scriptedStore([]);
  await journal.start();
  const { startedAt, endedAt, wasOpened, promptTokens, cachedTokens, completionTokens, ...key } = ended('a');
  const row = { ...key, started_at: 0, touched_at: 0, prompt_tokens: 1, completion_tokens: 1 };
  await Promise.all([journal.open(row), journal.end({ ...ended('a'), wasOpened: true })]);
  t.equal(written.length, 1);
  t.match(written[0], { opened: [], ended: [{ id: 'a', wasOpened: false }] });
});

t.test('while nothing can be written and much waits for it, nothing begins', async (t) => {
  const seen: boolean[] = [];
  const { journal, endedIds } = scriptedStore(
    Array.from({ length: 3 }, () => 'not_applied' as const),
    () => seen.push(journal.isBehind),
  );
  await journal.start();
  const told = await Promise.allSettled(Array.from({ length: 1200 }, (_, i) => journal.end(ended(`${i}`))));
  t.ok(told.every(({ status }) => status === 'rejected'));
  t.ok(journal.isBehind);
  await journal.flush().catch(() => undefined);
  while (journal.isBehind) await new Promise((resolve) => setTimeout(resolve, 20));
  await journal.stop();
  t.strictSame(seen, [false, true, true, true], 'nor does it while a write is tried');
  t.equal(new Set(endedIds()).size, 1200);
  t.equal(endedIds().length, 1200);
});
