/** The module's routes on a server of its own, over a database, with callers who say who they are and a model that counts words. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { SettingsSpec } from '../../../platform/config/setting.ts';
import type { Authenticator } from '../../../platform/http/authenticator.ts';
import { ANONYMOUS, type Role } from '../../../platform/http/principal.ts';
import { openTestBed } from '../../../platform/http/test-support/test-bed.ts';
import { type Job, Jobs, jobsMigrations } from '../../../platform/jobs/index.ts';
import { until } from '../../../platform/jobs/test-support/open-jobs.ts';
import { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import { migrationsOf } from '../../../platform/module/module.ts';
import { scriptedContext, scriptedNode, silentLog } from '../../../platform/module/test-support/scripted-context.ts';
import type { UseRules } from '../../../platform/module/use-rules.ts';
import { createStorage, type Storage, tenantScope } from '../../../platform/storage/index.ts';
import { type FilesApi, files } from '../../files/index.ts';
import { type LicenseApi, license } from '../../license/index.ts';
import { retrieval } from '../../retrieval/index.ts';
import { createData, type DataApi } from '../data-module.ts';
import { data } from '../index.ts';
import { countedStorage, type StorageOperation } from './counted-storage.ts';
import { scriptedService, type WordModel, wordModel } from './word-model.ts';

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

export interface ContractDatabase {
  url: string;
  remove(): Promise<void>;
}

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes
  body: any;
}

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
  newDatabase: () => Promise<ContractDatabase>,
  options: KnowledgeBedOptions = {},
): Promise<KnowledgeBed> {
  const database = options.url === undefined ? await newDatabase() : { url: options.url, remove: async () => undefined };
  const storage = createStorage({
    url: database.url,
    modules: [jobsMigrations, ...migrationsOf([files, data])],
  });
  await storage.open();
  const jobs = new Jobs({
    storage,
    log: silentLog,
    metrics: new MetricsRegistry(),
    nodeId: () => options.nodeId ?? 'node',
    pollMs: 10,
    now: () => Date.now() + (options.clock?.aheadMs ?? 0),
    ...(options.leaseMs === undefined ? {} : { leaseMs: options.leaseMs }),
  });
  await jobs.start();
  const model = options.model ?? wordModel();
  const settings = { 'data.embedding_model': 'words', 'data.embedding_url': '', ...options.settings };
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'svc-data-files-')));
  const operations: StorageOperation[] = [];
  const contextOf = <S extends SettingsSpec>(spec: S) =>
    scriptedContext({
      spec,
      jobs,
      node: { ...scriptedNode, dataDir },
      storage: countedStorage(storage, operations),
      settings: Object.fromEntries(Object.entries(settings).filter(([key]) => Object.hasOwn(spec, key))),
      ...(options.uses && { uses: options.uses }),
    });
  const search = await retrieval.create(contextOf(retrieval.settings));
  search.api.connect(scriptedService(model));
  const filing = await files.create(contextOf(files.settings));
  const module = createData({
    ...contextOf(data.settings),
    use: <Api>(definition: { name: string }) => {
      if (definition.name === license.name) return { requireFeature: () => {}, has: () => true, ...options.license } as Api;
      if (definition.name === retrieval.name) return search.api as Api;
      if (definition.name === files.name) return filing.api as Api;
      throw new Error(`the test has no ${definition.name}`);
    },
  });
  await filing.start();
  await search.start();
  await module.start();
  t.teardown(async () => {
    await module.stop();
    await search.stop();
    await filing.stop();
    await jobs.stop(100);
    await storage.close();
    await database.remove();
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true });
  });
  const bed = await openTestBed(t, module.routes, { authenticator: namedCallers });
  const ask: KnowledgeBed['ask'] = async (method, path, body, caller = DEVELOPER) => {
    const init = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const headers = { 'x-caller': caller, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const response = await fetch(`${bed.url}/api/v1/vector/${path}`, { method, headers, ...init });
    return { status: response.status, body: await response.json() };
  };
  return {
    api: module.api,
    files: filing.api,
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
