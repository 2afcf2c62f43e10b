import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { writeZip } from '../../ts/server/extraction/test-support/zip-writer.ts';
import { filesOfArchive, isArchive } from '../../ts/web/chat/sidebar/archive.ts';

const blobOf = (bytes: Uint8Array): Blob => new Blob([new Uint8Array(bytes)]);
const texts = async (blobs: readonly Blob[]): Promise<string[]> => Promise.all(blobs.map((blob) => blob.text()));

t.test('files are found by their paths, packed or not', async (t) => {
  const long = JSON.stringify(Array.from({ length: 5_000 }, (_, n) => ({ n, title: 'Über den Wolken' })));
  const archive = blobOf(
    writeZip([
      { name: 'chat.html', data: '<html>' },
      { name: 'export/conversations-000.json', data: long },
      { name: 'export/conversations-001.json', data: '[2]', stored: true },
      { name: 'my-conversations.json', data: '[3]' },
    ]),
  );
  t.equal(await isArchive(archive), true);
  t.strictSame(await texts(await filesOfArchive(archive, /(^|\/)conversations(-\d+)?\.json$/)), [long, '[2]']);
});

t.test('what is no archive, encrypted, or larger than it says is refused', async (t) => {
  t.equal(await isArchive(new Blob(['[]'])), false);
  t.equal(await isArchive(new Blob([])), false);
  await t.rejects(filesOfArchive(new Blob(['PK\x03\x04']), /./), /no end/);
  const encrypted = blobOf(writeZip([{ name: 'a', data: 'x', encrypted: true }]));
  await t.rejects(filesOfArchive(encrypted, /a/), /cannot be read/);
  const bytes = writeZip([{ name: 'a', data: 'x'.repeat(1_000) }]);
  const at = bytes.indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]));
  bytes.writeUInt32LE(10, at + 24);
  await t.rejects(filesOfArchive(blobOf(bytes), /a/), /larger than the archive says/);
});

t.test('a damaged archive ends in an error or in files, whatever the damage', async (t) => {
  const sound = writeZip([
    { name: 'conversations.json', data: '[1]' },
    { name: 'b', data: deflateRawSync('b') },
  ]);
  const damage = fc.array(fc.tuple(fc.nat(sound.length - 1), fc.nat(255)), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(damage, fc.nat(sound.length), async (flips, length) => {
      const bytes = Buffer.from(sound);
      for (const [at, value] of flips) bytes[at] = value;
      for (const archive of [bytes, bytes.subarray(0, length)]) {
        const files = await filesOfArchive(blobOf(archive), /./).catch((error: unknown) => {
          t.ok(error instanceof Error);
          return [];
        });
        t.ok(files.length <= 2);
      }
    }),
    { numRuns: 300 },
  );
});
