/** What a process that ends in the middle of indexing leaves behind, and what follows of it. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { until } from '../../platform/jobs/test-support/open-jobs.ts';
import { silentLog } from '../../platform/module/test-support/scripted-context.ts';
import { systemScope } from '../../platform/storage/index.ts';
import { wordModel } from '../retrieval/test-support/word-model.ts';
import type { DocumentRow } from './store/rows.ts';
import type { KnowledgeTables } from './store/tables.ts';
import { Sweep } from './sweep.ts';
import { type KnowledgeBed, openKnowledgeBed } from './test-support/knowledge-bed.ts';

async function newDatabase() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-data-'));
  return { url: `sqlite:${join(folder, 'svc.db')}`, remove: () => rm(folder, { recursive: true }) };
}

const LONG = Array.from({ length: 8_000 }, (_, i) => `Line ${i} tells of sand, wind and the number ${i * 7}.`).join('\n\n');

t.test('a job that is cancelled leaves nothing, and its document before it stays', async (t) => {
  const { add, ask, jobs, jobEnd, model, storage, search } = await openKnowledgeBed(t, newDatabase);
  await add('a.txt', 'The lighthouse of Karvo was built in 1893.');
  const release = Promise.withResolvers<void>();
  model.pause = release.promise;
  const { body } = await add('a.txt', LONG);
  const { tenantScope } = await import('../../platform/storage/index.ts');
  await jobs.cancel(tenantScope('red'), body.job_id);
  model.pause = undefined;
  release.resolve();
  t.match(await jobEnd(body.job_id), { state: 'cancelled' });
  await sweepOf({ storage, jobs }).run(Date.now() + 3_600_000);
  t.match((await ask('GET', 'namespaces/red')).body, { data: [{ documents: 1, chunks: 1 }] });
  t.match((await search('lighthouse')).body.results, [{ source: 'a.txt' }]);
  t.equal(await countChunks(storage), 1);
});

t.test('a job that was interrupted goes on from its last batch, and its document is there once', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-data-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const url = `sqlite:${join(folder, 'svc.db')}`;
  const model = wordModel();
  const first = await openKnowledgeBed(t, newDatabase, { url, model });
  const { body } = await first.add('long.txt', LONG);
  while (model.texts.length < 100) await new Promise((resolve) => setTimeout(resolve, 5));
  await first.jobs.stop(1_000);
  const nBefore = model.texts.length;
  await first.storage.close();
  const second = await openKnowledgeBed(t, newDatabase, { url, model });
  const job = await second.jobEnd(body.job_id);
  t.match(job, { state: 'done' });
  const nAll = job.result.chunks;
  t.ok(nBefore < nAll, 'it was interrupted in the middle');
  t.ok(model.texts.length <= nAll + 64, 'what was stored is not embedded again');
  t.equal(await countChunks(second.storage), nAll);
  t.match((await second.ask('GET', 'namespaces/red/kb/documents')).body, { data: [{ source: 'long.txt', chunks: nAll }] });
});

t.test('what was deleted and replaced leaves no row', async (t) => {
  const { add, ask, jobs, storage } = await openKnowledgeBed(t, newDatabase);
  for (let i = 0; i < 30; i++) await add('a.txt', `The lighthouse of Karvo was built in 18${i}.`);
  const { body } = await add('b.txt', 'The bakery sells bread in the morning.');
  await ask('DELETE', `documents/red/kb/${body.id}`);
  await add('c.txt', 'Another base is removed as a whole.', { namespace: 'other' });
  await ask('DELETE', 'namespaces/red/other/documents');
  await sweepOf({ storage, jobs }).run(Date.now() + 7_200_000);
  t.equal(await countChunks(storage), 1);
  const { rows } = await countRows(storage, 'data_documents');
  t.equal(rows, 1);
  t.equal((await countRows(storage, 'data_bases')).rows, 1);
});

t.test('what nobody indexes any more is found behind any number of documents that wait', async (t) => {
  const { add, jobs, model, storage } = await openKnowledgeBed(t, newDatabase);
  const release = Promise.withResolvers<void>();
  t.teardown(() => release.resolve());
  model.pause = release.promise;
  await add('a.txt', LONG);
  const access = storage.access<KnowledgeTables>();
  const [{ no: _, ...waiting }] = (await access.read(systemScope(), (db) =>
    db.selectFrom('data_documents').selectAll().execute(),
  )) as [DocumentRow];
  const copies = Array.from({ length: 1_100 }, (_, i) => ({ ...waiting, id: `copy-${i}`, source: `copy ${i}` }));
  const abandoned = { ...waiting, id: 'abandoned', source: 'abandoned', job_id: null };
  const documents = [...copies, abandoned];
  await access.write(systemScope(), async (tx) => {
    for (let at = 0; at < documents.length; at += 100)
      await tx
        .insertInto('data_documents')
        .values(documents.slice(at, at + 100))
        .execute();
  });
  await sweepOf({ storage, jobs }).run(Date.now() + 3_600_000);
  const { n } = await access.read(systemScope(), (db) =>
    db
      .selectFrom('data_documents')
      .select(({ fn }) => fn.countAll<number>().as('n'))
      .where('state', '=', 'pending')
      .executeTakeFirstOrThrow(),
  );
  t.equal(Number(n), 1_101, 'all but the abandoned one');
});

t.test('a base that expires takes its kept index with it', async (t) => {
  const { add, ask, dataDir, jobEnd, search, storage } = await openKnowledgeBed(t, newDatabase);
  const paragraph = (i: number) => `Paragraph ${i} tells of sand, wind, salt, rope, tar and the number ${i * 7}. `.repeat(14);
  const { body } = await add('a.txt', Array.from({ length: 1_100 }, (_, i) => paragraph(i)).join('\n\n'));
  t.match(await jobEnd(body.job_id), { state: 'done' });
  await search('salt and rope');
  const folder = join(dataDir, 'cache', 'knowledge');
  const kept = async () => (await readdir(folder)).filter((name) => name.startsWith('vs_')).length;
  await until(kept, (n) => n === 1);
  const longAgo = Date.now() - 48 * 3_600_000;
  await storage
    .access<KnowledgeTables>()
    .writeUnit(systemScope(), (db) => [
      db.updateTable('data_bases').set({ expires_days: 1, created_at: longAgo, used_at: longAgo }),
    ]);
  // What is removed wakes the sweep.
  await add('b.txt', 'The bakery sells bread in the morning.', { namespace: 'other' });
  await ask('DELETE', 'namespaces/red/other/documents');
  await until(kept, (n) => n === 0);
  t.strictSame((await ask('GET', 'namespaces/red')).body, { data: [] });
});

function sweepOf(parts: Pick<KnowledgeBed, 'storage' | 'jobs'>): Sweep {
  return new Sweep({
    ...parts,
    files: { listExpired: async () => [] },
    log: silentLog,
    onErased: async () => {},
    removeBase: async () => {},
    removeOwned: async () => {},
    removeFile: async () => {},
  });
}

type Storage = Awaited<ReturnType<typeof openKnowledgeBed>>['storage'];

async function countChunks(storage: Storage): Promise<number> {
  return (await countRows(storage, 'data_chunks')).rows;
}

async function countRows(storage: Storage, table: string): Promise<{ rows: number }> {
  const access = storage.access<Record<string, Record<string, never>>>();
  return await access.read(systemScope(), async (db) => {
    const row = await db
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow();
    return { rows: Number(row.n) };
  });
}
