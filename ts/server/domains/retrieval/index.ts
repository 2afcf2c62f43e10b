/** Retrieval: texts are cut into passages, embedded, indexed and found, for modules that have collections of documents. */
import { defineModule } from '../../platform/module/module.ts';
import { retrievalSettings } from './settings.ts';

export { type EmbeddingBinding, type EmbeddingSource, floatBytes, floatsOf, type LocalModels } from './embedding/embedder.ts';
export type { Embedders } from './embedding/embedders.ts';
export type { EmbeddedPassage, PassageEmbedding } from './embedding/passage-embedding.ts';
export { retrievalErrors } from './errors.ts';
export type { IndexPassage } from './index/index-messages.ts';
export type { DocumentSource } from './passages/cut-source.ts';
export type { ExtractedDocument } from './passages/document-text.ts';
export { formatOf, type TextFormat } from './passages/text-blocks.ts';
export type { ChangedDocument, Collection, CollectionStore, PassageKey, PassageScores } from './search/collection.ts';
export type { CollectionSearch } from './search/collection-search.ts';
export { MAX_QUESTION, type Question } from './search/retriever.ts';
export { stem } from './terms/stem.ts';
export { areTermsCurrent } from './terms/term-vector.ts';
export { termsOf } from './terms/terms.ts';

export const retrieval = defineModule({
  name: 'retrieval',
  settings: retrievalSettings,
  create: async (context) => (await import('./retrieval-module.ts')).createRetrieval(context),
});
