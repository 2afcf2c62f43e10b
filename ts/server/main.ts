/** The composition root: the only file that knows everyone. */
import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { AccountsPort } from './accounts-port.ts';
import { closeAll } from './close-all.ts';
import { databaseOptions } from './database.ts';
import { openReplication } from './domains/backup/index.ts';
import { cloud } from './domains/cloud/index.ts';
import { cluster } from './domains/cluster/index.ts';
import { completions } from './domains/completions/index.ts';
import { conversations } from './domains/conversations/index.ts';
import { data } from './domains/data/index.ts';
import { files } from './domains/files/index.ts';
import { endExpiredRequests, endRefusedRequests, identity } from './domains/identity/index.ts';
import { inference } from './domains/inference/index.ts';
import { media } from './domains/media/index.ts';
import { memory } from './domains/memory/index.ts';
import { retrieval } from './domains/retrieval/index.ts';
import { modules as allModules } from './modules.ts';
import { filesOf } from './platform/config/config.ts';
import { parseListenAddress } from './platform/config/listen-address.ts';
import { proposeSetting } from './platform/config/proposed-setting.ts';
import { SavedSettings } from './platform/config/saved-settings.ts';
import { listOf } from './platform/config/setting.ts';
import { Events } from './platform/events/index.ts';
import { hostMemory } from './platform/host-memory.ts';
import type { ClientAddressOptions } from './platform/http/access/client-address.ts';
import { withDocs } from './platform/http/docs/docs-routes.ts';
import { HttpServer, type ListenAddresses } from './platform/http/http-server.ts';
import type { InheritedSocket } from './platform/http/listen/inherited-socket.ts';
import type { TlsOptions } from './platform/http/listen/listener.ts';
import type { ListenAddress } from './platform/http/listen/listening-app.ts';
import type { Route } from './platform/http/route.ts';
import { Jobs } from './platform/jobs/index.ts';
import { FileDescriptorSink, type LineSink } from './platform/log/line-sink.ts';
import { Log, type LogLevel, RecentLines } from './platform/log/log.ts';
import { observeProcess } from './platform/metrics/process-metrics.ts';
import { MetricsRegistry } from './platform/metrics/registry.ts';
import type { AnyModuleDefinition } from './platform/module/module.ts';
import { ModuleHost } from './platform/module/module-host.ts';
import { StartError } from './platform/module/start-error.ts';
import { AddressList } from './platform/network/address-list.ts';
import { trustCertificatesOf } from './platform/network/trusted-certificates.ts';
import { LocalNode } from './platform/node/local-node.ts';
import { WorkerPool } from './platform/pool/worker-pool.ts';
import { SeriesRegistry } from './platform/series/series-registry.ts';
import { StopLimit } from './platform/stop-limit.ts';
import {
  createStorage,
  DataDirLock,
  Integrity,
  observeStorage,
  type SpareThreads,
  type StorageError,
} from './platform/storage/index.ts';
import { API_INFO, INSTALL_ROOT, VERSION } from './product.ts';
import { inheritedSockets } from './service-manager.ts';
import type { NodeConfig } from './settings.ts';
import { stateFilesOf } from './state-files.ts';

/** What tests put in place of the real thing. */
export interface ServerOverrides {
  modules?: readonly AnyModuleDefinition[];
  sink?: LineSink;
}

/** What was begun before the node is wired, so that it is ready sooner. */
export interface HeadStart {
  spareThreads?: SpareThreads;
}

export interface Server {
  /** The OpenAPI document of its routes. */
  openapi: Record<string, unknown>;
  /** What the pages of reference are made of, beside the settings and the commands. */
  routes: readonly Route[];
  metrics: MetricsRegistry;
  log: Log;
  /**
   * Listens, then starts the modules; meanwhile probes are answered, and other requests wait. Throws StartError with a remedy; nothing runs
   * then.
   */
  start(): Promise<ListenAddresses>;
  /** Settles when every module takes work, which `/readyz` tells as well. */
  ready(): Promise<void>;
  /** Settles with the reason once the node itself asks to be stopped and started again. */
  restarting: Promise<string>;
  /** Resolves if the database file turns out to be damaged, which is found out beside the start. */
  damaged: Promise<StartError>;
  /** No new work, open answers finish within the configured time, then everything is closed. True: nothing was cut. */
  stop(): Promise<boolean>;
}

