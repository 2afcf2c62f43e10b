import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Upload, type UploadOptions } from 'tus-js-client';
import { RawClient } from '../../../../platform/http/test-support/test-bed.ts';
import { until } from '../../../../platform/jobs/test-support/open-jobs.ts';
import { openUploadBed, someBytes } from '../test-support/upload-bed.ts';

const PATH = '/api/v1/upload/tus';
const tusHeaders = { 'tus-resumable': '1.0.0' };
const stream = { ...tusHeaders, 'content-type': 'application/offset+octet-stream' };
const encode = (values: Record<string, string>) =>
  Object.entries(values)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',');
const metadata = { filename: 'Bericht über Häfen.txt', namespace: 'handbook' };
const creation = (sizeBytes: number, more: Record<string, string> = {}) => ({
  ...tusHeaders,
  'upload-length': String(sizeBytes),
  'upload-metadata': encode(metadata),
  ...more,
});

/** The unmodified client of the protocol's makers. */
function send(url: string, bytes: Buffer, options: Partial<UploadOptions> = {}): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const upload = new Upload(bytes, {
      endpoint: url + PATH,
      metadata,
      headers: { 'x-caller': 'red/ann' },
      retryDelays: [0, 20, 50],
      onSuccess: () => resolve(upload),
      onError: reject,
      ...options,
    });
    upload.start();
  });
}

t.test('tus-js-client sends a file, in one request and in several', async (t) => {
  const { url, target, ask } = await openUploadBed(t);
  for (const [i, options] of [{}, { chunkSize: 7_000 }, { uploadDataDuringCreation: true, chunkSize: 7_000 }].entries()) {
    const bytes = someBytes(40_000, i);
    const { url: location } = await send(url, bytes, options);
    t.match(target.files[i], { tenant: 'red', namespace: 'handbook', fileName: 'Bericht über Häfen.txt', bytes });
    t.match(await ask('GET', new URL(location ?? '').pathname), {
      status: 200,
      body: { offset: 40_000, size: 40_000, result: { sha256: String } },
    });
  }
});

t.test('tus-js-client goes on after a cut, and after a restart of the server', async (t) => {
  const bed = await openUploadBed(t);
  const bytes = someBytes(60_000);
  const location = await new Promise<string>((resolve) => {
    const upload = new Upload(bytes, {
      endpoint: bed.url + PATH,
      metadata,
      headers: { 'x-caller': 'red/ann' },
      chunkSize: 10_000,
      retryDelays: [],
      onError: () => undefined,
      onChunkComplete: (_, accepted) => {
        if (accepted < 20_000) return;
        void upload.abort();
        resolve(upload.url ?? '');
      },
    });
    upload.start();
  });
  const { url, target, ask } = await bed.reopen();
  const path = new URL(location).pathname;
  t.match(await ask('GET', path), { body: { offset: 20_000 } });
  await send(url, bytes, { uploadUrl: url + path, chunkSize: 10_000 });
  t.equal(target.files.length, 1);
  t.strictSame(target.files[0]?.bytes, bytes);
});

t.test('tus-js-client cancels an upload', async (t) => {
  const { url, folder, ask } = await openUploadBed(t);
  const upload = new Upload(someBytes(30_000), {
    endpoint: url + PATH,
    metadata,
    headers: { 'x-caller': 'red/ann' },
    chunkSize: 5_000,
    onChunkComplete: () => void upload.abort(true).then(() => ended()),
  });
  let ended = () => {};
  const gone = new Promise<void>((resolve) => {
    ended = resolve;
  });
  upload.start();
  await gone;
  t.strictSame(await readdir(join(folder, 'uploads')), []);
  t.equal((await ask('GET', new URL(upload.url ?? 'http://x/').pathname)).status, 404);
});

async function begin(t: Test, sizeBytes: number) {
  const bed = await openUploadBed(t);
  const created = await bed.ask('POST', PATH, { headers: creation(sizeBytes) });
  return { ...bed, created, path: created.headers.get('location') ?? '' };
}

t.test('HEAD tells the offset, and every answer the version and the time of expiry', async (t) => {
  const { ask, created, path } = await begin(t, 3_000);
  t.equal(created.status, 201);
  t.match(Object.fromEntries(created.headers), { 'tus-resumable': '1.0.0', 'upload-expires': 'Fri, 15 Jan 2027 09:00:00 GMT' });
  const patched = await ask('PATCH', path, { body: someBytes(1_000), headers: { ...stream, 'upload-offset': '0' } });
  t.match({ status: patched.status, offset: patched.headers.get('upload-offset') }, { status: 204, offset: '1000' });
  const head = await ask('HEAD', path, { headers: tusHeaders });
  t.match(Object.fromEntries(head.headers), {
    ...tusHeaders,
    'upload-offset': '1000',
    'upload-length': '3000',
    'upload-metadata': encode(metadata),
    'cache-control': 'no-store',
  });
});

t.test('OPTIONS tells what the server can do, without a credential', async (t) => {
  const { url } = await openUploadBed(t);
  const { status, headers } = await fetch(url + PATH, { method: 'OPTIONS' });
  t.equal(status, 204);
  t.match(Object.fromEntries(headers), {
    'tus-version': '1.0.0',
    'tus-max-size': '1000000',
    'tus-extension': /creation.*termination/,
    'tus-checksum-algorithm': 'sha256,sha1',
  });
});

