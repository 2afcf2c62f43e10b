/** The module's routes on a server of its own, over a database, with callers who say who they are and a model that counts words. */
import type { Test } from 'tap';
import type { Authenticator } from '../../../platform/http/authenticator.ts';
import { ANONYMOUS, type Role } from '../../../platform/http/principal.ts';
import type { Job, Jobs } from '../../../platform/jobs/index.ts';
import { until } from '../../../platform/jobs/test-support/open-jobs.ts';
import type { ModuleContext } from '../../../platform/module/module-context.ts';
import { type Answer, openModules, standIn } from '../../../platform/module/test-support/open-modules.ts';
import type { UseRules } from '../../../platform/module/use-rules.ts';
import { type Storage, tenantScope } from '../../../platform/storage/index.ts';
import { type NewDatabase, newUrl } from '../../../platform/storage/test-support/each-database.ts';
import { type FilesApi, files } from '../../files/index.ts';
import { type LicenseApi, license } from '../../license/index.ts';
import { retrieval } from '../../retrieval/index.ts';
import { scriptedService, type WordModel, wordModel } from '../../retrieval/test-support/word-model.ts';
import type { DataApi } from '../data-module.ts';
import { data } from '../index.ts';
import { countedStorage, type StorageOperation } from './counted-storage.ts';

const SCOPES: Record<string, readonly string[]> = {
  viewer: ['knowledge:read'],
  developer: ['knowledge:read', 'knowledge:write'],
  admin: ['*'],
};

/** The header `x-caller: TENANT/SUBJECT/ROLE` names an account, and with `/TOKEN/BASE` behind it a token of the account for one knowledge base. */
const namedCallers: Authenticator = {
  state: () => 'enforce',
  authenticate: ({ headers }) => {
    const [tenant, subject, role, keyId, base] = headers.get('x-caller')?.split('/') ?? [];
    if (tenant === undefined || subject === undefined || role === undefined) return ANONYMOUS;
    const account = { tenant, subject, kind: 'session', roles: [role as Role], scopes: SCOPES[role] ?? [], keyId } as const;
    return base === undefined ? account : { ...account, limits: { namespaces: [base] } };
  },
};

export type { Answer };

export interface KnowledgeBed {
  readonly api: DataApi;
  readonly files: FilesApi;
  readonly model: WordModel;
  readonly storage: Storage;
  readonly jobs: Jobs;
  readonly url: string;
  readonly dataDir: string;
  /** The log of the server so far. */
  readonly lines: readonly string[];
  /** What the module asked of the database so far. */
  readonly operations: StorageOperation[];
  /** `caller`: TENANT/SUBJECT/ROLE. Paths stand below /api/v1/vector/. */
  ask(method: string, path: string, body?: unknown, caller?: string): Promise<Answer>;
  /** Adds a text to red's base `kb`. */
  add(source: string, text: string, more?: object): Promise<Answer>;
  search(query: string, more?: object, caller?: string): Promise<Answer>;
  /** Waits for a job of red's. */
  jobEnd(id: string): Promise<Answer['body']>;
  /** Waits for the job to wait for its next attempt after so many failures, and passes over the time until then. */
  passOver(id: string, failures: number): Promise<Job>;
}

export interface KnowledgeBedOptions {
  model?: WordModel;
  url?: string;
  settings?: Readonly<Record<string, unknown>>;
  license?: Partial<LicenseApi>;
  uses?: UseRules;
  /** Default: one of its own. */
  dataDir?: string;
  /** Of several nodes on one database. */
  nodeId?: string;
  /** How long a job stays that of a node that was killed; default: as jobs have it. */
  leaseMs?: number;
  /** What jobs take for the time is this much later. */
  clock?: { aheadMs: number };
}

export const DEVELOPER = 'red/ann/developer';

/** Of a large file on a busy machine, the start of the threads that read and index it included. */
const JOB_LIMIT_MS = 60_000;

export async function openKnowledgeBed(
  t: Test,
  newDatabase: NewDatabase,
  options: KnowledgeBedOptions = {},
): Promise<KnowledgeBed> {
  const url = options.url ?? (await newUrl(t, newDatabase));
  const model = options.model ?? wordModel();
  const operations: StorageOperation[] = [];
  const modules = await openModules(t, {
    modules: [
      standIn(license, { requireFeature: () => {}, has: () => true, ...options.license }),
      files,
      retrievalOver(model),
      data,
    ],
    databaseUrl: url,
    dataDir: options.dataDir,
    nodeId: options.nodeId ?? 'node',
    settings: { 'data.embedding_model': 'words', 'data.embedding_url': '', ...options.settings },
    services: { ...(options.uses && { uses: options.uses }) },
    storageOf: (storage) => countedStorage(storage, operations),
    jobs: {
      now: () => Date.now() + (options.clock?.aheadMs ?? 0),
      ...(options.leaseMs !== undefined && { leaseMs: options.leaseMs }),
    },
    http: () => ({ authenticator: namedCallers }),
  });
  const { jobs, storage, dataDir, server: bed } = modules;
  const ask: KnowledgeBed['ask'] = (method, path, body, caller = DEVELOPER) =>
    modules.send(method, `/api/v1/vector/${path}`, { headers: { 'x-caller': caller }, body });
  return {
    api: modules.module(data).api,
    files: modules.module(files).api,
    model,
    storage,
    jobs,
    ask,
    dataDir,
    operations,
    url: bed.url,
    lines: bed.lines,
    add: (source, text, more = {}) => ask('POST', 'ingest', { tenant: 'red', namespace: 'kb', source, text, ...more }),
    search: (query, more = {}, caller = DEVELOPER) =>
      ask('POST', 'search', { tenant: caller.split('/')[0], namespace: 'kb', query, ...more }, caller),
    jobEnd: (id) =>
      until(
        () => jobs.get(tenantScope('red'), id),
        (job) => job.endedAt !== undefined,
        JOB_LIMIT_MS,
      ),
    passOver: async (id, failures) => {
      const job = await until(
        () => jobs.get(tenantScope('red'), id),
        ({ state, attempts, endedAt }) => endedAt !== undefined || (state === 'queued' && attempts >= failures),
        JOB_LIMIT_MS,
      );
      if (options.clock !== undefined) options.clock.aheadMs = Math.max(options.clock.aheadMs, job.runAfter - Date.now());
      return job;
    },
  };
}

/** Retrieval that embeds by a model of the test. */
function retrievalOver(model: WordModel) {
  return {
    ...retrieval,
    create: async (context: ModuleContext<typeof retrieval.settings>) => {
      const module = await retrieval.create(context);
      module.api.connect(scriptedService(model));
      return module;
    },
  };
}
