/** Wires the memory module. */
import { join } from 'node:path';
import type { Principal } from '../../platform/http/principal.ts';
import { scopeOf } from '../../platform/http/principal.ts';
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { identity } from '../identity/index.ts';
import { retrieval } from '../retrieval/index.ts';
import { security } from '../security/index.ts';
import { MemoryCollections } from './collections.ts';
import { dreamRoutes } from './dream-routes.ts';
import { DreamSchedule, minuteOf } from './dream-schedule.ts';
import { DreamStore } from './dream-store.ts';
import { Dreams } from './dreams.ts';
import { exmmRoutes } from './exmm-routes.ts';
import { ExtractionStore } from './extraction/extraction-store.ts';
import { type AskModel, Extractions, type SaidConversations } from './extraction/extractions.ts';
import { sectionsOf } from './files/export-sections.ts';
import { FileLoading } from './files/file-loading.ts';
import { FilePins } from './files/file-pins.ts';
import { MemoryFiles } from './files/memory-files.ts';
import { Forecasts } from './forecast/forecasts.ts';
import { forecastRoutes } from './forecast-routes.ts';
import { MasterMemory } from './master-memory.ts';
import { ownerOf } from './memory.ts';
import { Recall } from './recall.ts';
import { RecallPreferences } from './recall-preferences.ts';
import { LearnedFiles } from './router/learned-files.ts';
import { type AnswerConversations, RouteLearning } from './router/route-learning.ts';
import { RouteStore } from './router/route-store.ts';
import { Router } from './router/router.ts';
import { routerRoutes } from './router-routes.ts';
import { memoryRoutes } from './routes.ts';
import { MemoryService } from './service.ts';
import { FILES_FOLDER, type memorySettings } from './settings.ts';
import { Slots } from './slots.ts';
import { MemoryStore } from './store.ts';
import type { MemoryStorage } from './tables.ts';
import { rememberTool } from './tools.ts';

/** The pipeline of answers asks it. */
export interface MemoryApi extends Pick<Recall, 'recall'> {
  /** Chooses for chats that leave it to the node. */
  readonly router: Pick<Router, 'mode' | 'choose' | 'keep' | 'end'>;
  /** Whether chats of the caller's account recall memories without being asked to. */
  recallsByItself(caller: Principal): Promise<boolean>;
  /** Whoever has what people said, and whoever answers chats. */
  connect(sources: { readonly conversations: SaidConversations & AnswerConversations; readonly ask: AskModel }): void;
}

/** Tests put these in place of the real thing. */
export interface MemoryOverrides {
  readonly now?: () => number;
  /** Called with what looks through conversations, so that a test need not wait for its time. */
  readonly onMade?: (extractions: Extractions) => void;
}

export function createMemory(
  context: ModuleContext<typeof memorySettings>,
  { now = Date.now, onMade }: MemoryOverrides = {},
): Module<MemoryApi> {
  const { settings, log, metrics } = context;
  const { recordAct, delegations } = context.use(identity);
  const { open, embedders } = context.use(retrieval);
  const storage: MemoryStorage = context.storage.access();
  const store = new MemoryStore(storage);
  // What is forgotten is in no file: the index is made of the database at each start.
  const search = open('memory', new MemoryCollections(storage, now), { isSaved: false });
  const service = new MemoryService({
    store,
    search,
    embedders,
    master: () => master.searched(),
    tenantWriters: settings['memory.tenant_writers'],
    most: settings['memory.most_memories'],
    now,
  });
  const recall = new Recall({ service, store, log, metrics, limitMs: settings['memory.recall_ms'], now });
  const preferences = new RecallPreferences(store, now);
  const dreamStore = new DreamStore(storage);
  const dreams = new Dreams({
    jobs: context.jobs,
    dreams: dreamStore,
    memories: store,
    service,
    slots: { learn: (scope, owner, signal) => slots.learn(scope, owner, signal) },
    metrics,
    undoDays: settings['memory.undo_days'],
    now,
  });
  const extractions = new Extractions({
    jobs: context.jobs,
    store: new ExtractionStore(storage),
    service,
    delegations,
    log,
    metrics,
    restMs: settings['memory.rest_minutes'] * 60_000,
    now,
  });
  const { jobs, node, series } = context;
  const pins = new FilePins(storage, now);
  const requireTenantWriter = (caller: Principal) => service.requireTenantWriter(caller);
  const files = new MemoryFiles({
    jobs,
    pins,
    exportSections: sectionsOf({
      memories: store,
      dreams: dreamStore,
      slots: { find: (scope, owner) => slots.find(scope, owner) },
    }),
    requireTenantWriter,
    folder: join(node.dataDir, FILES_FOLDER),
    now,
  });
  const most = settings['memory.most_memories'];
  const loading = new FileLoading({ files, store, embedders, search, requireTenantWriter, most, now });
  const master = new MasterMemory({ pins, files, loading, store });
  const slots: Slots = new Slots({
    storage,
    memories: store,
    dreams: dreamStore,
    learn: (members, signal) => forecasts.learnSlots(members, signal),
    now,
  });
  const forecasts = new Forecasts({ jobs, series, files, slots, metrics, now });
  const routes = new RouteStore(storage);
  const learned = new LearnedFiles({ files, pins, log });
  const learning = new RouteLearning({
    jobs,
    store: routes,
    files: learned,
    embedders,
    log,
    onRegret: (kind) => router.regret(kind),
    now,
  });
  const router = new Router({
    store: routes,
    files: learned,
    embedders,
    onMany: (caller) => learning.begin(caller),
    mode: settings['memory.router'],
    log,
    metrics,
    now,
  });
  onMade?.(extractions);
  const minute = minuteOf(settings['memory.dream_at']);
  const schedule = new DreamSchedule({ dreams, store: dreamStore, log, minute, now });
  return {
    api: {
      recall: (caller, question, bounds, signal) => recall.recall(caller, question, bounds, signal),
      recallsByItself: (caller) => preferences.recalls(scopeOf(caller), ownerOf(caller)),
      router,
      connect: (sources) => {
        extractions.connect(sources);
        learning.connect(sources.conversations);
      },
    },
    routes: [
      ...memoryRoutes({ service, files, preferences, extractions, security: context.use(security), recordAct, now }),
      ...dreamRoutes({ dreams, recordAct }),
      ...forecastRoutes({ forecasts, recordAct }),
      ...routerRoutes({ router, learning, recordAct }),
      ...exmmRoutes({ files, loading, master, nodeId: () => node.id, recordAct }),
    ],
    tools: [rememberTool],
    belongings: {
      holdsAny: async (scope) => (await store.holdsAny(scope)) || (await files.holdsAny(scope)),
      eraseTenant: async (scope) => {
        for (const collection of await store.eraseTenant(scope)) await search.remove(collection);
        await master.unpinOf(scope);
        await files.eraseTenant(scope);
      },
      eraseAccount: async (everyone, accountId) => {
        for (const collection of await store.eraseAccount(everyone, accountId)) await search.remove(collection);
        await files.eraseAccount(accountId);
      },
      heldHere: () => files.held(),
    },
    start: async () => {
      dreams.start();
      schedule.start();
      extractions.start();
      await files.start();
      forecasts.start();
      learning.start();
    },
    stop: async () => {
      await Promise.all([schedule.stop(), dreams.stop(), extractions.stop(), forecasts.stop(), learning.stop()]);
      await router.stop();
      await Promise.all([files.stop(), learned.stop()]);
    },
    health: () => ({ state: {}, reasons: [] }),
    ready: () => undefined,
  };
}
