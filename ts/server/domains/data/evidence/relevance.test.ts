import t from 'tap';
import { passageResult } from '../chat/test-support/passage-result.ts';
import { readQuestion } from './asked-question.ts';
import { readPassage, readPassages } from './read-passages.ts';
import { relevanceOf, withoutUnrelated } from './relevance.ts';

/** As the search counts it where every passage has the words of the question: they are not rare, so that nothing is covered. */
const relevanceTo = (question: string, text: string, relevance = 0) => {
  const asked = readQuestion(question);
  return relevanceOf(asked, [readPassage(asked, passageResult(text, { relevance }))]);
};

t.test('words that all passages have count, and one that none has does not decide', async (t) => {
  const boiler = 'The Marlow boiler is in the cellar below the kitchen. The Marlow boiler was bought in 2011.';
  t.not(relevanceTo('Where does the Marlow boiler stand?', boiler), 'nothing');
  t.not(relevanceTo('Wo steht der Marlow boiler?', boiler), 'nothing');
});

t.test(
  'passages that are alike stay all, however little each is worth beside the others; what is beside a sure one goes',
  (t) => {
    const asked = readQuestion('What colour does the Hastra press have?');
    const read = (relevance: number) =>
      readPassage(asked, passageResult('The door of the Hastra press is dark red.', { relevance }));
    t.equal(withoutUnrelated([read(0), read(0.05)]).length, 2);
    t.equal(withoutUnrelated([read(0.5), read(0.05)]).length, 1);
    t.strictSame(withoutUnrelated([]), []);
    t.end();
  },
);

t.test('passages that share nothing but function words are about something else', async (t) => {
  const bakery = 'The bakery in the street of the harbour sells bread, and it is open on all days of the week.';
  t.equal(relevanceTo('When was the treaty of Vestfold signed by the two kings?', bakery), 'nothing');
  t.equal(relevanceTo('谁签署了这份条约？', '面包店每天都开门。'), 'nothing');
  t.equal(relevanceOf(readQuestion('Who?'), []), 'nothing');
});

t.test('passages with all of the question’s words are about it, with some perhaps', async (t) => {
  const harbour = 'The lighthouse of Karvo was built in 1893. Its keeper is Mira Doll.';
  t.equal(relevanceTo('Who is the keeper of the lighthouse of Karvo?', harbour, 0.9), 'found');
  t.equal(relevanceTo('Who sold the lighthouse of Vestfold to pirates?', harbour, 0.25), 'perhaps');
  t.equal(relevanceTo('灯塔的看守人是谁？', '灯塔建于1893年，看守人是米拉。', 0.9), 'found');
});

t.test('of what many bases have, no more is read than serves, and others are served in between', async (t) => {
  const asked = readQuestion('Who is the keeper of the lighthouse of Karvo?');
  const long = 'The lighthouse of Karvo was built in 1893. Its keeper is Mira Doll. '.repeat(100);
  let nTurns = 0;
  const timer = setInterval(() => nTurns++, 1);
  const results = Array.from({ length: 192 }, (_, i) => passageResult(long, { namespace: `kb${i % 16}` }));
  const read = await readPassages(asked, results);
  clearInterval(timer);
  t.equal(read.length, 192);
  const nRead = read.filter(({ coverage }) => coverage > 0).length;
  t.ok(nRead > 1 && nRead <= 24, `${nRead}`);
  t.equal(relevanceOf(asked, read), 'found');
  t.ok(nTurns > 0);
});
