import t from 'tap';
import { extract } from './extract.ts';
import { bytesAccess } from './random-access.ts';
import { writeDocx } from './test-support/docx-writer.ts';
import { writePdf } from './test-support/pdf-writer.ts';
import { documentOf, refusalOf, report } from './test-support/read-document.ts';
import { writeZip } from './test-support/zip-writer.ts';

t.test('names tell apart only what looks alike', async (t) => {
  const kinds: [string, string, string][] = [
    ['select name from users where age > 30;', 'q.sql', 'sql'],
    ['function harbour() { return 1911; }', 'a.js', 'code'],
    ['server:\n  port: 8880\n  host: localhost\n', 'settings', 'yaml'],
    ['Once upon a time there was a harbour, and nobody knew its name.', 'x.weird', 'text'],
    ['{"this is": "json", "whatever": "its name"}', 'a.md', 'json'],
    ['#!/bin/sh\necho hello harbour\n', '', 'code'],
  ];
  for (const [text, name, kind] of kinds) t.equal((await documentOf(t, text, name)).kind, kind, name);
});

t.test('what is not read is refused, each with its code and remedy', async (t) => {
  const text = [{ text: 'A text that is long enough to be indexed.', x: 60, y: 60 }];
  const compound = (name: string) =>
    Buffer.concat([
      Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      Buffer.alloc(600),
      Buffer.from(`${name}\0`, 'utf16le'),
      Buffer.alloc(99),
    ]);
  const manifest = { name: 'META-INF/manifest.xml', data: '<m><encryption-data/></m>' };
  const odt = (more: { name: string; data: string }[]) =>
    writeZip([
      { name: 'mimetype', data: 'application/vnd.oasis.opendocument.text' },
      ...more,
      { name: 'content.xml', data: '<x/>' },
    ]);
  const cases: [string, Uint8Array | string][] = [
    ['scanned_pdf', writePdf([[], []], { hasPicture: true })],
    ['scanned_pdf', writePdf([[{ text: 'page 1', x: 9, y: 9 }]], { hasPicture: true })],
    ['encrypted_pdf', writePdf([text], { isEncrypted: true })],
    ['legacy_office_format', compound('WordDocument')],
    ['legacy_office_format', compound('Workbook')],
    ['legacy_office_format', compound('PowerPoint Document')],
    ['encrypted_document', compound('EncryptedPackage')],
    ['encrypted_document', odt([manifest])],
    [
      'encrypted_document',
      writeZip([
        { name: '[Content_Types].xml', data: '<x/>' },
        { name: '_rels/.rels', data: 'x', encrypted: true },
      ]),
    ],
    ['text_too_short', 'Too short a text.'],
    ['text_too_short', ''],
    ['text_too_short', writePdf([[{ text: 'short', x: 9, y: 9 }]])],
    ['unsupported_file_kind', Buffer.from('7f454c46020101', 'hex')],
    ['unsupported_file_kind', Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 251))],
    ['unsupported_file_kind', writeZip([{ name: 'a.txt', data: 'an archive is no document' }])],
    ['damaged_file', writeDocx(report).subarray(0, 900)],
    [
      'damaged_file',
      writeZip([
        { name: 'mimetype', data: 'application/vnd.oasis.opendocument.text' },
        { name: 'content.xml', data: '<a><b>cut off' },
      ]),
    ],
    ['damaged_file', '%PDF-1.7\nnothing else'],
  ];
  for (const [code, bytes] of cases) t.equal(await refusalOf(bytes), code, code);
  t.match(await extract(bytesAccess(compound('WordDocument'))), { detail: /\.doc,.*\.docx/, remedy: /newer format/ });
  t.match(await extract(bytesAccess(writePdf([[]]))), { remedy: /OCR/ });
});

t.test('.rtf and pictures are stored and not indexed; sound and film are for the media module', async (t) => {
  const of = (bytes: Buffer) => extract(bytesAccess(bytes), { fileName: 'a.txt' });
  t.match(await of(Buffer.from('{\\rtf1 Hello}')), { outcome: 'stored', reason: 'rtf', detail: /not indexed/ });
  t.match(await of(Buffer.from('89504e470d0a1a0a0000', 'hex')), { outcome: 'stored', reason: 'image_without_text' });
  t.match(await of(Buffer.from('II*\0\x08\0\0\0', 'latin1')), { outcome: 'stored', reason: 'image_without_text' });
  t.match(await of(Buffer.from('ID3\x04\0\0\0', 'latin1')), { outcome: 'media', media: 'audio', mediaType: 'audio/mpeg' });
  t.match(await of(Buffer.from('\0\0\0\x20ftypisom\0\0', 'latin1')), {
    outcome: 'media',
    media: 'video',
    mediaType: 'video/mp4',
  });
});
