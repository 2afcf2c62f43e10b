import t from 'tap';
import { documentOf, heading, paragraph, row } from '../test-support/read-document.ts';
import { textKindOf } from './text-kind.ts';

t.test('html: headings, lists, tables and code stay, scripts and styles do not', async (t) => {
  const html = `<!doctype html><html lang="de"><head><title> Der  Hafen </title><style>p {}</style><script>alert('<p>no</p>')</script></head>
    <body><h2>Preise</h2><p>Alle   Preise
    in <b>Euro</b>.</p><ul><li>Ruderboot</li><li>Kutter</li></ul><table><tr><th>Boot</th><th>Preis</th></tr><tr><td>Kutter</td><td>80</td></tr></table>
    <pre>  a = 1
  b = 2</pre><p>Ende`;
  const document = await documentOf(t, html, 'wrong.pdf');
  t.match(document, { kind: 'html', title: 'Der Hafen', language: 'de' });
  t.strictSame(document.blocks, [
    heading('Preise', 2),
    paragraph('Alle Preise in Euro.'),
    paragraph('- Ruderboot'),
    paragraph('- Kutter'),
    row('Boot | Preis'),
    row('Boot: Kutter; Preis: 80'),
    { type: 'code', text: '  a = 1\n  b = 2' },
    paragraph('Ende'),
  ]);
});

t.test('comments before the first element hide no html, and any number of them is passed over at once', async (t) => {
  t.equal(textKindOf('<?xml version="1.0"?>\n<!-- one --> <!----><p>The harbour', undefined), 'html');
  t.equal(textKindOf(`${'<!---->'.repeat(5_000)}x`, undefined), 'text');
  t.equal(textKindOf(`${'<!-- -->'.repeat(500)}<table><tr>`, undefined), 'html');
  t.equal(textKindOf('<!-- without an end <p>', undefined), 'text');
});

t.test('markdown, with a title, code that stays as it is, and tables', async (t) => {
  const text =
    '---\nlayout: x\n---\n# Title\n\nA line\nand another.\n\nSub\n---\n\n```js\n# no heading\n\n  x();\n```\n\n| A | B |\n|---|---|\n| 1 | 2 |\n';
  const document = await documentOf(t, text, 'notes.md');
  t.match(document, { kind: 'markdown', title: 'Title' });
  t.strictSame(document.blocks, [
    heading('Title', 1),
    paragraph('A line\nand another.'),
    heading('Sub', 2),
    { type: 'code', text: '# no heading\n\n  x();' },
    row('A | B'),
    row('A: 1; B: 2'),
  ]);
});

t.test('csv: quoted cells, semicolons, names of columns', async (t) => {
  const { kind, blocks } = await documentOf(t, 'Name;Motto\r\nAda;"first; ""best"""\r\nBen;"two\r\nlines"\r\n');
  t.equal(kind, 'csv');
  t.strictSame(blocks, [row('Name | Motto'), row('Name: Ada; Motto: first; "best"'), row('Name: Ben; Motto: two lines')]);
});

t.test('json: values with their paths, lists of records as rows', async (t) => {
  const text = JSON.stringify({
    server: { port: 8880, hosts: ['a', 'b'] },
    users: [
      { name: 'Ada', age: 36 },
      { name: 'Ben', age: 40 },
    ],
  });
  const { kind, blocks } = await documentOf(t, text, 'x.txt');
  t.equal(kind, 'json');
  t.strictSame(blocks, [
    { type: 'code', text: 'server.port: 8880\nserver.hosts[0]: a\nserver.hosts[1]: b' },
    heading('users', 3),
    row('name: Ada; age: 36'),
    row('name: Ben; age: 40'),
  ]);
});

t.test('e-mail: subject, people, the plain one of two versions, encoded words, and the names of attached files', async (t) => {
  const mail = [
    'From: =?utf-8?Q?J=C3=BCrgen?= <j@example.org>',
    'To: ada@example.org',
    'Subject: =?iso-8859-1?B?R3L832U=?= from the',
    '  harbour',
    'Date: Mon, 2 Nov 2026 10:00:00 +0100',
    'Content-Type: multipart/mixed; boundary="b"',
    '',
    'preamble',
    '--b',
    'Content-Type: multipart/alternative; boundary=c',
    '',
    '--c',
    'Content-Type: text/plain; charset=windows-1252',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'The fee is 12 =80 a =',
    'night.',
    '--c',
    'Content-Type: text/html',
    '',
    '<p>The fee, in HTML</p>',
    '--c--',
    '--b',
    'Content-Type: application/pdf; name="plan.pdf"',
    'Content-Disposition: attachment; filename="plan.pdf"',
    '',
    'JVBERi0=',
    '--b--',
  ].join('\r\n');
  const document = await documentOf(t, mail);
  t.match(document, { kind: 'email', title: 'Grüße from the harbour' });
  t.strictSame(document.blocks, [
    heading('Grüße from the harbour', 1),
    paragraph('From: Jürgen <j@example.org>\nTo: ada@example.org\nDate: Mon, 2 Nov 2026 10:00:00 +0100'),
    paragraph('The fee is 12 € a night.'),
  ]);
  t.match(document.warnings, [/"plan.pdf"/]);
});
