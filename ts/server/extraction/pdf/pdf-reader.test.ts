import t from 'tap';
import { wrap, writePdf } from '../test-support/pdf-writer.ts';
import { documentOf, heading, paragraph, row } from '../test-support/read-document.ts';

t.test('pdf: pages, headings by size, columns in reading order, tables as rows, parted words', async (t) => {
  const left = 'The left column is read first, and it goes on for a few lines of its own, until its end is reached.';
  const lines = [
    'The right column follows behind it, and has',
    'lines as well, which stand beside those of the other col-',
    'umn on the left.',
  ];
  const right = lines.map((text, i) => ({ text, x: 320, y: 120 + i * 12 }));
  const top = [{ text: 'A study of harbours', x: 60, y: 60, size: 20 }];
  const first = [...top, ...right, ...wrap(left, 60, 120, 220).texts];
  const table = [
    ['Boat', 'Fee'],
    ['Dinghy', '12'],
    ['Trawler', '80'],
  ].flatMap(([boat = '', fee = ''], i) => [
    { text: boat, x: 60, y: 200 + i * 16 },
    { text: fee, x: 260, y: 200 + i * 16 },
  ]);
  const second = [
    { text: 'Fees', x: 60, y: 60, size: 14 },
    ...wrap('All fees are for one night in the harbour.', 60, 100, 400).texts,
    ...table,
  ];
  const document = await documentOf(t, writePdf([first, second], { title: 'Study' }));
  t.match(document, { kind: 'pdf', title: 'Study', pages: 2, warnings: [] });
  t.strictSame(document.blocks, [
    heading('A study of harbours', 1, { page: 1 }),
    paragraph(left, { page: 1 }),
    paragraph(lines.join(' ').replace('col- umn', 'column'), { page: 1 }),
    heading('Fees', 2, { page: 2 }),
    paragraph('All fees are for one night in the harbour.', { page: 2 }),
    row('Boat | Fee', { page: 2 }),
    row('Boat: Dinghy; Fee: 12', { page: 2 }),
    row('Boat: Trawler; Fee: 80', { page: 2 }),
  ]);
});

t.test('pdf: a table below columns is read behind them, with narrow gaps between its cells and cells left empty', async (t) => {
  const [left, right] = ['left', 'right'].map(
    (side) => `This is the text of the ${side} column, which goes on for some lines until it is at its end.`,
  );
  const columns = [...wrap(left ?? '', 60, 60, 220).texts, ...wrap(right ?? '', 320, 60, 220).texts];
  const cells = [
    ['Boat', 'Length', 'Fee for a night'],
    ['Trawler of the fishing fleet', '24 m', '80'],
    ['Ferry', '', '300'],
  ];
  const table = cells.flatMap((row, i) => row.map((text, at) => ({ text, x: [60, 192, 240][at] ?? 0, y: 160 + i * 20 })));
  const { blocks } = await documentOf(t, writePdf([[...columns, ...table.filter(({ text }) => text !== '')]]));
  const page = { page: 1 };
  t.strictSame(blocks, [
    paragraph(left ?? '', page),
    paragraph(right ?? '', page),
    row('Boat | Length | Fee for a night', page),
    row('Boat: Trawler of the fishing fleet; Length: 24 m; Fee for a night: 80', page),
    row('Boat: Ferry; Fee for a night: 300', page),
  ]);
});

t.test('pdf: pages whose text runs upwards or downwards are read along their lines', async (t) => {
  const { texts } = wrap('The tides of the year are printed sideways, since their table is too wide for the page.', 60, 60, 250);
  const upwards = texts.map(({ text }, i) => ({ text, x: 100 + i * 12, y: 700, runs: 'upwards' as const }));
  const downwards = texts.map(({ text }, i) => ({ text, x: 500 - i * 12, y: 60, runs: 'downwards' as const }));
  const { blocks, warnings } = await documentOf(t, writePdf([upwards, downwards], { hasPicture: true }));
  const text = texts.map((line) => line.text).join(' ');
  t.strictSame(blocks, [paragraph(text, { page: 1 }), paragraph(text, { page: 2 })]);
  t.strictSame(warnings, []);
});

t.test('pdf: a stamp along the margin is no part of the text', async (t) => {
  const text = 'The harbour was built in 1911 by forty masons, and it was paid for by the town.';
  const stamp = { text: 'printed on Monday', x: 20, y: 600, size: 20, runs: 'upwards' as const };
  const { blocks } = await documentOf(t, writePdf([[...wrap(text, 60, 60, 400).texts, stamp]]));
  t.strictSame(blocks, [paragraph(text, { page: 1 })]);
});

t.test('pdf: the encodings of Asian fonts that a file only names are known', async (t) => {
  const text = '港は千九百十一年に作られました。料金は一晩で十二ユーロです。';
  const font =
    '<< /Type /Font /Subtype /Type0 /BaseFont /HeiseiMin-W3 /Encoding /UniJIS-UCS2-H /DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 ' +
    '/BaseFont /HeiseiMin-W3 /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> /DW 1000 >>] >>';
  const bytes = Buffer.from(text, 'utf16le').swap16().toString('latin1');
  const { blocks } = await documentOf(t, writePdf([[{ text: bytes, x: 60, y: 60 }]], { replaced: { 3: font } }));
  t.strictSame(blocks, [paragraph(text, { page: 1 })]);
});

t.test('pdf: what stands on every page is left out, and pages without text are named', async (t) => {
  const pages = Array.from({ length: 5 }, (_, i) => [
    { text: 'Annual report 2026', x: 60, y: 30 },
    { text: `The text of page number ${'one two three four five'.split(' ')[i]} is here.`, x: 60, y: 200 },
    { text: `${i + 1}`, x: 300, y: 810 },
  ]);
  const { blocks, warnings } = await documentOf(t, writePdf([...pages, []]));
  t.strictSame(
    blocks,
    'one two three four five'.split(' ').map((word, i) => paragraph(`The text of page number ${word} is here.`, { page: i + 1 })),
  );
  t.strictSame(warnings, ['1 of 6 pages have no text layer and are not indexed: 6.']);
});
