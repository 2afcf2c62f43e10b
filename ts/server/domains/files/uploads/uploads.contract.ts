/** What holds of uploads on both databases. Each test opens a database of its own. */
import { readdir, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { tenantScope } from '../../../platform/storage/index.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../../platform/storage/test-support/each-database.ts';
import { initOf, openUploadBed, sendChunk, sha256Of, someBytes, TEST_CHUNK } from './test-support/upload-bed.ts';

const INIT = '/api/v1/upload/init';
const CHUNK = '/api/v1/upload/chunk';
const FINALIZE = '/api/v1/upload/finalize';

function testUploads(t: Test, newDatabase: NewDatabase): void {
  const open = async (test: Test, more: object = {}) => {
    return await openUploadBed(test, { ...more, url: await newUrl(test, newDatabase) });
  };

  t.test('chunks in any order, several at a time, make the file, which is handed over once', async (t) => {
    const { ask, target, folder } = await open(t);
    const bytes = someBytes(4500);
    const begun = await ask('POST', INIT, {
      body: initOf(bytes, { sha256: sha256Of(bytes).toUpperCase(), source: 'Handbook, 2026' }),
    });
    t.match(begun, { status: 201, body: { chunk_size: TEST_CHUNK, received: [], expires_at: '2027-01-15T09:00:00.000Z' } });
    const { upload_id: id } = begun.body;
    const sent = await Promise.all(
      [4, 2, 0, 3, 1].map((index) =>
        sendChunk(ask, id, bytes, index, { 'x-chunk-sha256': sha256Of(bytes.subarray(index * 1000, index * 1000 + 1000)) }),
      ),
    );
    t.strictSame(
      sent.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    );
    const done = await ask('POST', FINALIZE, { body: { upload_id: id } });
    t.match(done, { status: 201, body: { id, source: 'Handbook, 2026', sha256: sha256Of(bytes) } });
    t.strictSame(
      await ask('POST', FINALIZE, { body: { upload_id: id } }).then(({ body }) => body),
      done.body,
      'and asked again, it answers the same',
    );
    t.equal(target.files.length, 1);
    t.match(target.files[0], { tenant: 'red', namespace: 'handbook', fileName: 'a.txt', bytes });
    t.strictSame(await readdir(join(folder, 'uploads')), [], 'nothing is left where it came in');
    t.match(await sendChunk(ask, id, bytes, 0), { status: 409, body: { error: 'upload_finished' } });
    t.strictSame((await ask('POST', INIT, { body: { upload_id: id } })).body.received, [0, 1, 2, 3, 4]);
  });

  t.test('after a restart an upload goes on with what is missing', async (t) => {
    const bed = await open(t);
    const bytes = someBytes(3500);
    const { upload_id: id } = (await bed.ask('POST', INIT, { body: initOf(bytes) })).body;
    await sendChunk(bed.ask, id, bytes, 0);
    await sendChunk(bed.ask, id, bytes, 2);
    const { ask, target } = await bed.reopen();
    t.match(await ask('POST', FINALIZE, { body: { upload_id: id } }), {
      status: 409,
      body: { error: 'upload_incomplete', missing: [1, 3] },
    });
    t.strictSame((await ask('POST', INIT, { body: { upload_id: id } })).body.received, [0, 2]);
    for (const index of [1, 3]) await sendChunk(ask, id, bytes, index);
    t.equal((await ask('POST', FINALIZE, { headers: { 'x-upload-id': id } })).status, 201);
    t.strictSame(target.files[0]?.bytes, bytes);
  });

  t.test('what was damaged on its way is refused, and what was acknowledged is never written over', async (t) => {
    const { ask, target } = await open(t);
    const bytes = someBytes(2000);
    const { upload_id: id } = (await ask('POST', INIT, { body: initOf(bytes) })).body;
    const wrong = await sendChunk(ask, id, bytes, 0, { 'x-chunk-sha256': sha256Of(Buffer.from('other')) });
    t.match(wrong, { status: 422, body: { error: 'checksum_mismatch' } });
    t.strictSame((await ask('POST', INIT, { body: { upload_id: id } })).body.received, []);
    t.equal((await sendChunk(ask, id, bytes, 0)).status, 200);
    t.equal((await sendChunk(ask, id, bytes, 0)).status, 200, 'the same again is well');
    t.match(await sendChunk(ask, id, someBytes(2000, 9), 0), { status: 409, body: { error: 'chunk_conflict' } });
    await sendChunk(ask, id, bytes, 1);
    await ask('POST', FINALIZE, { body: { upload_id: id } });
    t.strictSame(target.files[0]?.bytes, bytes);
    const other = (await ask('POST', INIT, { body: initOf(bytes, { sha256: sha256Of(Buffer.from('announced')) }) })).body
      .upload_id;
    for (const index of [0, 1]) await sendChunk(ask, other, bytes, index);
    t.match(await ask('POST', FINALIZE, { body: { upload_id: other } }), { status: 422, body: { error: 'checksum_mismatch' } });
    t.equal(target.files.length, 1);
  });

  t.test('chunks of a wrong length, place or name are refused', async (t) => {
    const { ask } = await open(t);
    const bytes = someBytes(2500);
    const { upload_id: id } = (await ask('POST', INIT, { body: initOf(bytes) })).body;
    const send = (body: Uint8Array, headers: Record<string, string>) =>
      ask('POST', CHUNK, { body, headers: { 'x-upload-id': id, 'x-chunk-index': '0', ...headers } });
    t.match(await send(someBytes(999), {}), { status: 400, body: { error: 'chunk_size_mismatch' } });
    t.match(await send(someBytes(1001), {}), { status: 400, body: { error: 'chunk_size_mismatch' } });
    t.match(
      await send(someBytes(1000), { 'x-chunk-index': '2' }),
      { status: 400, body: { error: 'chunk_size_mismatch' } },
      'the last is shorter',
    );
    for (const index of ['3', '-1', '1.5', '', '99999999999', 'x'])
      t.match(await send(someBytes(1000), { 'x-chunk-index': index }), { status: 400 }, index);
    for (const upload of ['', '../../etc/passwd', id.replace(/.$/, 'x'), 'x'.repeat(5000)])
      t.match(
        await send(someBytes(1000), { 'x-upload-id': upload }),
        { status: 404, body: { error: 'upload_not_found' } },
        upload.slice(0, 40),
      );
    t.match(await send(someBytes(1000), { 'x-chunk-sha256': 'xyz' }), { status: 400 });
    t.strictSame((await ask('POST', INIT, { body: { upload_id: id } })).body.received, []);
  });

  t.test('what is said of a file is checked, and names from outside are never paths', async (t) => {
    const { ask, target, folder } = await open(t);
    const bytes = someBytes(500);
    const wrong = [
      { filename: undefined },
      { filename: '../..' },
      { filename: '\u202e' },
      { size: 0 },
      { size: -1 },
      { size: 1.5 },
      { namespace: undefined },
      { sha256: 'z'.repeat(64) },
      { source: 'a\0b' },
      { what: 1 },
    ];
    for (const more of wrong) t.equal((await ask('POST', INIT, { body: initOf(bytes, more) })).status, 400, JSON.stringify(more));
    t.match(await ask('POST', INIT, { body: initOf(bytes, { tenant: 'blue' }) }), { status: 403, body: { error: 'forbidden' } });
    t.match(await ask('POST', INIT, { body: initOf(bytes, { namespace: 'missing' }) }), {
      status: 404,
      body: { error: 'namespace_not_found' },
    });
    t.match(await ask('POST', INIT, { body: initOf(bytes, { size: 1_000_001 }) }), {
      status: 413,
      body: { error: 'upload_too_large' },
    });
    const { upload_id: id } = (await ask('POST', INIT, { body: initOf(bytes, { filename: '..\\..\\etc/pass\u202ewd' }) })).body;
    await sendChunk(ask, id, bytes, 0);
    await ask('POST', FINALIZE, { body: { upload_id: id } });
    t.match(target.files[0], { fileName: 'passwd', source: 'passwd' });
    t.ok(target.files[0]?.path.startsWith(join(folder, 'blobs')));
  });

  t.test('a foreign upload is as one that there never was', async (t) => {
    const { ask } = await open(t);
    const bytes = someBytes(500);
    const { upload_id: id } = (await ask('POST', INIT, { body: initOf(bytes) })).body;
    for (const caller of ['red/ben', 'blue/ann']) {
      const requests = (which: string) => [
        ask('POST', INIT, { body: { upload_id: which }, caller }),
        sendChunk(ask, which, bytes, 0, {}, caller),
        ask('POST', FINALIZE, { body: { upload_id: which }, caller }),
        ask('DELETE', `/api/v1/upload/${which}`, { caller }),
        ask('GET', `/api/v1/upload/tus/${which}`, { caller }),
      ];
      const unknown = await Promise.all(requests('0190a000-0000-7000-8000-000000000000'));
      for (const [i, answer] of (await Promise.all(requests(id))).entries()) {
        t.equal(answer.status, 404);
        t.strictSame({ ...answer.body, path: '' }, { ...unknown[i]?.body, path: '' });
      }
    }
    t.equal((await ask('POST', INIT, { body: initOf(bytes), caller: 'red/eve/viewer' })).status, 403, 'and a viewer begins none');
    t.equal((await sendChunk(ask, id, bytes, 0)).status, 200);
  });

  t.test('a tenant has a quota, and a number of open uploads, and others have their own', async (t) => {
    const { ask } = await open(t);
    const large = (more: object = {}, caller = 'red/ann') =>
      ask('POST', INIT, { body: { ...initOf(someBytes(1)), size: 900_000, ...more }, caller });
    const ids = await Promise.all([large(), large(), large()]).then((all) => all.map(({ body }) => body.upload_id));
    t.match(await large(), { status: 429, body: { error: 'upload_quota_exceeded' } });
    t.equal((await large({ size: 1000 })).status, 201);
    t.match(await large({ size: 1 }), { status: 429, body: { error: 'too_many_uploads' } });
    t.equal((await large({ tenant: 'blue' }, 'blue/ann')).status, 201);
    t.equal((await ask('DELETE', `/api/v1/upload/${ids[0]}`)).status, 204);
    t.equal((await large()).status, 201, 'what was cancelled no longer counts');
    const answers = await Promise.all(Array.from({ length: 12 }, () => large({ tenant: 'green', size: 10 }, 'green/ann')));
    t.equal(answers.filter(({ status }) => status === 201).length, 4, 'also when they come at once');
  });

  t.test('files that are complete count too, and the same file counts once', async (t) => {
    const { ask, uploads } = await open(t);
    const bytes = someBytes(3000);
    for (let i = 0; i < 6; i++) {
      const { upload_id: id } = (await ask('POST', INIT, { body: initOf(bytes) })).body;
      await Promise.all([0, 1, 2].map((index) => sendChunk(ask, id, bytes, index)));
      t.equal((await ask('POST', FINALIZE, { body: { upload_id: id } })).status, 201);
    }
    const left = await ask('POST', INIT, { body: initOf(bytes, { size: 999_000 }) });
    t.equal(left.status, 201);
    t.match(await uploads.blobs.find(tenantScope('red'), sha256Of(bytes)), { sizeBytes: 3000 });
  });

  t.test('what expires is removed with its bytes, and every byte puts that off', async (t) => {
    const { ask, clock, folder, uploads } = await open(t);
    const bytes = someBytes(2000);
    const old = (await ask('POST', INIT, { body: initOf(bytes) })).body.upload_id;
    const kept = (await ask('POST', INIT, { body: initOf(bytes) })).body.upload_id;
    clock.ms += 3_000_000;
    await sendChunk(ask, kept, bytes, 0);
    clock.ms += 3_000_000;
    t.match(await ask('POST', INIT, { body: { upload_id: old } }), { status: 404 });
    await uploads.sweep.run();
    t.strictSame(await readdir(join(folder, 'uploads')), [kept]);
    t.strictSame((await ask('POST', INIT, { body: { upload_id: kept } })).body.received, [0]);
  });

  t.test('a file that is refused is not lost: its upload can be looked at, and the answer stays the same', async (t) => {
    const { ask, target } = await open(t);
    const bytes = someBytes(100);
    const { upload_id: id } = (await ask('POST', INIT, { body: initOf(bytes) })).body;
    await sendChunk(ask, id, bytes, 0);
    target.refusal = new DomainError('scanned_pdf', 'The PDF has no text layer.');
    for (let i = 0; i < 2; i++)
      t.match(await ask('POST', FINALIZE, { body: { upload_id: id } }), { status: 422, body: { error: 'scanned_pdf' } });
    target.refusal = undefined;
    t.equal((await ask('POST', FINALIZE, { body: { upload_id: id } })).status, 201);
    t.strictSame(target.files[0]?.bytes, bytes);
  });

  t.test('bytes that the disk lost are noticed, and so are those that lie on another node', async (t) => {
    const { ask, folder, target } = await open(t);
    const bytes = someBytes(2000);
    const begin = async () => {
      const { upload_id: id } = (await ask('POST', INIT, { body: initOf(bytes) })).body;
      for (const index of [0, 1]) await sendChunk(ask, id, bytes, index);
      return id as string;
    };
    const cut = await begin();
    await truncate(join(folder, 'uploads', cut), 1500);
    t.match(await ask('POST', FINALIZE, { body: { upload_id: cut } }), { status: 422, body: { error: 'checksum_mismatch' } });
    const elsewhere = await begin();
    await rm(join(folder, 'uploads', elsewhere));
    t.match(await ask('POST', FINALIZE, { body: { upload_id: elsewhere } }), {
      status: 409,
      body: { error: 'upload_elsewhere' },
    });
    t.equal(target.files.length, 0);
  });

  t.test('blobs that no document needs are removed after a day, unless they came again', async (t) => {
    const used = new Set<string>();
    const { ask, clock, uploads, target } = await open(t, { usedBlobs: async () => used });
    const add = async (bytes: Buffer) => {
      const { upload_id: id } = (await ask('POST', INIT, { body: initOf(bytes) })).body;
      await sendChunk(ask, id, bytes, 0);
      await ask('POST', FINALIZE, { body: { upload_id: id } });
      const file = target.files.at(-1);
      if (file === undefined) throw new Error('no file arrived');
      return file;
    };
    const [needed, unneeded, again] = [await add(someBytes(90)), await add(someBytes(91)), await add(someBytes(92))];
    used.add(needed.sha256);
    clock.ms += 25 * 3_600_000;
    await add(someBytes(92));
    await uploads.sweep.run();
    t.strictSame(await readFile(needed.path), someBytes(90));
    t.strictSame(await readFile(again.path), someBytes(92));
    await t.rejects(readFile(unneeded.path), { code: 'ENOENT' });
    t.equal(await uploads.blobs.find(tenantScope('red'), unneeded.sha256), undefined);
  });
}

onEachDatabase(testUploads);
