import { Bm25Index } from './bm25-index.ts';
import { bootstrapInterval } from './bootstrap.ts';
import { type EmbeddingClient, embedTexts } from './embedding-client.ts';
import type { Figure } from './figure.ts';
import { cosine, fuseScores, ndcgAt10 } from './ranking.ts';
import { type RetrievalSet, readXquad } from './xquad.ts';

/** What dense similarity counts for beside BM25 in the hybrid. */
const denseWeight = 0.3;

const denseGoals: Record<string, number> = { en: 0.8 };

/** nDCG@10 on XQuAD, of dense, BM25 and both together. */
export async function measureRetrieval(client: EmbeddingClient, folder: string): Promise<Figure[]> {
  const figures = [];
  for (const language of ['en', 'de']) figures.push(...(await measure(client, language, readXquad(folder, language))));
  return figures;
}

async function measure(client: EmbeddingClient, language: string, { passages, questions }: RetrievalSet): Promise<Figure[]> {
  const passageVectors = await embedTexts(client, passages);
  const questionVectors = await embedTexts(
    client,
    questions.map((question) => question.text),
  );
  const index = new Bm25Index(passages);
  const gains: Record<'dense' | 'bm25' | 'hybrid', number[]> = { dense: [], bm25: [], hybrid: [] };
  for (const [number, { text, passage }] of questions.entries()) {
    const own = questionVectors[number] ?? new Float32Array();
    const dense = Float64Array.from(passageVectors, (vector) => cosine(own, vector));
    const sparse = index.scores(text);
    gains.dense.push(ndcgAt10(dense, passage));
    gains.bm25.push(ndcgAt10(sparse, passage));
    gains.hybrid.push(ndcgAt10(fuseScores(sparse, dense, denseWeight), passage));
  }
  index.close();
  const bm25 = meanFigure(`XQuAD ${language}: nDCG@10, BM25`, gains.bm25);
  return [
    meanFigure(`XQuAD ${language}: nDCG@10, dense`, gains.dense, denseGoals[language]),
    bm25,
    meanFigure(`XQuAD ${language}: nDCG@10, hybrid`, gains.hybrid, bm25.value),
  ];
}

function meanFigure(name: string, values: readonly number[], goal?: number): Figure {
  const value = values.reduce((sum, each) => sum + each, 0) / values.length;
  return { name, value, ...bootstrapInterval(values), count: values.length, ...(goal === undefined ? {} : { goal }) };
}
