import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface RetrievalSet {
  passages: string[];
  /** Each with the place of the passage that it was asked of. */
  questions: { text: string; passage: number }[];
}

interface SquadFile {
  data: { paragraphs: { context: string; qas: { question: string }[] }[] }[];
}

/** XQuAD (Artetxe, Ruder, Yogatama 2020) as retrieval: every question ranks all passages of its language. `folder` holds xquad.LANGUAGE.json. */
export function readXquad(folder: string, language: string): RetrievalSet {
  const { data } = JSON.parse(readFileSync(join(folder, `xquad.${language}.json`), 'utf8')) as SquadFile;
  const paragraphs = data.flatMap((article) => article.paragraphs);
  return {
    passages: paragraphs.map((paragraph) => paragraph.context),
    questions: paragraphs.flatMap(({ qas }, passage) => qas.map(({ question }) => ({ text: question, passage }))),
  };
}
