/** Two documents about one thing share their words: a question about one of them is answered all the same. */
import t from 'tap';
import type { AskedOf, QuestionSet } from '../models/eval/first-answers/question-set.ts';
import { MARLOW, pairsOfDocuments } from '../models/eval/first-answers/single-topic.ts';
import { KnowledgeClient } from '../models/eval/knowledge/knowledge-client.ts';
import { startServer } from './server.ts';

t.setTimeout(300_000);

const sets: QuestionSet[] = [MARLOW, ...pairsOfDocuments('en', 25), ...pairsOfDocuments('de', 25)];

t.test('the Marlow boiler and fifty things like it', async (t) => {
  const { url } = await startServer(t, { models: {}, env: { SVC_MODELS_SHIPPED: 'true', SVC_DATA_EMBEDDING_URL: '' } });
  for (const [i, { paragraphs, answerable }] of sets.entries()) {
    const client = new KnowledgeClient(url, `pair-${i}`);
    for (const [at, text] of paragraphs.entries()) await client.add(`document-${at}.txt`, text);
    const { text: question, answers } = answerable[0] as AskedOf;
    const { text, citations } = await client.ask(question);
    t.match(text, answers[0], question);
    // What only perhaps answers is named and bears no mark.
    const named = [text, ...citations.map(({ source }) => source)].join(' ');
    t.match(named, 'document-0.txt', question);
  }
});
