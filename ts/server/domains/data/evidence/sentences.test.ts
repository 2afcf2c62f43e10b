import fc from 'fast-check';
import t from 'tap';
import { sentencesOf } from './quotable-sentences.ts';

t.test('an abbreviation, an initial and the number of a day end no sentence', async (t) => {
  for (const [text, ...sentences] of [
    [
      'It was led by Rajendra K. Pachauri. He was elected in May.',
      'It was led by Rajendra K. Pachauri.',
      'He was elected in May.',
    ],
    [
      'Die Galerie schloss am 25. Februar 2010. Das war umstritten.',
      'Die Galerie schloss am 25. Februar 2010.',
      'Das war umstritten.',
    ],
    ['Some, e.g. Dr. Doll, said so. Others did not.', 'Some, e.g. Dr. Doll, said so.', 'Others did not.'],
    ['Das gilt z. B. für Karvo. Sonst nicht.', 'Das gilt z. B. für Karvo.', 'Sonst nicht.'],
    ['Он родился в 1856 г. в Карво. Он умер позже.', 'Он родился в 1856 г. в Карво.', 'Он умер позже.'],
    ['灯塔建于1893年。看守人是米拉。', '灯塔建于1893年。', '看守人是米拉。'],
    ['It was built in 1893. Its keeper is Mira.', 'It was built in 1893.', 'Its keeper is Mira.'],
  ] as const)
    t.strictSame(sentencesOf(text), sentences, text);
});

t.test('whatever the text, its sentences are the text without white space', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      const plain = (each: string) => each.replace(/\s+/g, '');
      if (plain(sentencesOf(text).join('')) !== plain(text)) throw new Error('something is missing');
    }),
    { numRuns: 2_000 },
  );
});
