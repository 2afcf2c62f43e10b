import type { Test } from 'tap';
import { ANONYMOUS, type Principal, type Role } from '../../../platform/http/principal.ts';
import { openTestBed } from '../../../platform/http/test-support/test-bed.ts';
import type { Module } from '../../../platform/module/module.ts';
import { scriptedContext, scriptedNode } from '../../../platform/module/test-support/scripted-context.ts';
import { createStorage, type Storage, systemScope } from '../../../platform/storage/index.ts';
import { createMetering, type MeteringApi } from '../metering-module.ts';
import type { MeteredCaller, MeteredWork } from '../metering-service.ts';
import { meteringMigrations } from '../migrations.ts';
import { meteringSettings } from '../settings.ts';
import type { MeteringTables, UsageRow } from '../tables.ts';

export interface MeteringBed {
  module: Module<MeteringApi>;
  storage: Storage;
  url: string;
  /** Milliseconds; the module's clock. */
  clock: { now: number };
  ask(method: string, path: string, as?: Partial<Principal>, body?: unknown): Promise<Answer>;
  /** One request that uses so much. */
  use(caller: MeteredCaller, nPrompt: number, nCompletion: number, work?: Partial<MeteredWork>): Promise<void>;
  usage(): Promise<UsageRow[]>;
  /** Another node, or this one after it was killed: nothing is stopped. */
  another(nodeId: string): Promise<MeteringBed>;
  stop(): Promise<void>;
}

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests match what they expect
  body: any;
}

export const ann: MeteredCaller = { tenant: 'red', user: 'usr_ann', key: 'key_a' };
export const bob: MeteredCaller = { tenant: 'blue', user: 'usr_bob', key: 'key_b' };

/** A Saturday in the middle of a month. */
export const START = Date.UTC(2026, 7, 15, 12, 30);

export function principal(tenant: string, role: Role, subject = `usr_${role}`): Partial<Principal> {
  return { tenant, subject, kind: 'session', roles: [role], scopes: ['*'], keyId: 'ses_1' };
}

export const root = principal('default', 'superadmin');

export const work: MeteredWork = { model: 'm', operation: 'chat', nPromptEstimate: 10, nMost: 20, isStreamed: true };

interface BedOptions {
  databaseUrl: string;
  settings?: Record<string, unknown>;
  nodeId?: string;
  storage?: Storage;
  clock?: { now: number };
}

export async function openMetering(t: Test, options: BedOptions): Promise<MeteringBed> {
  const { databaseUrl, settings = {}, nodeId = 'one', clock = { now: START } } = options;
  const storage = createStorage({ url: databaseUrl, modules: [{ module: 'metering', migrations: meteringMigrations }] });
  await storage.open();
  const node = { ...scriptedNode, id: nodeId };
  const context = scriptedContext({ spec: meteringSettings, settings, node, storage });
  const module = createMetering(context, { now: () => clock.now });
  await module.start();
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    await module.stop();
    await storage.close();
  };
  t.teardown(stop);
  const authenticator = {
    state: () => 'enforce' as const,
    authenticate: ({ headers }: { headers: ReadonlyMap<string, string> }): Principal => ({
      ...ANONYMOUS,
      ...(JSON.parse(headers.get('x-as') ?? '{}') as Partial<Principal>),
    }),
  };
  const { url } = await openTestBed(t, module.routes, { authenticator });
  return {
    module,
    storage,
    url,
    clock,
    stop,
    ask: async (method, path, as = root, body) => {
      const headers = { 'x-as': JSON.stringify(as), ...(body !== undefined && { 'content-type': 'application/json' }) };
      const response = await fetch(url + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
      return { status: response.status, body: (await response.json()) as unknown };
    },
    use: async (caller, nPrompt, nCompletion, more = {}) => {
      const meter = await module.api.begin(caller, { ...work, ...more });
      meter.started(nPrompt);
      await meter.end({ nPromptTokens: nPrompt, nCachedTokens: 0, nCompletionTokens: nCompletion });
    },
    usage: () => {
      const access = storage.access<MeteringTables>();
      return access.read(systemScope(), (db) => db.selectFrom('metering_usage').selectAll().execute());
    },
    another: (id) => openMetering(t, { ...options, nodeId: id, clock }),
  };
}
