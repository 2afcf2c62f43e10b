import t from 'tap';
import { passageResult } from '../chat/test-support/passage-result.ts';
import type { PassageResult } from '../knowledge-base.ts';
import { readQuestion } from './asked-question.ts';
import { evidenceFor } from './evidence.ts';
import { rankSentences } from './ranked-sentences.ts';
import { readPassage } from './read-passages.ts';

const HARBOUR =
  'The lighthouse of Karvo was built in 1893. Its keeper is Mira Doll, who lights the lamp every evening. The harbour has two quays.';
const BAKERY = 'The bakery in the harbour street sells rye bread. The colour of its door is green.';

const read = (question: string, results: readonly PassageResult[]) =>
  results.map((result) => readPassage(readQuestion(question), result));
const nearest = (question: string, results: readonly PassageResult[]) =>
  rankSentences(readQuestion(question), read(question, results))[0];
const evidence = (question: string, results: readonly PassageResult[], isSure = true) =>
  evidenceFor(readQuestion(question), read(question, results), isSure);

t.test('the sentence is first that has most of the rare words of the question', async (t) => {
  const results = [passageResult(HARBOUR, { page: 1 }), passageResult(BAKERY, { page: 2 })];
  for (const [question, n, text] of [
    ['Who is the keeper?', 1, /^Its keeper is Mira Doll/],
    ['When was the lighthouse of Karvo built?', 1, /1893\.$/],
    ['What is the colour of the door of the bakery?', 2, /green\.$/],
    ['Wer verkauft bread and rye?', 2, /^The bakery/],
  ] as const)
    t.match(nearest(question, results), { n, text }, question);
});

t.test('a sentence that says the kind of thing that is asked for comes before one that says none', async (t) => {
  const results = [
    passageResult(
      'The tower of Karvo is the highest of the island and of its neighbours. The tower is 41 metres high. The tower of Karvo belongs to Mira Doll. It has stood since 1893.',
    ),
  ];
  for (const [question, text] of [
    ['How high is the tower of Karvo?', /41 metres/],
    ['To whom does the tower of Karvo belong?', /Mira Doll/],
    ['Wie hoch ist der tower?', /41 metres/],
  ] as const)
    t.match(nearest(question, results), { text }, question);
});

t.test('headings and the sentence before count as well', async (t) => {
  const results = [
    passageResult('Karvo\n\nIts keeper is Mira Doll, who has two cats.', { heading: 'Lighthouses > Karvo', page: 1 }),
    passageResult('Brelo\n\nIts keeper is Jonas Brandt, who has no cats.', { heading: 'Lighthouses > Brelo', page: 2 }),
  ];
  t.match(nearest('Who is the keeper of Brelo?', results), { n: 2, text: /^Its keeper is Jonas/ });
});

t.test('a question in a document says nothing, and its answer stands below it', async (t) => {
  const results = [
    passageResult('Who keeps the lighthouse of Karvo? Since last year that is Mira Doll. The harbour has two quays.'),
  ];
  t.match(nearest('Who keeps the lighthouse of Karvo?', results), { text: 'Since last year that is Mira Doll.' });
});

t.test('one to three sentences are quoted, each with its mark, at the places that are told', async (t) => {
  const results = [passageResult(HARBOUR), passageResult(BAKERY, { documentNo: 2 })];
  const { text = '', marks = [] } =
    evidence('What does the harbour street bakery of Karvo sell, who keeps its lighthouse?', results) ?? {};
  t.match(text, /^From the documents:\n\n“The [^”]+” \[\d\]\n\n“[^”]+” \[\d\]\n\n“[^”]+” \[\d\]$/);
  t.equal(marks.length, 3);
  for (const { n, start, end } of marks) t.equal(text.slice(start, end), `[${n}]`);
});

t.test('documents that say the same in the same words are cited together', async (t) => {
  const results = [passageResult(BAKERY, { documentNo: 1 }), passageResult(BAKERY, { documentNo: 2, source: 'copy.txt' })];
  const { text = '', marks = [] } = evidence('Which bread does the bakery sell?', results) ?? {};
  t.match(text, /rye bread\.” \[1, 2\]/);
  t.match(marks, [{ n: 1 }, { n: 2 }]);
});

t.test('a sentence that begins with a pronoun has the one before it behind it', async (t) => {
  const results = [
    passageResult('Mira Doll came to the island as a child. She keeps the lighthouse of Karvo. The harbour has two quays.'),
  ];
  t.match(evidence('Who keeps the lighthouse of Karvo?', results)?.text, /“She keeps [^”]+” \[1\]\n\n“Mira Doll came/);
});

t.test('what only perhaps answers has the name of its source, which can be no Markdown, and no mark', async (t) => {
  const results = [passageResult(BAKERY, { source: 'a](https://x.example)`<b>*.md' })];
  const { text, marks } = evidence('Which bakery burnt down?', results, false) ?? {};
  t.match(text, /^The documents may not say this\. Nearest:\n\n“The bakery [^”]+” \(a https:\/\/x\.example b \.md\)\n/);
  t.strictSame(marks, []);
});

t.test('without a shared word, a passage or a sentence there is no evidence', async (t) => {
  t.equal(evidence('Who?', []), undefined);
  t.equal(evidence('', [passageResult(HARBOUR)]), undefined);
  t.equal(evidence('Who invented telephones?', [passageResult(BAKERY)]), undefined);
  t.equal(
    evidence('Who is the keeper?', [passageResult('{"keeper": "Mira Doll", "lighthouse": {"place": "Karvo"}}')]),
    undefined,
  );
});

t.test('long passages of short lines, or of two sentences alone, are ranked in little time for any question', (t) => {
  const word = (i: number) => (i * 2_654_435_761).toString(36).replace(/\d/g, 'x');
  const words = (from: number, n: number) => Array.from({ length: n }, (_, i) => word(from + i)).join(' ');
  const lines = Array.from({ length: 400 }, (_, i) => `boiler ${words(3 * i, 3)}`).join('\n');
  const twoSentences = `${words(0, 600)}? Boiler ${words(600, 600)}.`;
  const question = `Boiler ${Array.from({ length: 63 }, (_, i) => word(i).repeat(6)).join(' ')}`;
  const before = process.cpuUsage();
  for (const text of [lines, twoSentences]) {
    const results = Array.from({ length: 12 }, () => passageResult(text));
    t.ok(evidence(question, results));
  }
  const { user } = process.cpuUsage(before);
  t.ok(user < 1_500_000, `${user} \u00b5s`);
  t.end();
});
