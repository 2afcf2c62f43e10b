/** Wires retrieval. */
import { join } from 'node:path';
import type { HealthReport, Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import type { LocalModels } from './embedding/embedder.ts';
import { Embedders } from './embedding/embedders.ts';
import { LocalEmbedder } from './embedding/local-embedder.ts';
import { MeasuredEmbedders } from './embedding/measured-embedders.ts';
import { PassageEmbedding } from './embedding/passage-embedding.ts';
import { RemoteEmbedder } from './embedding/remote-embedder.ts';
import { IndexThread } from './index/index-thread.ts';
import { VectorNotices } from './index/vector-notices.ts';
import type { Collection, CollectionStore, FoundPassage } from './search/collection.ts';
import { CollectionSearch } from './search/collection-search.ts';
import { LoadedIndexes } from './search/loaded-indexes.ts';
import { Reranker } from './search/reranker.ts';
import { indexMetrics, SavedIndexes } from './search/saved-indexes.ts';
import type { retrievalSettings } from './settings.ts';

export interface RetrievalApi {
  readonly embedders: Embedders;
  /** Documents as passages with embeddings, to be stored. */
  readonly embedding: PassageEmbedding;
  /**
   * Search in the collections of a module, once when it is made. `name` is that of a folder for what is saved of their indexes, where they are not
   * made of the database alone at each start.
   */
  open<C extends Collection, P extends FoundPassage, Filter>(
    name: string,
    store: CollectionStore<C, P, Filter>,
    options?: { readonly isSaved: boolean },
  ): CollectionSearch<C, P, Filter>;
  /** The models of this node, before any is asked: a module of the same tier has them. */
  connect(models: LocalModels): void;
  health(): HealthReport;
}

export function createRetrieval({ settings, log, metrics, node }: ModuleContext<typeof retrievalSettings>): Module<RetrievalApi> {
  let connected: LocalModels | undefined;
  const models = (): LocalModels => {
    if (connected === undefined) throw new Error('retrieval was connected to no models');
    return connected;
  };
  const url = settings['data.embedding_url'];
  const remote = url === '' ? undefined : new RemoteEmbedder({ url, key: settings['data.embedding_key'] });
  const embedders = new Embedders({
    local: new LocalEmbedder(models),
    remote,
    model: settings['data.embedding_model'],
    measured: new MeasuredEmbedders(node.dataDir),
  });
  const reranker = new Reranker(models, settings['data.rerank_model']);
  const kind = settings['data.vector_storage'];
  const notices = new VectorNotices(log, metrics);
  const folder = (name: string) => join(node.dataDir, 'cache', name);
  const thread = new IndexThread({
    vectors: { kind, exactFolder: folder('knowledge') },
    onLost: (error) => {
      log.error('the index thread ended; indexes are loaded anew', { error: String(error) });
      loaded.forget();
    },
    onNotice: (notice) => notices.take(notice),
  });
  const loaded = new LoadedIndexes(thread, settings['data.max_index_bytes']);
  const counters = indexMetrics(metrics);
  const searches: Pick<CollectionSearch<never, never, never>, 'start' | 'stop'>[] = [];
  const health = () => ({
    state: { index_bytes: loaded.sizeBytes, vector_storage: kind },
    reasons: notices.reasons,
  });
  return {
    api: {
      embedders,
      embedding: new PassageEmbedding(thread, embedders),
      open: (name, store, { isSaved } = { isSaved: true }) => {
        const saved = new SavedIndexes({ folder: folder(name), log, metrics: counters, isSaved });
        const search = new CollectionSearch({ store, thread, loaded, saved, embedders, reranker, log });
        searches.push(search);
        return search;
      },
      connect: (given) => {
        connected = given;
      },
      health,
    },
    routes: [],
    start: async () => {
      thread.open();
      for (const search of searches) await search.start();
    },
    stop: async () => {
      const stopped = Promise.all(searches.map((search) => search.stop()));
      await thread.close();
      await stopped;
      loaded.forget();
    },
    health,
    ready: () => undefined,
  };
}
