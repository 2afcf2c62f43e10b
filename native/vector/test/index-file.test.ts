import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { iterations } from '../../../test/test-support/iterations.ts';
import { VectorIndex } from '../../../ts/server/native/vector.ts';
import { checksum } from './checksum.ts';
import { clusteredVectors, vectorAt } from './vectors.ts';

const dimensions = 12;
const count = 300;
const options = { dimensions, label: 'model-a', exactBelow: 20 };
const vectors = clusteredVectors(count, dimensions, 3);
const folder = mkdtempSync(join(tmpdir(), 'svc-vector-'));
t.teardown(() => rmSync(folder, { recursive: true }));

async function savedIndex(name: string, more: object = {}): Promise<{ path: string; index: VectorIndex }> {
  const path = join(folder, name);
  const index = new VectorIndex({ ...options, ...more });
  await index.addAll(
    Float64Array.from({ length: count }, (_, id) => 1000 + id),
    vectors,
  );
  await index.link();
  await index.removeAll(Float64Array.of(1003, 1004));
  await index.save(path);
  return { path, index };
}

/** The bytes of a header, whose checksums are made right again when they are to be. */
const HEADER_BYTES = 320;
const BODY_SUM_AT = 40;
const HEADER_SUM_AT = 312;

function signed(bytes: Buffer): Buffer {
  if (bytes.length < HEADER_BYTES) return bytes;
  bytes.writeBigUInt64LE(checksum(bytes.subarray(HEADER_BYTES)), BODY_SUM_AT);
  bytes.writeBigUInt64LE(checksum(bytes.subarray(0, HEADER_SUM_AT)), HEADER_SUM_AT);
  return bytes;
}

/** Opens both ways and, where that succeeds, uses what was opened. Returns the codes of what was refused. */
async function tryToUse(path: string, more: object = {}): Promise<string[]> {
  const codes: string[] = [];
  for (const isViewed of [true, false]) {
    const opened = await VectorIndex.open(path, { ...options, ...more }, { isViewed }).catch((error) => String(error.code));
    if (typeof opened === 'string') {
      codes.push(opened);
      continue;
    }
    await opened.searchAll(vectors.subarray(0, 20 * dimensions), 5);
    opened.add(5, vectorAt(vectors, 5, dimensions));
    await opened.link();
    await opened.compact();
    await opened.close();
  }
  return codes;
}

for (const isViewed of [true, false]) {
  t.test(`what was saved answers the same (${isViewed ? 'viewed' : 'loaded'})`, async (t) => {
    const { path, index } = await savedIndex('same');
    const opened = await VectorIndex.open(path, options, { isViewed });
    t.match(opened.stats(), { nVectors: count - 2, nRemoved: 2, nLinked: count });
    const queries = vectors.subarray(0, 50 * dimensions);
    t.strictSame(await opened.searchAll(queries, 10), await index.searchAll(queries, 10));
    t.equal(opened.similarity(vectorAt(vectors, 3, dimensions), 1003), undefined);
    await Promise.all([opened.close(), index.close()]);
  });
}

t.test('a viewed index is changed without its file, and is not disturbed when the file is replaced', async (t) => {
  const { path, index } = await savedIndex('viewed');
  const bytes = readFileSync(path);
  const viewed = await VectorIndex.open(path, options, { isViewed: true });
  await viewed.addAll(Float64Array.of(7, 1009), vectors.subarray(0, 2 * dimensions));
  await viewed.removeAll(Float64Array.of(1010));
  await viewed.link();
  t.match(viewed.stats(), { nVectors: count - 2, nRemoved: 4, nLinked: count + 2 });
  t.ok(readFileSync(path).equals(bytes));
  const before = await viewed.searchAll(vectors, 5);
  await index.removeAll(Float64Array.from({ length: count }, (_, id) => 1000 + id));
  await index.save(path);
  t.strictSame(await viewed.searchAll(vectors, 5), before);
  await viewed.save(path);
  const again = await VectorIndex.open(path, options);
  t.strictSame(await again.searchAll(vectors, 5), before);
  await Promise.all([viewed.close(), index.close(), again.close()]);
});

t.test('a viewed index takes no memory for vectors and links before it is changed', async (t) => {
  const { path, index } = await savedIndex('light');
  const viewed = await VectorIndex.open(path, options, { isViewed: true });
  await viewed.link();
  t.ok(viewed.sizeBytes < index.sizeBytes / 2);
  await Promise.all([viewed.close(), index.close()]);
});

