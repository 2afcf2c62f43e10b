/**
 * npm run eval:memory [-- --half tuning|report]: how well memories are recalled, over HTTP, of made-up people who say, change, repeat and never say facts in 60
 * conversations each. Constants are chosen on the tuning half of the people. The last line counts the goals.
 */
import { parseArgs } from 'node:util';
import { isAbout } from '../../../ts/server/domains/memory/recall.ts';
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
  found: number;
  byTerms: number;
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
  for (const { question, answers, outdated } of asked) {
    const found = await send<{ data: { text: string; score: number }[] }>('POST', `${MEMORIES}/search`, {
      query: question,
      max: 24,
    });
    const recalled = found.data.filter(({ text, score }) => isAbout(question, text, score)).map(({ text }) => text);
    if (answers.length === 0) {
      counts.nNeverSaid += 1;
      counts.nothing += Number(recalled.length === 0);
      continue;
    }
    counts.nKnown += 1;
    counts.found += Number(recalled.slice(0, FIRST).some((text) => answers.includes(text)));
    counts.byTerms += Number(firstByTerms(index, question, texts).some((text) => answers.includes(text)));
    if (outdated === undefined) continue;
    counts.nChanged += 1;
    counts.outdated += Number(recalled.includes(outdated));
  }
  index.close();
}

function firstByTerms(index: Bm25Index, question: string, texts: readonly string[]): string[] {
  const scores = index.scores(question);
  const order = [...texts.keys()].filter((i) => (scores[i] ?? 0) > 0).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
  return order.slice(0, FIRST).map((i) => texts[i] ?? '');
}

function figuresOf(language: string, counts: Counts): Figure[] {
  const terms = shareFigure(
    `${language}: the current fact in the first ${FIRST}, terms alone (BM25)`,
    counts.byTerms,
    counts.nKnown,
  );
  const goal = Math.max(GOALS.found, terms.value);
  return [
    terms,
    shareFigure(`${language}: the current fact in the first ${FIRST}, hybrid`, counts.found, counts.nKnown, goal),
    shareFigure(
      `${language}: no outdated fact as current`,
      counts.nChanged - counts.outdated,
      counts.nChanged,
      GOALS.notOutdated,
    ),
    shareFigure(`${language}: nothing of what was never said`, counts.nothing, counts.nNeverSaid, GOALS.nothing),
  ];
}

function newCounts(): Counts {
  return { found: 0, byTerms: 0, nKnown: 0, outdated: 0, nChanged: 0, nothing: 0, nNeverSaid: 0 };
}

function sender(url: string, token?: string): Send {
  return async <Answer>(method: string, path: string, body?: object): Promise<Answer> => {
    const headers = { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Answer;
  };
}
