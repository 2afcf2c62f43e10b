/** Wires the cloud module. */
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { AddressPolicy } from '../../platform/network/address-policy.ts';
import { allowedHostsOf } from '../../platform/network/allowed-host.ts';
import { identity } from '../identity/index.ts';
import { inference } from '../inference/index.ts';
import { CloudBackend } from './cloud-backend.ts';
import { backendUnhealthy } from './events.ts';
import { cloudMetrics } from './metrics.ts';
import { Prices } from './prices/prices.ts';
import { BackendRegistry } from './registry/backend-registry.ts';
import { Checker } from './registry/checker.ts';
import type { AttachedBackend, OwnServer } from './registry/own-server.ts';
import { cloudRoutes } from './routes.ts';
import { CloudService } from './service.ts';
import type { cloudSettings } from './settings.ts';
import { CloudStore } from './store.ts';
import { type NodesOfDatabase, Takeover } from './takeover.ts';

/** The interface for what the composition root wires. */
interface CloudApi {
  /** Offers the models of a server that this node runs itself; nothing of it is kept. */
  attach(server: OwnServer): AttachedBackend;
  /** Tells which other nodes work on the same database; called before the start. */
  connectCluster(nodes: NodesOfDatabase): void;
}

export function createCloud(context: ModuleContext<typeof cloudSettings>): Module<CloudApi> {
  const { settings, node, log, events, metrics } = context;
  const { env } = process;
  const { sealingKey } = context.use(identity);
  const { service: models } = context.use(inference);
  const store = new CloudStore(context.storage.access(), () => node.id);
  const policy = new AddressPolicy({
    trusted: [],
    allowed: allowedHostsOf('cloud.allowed_hosts', settings['cloud.allowed_hosts'], 'llm.lan:8443 or http://10.0.0.5:8000'),
  });
  const registry = new BackendRegistry({
    store,
    policy,
    userAgent: `svc/${node.version}`,
    env,
    nodeId: () => node.id,
    sealingKey,
    onReloaded: () => offer(),
  });
  const prices = new Prices();
  const checker = new Checker({
    store,
    registry,
    prices,
    log,
    onUnhealthy: ({ id: backend }, { code, status, detail }) => {
      log.warn('a cloud backend does not answer as it should', { backend, code, status, detail });
      const payload = { backend, code, detail, ...(status !== undefined && { status }) };
      events.sendOfNode(backendUnhealthy, payload).catch((error: unknown) => {
        log.warn('the state of a backend was not told', { backend, error: String(error) });
      });
    },
  });
  const service = new CloudService({ store, registry, prices, checker, policy, env });
  let nodes: NodesOfDatabase | undefined;
  const takeover = new Takeover({
    store,
    registry,
    checker,
    nodeId: () => node.id,
    nodes: () => nodes,
    loadPrices: () => service.loadPrices(),
  });
  const unpriced = new Set<string>();
  const counted = cloudMetrics(metrics, registry);
  const note = (work: Promise<void>): void => {
    work.catch((error: unknown) => log.warn('the state of a backend was not kept', { error: String(error) }));
  };
  const backend = new CloudBackend({
    registry,
    prices,
    local: models,
    observer: {
      ...counted,
      ended: (live, model, outcome, use, tokens) => {
        counted.ended(live, model, outcome, use, tokens);
        if (outcome === 'ok' && live.reason !== undefined && !live.isExcluded) live.setReason(undefined);
        if (use === undefined || use.costMicros !== undefined || unpriced.has(`${live.id} ${model}`)) return;
        unpriced.add(`${live.id} ${model}`);
        log.warn('the price of a model is not known, so its cost is not counted: set one', { backend: live.id, model });
      },
      rejected: ({ backend: live }, refusal) => note(checker.found(live, refusal)),
      limited: ({ backend: live }, refusal) => note(checker.found(live, refusal)),
      unreachable: ({ backend: live, model }, refusal) => {
        // One failure is no state.
        if (live.breaker(model).state === 'open') note(checker.found(live, refusal));
      },
    },
  });
  let isRunning = false;
  let remove: (() => void) | undefined;
  /** Chats of a node without providers do not ask here. */
  const offer = (): void => {
    if (isRunning && !registry.isEmpty) remove ??= models.addBackend(backend);
  };
  return {
    api: {
      attach: (server) => {
        const attached = registry.attach(server);
        offer();
        return attached;
      },
      connectCluster: (given) => {
        nodes = given;
      },
    },
    routes: cloudRoutes({ service, checker, prices, takeover, nodeId: () => node.id }),
    start: async () => {
      await Promise.all([registry.reload(), service.loadPrices()]);
      isRunning = true;
      offer();
      checker.start();
    },
    stop: async () => {
      isRunning = false;
      remove?.();
      remove = undefined;
      await checker.stop();
      await registry.close();
    },
    health: () => ({
      state: { backends: registry.backends.length, healthy: registry.backends.filter((one) => one.state() === 'ok').length },
      reasons: [],
    }),
    ready: () => undefined,
  };
}
