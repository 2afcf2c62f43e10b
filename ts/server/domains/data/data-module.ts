/** Wires the data module. */

import type { Principal } from '../../platform/http/principal.ts';
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import type { TenantScope } from '../../platform/storage/index.ts';
import { accountSubject, files } from '../files/index.ts';
import { license } from '../license/index.ts';
import type { BackgroundHearing } from '../media/index.ts';
import { retrieval } from '../retrieval/index.ts';
import { CallerDocuments } from './caller-documents.ts';
import { BaseNearness } from './chat/base-nearness.ts';
import { InputFiles } from './chat/input-files.ts';
import { KnowledgeAnswers } from './chat/knowledge-answers.ts';
import { ConversationFiles, type FilesKey, noConversations } from './conversation-files/conversation-files.ts';
import { conversationFileRoutes } from './conversation-files/routes.ts';
import { FileTarget } from './ingest/file-target.ts';
import { IndexJobs } from './ingest/index-jobs.ts';
import { Ingestion } from './ingest/ingestion.ts';
import { recordingsOf } from './ingest/recordings.ts';
import { KnowledgeAccess } from './knowledge-access.ts';
import type { KnowledgeBase } from './knowledge-base.ts';
import type { KnowledgePort } from './knowledge-context.ts';
import { openaiRoutes } from './openai/openai-routes.ts';
import { baseRoutes } from './routes/base-routes.ts';
import { documentRoutes } from './routes/document-routes.ts';
import { uploadAnswers } from './routes/file-answers.ts';
import { searchRoute } from './routes/search-routes.ts';
import { knowledgeSearchTool } from './search-tool.ts';
import { KnowledgeService } from './service.ts';
import type { dataSettings } from './settings.ts';
import { AttachedStore } from './store/attached-store.ts';
import { BaseStore } from './store/base-store.ts';
import { ChunkStore } from './store/chunk-store.ts';
import { collectionsOf } from './store/collections.ts';
import { DocumentStore } from './store/document-store.ts';
import { OwnedBaseStore } from './store/owned-base-store.ts';
import { Sweep } from './sweep.ts';
import { FileService } from './vector-stores/file-service.ts';
import { VectorStores } from './vector-stores/vector-stores.ts';

export interface DataApi {
  readonly service: KnowledgeService;
  readonly ingestion: Ingestion;
  readonly answers: KnowledgePort;
  readonly documents: CallerDocuments;
  /** Whoever hears recordings; it has nothing while it does not run. */
  connectHearing(hearing: () => BackgroundHearing | undefined): void;
  /** Stored files as the module media reads them. */
  readonly recordings: {
    /** Undefined: it has no bytes of its own. Throws `file_not_found` and `file_elsewhere`. */
    find(caller: Principal, fileId: string): Promise<{ sha256: string; path: string } | undefined>;
    /** The path of one that was found. Throws `file_elsewhere`. */
    open(scope: TenantScope, sha256: string): Promise<string>;
  };
  /** Whether the node has knowledge bases of any tenant. */
  holdsAny(): Promise<boolean>;
  /** Once, while the modules are made: conversations are of this module's own tier. */
  connectConversations(filesKey: FilesKey): void;
}

