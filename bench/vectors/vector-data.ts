/** The vectors of a load: those that are indexed, and those that are asked for. */
import { join } from 'node:path';
import { readXquad } from '../../models/eval/xquad.ts';
import { clusteredVectors } from '../../native/vector/test/vectors.ts';
import { checkout } from '../../scripts/setup/paths.mjs';
import { LlamaModel } from '../../ts/server/native/llama.ts';
import type { VectorLoad } from './vector-load.ts';

const XQUAD = join(checkout, '..', 'shared', 'data', 'xquad');
const LANGUAGES = ['en', 'de', 'ru', 'zh'];
const EMBEDDER = join(checkout, 'models', 'svc-embed-tiny', 'svc-embed-tiny.gguf');
const TEXTS_AT_ONCE = 256;
/** In bytes: longer texts are more tokens than the model takes. */
const LONGEST_TEXT = 500;

export interface VectorData {
  readonly dimensions: number;
  /** One after the other. */
  readonly stored: Float32Array;
  readonly queries: Float32Array;
}

export async function vectorData(load: VectorLoad, seed: number): Promise<VectorData> {
  return load.data === 'xquad' ? await xquadVectors(load) : clusteredData(load, seed);
}

function clusteredData({ count, dimensions, queries }: VectorLoad, seed: number): VectorData {
  const all = clusteredVectors(count + queries, dimensions, seed);
  return { dimensions, stored: all.subarray(0, count * dimensions), queries: all.subarray(count * dimensions) };
}

/** Questions ask for passages, their sentences and other questions. */
async function xquadVectors({ count, queries: nQueries }: VectorLoad): Promise<VectorData> {
  const sets = LANGUAGES.map((language) => readXquad(XQUAD, language));
  const questions = sets.flatMap((set) => set.questions.map(({ text }) => text));
  const passages = sets.flatMap((set) => set.passages);
  const sentences = passages.flatMap((passage) => passage.match(/[^.!?。！？]+[.!?。！？]+/g) ?? []);
  const every = Math.floor(questions.length / nQueries);
  const asked = questions.filter((_, i) => i % every === 0).slice(0, nQueries);
  const others = questions.filter((_, i) => i % every !== 0);
  const model = await LlamaModel.load({ path: EMBEDDER });
  const embedder = await model.createEmbedder({});
  const embed = async (texts: readonly string[]) => {
    const vectors: Float32Array[] = [];
    for (let at = 0; at < texts.length; at += TEXTS_AT_ONCE)
      vectors.push(...(await embedder.embed(texts.slice(at, at + TEXTS_AT_ONCE), { tenant: 'bench' })).vectors);
    return vectors;
  };
  const stored = await embed(
    [...new Set([...passages, ...sentences, ...others])]
      .filter((text) => Buffer.byteLength(text) <= LONGEST_TEXT)
      .slice(0, count),
  );
  const queries = await embed(asked);
  await embedder.close();
  await model.close();
  return { dimensions: stored[0]?.length ?? 0, stored: joined(stored), queries: joined(queries) };
}

function joined(vectors: readonly Float32Array[]): Float32Array {
  const dimensions = vectors[0]?.length ?? 0;
  const all = new Float32Array(vectors.length * dimensions);
  for (const [i, vector] of vectors.entries()) all.set(vector, i * dimensions);
  return all;
}
