/** The rules of a node by themselves: whom it trusts, and what it takes for the state of the others. `npm run sim` has them in all that goes wrong. */
import t from 'tap';
import type { NodeEntry } from '../node-store.ts';
import { NodeCycle } from './node-cycle.ts';
import { NodeMap } from './node-map.ts';
import { stateOf } from './node-state.ts';
import { Trust } from './trust.ts';

const ENTRY_MS = 90_000;
const told = { name: '', address: '', version: '', roles: '[]', modules: '[]', models: '[]', load: '{}', draining: 0, boot: '' };
const entry = (id: string, seenMsAgo: number, ended = 0): NodeEntry => ({ ...told, id, ended, heartbeat_ms: 30_000, seenMsAgo });

t.test('a list is trusted for so long from when it was asked for', async (t) => {
  let now = 0;
  const trust = new Trust<string>({ now: () => now, lastsMs: 10 });
  t.strictSame(trust.current, [], 'nobody, before any was read');
  trust.read(['a'], now);
  now = 9;
  t.strictSame([trust.current, trust.isCurrent], [['a'], true]);
  now = 10;
  t.strictSame([trust.current, trust.isCurrent], [[], false]);
  trust.read(['b'], 5);
  t.strictSame(trust.current, ['b'], 'an answer that was late counts from its question');
  now = 15;
  t.strictSame(trust.current, []);
});

t.test('nodes that fall silent one by one are lost; most at once freeze the map, until they are heard or too long', async (t) => {
  const map = new NodeMap({ ownId: () => 'own', entryMs: ENTRY_MS });
  const states = (...entries: NodeEntry[]) => map.take([entry('own', 0), ...entries]).map((each) => stateOf(each, ENTRY_MS));
  t.strictSame(states(entry('a', 1), entry('b', 2), entry('c', 3)), ['ready', 'ready', 'ready', 'ready']);
  t.strictSame(states(entry('a', 60_000), entry('b', 2), entry('c', 3)), ['ready', 'suspect', 'ready', 'ready']);
  t.equal(map.isFrozen, false);
  t.strictSame(states(entry('a', 1), entry('b', 2), entry('c', 3)), ['ready', 'ready', 'ready', 'ready']);
  t.strictSame(states(entry('a', 95_000), entry('b', 96_000), entry('c', 3)), ['ready', 'ready', 'ready', 'ready']);
  t.equal(map.isFrozen, true);
  t.strictSame(
    states(entry('a', 5, 1), entry('b', 96_000), entry('c', 3)),
    ['ready', 'gone', 'gone', 'ready'],
    'one that ended is gone',
  );
  t.equal(map.isFrozen, false, 'the other is no majority');
  t.strictSame(states(entry('b', 1), entry('c', 3), entry('d', 2), entry('e', 2)), Array(5).fill('ready'));
  t.strictSame(
    states(entry('b', 96_000), entry('c', 96_000), entry('d', 181_000), entry('e', 5)),
    ['ready', 'ready', 'ready', 'gone', 'ready'],
    'one that is lost for good does not make most of the others few',
  );
  t.strictSame(states(entry('b', 1), entry('c', 3)), ['ready', 'ready', 'ready']);
  t.strictSame(states(entry('b', 100_000), entry('c', 100_000)), ['ready', 'ready', 'ready']);
  t.strictSame(states(entry('b', 181_000), entry('c', 181_000)), ['ready', 'gone', 'gone'], 'nothing is frozen for ever');
  t.equal(map.isFrozen, false);
});

t.test('a process that hears another of its node twice, which was there before it, knows itself for the copy', async (t) => {
  let row = 'first';
  let nTwins = 0;
  const cycle = new NodeCycle({
    heartbeatMs: 0,
    entryMs: ENTRY_MS,
    now: () => 0,
    beat: async ({ boot }) => {
      const last = row;
      row = boot;
      return last;
    },
    lead: async () => undefined,
    nodes: async () => [],
    mayLead: () => false,
    describe: async () => ({ ...told, id: 'a', ended: 0, heartbeat_ms: 30_000, boot: 'second' }),
    facts: () => ({}),
    onLead: async () => undefined,
    onTwin: () => {
      nTwins += 1;
    },
  });
  await cycle.tell();
  await cycle.tell();
  row = 'first';
  await cycle.tell();
  t.equal(nTwins, 0, 'one may have been under way when its process ended');
  row = 'third';
  await cycle.tell();
  t.equal(nTwins, 0, 'one that came later ends itself');
  row = 'first';
  await cycle.tell();
  t.equal(nTwins, 1);
});
