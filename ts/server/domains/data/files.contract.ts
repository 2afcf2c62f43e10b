/** What files that are uploaded become, on either database. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { wrap, writePdf } from '../../extraction/test-support/pdf-writer.ts';
import { writeXlsx } from '../../extraction/test-support/xlsx-writer.ts';
import { tenantScope } from '../../platform/storage/index.ts';
import { type NewDatabase, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { openKnowledgeBed } from './test-support/knowledge-bed.ts';
import { largeDocx, upload } from './test-support/upload.ts';

const pages = ['The lighthouse of Karvo was built in 1893.', 'The bakery of Lind sells rye bread at six in the morning.'];
const pdf = writePdf(pages.map((text) => wrap(text, 60, 60, 400).texts));

function testFiles(t: Test, newDatabase: NewDatabase): void {
  t.test('a small file is indexed at once, and found with its page or sheet', async (t) => {
    const bed = await openKnowledgeBed(t, newDatabase);
    const first = await upload(bed, 'town.pdf', pdf, { source: 'guide/town.pdf' });
    t.match(first, { status: 201, body: { namespace: 'kb', source: 'guide/town.pdf', chunks: 2, state: 'indexed' } });
    t.match((await bed.search('rye bread in the morning')).body.results[0], { source: 'guide/town.pdf', page: 2 });
    const sheets = writeXlsx([
      {
        name: 'Boats',
        rows: [
          ['Boat', 'Berth'],
          ['Dinghy', 'eleven'],
        ],
      },
      {
        name: 'Fees',
        rows: [
          ['Ship', 'Fee'],
          ['Trawler', 'eighty crowns'],
        ],
      },
    ]);
    t.equal((await upload(bed, 'fees.xlsx', sheets)).status, 201);
    t.match((await bed.search('fee of the trawler in crowns')).body.results[0], { source: 'fees.xlsx', sheet: 'Fees' });
    const again = await upload(bed, 'town.pdf', pdf, { source: 'guide/town.pdf' });
    t.match(again, { status: 201, body: { id: first.body.id } }, 'the same file is the same document');
    const changed = writePdf([wrap('The bakery of Lind is closed for ever.', 60, 60, 400).texts]);
    t.equal((await upload(bed, 'town.pdf', changed, { source: 'guide/town.pdf' })).status, 201);
    const { body } = await bed.ask('GET', 'namespaces/red/kb/documents');
    t.strictSame(body.data.map(({ source }: { source: string }) => source).sort(), ['fees.xlsx', 'guide/town.pdf']);
    t.notMatch((await bed.search('rye bread in the morning')).body.results[0], { text: /rye/ });
  });

  t.test('a large file is a job, which finds the same file again instead of a second one', async (t) => {
    const bed = await openKnowledgeBed(t, newDatabase);
    const file = largeDocx('The harbour of Karvo was dug in 1911 by forty masons.');
    const { status, body } = await upload(bed, 'harbour.docx', file);
    t.equal(status, 202);
    const again = await upload(bed, 'harbour.docx', file);
    t.match(await bed.jobEnd(body.job_id), { state: 'done', owner: 'ann', result: { source: 'harbour.docx', chunks: 1 } });
    if (again.status === 202) t.equal(again.body.job_id, body.job_id);
    t.match((await bed.search('masons of the harbour')).body.results[0], { source: 'harbour.docx' });
    const documents = await bed.ask('GET', 'namespaces/red/kb/documents');
    t.match(documents.body.data, [{ kind: 'docx', state: 'indexed', bytes: file.length }]);
    t.equal(documents.body.data.length, 1);
  });

  t.test('what cannot be read is refused with its code and what to do, and leaves no document', async (t) => {
    const bed = await openKnowledgeBed(t, newDatabase);
    const scan = writePdf([[]], { hasPicture: true });
    t.match(await upload(bed, 'scan.pdf', scan), { status: 422, body: { error: 'scanned_pdf', detail: /OCR/, remedy: /OCR/ } });
    const locked = writePdf([[{ text: 'secret', x: 9, y: 9 }]], { isEncrypted: true });
    t.match(await upload(bed, 'locked.pdf', locked), { status: 422, body: { error: 'encrypted_pdf', detail: /password/ } });
    const short = await upload(bed, 'short.txt', Buffer.from('Too short.'));
    t.match(short, { status: 400, body: { error: 'text_too_short' } });
    t.match(await bed.add('short', 'Too short.'), { status: short.status, body: { error: 'text_too_short' } });
    const large = Buffer.concat([scan, Buffer.alloc(5_000_000, '%\n')]);
    const { body } = await upload(bed, 'large-scan.pdf', large);
    t.match(await bed.jobEnd(body.job_id), { state: 'failed', error: { code: 'scanned_pdf', remedy: /OCR/ } });
    t.strictSame((await bed.ask('GET', 'namespaces/red/kb/documents')).body.data, []);
  });

  t.test('what of a file was not read is said where it is added, by its job, and where it is listed', async (t) => {
    const bed = await openKnowledgeBed(t, newDatabase);
    const withScan = writePdf([...pages.map((text) => wrap(text, 60, 60, 400).texts), []], { hasPicture: true });
    const warnings = ['1 of 3 pages have no text layer and are not indexed: 3.'];
    t.match(await upload(bed, 'small.pdf', withScan), { status: 201, body: { state: 'indexed', warnings } });
    t.match(await upload(bed, 'small.pdf', withScan), { status: 201, body: { warnings } }, 'also of one that is there');
    const { body } = await upload(bed, 'large.pdf', Buffer.concat([withScan, Buffer.alloc(5_000_000, '%\n')]));
    t.match(await bed.jobEnd(body.job_id), { state: 'done', result: { state: 'indexed', warnings } });
    await upload(bed, 'whole.pdf', pdf);
    const { data } = (await bed.ask('GET', 'namespaces/red/kb/documents')).body;
    t.strictSame(
      data.map((document: { source: string; warnings?: string[] }) => [document.source, document.warnings]),
      [
        ['small.pdf', warnings],
        ['large.pdf', warnings],
        ['whole.pdf', undefined],
      ],
    );
  });

  t.test('kinds that are kept without an index are listed as that', async (t) => {
    const bed = await openKnowledgeBed(t, newDatabase);
    const note = await upload(bed, 'note.rtf', Buffer.from('{\\rtf1 The lighthouse of Karvo}'));
    t.match(note, { status: 201, body: { state: 'stored', chunks: 0, detail: /not indexed/ } });
    await upload(bed, 'photo.png', Buffer.from('\x89PNG\r\n\x1a\n0000', 'latin1'));
    await upload(bed, 'sound.wav', Buffer.from('RIFF0000WAVEfmt ', 'latin1'));
    const { body } = await bed.ask('GET', 'namespaces/red/kb/documents');
    t.match(body.data, [
      { kind: 'rtf', state: 'stored', detail: /docx/ },
      { kind: 'image', state: 'stored' },
      { kind: 'audio', state: 'stored', detail: /transcript/ },
    ]);
    t.strictSame((await bed.search('lighthouse of Karvo')).body.results, []);
    t.match(await bed.ask('DELETE', `documents/red/kb/${note.body.id}`), { status: 200 });
  });

  t.test('a cancelled job leaves nothing, and the file can be sent again', async (t) => {
    const bed = await openKnowledgeBed(t, newDatabase);
    const { promise, resolve } = Promise.withResolvers<void>();
    bed.model.pause = promise;
    const file = largeDocx('The harbour of Karvo was dug in 1911 by forty masons.');
    const { body } = await upload(bed, 'harbour.docx', file);
    await bed.jobs.cancel(tenantScope('red'), body.job_id);
    resolve();
    t.match(await bed.jobEnd(body.job_id), { state: 'cancelled' });
    t.strictSame((await bed.ask('GET', 'namespaces/red/kb/documents')).body.data, []);
    const again = await upload(bed, 'harbour.docx', file);
    t.match(await bed.jobEnd(again.body.job_id), { state: 'done' });
  });

  t.test('deleting a document, or its base, erases the bytes of its file', async (t) => {
    const bed = await openKnowledgeBed(t, newDatabase);
    const blobs = async () => {
      const entries = await readdir(join(bed.dataDir, 'blobs'), { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).length;
    };
    const first = await upload(bed, 'town.pdf', pdf);
    await upload(bed, 'same.pdf', pdf);
    t.equal(await blobs(), 1);
    await bed.ask('DELETE', `documents/red/kb/${first.body.id}`);
    t.equal(await blobs(), 1, 'another document is made of the same file');
    const { body } = await bed.ask('GET', 'namespaces/red/kb/documents');
    await bed.ask('DELETE', `documents/red/kb/${body.data[0].id}`);
    t.equal(await blobs(), 0);
    await upload(bed, 'note.rtf', Buffer.from('{\\rtf1 The lighthouse of Karvo}'), { namespace: 'other' });
    t.equal(await blobs(), 1);
    await bed.ask('DELETE', 'namespaces/red/other/documents');
    for (let i = 0; i < 500 && (await blobs()) > 0; i++) await new Promise((resolve) => setTimeout(resolve, 20));
    t.equal(await blobs(), 0);
  });

  t.test('an upload is held to the rules of text that is added', async (t) => {
    const uses = { of: () => (name: string) => name !== 'granted to others' };
    const bed = await openKnowledgeBed(t, newDatabase, { uses });
    const file = Buffer.from('The lighthouse of Karvo was built in 1893.');
    t.match(await upload(bed, 'a.txt', file, {}, 'red/vic/viewer'), { status: 403 });
    t.match(await upload(bed, 'a.txt', file, { tenant: 'blue' }), { status: 403, body: { error: 'forbidden' } });
    const foreign = await upload(bed, 'a.txt', file, { namespace: 'granted to others' });
    t.match(foreign, { status: 404, body: { error: 'namespace_not_found' } });
    for (const namespace of ['a/b', ' a', 'a\\b', 'x'.repeat(129)])
      t.match(await upload(bed, 'a.txt', file, { namespace }), { status: 400, body: { error: 'invalid_request' } });
    t.match(await upload(bed, '../../etc/passwd', file), { status: 201, body: { source: 'passwd' } });
  });
}

onEachDatabase(testFiles, { timeoutMs: 120_000 });
