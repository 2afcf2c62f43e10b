/** The router on both databases: the rule, what is kept of its choices in each mode, and whose they are. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { DomainError } from '../../platform/errors/domain-error.ts';
import { until } from '../../platform/jobs/test-support/open-jobs.ts';
import { systemScope, tenantScope } from '../../platform/storage/index.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { readMemoryFile } from './files/memory-file.ts';
import { generator } from './forecast/world-model.ts';
import { madeConversations } from './router/test-support/made-conversations.ts';
import { admin, ann, callerOf, openMemory } from './test-support/memory-bed.ts';

const stranger = callerOf('eve', 'admin', { tenant: 'blue' });

function testRouter(t: Test, newDatabase: NewDatabase): void {
  const open = async (t: Test, mode = 'shadow') => {
    const bed = await openMemory(t, { databaseUrl: await newUrl(t, newDatabase), settings: { 'memory.router': mode } });
    const status = async (as = ann) =>
      (await bed.send('GET', '/api/v1/router-xlstm/status', { headers: { 'x-as': JSON.stringify(as) } })).body;
    const { signal } = new AbortController();
    const choose = (...cosines: number[][]) =>
      bed.api.router.choose(ann, { kind: 'knowledge', routes: ['bakery', 'harbour'], cosines, signal });
    return { ...bed, status, choose };
  };

  t.test('the last route is kept unless another one is clearly nearer', async (t) => {
    const { choose } = await open(t);
    const [bakery, harbour, hardly] = [
      [0.8, 0.2],
      [0.2, 0.8],
      [0.5, 0.5],
    ];
    t.match(await choose([0.1, 0.11]), { chosen: 'harbour' });
    t.match(await choose(bakery ?? []), { chosen: 'bakery', scores: [Number, Number] });
    t.match(await choose(bakery ?? [], hardly ?? []), { chosen: 'bakery', scores: [0.5, 0.5] });
    t.match(await choose(harbour ?? [], hardly ?? []), { chosen: 'harbour' });
    t.match(await choose(bakery ?? [], harbour ?? [], hardly ?? []), { chosen: 'harbour' });
    t.match(await choose(), { chosen: 'bakery', scores: [0.5, 0.5] }, 'the first, where nothing tells them apart');
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
      const route = await bed.choose([0.8, 0.2]);
      router.keep(ann, route, { conversationId: 'c1', messageId: outcome });
      router.end(ann, route, outcome);
    }
    const only = { kind: 'model', routes: ['m'], signal: new AbortController().signal } as const;
    router.keep(ann, await router.choose(ann, only), {});
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
    const route = await bed.choose([0.2, 0.8]);
    t.match(route, { chosen: 'harbour' }, 'the rule chooses all the same');
    bed.api.router.keep(ann, route, {});
    bed.api.router.end(ann, route, 'unheld');
    t.match(await bed.status(), { mode: 'off', decisions: 0, regret: 0 });
  });

  t.test(
    'what people did is judged and learned from, compared while in shadow, and decides where it is on and better',
    async (t) => {
      const databaseUrl = await newUrl(t, newDatabase);
      const bed = await openMemory(t, { databaseUrl, settings: { 'memory.router': 'on' } });
      const names = ['bakery', 'harbour', 'mill'];
      const said = new Map<string, object[]>();
      const conversations = {
        said: async function* () {},
        messages: async (owner: { subject: string }, id: string) => ({
          messages: owner.subject === 'user:ann' ? (said.get(id) ?? []) : [],
          isWhole: true,
        }),
      };
      bed.api.connect({ conversations: conversations as never, ask: async () => ({ choices: [] }) });
      const learn = async (as = callerOf('dev', 'developer')) => {
        const begun = await bed.send('POST', '/api/v1/router-xlstm/learn', { headers: { 'x-as': JSON.stringify(as) }, body: {} });
        if (begun.status !== 202) return begun;
        return await until(
          () => bed.jobs.get(tenantScope('red'), begun.body.job_id),
          ({ endedAt }) => endedAt !== undefined,
          100_000,
        );
      };
      t.match(await learn(ann), { status: 403 }, 'viewers read only');
      t.match(await learn(), { state: 'done', result: { decisions: 0, knowledge: null, model: null } });
      for (const [i, turns] of madeConversations(60, generator(3)).entries()) {
        const messages: object[] = [];
        for (const [t, { scores, right }] of turns.entries()) {
          const best = names[right[0] ?? 0];
          const chosen = names[scores.indexOf(Math.max(...scores))] ?? '';
          const id = `a${t}`;
          bed.api.router.keep(
            ann,
            {
              id: `rte_${String(i * 10 + t).padStart(6, '0')}`,
              kind: 'knowledge',
              routes: names,
              scores,
              chosen,
              floor: chosen,
              learned: undefined,
            },
            { conversationId: `c${i}`, messageId: id },
          );
          messages.push({ id: `q${t}`, role: 'user', content: 'What?', ts: 1, parentId: undefined });
          messages.push({
            id,
            role: 'assistant',
            content: 'That.',
            ts: 1,
            parentId: `q${t}`,
            citations: [{ namespace: chosen }],
          });
          // The person has it answered again by the right one.
          if (best !== chosen)
            messages.push({
              id: `b${t}`,
              role: 'assistant',
              content: 'This.',
              ts: 2,
              parentId: `q${t}`,
              citations: [{ namespace: best }],
            });
        }
        said.set(`c${i}`, messages);
      }
      const before = await bed.send('GET', '/api/v1/router-xlstm/status', { headers: { 'x-as': JSON.stringify(ann) } });
      t.match(before.body, { decisions: 300 });
      // One that began by itself may be on its way.
      await learn();
      const job = await learn();
      t.match(job, {
        state: 'done',
        result: { judged: 300, knowledge: { later: { learned: Number }, random: { floor: Number } }, model: null },
      });
      const { body } = await bed.send('GET', '/api/v1/router-xlstm/status', { headers: { 'x-as': JSON.stringify(ann) } });
      t.match(body, { loaded: true, file: 'router.exmm', source: 'tenant', mode: 'on' });
      t.ok(body.accuracy > body.floor && body.regret > 30, JSON.stringify(body));
      const path = join(bed.dataDir, 'memory', 'red', 'router.exmm');
      t.match(readMemoryFile(path), [{ kind: 'router', name: 'knowledge' }]);
      // One turn at which another base seems nearer: the rule follows it, and what was learned does not.
      const cosines = [...Array.from({ length: 4 }, () => [0.3, 0.1, 0.1]), [0.1, 0.3, 0.1]];
      const question = { kind: 'knowledge', routes: names, cosines, signal: new AbortController().signal } as const;
      t.match(await bed.api.router.choose(ann, question), { chosen: 'bakery', learned: 'bakery' });
      t.match(await bed.api.router.choose(stranger, question), { chosen: 'harbour', learned: undefined }, 'it is of the tenant');
      const superadmin = { 'x-as': JSON.stringify(callerOf('super', 'superadmin')) };
      const pinning = '/api/v1/cluster/storage/system-exmm';
      t.match(await bed.send('PUT', pinning, { headers: superadmin, body: { file: 'router.exmm' } }), { status: 200 });
      t.match(await bed.api.router.choose(stranger, question), { learned: 'bakery' }, 'what is pinned is for everybody');
      const { body: elsewhere } = await bed.send('GET', '/api/v1/router-xlstm/status', {
        headers: { 'x-as': JSON.stringify(stranger) },
      });
      t.match(elsewhere, { loaded: true, source: 'pinned', decisions: 0 });
      t.match(await learn(), { state: 'failed', error: { code: 'memory_file_pinned' } });
      t.match(await bed.send('DELETE', pinning, { headers: superadmin }), { status: 200 });
      writeFileSync(path, 'damaged');
      t.match(
        await bed.api.router.choose(ann, question),
        { chosen: 'harbour', learned: undefined },
        'the rule, where the file is damaged',
      );
      t.match(await learn(), { state: 'failed', error: { code: 'memory_file_invalid' } });
      rmSync(path);
      t.match((await bed.send('GET', '/api/v1/router-xlstm/status', { headers: { 'x-as': JSON.stringify(ann) } })).body, {
        source: 'none',
      });
    },
  );

  t.test('a model is chosen by what models were asked and answered well', async (t) => {
    const bed = await openMemory(t, { databaseUrl: await newUrl(t, newDatabase), settings: { 'memory.router': 'shadow' } });
    const topics = { small: 'rye bread and poppy cake of the bakery', large: 'proofs about prime numbers and primes' };
    const messages: object[] = [];
    const scores = [0.5, 0.5];
    for (let i = 0; i < 20; i++) {
      const best = i % 2 === 0 ? 'small' : 'large';
      const shared = {
        kind: 'model',
        routes: ['small', 'large'],
        scores,
        chosen: 'small',
        floor: 'small',
        learned: undefined,
      } as const;
      bed.api.router.keep(ann, { id: `rte_${i + 100}`, ...shared }, { conversationId: 'c', messageId: `a${i}` });
      messages.push({ id: `q${i}`, role: 'user', content: `${topics[best]} ${i}`, ts: 1 });
      messages.push({ id: `a${i}`, role: 'assistant', content: '', ts: 1, parentId: `q${i}`, model: 'small' });
      if (best === 'large')
        messages.push({ id: `b${i}`, role: 'assistant', content: '', ts: 2, parentId: `q${i}`, model: 'large' });
    }
    const conversations = { said: async function* () {}, messages: async () => ({ messages, isWhole: true }) };
    bed.api.connect({ conversations: conversations as never, ask: async () => ({ choices: [] }) });
    const ask = (...turns: string[]) =>
      bed.api.router.choose(ann, {
        kind: 'model',
        routes: ['small', 'large', 'unknown'],
        turns: () => turns,
        signal: new AbortController().signal,
      });
    t.match(await ask(topics.large), { chosen: 'small' }, 'the first one, before anything is known');
    const headers = { 'x-as': JSON.stringify(callerOf('dev', 'developer')) };
    const begun = await bed.send('POST', '/api/v1/router-xlstm/learn', { headers, body: {} });
    await until(
      () => bed.jobs.get(tenantScope('red'), begun.body.job_id),
      ({ endedAt }) => endedAt !== undefined,
      100_000,
    );
    t.match(await ask(topics.large), { chosen: 'large' });
    t.match(await ask(topics.large, topics.small), { chosen: 'small' });
    t.match(await ask(), { chosen: 'small', scores: [Number, Number, Number] });
    bed.model.failure = new DomainError('embedding_failed', 'The model is gone.');
    t.match(await ask(topics.large), { chosen: 'small' }, 'a chat is answered without what was learned');
  });
}

onEachDatabase(testRouter, { timeoutMs: 120_000 });
