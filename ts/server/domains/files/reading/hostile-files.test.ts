/** Files that are made to harm, in the real pool: each is refused with a reason, and the file beside it is read meanwhile. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { writeDocx } from '../../../extraction/test-support/docx-writer.ts';
import { writePdf } from '../../../extraction/test-support/pdf-writer.ts';
import { writeXlsx } from '../../../extraction/test-support/xlsx-writer.ts';
import { writeZip } from '../../../extraction/test-support/zip-writer.ts';
import { Extractor } from './extractor.ts';

const text = 'A text that is long enough to be indexed.';
const sound = writeDocx({ blocks: [{ type: 'paragraph', text }] });
const extractor = new Extractor({
  nThreads: 2,
  maxMemoryMb: 512,
  timeoutMs: 60_000,
  maxQueue: 100,
  limits: { maxExpandedBytes: 64 * 1024 * 1024, maxBlocks: 100_000 },
});
t.teardown(() => extractor.close());

const documentXml = (xml: string) =>
  writeZip([
    {
      name: '[Content_Types].xml',
      data: '<Types><Default Extension="xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    },
    {
      name: '_rels/.rels',
      data: '<Relationships><Relationship Id="r" Type="x/officeDocument" Target="word/document.xml"/></Relationships>',
    },
    { name: 'word/document.xml', data: xml },
  ]);
const words = (inner: string) =>
  documentXml(`<w:document><w:body><w:p><w:r><w:t>${text}</w:t></w:r></w:p>${inner}</w:body></w:document>`);
const pdfText = [{ text, x: 60, y: 60 }];
const nested = (n: number) => `${'['.repeat(n)}${']'.repeat(n)}`;

/** What each comes to; `any` where several ends are sound. */
const files: [string, Uint8Array, string | RegExp][] = [
  ['a ZIP bomb', words(`<w:p>${'<w:r><w:t> </w:t></w:r>'.repeat(4_000_000)}</w:p>`), 'expands_too_much'],
  [
    'entities that expand',
    documentXml('<!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><w:document>&b;</w:document>'),
    'unsafe_xml',
  ],
  [
    'an entity that names a file',
    documentXml('<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/passwd">]><w:document>&a;</w:document>'),
    'unsafe_xml',
  ],
  ['XML of many levels', words('<w:p>'.repeat(100_000) + '</w:p>'.repeat(100_000)), 'too_deeply_nested'],
  ['HTML of many levels', Buffer.from(`<html><body>${'<div>'.repeat(300_000)}${text}`), 'too_deeply_nested'],
  ['JSON of many levels', Buffer.from(`{"a": ${nested(5_000)}}`), 'too_deeply_nested'],
  [
    'a sheet of a million rows',
    writeXlsx([{ name: 'a', rows: Array.from({ length: 1_000_000 }, (_, i) => [i]) }]),
    'too_much_text',
  ],
  ['parts that overlap', overlapping(), 'expands_too_much'],
  [
    'a page tree in a circle',
    writePdf([pdfText], { replaced: { 2: '<< /Type /Pages /Kids [2 0 R] /Count 1 >>' } }),
    'damaged_file',
  ],
  [
    'six thousand pages that are one',
    writePdf([pdfText], { replaced: { 2: `<< /Type /Pages /Kids [${'6 0 R '.repeat(6_000)}] /Count 6000 >>` } }),
    'too_many_pages',
  ],
  ['a PDF of nested lists', writePdf([pdfText], { replaced: { 4: nested(100_000) }, title: 'x' }), /extracted|damaged_file/],
  ['an object that is itself', writePdf([pdfText], { replaced: { 3: '3 0 R' } }), /extracted|scanned_pdf|damaged_file/],
  ['an archive cut off', sound.subarray(0, sound.length - 30), 'damaged_file'],
  ['a wrong checksum', writeZip([{ name: 'mimetype', data: 'application/epub+zip', crc: 1 }]), 'damaged_file'],
  ['a PDF with the name of a text', Buffer.from('%PDF-1.7 and nothing'), 'damaged_file'],
];

function overlapping(): Buffer {
  const zip = writeZip([{ name: 'mimetype', data: `${'x'.repeat(5_000)}`, stored: true }]);
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  const start = zip.readUInt32LE(end + 16);
  const record = zip.subarray(start, end);
  const many = Buffer.concat([zip.subarray(0, start), ...Array.from({ length: 500 }, () => record), zip.subarray(end)]);
  const at = many.length - 22;
  many.writeUInt16LE(500, at + 10);
  many.writeUInt32LE(record.length * 500, at + 12);
  return many;
}

