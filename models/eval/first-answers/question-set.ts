/** A base of paragraphs with questions that they answer and questions that they do not, drawn by a seed from XQuAD (Artetxe et al. 2020). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SeededRandom } from '../../random/seeded-random.ts';

export interface AskedOf {
  readonly text: string;
  readonly answers: readonly string[];
  /** Which of the base's paragraphs answer it. */
  readonly answeredBy: readonly number[];
}

export interface QuestionSet {
  readonly paragraphs: readonly string[];
  readonly answerable: readonly AskedOf[];
  /** Of articles that the base has no paragraph of. */
  readonly unanswerable: readonly AskedOf[];
}

interface SquadFile {
  data: { paragraphs: { context: string; qas: { question: string; answers: { text: string }[] }[] }[] }[];
}

interface Paragraph {
  readonly text: string;
  readonly article: number;
  readonly questions: readonly Pick<AskedOf, 'text' | 'answers'>[];
}

/** Articles that no base has, so that questions are left over that nothing answers. */
const N_LEFT_OUT = 2;

/** @param nDocuments at most; the largest base has all paragraphs but those of two articles. */
export function drawQuestions(folder: string, language: string, nDocuments: number, seed: number, nAsked: number): QuestionSet {
  const random = new SeededRandom(seed);
  const all = readParagraphs(join(folder, `xquad.${language}.json`));
  const nArticles = 1 + Math.max(...all.map(({ article }) => article));
  const leftOut = new Set(
    shuffled(
      Array.from({ length: nArticles }, (_, i) => i),
      random,
    ).slice(0, N_LEFT_OUT),
  );
  const chosen = shuffled(
    all.filter(({ article }) => !leftOut.has(article)),
    random,
  ).slice(0, nDocuments);
  const articles = new Set(chosen.map(({ article }) => article));
  const foreign = all.filter(({ article }) => !articles.has(article));
  const questionsOf = (paragraphs: readonly Paragraph[]) =>
    shuffled(
      paragraphs.flatMap((paragraph) => {
        const at = chosen.indexOf(paragraph);
        return paragraph.questions.map((question) => ({ ...question, answeredBy: at < 0 ? [] : [at] }));
      }),
      random,
    );
  return {
    paragraphs: chosen.map(({ text }) => text),
    answerable: questionsOf(chosen).slice(0, nAsked),
    unanswerable: questionsOf(foreign).slice(0, Math.ceil(nAsked / 4)),
  };
}

function readParagraphs(path: string): Paragraph[] {
  const { data } = JSON.parse(readFileSync(path, 'utf8')) as SquadFile;
  return data.flatMap(({ paragraphs }, article) =>
    paragraphs.map(({ context, qas }) => ({
      text: context,
      article,
      questions: qas.map(({ question, answers }) => ({ text: question, answers: answers.map(({ text }) => text) })),
    })),
  );
}

function shuffled<T>(items: readonly T[], random: SeededRandom): T[] {
  const left = [...items];
  for (let i = left.length - 1; i > 0; i--) {
    const j = random.integer(i + 1);
    [left[i], left[j]] = [left[j] as T, left[i] as T];
  }
  return left;
}
