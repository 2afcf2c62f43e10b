/** What holds of knowledge bases on both databases, over HTTP. Each test has a database of its own. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Test } from 'tap';
import { DomainError } from '../../platform/errors/domain-error.ts';
import { ANONYMOUS, type Principal } from '../../platform/http/principal.ts';
import { until } from '../../platform/jobs/test-support/open-jobs.ts';
import { systemScope } from '../../platform/storage/index.ts';
import { type NewDatabase, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { BaseStore } from './store/base-store.ts';
import { type KnowledgeBed, type KnowledgeBedOptions, openKnowledgeBed } from './test-support/knowledge-bed.ts';

const LIGHTHOUSE = 'The lighthouse of Karvo was built in 1893 and is 41 metres high. Its keeper is Mira Doll.';
const LOUD = 'Lighthouse! There is some lighthouse! Somewhere! Nobody has ever seen it!';
const BAKERY = 'The bakery in the harbour street sells rye bread and poppy cake every morning from six.';

const sources = ({ body }: { body: { results: { source: string }[] } }) => body.results.map(({ source }) => source);

/** Of a size that is indexed by a job, with the sentence at its end. */
function largeText(sentence: string): string {
  const paragraphs = Array.from(
    { length: 5_000 },
    (_, i) => `Paragraph ${i} tells of nothing but sand, wind and the number ${i * 7}.`,
  );
  return [...paragraphs, sentence].join('\n\n');
}

