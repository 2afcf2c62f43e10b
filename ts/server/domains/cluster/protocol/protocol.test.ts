/** The rules of a node by themselves: whom it trusts, and what it takes for the state of the others. `npm run sim` has them in all that goes wrong. */
import t from 'tap';
import type { Role } from '../../../platform/module/module-names.ts';
import type { NodeEntry } from '../node-store.ts';
import { NodeCycle } from './node-cycle.ts';
import { NodeMap } from './node-map.ts';
import { stateOf } from './node-state.ts';
import { RENEW_MS, Renewal, SHOW_MS } from './renewal.ts';
import { Trust } from './trust.ts';
import { nodesToUpdate } from './update-order.ts';
import { spokenVersion, versionFor, WIRE_BEFORE, WIRE_VERSION, wireRefusal } from './wire-version.ts';

const ENTRY_MS = 90_000;
const told = {
  name: '',
  address: '',
  version: '',
  roles: '[]',
  modules: '[]',
  models: '[]',
  load: '{}',
  draining: 0,
  wire: 1,
  boot: '',
};
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

t.test('a node that is heard while the map is frozen counts as heard when it falls silent with others', async (t) => {
  const map = new NodeMap({ ownId: () => 'own', entryMs: ENTRY_MS });
  const states = (a: number, b: number, c: number) =>
    map.take([entry('a', a), entry('b', b), entry('c', c)]).map((each) => stateOf(each, ENTRY_MS));
  t.strictSame(states(1, 2, 60_000), ['ready', 'ready', 'suspect']);
  t.strictSame(states(95_000, 96_000, 61_000), ['ready', 'ready', 'suspect'], 'most of those that were heard fall silent');
  t.strictSame(states(96_000, 97_000, 1), ['ready', 'ready', 'ready']);
  t.strictSame(states(115_000, 1, 60_000), ['ready', 'ready', 'ready'], 'most again');
  t.equal(map.isFrozen, true);
  t.strictSame(states(116_000, 2, 3), ['gone', 'ready', 'ready']);
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
    facts: async () => ({}),
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

t.test('nodes that others depend on are updated first, and versions are compared by their numbers', async (t) => {
  const node = (id: string, version: string, ...roles: Role[]) => ({ id, version, roles });
  const order = (...nodes: ReturnType<typeof node>[]) => nodesToUpdate(nodes).map(({ id }) => id);
  t.strictSame(order(node('a', '5.0.9'), node('b', '5.0.9', 'inference')), [], 'all are alike');
  t.strictSame(
    order(
      node('works', '5.0.9', 'inference'),
      node('edge', '5.0.9', 'edge'),
      node('new', '5.0.10', 'controller'),
      node('head', '5.0.9', 'controller', 'edge'),
    ),
    ['head', 'edge', 'works'],
  );
  t.strictSame(order(node('a', '10.0.0'), node('b', '9.9.9')), ['b']);
  t.strictSame(order(), []);
});

t.test('a node speaks its wire version and the one before, and no other', async (t) => {
  const spoken = ['0', '1', '2', '3', '01', '2, 1', '', undefined].map((field) => spokenVersion(field));
  t.strictSame(spoken, [undefined, WIRE_BEFORE, WIRE_VERSION, undefined, undefined, undefined, undefined, undefined]);
  const asked = [undefined, '1', '2', '3', 'x'].map((field) => versionFor(field));
  t.strictSame(asked, [WIRE_BEFORE, WIRE_BEFORE, WIRE_VERSION, WIRE_VERSION, WIRE_BEFORE], 'a newer one speaks this one too');
  t.match(wireRefusal('3'), /versions 1 and 2, and was asked in 3: controllers and edge nodes are updated first/);
  t.notMatch(wireRefusal('<script>'), /script/);
});

t.test('a certificate is followed by one that the others know for days before it is shown', async (t) => {
  const expiresAt = 30 * 24 * 3_600_000;
  const calls: string[] = [];
  let now = expiresAt - RENEW_MS;
  let isAway = true;
  const following = { expiresAt: 2 * expiresAt };
  const renewal = new Renewal({
    now: () => now,
    next: async () => {
      calls.push('next');
      return following;
    },
    register: async () => {
      calls.push('register');
      if (isAway) throw new Error('nobody registers it now');
    },
    take: async () => void calls.push('take'),
  });
  const run = () => renewal.run({ expiresAt });
  t.strictSame([await run(), calls], [undefined, []], 'it has ten days left');
  now += 1;
  await t.rejects(run());
  isAway = false;
  t.equal(await run(), undefined);
  now = expiresAt - SHOW_MS - 1;
  t.equal(await run(), undefined, 'the old one is shown for as long as it can be');
  now += 1;
  t.equal(await run(), following);
  t.strictSame(calls, ['next', 'register', 'next', 'register', 'take']);
  t.equal(await renewal.run(following), undefined);

  now = expiresAt - 1;
  t.equal(await run(), undefined, 'one that is late is registered first, too');
  now += 5_000;
  t.equal(await run(), following);
});
