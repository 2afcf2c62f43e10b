/** One small sound file of each kind, for tests that damage them. */
import { writeDocx } from './docx-writer.ts';
import { writeEpub } from './epub-writer.ts';
import { writeOdp, writeOds, writeOdt } from './odf-writer.ts';
import { wrap, writePdf } from './pdf-writer.ts';
import { writePptx } from './pptx-writer.ts';
import type { WrittenBlock, WrittenSheet, WrittenSlide } from './written-document.ts';
import { writeXlsx } from './xlsx-writer.ts';

const blocks: WrittenBlock[] = [
  { type: 'heading', text: 'The harbour', level: 1 },
  { type: 'paragraph', text: 'It was built in 1911 by forty masons, and ever since it has been too small.' },
  {
    type: 'table',
    rows: [
      ['Boat', 'Fee'],
      ['Dinghy', '12'],
      ['Trawler', '80'],
    ],
  },
  { type: 'page-break' },
  { type: 'note', text: 'Fees of 2026.' },
  { type: 'paragraph', text: 'The end of the report.' },
];
const sheets: WrittenSheet[] = [
  {
    name: 'Fees',
    rows: [
      ['Boat', 'Since'],
      ['Dinghy', new Date('2020-02-02')],
      ['Trawler', 80],
    ],
    comments: { B2: 'check' },
  },
];
const slides: WrittenSlide[] = [
  { title: 'Plans', lines: ['Build a second pier by spring.'], notes: 'Ask the mayor.' },
  {
    title: 'Costs',
    lines: ['Not known yet.'],
    table: [
      ['Part', 'Cost'],
      ['Wood', '900'],
    ],
  },
];
const html =
  '<!doctype html><html lang="en"><head><title>Harbour</title></head><body><h1>Fees</h1><p>A dinghy pays 12.</p><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table></body></html>';
const mail =
  'From: a@example.org\r\nTo: b@example.org\r\nSubject: =?utf-8?Q?H=C3=A4fen?=\r\nDate: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\nVGhlIGhhcmJvdXIgaXMgZnVsbC4=\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>The harbour is full.</p>\r\n--b--\r\n';
const page = wrap(
  'The harbour was built in 1911 by forty masons, and ever since it has been too small for the boats.',
  60,
  100,
  220,
).texts;

export const sampleFiles: Readonly<Record<string, Buffer>> = {
  docx: writeDocx({ title: 'Report', blocks }),
  odt: writeOdt({ title: 'Report', blocks }),
  xlsx: writeXlsx(sheets),
  ods: writeOds(sheets),
  pptx: writePptx(slides),
  odp: writeOdp(slides),
  epub: writeEpub({
    title: 'Book',
    language: 'en',
    chapters: ['<h1>One</h1><p>The first chapter of the book.</p>', '<p>The second.</p>'],
  }),
  pdf: writePdf([[{ text: 'Harbours', x: 60, y: 50, size: 20 }, ...page], page], { title: 'Study' }),
  html: Buffer.from(html),
  eml: Buffer.from(mail),
  csv: Buffer.from('Boat;Fee\n"Dinghy, small";12\nTrawler;80\n'),
  json: Buffer.from(
    JSON.stringify({
      fees: [
        { boat: 'dinghy', fee: 12 },
        { boat: 'trawler', fee: 80 },
      ],
      since: { year: 1911 },
    }),
  ),
  md: Buffer.from('# Fees\n\nA dinghy pays 12.\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n'),
  txt: Buffer.from('Die Gebühr beträgt zwölf Euro für jede Nacht.\n\nGrößere Schiffe zahlen mehr.\n', 'latin1'),
};
