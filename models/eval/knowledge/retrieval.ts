/** Questions of four languages over one knowledge base that has the passages of all of them. */
import { bootstrapInterval } from '../bootstrap.ts';
import type { Figure } from '../figure.ts';
import { readXquad } from '../xquad.ts';
import type { KnowledgeClient, SearchMode } from './knowledge-client.ts';

export const LANGUAGES = ['en', 'de', 'zh', 'ru'] as const;

export interface Question {
  readonly language: string;
  readonly text: string;
  /** Source of the passage that it was asked of. */
  readonly source: string;
}

/** Defaults are chosen on `tuning`, and reported on `report`. */
export type Half = 'tuning' | 'report';

/** Passages of one article; XQuAD has five of each. */
const ARTICLE_PASSAGES = 5;

/** Every other article, so that half of the questions have no answer in it. */
export function isInHalfBase(source: string): boolean {
  const passage = Number(/\d+/.exec(source)?.[0]);
  return Math.floor(passage / ARTICLE_PASSAGES) % 2 === 0;
}

export interface Collection {
  readonly passages: readonly { readonly source: string; readonly text: string }[];
  readonly questions: readonly Question[];
}

export function readCollection(folder: string, half: Half): Collection {
  const sets = LANGUAGES.map((language) => ({ language, ...readXquad(folder, language) }));
  const source = (language: string, passage: number) => `${language}-${passage}.txt`;
  return {
    passages: sets.flatMap(({ language, passages }) => passages.map((text, i) => ({ source: source(language, i), text }))),
    questions: sets.flatMap(({ language, questions }) =>
      questions
        .filter((_, i) => (i % 2 === 0) === (half === 'tuning'))
        .map(({ text, passage }) => ({ language, text, source: source(language, passage) })),
    ),
  };
}

/** nDCG@10 of each question, in their order. */
export async function measureGains(client: KnowledgeClient, questions: readonly Question[], mode: SearchMode): Promise<number[]> {
  const gains: number[] = new Array<number>(questions.length).fill(0);
  let next = 0;
  const ask = async () => {
    for (let i = next++; i < questions.length; i = next++) {
      const question = questions[i];
      if (question === undefined) return;
      const place = (await client.search(question.text, mode)).indexOf(question.source);
      gains[i] = place < 0 || place >= 10 ? 0 : 1 / Math.log2(place + 2);
    }
  };
  await Promise.all([ask(), ask(), ask()]);
  return gains;
}

/** Of each question: whether the server would answer it from what it finds. */
export async function measureAnswerable(client: KnowledgeClient, questions: readonly Question[]): Promise<boolean[]> {
  const found: boolean[] = [];
  for (const { text } of questions) found.push(await client.isAnswerable(text));
  return found;
}

export function meanFigure(name: string, gains: readonly number[], goal?: number): Figure {
  const value = gains.reduce((sum, gain) => sum + gain, 0) / Math.max(1, gains.length);
  return { name, value, ...bootstrapInterval(gains), count: gains.length, ...(goal === undefined ? {} : { goal }) };
}
