import t from 'tap';
import { readQuestion } from '../evidence/asked-question.ts';
import { readPassage } from '../evidence/read-passages.ts';
import { ConsultedPassages } from './consulted-passages.ts';
import { Speaker } from './speaker.ts';
import { passageResult } from './test-support/passage-result.ts';

t.test('sentences are ranked once, however many choices an answer has', async (t) => {
  let nRead = 0;
  const passage = passageResult('The lighthouse of Karvo was built in 1893.');
  const { text } = passage;
  const counting = Object.defineProperty(passage, 'text', {
    get: () => {
      nRead++;
      return text;
    },
  });
  const question = readQuestion('When was the lighthouse built?');
  const knowledge = new ConsultedPassages({
    tenant: 'default',
    question,
    relevance: 'found',
    passages: [readPassage(question, counting)],
    isList: false,
    kept: { count: 0, files: [] },
    speaker: new Speaker('quotes', 'none'),
  });
  t.ok(knowledge.silences({}));
  const nReadOnce = nRead;
  const answers = Array.from({ length: 5 }, () => knowledge.newFilter().conclude());
  t.match(answers[4], /1893/);
  t.equal(new Set(answers).size, 1);
  t.equal(nRead, nReadOnce);
});

t.test('where the tools of a request are left out, the documents answer as if there were none', async (t) => {
  const question = readQuestion('When was the lighthouse built?');
  const withTools = new ConsultedPassages({
    tenant: 'default',
    question,
    relevance: 'found',
    passages: [readPassage(question, passageResult('The lighthouse of Karvo was built in 1893.'))],
    isList: false,
    kept: { count: 0, files: [] },
    speaker: new Speaker('quotes', 'none'),
    offersTools: true,
  });
  t.notOk(withTools.silences({}));
  const without = withTools.withoutTools();
  t.ok(without.silences({}));
  t.match(without.newFilter().conclude(), /1893/);
});

const KARVO = Array.from({ length: 30 }, (_, i) => `Keeper ${i} of the lighthouse of Karvo lit its lamp.`).join(' ');

function consulted(nPassages: number, isList = false): ConsultedPassages {
  const question = readQuestion('Who is the keeper of the lighthouse of Karvo?');
  return new ConsultedPassages({
    tenant: 'default',
    question,
    relevance: 'found',
    passages: Array.from({ length: nPassages }, (_, i) => readPassage(question, passageResult(`${i}. ${KARVO}`))),
    isList,
    kept: { count: 0, files: [] },
    speaker: new Speaker('model', 'none'),
  });
}

/** As a tokenizer that makes a token of each four characters. */
const count = async (text: string) => Math.ceil(text.length / 4);
const textsOf = (passages: string) => passages.split('\n\n').map((block) => block.split('\n')[1] ?? '');

t.test('a model gets as many passages as its prompt has tokens for, the last one cut behind a sentence', async (t) => {
  for (const nTokens of [200, 600, 1_200]) {
    const { passages } = await consulted(10).fit({ nTokens, count });
    const nUsed = await count(passages);
    t.ok(nUsed <= nTokens && nUsed > 0.8 * nTokens, `${nUsed} of ${nTokens}`);
    for (const [i, text] of textsOf(passages).entries()) {
      t.ok(`${i}. ${KARVO}`.startsWith(text));
      t.match(text, /lamp\.$/);
    }
  }
  const most = await consulted(10).fit({ nTokens: 100_000, count });
  t.equal(textsOf(most.passages).length, 4, 'a question gets no more than it needs');
  const list = await consulted(10, true).fit({ nTokens: 100_000, count });
  t.equal(textsOf(list.passages).length, 10, 'and one for all of something what fits');
});

t.test('a model whose prompt is full gets no word about passages, and the evidence stands behind its answer', async (t) => {
  for (const nTokens of [-50, 0, 5]) {
    const full = await consulted(3).fit({ nTokens, count });
    t.match(full, { passages: '', instruction: '', found: [] });
    const filter = full.newFilter();
    t.match(filter.push('It is hard to say.') + filter.conclude(), /^It is hard to say\.\n\nFrom the documents:/);
  }
});
