/** Stored files through the unmodified `openai` package, on either database. */
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Principal } from '../../platform/http/principal.ts';
import { anyName } from '../../platform/module/use-rules.ts';
import { type NewDatabase, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { DEVELOPER } from './test-support/knowledge-bed.ts';
import {
  BAKERY,
  blobsOf,
  clientOf,
  filesBelow,
  LIGHTHOUSE,
  openaiBeds,
  pollIntervalMs,
  refused,
  textFile,
} from './test-support/openai-bed.ts';

function testStoredFiles(t: Test, newDatabase: NewDatabase): void {
  const open = openaiBeds(newDatabase);

  t.test('a file is stored, listed, read and deleted', async (t) => {
    const { client, bed } = await open(t);
    const made = await client.files.create({ file: await textFile('../karvo.txt', LIGHTHOUSE), purpose: 'assistants' });
    t.match(made, {
      object: 'file',
      bytes: LIGHTHOUSE.length,
      filename: 'karvo.txt',
      purpose: 'assistants',
      status: 'processed',
    });
    const expires_after = { anchor: 'created_at' as const, seconds: 3_600 };
    const other = await client.files.create({ file: await textFile('b.txt', BAKERY), purpose: 'user_data', expires_after });
    t.equal(other.expires_at, other.created_at + 3_600);
    t.match(await client.files.retrieve(made.id), made);
    t.equal(await (await client.files.content(made.id)).text(), LIGHTHOUSE);
    const listed = [];
    for await (const file of client.files.list({ limit: 1 })) listed.push(file.id);
    t.strictSame(listed, [other.id, made.id], 'the newest first, page by page');
    t.match((await client.files.list({ purpose: 'assistants' })).data, [{ id: made.id }]);
    t.match(await client.files.delete(made.id), { id: made.id, object: 'file', deleted: true });
    await refused(t, client.files.retrieve(made.id), { status: 404, code: 'file_not_found' });
    await refused(t, client.files.content(made.id), { status: 404 });
    t.match(await blobsOf(bed), { length: 1 }, 'its bytes are gone, and those of the other stay');
  });

  t.test('what is no file, or of no purpose here, is refused and leaves nothing', async (t) => {
    const { client, bed } = await open(t);
    const file = await textFile('a.txt', LIGHTHOUSE);
    await refused(t, client.files.create({ file, purpose: 'fine-tune' }), {
      status: 400,
      code: 'invalid_request',
      param: 'purpose',
    });
    await refused(t, client.files.create({ file: await textFile('a.txt', ''), purpose: 'assistants' }), {
      status: 400,
      param: 'file',
    });
    const expires_after = { anchor: 'created_at' as const, seconds: 60 };
    await refused(t, client.files.create({ file, purpose: 'assistants', expires_after }), {
      status: 400,
      param: 'expires_after',
    });
    const headers = { 'x-caller': DEVELOPER };
    const form = new FormData();
    form.set('purpose', 'assistants');
    const bare = await fetch(`${bed.url}/v1/files`, { method: 'POST', headers, body: form });
    t.match([bare.status, await bare.json()], [400, { error: { code: 'invalid_request', message: /no file/ } }]);
    const json = await fetch(`${bed.url}/v1/files`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{}',
    });
    t.equal(json.status, 415);
    t.strictSame((await client.files.list()).data, []);
    t.strictSame(await blobsOf(bed), []);
    t.strictSame(await filesBelow(join(bed.dataDir, 'uploads')), []);
  });

  t.test('deleting a file takes it out of every vector store and off the disk', async (t) => {
    const { client, bed } = await open(t);
    const file = await client.files.create({ file: await textFile('a.txt', LIGHTHOUSE), purpose: 'assistants' });
    const stores = await Promise.all(['one', 'two'].map((name) => client.vectorStores.create({ name, file_ids: [file.id] })));
    for (const { id } of stores)
      t.match(await client.vectorStores.files.poll(id, file.id, { pollIntervalMs }), { status: 'completed' });
    await client.files.delete(file.id);
    for (const { id } of stores) t.strictSame((await client.vectorStores.search(id, { query: 'lighthouse' })).data, []);
    t.strictSame(await blobsOf(bed), []);
  });

  t.test('a token for one base goes by what is in that base, and by what it stored itself and put nowhere', async (t) => {
    const uses = {
      of: ({ limits }: Principal) => {
        const namespaces = limits?.['namespaces'];
        return namespaces === undefined ? anyName : (name: string) => namespaces.includes(name);
      },
    };
    const { client, bed } = await open(t, { uses });
    const store = async (name: string, text: string, by = client) =>
      by.files.create({ file: await textFile(name, text), purpose: 'assistants' });
    const [payroll, both, loose] = [await store('p.txt', 'Pay of all.'), await store('b.txt', BAKERY), await store('l.txt', 'x')];
    const secret = await client.vectorStores.create({ name: 'payroll', file_ids: [payroll.id, both.id] });
    const kb = await client.vectorStores.create({ name: 'kb', file_ids: [both.id] });
    const [limited, other] = ['one', 'two'].map((token) => clientOf(bed, `${DEVELOPER}/${token}/kb`));
    if (limited === undefined || other === undefined) throw new Error('no clients');
    for (const { id } of [payroll, loose])
      for (const ask of [() => limited.files.retrieve(id), () => limited.files.content(id), () => limited.files.delete(id)])
        await refused(t, ask(), { status: 404, code: 'file_not_found' });
    const own = await store('own.txt', LIGHTHOUSE, limited);
    await refused(t, other.files.retrieve(own.id), { status: 404, code: 'file_not_found' });
    const ids = async (by: typeof limited) => (await by.files.list()).data.map(({ id }) => id).sort();
    t.strictSame(await ids(limited), [both.id, own.id].sort());
    await limited.vectorStores.files.create(kb.id, { file_id: own.id });
    t.strictSame(await ids(other), [both.id, own.id].sort(), 'once it is in the base, it is for all who may use that');
    t.match(await limited.files.delete(both.id), { deleted: true });
    await refused(t, limited.files.retrieve(both.id), { status: 404 });
    t.equal(
      (await client.vectorStores.files.retrieve(both.id, { vector_store_id: secret.id })).id,
      both.id,
      'the other base keeps it',
    );
    t.equal(await (await client.files.content(both.id)).text(), BAKERY);
  });

  t.test('a file is its owner’s, and others read it where they may use its vector store', async (t) => {
    const uses = {
      of:
        ({ subject }: Principal) =>
        (name: string) =>
          subject === 'ann' || subject === 'ada' || name !== 'secret',
    };
    const { client, bed } = await open(t, { uses });
    const of = (caller: string) => clientOf(bed, caller);
    const hidden = await client.files.create({ file: await textFile('a.txt', LIGHTHOUSE), purpose: 'user_data' });
    const shared = await client.files.create({ file: await textFile('b.txt', BAKERY), purpose: 'assistants' });
    const secret = await client.vectorStores.create({ name: 'secret', file_ids: [hidden.id] });
    const store = await client.vectorStores.create({ name: 'kb', file_ids: [shared.id] });
    const bob = of('red/bob/developer');
    t.strictSame((await bob.files.list()).data, []);
    t.equal((await bob.files.retrieve(shared.id)).filename, 'b.txt');
    t.equal(await (await of('red/vic/viewer').files.content(shared.id)).text(), BAKERY);
    for (const id of [hidden.id, 'file-none', `file-${'0'.repeat(32)}`])
      for (const ask of [() => bob.files.retrieve(id), () => bob.files.content(id), () => bob.files.delete(id)])
        await refused(t, ask(), { status: 404, code: 'file_not_found' });
    await refused(t, bob.files.delete(shared.id), { status: 404, code: 'file_not_found' });
    await refused(t, bob.vectorStores.files.create(store.id, { file_id: hidden.id }), { status: 404 });
    await refused(t, bob.vectorStores.retrieve(secret.id), { status: 404, code: 'vector_store_not_found' });
    t.strictSame(
      (await bob.vectorStores.list()).data.map(({ name }) => name),
      ['kb'],
    );
    const viewer = of('red/vic/viewer');
    t.equal((await viewer.vectorStores.retrieve(store.id)).name, 'kb');
    for (const ask of [
      async () => viewer.files.create({ file: await textFile('a.txt', BAKERY), purpose: 'assistants' }),
      () => viewer.vectorStores.create({ name: 'x' }),
      () => viewer.vectorStores.update(store.id, { name: 'x' }),
      () => viewer.vectorStores.files.create(store.id, { file_id: shared.id }),
      () => viewer.vectorStores.delete(store.id),
      () => viewer.files.delete(shared.id),
    ])
      await refused(t, ask(), { status: 403 });
    const admin = of('red/ada/admin');
    t.equal((await admin.files.list()).data.length, 2);
    t.match(await admin.files.delete(hidden.id), { deleted: true });
    const blue = of('blue/eve/admin');
    t.strictSame((await blue.files.list()).data, []);
    t.strictSame((await blue.vectorStores.list()).data, []);
    for (const ask of [
      () => blue.files.retrieve(shared.id),
      () => blue.vectorStores.retrieve(store.id),
      () => blue.vectorStores.search(store.id, { query: 'bread' }),
      () => blue.vectorStores.files.list(store.id),
      () => blue.vectorStores.files.create(store.id, { file_id: shared.id }),
    ])
      await refused(t, ask(), { status: 404 });
  });
}

onEachDatabase(testStoredFiles, { timeoutMs: 120_000 });