function testKnowledgeContract(t: Test, newDatabase: NewDatabase): void {
  const open = (t: Test, options: KnowledgeBedOptions = {}) => openKnowledgeBed(t, newDatabase, options);

  t.test('how near a turn is to a base is said of bases that the caller may use, and that are there', async (t) => {
    const uses = {
      of:
        ({ limits }: Principal) =>
        (name: string) =>
          limits?.['namespaces']?.includes(name) ?? true,
    };
    const bed = await open(t, { uses });
    const say = (turns: readonly string[], more: Partial<Principal> = {}) => {
      const caller: Principal = {
        ...ANONYMOUS,
        tenant: 'red',
        subject: 'ann',
        kind: 'session',
        scopes: ['knowledge:read'],
        ...more,
      };
      return bed.api.answers.nearness(caller, turns, new AbortController().signal);
    };
    const turns = ['The lighthouse of Karvo was built in 1893', 'rye bread and poppy cake every morning from six'];
    t.strictSame(await say(turns), { names: [], cosines: [] });
    await bed.add('lighthouse.txt', LIGHTHOUSE);
    const nCalls = bed.model.nCalls;
    t.strictSame(await say(turns), { names: ['kb'], cosines: [] });
    t.equal(bed.model.nCalls, nCalls, 'nothing is embedded where there is one base');
    await bed.add('bakery.txt', BAKERY, { namespace: 'bakery' });
    await bed.ask('POST', 'namespaces/red', { namespace: 'empty' });
    const { names, cosines } = await say(turns);
    t.strictSame(names, ['bakery', 'kb']);
    t.ok((cosines[0]?.[1] ?? 0) > (cosines[0]?.[0] ?? 0) && (cosines[1]?.[0] ?? 0) > (cosines[1]?.[1] ?? 0), `${cosines}`);
    t.strictSame(await say(turns, { limits: { namespaces: ['bakery'] } }), { names: ['bakery'], cosines: [] });
    t.strictSame(await say(turns, { tenant: 'blue' }), { names: [], cosines: [] }, 'bases of another tenant');
    for (const role of ['viewer', 'developer', 'admin', 'superadmin'] as const)
      t.strictSame((await say(turns, { roles: [role] })).names, names, `as ${role}`);
    await t.rejects(say(turns, { scopes: ['chat:use'] }), { code: 'insufficient_scope' });
    bed.model.failure = new DomainError('embedding_failed', 'The model is gone.');
    await t.rejects(say(turns), { code: 'embedding_failed' });
    bed.model.failure = undefined;
    await bed.add('more.txt', BAKERY, { namespace: 'kb' });
    t.not((await say(turns)).cosines[1]?.[1], cosines[1]?.[1], 'what is added counts');
    t.equal((await bed.ask('DELETE', 'namespaces/red/bakery/documents', undefined, 'red/root/admin')).status, 200);
    t.strictSame(await say(turns), { names: ['kb'], cosines: [] }, 'a base that is deleted is none');
  });

  t.test('a text is added, found with its place, listed, read and deleted', async (t) => {
    const { add, ask, search } = await open(t);
    const added = await add('docs/karvo.md', `# Karvo\n\n${LIGHTHOUSE}`, { tags: ['sea'] });
    t.match(added, { status: 201, body: { namespace: 'kb', source: 'docs/karvo.md', chunks: 1, embedding_model: 'words' } });
    await add('bakery.txt', BAKERY);
    const found = await search('Who keeps the lighthouse?');
    t.match(found, { status: 200, body: { took_ms: Number } });
    t.match(found.body.results[0], {
      document_id: added.body.id,
      source: 'docs/karvo.md',
      heading: 'Karvo',
      title: 'Karvo',
      score: Number,
      lexical_score: Number,
      dense_score: Number,
    });
    const detail = await ask('GET', `documents/red/kb/${added.body.id}`);
    const { start, end, text } = found.body.results[0];
    t.equal(detail.body.text.slice(start, end), text);
    t.match((await ask('GET', 'namespaces/red/kb/documents')).body.data, [
      { source: 'docs/karvo.md', kind: 'markdown', tags: ['sea'], chunks: 1 },
      { source: 'bakery.txt', kind: 'text', tags: [] },
    ]);
    t.match((await ask('GET', 'namespaces/red')).body, {
      data: [
        { namespace: 'kb', documents: 2, chunks: 2, embedding_model: 'words', bytes: LIGHTHOUSE.length + BAKERY.length + 9 },
      ],
    });
    t.match(await ask('DELETE', `documents/red/kb/${added.body.id}`), { status: 200, body: { deleted: true } });
    t.strictSame(sources(await search('Who keeps the lighthouse?')), ['bakery.txt']);
    t.equal((await ask('GET', `documents/red/kb/${added.body.id}`)).status, 404);
    t.match((await ask('DELETE', `documents/red/kb/${added.body.id}`)).body, { error: 'document_not_found' });
  });

  t.test('the same source replaces, and the same text changes nothing', async (t) => {
    const { add, search, model } = await open(t);
    const first = await add('a.txt', LIGHTHOUSE);
    t.match(await add('a.txt', LIGHTHOUSE), { status: 200, body: { id: first.body.id } });
    t.equal(model.texts.length, 1, 'it was embedded once');
    const second = await add('a.txt', BAKERY);
    t.equal(second.status, 201);
    t.not(second.body.id, first.body.id);
    t.strictSame(
      (await search('lighthouse keeper')).body.results.map(({ text }: { text: string }) => text),
      [BAKERY],
    );
    t.match(await add('a.txt', BAKERY, { title: 'Bread' }), { status: 201 });
    t.match((await search('rye bread')).body.results, [{ title: 'Bread' }]);
  });

  t.test('of many who add the same source at once, one is there', async (t) => {
    const { add, ask, search } = await open(t);
    const answers = await Promise.all(Array.from({ length: 6 }, (_, i) => add('a.txt', `${LIGHTHOUSE} Version ${i}.`)));
    t.ok(answers.every(({ status }) => status === 201));
    t.equal((await ask('GET', 'namespaces/red/kb/documents')).body.data.length, 1);
    t.equal((await search('lighthouse')).body.results.length, 1);
  });

  t.test('a large text is indexed in the background, and until then the one before it answers', async (t) => {
    const { add, ask, search, model, jobEnd } = await open(t);
    await add('long.txt', LIGHTHOUSE);
    let release = () => {};
    model.pause = new Promise((resolve) => {
      release = resolve;
    });
    const queued = await add('long.txt', largeText('At the very end a heron stands in the reeds.'));
    t.match(queued, { status: 202, body: { job_id: String } });
    t.match((await search('lighthouse', { mode: 'lexical' })).body.results, [{ text: LIGHTHOUSE }]);
    model.pause = undefined;
    release();
    const job = await jobEnd(queued.body.job_id);
    t.match(job, {
      state: 'done',
      result: { source: 'long.txt', namespace: 'kb', embedding_model: 'words' },
      progress: { unit: 'passages' },
    });
    t.match(job.result.chunks > 100, true);
    t.match((await search('heron in the reeds')).body.results[0].text, /heron/);
    t.strictSame((await search('keeper Karvo', { mode: 'lexical' })).body.results, []);
    t.match((await ask('GET', 'namespaces/red')).body.data, [{ documents: 1, chunks: job.result.chunks }]);
  });

  t.test('an older version that is indexed late does not replace a newer one', async (t) => {
    const { add, ask, search, model, jobEnd } = await open(t);
    const slow = Promise.withResolvers<void>();
    model.pause = slow.promise;
    const older = await add('a.txt', largeText('At the very end a heron stands in the reeds.'));
    t.equal(older.status, 202);
    await until(
      () => model.nCalls,
      (nCalls) => nCalls > 0,
    );
    model.pause = undefined;
    const newer = await add('a.txt', LIGHTHOUSE);
    t.equal(newer.status, 201);
    slow.resolve();
    t.match(await jobEnd(older.body.job_id), { state: 'done', result: { state: 'superseded', detail: /newer version/ } });
    t.match((await ask('GET', 'namespaces/red/kb/documents')).body.data, [{ id: newer.body.id }]);
    t.match((await search('lighthouse keeper')).body.results, [{ text: LIGHTHOUSE }]);
    t.strictSame((await search('heron reeds', { mode: 'lexical' })).body.results, []);
  });

  t.test('of two large versions of a source, the one that was added last stays, whichever is indexed first', async (t) => {
    const { add, ask, search, model, jobEnd } = await open(t);
    const slow = Promise.withResolvers<void>();
    model.pause = slow.promise;
    const older = await add('a.txt', largeText('At the very end a heron stands in the reeds.'));
    await until(
      () => model.nCalls,
      (nCalls) => nCalls > 0,
    );
    model.pause = undefined;
    const newer = await add('a.txt', largeText('At the very end an otter sleeps on the stones.'));
    t.equal(newer.status, 202);
    t.match(await jobEnd(newer.body.job_id), { state: 'done', result: { state: 'indexed' } });
    slow.resolve();
    t.match(await jobEnd(older.body.job_id), { state: 'done', result: { state: 'superseded' } });
    t.equal((await ask('GET', 'namespaces/red/kb/documents')).body.data.length, 1);
    t.match((await search('otter on the stones')).body.results[0].text, /otter/);
  });

  t.test(
    'a text that is added again while another version waits is the newest, and none comes back after a deletion',
    async (t) => {
      const { add, ask, search, model, jobEnd } = await open(t);
      const first = await add('a.txt', LIGHTHOUSE);
      const slow = Promise.withResolvers<void>();
      model.pause = slow.promise;
      const waiting = await add('a.txt', largeText('At the very end a heron stands in the reeds.'));
      await until(
        () => model.nCalls,
        (nCalls) => nCalls > 1,
      );
      model.pause = undefined;
      const again = await add('a.txt', LIGHTHOUSE);
      t.equal(again.status, 201);
      t.not(again.body.id, first.body.id);
      await ask('DELETE', `documents/red/kb/${again.body.id}`);
      slow.resolve();
      t.match(await jobEnd(waiting.body.job_id), { state: 'failed', error: { code: 'document_not_found' } });
      t.strictSame((await search('heron in the reeds')).body.results, []);
    },
  );

  t.test('indexing in the background goes on after an embedding service was away for minutes', async (t) => {
    const clock = { aheadMs: 0 };
    const { add, search, model, jobEnd, passOver } = await open(t, { clock });
    model.failure = new DomainError('model_loading', 'The model is being loaded.', { retryAfterMs: 45_000 });
    const { body } = await add('long.txt', largeText('At the very end a heron stands in the reeds.'));
    for (let failures = 1; failures <= 5; failures++)
      t.match(await passOver(body.job_id, failures), { error: { code: 'embedding_failed', message: /being loaded/ } });
    t.ok(clock.aheadMs > 120_000, `it waited for ${clock.aheadMs} ms`);
    model.failure = undefined;
    t.match(await jobEnd(body.job_id), { state: 'done' });
    t.match((await search('heron in the reeds')).body.results[0].text, /heron/);
  });

  t.test('bases are made, bound to their model, emptied and removed', async (t) => {
    const { add, ask, search } = await open(t);
    const created = await ask('POST', 'namespaces/red', { namespace: 'Küche & Co', embedding_model: 'other' });
    t.match(created, { status: 201, body: { namespace: 'Küche & Co', embedding_model: 'other', documents: 0 } });
    t.match(await ask('POST', 'namespaces/red', { namespace: 'Küche & Co' }), {
      status: 409,
      body: { error: 'namespace_exists' },
    });
    t.match(await add('a.txt', BAKERY, { namespace: 'Küche & Co', embedding_model: 'words' }), {
      status: 409,
      body: { error: 'embedding_dimension_mismatch' },
    });
    t.match(await add('a.txt', BAKERY, { namespace: 'Küche & Co', embedding_model: 'nothing' }), {
      status: 404,
      body: { error: 'embedding_model_not_found' },
    });
    t.equal((await add('a.txt', BAKERY, { namespace: 'Küche & Co', embedding_model: 'other' })).status, 201);
    const name = encodeURIComponent('Küche & Co');
    t.match(await ask('DELETE', `namespaces/red/${name}/documents`), { status: 200 });
    t.strictSame((await ask('GET', 'namespaces/red')).body, { data: [] });
    t.match(await search('bread', { namespace: 'Küche & Co' }), { status: 404, body: { error: 'namespace_not_found' } });
    t.equal((await add('b.txt', LIGHTHOUSE, { namespace: 'Küche & Co' })).status, 201, 'the name is free again');
    t.strictSame(sources(await search('bread', { namespace: 'Küche & Co' })), ['b.txt']);
  });

  t.test('a tenant has no more bases than it may have, however they are made, and another tenant its own', async (t) => {
    const { add, ask } = await open(t, { settings: { 'data.tenant_bases': 2 } });
    const made = (namespace: string, caller?: string) => ask('POST', 'namespaces/red', { namespace }, caller);
    const racing = await Promise.all(['one', 'two', 'three', 'four'].map((name) => made(name)));
    t.strictSame(racing.map(({ status }) => status).sort(), [201, 201, 409, 409]);
    const refusal = { status: 409, body: { error: 'too_many_knowledge_bases', detail: /2 knowledge bases.*tenant_bases/ } };
    t.match(await made('five'), refusal);
    t.match(await add('a.txt', LIGHTHOUSE, { namespace: 'five' }), refusal);
    t.equal((await ask('POST', 'namespaces/blue', { namespace: 'one' }, 'blue/eve/developer')).status, 201);
    const { namespace } = racing.find(({ status }) => status === 201)?.body ?? {};
    t.equal((await add('a.txt', LIGHTHOUSE, { namespace })).status, 201, 'what is there is filled');
    await ask('DELETE', `namespaces/red/${namespace}/documents`);
    t.equal((await made('five')).status, 201, 'one that was removed makes place');
  });

  t.test('a question is embedded before the passages that wait', async (t) => {
    const { add, search, model } = await open(t);
    await add('a.txt', LIGHTHOUSE);
    await search('Who keeps it?');
    t.equal(model.backgroundTexts.length, 1);
    t.match(model.backgroundTexts, [/lighthouse/]);
    t.match(model.texts.at(-1), 'Who keeps it?');
  });

  t.test('what embeds fails plainly, and nothing is half there', async (t) => {
    const { add, ask, model } = await open(t);
    model.failure = new DomainError('model_loading', 'The model is being loaded.', { retryAfterMs: 2_000 });
    t.match(await add('a.txt', LIGHTHOUSE), { status: 502, body: { error: 'embedding_failed', detail: /being loaded/ } });
    t.strictSame((await ask('GET', 'namespaces/red/kb/documents')).body, { data: [] });
    model.failure = undefined;
    t.equal((await add('a.txt', LIGHTHOUSE)).status, 201);
    model.dimensions = 32;
    t.match(await add('b.txt', BAKERY), { status: 409, body: { error: 'embedding_dimension_mismatch' } });
    t.match((await ask('GET', 'namespaces/red')).body, { data: [{ documents: 1 }] });
  });

  t.test('a text longer than the model’s context is embedded in halves', async (t) => {
    const { add, search, model } = await open(t);
    model.mostCharacters = 60;
    t.equal((await add('a.txt', `${LIGHTHOUSE} ${BAKERY}`)).status, 201);
    t.ok(model.texts.every(({ length }) => length <= 60));
    t.match((await search('rye bread')).body.results, [{ dense_score: Number }]);
  });

  t.test('searches are narrowed by source, tags and date, and go over several bases', async (t) => {
    const { add, search } = await open(t);
    const text = (i: number) => `Report number ${i} is about the harbour and its boats.`;
    await add('one.txt', text(1), { tags: ['a', 'b"c'], date: '2024-05-01T00:00:00Z' });
    await add('two.txt', text(2), { tags: ['a'], date: '2025-05-01T00:00:00Z' });
    await add('three.txt', text(3), { namespace: 'more', date: '2026-05-01T00:00:00Z' });
    const found = async (more: object) => sources(await search('harbour report', more)).sort();
    t.strictSame(await found({}), ['one.txt', 'two.txt']);
    t.strictSame(await found({ sources: ['two.txt', 'x'] }), ['two.txt']);
    t.strictSame(await found({ tags: ['a', 'b"c'] }), ['one.txt']);
    t.strictSame(await found({ tags: ['b'] }), []);
    t.strictSame(await found({ from: '2025-01-01T00:00:00Z' }), ['two.txt']);
    t.strictSame(await found({ to: '2025-01-01T00:00:00Z' }), ['one.txt']);
    t.strictSame(await found({ namespace: ['kb', 'more'] }), ['one.txt', 'three.txt', 'two.txt']);
    t.strictSame(await found({ namespace: ['kb', 'more'], top_k: 1, sources: ['three.txt'] }), ['three.txt']);
    t.equal((await search('harbour', { namespace: ['kb', 'gone'] })).status, 404);
  });

  t.test('a model that ranks orders the best anew', async (t) => {
    const { add, search } = await open(t);
    await add('calm.txt', LIGHTHOUSE);
    await add('loud.txt', LOUD);
    t.strictSame(sources(await search('keeper of the lighthouse of Karvo')), ['calm.txt', 'loud.txt']);
    const ranked = await openKnowledgeBed(t, newDatabase, { settings: { 'data.rerank_model': 'ranker' } });
    ranked.model.rerankers = ['ranker'];
    await ranked.add('calm.txt', LIGHTHOUSE);
    await ranked.add('loud.txt', LOUD);
    t.strictSame(sources(await ranked.search('keeper of the lighthouse of Karvo')), ['loud.txt', 'calm.txt']);
  });

  t.test('another node of the same database finds what this one added, and not what it deleted', async (t) => {
    const database = await newDatabase();
    t.teardown(() => database.remove());
    const one = await openKnowledgeBed(t, newDatabase, { url: database.url });
    if (one.storage.dialect === 'sqlite') return t.pass('one process works on a file');
    const two = await openKnowledgeBed(t, newDatabase, { url: database.url });
    const { body } = await one.add('a.txt', LIGHTHOUSE);
    t.strictSame(sources(await two.search('lighthouse')), ['a.txt']);
    await one.add('b.txt', BAKERY);
    await one.ask('DELETE', `documents/red/kb/${body.id}`);
    t.strictSame(sources(await two.search('lighthouse bread')), ['b.txt']);
  });

  t.test('an index is loaded again from what is stored', async (t) => {
    const { add, ask, search } = await open(t);
    for (let i = 0; i < 12; i++) await add(`${i}.txt`, `${LIGHTHOUSE} Copy ${i}.`);
    const before = await search('copy 7 of the lighthouse');
    t.match(await ask('POST', 'namespaces/red/kb/rebuild'), { status: 200, body: { documents: 12, chunks: 12 } });
    const after = await search('copy 7 of the lighthouse');
    t.strictSame(after.body.results, before.body.results);
  });

  testTenants(t, open);
}