export function createData({ settings, storage, jobs, log, ...context }: ModuleContext<typeof dataSettings>): Module<DataApi> {
  const { embedders, embedding, open, health } = context.use(retrieval);
  const { blobs, stored, intake, reader, uploads, serveUploads, addBlobUser, release } = context.use(files);
  let hearing: () => BackgroundHearing | undefined = () => undefined;
  const bases = new BaseStore(storage);
  const ownedBases = new OwnedBaseStore(storage);
  const documents = new DocumentStore(storage);
  const attached = new AttachedStore(storage);
  const chunks = new ChunkStore(storage);
  const collections = open('knowledge', collectionsOf({ bases, documents, chunks }));
  const filling = {
    bases,
    ownedBases,
    documents,
    attached,
    embedding,
    files: reader,
    recordings: recordingsOf(() => hearing(), blobs),
    onPublished: (scope: TenantScope, base: KnowledgeBase) => collections.follow(scope, base),
  };
  const indexJobs = new IndexJobs({ ...filling, jobs });
  const ingestion = new Ingestion({ ...filling, jobs: indexJobs });
  const onUnused = (tenant: string, sha256: string) => release(tenant, [sha256]);
  const sweep = new Sweep({
    storage,
    files: stored,
    jobs,
    log,
    onErased: release,
    removeBase: (scope, namespace) => service.removeIfThere(scope, namespace),
    removeOwned: (scope, base) => service.removeBase(scope, base),
    removeFile: (scope, id, sha256) => storedFiles.removeExpired(scope, id, sha256),
  });
  const service = new KnowledgeService({
    bases,
    documents,
    chunks,
    embedders,
    ingestion,
    collections,
    maxBases: settings['data.tenant_bases'],
    onRemoved: () => sweep.wake(),
    onUnused,
  });
  const access = new KnowledgeAccess(context.uses, context.use(license));
  addBlobUser((scope, hashes) => sweep.usedBlobs(scope, hashes));
  const target = new FileTarget({ service, ingestion, embedders, access, onReplaced: () => sweep.wake() });
  const storedFiles = new FileService({
    files: stored,
    attached,
    bases,
    blobs,
    uses: context.uses,
    onRemoved: async (tenant, sha256) => {
      sweep.wake();
      await onUnused(tenant, sha256);
    },
  });
  const stores = new VectorStores({
    service,
    bases,
    attached,
    ingestion,
    files: storedFiles,
    blobs,
    access,
    jobs,
    onRemoved: () => sweep.wake(),
  });
  const inputFiles = new InputFiles({ files: storedFiles, reader, knowledge: service });
  const conversationFiles = new ConversationFiles({
    filesKey: (...asked) => filesKey(...asked),
    bases: ownedBases,
    documents,
    uploads,
    knowledge: service,
    ingestion,
    embedders,
    intake,
    access,
    onUnused,
    maxAccountBytes: settings['data.account_conversation_bytes'],
    onRemoved: () => sweep.wake(),
  });
  const answers = new KnowledgeAnswers({
    service,
    ownedBases,
    sweep,
    access,
    inputFiles,
    nearness: new BaseNearness({ bases, chunks, embedders, access }),
    answers: settings['data.answers'],
  });
  let filesKey: FilesKey = noConversations;
  return {
    api: {
      service,
      ingestion,
      answers,
      documents: new CallerDocuments(service, access),
      holdsAny: () => sweep.holdsAny(),
      connectHearing: (connected) => {
        hearing = connected;
      },
      recordings: {
        find: async (caller, fileId) => {
          const { file, path } = await storedFiles.open(caller, fileId, 'file_id');
          return path === undefined ? undefined : { sha256: file.sha256, path };
        },
        open: (scope, sha256) => blobs.open(scope, sha256),
      },
      connectConversations: (connected) => (filesKey = connected),
    },
    routes: [
      ...baseRoutes(service, access, embedders),
      ...documentRoutes(service, access, blobs),
      searchRoute(service, access),
      ...serveUploads(target, uploadAnswers),
      ...conversationFileRoutes(conversationFiles, service, blobs),
      ...openaiRoutes({ files: storedFiles, intake, knowledge: service, stores, access }),
    ],
    tools: [knowledgeSearchTool(service, access)],
    belongings: {
      holdsAny: async (scope) => (await bases.page(scope, { limit: 1, order: 'asc' })).length > 0,
      eraseTenant: async (scope) => {
        const all = [...(await bases.list(scope)), ...(await ownedBases.list(scope))];
        for (const base of all) await service.removeBase(scope, base);
        // Removes the rows of the bases, and with them what their blobs are needed for.
        await sweep.run();
      },
      // The files of its conversations; what it added to knowledge bases is the tenant's.
      eraseAccount: (everyone, accountId) => sweep.eraseOwner(everyone, accountSubject(accountId)),
    },
    start: async () => {
      indexJobs.start();
      sweep.start();
    },
    stop: async () => {
      await Promise.all([indexJobs.stop(), sweep.stop()]);
    },
    // Of retrieval, which the interface does not name.
    health,
    ready: () => undefined,
  };
}
