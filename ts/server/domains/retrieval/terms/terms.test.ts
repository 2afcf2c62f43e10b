import fc from 'fast-check';
import t from 'tap';
import { stem } from './stem.ts';
import { hashTerm, kindOfHash, packTerms, termVector, unpackTerms } from './term-vector.ts';
import { termsOf } from './terms.ts';

const stemsOf = (text: string) => [...termsOf(text)].filter(({ kind }) => kind === 'stem').map(({ term }) => term);

t.test('forms of one word have one stem', async (t) => {
  for (const forms of [
    ['harbour', 'harbours'],
    ['building', 'buildings'],
    ['walk', 'walks', 'walked', 'walking'],
    ['run', 'running'],
    ['hafen', 'hafens'],
    ['leuchtturm', 'leuchtturms', 'leuchtturme'],
    ['книга', 'книги', 'книгу', 'книгои'],
    ['большои', 'большая', 'большие', 'больших'],
  ])
    t.equal(new Set(forms.map(stem)).size, 1, forms.map((form) => `${form}: ${stem(form)}`).join(', '));
});

t.test('short words, numbers and other scripts stay', async (t) => {
  for (const word of ['is', 'es', '1893', 'ipv6s', 'λογος', '한국어']) t.equal(stem(word), word);
});

t.test('words are found without case and accents, and scripts without spaces by words and pairs', async (t) => {
  t.strictSame(stemsOf('Müller ÇA'), stemsOf('muller ca'));
  const terms = [...termsOf('东京都')];
  t.ok(terms.some(({ kind, term }) => kind === 'gram' && term === '东京'));
  t.ok(terms.some(({ kind }) => kind === 'stem'));
});

t.test('packed terms come back as they were; other bytes do not', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
      const vector = termVector(text);
      const back = unpackTerms(packTerms(vector));
      if (JSON.stringify(back) !== JSON.stringify(vector)) throw new Error('they differ');
    }),
    { numRuns: 200 },
  );
  const packed = packTerms(termVector('some words'));
  t.equal(unpackTerms(packed.slice(0, 10)), undefined);
  t.equal(unpackTerms(packed.slice(0, -1)), undefined);
  packed[0] = 99;
  t.equal(unpackTerms(packed), undefined);
});

t.test('a hash tells the kind of its term', async (t) => {
  for (const term of ['a', 'tree', '东京', ''])
    for (const kind of ['stem', 'gram'] as const) t.equal(kindOfHash(hashTerm(kind, term)), kind);
});
