/** The composition root: the only file that knows everyone. */
import { chooseDefaultModel, namedModelFile } from './default-model.ts';
import { create as createInference, type Inference, type InferenceDeps } from './domains/inference/index.ts';
import { ModelLibrary } from './domains/inference/library/index.ts';
import { create as createSystem, type HealthSource, type NodeState } from './domains/system/index.ts';
import { engineOptions } from './engine-options.ts';
import type { Config } from './platform/config/config.ts';
import { parseListenAddress } from './platform/config/listen-address.ts';
import { NO_ACCOUNTS } from './platform/http/authenticator.ts';
import { withDocs } from './platform/http/docs-routes.ts';
import { HttpServer, type ListenAddresses } from './platform/http/http-server.ts';
import type { ModuleState } from './platform/http/missing-route.ts';
import { TenantKeys } from './platform/http/tenant-keys.ts';
import { FileDescriptorSink, type LineSink } from './platform/log/line-sink.ts';
import { Log } from './platform/log/log.ts';
import { observeProcess } from './platform/metrics/process-metrics.ts';
import { MetricsRegistry } from './platform/metrics/registry.ts';
import { API_INFO, INSTALL_ROOT, MODULES, VERSION } from './product.ts';

/** What tests put in place of the real thing. */
export interface TestOverrides {
  binding?: NonNullable<InferenceDeps['binding']>;
  inspector?: NonNullable<InferenceDeps['inspector']>;
  sink?: LineSink;
}

export interface Server {
  /** The OpenAPI document of its routes. */
  openapi: Record<string, unknown>;
  log: Log;
  /** Listens, then loads the default model in the background; `/readyz` tells when it is there. Rejects when an address cannot be had. */
  start(): Promise<ListenAddresses>;
  /** Settles when the default model is ready or has failed, which /health tells. */
  ready(): Promise<void>;
  /** No new work, open answers finish within the configured time, then everything is closed. True: nothing was cut. */
  stop(): Promise<boolean>;
}

/** Wires the node; opens nothing yet. */
export async function createServer({ values }: Config, overrides: TestOverrides = {}): Promise<Server> {
  const sink = overrides.sink ?? new FileDescriptorSink(2);
  const log = new Log({ level: values['log.level'], format: logFormat(values['log.format']), sink });
  const metrics = new MetricsRegistry();
  observeProcess(metrics, VERSION);
  const library = new ModelLibrary({
    modelsDir: values.models_dir,
    readOnlyDirs: [`${INSTALL_ROOT}/models`],
    files: namedModelFile(values),
  });
  const defaultModel = await chooseDefaultModel(values, library);
  const { binding, inspector } = overrides;
  const tenants = values.tenant_keys_file === '' ? undefined : TenantKeys.read(values.tenant_keys_file);
  const inference = createInference({
    config: { ...engineOptions(values), ...(defaultModel === undefined ? {} : { defaultModel }) },
    source: library,
    dataDir: values.data_dir,
    metrics,
    log: log.child({ module: 'inference' }),
    version: VERSION,
    ...(tenants === undefined ? {} : { tenants }),
    ...(binding === undefined ? {} : { binding }),
    ...(inspector === undefined ? {} : { inspector }),
  });
  let isDraining = false;
  const node = nodeState(inference, () => isDraining);
  const system = createSystem({ node, sources: [inferenceHealth(inference)], metrics });
  const { routes, document } = withDocs([...inference.routes, ...system.routes], API_INFO);
  const http = new HttpServer({
    routes,
    authenticator: tenants ?? NO_ACCOUNTS,
    findModule,
    log,
    metrics,
    maxBodyBytes: values['http.max_body_bytes'],
    maxBufferedBodyBytes: values['http.max_buffered_bytes'],
    maxConnections: values['http.max_connections'],
  });
  // Lines wait for the end of the turn, which a process that ends by a fault does not reach.
  process.once('exit', () => sink.flush());
  let loading = Promise.resolve();
  return {
    openapi: document,
    log,
    start: async () => {
      const internal = parseListenAddress(values.listen);
      const outside = values.public_listen === '' ? undefined : parseListenAddress(values.public_listen);
      const addresses = await http.open(internal, outside);
      log.info('listening', { internal: addresses.internal, public: addresses.public, version: VERSION });
      loading = inference.start().catch((error: unknown) => log.error('inference could not start', { error }));
      return addresses;
    },
    ready: () => loading,
    stop: async () => {
      isDraining = true;
      log.info('draining', { limit_seconds: values['http.drain_timeout_seconds'] });
      const isClean = await http.drain(values['http.drain_timeout_seconds'] * 1000);
      http.close();
      await inference.close();
      log.info('stopped', { clean: isClean });
      sink.flush();
      return isClean;
    },
  };
}

const SERVED_MODULES = ['inference', 'system'];

function findModule(name: string): ModuleState | undefined {
  if (SERVED_MODULES.includes(name)) return { state: 'loaded' };
  return MODULES.includes(name) ? { state: 'unavailable', reason: `no node reports the module ${name}` } : undefined;
}

function nodeState(inference: Inference, isDraining: () => boolean): NodeState {
  return {
    version: VERSION,
    modules: SERVED_MODULES,
    auth: () => NO_ACCOUNTS.state(),
    notReady: () => {
      if (isDraining()) return { code: 'draining', detail: 'The server is shutting down.' };
      return inference.ready() ? undefined : { code: 'model_loading', detail: 'The default model is being loaded.' };
    },
  };
}

function inferenceHealth(inference: Inference): HealthSource {
  return {
    name: 'inference',
    read: async () => {
      const state = await inference.health();
      const failure = state.default_model_error;
      if (state.local_models !== 'available') {
        return { state, reasons: [{ code: state.local_models, detail: state.reason ?? 'Local models cannot run.' }] };
      }
      return { state, reasons: failure === undefined ? [] : [{ code: 'default_model_failed', detail: failure }] };
    },
  };
}

function logFormat(format: Config['values']['log.format']): 'json' | 'text' {
  if (format !== 'auto') return format;
  return process.stderr.isTTY ? 'text' : 'json';
}
