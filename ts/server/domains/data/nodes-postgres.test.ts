/** Two nodes on one PostgreSQL, each with a folder of its own: files that one of them got, the other one reads, indexes and removes. */
import { createHash } from 'node:crypto';
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toFile } from 'openai';
import t, { type Test } from 'tap';
import { systemScope, tenantScope } from '../../platform/storage/index.ts';
import { PostgresCluster } from '../../platform/storage/test-support/postgres-cluster.ts';
import type { BlobStore } from '../files/index.ts';
import { type KnowledgeBed, openKnowledgeBed } from './test-support/knowledge-bed.ts';
import { clientOf } from './test-support/openai-bed.ts';
import { largeDocx, upload } from './test-support/upload.ts';

const TEXT = 'The harbour of Karvo was dug in 1911 by forty masons.';
const red = tenantScope('red');

const missing = PostgresCluster.missing();
if (missing !== undefined) t.plan(0, missing);
else await testNodes(await PostgresCluster.start());

async function openNodes(t: Test, url: string, settings: object = {}): Promise<[KnowledgeBed, KnowledgeBed]> {
  const open = (nodeId: string) =>
    openKnowledgeBed(t, () => Promise.reject(new Error('it has a database')), { url, nodeId, settings: { ...settings } });
  return [await open('node-1'), await open('node-2')];
}

async function testNodes(cluster: PostgresCluster): Promise<void> {
  t.teardown(() => cluster.remove());
  t.setTimeout(120_000);

  t.test('a file that one node got is read and indexed by the other one', async (t) => {
    const [one, two] = await openNodes(t, await cluster.newDatabase());
    const release = Promise.withResolvers<void>();
    // Whatever the first node takes waits in its model; the other one does the rest.
    one.model.pause = release.promise;
    const large = await upload(one, 'harbour.docx', largeDocx(TEXT));
    t.equal(large.status, 202);
    const [here, there] = [clientOf(one), clientOf(two)];
    const stored = [];
    for (let i = 0; i < 5; i++)
      stored.push(
        await here.files.create({ file: await toFile(Buffer.from(`${TEXT} ${i}`), `${i}.txt`), purpose: 'assistants' }),
      );
    const store = await here.vectorStores.create({ name: 'files' });
    const batch = await here.vectorStores.fileBatches.create(store.id, { file_ids: stored.map(({ id }) => id) });
    const read = async () => (await there.vectorStores.fileBatches.retrieve(batch.id, { vector_store_id: store.id })).file_counts;
    while ((await read()).completed < 3) await new Promise((resolve) => setTimeout(resolve, 20));
    release.resolve();
    while ((await read()).in_progress > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    t.match(await read(), { completed: 5, failed: 0 });
    t.match(await two.jobEnd(large.body.job_id), { state: 'done', result: { chunks: 1 } });
    t.equal(await (await there.files.content(stored[0]?.id ?? '')).text(), `${TEXT} 0`);
    t.match((await two.search('masons of the harbour')).body.results, [{ source: 'harbour.docx' }]);
  });

  t.test('where files are not shared, a node that lacks one says so', async (t) => {
    const [one, two] = await openNodes(t, await cluster.newDatabase(), { 'data.shared_files': false });
    const { id } = await clientOf(one).files.create({ file: await toFile(Buffer.from(TEXT), 'a.txt'), purpose: 'assistants' });
    const refusal = await clientOf(two)
      .files.content(id)
      .catch((error: unknown) => error);
    t.match(refusal, { status: 409, code: 'file_elsewhere' });
    t.equal(await (await clientOf(one).files.content(id)).text(), TEXT);
  });

  t.test('what is removed is gone from the database at once, and from every node’s disk', async (t) => {
    const nodes = await openNodes(t, await cluster.newDatabase());
    const [one, two] = nodes.map(({ files }) => files.blobs) as [BlobStore, BlobStore];
    const [{ storage, dataDir }] = nodes;
    const bytes = Buffer.alloc(2_500_000, 'abc');
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    await writeFile(join(dataDir, 'upload'), bytes);
    await one.store(red, join(dataDir, 'upload'), { sha256, sizeBytes: bytes.length }, Date.now());
    const path = await two.open(red, sha256);
    t.strictSame(await two.open(red, sha256), path);
    await t.rejects(two.open(tenantScope('blue'), sha256), { code: 'file_elsewhere' }, 'another tenant has nothing of it');
    const countParts = () =>
      storage.access<{ data_blob_parts: { sha256: string } }>().read(systemScope(), async (db) => {
        return (await db.selectFrom('data_blob_parts').select('sha256').execute()).length;
      });
    t.equal(await countParts(), 3);
    await one.remove(red, sha256);
    t.equal(await countParts(), 0);
    const files = async (node: KnowledgeBed) =>
      (await readdir(join(node.dataDir, 'blobs'), { recursive: true })).filter((file) => file.includes(sha256));
    t.strictSame([(await files(nodes[0])).length, (await files(nodes[1])).length], [0, 1]);
    await two.removeOrphans(systemScope(), Date.now() - 3_600_000);
    t.equal((await files(nodes[1])).length, 1, 'a file that came a moment ago may be being stored');
    await utimes(path, 1, 1);
    await two.removeOrphans(systemScope(), Date.now() + 1_000);
    t.equal((await files(nodes[1])).length, 0);
  });
}