/** Wires the node; opens nothing yet. */
export async function createServer(
  config: NodeConfig,
  overrides: ServerOverrides = {},
  headStart: HeadStart = {},
): Promise<Server> {
  const { values } = config;
  const sink = overrides.sink ?? new FileDescriptorSink(2);
  const recent = new RecentLines();
  const log = new Log({ level: values['log.level'], format: logFormat(values['log.format']), sink, recent });
  const metrics = new MetricsRegistry();
  observeProcess(metrics, VERSION);
  const accounts = new AccountsPort();
  const definitions = overrides.modules ?? allModules;
  const observer = observeStorage(metrics, log.child({ part: 'storage' }));
  const storage = createStorage({ ...databaseOptions(values, definitions), observer, ...headStart });
  const integrity = new Integrity(storage);
  const node = new LocalNode({
    version: VERSION,
    name: values['node.name'],
    installRoot: INSTALL_ROOT,
    dataDir: values.data_dir,
    configuredRoles: values['node.roles'],
    stateFiles: stateFilesOf(definitions),
    configFiles: filesOf(config),
    auth: () => accounts.state(),
    settings: new SavedSettings(config, values.data_dir, (key, value) => {
      if (key === 'log.level') log.setLevel(value as LogLevel);
    }),
    proposeSetting: (key, text) => proposeSetting(config, key, text),
    storage,
    integrity,
    holdsDocuments: async () => storage.dialect === 'sqlite' && (await host.find(data)?.holdsAny()) === true,
  });
  const jobs = new Jobs({ storage, log: log.child({ part: 'jobs' }), metrics, nodeId: () => node.id, tellsEnds: true });
  const events = new Events({ storage, log: log.child({ part: 'events' }), metrics, nodeId: () => node.id });
  const host = await ModuleHost.create(definitions, config, {
    node,
    log,
    metrics,
    storage,
    jobs,
    events,
    series: new SeriesRegistry([jobs.rates()]),
    tenants: accounts,
    uses: accounts,
  });
  const accountsOfModule = host.find(identity);
  if (accountsOfModule !== undefined) accounts.attach(accountsOfModule);
  const nodes = host.find(cluster);
  if (nodes !== undefined) {
    accounts.attachCluster(nodes);
    accountsOfModule?.connectCluster(nodes);
  }
  host.find(completions)?.nameStreams(() => (nodes?.forwarding === undefined ? undefined : node.id));
  nodes?.connectReplication(await openReplication({ node, storage }));
  const providers = host.find(cloud);
  if (providers !== undefined && nodes !== undefined) {
    nodes.connectModels((server) => providers.attach(server));
    providers.connectCluster(nodes);
  }
  accountsOfModule?.connectOwners([...host.owners, { name: 'jobs', belongings: jobs }]);
  const models = host.find(inference);
  if (models !== undefined) {
    if (nodes?.modelFiles !== undefined) models.modelFiles.connect(nodes.modelFiles);
    host.find(retrieval)?.connect(models.service);
    host.find(media)?.connect(models);
  }
  const mediaOfNode = host.find(media);
  const knowledge = host.find(data);
  if (knowledge !== undefined) mediaOfNode?.connectFiles(knowledge.recordings);
  knowledge?.connectHearing(() => mediaOfNode?.hearing());
  const chats = host.find(completions);
  if (chats !== undefined) mediaOfNode?.connectChat((caller, body, signal) => chats.chat(caller, body, signal));
  const saying = host.find(conversations);
  if (chats !== undefined && saying !== undefined)
    host.find(memory)?.connect({
      conversations: saying.service,
      ask: (caller, body, signal) => chats.chat(caller, body, signal),
    });
  if (mediaOfNode !== undefined) host.find(files)?.connectMedia(() => mediaOfNode.inspection());
  node.attach(host);
  const { routes, document } = withDocs(host.routes, API_INFO);
  const pool = new WorkerPool({ ...poolLimits(), log: log.child({ part: 'pool' }), metrics });
  const inherited = inheritedSockets();
  const http = new HttpServer({
    routes,
    pool,
    authenticator: accounts,
    recorder: accounts,
    findModule: host.findModule,
    ...(nodes?.forwarding !== undefined && { forwarding: nodes.forwarding }),
    errorBodies: host.errorBodies,
    corsHeaders: host.corsHeaders,
    guardedPaths: host.guardedPaths,
    proxies: proxiesOf(values),
    allowedHosts: listOf(values['http.allowed_hosts']),
    allowedOrigins: listOf(values['http.allowed_origins']),
    publicTls: publicTlsOf(values),
    inherited,
    log,
    metrics,
    maxBodyBytes: values['http.max_body_bytes'],
    maxBufferedBodyBytes: values['http.max_buffered_bytes'],
    unsentLimits: { ofCaller: values['http.max_unsent_bytes_per_caller'], ofAll: values['http.max_unsent_bytes'] },
    maxConnections: values['http.max_connections'],
  });
  let addresses: ListenAddresses | undefined;
  nodes?.connect({
    authenticator: accounts,
    address: () => (addresses as ListenAddresses).internal,
    recheck: () => http.recheck(() => true),
  });
  endRefusedRequests(events, http);
  const stopExpiry = accountsOfModule?.endsOpenRequests === true ? endExpiredRequests(http) : () => undefined;
  const listen = async (): Promise<ListenAddresses> => {
    const outside = values.public_listen === '' ? inheritedAddress(inherited.public) : parseListenAddress(values.public_listen);
    return http.open(parseListenAddress(values.listen), outside);
  };
  let lock: DataDirLock | undefined;
  const close = (limit: StopLimit): Promise<void> =>
    closeAll([
      () => limit.within('pool', () => pool.close(0)),
      async () => stopExpiry(),
      () => host.stop(limit),
      () => limit.within('events', () => events.stop()),
      () => limit.within('jobs', () => jobs.stop()),
      () => limit.within('storage', () => storage.close()),
      async () => lock?.release(),
    ]);
  const stopLimitMs = values['http.drain_timeout_seconds'] * 1000;
  // Lines wait for the end of the turn, which a process that ends by a fault does not reach.
  process.once('exit', () => sink.flush());
  return {
    get openapi() {
      return document();
    },
    routes,
    metrics,
    log,
    start: async () => {
      for (const warning of config.warnings) log.warn(warning);
      try {
        trustCertificatesOf(values['network.ca_file']);
        const release = http.hold();
        addresses = await listen();
        lock = await openDataDir(values.data_dir);
        await node.open();
        await storage.open();
        integrity.begin();
        await jobs.start();
        await node.start();
        await events.start();
        release();
        log.info('listening', { internal: addresses.internal, public: addresses.public, version: VERSION });
        return addresses;
      } catch (error) {
        http.close();
        await close(new StopLimit(log, stopLimitMs));
        const damage = await integrity.causeOf(error);
        throw damage === undefined ? StartError.from('the node', error) : damagedNode(damage);
      }
    },
    ready: () => node.ready(),
    restarting: node.restarting,
    damaged: integrity.damaged.then(damagedNode),
    stop: async () => {
      node.isDraining = true;
      const limit = new StopLimit(log, stopLimitMs);
      log.info('draining', { limit_seconds: values['http.drain_timeout_seconds'] });
      const isClean = await http.drain(stopLimitMs);
      http.close();
      await close(limit);
      log.info('stopped', { clean: isClean });
      sink.flush();
      return isClean;
    },
  };
}

