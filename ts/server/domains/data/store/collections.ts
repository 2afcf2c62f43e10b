/** How retrieval reads the knowledge bases. */
import type { CollectionStore } from '../../retrieval/index.ts';
import type { DocumentFilter, KnowledgeBase, KnowledgePassage } from '../knowledge-base.ts';
import type { BaseStore } from './base-store.ts';
import type { ChunkStore } from './chunk-store.ts';
import type { DocumentStore } from './document-store.ts';

interface CollectionsDeps {
  readonly bases: BaseStore;
  readonly documents: DocumentStore;
  readonly chunks: ChunkStore;
}

export function collectionsOf({
  bases,
  documents,
  chunks,
}: CollectionsDeps): CollectionStore<KnowledgeBase, KnowledgePassage, DocumentFilter> {
  return {
    find: (scope, { namespace }) => bases.find(scope, namespace),
    listFilled: (everyone) => bases.listFilled(everyone),
    listChanges: (scope, base, version) => chunks.listChanges(scope, base, version),
    readForIndex: (scope, documentNos) => chunks.readForIndex(scope, documentNos),
    listMatching: (scope, base, filter) => documents.listMatching(scope, base, filter),
    readPassages: (scope, base, keys) => chunks.read(scope, base, keys),
  };
}
