/** Vector stores through the unmodified `openai` package, on either database. */
import { type OpenAI, toFile } from 'openai';
import type { Test } from 'tap';
import { wrap, writePdf } from '../../extraction/test-support/pdf-writer.ts';
import { DomainError } from '../../platform/errors/domain-error.ts';
import { tenantScope } from '../../platform/storage/index.ts';
import { type NewDatabase, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { BAKERY, LIGHTHOUSE, openaiBeds, pollIntervalMs, refused, textFile } from './test-support/openai-bed.ts';

function testVectorStores(t: Test, newDatabase: NewDatabase): void {
  const open = openaiBeds(newDatabase);

  t.test('a vector store is a knowledge base: made, filled, searched, changed and deleted', async (t) => {
    const { client, bed } = await open(t);
    const store = await client.vectorStores.create({ name: 'Harbour/Town', metadata: { of: 'karvo' } });
    t.match(store, {
      object: 'vector_store',
      name: 'Harbour/Town',
      namespace: 'Harbour-Town',
      status: 'completed',
      file_counts: { total: 0 },
    });
    const file = await client.vectorStores.files.uploadAndPoll(store.id, await textFile('karvo.txt', LIGHTHOUSE), {
      pollIntervalMs,
    });
    t.match(file, { object: 'vector_store.file', status: 'completed', last_error: null, vector_store_id: store.id });
    const asked = { query: 'Who keeps the lighthouse?', rewrite_query: false };
    const found = await client.vectorStores.search(store.id, asked);
    await t.rejects(client.vectorStores.search(store.id, { ...asked, rewrite_query: true }), {
      status: 400,
      code: 'unsupported_member',
      param: 'rewrite_query',
    });
    t.match(found.data, [{ file_id: file.id, filename: 'karvo.txt', content: [{ type: 'text', text: LIGHTHOUSE }] }]);
    const [{ score = -1 } = {}] = found.data;
    t.ok(score > 0 && score <= 1);
    t.match((await bed.search('lighthouse', { namespace: 'Harbour-Town' })).body.results, [{ source: 'karvo.txt' }]);
    const content = await client.vectorStores.files.content(file.id, { vector_store_id: store.id });
    t.match(content.data, [{ type: 'text', text: LIGHTHOUSE }]);
    const renamed = await client.vectorStores.update(store.id, {
      name: 'Town',
      expires_after: { anchor: 'last_active_at', days: 7 },
    });
    t.match(renamed, { name: 'Town', namespace: 'Harbour-Town', metadata: { of: 'karvo' }, expires_after: { days: 7 } });
    t.match(await client.vectorStores.update(store.id, { expires_after: null, metadata: null }), {
      expires_after: null,
      metadata: {},
    });
    t.match((await client.vectorStores.retrieve(store.id)).file_counts, { completed: 1, total: 1 });
    t.match(await client.vectorStores.files.delete(file.id, { vector_store_id: store.id }), { deleted: true });
    t.strictSame((await client.vectorStores.search(store.id, { query: 'lighthouse' })).data, []);
    t.equal((await client.files.retrieve(file.id)).filename, 'karvo.txt', 'the stored file stays');
    t.match(await client.vectorStores.delete(store.id), { id: store.id, deleted: true });
    await refused(t, client.vectorStores.retrieve(store.id), { status: 404, code: 'vector_store_not_found' });
    t.match((await bed.ask('GET', 'namespaces/red')).body, { data: [] });
  });

  t.test('every knowledge base is a vector store, and its documents are files', async (t) => {
    const { client, bed } = await open(t);
    const added = await bed.add('guide/karvo.txt', LIGHTHOUSE);
    await bed.add('bakery.txt', BAKERY, { namespace: 'other' });
    const stores = [];
    for await (const store of client.vectorStores.list({ limit: 1, order: 'asc' })) stores.push(store);
    t.match(stores, [
      { name: 'kb', file_counts: { completed: 1 } },
      { name: 'other', file_counts: { completed: 1 } },
    ]);
    const [{ id = '' } = {}] = stores;
    const [file] = (await client.vectorStores.files.list(id)).data;
    t.match(file, { status: 'completed', filename: 'guide/karvo.txt' });
    const fileId = file?.id ?? '';
    t.equal(fileId, `file-${added.body.id.replaceAll('-', '')}`);
    t.match(await client.files.retrieve(fileId), { filename: 'guide/karvo.txt', bytes: LIGHTHOUSE.length });
    t.equal(await (await client.files.content(fileId)).text(), LIGHTHOUSE, 'a text that was added has no other bytes');
    await refused(t, client.vectorStores.files.create(id, { file_id: fileId }), { status: 400 });
    await client.files.delete(fileId);
    t.strictSame((await bed.search('lighthouse')).body.results, []);
  });

  t.test('a batch is indexed, told file by file, and names are kept apart', async (t) => {
    const { client, bed } = await open(t);
    const store = await client.vectorStores.create({ name: 'kb' });
    const pdf = writePdf([wrap('The market of Karvo is held on Tuesdays.', 60, 60, 400).texts]);
    const scan = writePdf([[]], { hasPicture: true });
    const files = await Promise.all([
      textFile('a.txt', LIGHTHOUSE),
      textFile('a.txt', BAKERY),
      toFile(pdf, 'market.pdf'),
      toFile(scan, 'scan.pdf'),
      textFile('note.rtf', '{\\rtf1 The lighthouse of Karvo}'),
      toFile(Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'latin1'), 'old.doc'),
    ]);
    const batch = await client.vectorStores.fileBatches.uploadAndPoll(store.id, { files }, { pollIntervalMs });
    t.match(batch, { status: 'completed', file_counts: { completed: 3, failed: 3, total: 6, in_progress: 0 } });
    const failed = [];
    const page = { vector_store_id: store.id, filter: 'failed' as const, limit: 2 };
    for await (const file of client.vectorStores.fileBatches.listFiles(batch.id, page)) failed.push(file);
    const errors = failed.map((file) => [
      (file as { filename?: string }).filename,
      file.last_error?.code,
      file.last_error?.message,
    ]);
    t.match(errors.sort(), [
      ['note.rtf', 'unsupported_file', /stored and not indexed/],
      ['old.doc', 'unsupported_file', /old Windows program/],
      ['scan.pdf', 'invalid_file', /scanned_pdf.*OCR/],
    ]);
    const done = await client.vectorStores.files.list(store.id, { filter: 'completed' });
    t.strictSame(done.data.map((file) => (file as { filename?: string }).filename).sort(), ['a (2).txt', 'a.txt', 'market.pdf']);
    t.match((await client.vectorStores.search(store.id, { query: 'market on Tuesdays' })).data[0], { filename: 'market.pdf' });
    const unindexed = (
      await bed.api.answers.consult(
        { tenant: 'red', subject: 'ann', kind: 'session', roles: ['developer'], scopes: ['*'], keyId: undefined },
        { namespaces: [store.id], turns: ['What does the note say of the lighthouse?'] },
        new AbortController().signal,
      )
    ).unindexed;
    t.match(unindexed, { count: 1, files: [{ source: 'note.rtf', detail: /docx/ }] });
    await refused(t, client.vectorStores.fileBatches.retrieve('vsfb_none', { vector_store_id: store.id }), { status: 404 });
  });

  t.test('the same file is attached once, and a failed one is tried again', async (t) => {
    const { client, bed } = await open(t);
    const store = await client.vectorStores.create({ name: 'kb' });
    const file = await client.files.create({ file: await textFile('a.txt', LIGHTHOUSE), purpose: 'assistants' });
    const attach = () => client.vectorStores.files.createAndPoll(store.id, { file_id: file.id }, { pollIntervalMs });
    bed.model.dimensions = 64;
    t.match(await attach(), { status: 'completed' });
    t.match(await attach(), { status: 'completed' });
    t.equal((await client.vectorStores.files.list(store.id)).data.length, 1);
    bed.model.dimensions = 32;
    const other = await client.files.create({ file: await textFile('b.txt', BAKERY), purpose: 'assistants' });
    const failed = await client.vectorStores.files.createAndPoll(store.id, { file_id: other.id }, { pollIntervalMs });
    t.match(failed, { status: 'failed', last_error: { code: 'invalid_file', message: /embedding_dimension_mismatch/ } });
    bed.model.dimensions = 64;
    const again = await client.vectorStores.files.createAndPoll(store.id, { file_id: other.id }, { pollIntervalMs });
    t.match(again, { status: 'completed' });
    await refused(t, client.vectorStores.files.create(store.id, { file_id: 'file-none' }), {
      status: 404,
      code: 'file_not_found',
    });
  });

  t.test('a file that no embedding service took has failed, and says so', async (t) => {
    const clock = { aheadMs: 0 };
    const { client, bed } = await open(t, { clock });
    const store = await client.vectorStores.create({ name: 'kb' });
    const file = await client.files.create({ file: await textFile('a.txt', LIGHTHOUSE), purpose: 'assistants' });
    bed.model.failure = new DomainError('model_loading', 'The model is being loaded.');
    await client.vectorStores.files.create(store.id, { file_id: file.id });
    const [job] = await bed.jobs.list(tenantScope('red'), { limit: 1 });
    const { id = '', maxAttempts = 0 } = job ?? {};
    for (let failures = 1; failures < maxAttempts; failures++) await bed.passOver(id, failures);
    t.match(await bed.jobEnd(id), { state: 'failed', error: { code: 'embedding_failed' } });
    t.match(await client.vectorStores.files.retrieve(file.id, { vector_store_id: store.id }), {
      status: 'failed',
      last_error: { code: 'server_error', message: /embedding_failed: .*being loaded/ },
    });
  });

  t.test('searches are narrowed by attributes, thresholds and weights', async (t) => {
    const { client } = await open(t);
    const store = await client.vectorStores.create({ name: 'kb' });
    const years = [1893, 1911, 1950];
    const ids: string[] = [];
    for (const year of years) {
      const file = await client.files.create({
        file: await textFile(`${year}.txt`, `${LIGHTHOUSE} Year ${year}.`),
        purpose: 'assistants',
      });
      ids.push(file.id);
    }
    const files = ids.map((file_id, i) => ({
      file_id,
      attributes: { year: years[i] ?? 0, kind: i === 0 ? 'old' : 'new', open: i < 2 },
    }));
    const batch = await client.vectorStores.fileBatches.createAndPoll(store.id, { files }, { pollIntervalMs });
    t.match(batch.file_counts, { completed: 3 });
    const search = async (filters: OpenAI.ComparisonFilter | OpenAI.CompoundFilter) => {
      const { data } = await client.vectorStores.search(store.id, { query: 'lighthouse', filters });
      return data.map(({ attributes }) => attributes?.['year']).sort();
    };
    t.strictSame(await search({ type: 'eq', key: 'kind', value: 'old' }), [1893]);
    t.strictSame(await search({ type: 'ne', key: 'kind', value: 'old' }), [1911, 1950]);
    t.strictSame(await search({ type: 'gte', key: 'year', value: 1911 }), [1911, 1950]);
    t.strictSame(await search({ type: 'lt', key: 'year', value: 1911 }), [1893]);
    t.strictSame(await search({ type: 'in', key: 'year', value: [1893, 1950] }), [1893, 1950]);
    t.strictSame(await search({ type: 'nin', key: 'none', value: ['x'] }), years);
    t.strictSame(await search({ type: 'eq', key: 'toString', value: 'x' }), []);
    const either = {
      type: 'or' as const,
      filters: [
        { type: 'eq' as const, key: 'open', value: false },
        { type: 'eq' as const, key: 'kind', value: 'old' },
      ],
    };
    t.strictSame(await search(either), [1893, 1950]);
    t.strictSame(await search({ type: 'and', filters: [either, { type: 'gt', key: 'year', value: 1900 }] }), [1950]);
    const deep = Array.from({ length: 9 }).reduce((inner) => ({ type: 'and', filters: [inner] }), {
      type: 'eq',
      key: 'a',
      value: 1,
    });
    for (const wrong of [
      { type: 'like', key: 'a', value: 'b' },
      { type: 'eq', key: 'a', value: null },
      { type: 'and', filters: [] },
      deep,
    ])
      await refused(t, search(wrong as never), { status: 400, code: 'invalid_request' });
    const narrowed = await client.vectorStores.search(store.id, {
      query: ['lighthouse', 'keeper Mira Doll'],
      max_num_results: 1,
      ranking_options: { ranker: 'none', score_threshold: 0.1 },
    });
    t.equal(narrowed.data.length, 1);
    const none = await client.vectorStores.search(store.id, {
      query: 'quantum chromodynamics',
      ranking_options: { score_threshold: 0.9 },
    });
    t.strictSame(none.data, []);
    const [first = ''] = ids;
    const params = { vector_store_id: store.id, attributes: { kind: 'ancient' } };
    t.match(await client.vectorStores.files.update(first, params), { attributes: { kind: 'ancient' } });
    t.strictSame(await search({ type: 'eq', key: 'kind', value: 'old' }), []);
  });

  t.test('a batch can be cancelled, and what waits is then not indexed', async (t) => {
    const { client, bed } = await open(t);
    const store = await client.vectorStores.create({ name: 'kb' });
    const release = Promise.withResolvers<void>();
    bed.model.pause = release.promise;
    const ids: string[] = [];
    for (let i = 0; i < 5; i++)
      ids.push((await client.files.create({ file: await textFile(`${i}.txt`, `${LIGHTHOUSE} ${i}`), purpose: 'assistants' })).id);
    const batch = await client.vectorStores.fileBatches.create(store.id, { file_ids: ids });
    t.match(batch, { status: 'in_progress', file_counts: { in_progress: 5 } });
    t.match(await client.vectorStores.retrieve(store.id), { status: 'in_progress' });
    const cancelled = await client.vectorStores.fileBatches.cancel(batch.id, { vector_store_id: store.id });
    t.match(cancelled, { status: 'cancelled', file_counts: { cancelled: 5 } });
    bed.model.pause = undefined;
    release.resolve();
    t.strictSame((await client.vectorStores.search(store.id, { query: 'lighthouse' })).data, []);
    const listed = await client.vectorStores.files.list(store.id, { filter: 'cancelled' });
    t.equal(listed.data.length, 5);
  });

  t.test('what OpenAI’s clients may ask and is not done here is refused', async (t) => {
    const { client } = await open(t);
    const chunking_strategy = { type: 'static' as const, static: { max_chunk_size_tokens: 100, chunk_overlap_tokens: 10 } };
    await refused(t, client.vectorStores.create({ name: 'a', chunking_strategy }), {
      status: 400,
      code: 'unsupported_parameter',
    });
    await refused(t, client.vectorStores.create({ name: 'a', file_ids: ['file-none'] }), { status: 404, code: 'file_not_found' });
    t.strictSame((await client.vectorStores.list()).data, [], 'nothing was made');
    const metadata = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v']));
    await refused(t, client.vectorStores.create({ metadata }), { status: 400 });
    const unnamed = await client.vectorStores.create({});
    t.match(unnamed, { name: unnamed.id, namespace: unnamed.id });
    const twice = [await client.vectorStores.create({ name: 'kb' }), await client.vectorStores.create({ name: 'kb' })];
    t.match(twice, [
      { name: 'kb', namespace: 'kb' },
      { name: 'kb', namespace: 'kb (2)' },
    ]);
    await refused(t, client.vectorStores.search(unnamed.id, { query: ' ' }), { status: 400 });
    await refused(t, client.vectorStores.search(unnamed.id, { query: 'a', max_num_results: 51 }), { status: 400 });
  });
}

onEachDatabase(testVectorStores, { timeoutMs: 120_000 });
