/**
 * npm run eval:first-answers [-- --model NAME --lang CODE,CODE --docs N,N --seed S,S --xquad DIR --show-wrong]: what a newcomer is answered over
 * documents of their own, through a stock server: whether the reply holds the answer, what its first sentence does, what is refused, and what is
 * cited where nothing answers. A rule of a few lines stands beside it. `--model` asks another installed model; then its own words count as well.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { nothingFoundIn } from '../../../ts/server/domains/data/chat/nothing-found.ts';
import { languageOf } from '../../../ts/server/domains/data/evidence/question-language.ts';
import { type Figure, figureTable, shareFigure } from '../figure.ts';
import { KnowledgeClient } from '../knowledge/knowledge-client.ts';
import { startModelServer } from '../model-server.ts';
import { type AskedOf, drawQuestions, type QuestionSet } from './question-set.ts';
import { RareWordRule } from './rare-word-rule.ts';
import { MARLOW, pairsOfDocuments, singleTopic, type TopicLanguage } from './single-topic.ts';

const { values } = parseArgs({
  options: {
    model: { type: 'string', default: 'svc-chat-tiny' },
    lang: { type: 'string', default: 'en,de,ru,zh' },
    docs: { type: 'string', default: '12,230' },
    seed: { type: 'string', default: '1,2,3,4,5' },
    asked: { type: 'string', default: '40' },
    'show-wrong': { type: 'boolean', default: false },
    xquad: { type: 'string', default: join(import.meta.dirname, '../../../../shared/data/xquad') },
  },
});

/** Of the replies, by the number of documents. */
const GOALS = new Map([
  ['12', { reply: 0.92, first: 0.8 }],
  ['230', { reply: 0.9, first: 0.76 }],
]);
/** Bases of two documents, the Marlow row among them. */
const N_PAIRS = 25;
/** Every document has the name of the thing, and no word of most answers is in their questions. */
const TOPIC_GOALS = { reply: 0.9 };
const REFUSAL_GOAL = 0.9;
const NOT_REFUSED_GOAL = 0.99;
const MARK = /\s?\[\d+(?:, \d+)*\]/g;

interface Counts {
  nAnswerable: number;
  nReplies: number;
  nFirst: number;
  nRuleReplies: number;
  nRuleFirst: number;
  nCited: number;
  nNotRefused: number;
  nUnanswerable: number;
  nUncited: number;
}

const seeds = values.seed.split(',').map(Number);
const figures: Figure[] = [];
const server = await startModelServer();
try {
  for (const language of ['en', 'de'] as const)
    if (values.lang.split(',').includes(language)) figures.push(...(await measureTopics(language)));
  for (const docs of values.docs.split(',').filter((each) => each !== ''))
    for (const language of values.lang.split(',')) figures.push(...(await measure(docs, language)));
} finally {
  await server.stop();
}
console.log(figureTable(`First answers of ${values.model}`, figures));
const missed = figures.filter(({ value, goal }) => goal !== undefined && value < goal).length;
const held = figures.filter(({ goal }) => goal !== undefined).length - missed;
console.log(`${held} goals held, ${missed} missed`);
process.exitCode = missed === 0 ? 0 : 1;

async function measure(docs: string, language: string): Promise<Figure[]> {
  const counts = newCounts();
  for (const seed of seeds)
    await count(
      counts,
      drawQuestions(values.xquad, language, Number(docs), seed, Number(values.asked)),
      `${language}-${docs}-${seed}`,
    );
  return figuresOf(counts, `${language}, ${docs} documents`, GOALS.get(docs));
}

async function measureTopics(language: TopicLanguage): Promise<Figure[]> {
  const counts = newCounts();
  for (const seed of seeds) await count(counts, singleTopic(language, seed), `${language}-topic-${seed}`);
  const pairs = newCounts();
  for (const [i, set] of [...(language === 'en' ? [MARLOW] : []), ...pairsOfDocuments(language, N_PAIRS)].entries())
    await count(pairs, set, `${language}-pair-${i}`);
  return [
    ...figuresOf(counts, `${language}, one topic`, TOPIC_GOALS),
    ...figuresOf(pairs, `${language}, two documents of one topic`, TOPIC_GOALS),
  ].filter(({ count: n }) => n > 0);
}

function newCounts(): Counts {
  return {
    nAnswerable: 0,
    nReplies: 0,
    nFirst: 0,
    nRuleReplies: 0,
    nRuleFirst: 0,
    nCited: 0,
    nNotRefused: 0,
    nUnanswerable: 0,
    nUncited: 0,
  };
}

function figuresOf(counts: Counts, of: string, goals: { reply: number; first?: number } | undefined): Figure[] {
  const name = (what: string) => `${of}: ${what}`;
  const { nAnswerable, nUnanswerable } = counts;
  return [
    shareFigure(name('the reply holds the answer'), counts.nReplies, nAnswerable, goals?.reply),
    shareFigure(name('its first sentence does'), counts.nFirst, nAnswerable, goals?.first),
    shareFigure(name('three sentences by the rule of rare words'), counts.nRuleReplies, nAnswerable),
    shareFigure(name('one sentence by that rule'), counts.nRuleFirst, nAnswerable),
    shareFigure(name('answerable, cited'), counts.nCited, nAnswerable),
    shareFigure(name('answerable, not refused'), counts.nNotRefused, nAnswerable, NOT_REFUSED_GOAL),
    shareFigure(name('unanswerable, nothing cited'), counts.nUncited, nUnanswerable, REFUSAL_GOAL),
  ];
}

async function count(counts: Counts, set: QuestionSet, namespace: string): Promise<void> {
  const client = new KnowledgeClient(server.url, namespace);
  for (const [i, text] of set.paragraphs.entries()) await client.add(`document-${i}.txt`, text);
  const rule = new RareWordRule(set.paragraphs);
  for (const asked of set.answerable) {
    const { text, citations } = await client.ask(asked.text, values.model);
    const isRefused = text.startsWith(nothingFoundIn(languageOf(asked.text)));
    const isRight = holds(text, asked);
    counts.nAnswerable += 1;
    counts.nReplies += Number(isRight);
    counts.nFirst += Number(holds(firstQuotation(text), asked));
    counts.nRuleReplies += Number(holds(rule.best(asked.text, 3).join(' '), asked));
    counts.nRuleFirst += Number(holds(rule.best(asked.text, 1).join(' '), asked));
    counts.nCited += Number(citations.length > 0);
    counts.nNotRefused += Number(!isRefused);
    if (values['show-wrong'] && !isRight)
      console.log(`${asked.text} (${asked.answers.join(' | ')})\n  ${text.replaceAll('\n', ' ')}`);
  }
  for (const { text: question } of set.unanswerable) {
    const { text, citations } = await client.ask(question, values.model);
    counts.nUnanswerable += 1;
    counts.nUncited += Number(citations.length === 0);
    if (values['show-wrong'] && citations.length > 0) console.log(`UNANSWERABLE ${question}\n  ${text.replaceAll('\n', ' ')}`);
  }
}

function holds(reply: string, { answers }: AskedOf): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/\s+/g, '');
  return answers.some((answer) => plain(reply.replace(MARK, '')).includes(plain(answer)));
}

/** Several quotations stand in lines of their own below the lead. */
function firstQuotation(reply: string): string {
  const [lead = '', first] = reply.split('\n\n');
  return first ?? lead;
}
