import t from 'tap';
import { tenantScope } from '../../../platform/storage/index.ts';
import { PLAIN_SCALE } from '../embedding/similarity-scale.ts';
import type { IndexQuery } from '../index/index-messages.ts';
import type { Collection, FoundPassage } from './collection.ts';
import { type Question, Retriever, type RetrieverOptions } from './retriever.ts';

const collection = { id: 'kb', version: 1 } as Collection;
const ask: Question = { text: 'Who keeps the lighthouse?', k: 5, signal: new AbortController().signal };

/** What the index is asked for a question, where the model says that it has so many tokens, or does not say. */
async function queryOf(question: Question, nTokens: readonly number[] | undefined): Promise<IndexQuery | undefined> {
  let asked: IndexQuery | undefined;
  const retriever = new Retriever({
    embedders: { embed: async () => ({ vectors: [Float32Array.of(1)], nTokens }), scale: () => PLAIN_SCALE },
    indexes: {
      search: async (_: unknown, __: unknown, query: IndexQuery) => {
        asked = query;
        return [];
      },
    },
    store: { readPassages: async () => [] },
    reranker: { depth: async () => 0, rank: async () => [] },
  } as unknown as RetrieverOptions<Collection, FoundPassage, unknown>);
  await retriever.search(tenantScope('red'), [collection], question);
  return asked;
}

t.test('terms and vectors of a service of which nothing is known are joined by ranks', async (t) => {
  t.match(await queryOf(ask, undefined), { isByRanks: true });
  t.match(await queryOf(ask, [6]), { isByRanks: false, denseWeight: 0.25 });
  t.match(
    await queryOf({ ...ask, denseWeight: 0.7 }, undefined),
    { isByRanks: false, denseWeight: 0.7 },
    'a weight was asked for',
  );
  t.match(await queryOf({ ...ask, mode: 'dense' }, undefined), { isByRanks: false, denseWeight: 1 });
  t.match(await queryOf({ ...ask, mode: 'lexical' }, undefined), { isByRanks: false, denseWeight: 0 });
});
