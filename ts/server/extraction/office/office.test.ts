import t from 'tap';
import { writeDocx } from '../test-support/docx-writer.ts';
import { writeEpub } from '../test-support/epub-writer.ts';
import { writeOdp, writeOds, writeOdt } from '../test-support/odf-writer.ts';
import { writePptx } from '../test-support/pptx-writer.ts';
import { documentOf, heading, note, paragraph, report, reportBlocks, row } from '../test-support/read-document.ts';
import type { WrittenSheet, WrittenSlide } from '../test-support/written-document.ts';
import { writeXlsx } from '../test-support/xlsx-writer.ts';

t.test('docx: headings by their styles’ names, pages, tables and footnotes', async (t) => {
  const document = await documentOf(t, writeDocx(report));
  t.strictSame(document, {
    kind: 'docx',
    title: 'Harbour report',
    pages: 2,
    warnings: [],
    blocks: [...reportBlocks, note('Fees of 2026.')],
  });
});

t.test('odt: the same', async (t) => {
  const document = await documentOf(t, writeOdt(report));
  t.match(document, { kind: 'odt', title: 'Harbour report', language: 'en-GB', pages: 2 });
  t.strictSame(document.blocks, [...reportBlocks, note('Fees of 2026.', { page: 2 })]);
});

for (const [kind, write] of [
  ['docx', writeDocx],
  ['odt', writeOdt],
] as const)
  t.test(`${kind}: pages that come to another number than its program counted are none`, async (t) => {
    const { blocks, pages } = await documentOf(t, write({ ...report, nPages: 9 }));
    t.equal(pages, undefined);
    t.strictSame(
      blocks.map(({ page }) => page),
      blocks.map(() => undefined),
    );
  });

const sheets: WrittenSheet[] = [
  {
    name: 'Crew',
    rows: [
      ['Name', 'Joined', 'Pay', 'Remark'],
      ['Ada', new Date('2021-03-04'), 4100.5, ''],
      ['Ben', new Date('1999-12-31'), 3900, 'cook; deckhand'],
    ],
    comments: { A2: 'on leave' },
  },
  { name: 'Größe', rows: [['only one cell with enough text']] },
];

for (const [kind, bytes] of [
  ['xlsx', writeXlsx(sheets)],
  ['ods', writeOds(sheets)],
] as const) {
  t.test(`${kind}: rows with the names of their columns, dates, empty cells, comments, sheets`, async (t) => {
    const { blocks, pages, kind: found } = await documentOf(t, bytes);
    t.equal(found, kind);
    t.equal(pages, 2);
    const at = { sheet: 'Crew' };
    const remark = note(kind === 'xlsx' ? 'A2: on leave' : 'on leave', at);
    t.strictSame(
      blocks.filter(({ type }) => type !== 'note'),
      [
        heading('Crew', 1, at),
        row('Name | Joined | Pay | Remark', at),
        row('Name: Ada; Joined: 2021-03-04; Pay: 4100.5', at),
        row('Name: Ben; Joined: 1999-12-31; Pay: 3900; Remark: cook; deckhand', at),
        heading('Größe', 1, { sheet: 'Größe' }),
        row('only one cell with enough text', { sheet: 'Größe' }),
      ],
    );
    t.strictSame(
      blocks.filter(({ type }) => type === 'note'),
      [remark],
    );
  });
}

const slides: WrittenSlide[] = [
  { title: 'Plans for the pier', lines: ['Build it by spring.', 'Paint it.'], notes: 'Ask the mayor first.' },
  {
    title: 'Costs',
    lines: [],
    table: [
      ['Part', 'Cost'],
      ['Wood', '900'],
    ],
  },
];

for (const [kind, bytes] of [
  ['pptx', writePptx(slides)],
  ['odp', writeOdp(slides)],
] as const) {
  t.test(`${kind}: slides in their order, with titles, tables and speaker notes`, async (t) => {
    const { blocks, title, pages, kind: found } = await documentOf(t, bytes);
    t.strictSame([found, title, pages], [kind, 'Plans for the pier', 2]);
    t.strictSame(blocks, [
      heading('Plans for the pier', 2, { slide: 1 }),
      paragraph('Build it by spring.', { slide: 1 }),
      paragraph('Paint it.', { slide: 1 }),
      note('Ask the mayor first.', { slide: 1 }),
      heading('Costs', 2, { slide: 2 }),
      row('Part | Cost', { slide: 2 }),
      row('Part: Wood; Cost: 900', { slide: 2 }),
    ]);
  });
}

t.test('epub: chapters in the order of the spine', async (t) => {
  const chapters = ['<h1>One</h1><p>The first chapter.</p>', '<h1>Two</h1><p>The second &amp; last.</p><script>x()</script>'];
  const document = await documentOf(t, writeEpub({ title: 'A book', language: 'fr', chapters }));
  t.match(document, { kind: 'epub', title: 'A book', language: 'fr' });
  t.strictSame(document.blocks, [
    heading('One', 1),
    paragraph('The first chapter.'),
    heading('Two', 1),
    paragraph('The second & last.'),
  ]);
});
