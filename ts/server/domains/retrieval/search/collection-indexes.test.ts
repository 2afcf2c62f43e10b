import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { IndexWarming } from './index-warming.ts';
import { collection, type IndexBed, openIndexBed, PlainDocuments } from './test-support/index-bed.ts';

const COUNT = 200;
const OPENED = 'svc_knowledge_indexes_opened_total';

function manyDocuments(): PlainDocuments {
  const documents = new PlainDocuments();
  for (let no = 1; no <= COUNT; no++) documents.put(no);
  return documents;
}

const keptFolder = (folder: string) => join(folder, collection.id);
const keptFiles = (folder: string) => (existsSync(keptFolder(folder)) ? readdirSync(keptFolder(folder)).sort() : []);

async function waitUntilKept(folder: string): Promise<void> {
  while (!keptFiles(folder).includes('index')) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** A folder with an index of the documents. */
async function keptIndex(t: Test, documents: PlainDocuments): Promise<string> {
  const folder = newFolder(t);
  const bed = await openIndexBed(t, documents, folder);
  await bed.load();
  await waitUntilKept(folder);
  await bed.stop();
  return folder;
}

async function expectWhole(t: Test, bed: IndexBed, documents: PlainDocuments): Promise<void> {
  for (const { no, isReady } of documents.rows.values()) {
    const found = await bed.nearest(no, no % 10);
    if (isReady !== (found === no)) t.fail(`document ${no}: found ${found}`);
  }
  t.pass('each document is found by its vector, and none that was removed');
}

t.test('a kept index is opened, and nothing of it is read from the database', async (t) => {
  const documents = manyDocuments();
  const folder = await keptIndex(t, documents);
  t.match(keptFiles(folder), ['index', /^vectors-[0-9a-f]{16}$/]);
  t.equal(statSync(join(keptFolder(folder), 'index')).mode & 0o077, 0);
  documents.nRead = 0;
  const bed = await openIndexBed(t, documents, folder);
  await expectWhole(t, bed, documents);
  t.strictSame(await bed.byWords('document 77 passage 3'), [77]);
  t.equal(documents.nRead, 0);
  t.equal(bed.metric(`${OPENED}{origin="kept"}`), 1);
});

t.test('what changed while it was kept is told from the documents', async (t) => {
  const documents = manyDocuments();
  const folder = await keptIndex(t, documents);
  documents.remove(5);
  documents.put(COUNT + 1);
  documents.nRead = 0;
  const bed = await openIndexBed(t, documents, folder);
  await expectWhole(t, bed, documents);
  t.equal(documents.nRead, 10);
});

t.test('of a database that was restored, a document that has the number of another is not taken for it', async (t) => {
  const folder = await keptIndex(t, manyDocuments());
  const restored = new PlainDocuments();
  for (let no = 1; no < COUNT; no++) restored.put(no);
  restored.put(COUNT, 'sandwich');
  const bed = await openIndexBed(t, restored, folder);
  t.strictSame(await bed.byWords('sandwich'), Array(10).fill(COUNT));
  t.strictSame(await bed.byWords(`document ${COUNT} passage 1`), []);
});

t.test('a damaged, foreign or missing part is refused, said, and made anew', async (t) => {
  const documents = manyDocuments();
  const flip = (path: string, at: number) => {
    const bytes = readFileSync(path);
    bytes[at < 0 ? bytes.length + at : at] = (bytes.at(at) ?? 0) ^ 0x10;
    writeFileSync(path, bytes);
  };
  const damages: Record<string, (index: string, vectors: string) => void> = {
    'a byte of the terms': (index) => flip(index, -100),
    'a byte of the description': (index) => flip(index, 40),
    'another kind': (index) => writeFileSync(index, 'not an index at all, whatever its name'),
    'shortened terms': (index) => truncateSync(index, 1_000),
    'a byte of the vectors': (_, vectors) => flip(vectors, -100),
    'shortened vectors': (_, vectors) => truncateSync(vectors, 2_000),
    'another base': (index) => writeFileSync(index, readFileSync(index, 'latin1').replaceAll('vs_0', 'vs_1'), 'latin1'),
  };
  const whole = await keptIndex(t, documents);
  for (const [name, damage] of Object.entries(damages)) {
    const folder = newFolder(t);
    cpSync(keptFolder(whole), keptFolder(folder), { recursive: true });
    const [index, vectors] = keptFiles(folder).map((file) => join(keptFolder(folder), file));
    damage(index ?? '', vectors ?? '');
    const before = readFileSync(index ?? '');
    const bed = await openIndexBed(t, documents, folder);
    await bed.load();
    t.equal(bed.metric(`${OPENED}{origin="refused"}`), 1, name);
    t.equal(bed.lines.filter((line) => line.includes('is not used') && line.includes(collection.id)).length, 1);
    t.equal(await bed.nearest(42, 2), 42);
    if (!name.startsWith('a byte')) {
      await bed.stop();
      continue;
    }
    while (readFileSync(index ?? '').equals(before)) await new Promise((resolve) => setTimeout(resolve, 10));
    await bed.stop();
    const again = await openIndexBed(t, documents, folder);
    await again.load();
    t.equal(again.metric(`${OPENED}{origin="kept"}`), 1, 'the next start uses what was made anew');
    await again.stop();
  }
});

t.test('vectors of another storage are refused, and each storage finds and keeps', async (t) => {
  const documents = manyDocuments();
  const folder = await keptIndex(t, documents);
  for (const kind of ['i8', 'b1'] as const) {
    const before = keptFiles(folder).join();
    const bed = await openIndexBed(t, documents, folder, { kind });
    await expectWhole(t, bed, documents);
    t.equal(bed.metric(`${OPENED}{origin="refused"}`), 1);
    while (keptFiles(folder).join() === before || keptFiles(folder).length !== 2)
      await new Promise((resolve) => setTimeout(resolve, 10));
    await bed.stop();
    const again = await openIndexBed(t, documents, folder, { kind });
    await expectWhole(t, again, documents);
    t.equal(again.metric(`${OPENED}{origin="kept"}`), 1);
    await again.stop();
  }
});

t.test('a rebuild takes the place of the index while that one answers', async (t) => {
  const documents = manyDocuments();
  const bed = await openIndexBed(t, documents, newFolder(t));
  await bed.load();
  documents.nRead = 0;
  let nAnswers = 0;
  let isOver = false;
  const rebuilt = Promise.all([bed.rebuild(), bed.rebuild()]).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    t.equal(await bed.nearest(9, 4), 9);
    nAnswers += 1;
  }
  await rebuilt;
  t.equal(documents.nRead, 10 * COUNT, 'both asked for the same one');
  t.ok(nAnswers > 0);
  documents.put(COUNT + 1);
  await expectWhole(t, bed, documents);
});