t.test('bytes with a wrong checksum are thrown away, and with a right one are kept', async (t) => {
  const { ask, path, target } = await begin(t, 2_000);
  const bytes = someBytes(2_000);
  const patch = (from: number, checksum: string) =>
    ask('PATCH', path, {
      body: bytes.subarray(from, from + 1_000),
      headers: { ...stream, 'upload-offset': String(from), 'upload-checksum': checksum },
    });
  const digest = (algorithm: string, from: number) =>
    `${algorithm} ${createHash(algorithm)
      .update(bytes.subarray(from, from + 1_000))
      .digest('base64')}`;
  t.match(await patch(0, digest('sha256', 1_000)), { status: 460, body: { error: 'tus_checksum_mismatch' } });
  t.equal((await ask('HEAD', path)).headers.get('upload-offset'), '0');
  t.equal((await patch(0, digest('sha256', 0))).status, 204);
  t.match(await patch(1_000, 'crc32 AAAA'), { status: 400 });
  t.equal((await patch(1_000, digest('sha1', 1_000))).status, 204);
  t.strictSame(target.files[0]?.bytes, bytes);
});

t.test('requests that do not follow the protocol are refused, each as it says', async (t) => {
  const { ask, path } = await begin(t, 2_000);
  const body = someBytes(100);
  t.match(await ask('PATCH', path, { body, headers: { ...stream, 'tus-resumable': '0.2.2', 'upload-offset': '0' } }), {
    status: 412,
  });
  t.match(await ask('PATCH', path, { body, headers: { ...tusHeaders, 'content-type': 'text/plain', 'upload-offset': '0' } }), {
    status: 415,
  });
  t.match(await ask('PATCH', path, { body, headers: { ...stream, 'upload-offset': '5' } }), {
    status: 409,
    body: { error: 'upload_offset_mismatch', offset: 0 },
  });
  t.match(await ask('PATCH', path, { body, headers: stream }), { status: 400 });
  t.match(await ask('PATCH', path, { body: someBytes(2_001), headers: { ...stream, 'upload-offset': '0' } }), { status: 400 });
  for (const headers of [
    { 'upload-length': 'x' },
    { 'upload-length': '0' },
    { 'upload-metadata': 'filename' },
    { 'upload-metadata': 'filename ///=,' },
  ])
    t.match(await ask('POST', PATH, { headers: creation(10, headers) }), { status: 400 }, JSON.stringify(headers));
  t.match(await ask('POST', PATH, { headers: creation(10, { 'upload-length': '2000000' }) }), { status: 413 });
  t.match(await ask('POST', PATH, { headers: creation(10, { 'upload-metadata': encode({ ...metadata, tenant: 'blue' }) }) }), {
    status: 403,
  });
});

t.test('what came before a connection was cut is kept, and a second writer has to wait', async (t) => {
  const { ask, path, url, folder } = await begin(t, 200_000);
  const bytes = someBytes(200_000);
  const client = await RawClient.open(t, Number(new URL(url).port));
  const head = [
    `PATCH ${path} HTTP/1.1`,
    'host: a',
    'x-caller: red/ann',
    'tus-resumable: 1.0.0',
    'content-type: application/offset+octet-stream',
    'upload-offset: 0',
    'content-length: 200000',
    '',
    '',
  ];
  client.send(head.join('\r\n'));
  client.send(bytes.subarray(0, 150_000));
  const file = join(folder, 'uploads', path.split('/').at(-1) ?? '');
  await until(
    () => stat(file),
    ({ size }) => size > 0,
  );
  const second = await ask('PATCH', path, { body: someBytes(10), headers: { ...stream, 'upload-offset': '0' } });
  t.match(second, { status: 423, body: { error: 'upload_locked' } });
  client.socket.destroy();
  const offset = await until(
    async () => Number((await ask('HEAD', path)).headers.get('upload-offset')),
    (kept) => kept > 0,
  );
  t.ok(offset <= 150_000, `${offset} bytes were kept`);
  const headers = { ...stream, 'upload-offset': String(offset) };
  // The first writer gives way a moment after its offset is known.
  const rest = await until(
    () => ask('PATCH', path, { body: bytes.subarray(offset), headers }),
    ({ status }) => status !== 423,
  );
  t.equal(rest.status, 204);
  t.match(await ask('GET', path), { body: { result: { sha256: createHash('sha256').update(bytes).digest('hex') } } });
});

t.test('a file that was whole when the server died is handed over by the sweep', async (t) => {
  const bed = await begin(t, 1_000);
  bed.target.refusal = new Error('the server dies here');
  t.equal(
    (await bed.ask('PATCH', bed.path, { body: someBytes(1_000), headers: { ...stream, 'upload-offset': '0' } })).status,
    500,
  );
  const { target, uploads, ask } = await bed.reopen();
  await uploads.sweep.run();
  t.match(target.files, [{ bytes: someBytes(1_000), tenant: 'red' }]);
  t.match(await ask('GET', bed.path), { body: { result: { sha256: String } } });
  await uploads.sweep.run();
  t.equal(target.files.length, 1, 'once');
});
