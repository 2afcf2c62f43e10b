import t from 'tap';
import type { PassageResult } from '../../search/passage-result.ts';
import { passageResult } from '../test-support/passage-result.ts';
import { nearestSentence as nearestOf } from './nearest-sentence.ts';

const nearestSentence = (question: string, results: readonly PassageResult[]) => nearestOf(question, results, () => true);

const HARBOUR =
  'The lighthouse of Karvo was built in 1893. Its keeper is Mira Doll, who lights the lamp every evening. The harbour has two quays.';
const BAKERY = 'The bakery in the harbour street sells rye bread. The colour of its door is green.';

t.test('the sentence is nearest that has most of the rare words of the question', async (t) => {
  const results = [passageResult(HARBOUR, { page: 1 }), passageResult(BAKERY, { page: 2 })];
  for (const [question, n, text] of [
    ['Who is the keeper?', 1, /^Its keeper is Mira Doll/],
    ['When was the lighthouse of Karvo built?', 1, /1893\.$/],
    ['What is the colour of the door of the bakery?', 2, /green\.$/],
    ['Wer verkauft bread and rye?', 2, /^The bakery/],
  ] as const)
    t.match(nearestSentence(question, results), { n, text }, question);
});

t.test('headings and the sentence before count as well, and are not quoted themselves', async (t) => {
  const results = [
    passageResult('Karvo\n\nIts keeper is Mira Doll, who has two cats.', { heading: 'Lighthouses > Karvo', page: 1 }),
    passageResult('Brelo\n\nIts keeper is Jonas Brandt, who has no cats.', { heading: 'Lighthouses > Brelo', page: 2 }),
  ];
  t.match(nearestSentence('Who is the keeper of Brelo?', results), { n: 2, text: /^Its keeper is Jonas/ });
});

t.test('a question says nothing, and its answer stands below it', async (t) => {
  const results = [
    passageResult('Who keeps the lighthouse of Karvo? Since last year that is Mira Doll. The harbour has two quays.'),
  ];
  t.match(nearestSentence('Who keeps the lighthouse of Karvo?', results), { text: 'Since last year that is Mira Doll.' });
});

t.test('where another page says about as much, nothing is nearest', async (t) => {
  const results = [
    passageResult('The school of Karvo taught 90 pupils in all of its rooms.', { page: 1 }),
    passageResult('The school of Karvo has a garden with many cherry trees.', { page: 2 }),
  ];
  t.equal(nearestSentence('Who leads the school of Karvo?', results), undefined);
  t.match(nearestSentence('How many pupils has the school of Karvo?', results), { n: 1 });
  const same = results.map((result) => ({ ...result, page: 1 }));
  t.ok(nearestSentence('Who leads the school of Karvo?', same), 'either sentence is on the page');
  const twice = [results[0] as PassageResult, { ...(results[0] as PassageResult), documentNo: 2 }];
  t.match(nearestSentence('How many pupils has the school of Karvo?', twice), { n: 1 }, 'two documents say the same');
  const repeated = [results[0] as PassageResult, { ...(results[0] as PassageResult), page: 7 }];
  t.equal(nearestSentence('How many pupils has the school of Karvo?', repeated), undefined, 'a document says it on every page');
});

t.test('no sentence, no words, nothing that can be quoted: nothing is nearest', async (t) => {
  t.equal(nearestSentence('Who?', []), undefined);
  t.equal(nearestSentence('', [passageResult(HARBOUR)]), undefined);
  t.equal(nearestSentence('Who invented the telephone?', [passageResult(BAKERY)]), undefined);
  t.equal(
    nearestSentence('Who is the keeper?', [passageResult('{"keeper": "Mira Doll", "lighthouse": {"place": "Karvo"}}')]),
    undefined,
  );
});
