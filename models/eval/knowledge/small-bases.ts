/** Search in the bases that first answers are measured on: of a single topic with copies, and of the paragraphs of one language. */
import { type Figure, shareFigure } from '../figure.ts';
import { drawQuestions, type QuestionSet } from '../first-answers/question-set.ts';
import { MARLOW, pairsOfDocuments, singleTopic } from '../first-answers/single-topic.ts';
import type { KnowledgeClient } from './knowledge-client.ts';

const SEEDS = [1, 2, 3, 4, 5];
/** XQuAD has so many of a language, less those of two articles, whose questions nothing answers. */
const N_PARAGRAPHS = 230;
const N_ASKED = 40;
const N_PAIRS = 25;
const FIRST = 4;
const NOT_REFUSED_GOAL = 0.99;
const REFUSAL_GOAL = 0.9;

interface Counts {
  nAsked: number;
  nFirst: number;
  nAmongFirst: number;
  nAnswerable: number;
  nUnanswerable: number;
  nRefused: number;
}

export async function measureSmallBases(
  open: (namespace: string) => KnowledgeClient,
  xquad: string,
  languages: readonly string[],
): Promise<Figure[]> {
  const figures: Figure[] = [];
  const add = async (name: string, sets: readonly QuestionSet[]): Promise<void> => {
    const counts = { nAsked: 0, nFirst: 0, nAmongFirst: 0, nAnswerable: 0, nUnanswerable: 0, nRefused: 0 };
    for (const [i, set] of sets.entries()) await count(counts, set, open(`${name.replace(/\W+/g, '-')}-${i}`));
    figures.push(...figuresOf(name, counts));
  };
  for (const language of ['en', 'de'] as const) {
    const sets = SEEDS.map((seed) => singleTopic(language, seed));
    await add(`${language}, one topic`, sets);
    await add(`${language}, two documents of one topic`, [
      ...(language === 'en' ? [MARLOW] : []),
      ...pairsOfDocuments(language, N_PAIRS),
    ]);
  }
  for (const language of languages)
    await add(`${language}, ${N_PARAGRAPHS} paragraphs`, [drawQuestions(xquad, language, N_PARAGRAPHS, 1, 5 * N_ASKED)]);
  return figures;
}

async function count(counts: Counts, set: QuestionSet, client: KnowledgeClient): Promise<void> {
  const source = (i: number) => `document-${i}.txt`;
  for (const [i, text] of set.paragraphs.entries()) await client.add(source(i), text);
  for (const { text, answeredBy } of set.answerable) {
    const found = await client.search(text, 'hybrid');
    const isRight = (name: string | undefined) => answeredBy.some((i) => source(i) === name);
    counts.nAsked += 1;
    counts.nFirst += Number(isRight(found[0]));
    counts.nAmongFirst += Number(found.slice(0, FIRST).some(isRight));
    counts.nAnswerable += Number(await client.isAnswerable(text));
  }
  for (const { text } of set.unanswerable) {
    counts.nUnanswerable += 1;
    counts.nRefused += Number(!(await client.isAnswerable(text)));
  }
}

function figuresOf(of: string, { nAsked, nFirst, nAmongFirst, nAnswerable, nUnanswerable, nRefused }: Counts): Figure[] {
  return [
    shareFigure(`${of}: right document first`, nFirst, nAsked),
    shareFigure(`${of}: right document in the first ${FIRST}`, nAmongFirst, nAsked),
    shareFigure(`${of}: answerable, not refused`, nAnswerable, nAsked, NOT_REFUSED_GOAL),
    ...(nUnanswerable === 0 ? [] : [shareFigure(`${of}: unanswerable, refused`, nRefused, nUnanswerable, REFUSAL_GOAL)]),
  ];
}
