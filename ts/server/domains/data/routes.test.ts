import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { DomainError } from '../../platform/errors/domain-error.ts';
import { until } from '../../platform/jobs/test-support/open-jobs.ts';
import { tenantScope } from '../../platform/storage/index.ts';
import { openKnowledgeBed } from './test-support/knowledge-bed.ts';

const TEXT = 'The lighthouse of Karvo was built in 1893 and is 41 metres high.';

async function newDatabase() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-data-'));
  return { url: `sqlite:${join(folder, 'svc.db')}`, remove: () => rm(folder, { recursive: true }) };
}

t.test('requests that are wrong are refused with 400 and change nothing', async (t) => {
  const { ask } = await openKnowledgeBed(t, newDatabase);
  const ingest = { tenant: 'red', namespace: 'kb', source: 'a.txt', text: TEXT };
  const search = { tenant: 'red', namespace: 'kb', query: 'x' };
  const wrong: [string, unknown][] = [
    ['ingest', '{'],
    ['ingest', []],
    ['ingest', { ...ingest, text: undefined }],
    ['ingest', { ...ingest, text: 7 }],
    ['ingest', { ...ingest, text: 'too short' }],
    ['ingest', { ...ingest, text: `${' '.repeat(100)}nineteen characters` }],
    ['ingest', { ...ingest, source: '' }],
    ['ingest', { ...ingest, source: ' \n' }],
    ['ingest', { ...ingest, source: 'x'.repeat(1_001) }],
    ['ingest', { ...ingest, namespace: '' }],
    ['ingest', { ...ingest, namespace: 'a/b' }],
    ['ingest', { ...ingest, namespace: '..\\x' }],
    ['ingest', { ...ingest, namespace: ' kb' }],
    ['ingest', { ...ingest, namespace: 'k\u202eb' }],
    ['ingest', { ...ingest, namespace: 'k\0b' }],
    ['ingest', { ...ingest, namespace: 'x'.repeat(129) }],
    ['ingest', { ...ingest, tags: ['x'.repeat(101)] }],
    ['ingest', { ...ingest, tags: Array(33).fill('x') }],
    ['ingest', { ...ingest, date: 'yesterday' }],
    ['ingest', { ...ingest, format: 'pdf' }],
    ['search', { ...search, query: '' }],
    ['search', { ...search, query: '   ' }],
    ['search', { ...search, query: 'x'.repeat(10_001) }],
    ['search', { ...search, top_k: 0 }],
    ['search', { ...search, top_k: 101 }],
    ['search', { ...search, top_k: 1.5 }],
    ['search', { ...search, mode: 'magic' }],
    ['search', { ...search, namespace: [] }],
    ['search', { ...search, namespace: Array(17).fill('kb') }],
    ['search', { ...search, sources: [] }],
    ['search', { ...search, from: '2024-13-01T00:00:00Z' }],
    ['namespaces/red', { namespace: '' }],
    ['namespaces/red', { namespace: 'a/b' }],
    ['namespaces/red', {}],
  ];
  for (const [path, body] of wrong)
    t.match(
      await ask('POST', path, body),
      { status: 400, body: { error: String, detail: String } },
      `${path} ${JSON.stringify(body)}`,
    );
  t.match(await ask('GET', 'namespaces/red/kb/documents?limit=0'), { status: 400 });
  t.strictSame((await ask('GET', 'namespaces/red')).body, { data: [] });
});

t.test('names and texts of every script come back as they were given', async (t) => {
  const { add, ask, search } = await openKnowledgeBed(t, newDatabase);
  const namespace = 'Büro \'東京\' %20 "x" ; drop';
  const source = '../../etc/passwd\u{1f600} 文件.txt';
  t.equal((await add(source, `${TEXT} \0\ud800 \u{1f600}`, { namespace, title: "';--", tags: ["a'b"] })).status, 201);
  t.match((await ask('GET', 'namespaces/red')).body, { data: [{ namespace }] });
  const path = `namespaces/red/${encodeURIComponent(namespace)}/documents`;
  t.match((await ask('GET', path)).body, { data: [{ source, title: "';--", tags: ["a'b"] }] });
  t.match((await search('lighthouse \0 \ud800 " OR 1=1 --', { namespace, tags: ["a'b"] })).body.results, [{ source }]);
});

