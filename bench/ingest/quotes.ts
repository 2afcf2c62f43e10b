/** Fills a knowledge base with passages of made text, and asks for sentences of them: how long a quoted reply takes, beside the search alone. */
import { SeededRandom } from '../../models/random/seeded-random.ts';
import { readUsage } from '../process-usage.ts';
import { quantile } from '../statistics.ts';
import type { Sample } from '../trial.ts';
import { readWords, sentenceOf } from './made-files.ts';
import { post } from './probes.ts';
import type { QuotesLoad } from './quotes-load.ts';

const NAMESPACE = 'quotes';
/** Below a heading of its own, so that it is one passage. */
const SENTENCES_A_PASSAGE = 5;
const PASSAGES_A_DOCUMENT = 50;
const ASKED_WORDS = 6;
const REHEARSED = 20;

export async function measureQuotes(
  { url, pid }: { url: string; pid: number },
  { nPassages, nReplies }: QuotesLoad,
  seed: number,
): Promise<Sample> {
  const random = new SeededRandom(seed);
  const { nAdded, questions } = await fill(url, nPassages, random);
  const asked = Array.from({ length: nReplies + REHEARSED }, (_, i) => questions[(i * 7) % questions.length] ?? '');
  const ask = {
    search: (query: string) => post(`${url}/api/v1/vector/search`, { tenant: 'default', namespace: NAMESPACE, query, top_k: 12 }),
    reply: (content: string) =>
      post(`${url}/v1/chat/completions`, {
        model: 'svc-chat-tiny',
        knowledge: [NAMESPACE],
        messages: [{ role: 'user', content }],
      }),
  };
  for (const question of asked.slice(0, REHEARSED)) await ask.reply(question);
  const measured = asked.slice(REHEARSED);
  const search = await timeEach(measured, ask.search, pid);
  const reply = await timeEach(measured, ask.reply, pid);
  const cited = reply.answers.filter((answer) => (answer as { citations: readonly unknown[] }).citations.length > 0);
  return {
    nPassages: nAdded,
    replyP50Ms: quantile(reply.ms, 0.5),
    replyP99Ms: quantile(reply.ms, 0.99),
    replyCpuMs: reply.cpuMs,
    searchP50Ms: quantile(search.ms, 0.5),
    searchP99Ms: quantile(search.ms, 0.99),
    searchCpuMs: search.cpuMs,
    citedShare: cited.length / nReplies,
  };
}

async function fill(url: string, nPassages: number, random: SeededRandom): Promise<{ nAdded: number; questions: string[] }> {
  const words = await readWords();
  const questions: string[] = [];
  let nAdded = 0;
  for (let i = 0; nAdded < nPassages; i++) {
    const passages = Array.from({ length: Math.min(PASSAGES_A_DOCUMENT, nPassages - nAdded) }, () =>
      Array.from({ length: SENTENCES_A_PASSAGE }, () => sentenceOf(random, words, 9 + random.integer(8))),
    );
    const text = passages.map((sentences) => `# ${sentenceOf(random, words, 3)}\n\n${sentences.join(' ')}`).join('\n\n');
    const document = { tenant: 'default', namespace: NAMESPACE, source: `${i}.md`, text, format: 'markdown' };
    nAdded += ((await post(`${url}/api/v1/vector/ingest`, document)) as { chunks: number }).chunks;
    for (const [sentence = ''] of passages.slice(0, 4))
      questions.push(`Where does it say ${sentence.split(' ').slice(0, ASKED_WORDS).join(' ').toLowerCase()}?`);
  }
  return { nAdded, questions };
}

/** One after the other. */
async function timeEach(questions: readonly string[], ask: (question: string) => Promise<unknown>, pid: number) {
  const usedBefore = readUsage(pid).cpuSeconds;
  const ms: number[] = [];
  const answers: unknown[] = [];
  for (const question of questions) {
    const beganAt = performance.now();
    answers.push(await ask(question));
    ms.push(performance.now() - beganAt);
  }
  return { ms, answers, cpuMs: (1_000 * (readUsage(pid).cpuSeconds - usedBefore)) / Math.max(1, questions.length) };
}
