/** The router on both databases: the rule, what is kept of its choices in each mode, and whose they are. */
import type { Test } from 'tap';
import { systemScope } from '../../platform/storage/index.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { admin, ann, callerOf, openMemory } from './test-support/memory-bed.ts';

const stranger = callerOf('eve', 'admin', { tenant: 'blue' });

function testRouter(t: Test, newDatabase: NewDatabase): void {
  const open = async (t: Test, mode = 'shadow') => {
    const bed = await openMemory(t, { databaseUrl: await newUrl(t, newDatabase), settings: { 'memory.router': mode } });
    const status = async (as = ann) =>
      (await bed.send('GET', '/api/v1/router-xlstm/status', { headers: { 'x-as': JSON.stringify(as) } })).body;
    const choose = (...cosines: number[][]) =>
      bed.api.router.choose({ kind: 'knowledge', routes: ['bakery', 'harbour'], cosines });
    return { ...bed, status, choose };
  };

  t.test('the last route is kept unless another one is clearly nearer', async (t) => {
    const { choose } = await open(t);
    const [bakery, harbour, hardly] = [
      [0.8, 0.2],
      [0.2, 0.8],
      [0.5, 0.5],
    ];
    t.match(choose([0.1, 0.11]), { chosen: 'harbour' });
    t.match(choose(bakery ?? []), { chosen: 'bakery', scores: [Number, Number] });
    t.match(choose(bakery ?? [], hardly ?? []), { chosen: 'bakery', scores: [0.5, 0.5] });
    t.match(choose(harbour ?? [], hardly ?? []), { chosen: 'harbour' });
    t.match(choose(bakery ?? [], harbour ?? [], hardly ?? []), { chosen: 'harbour' });
    t.match(choose(), { chosen: 'bakery', scores: [0.5, 0.5] }, 'the first, where nothing tells them apart');
  });

  t.test('choices are counted for their tenant alone, with what was regretted, and are erased with it', async (t) => {
    const bed = await open(t);
    const { router } = bed.api;
    const none = {
      loaded: false,
      file: null,
      source: 'none',
      mode: 'shadow',
      decisions: 0,
      accuracy: null,
      floor: null,
      regret: 0,
    };
    t.strictSame(await bed.status(), none);
    for (const outcome of ['held', 'unheld', 'changed'] as const) {
      const route = bed.choose([0.8, 0.2]);
      router.keep(ann, route, { conversationId: 'c1', messageId: outcome });
      router.end(ann, route, outcome);
    }
    router.keep(ann, router.choose({ kind: 'model', routes: ['m'], cosines: [] }), {});
    t.strictSame(await bed.status(), { ...none, decisions: 3, regret: 2 }, 'there is no choice of one alone');
    t.match(await bed.status(admin), { decisions: 3 });
    t.strictSame(await bed.status(stranger), none);
    t.match(await bed.status(callerOf('key', 'viewer', { scopes: ['chat:use'] })), { error: 'insufficient_scope' });
    const { belongings } = bed.host.owners.find(({ name }) => name === 'memory') ?? {};
    await belongings?.eraseAccount?.(systemScope(), 'bob');
    t.match(await bed.status(), { decisions: 3 });
    await belongings?.eraseAccount?.(systemScope(), 'ann');
    t.match(await bed.status(), { decisions: 0 });
  });

  t.test('nothing is kept while the router is off', async (t) => {
    const bed = await open(t, 'off');
    const route = bed.choose([0.2, 0.8]);
    t.match(route, { chosen: 'harbour' }, 'the rule chooses all the same');
    bed.api.router.keep(ann, route, {});
    bed.api.router.end(ann, route, 'unheld');
    t.match(await bed.status(), { mode: 'off', decisions: 0, regret: 0 });
  });
}

onEachDatabase(testRouter, { timeoutMs: 120_000 });