t.test('the path of a base serves no method, and unknown ones below it are not there', async (t) => {
  const { ask, add } = await openKnowledgeBed(t, newDatabase);
  await add('a.txt', TEXT);
  for (const namespace of ['kb', 'none'])
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
      t.match(await ask(method, `namespaces/red/${namespace}`), {
        status: 405,
        body: { error: 'method_not_allowed', status: 405 },
      });
  t.equal((await ask('GET', 'namespaces/red/kb/other')).status, 404);
  t.equal((await ask('GET', 'namespaces/red/none/documents')).status, 404);
  t.equal((await ask('GET', 'namespaces/red/kb', undefined, '')).status, 401);
});

t.test('documents come in pages, and a long one is read in parts', async (t) => {
  const { add, ask } = await openKnowledgeBed(t, newDatabase);
  for (let i = 0; i < 5; i++) await add(`${i}.txt`, `${TEXT} ${i}`);
  const seen: string[] = [];
  for (let after = ''; ; ) {
    const { data, next } = (await ask('GET', `namespaces/red/kb/documents?limit=2${after}`)).body;
    seen.push(...data.map(({ source }: { source: string }) => source));
    if (next === undefined) break;
    after = `&after=${next}`;
  }
  t.strictSame(seen, ['0.txt', '1.txt', '2.txt', '3.txt', '4.txt']);
  const whole = Array.from({ length: 3_500 }, (_, i) => `Sentence ${i} of a text that is long.`).join('\n\n');
  const { body } = await add('long.txt', whole);
  let text = '';
  for (let from: number | undefined = 0; from !== undefined; ) {
    const part: { text: string; next?: number } = (await ask('GET', `documents/red/kb/${body.id}?from=${from}`)).body;
    // Parts overlap, as the passages that they begin and end with do.
    const overlap = text === '' ? 0 : overlapOf(text, part.text);
    text += part.text.slice(overlap);
    from = part.next;
  }
  t.equal(text, whole);
  const place = whole.indexOf('Sentence 3000 ');
  const around = (await ask('GET', `documents/red/kb/${body.id}?around=${place}`)).body;
  t.equal(around.text, whole.slice(around.text_start, around.text_start + around.text.length));
  t.match(around.text.slice(place - around.text_start), /^Sentence 3000 /);
  t.ok(around.text_start > 0 && around.text.length < 8_000, 'a few passages, not the whole');
  t.equal((await ask('GET', `documents/red/kb/${body.id}?around=-1`)).status, 400);
});

function overlapOf(before: string, next: string): number {
  for (let n = Math.min(1_200, before.length, next.length); n > 0; n--) if (before.endsWith(next.slice(0, n))) return n;
  return 0;
}

t.test('leftovers of deletes are shown until they are removed', async (t) => {
  const { add, ask, storage } = await openKnowledgeBed(t, newDatabase);
  const access = storage.access<{ data_documents: { id: string; state: string } }>();
  const red = tenantScope('red');
  const leftovers = async () => (await ask('GET', 'namespaces/red/kb/shard-only', undefined, 'red/ada/admin')).body.data;
  // The sweep that follows an addition may be quicker than the question.
  const shownOnce = async () => {
    for (let i = 0; i < 20; i++) {
      const { body } = await add(`${i}.txt`, `${TEXT} ${i}`);
      await access.writeUnit(red, (db) => [db.updateTable('data_documents').set({ state: 'deleted' }).where('id', '=', body.id)]);
      const found = (await leftovers()).find((row: { document_id: string }) => row.document_id === body.id);
      if (found !== undefined) return found;
    }
  };
  t.match(await shownOnce(), { chunks: 1, marker: 'deleted_likely' });
  const { body } = await add('orphan.txt', TEXT);
  await access.writeUnit(red, (db) => [db.deleteFrom('data_documents').where('id', '=', body.id)]);
  t.match(
    (await leftovers()).filter((row: { document_id: string | null }) => row.document_id === null),
    [{ chunks: 1, marker: 'undecidable' }],
  );
});

