import t from 'tap';
import { CitationJudge } from './citation-judge.ts';
import { passageResult } from './test-support/passage-result.ts';

const of1923 = passageResult('The lighthouse of Karvo was kept by Mira Doll in 1923.');
const of1924 = passageResult('The lighthouse of Karvo was kept by Jonas Brandt in 1924.');

t.test('of two accounts, the one of the year that is asked for is cited', async (t) => {
  const judge = new CitationJudge('Who kept the lighthouse of Karvo in 1924?', [of1923, of1924]);
  t.notOk(judge.holds(1, 'It was kept by Mira Doll'), 'the passage says so, and is not what was asked for');
  t.ok(judge.holds(2, 'It was kept by Jonas Brandt'));
  const both = new CitationJudge('Who kept the lighthouse of Karvo in 1923 and in 1924?', [of1923, of1924]);
  t.ok(both.holds(1, 'It was kept by Mira Doll'));
  t.ok(both.holds(2, 'It was kept by Jonas Brandt'));
  const any = new CitationJudge('Who kept the lighthouse of Karvo in 1999?', [of1923, of1924]);
  t.ok(any.holds(1, 'It was kept by Mira Doll'), 'a number that no passage has tells none apart');
});

t.test('a page that has only the names is not cited for what another page says', async (t) => {
  const mill = passageResult('The mill of Karvo was leased to Olga Brandt.');
  const other = passageResult('The council of Karvo met in the house of Olga Brandt.', { relevance: 0.8 });
  const judge = new CitationJudge('Who leased the mill?', [other, mill]);
  t.ok(judge.holds(2, 'The mill of Karvo was leased to Olga Brandt'));
  t.notOk(judge.holds(1, 'The mill of Karvo was leased to Olga Brandt'));
  const far = passageResult('The mill of Karvo was leased to Olga Brandt.', { relevance: 0.3 });
  t.notOk(
    new CitationJudge('Who leased the mill?', [mill, far]).holds(2, 'It was Olga Brandt'),
    'it is hardly about the question',
  );
});

t.test('a name counts with what the passage says of it', async (t) => {
  const roles = passageResult(
    'The owner of the ferry of Karvo is Olga Brandt. The council of Karvo met in spring. The clerk wrote it down.',
  );
  const clerk = passageResult('The clerk of the council of Karvo is Mira Doll. The weather was fine.');
  const judge = new CitationJudge('Who is the clerk of the council of Karvo?', [roles, clerk]);
  t.ok(judge.holds(2, 'The clerk of the council of Karvo is Mira Doll'));
  t.notOk(judge.holds(1, 'The clerk of the council of Karvo is Olga Brandt'), 'each word is there, and nobody said so');
  const apart = passageResult('Karvo has a lighthouse. Its keeper is Mira Doll.');
  t.ok(new CitationJudge('Who keeps the lighthouse of Karvo?', [apart]).holds(1, 'The keeper of the lighthouse is Mira Doll'));
});

t.test('answers in another language than the passages cite them by names and numbers', async (t) => {
  const judge = new CitationJudge('Wer war 1924 der Wärter in Karvo?', [of1923, of1924]);
  t.ok(judge.holds(2, 'Der Wärter im Jahr 1924 war Jonas Brandt'));
  t.notOk(judge.holds(1, 'Der Wärter war Mira Doll'));
  t.notOk(judge.holds(3, 'Der Wärter war Jonas Brandt'), 'no such passage');
  t.notOk(judge.holds(0, 'Der Wärter war Jonas Brandt'));
});

t.test('a sentence that says something in plain words says it with the passage, in one place', async (t) => {
  const page = passageResult(
    'The library of Karvo lent books in spring. The council met. The warden of the pier of Karvo is Mira Doll.',
  );
  const judge = new CitationJudge('Who mended the pier of Karvo?', [page]);
  t.notOk(judge.holds(1, 'The pier of Karvo is slide'), 'nobody says so');
  t.notOk(judge.holds(1, 'The pier of Karvo is lent'), 'that is said of something else');
  t.ok(judge.holds(1, 'The pier of Karvo has a warden'));
  t.ok(judge.holds(1, 'The warden of the pier is Mira Doll'));
  const high = new CitationJudge('Is the pier of Karvo under a warden?', [page]);
  t.ok(high.holds(1, 'Yes, the pier of Karvo is under a warden'), 'assent adds nothing');
  const bread = passageResult('The bakery of Karvo opened early. It sells rye bread.');
  t.ok(new CitationJudge('What does the bakery of Karvo sell?', [bread]).holds(1, 'The bakery of Karvo sells rye bread'));
});
