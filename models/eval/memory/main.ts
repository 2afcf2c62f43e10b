/**
 * npm run eval:memory [-- --half tuning|report]: how well memories are recalled, over HTTP, of made-up people who say, change, repeat and never say facts in 60
 * conversations each. Constants are chosen on the tuning half of the people. The last line counts the goals.
 *
 * Terms alone (BM25) are compared with the hybrid search by one rule for both: as a chat recalls, where each must say nothing of what was never said. BM25 gets
 * the least score that reaches that goal on the very people who are judged, the best that it could have. Beside it stand both rankings whatever the score, where
 * a word that every statement has, such as "I", may put an answer among the first, and something is said of everything.
 */
import { parseArgs } from 'node:util';
import { Bm25Index } from '../bm25-index.ts';
import { type Figure, figureTable, shareFigure } from '../figure.ts';
import { startModelServer } from '../model-server.ts';
import { type History, makeHistory } from './histories.ts';

const N_PEOPLE = 20;
const FIRST = 5;
const GOALS = { found: 0.95, notOutdated: 0.99, nothing: 0.9 };
const root = { username: 'root', password: 'a lighthouse keeper' };

const { values } = parseArgs({ options: { half: { type: 'string', default: 'report' } } });
const isOfHalf = (i: number): boolean => Math.floor(i / 2) % 2 === (values.half === 'tuning' ? 0 : 1);

interface Counts {
  /** The answer is among the first of the hybrid search, whatever its score. */
  ranked: number;
  /** It is so among those that a chat recalls. */
  found: number;
  /** Scores of the answers among the first by terms alone, and of the first one where nothing was said of it. */
  byTerms: number[];
  byTermsNeverSaid: number[];
  nKnown: number;
  outdated: number;
  nChanged: number;
  nothing: number;
  nNeverSaid: number;
}

type Send = <Answer>(method: string, path: string, body?: object) => Promise<Answer>;

const MEMORIES = '/api/v1/memory/memories';

const server = await startModelServer();
try {
  const anyone = sender(server.url);
  const { token } = await anyone<{ token: string }>('POST', '/api/v1/auth/register', root);
  const counts = { en: newCounts(), de: newCounts() };
  for (let i = 0; i < N_PEOPLE; i++) {
    if (!isOfHalf(i)) continue;
    const history = makeHistory(i);
    const account = { username: history.name, password: root.password, role: 'viewer' };
    await sender(server.url, token)('POST', '/api/v1/identity/users', account);
    const own = await anyone<{ token: string }>('POST', '/api/v1/auth/login', account);
    await measure(history, sender(server.url, own.token), counts[history.language]);
  }
  const figures = [...figuresOf('en', counts.en), ...figuresOf('de', counts.de)];
  console.log(figureTable(`Memories of ${N_PEOPLE / 2} people, ${values.half} half`, figures));
  console.log(
    `"recalled": BM25 above the score at which it says nothing of ${100 * GOALS.nothing} % of what was never said; the hybrid's goal is no less.`,
  );
  const missed = figures.filter(({ value, goal }) => goal !== undefined && value < goal).length;
  console.log(`${figures.filter(({ goal }) => goal !== undefined).length - missed} goals held, ${missed} missed`);
  process.exitCode = missed === 0 ? 0 : 1;
} finally {
  await server.stop();
}

async function measure({ said, asked }: History, send: Send, counts: Counts): Promise<void> {
  for (const { conversation, text } of said)
    await send('POST', MEMORIES, { text, conversation_id: `c${conversation}`, message_id: `m${conversation}` });
  const { data: current } = await send<{ data: { text: string }[] }>('GET', `${MEMORIES}?limit=200`);
  const texts = current.map(({ text }) => text);
  const index = new Bm25Index(texts);
  const found = async (body: object): Promise<string[]> =>
    (await send<{ data: { text: string }[] }>('POST', `${MEMORIES}/search`, body)).data.map(({ text }) => text);
  for (const { question, answers, outdated } of asked) {
    const all = await found({ query: question, max: FIRST });
    const recalled = await found({ query: question, recall: true });
    const byTerms = firstByTerms(index, question, texts);
    if (answers.length === 0) {
      counts.nNeverSaid += 1;
      counts.nothing += Number(recalled.length === 0);
      counts.byTermsNeverSaid.push(byTerms[0]?.score ?? 0);
      continue;
    }
    const isAmongFirst = (those: readonly string[]): number =>
      Number(those.slice(0, FIRST).some((text) => answers.includes(text)));
    counts.nKnown += 1;
    counts.ranked += isAmongFirst(all);
    counts.found += isAmongFirst(recalled);
    const hit = byTerms.find(({ text }) => answers.includes(text));
    if (hit !== undefined) counts.byTerms.push(hit.score);
    if (outdated === undefined) continue;
    counts.nChanged += 1;
    counts.outdated += Number(recalled.includes(outdated));
  }
  index.close();
}

function firstByTerms(index: Bm25Index, question: string, texts: readonly string[]): { text: string; score: number }[] {
  const scores = index.scores(question);
  return texts
    .map((text, i) => ({ text, score: scores[i] ?? 0 }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, FIRST);
}

function figuresOf(language: string, counts: Counts): Figure[] {
  const { byTerms, byTermsNeverSaid, nKnown, nNeverSaid } = counts;
  const least = leastScore(byTermsNeverSaid);
  const silent = byTermsNeverSaid.filter((score) => score <= least).length;
  const current = `${language}: the current fact in the first ${FIRST}`;
  const never = `${language}: nothing of what was never said`;
  const surely = byTerms.filter((score) => score > least).length;
  const terms = shareFigure(`${current}, recalled: BM25`, surely, nKnown);
  return [
    terms,
    shareFigure(`${current}, recalled: hybrid`, counts.found, nKnown, Math.max(GOALS.found, terms.value)),
    shareFigure(`${never}, recalled: BM25`, silent, nNeverSaid),
    shareFigure(`${never}, recalled: hybrid`, counts.nothing, nNeverSaid, GOALS.nothing),
    shareFigure(
      `${language}: no outdated fact as current`,
      counts.nChanged - counts.outdated,
      counts.nChanged,
      GOALS.notOutdated,
    ),
    shareFigure(`${current}, any score: BM25`, byTerms.length, nKnown),
    shareFigure(`${current}, any score: hybrid`, counts.ranked, nKnown),
    shareFigure(`${never}, any score: BM25`, byTermsNeverSaid.filter((score) => score === 0).length, nNeverSaid),
  ];
}

/** Above it, terms alone say nothing of what was never said as often as the goal wants. */
function leastScore(neverSaid: readonly number[]): number {
  const inOrder = neverSaid.toSorted((a, b) => a - b);
  return inOrder[Math.ceil(GOALS.nothing * inOrder.length) - 1] ?? 0;
}

function newCounts(): Counts {
  return {
    ranked: 0,
    found: 0,
    byTerms: [],
    byTermsNeverSaid: [],
    nKnown: 0,
    outdated: 0,
    nChanged: 0,
    nothing: 0,
    nNeverSaid: 0,
  };
}

function sender(url: string, token?: string): Send {
  return async <Answer>(method: string, path: string, body?: object): Promise<Answer> => {
    const headers = { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Answer;
  };
}