t.test('a client that goes away ends the work on its text, which is no fault', async (t) => {
  const { model, url, lines, ask } = await openKnowledgeBed(t, newDatabase);
  const gate = Promise.withResolvers<void>();
  model.pause = gate.promise;
  const controller = new AbortController();
  const text = Array.from({ length: 2_000 }, (_, i) => `Sentence ${i} of a text that is long.`).join('\n\n');
  const body = JSON.stringify({ tenant: 'red', namespace: 'kb', source: 'a.txt', text });
  const headers = { 'content-type': 'application/json', 'x-caller': 'red/ann/developer' };
  const request = fetch(`${url}/api/v1/vector/ingest`, { method: 'POST', headers, body, signal: controller.signal });
  const isRefused = t.rejects(request, { name: 'AbortError' });
  await until(
    async () => model.nCalls,
    (nCalls) => nCalls > 0,
  );
  controller.abort();
  await isRefused;
  // The server hears of what comes later after it heard that the connection is gone.
  t.equal((await ask('GET', 'namespaces/red')).status, 200);
  model.pause = undefined;
  gate.resolve();
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.ok(model.texts.length < 60, `${model.texts.length} passages were embedded`);
  t.strictSame(
    lines.filter((line) => line.includes('"error"')),
    [],
  );
  t.strictSame((await ask('GET', 'namespaces/red/kb/documents')).body, { data: [] });
});

t.test('a base that groups or a credential do not leave to a caller is like one that is not there', async (t) => {
  const uses = { of: () => (name: string) => name === 'open' };
  const { ask, add, search } = await openKnowledgeBed(t, newDatabase, { uses });
  t.equal((await add('a.txt', TEXT, { namespace: 'open' })).status, 201);
  const { body } = await add('a.txt', TEXT);
  t.match(body, { error: 'namespace_not_found' });
  t.match(await search('lighthouse', { namespace: ['open', 'kb'] }), { status: 404, body: { error: 'namespace_not_found' } });
  t.equal((await search('lighthouse', { namespace: 'open' })).status, 200);
  t.equal((await ask('POST', 'namespaces/red', { namespace: 'kb' })).status, 404);
  for (const [method, path] of [
    ['GET', 'namespaces/red/kb/documents'],
    ['DELETE', 'namespaces/red/kb/documents'],
    ['POST', 'namespaces/red/kb/rebuild'],
    ['GET', 'documents/red/kb/x'],
    ['DELETE', 'documents/red/kb/x'],
  ] as const)
    t.match(await ask(method, path), { status: 404, body: { error: 'namespace_not_found' } }, path);
  t.match((await ask('GET', 'namespaces/red')).body.data, [{ namespace: 'open' }]);
});

t.test('without the feature of the license nothing is added or searched; an expired one still finds', async (t) => {
  const refuse = (code: string) => () => {
    throw new DomainError(code, 'No.');
  };
  const without = await openKnowledgeBed(t, newDatabase, {
    license: { has: () => false, requireFeature: refuse('feature_not_licensed') },
  });
  for (const answer of [await without.add('a.txt', TEXT), await without.ask('POST', 'namespaces/red', { namespace: 'kb' })])
    t.match(answer, { status: 403, body: { error: 'feature_not_licensed' } });
  t.match(await without.search('x'), { status: 403, body: { error: 'feature_not_licensed' } });
  const expired = await openKnowledgeBed(t, newDatabase, {
    license: { has: () => true, requireFeature: refuse('license_expired') },
  });
  t.match(await expired.add('a.txt', TEXT), { status: 403, body: { error: 'license_expired' } });
  t.match(await expired.search('x'), { status: 404, body: { error: 'namespace_not_found' } });
});
