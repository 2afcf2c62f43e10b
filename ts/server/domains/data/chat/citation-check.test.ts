import t from 'tap';
import { holds, PassageWords } from './citation-check.ts';

const PASSAGE = 'The lighthouse of Karvo was built in 1893 and is 41 metres high. Its keeper, Mira Doll, has 1,200 books.';

t.test('a citation holds when the passage has the names and numbers of its sentence', async (t) => {
  for (const sentence of [
    'The lighthouse was built in 1893',
    'Der Wärter ist Mira Doll',
    'It has 1200 books',
    'Он построен в 1893 году',
    'the keeper of the lighthouse is high',
  ])
    t.ok(holds(sentence, new PassageWords(PASSAGE)), sentence);
  for (const sentence of [
    'The lighthouse was built in 1894',
    'The keeper is Mira Doll, and she is 41 and has 7 cats',
    'The keeper is Jonas Brandt',
    'bread is sold every morning from the bakery',
    'Хлеб продаётся каждое утро',
    '面包每天早上都有卖的',
    '',
  ])
    t.notOk(holds(sentence, new PassageWords(PASSAGE)), sentence);
});
