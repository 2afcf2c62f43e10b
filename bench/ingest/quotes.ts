/** Fills a knowledge base with passages of made text, and asks for sentences of them: how long a quoted reply takes, beside the search alone. */
import { SeededRandom } from '../../models/random/seeded-random.ts';
import { quantile } from '../statistics.ts';
import type { Sample } from '../trial.ts';
import { readWords, sentenceOf } from './made-files.ts';
import { post } from './probes.ts';
import type { QuotesLoad } from './quotes-load.ts';

const NAMESPACE = 'quotes';
/** A passage has about 1,200 characters, and its neighbours share some. */
const SENTENCES_A_PASSAGE = 13;
const PASSAGES_A_DOCUMENT = 20;
const ASKED_WORDS = 6;
const REHEARSED = 20;

export async function measureQuotes(url: string, { nPassages, nReplies }: QuotesLoad, seed: number): Promise<Sample> {
  const random = new SeededRandom(seed);
  const words = await readWords();
  const asked: string[] = [];
  let nAdded = 0;
  for (let i = 0; nAdded < nPassages; i++) {
    const sentences = Array.from({ length: SENTENCES_A_PASSAGE * PASSAGES_A_DOCUMENT }, () =>
      sentenceOf(random, words, 9 + random.integer(8)),
    );
    const document = { tenant: 'default', namespace: NAMESPACE, source: `${i}.txt`, text: sentences.join(' ') };
    nAdded += ((await post(`${url}/api/v1/vector/ingest`, document)) as { chunks: number }).chunks;
    const [sentence = ''] = sentences.slice(random.integer(sentences.length));
    asked.push(`Where does it say ${sentence.split(' ').slice(0, ASKED_WORDS).join(' ').toLowerCase()}?`);
  }
  const questions = Array.from({ length: nReplies + REHEARSED }, (_, i) => asked[(i * 7) % asked.length] ?? '');
  const [replyMs, searchMs]: [number[], number[]] = [[], []];
  let nCited = 0;
  for (const [i, question] of questions.entries()) {
    const searched = await timed(() =>
      post(`${url}/api/v1/vector/search`, { tenant: 'default', namespace: NAMESPACE, query: question, top_k: 12 }),
    );
    const messages = [{ role: 'user', content: question }];
    const replied = await timed(() =>
      post(`${url}/v1/chat/completions`, { model: 'svc-chat-tiny', knowledge: [NAMESPACE], messages }),
    );
    if (i < REHEARSED) continue;
    searchMs.push(searched.ms);
    replyMs.push(replied.ms);
    nCited += Number((replied.answer as { citations: readonly unknown[] }).citations.length > 0);
  }
  return {
    nPassages: nAdded,
    replyP50Ms: quantile(replyMs, 0.5),
    replyP99Ms: quantile(replyMs, 0.99),
    searchP50Ms: quantile(searchMs, 0.5),
    searchP99Ms: quantile(searchMs, 0.99),
    citedShare: nCited / nReplies,
  };
}

async function timed(ask: () => Promise<unknown>): Promise<{ ms: number; answer: unknown }> {
  const beganAt = performance.now();
  const answer = await ask();
  return { ms: performance.now() - beganAt, answer };
}