t.test('a rebuild that fails leaves the index that serves', async (t) => {
  const documents = manyDocuments();
  const bed = await openIndexBed(t, documents, newFolder(t));
  await bed.load();
  documents.readForIndex = async function* () {
    yield [];
    throw new Error('the database is away');
  };
  await t.rejects(bed.rebuild(), { message: 'the database is away' });
  t.equal(await bed.nearest(9, 4), 9);
  t.equal(bed.metric('svc_knowledge_index_failures_total{work="rebuilt"}'), 1);
});

t.test('bases that push each other out of memory are found all the same', async (t) => {
  const documents = manyDocuments();
  const bed = await openIndexBed(t, documents, newFolder(t), { maxBytes: 1 });
  await expectWhole(t, bed, documents);
});

t.test('a search goes on in the index that took the place of the one that it was bringing up to date', async (t) => {
  const documents = manyDocuments();
  const bed = await openIndexBed(t, documents, newFolder(t));
  await bed.load();
  const [reading, dropped] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const read = documents.readForIndex.bind(documents);
  documents.readForIndex = async function* (scope, documentNos) {
    documents.readForIndex = read;
    reading.resolve();
    await dropped.promise;
    yield* read(scope, documentNos);
  };
  documents.put(COUNT + 1);
  const found = bed.nearest(COUNT + 1, 4);
  await reading.promise;
  await bed.loaded.drop(collection.id);
  dropped.resolve();
  t.equal(await found, COUNT + 1);
});

