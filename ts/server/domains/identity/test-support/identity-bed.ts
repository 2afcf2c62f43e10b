/** For tests: the identity module over a real SQLite database and real sockets, and a client that speaks to it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import Type from 'typebox';
import { Events, eventsMigrations } from '../../../platform/events/index.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { POLICIES, type PolicyName } from '../../../platform/http/policy.ts';
import { json, type Route, route } from '../../../platform/http/route.ts';
import { openTestBed } from '../../../platform/http/test-support/test-bed.ts';
import { Log } from '../../../platform/log/log.ts';
import { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import type { Module } from '../../../platform/module/module.ts';
import { scriptedContext, scriptedNode } from '../../../platform/module/test-support/scripted-context.ts';
import { createStorage, type Storage } from '../../../platform/storage/index.ts';
import { endExpiredRequests, endRefusedRequests } from '../changes/open-requests.ts';
import { createIdentity, type IdentityApi, type IdentityOverrides } from '../identity-module.ts';
import { identityMigrations } from '../migrations.ts';
import { identitySettings } from '../settings.ts';

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests match what they expect
  body: any;
}

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

export interface AskOptions {
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
  /** Of a module above, over this one's interface. */
  above?: (api: IdentityApi) => Pick<Module, 'routes' | 'errorBodies'>;
  /** What `authenticate` reads while the test wants it to fail. */
  storage?: Storage;
}

export const ROOT_PASSWORD = 'correct horse battery';

export async function openIdentity(t: Test, options: BedOptions = {}): Promise<IdentityBed> {
  const folder = options.folder ?? newFolder(t);
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir, { recursive: true });
  const texts: string[] = [];
  const log = new Log({ level: 'info', format: 'json', sink: { write: (line) => texts.push(line), flush: () => {} } });
  const url = options.databaseUrl ?? `sqlite:${join(dataDir, 'svc.db')}`;
  const storage =
    options.storage ??
    createStorage({ url, modules: [eventsMigrations, { module: 'identity', migrations: identityMigrations }] });
  if (options.storage === undefined) await storage.open();
  const events = new Events({ storage, log, metrics: new MetricsRegistry(), nodeId: () => 'node' });
  const context = scriptedContext({
    spec: identitySettings,
    settings: options.settings ?? {},
    node: { ...scriptedNode, dataDir },
    log,
    storage,
    events,
  });
  const module = createIdentity(context, options.overrides ?? {});
  await module.start();
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    await module.stop();
    if (options.storage === undefined) await storage.close();
  };
  t.teardown(stop);
  const above = options.above?.(module.api);
  const routes = [...module.routes, ...(above?.routes ?? []), ...policyRoutes(), chatRoute(), ...(options.routes ?? [])];
  const bed = await openTestBed(t, routes, {
    authenticator: module.api.authenticator,
    recorder: module.api.recorder,
    errorBodies: above?.errorBodies ?? [],
  });
  endRefusedRequests(events, bed.server);
  if (module.api.endsOpenRequests) t.teardown(endExpiredRequests(bed.server));
  const ask = (method: string, path: string, asked: AskOptions = {}): Promise<Answer> =>
    send(asked.isPublic ? bed.publicUrl : bed.url, method, path, asked);
  return {
    module,
    storage,
    events,
    databaseUrl: url,
    dataDir,
    url: bed.url,
    publicUrl: bed.publicUrl,
    ask,
    lines: () => texts.map((text) => JSON.parse(text) as Record<string, unknown>),
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

async function send(base: string, method: string, path: string, { as, body, headers = {} }: AskOptions): Promise<Answer> {
  const response = await fetch(base + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(as !== undefined && (as.startsWith('svc_') ? { 'x-api-key': as } : { authorization: `Bearer ${as}` })),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
}
