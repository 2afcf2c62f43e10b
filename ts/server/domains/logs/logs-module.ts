/** Wires the logs module. */
import { join } from 'node:path';
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { AddressPolicy } from '../../platform/network/address-policy.ts';
import { allowedHostsOf } from '../../platform/network/allowed-host.ts';
import { HttpClient } from '../../platform/network/http-client.ts';
import { identity } from '../identity/index.ts';
import { Collection } from './collection/collection.ts';
import { Baselines } from './detection/baselines.ts';
import { BlockLists } from './detection/block-lists.ts';
import { Detection } from './detection/detection.ts';
import { IncidentStore } from './detection/incident-store.ts';
import { RuleStore } from './detection/rule-store.ts';
import { everyLine } from './detection/tables.ts';
import { detectionRoutes } from './detection-routes.ts';
import { flowRoutes } from './flow-routes.ts';
import { FlowCollector } from './flows/flow-collector.ts';
import { FlowStore } from './flows/flow-store.ts';
import { LogIndex } from './index/log-index.ts';
import { lineSeries } from './line-series.ts';
import { LogEvidence, type LogsApi } from './log-evidence.ts';
import { logRoutes } from './routes.ts';
import { searchRoutes } from './search-routes.ts';
import type { logsSettings } from './settings.ts';

/** A network that lines are taken from is our own if it is no wider. */
const LEAST_OWN_PREFIX = 8;

export function createLogs(context: ModuleContext<typeof logsSettings>): Module<LogsApi> {
  const { settings, node, log, metrics, tenants, events } = context;
  const { sealingKey, recordAct } = context.use(identity);
  const { dataDir } = node;
  const now = Date.now;
  const collection = new Collection({ dataDir, runner: settings['logs.runner'], log, metrics, sealingKey, now });
  const reading = () => collection.reading;
  const index = new LogIndex({ dataDir, log, metrics, now, storeUrl: settings['logs.store.url'], reading });
  const allowed = allowedHostsOf('logs.allowed_hosts', settings['logs.allowed_hosts'], 'mirror.lan:8443 or http://10.0.0.5');
  const http = new HttpClient({ policy: new AddressPolicy({ trusted: [], allowed }) });
  const rules = new RuleStore(context.storage.access());
  const incidents = new IncidentStore(context.storage.access(), events);
  const ownNetworks = (): string[] => (collection.reading?.networks ?? []).filter(isNarrow);
  const blockLists = new BlockLists({ store: rules, http, folder: join(dataDir, 'logs', 'blocklists'), log, now, ownNetworks });
  const baselines = new Baselines(context.storage.access(), () => node.id);
  context.series.register(lineSeries({ baselines, sources: () => reading()?.sources ?? [], now }));
  const detection = new Detection({ dataDir, log, metrics, now, reading, rules, incidents, blockLists, baselines });
  const store = new FlowStore(context.storage.access());
  const flows = new FlowCollector({
    listen: settings['logs.flows_listen'],
    exporters: settings['logs.flows_from'],
    dataDir,
    store,
    everyone: everyLine,
    log,
    metrics,
    now,
  });
  return {
    api: new LogEvidence({ collection, index, recordAct, now }),
    routes: [
      ...logRoutes(collection, index, tenants),
      ...searchRoutes({ collection, index, recordAct, now, marksOf: (addresses) => blockLists.marksOf(addresses) }),
      ...detectionRoutes({ detection, incidents, rules, blockLists, recordAct, now }),
      ...flowRoutes({ store, flush: () => flows.flush(), everyone: everyLine, recordAct, now }),
    ],
    start: async () => {
      await collection.start();
      index.start();
      detection.start();
      await flows.start();
    },
    stop: async () => {
      await Promise.all([index.stop(), detection.stop(), flows.stop()]);
      await collection.stop();
    },
    health: () => ({
      state: {},
      reasons: [...collection.health(), ...index.health(), ...flows.health()],
      incidents: detection.shown,
    }),
    ready: () => undefined,
  };
}

function isNarrow(network: string): boolean {
  const [, prefix] = network.split('/');
  return prefix === undefined || Number(prefix) >= LEAST_OWN_PREFIX;
}
