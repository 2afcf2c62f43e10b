/**
 * npm run eval:knowledge [-- --half tuning|report --embed FILE.gguf --xquad DIR --only-planted --show-wrong]: how well a knowledge base finds
 * the passage that answers a question, over HTTP: with the passages of four languages in one base, in the bases that first answers are measured
 * on, and with facts on known pages and sheets of files. `--show-wrong` prints each answer that has a wrong citation. The last line counts the goals.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Figure, figureTable, shareFigure } from '../figure.ts';
import { startModelServer } from '../model-server.ts';
import { KnowledgeClient } from './knowledge-client.ts';
import { measurePlanted } from './planted-figures.ts';
import {
  type Collection,
  type Half,
  isInHalfBase,
  LANGUAGES,
  meanFigure,
  measureAnswerable,
  measureGains,
  type Question,
  readCollection,
} from './retrieval.ts';
import { measureSmallBases } from './small-bases.ts';

const LEXICAL_GOAL = 0.95;
const HYBRID_GOAL = 0.96;
const REFUSAL_GOAL = 0.9;

const { values } = parseArgs({
  options: {
    half: { type: 'string', default: 'report' },
    'show-wrong': { type: 'boolean', default: false },
    'only-planted': { type: 'boolean', default: false },
    embed: { type: 'string', default: join(import.meta.dirname, '../../svc-embed-tiny/svc-embed-tiny.gguf') },
    xquad: { type: 'string', default: join(import.meta.dirname, '../../../../shared/data/xquad') },
  },
});

const half: Half = values.half === 'tuning' ? 'tuning' : 'report';
const figures = [...(values['only-planted'] ? [] : await measureQuestions()), ...(await measureFacts())];
const missed = figures.filter(({ value, goal }) => goal !== undefined && value < goal).length;
const held = figures.filter(({ goal }) => goal !== undefined).length - missed;
console.log(`${held} goals held, ${missed} missed`);
process.exitCode = missed === 0 ? 0 : 1;

async function measureQuestions(): Promise<Figure[]> {
  const { passages, questions } = readCollection(values.xquad, half);
  const server = await startModelServer(values.embed);
  try {
    const client = new KnowledgeClient(server.url, 'xquad');
    for (const { source, text } of passages) await client.add(source, text);
    const startedAt = performance.now();
    const lexical = await measureGains(client, questions, 'lexical');
    const found = figuresOf(questions, lexical, await measureGains(client, questions, 'hybrid'));
    const perSecond = (2 * questions.length) / ((performance.now() - startedAt) / 1000);
    found.push(...(await measureRefusals(new KnowledgeClient(server.url, 'half'), passages, questions)));
    console.log(figureTable(`XQuAD, ${passages.length} documents in one base, ${half} half`, found));
    console.log(`${perSecond.toFixed(0)} searches a second over HTTP`);
    return found;
  } finally {
    await server.stop();
  }
}

/** With the models that ship. */
async function measureFacts(): Promise<Figure[]> {
  const server = await startModelServer();
  try {
    const onWrong = values['show-wrong'] ? (line: string) => console.log(line) : undefined;
    const small = values['only-planted']
      ? []
      : await measureSmallBases((name) => new KnowledgeClient(server.url, name), values.xquad, LANGUAGES);
    if (small.length > 0) console.log(figureTable('Bases of one topic, and of one language', small));
    const found = await measurePlanted(new KnowledgeClient(server.url, 'planted'), half === 'tuning' ? 1 : 2, onWrong);
    console.log(figureTable(`Facts planted in PDF and Office files, ${half} half`, found));
    return [...small, ...found];
  } finally {
    await server.stop();
  }
}

/** Every fourth question, asked of a base that has half of the articles. */
async function measureRefusals(
  client: KnowledgeClient,
  passages: Collection['passages'],
  questions: Collection['questions'],
): Promise<Figure[]> {
  for (const { source, text } of passages) if (isInHalfBase(source)) await client.add(source, text);
  const asked = questions.filter((_, i) => i % 4 === 0);
  const isAnswered = await measureAnswerable(client, asked);
  const answerable = asked.map(({ source }) => isInHalfBase(source));
  const nUnanswerable = answerable.filter((is) => !is).length;
  const nRefused = isAnswered.filter((is, i) => !is && !answerable[i]).length;
  const nKept = isAnswered.filter((is, i) => is && answerable[i]).length;
  return [
    shareFigure('all: unanswerable, refused', nRefused, nUnanswerable, REFUSAL_GOAL),
    shareFigure('all: answerable, not refused', nKept, asked.length - nUnanswerable),
  ];
}

/** Terms alone are the row that vectors must not fall below in any language. */
function figuresOf(asked: readonly Question[], lexical: readonly number[], hybrid: readonly number[]): Figure[] {
  const rows = LANGUAGES.flatMap((language) => {
    const own = (gains: readonly number[]) => gains.filter((_, i) => asked[i]?.language === language);
    const terms = meanFigure(`${language}: nDCG@10, terms alone (BM25)`, own(lexical));
    return [terms, meanFigure(`${language}: nDCG@10, hybrid`, own(hybrid), terms.value)];
  });
  return [
    ...rows,
    meanFigure('all: nDCG@10, terms alone (BM25)', lexical, LEXICAL_GOAL),
    meanFigure('all: nDCG@10, hybrid', hybrid, HYBRID_GOAL),
  ];
}