for (const [name, bytes, expected] of files)
  t.test(`${name} is refused, and the file beside it is read`, async (t) => {
    const hostile = extractor.extract(bytes, { fileName: '../../../etc/passwd', tenant: 'red' });
    const beside = await extractor.extract(sound, { fileName: 'sound.docx', tenant: 'blue' });
    t.match(beside, { outcome: 'extracted', document: { blocks: [{ text }] } });
    const result = await hostile;
    t.match(result.outcome === 'refused' ? result.code : result.outcome, expected);
  });

t.test('macros and links to the outside are neither run nor followed', async (t) => {
  const bytes = writeDocx({ blocks: [{ type: 'paragraph', text }] }, [
    { name: 'word/vbaProject.bin', data: 'Sub AutoOpen()\nKill "C:"\nEnd Sub' },
    {
      name: 'word/_rels/settings.xml.rels',
      data: '<Relationships><Relationship Id="r" Type="x/attachedTemplate" Target="http://127.0.0.1:9/x.dotm" TargetMode="External"/></Relationships>',
    },
  ]);
  const result = await extractor.extract(bytes, { fileName: 'a.docm', tenant: 'red' });
  t.match(result, { outcome: 'extracted', document: { kind: 'docx', blocks: { length: 1 } } });
  t.notMatch(JSON.stringify(result), /AutoOpen|127\.0\.0\.1/);
});

t.test('a tenant whose files are slow holds up nobody else', async (t) => {
  const shared = new Extractor({ nThreads: 2, maxMemoryMb: 1024, timeoutMs: 60_000, maxQueue: 2 });
  t.teardown(() => shared.close());
  // Both threads are there: what they take to start says nothing.
  await Promise.all(['red', 'blue'].map((tenant) => shared.extract(sound, { tenant })));
  const slow = writeXlsx([{ name: 'a', rows: Array.from({ length: 60_000 }, (_, i) => [i, i + 1]) }]);
  const ended: string[] = [];
  const start = (bytes: Uint8Array, tenant: string) => shared.extract(bytes, { tenant }).then(() => ended.push(tenant));
  const reds = [start(slow, 'red'), start(slow, 'red'), start(slow, 'red')];
  await t.rejects(shared.extract(slow, { tenant: 'red' }), { code: 'pool_full' });
  await Promise.all([start(sound, 'blue'), ...reds]);
  t.equal(ended[0], 'blue');
});

t.test('a file that takes too long or too much memory costs its own thread alone', async (t) => {
  const small = new Extractor({
    nThreads: 1,
    maxMemoryMb: 48,
    timeoutMs: 60_000,
    maxQueue: 10,
    limits: { maxTextLength: 2 ** 30, maxBlocks: 2 ** 30, maxExpandedBytes: 2 ** 31 },
  });
  t.teardown(() => small.close());
  const large = writeXlsx([{ name: 'a', rows: Array.from({ length: 400_000 }, (_, i) => [i, i + 1, i + 2]) }]);
  t.match(await small.extract(large, { tenant: 'red' }), { outcome: 'refused', code: 'extraction_out_of_memory' });
  t.match(await small.extract(sound, { tenant: 'red' }), { outcome: 'extracted' });
  const impatient = new Extractor({ nThreads: 1, maxMemoryMb: 1024, timeoutMs: 300, maxQueue: 10 });
  t.teardown(() => impatient.close());
  t.match(await impatient.extract(large, { tenant: 'red' }), {
    outcome: 'refused',
    code: 'extraction_timeout',
    detail: /1 seconds/,
  });
});

t.test('a file on disk is read by its path, and an abort ends its reading', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-extract-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const path = join(folder, 'blob');
  await writeFile(path, sound);
  t.match(await extractor.extract(path, { tenant: 'red' }), { outcome: 'extracted' });
  await t.rejects(extractor.extract(path, { tenant: 'red', signal: AbortSignal.abort(new Error('cancelled')) }), {
    message: 'cancelled',
  });
  await t.rejects(
    Promise.resolve().then(() =>
      extractor
        .extract(join(folder, 'missing'), { tenant: 'red' })
        .then((result) => Promise.reject(new Error(JSON.stringify(result)))),
    ),
    /extraction_failed/,
  );
});
