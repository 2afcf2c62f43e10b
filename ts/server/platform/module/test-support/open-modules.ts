/**
 * The test bed of modules: they are made, started and stopped as a node does it, over a database and real sockets. A test names the modules and
 * their settings; what it puts in place of a real part is an override.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { SettingsSpec } from '../../config/setting.ts';
import type { EventsOptions } from '../../events/events-options.ts';
import { Events, eventsMigrations } from '../../events/index.ts';
import { newFolder } from '../../files/test-support/new-folder.ts';
import type { Authenticator } from '../../http/authenticator.ts';
import type { HttpServerOptions } from '../../http/http-server.ts';
import { ANONYMOUS, type Principal } from '../../http/principal.ts';
import type { Route } from '../../http/route.ts';
import { openTestBed, type TestBed } from '../../http/test-support/test-bed.ts';
import { Jobs, jobsMigrations } from '../../jobs/index.ts';
import type { JobsOptions } from '../../jobs/jobs-options.ts';
import { Log } from '../../log/log.ts';
import { MetricsRegistry } from '../../metrics/registry.ts';
import { createStorage, type Storage } from '../../storage/index.ts';
import { type AnyModuleDefinition, type Module, type ModuleDefinition, migrationsOf } from '../module.ts';
import type { ModuleContext, PlatformServices } from '../module-context.ts';
import { ModuleHost } from '../module-host.ts';
import { scriptedContext, scriptedNode } from './scripted-context.ts';

interface ModulesOptions {
  /** In any order. One that the test replaces is `standIn()`, or the definition with another `create`. */
  modules: readonly AnyModuleDefinition[];
  /** Default: a new SQLite file in the data folder. */
  databaseUrl?: string | undefined;
  /** Default: a new folder. */
  dataDir?: string | undefined;
  settings?: Readonly<Record<string, unknown>>;
  nodeId?: string;
  /** In place of those of the platform. */
  services?: Partial<PlatformServices>;
  /** What modules have of the database, for tests that watch or break it. */
  storageOf?: (storage: Storage) => Storage;
  /** Where a test has none for jobs, there are none; and no events are delivered where it has none for them. */
  jobs?: Partial<JobsOptions>;
  events?: Partial<EventsOptions>;
  /** Beside those of the modules. */
  routes?: readonly Route[];
  http?: (host: ModuleHost) => Partial<HttpServerOptions>;
}

interface OpenModules {
  readonly host: ModuleHost;
  readonly storage: Storage;
  readonly jobs: Jobs;
  readonly events: Events;
  readonly metrics: MetricsRegistry;
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly server: TestBed;
  readonly url: string;
  /** What the modules logged so far, as JSON. */
  readonly log: readonly string[];
  // biome-ignore lint/suspicious/noExplicitAny: which settings it declares does not matter here
  module<Api>(definition: ModuleDefinition<any, Api>): Module<Api>;
  /** `path` may be a whole URL. */
  send(method: string, path: string, options?: SendOptions): Promise<Answer>;
  /** The test's end does it, where the test did not. */
  stop(): Promise<void>;
}

interface SendOptions {
  headers?: Readonly<Record<string, string>>;
  /** A text is sent as it is, anything else as JSON. */
  body?: unknown;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests match what they expect
  body: any;
}

export async function openModules(t: Test, options: ModulesOptions): Promise<OpenModules> {
  const { modules, dataDir = join(newFolder(t), 'data'), nodeId = 'node' } = options;
  mkdirSync(dataDir, { recursive: true });
  const databaseUrl = options.databaseUrl ?? `sqlite:${join(dataDir, 'svc.db')}`;
  const ofPlatform = options.jobs === undefined ? [eventsMigrations] : [eventsMigrations, jobsMigrations];
  const storage = createStorage({ url: databaseUrl, modules: [...ofPlatform, ...migrationsOf(modules)] });
  await storage.open();
  const lines: string[] = [];
  const log = new Log({ level: 'info', format: 'json', sink: { write: (line) => lines.push(line), flush: () => {} } });
  const metrics = new MetricsRegistry();
  const shared = { storage, log, metrics, nodeId: () => nodeId, pollMs: 10 };
  const jobs = new Jobs({ ...shared, ...options.jobs });
  const events = new Events({ ...shared, ...options.events });
  const node = { ...scriptedNode, id: nodeId, dataDir };
  const used = options.storageOf?.(storage) ?? storage;
  const services = { ...(options.jobs && { jobs }), ...options.services };
  const context = scriptedContext({ spec: {}, node, log, storage: used, events, metrics, ...services });
  const made = new Map<string, Module>();
  const remembered = modules.map((definition) => ({
    ...definition,
    create: async (context: ModuleContext<SettingsSpec>) => {
      const module = await definition.create(context);
      made.set(definition.name, module);
      return module;
    },
  }));
  const host = await ModuleHost.create(remembered, configOf(modules, options.settings ?? {}), context);
  if (options.jobs) await jobs.start();
  await host.start(host.roles);
  if (options.events) await events.start();
  let isRunning = true;
  const stop = async (): Promise<void> => {
    if (!isRunning) return;
    isRunning = false;
    await host.stop();
    if (options.jobs) await jobs.stop(100);
    if (options.events) await events.stop();
    await storage.close();
  };
  t.teardown(stop);
  const routes = [...host.routes, ...(options.routes ?? [])];
  const server = await openTestBed(t, routes, { errorBodies: host.errorBodies, ...options.http?.(host) });
  return {
    host,
    storage,
    jobs,
    events,
    metrics,
    databaseUrl,
    dataDir,
    server,
    url: server.url,
    log: lines,
    module: <Api>({ name }: AnyModuleDefinition) => {
      const module = made.get(name);
      if (module === undefined) throw new Error(`the test has no module ${name}`);
      return module as Module<Api>;
    },
    send: (method, path, sent) => send(new URL(path, server.url), method, sent),
    stop,
  };
}

function configOf(modules: readonly AnyModuleDefinition[], settings: Readonly<Record<string, unknown>>) {
  const spec = Object.assign({}, ...modules.map((module) => module.settings as SettingsSpec)) as SettingsSpec;
  const unknown = Object.keys(settings).find((key) => !Object.hasOwn(spec, key));
  if (unknown !== undefined) throw new Error(`no module of the test has the setting ${unknown}`);
  const defaults = Object.fromEntries(Object.entries(spec).map(([key, setting]) => [key, setting.default]));
  return { spec, values: { ...defaults, ...settings }, origins: {}, beneath: {}, warnings: [] };
}

async function send(url: URL, method: string, { headers = {}, body }: SendOptions = {}): Promise<Answer> {
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  const init = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  const response = await fetch(url, { method, redirect: 'manual', headers: { ...type, ...headers }, ...init });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A module of a lower tier that is its interface alone. */
// biome-ignore lint/suspicious/noExplicitAny: which settings it declares does not matter here
export function standIn<Api>({ name }: ModuleDefinition<any, Api>, api: Partial<Api>): AnyModuleDefinition {
  return {
    name,
    settings: {},
    create: () => ({
      api,
      routes: [],
      start: async () => {},
      stop: async () => {},
      health: () => ({ state: {}, reasons: [] }),
      ready: () => undefined,
    }),
  };
}

/** Callers who say who they are: the header `x-as` has members of the principal, as JSON. */
export const statedCallers: Authenticator = {
  state: () => 'enforce',
  authenticate: ({ headers }) => {
    return { ...ANONYMOUS, ...(JSON.parse(headers.get('x-as') ?? '{}') as Partial<Principal>) };
  },
};
