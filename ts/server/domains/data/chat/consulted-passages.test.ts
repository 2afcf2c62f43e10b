import t from 'tap';
import { readQuestion } from '../evidence/asked-question.ts';
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
  const knowledge = new ConsultedPassages({
    tenant: 'default',
    question: readQuestion('When was the lighthouse built?'),
    relevance: 'found',
    results: [counting],
    nShown: 1,
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
