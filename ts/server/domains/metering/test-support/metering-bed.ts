import type { Test } from 'tap';
import type { Principal, Role } from '../../../platform/http/principal.ts';
import type { Module } from '../../../platform/module/module.ts';
import type { ModuleContext } from '../../../platform/module/module-context.ts';
import { type Answer, openModules, statedCallers } from '../../../platform/module/test-support/open-modules.ts';
import { type Storage, systemScope } from '../../../platform/storage/index.ts';
import { metering } from '../index.ts';
import { createMetering, type MeteringApi } from '../metering-module.ts';
import type { MeteredCaller, MeteredWork } from '../metering-service.ts';
import type { meteringSettings } from '../settings.ts';
import type { MeteringTables, UsageRow } from '../tables.ts';

interface MeteringBed {
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
  clock?: { now: number };
}

export async function openMetering(t: Test, options: BedOptions): Promise<MeteringBed> {
  const { databaseUrl, settings = {}, nodeId = 'one', clock = { now: START } } = options;
  const create = (context: ModuleContext<typeof meteringSettings>) => createMetering(context, { now: () => clock.now });
  const modules = await openModules(t, {
    modules: [{ ...metering, create }],
    databaseUrl,
    settings,
    nodeId,
    http: () => ({ authenticator: statedCallers }),
  });
  const { storage, stop, url } = modules;
  const module = modules.module(metering);
  return {
    module,
    storage,
    url,
    clock,
    stop,
    ask: (method, path, as = root, body) => modules.send(method, path, { headers: { 'x-as': JSON.stringify(as) }, body }),
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
