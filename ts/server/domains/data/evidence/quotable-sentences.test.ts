import fc from 'fast-check';
import t from 'tap';
import { cpuMsOf } from '../../../../../test/test-support/cpu-time.ts';
import { MOST_QUOTED, quotableSentences } from './quotable-sentences.ts';

const texts = (passage: string, ...headings: string[]) => quotableSentences(passage, new Set(headings)).map(({ text }) => text);

t.test('sentences are whole where lines were broken because they were full', async (t) => {
  const passage =
    'The light\n\nThe lighthouse of Karvo was built in 1893 by the engineer of the town, who\nhad two sons. Its keeper is Mira Doll, and she lights the lamp of it\n' +
    'every evening.\n\nThe bakery sells bread.';
  t.strictSame(texts(passage, 'The light'), [
    'The lighthouse of Karvo was built in 1893 by the engineer of the town, who had two sons.',
    'Its keeper is Mira Doll, and she lights the lamp of it every evening.',
    'The bakery sells bread.',
  ]);
  t.strictSame(quotableSentences(passage, new Set(['The light']))[1]?.before, texts(passage)[0]);
});

t.test('rows of tables, items of lists and lines that stand alone stay apart', async (t) => {
  t.strictSame(
    texts('Setting: `listen`; Default: `127.0.0.1:8880`; Meaning: address of the server\nSetting: `x`; Meaning: no more'),
    ['Setting: `listen`; Default: `127.0.0.1:8880`; Meaning: address of the server', 'Setting: `x`; Meaning: no more'],
  );
  t.strictSame(texts('- Bread is sold from six in the morning on, every day of the week\n- Apples are sold on Tuesdays'), [
    'Bread is sold from six in the morning on, every day of the week',
    'Apples are sold on Tuesdays',
  ]);
  t.strictSame(texts('See [the card](https://example.org/card) for what the keeper of it does.'), [
    'See the card for what the keeper of it does.',
  ]);
  t.strictSame(texts('灯塔建于1893年，高41米。看守人是米拉。'), ['灯塔建于1893年，高41米。']);
});

t.test('nothing is quoted that would change the answer around it', async (t) => {
  for (const passage of [
    'See the picture ![of it](https://example.org/track.png) of the harbour.',
    'The keeper is Mira Doll [2], as the council of Karvo said.',
    'The keeper of it is <b>Mira Doll</b>, as the council said.',
    'The keeper of the lighthouse is `Mira Doll and nobody else.',
    'The keeper of it is \u202eMira Doll\u202c, as the council said.',
    'The keeper of it\u0007 is Mira Doll, as the council said.',
    'docker run --rm -it \\\n  --name svc the image of the server',
    'const keeper = { name: "Mira Doll", age: 41 };',
    'if (keeper.isMira()) {\n  light(the, lamp, of, the, tower);\n}',
    '"Authorization: Bearer $KEY" -d \'["model", "x"]\' | jq .data[0].b64',
    'Too short.',
  ])
    t.strictSame(texts(passage), [], passage);
});

t.test('a passage that begins within a sentence says so', async (t) => {
  t.strictSame(texts('kept by Mira Doll since 1920. Its lamp burns oil of rape.'), [
    '…kept by Mira Doll since 1920.',
    'Its lamp burns oil of rape.',
  ]);
});

t.test('a long sentence is offered in pieces that fit', async (t) => {
  const words = Array.from({ length: 400 }, (_, i) => `Word${i}`).join(' ');
  const pieces = texts(words);
  t.ok(pieces.length > 3);
  t.ok(pieces.every((piece) => piece.length <= MOST_QUOTED));
  t.match(pieces[0], /^Word0 .*…$/);
  t.match(pieces.at(-1), /^….* Word399$/);
  for (const piece of pieces) t.match(words, piece.replaceAll('…', ''), 'it says what the sentence says');
});

t.test('whatever the passage, what is offered stands in it and fits', async () => {
  const part = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 30 }),
    fc.constantFrom(
      '\n',
      '\n\n',
      '. ',
      'The keeper of it ',
      '`',
      '- ',
      'word '.repeat(80),
      'x'.repeat(500),
      '。',
      '灯塔建于',
      '😀'.repeat(200),
    ),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
      const passage = parts.join('');
      if (passage.includes('](')) return;
      const plain = passage.replace(/\s+/g, '');
      for (const { text } of quotableSentences(passage, new Set())) {
        if (text.length > MOST_QUOTED || !text.isWellFormed()) throw new Error(`${text.length} characters`);
        const said = text.replace(/^…|…$/g, '').replace(/\s+/g, '');
        if (!plain.includes(said)) throw new Error(`${JSON.stringify(text)} is not said`);
        if ((text.match(/`/g)?.length ?? 0) % 2 !== 0) throw new Error('code is cut off');
      }
    }),
    { numRuns: 2_000 },
  );
});

t.test('long passages are read in bounded time', async (t) => {
  for (const passage of [
    '`'.repeat(5_000),
    'a '.repeat(2_500),
    '. '.repeat(2_500),
    '[1'.repeat(2_500),
    `${'x\n'.repeat(2_500)}`,
  ]) {
    t.ok(cpuMsOf(() => quotableSentences(passage, new Set())) < 2_000, passage.slice(0, 4));
  }
});