t.test('an index that is dropped while it is being opened does not stay in memory', async (t) => {
  const bed = await openIndexBed(t, manyDocuments(), newFolder(t));
  const ask = bed.thread.ask.bind(bed.thread);
  const keys: number[] = [];
  bed.thread.ask = (operation, input) => {
    const answer = ask(operation, input);
    if (operation === 'open' && 'key' in input && typeof input.key === 'number') {
      keys.push(input.key);
      if (keys.length === 1) void bed.loaded.drop(collection.id);
    }
    return answer;
  };
  await bed.load();
  const query = { question: 'document', vector: undefined, denseWeight: 0, k: 1, documents: undefined };
  t.equal(keys.length, 1);
  t.strictSame(await ask('search', { key: keys[0] ?? 0, query }), { hits: undefined });
  t.equal(await bed.nearest(9, 4), 9);
});

t.test('a base that is removed leaves no file', async (t) => {
  const documents = manyDocuments();
  const folder = await keptIndex(t, documents);
  const bed = await openIndexBed(t, documents, folder);
  await bed.load();
  await bed.remove();
  t.strictSame(keptFiles(folder), []);
});

t.test('without native libraries vectors are compared in JavaScript, and the operator is told', async (t) => {
  const { SVC_NATIVE_DIR: before } = process.env;
  process.env['SVC_NATIVE_DIR'] = newFolder(t);
  t.teardown(() => {
    if (before === undefined) delete process.env['SVC_NATIVE_DIR'];
    else process.env['SVC_NATIVE_DIR'] = before;
  });
  const documents = manyDocuments();
  const bed = await openIndexBed(t, documents, newFolder(t));
  t.strictSame(bed.notices.reasons, []);
  t.equal(bed.metric('svc_knowledge_vectors_degraded{reason="vector_addon_unavailable"}'), 0);
  await expectWhole(t, bed, documents);
  t.match(bed.notices.reasons, [{ code: 'vector_addon_unavailable', detail: /one by one.*svc_vector\.node.*svc doctor/s }]);
  t.equal(bed.metric('svc_knowledge_vectors_degraded{reason="vector_addon_unavailable"}'), 1);
  const lines = bed.lines.filter((line) => line.includes('vector_addon_unavailable'));
  t.equal(lines.length, 1, 'said once');
  t.match(lines[0], /"level":"warn".*svc doctor/);
});

t.test('at a start, kept indexes are opened by themselves, and what is kept of bases that are gone is removed', async (t) => {
  const documents = manyDocuments();
  const folder = await keptIndex(t, documents);
  const gone = join(folder, `vs_${'f'.repeat(32)}`);
  mkdirSync(gone);
  mkdirSync(join(folder, 'not-ours'));
  const bed = await openIndexBed(t, documents, folder);
  const now = { ...collection, version: documents.version };
  const unkept = { ...now, id: `vs_${'1'.repeat(32)}` };
  const warming = new IndexWarming({
    indexes: bed.indexes,
    saved: bed.saved,
    loaded: bed.loaded,
    log: bed.log,
    store: { listFilled: async () => [unkept, now].map((one) => ({ tenant: 'red', collection: one })) },
  });
  warming.start();
  await warming.done;
  t.equal(bed.metric(`${OPENED}{origin="kept"}`), 1);
  t.equal(bed.metric(`${OPENED}{origin="new"}`), 0);
  t.notOk(existsSync(gone));
  t.ok(existsSync(join(folder, 'not-ours')));
  await warming.stop();
});

t.test('a node that stops while it opens indexes says nothing of it', async (t) => {
  const documents = manyDocuments();
  const folder = await keptIndex(t, documents);
  const bed = await openIndexBed(t, documents, folder);
  const warming = new IndexWarming({
    indexes: bed.indexes,
    saved: bed.saved,
    loaded: bed.loaded,
    log: bed.log,
    store: { listFilled: async () => [{ tenant: 'red', collection: { ...collection, version: documents.version } }] },
  });
  warming.start();
  const stopped = warming.stop();
  await bed.stop();
  await stopped;
  t.strictSame(
    bed.lines.filter((line) => line.includes('warn')),
    [],
  );
});
