/** Wires the science module. */
import { join } from 'node:path';
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { AddressPolicy } from '../../platform/network/address-policy.ts';
import { allowedHostsOf } from '../../platform/network/allowed-host.ts';
import { HttpClient } from '../../platform/network/http-client.ts';
import { identity } from '../identity/index.ts';
import { license } from '../license/index.ts';
import { security } from '../security/index.ts';
import type { Adapter } from './adapters/adapter.ts';
import { loadAdapters } from './adapters/load-adapters.ts';
import { AnswerReader } from './requests/answer-reader.ts';
import { Pace } from './requests/pace.ts';
import { SourceClient } from './requests/source-client.ts';
import { scienceRoutes } from './routes.ts';
import { ScienceService } from './service.ts';
import type { scienceSettings } from './settings.ts';
import { SourceStore } from './source-store.ts';
import type { ScienceStorage } from './tables.ts';
import { ScienceTools } from './tools.ts';

/** One source's answers are read by one part of the program after the other, so more connections would only wait. */
const CONNECTIONS = 4;

export function createScience(context: ModuleContext<typeof scienceSettings>): Module<undefined> {
  const { settings, node, log, metrics, uses } = context;
  const { recordAct, sealingKey } = context.use(identity);
  const storage: ScienceStorage = context.storage.access();
  const store = new SourceStore(storage);
  const now = (): number => Date.now();
  const contact = settings['science.contact'];
  const requests = metrics.counter(
    'svc_science_requests_total',
    'Requests to scientific sources, by what came of them: ok, refused or failed.',
    ['source', 'outcome'],
  );
  const http = new HttpClient({
    policy: new AddressPolicy({
      trusted: [],
      allowed: allowedHostsOf('science.allowed_hosts', settings['science.allowed_hosts'], 'mirror.lan:8443 or http://10.0.0.5'),
    }),
    connections: CONNECTIONS,
  });
  const reader = new AnswerReader();
  const client = new SourceClient({
    reader,
    client: http,
    pace: new Pace({ storage, mostWaitMs: settings['science.wait_seconds'] * 1000 }),
    userAgent: `svc/${node.version}${contact === '' ? '' : ` (${contact.replace(/[^ -~]/g, '')})`}`,
    contact,
    now,
    onRequest: (source, outcome) => requests.with({ source, outcome }).add(),
  });
  let adapters: ReadonlyMap<string, Adapter> = new Map();
  const service = new ScienceService({
    adapters: () => adapters,
    store,
    client,
    license: context.use(license),
    uses,
    sealingKey,
    now,
    timeoutMs: settings['science.timeout_seconds'] * 1000,
    log,
  });
  const tools = new ScienceTools(service);
  return {
    api: undefined,
    routes: scienceRoutes({ service, store, tools, security: context.use(security), recordAct, now }),
    toolsFor: (caller) => tools.of(caller),
    belongings: store,
    start: async () => {
      adapters = await loadAdapters(join(node.dataDir, 'science'));
    },
    stop: async () => {
      await Promise.all([http.close(), reader.close()]);
    },
    health: () => ({ state: { sources: adapters.size }, reasons: [] }),
    ready: () => undefined,
  };
}