t.test('a file of another label, other dimensions or none is told apart', async (t) => {
  const { path, index } = await savedIndex('told');
  await t.rejects(VectorIndex.open(path, { ...options, label: 'model-b' }), { code: 'index_invalid', message: /another label/ });
  await t.rejects(VectorIndex.open(path, { ...options, storage: 'i8' }), { code: 'index_invalid', message: /another storage/ });
  await t.rejects(VectorIndex.open(path, { ...options, dimensions: 13 }), { code: 'index_invalid', message: /other dimensions/ });
  await t.rejects(VectorIndex.open(join(folder, 'nowhere'), options), { code: 'index_not_found' });
  await t.rejects(VectorIndex.open(folder, options), { code: 'index_invalid' });
  await index.close();
});

t.test('a file that cannot be written leaves what was there, and nothing beside it', async (t) => {
  const { path, index } = await savedIndex('kept');
  const bytes = readFileSync(path);
  t.equal(statSync(path).mode & 0o077, 0);
  const taken = join(folder, 'taken');
  mkdirSync(join(taken, 'inside'), { recursive: true });
  await t.rejects(index.save(taken), { code: 'index_write_failed' });
  await t.rejects(index.save(join(folder, 'no', 'such', 'folder')), { code: 'index_write_failed' });
  t.ok(readFileSync(path).equals(bytes));
  t.strictSame(
    readdirSync(folder).filter((name) => name.includes('.tmp-')),
    [],
  );
  await index.close();
});

t.test('every shortened file is refused', async (t) => {
  const { path, index } = await savedIndex('short');
  const bytes = readFileSync(path);
  for (const size of [0, 1, 8, HEADER_BYTES - 1, HEADER_BYTES, bytes.length >> 1, bytes.length - 1]) {
    writeFileSync(path, bytes);
    truncateSync(path, size);
    t.strictSame(await tryToUse(path), ['index_invalid', 'index_invalid']);
    writeFileSync(path, signed(bytes.subarray(0, size)));
    t.strictSame(await tryToUse(path), ['index_invalid', 'index_invalid']);
  }
  await index.close();
});

t.test('every changed byte is noticed', async (t) => {
  const { path, index } = await savedIndex('changed');
  const bytes = readFileSync(path);
  const change = fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }));
  await fc.assert(
    fc.asyncProperty(change, async ([at, by]) => {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ by;
      writeFileSync(path, changed);
      return (await tryToUse(path)).length === 2;
    }),
    { numRuns: iterations(100, 1_000, 'SVC_TEST_MUTATIONS') },
  );
  t.pass('both ways to open it refused each');
  await index.close();
});

for (const storage of ['f16', 'i8', 'b1'] as const)
  t.test(`a file made by somebody who knows the checksums is refused, or used without harm (${storage})`, (t) =>
    forge(t, storage),
  );

async function forge(t: Test, storage: 'f16' | 'i8' | 'b1'): Promise<void> {
  const { path, index } = await savedIndex('hostile', { storage, rescored: 8 });
  const bytes = readFileSync(path);
  const graphBytes = Number(bytes.readBigUInt64LE(32));
  const place = fc.oneof(
    fc.integer({ min: 0, max: HEADER_BYTES - 1 }),
    fc.integer({ min: HEADER_BYTES, max: bytes.length - 1 }),
    fc.integer({ min: bytes.length - graphBytes, max: bytes.length - 1 }),
    fc.integer({ min: bytes.length - graphBytes, max: bytes.length - graphBytes + 40 }),
  );
  const value = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0, 1, 0x7f, 0x80, 0xff));
  let nRefused = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(place, value), { minLength: 1, maxLength: 8 }), async (changes) => {
      const changed = Buffer.from(bytes);
      for (const [at, to] of changes) changed[at] = to;
      writeFileSync(path, signed(changed));
      const codes = await tryToUse(path, { storage, rescored: 8 });
      nRefused += codes.length;
      return codes.every((code) => code === 'index_invalid');
    }),
    { numRuns: iterations(100, 4_000, 'SVC_TEST_MUTATIONS') },
  );
  t.ok(nRefused > 0);
  await index.close();
}

t.test('a key that is there twice, or is none, is refused', async (t) => {
  const { path, index } = await savedIndex('keys');
  const bytes = readFileSync(path);
  for (const key of [1001n, 1n << 53n]) {
    const changed = Buffer.from(bytes);
    changed.writeBigUInt64LE(key, HEADER_BYTES);
    writeFileSync(path, signed(changed));
    t.strictSame(await tryToUse(path), ['index_invalid', 'index_invalid']);
  }
  await index.close();
});