function testTenants(t: Test, open: (t: Test) => Promise<KnowledgeBed>): void {
  t.test('bases with documents are listed for all tenants, so that their indexes can be opened', async (t) => {
    const { add, ask, storage } = await open(t);
    await add('a.txt', LIGHTHOUSE);
    await ask('POST', 'namespaces/blue', { namespace: 'empty' }, 'blue/eve/developer');
    const filled = await new BaseStore(storage).listFilled(systemScope());
    t.strictSame(
      filled.map(({ tenant, collection }) => [tenant, collection.namespace, collection.version]),
      [['red', 'kb', 1]],
    );
    t.match(await ask('POST', 'namespaces/red/kb/rebuild'), { status: 200, body: { rebuilding: false, documents: 1 } });
  });

  t.test('no tenant sees, searches, fills or deletes what is another’s, and learns nothing of it', async (t) => {
    const { add, ask, search } = await open(t);
    const { body } = await add('secret-plan.txt', LIGHTHOUSE);
    const blue = 'blue/eve/admin';
    const requests = (tenant: string, namespace: string, id: string): [string, string, object?][] => [
      ['GET', `namespaces/${tenant}`],
      ['POST', `namespaces/${tenant}`, { namespace: 'mine' }],
      ['GET', `namespaces/${tenant}/${namespace}/documents`],
      ['DELETE', `namespaces/${tenant}/${namespace}/documents`],
      ['POST', `namespaces/${tenant}/${namespace}/rebuild`],
      ['GET', `namespaces/${tenant}/${namespace}/shard-only`],
      ['GET', `documents/${tenant}/${namespace}/${id}`],
      ['DELETE', `documents/${tenant}/${namespace}/${id}`],
      ['POST', 'search', { tenant, namespace, query: 'lighthouse' }],
      ['POST', 'ingest', { tenant, namespace, text: BAKERY, source: 'x' }],
    ];
    for (const [i, [method, path, sent]] of requests('red', 'kb', body.id).entries()) {
      const foreign = await ask(method, path, sent, blue);
      const [, missingPath = '', missingBody] = requests('nobody', 'kb', body.id)[i] ?? [];
      const missing = await ask(method, missingPath, missingBody, blue);
      t.equal(foreign.status, 403, `${method} ${path}`);
      t.strictSame({ ...foreign.body, path: '' }, { ...missing.body, path: '' }, 'a tenant that is not there is answered alike');
    }
    for (const [method, path, sent] of requests('blue', 'kb', body.id).filter(
      ([, path]) => !/^(namespaces.blue|ingest)$/.test(path),
    ))
      t.equal((await ask(method, path, sent, blue)).status, 404, `${method} ${path}`);
    await ask('POST', 'ingest', { tenant: 'blue', namespace: 'kb', text: BAKERY, source: 'own.txt' }, blue);
    t.strictSame(sources(await search('lighthouse of Karvo', {}, blue)), ['own.txt']);
    t.equal((await ask('GET', `documents/blue/kb/${body.id}`, undefined, blue)).status, 404);
    t.strictSame(sources(await search('lighthouse')), ['secret-plan.txt']);
  });

  t.test('a foreign base costs as much as one that is not there: no time tells that it is', async (t) => {
    const { add, ask, model, operations } = await open(t);
    const { body } = await add('secret-plan.txt', LIGHTHOUSE.repeat(50));
    await ask('POST', 'ingest', { tenant: 'blue', namespace: 'own', text: BAKERY, source: 'own.txt' }, 'blue/eve/admin');
    const costOf = async (namespace: string, id: string) => {
      const [nOperations, nTexts] = [operations.length, model.texts.length];
      for (const [method, path, sent] of [
        ['POST', 'search', { tenant: 'blue', namespace, query: 'lighthouse' }],
        ['GET', `namespaces/blue/${namespace}/documents`],
        ['GET', `documents/blue/${namespace}/${id}`],
        ['GET', `documents/blue/own/${id}`],
        ['DELETE', `documents/blue/own/${id}`],
        ['DELETE', `namespaces/blue/${namespace}/documents`],
      ] as [string, string, object?][])
        t.equal((await ask(method, path, sent, 'blue/eve/admin')).status, 404, path);
      return { operations: operations.slice(nOperations), nTexts: model.texts.length - nTexts };
    };
    // What follows of adding comes to its end first.
    const quiet = async () => {
      const before = operations.length;
      await wait(1_500);
      return operations.length === before;
    };
    await until(quiet, (is) => is);
    const missing = await costOf('nowhere', '00000000-0000-7000-8000-000000000000');
    t.strictSame(await costOf('kb', body.id), missing);
    t.equal(missing.nTexts, 0, 'nothing is embedded for it');
  });

  t.test('a chat sees the bases of its caller’s tenant alone', async (t) => {
    const { add, api } = await open(t);
    await add('secret-plan.txt', LIGHTHOUSE);
    const { signal } = new AbortController();
    const question = { namespaces: ['kb'], turns: ['Who is the keeper of the lighthouse of Karvo?'] };
    const own = await api.answers.consult({ ...ANONYMOUS, tenant: 'red' }, question, signal);
    t.match(own.passages, /Mira Doll/);
    const filter = own.newFilter();
    t.equal(filter.push('It is Mira Doll [1].') + filter.end(), 'It is Mira Doll [1].');
    t.match(own.citationsOf(filter).citations, [{ source: 'secret-plan.txt', url: /^\/api\/v1\/vector\/documents\/red\/kb\// }]);
    const foreign = api.answers.consult({ ...ANONYMOUS, tenant: 'blue' }, question, signal);
    await t.rejects(foreign, { code: 'namespace_not_found', message: 'You have no knowledge base named "kb".' });
  });

  t.test('a viewer uses knowledge bases and does not fill them', async (t) => {
    const { add, ask, search } = await open(t);
    const { body } = await add('a.txt', LIGHTHOUSE);
    const viewer = 'red/vic/viewer';
    t.equal((await search('lighthouse', {}, viewer)).status, 200);
    for (const path of ['namespaces/red', 'namespaces/red/kb/documents', `documents/red/kb/${body.id}`])
      t.equal((await ask('GET', path, undefined, viewer)).status, 200, path);
    for (const [method, path, sent] of [
      ['POST', 'ingest', { tenant: 'red', namespace: 'kb', text: BAKERY, source: 'x' }],
      ['POST', 'namespaces/red', { namespace: 'new' }],
      ['DELETE', `documents/red/kb/${body.id}`],
      ['DELETE', 'namespaces/red/kb/documents'],
      ['POST', 'namespaces/red/kb/rebuild'],
      ['GET', 'namespaces/red/kb/shard-only'],
    ] as [string, string, object?][])
      t.equal((await ask(method, path, sent, viewer)).status, 403, `${method} ${path}`);
    t.equal((await ask('GET', 'namespaces/red/kb/shard-only', undefined, 'red/dan/developer')).status, 403);
  });
}

onEachDatabase(testKnowledgeContract, { timeoutMs: 120_000 });