function damagedNode(damage: StorageError): StartError {
  return new StartError(damage.code, damage.message, damage.remedy, damage);
}

/** Takes the folder for this process alone. */
async function openDataDir(path: string): Promise<DataDirLock> {
  try {
    await mkdir(join(path, 'cache'), { recursive: true });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const remedy = 'make the folder writable for this user, or name another with data_dir (SVC_DATA_DIR)';
    throw new StartError('data_dir_unusable', `the data folder ${path} cannot be used: ${reason}`, remedy, cause);
  }
  return DataDirLock.acquire(path, 'svc serve');
}

/**
 * Few threads, since each takes a core from the models. Memory is for the largest body that is taken, which takes ten times its bytes
 * while it is read; on a small machine all threads together have half of it.
 */
function poolLimits(): { nThreads: number; maxMemoryMb: number; maxQueue: number } {
  const nThreads = Math.min(4, Math.max(2, Math.floor(availableParallelism() / 2)));
  const shareMb = Math.floor(hostMemory() / 2 ** 20 / 2 / nThreads);
  return { nThreads, maxMemoryMb: Math.min(2048, Math.max(256, shareMb)), maxQueue: 64 };
}

function proxiesOf(values: NodeConfig['values']): ClientAddressOptions {
  const trustedProxies = listOf(values['edge.trusted_proxies']);
  try {
    return { trustedProxies: new AddressList(trustedProxies).entries, header: values['edge.forwarded_header'] };
  } catch (cause) {
    const remedy = 'write addresses and blocks separated by commas, for example 127.0.0.1, 10.0.0.0/8';
    throw new StartError('invalid_setting', `edge.trusted_proxies: ${(cause as Error).message}`, remedy, cause);
  }
}

/** An inherited socket listens where it was told to; the settings need not say it again. */
function inheritedAddress(socket: InheritedSocket | undefined): ListenAddress | undefined {
  return socket === undefined ? undefined : { host: '', port: 0 };
}

function publicTlsOf(values: NodeConfig['values']): TlsOptions | undefined {
  const { 'public_tls.cert': certFile, 'public_tls.key': keyFile } = values;
  if (certFile !== '' && keyFile !== '') return { certFile, keyFile };
  if (certFile === '' && keyFile === '') return undefined;
  throw new StartError(
    'incomplete_tls',
    'TLS on the public listener needs a certificate and its key, and one of them is not named',
    'set both public_tls.cert and public_tls.key, or neither',
  );
}

function logFormat(format: NodeConfig['values']['log.format']): 'json' | 'text' {
  if (format !== 'auto') return format;
  return process.stderr.isTTY ? 'text' : 'json';
}
