/** Text that is added without being read must stand where reading all of it would have put it. */
import fc from 'fast-check';
import t from 'tap';
import { iterations } from '../../../../test/test-support/iterations.ts';
import { parser } from './parser.ts';
import { growsPlainly, isPlain, spacesBehind } from './plain-growth.ts';

/** What the drawn text ends in, where text-growth.ts may add to it. */
const END = /(?:\s|<\/(?:p|li|ul|ol|blockquote|h[1-6])>)*$/;

function grown(html: string, text: string): string | undefined {
  const at = END.exec(html)?.index ?? html.length;
  return at === 0 || html[at - 1] === '>' ? undefined : html.slice(0, at) + parser.utils.escapeHtml(text) + html.slice(at);
}

const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('word', 'two words ', ' ', 'a, b', '12', 'Ü', 'x') },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...[
        '*',
        '**',
        '_',
        '`',
        '~~',
        '# ',
        '- ',
        '1',
        '1.',
        '. ',
        '> ',
        '\n',
        '\n\n',
        '    ',
        '  \n',
        '|',
        '| --- |',
        '---',
        '===',
      ],
      ...[
        '[',
        ']',
        '(',
        ')',
        '](http://a.b)',
        '![',
        '<http://a.b>',
        'http://a.b/',
        '$',
        '$$',
        '\\',
        '\\(',
        '\\)',
        '&amp',
        ';',
        '!',
        '"',
      ],
      ...[
        '```',
        '```ts\n',
        '~~~',
        '[a]: ',
        '- [ ] ',
        ':',
        '+',
        '\t',
        '.',
        '<b>',
        ',',
        '-',
        '?',
        "'",
        'a.',
        'x,',
        '//',
        'mailto:',
        '@',
      ],
    ),
  },
);
const words = fc.stringMatching(/^[a-zäöü0-9, .!?'"-]{1,12}$/);

t.test('plain text behind a word changes nothing but the end', async (t) => {
  let nGrown = 0;
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 14 }), words, (pieces, more) => {
      const text = pieces.join('');
      const block = parser.parse(text, {})[0];
      if (!growsPlainly(text) || !isPlain(more) || block?.type === 'table_open') return;
      const all = spacesBehind(text) + more;
      const html = parser.render(text);
      const expected = grown(html, all.slice(0, all.length - spacesBehind(all).length));
      if (expected === undefined || /<(?:table|pre)/.test(html)) return;
      nGrown++;
      const whole = parser.render(text + more);
      if (whole !== expected) throw new Error(JSON.stringify({ text, more, expected, whole }));
    }),
    { numRuns: iterations(20_000, 400_000) },
  );
  t.ok(nGrown > 1_000, `${nGrown} texts grew`);
});

t.test('what markdown reads is not plain', async (t) => {
  for (const text of ['*', 'a_b', '`', '\n', 'a: b', '[', '$', '&', '<', '|', '~', '\t', '#', ')', ';', '=', '+'])
    t.notOk(isPlain(text), text);
  for (const text of [' and', 'größer', '3', ', so', '3.', ' - no', '?!', "it's"]) t.ok(isPlain(text), text);
  for (const text of [
    '1',
    '- 1',
    'a *',
    'b\n',
    'b\n12',
    '',
    'a\n\n[b]: http://c.d/e',
    '> [b]:\ncd',
    'b\n-',
    'see http://a.b/c,',
    'http://a.b.',
    '&amp',
    '<a@b',
  ])
    t.notOk(growsPlainly(text), JSON.stringify(text));
});
