/** For tests: the identity module over a real SQLite database and real sockets, and a client that speaks to it. */
import { join } from 'node:path';
import type { Test } from 'tap';
import Type from 'typebox';
import type { Events } from '../../../platform/events/index.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { POLICIES, type PolicyName } from '../../../platform/http/policy.ts';
import { json, type Route, route } from '../../../platform/http/route.ts';
import type { AnyModuleDefinition, Module } from '../../../platform/module/module.ts';
import type { ModuleContext } from '../../../platform/module/module-context.ts';
import { type Answer, openModules } from '../../../platform/module/test-support/open-modules.ts';
import { scriptedKinds } from '../../../platform/module/test-support/scripted-context.ts';
import type { Storage } from '../../../platform/storage/index.ts';
import { endExpiredRequests, endRefusedRequests } from '../changes/open-requests.ts';
import { createIdentity, type IdentityApi, type IdentityOverrides } from '../identity-module.ts';
import { identity } from '../index.ts';
import type { identitySettings } from '../settings.ts';

export type { Answer };

export interface IdentityBed {
  module: Module<IdentityApi>;
  storage: Storage;
  databaseUrl: string;
  dataDir: string;
  events: Events;
  url: string;
  publicUrl: string;
  /** The log so far, as objects. */
  lines(): Record<string, unknown>[];
  ask(method: string, path: string, options?: AskOptions): Promise<Answer>;
  /** Makes the superadmin `root` and returns the token of its session. */
  makeRoot(): Promise<string>;
  /** Stops the module and starts another one on the same data. */
  restart(): Promise<IdentityBed>;
}

interface AskOptions {
  /** X-API-Key for `svc_`, else Authorization: Bearer. */
  as?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
  isPublic?: boolean;
}

export interface BedOptions {
  settings?: Record<string, unknown>;
  overrides?: IdentityOverrides;
  /** Absent: a new one. */
  folder?: string;
  /** Another database than a new SQLite file. */
  databaseUrl?: string;
  /** Beside the module's own. */
  routes?: readonly Route[];
  /** Modules above this one. */
  above?: readonly AnyModuleDefinition[];
}

export const ROOT_PASSWORD = 'correct horse battery';

export async function openIdentity(t: Test, options: BedOptions = {}): Promise<IdentityBed> {
  const folder = options.folder ?? newFolder(t);
  const create = (context: ModuleContext<typeof identitySettings>) => createIdentity(context, options.overrides ?? {});
  const modules = await openModules(t, {
    modules: [{ ...identity, create, useKinds: scriptedKinds }, ...(options.above ?? [])],
    databaseUrl: options.databaseUrl,
    dataDir: join(folder, 'data'),
    settings: options.settings ?? {},
    routes: [...policyRoutes(), chatRoute(), ...(options.routes ?? [])],
    http: (host) => {
      const { authenticator, recorder } = host.find(identity) as IdentityApi;
      return { authenticator, recorder };
    },
  });
  const { server, events, stop } = modules;
  endRefusedRequests(events, server.server);
  if (modules.module(identity).api.endsOpenRequests) t.teardown(endExpiredRequests(server.server));
  const ask: IdentityBed['ask'] = (method, path, { as, body, headers = {}, isPublic = false } = {}) => {
    const credential = as === undefined ? {} : as.startsWith('svc_') ? { 'x-api-key': as } : { authorization: `Bearer ${as}` };
    return modules.send(method, (isPublic ? server.publicUrl : server.url) + path, {
      headers: { ...credential, ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  };
  return {
    module: modules.module(identity),
    storage: modules.storage,
    events,
    databaseUrl: modules.databaseUrl,
    dataDir: modules.dataDir,
    url: server.url,
    publicUrl: server.publicUrl,
    ask,
    lines: () => modules.log.map((text) => JSON.parse(text) as Record<string, unknown>),
    makeRoot: async () => {
      const made = await ask('POST', '/api/v1/auth/register', { body: { username: 'root', password: ROOT_PASSWORD } });
      return made.body.token as string;
    },
    restart: async () => {
      await stop();
      return openIdentity(t, { ...options, folder });
    },
  };
}

/** A route for each policy, below a path that the identity module does not use. */
function policyRoutes(): Route[] {
  const names = Object.keys(POLICIES) as PolicyName[];
  return names.map((auth) => echoRoute('GET', `/api/v1/policy/${auth}`, auth));
}

function chatRoute(): Route {
  return echoRoute('POST', '/v1/chat/completions', 'viewer', 'chat:use');
}

function echoRoute(method: 'GET' | 'POST', path: string, auth: PolicyName, scope?: string): Route {
  return route({
    method,
    path,
    auth,
    maxBody: method === 'GET' ? 0 : 1000,
    tag: 'Test',
    summary: 'Says who calls',
    ...(scope !== undefined && { scope }),
    responses: { 200: Type.Object({}) },
    handle: ({ caller }) => json(200, { caller }),
  });
}
