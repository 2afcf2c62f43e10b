import t from 'tap';
import { cpuMsOf } from '../../../../../test/test-support/cpu-time.ts';
import { evidenceText } from '../evidence/evidence-text.ts';
import { languageOf } from '../evidence/question-language.ts';
import { ownWords } from './consulted-passages.ts';
import { nothingFoundIn } from './nothing-found.ts';

const LANGUAGES = ['Who is it?', 'Wer ist das?', 'Qui est-ce, et où ?', '他是谁?', 'Кто это?', 'مَن هو؟'].map(languageOf);

t.test('what was put around an answer is none of the model\u2019s words', async (t) => {
  for (const language of LANGUAGES) {
    const [first, second] = ['Its “keeper” is Mira Doll.', 'She has two cats.'];
    for (const isSure of [true, false])
      for (const quotations of [
        [{ text: first, of: [2] }],
        [
          { text: first, of: [1, 2] },
          { text: second, of: 'a.pdf' },
        ],
      ]) {
        const { text } = evidenceText(language, quotations, isSure);
        t.equal(ownWords(`It is Mira.\n\n${text}`), 'It is Mira.', language);
        t.equal(ownWords(text), text, 'an answer is never empty');
      }
    t.equal(ownWords(`${nothingFoundIn(language)}\n\nSorry.`), 'Sorry.', language);
    t.equal(ownWords(nothingFoundIn(language)), nothingFoundIn(language), 'an answer is never empty');
  }
});

t.test('all else stays', async (t) => {
  for (const answer of [
    '',
    'It is Mira.',
    'From the documents: “Mira” and others, as was said.',
    'From the documents: “one” [1]\n\nThat is all.',
    `So: ${nothingFoundIn('en')}`,
  ])
    t.equal(ownWords(answer), answer);
});

t.test('long answers are read in bounded time', async (t) => {
  for (const answer of [
    'From the documents: “'.repeat(50_000),
    '\n'.repeat(500_000),
    ' '.repeat(500_000),
    `${'[1]'.repeat(200_000)}x`,
  ]) {
    t.ok(cpuMsOf(() => ownWords(answer)) < 2_000, answer.slice(0, 5));
  }
});
