/** Wires the edge module. */
import { join } from 'node:path';
import { findMissingConfinement } from '../../native/confinement.ts';
import type { DomainError } from '../../platform/errors/domain-error.ts';
import { scopeOf } from '../../platform/http/principal.ts';
import type { Belongings } from '../../platform/module/belongings.ts';
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { allowedHostsOf } from '../../platform/network/allowed-host.ts';
import { HttpClient } from '../../platform/network/http-client.ts';
import { Repeater } from '../../platform/repeater.ts';
import type { SystemScope, TenantScope } from '../../platform/storage/index.ts';
import type { ListedTool } from '../../platform/tools/tool.ts';
import { conversations } from '../conversations/index.ts';
import { data } from '../data/index.ts';
import { files } from '../files/index.ts';
import { identity } from '../identity/index.ts';
import { metering } from '../metering/index.ts';
import { security } from '../security/index.ts';
import { everyTenant } from './access-check.ts';
import { APPROVALS_PATH, approvalRoutes } from './approval-routes.ts';
import { ApprovalStore } from './approvals/approval-store.ts';
import { Approvals } from './approvals/approvals.ts';
import { CallMetrics } from './calls/call-metrics.ts';
import { CallSlots } from './calls/call-slots.ts';
import { readTenantRows, type TenantRows } from './calls/tenant-rows.ts';
import { ToolExecutor } from './calls/tool-executor.ts';
import { ToolRegistry } from './calls/tool-registry.ts';
import { codeRunTool, findPython } from './code/code-run.ts';
import { CodeRunner } from './code/code-runner.ts';
import { edgeError } from './errors.ts';
import { McpEndpoint } from './mcp-server/mcp-endpoint.ts';
import { MCP_CORS_HEADERS, mcpRoutes } from './mcp-server/mcp-routes.ts';
import { nodeServer } from './mcp-server/node-server.ts';
import { McpServers } from './mcp-servers/mcp-servers.ts';
import { McpTools } from './mcp-servers/mcp-tools.ts';
import { mcpServerRoutes } from './mcp-servers/server-routes.ts';
import { commToolRoutes } from './message-route.ts';
import { PluginStore } from './plugins/plugin-store.ts';
import { Plugins } from './plugins/plugins.ts';
import { PolicyStore } from './policies/policy-store.ts';
import { edgeRoutes } from './routes.ts';
import { TaintStore } from './runs/taint-store.ts';
import { ToolRuns } from './runs/tool-runs.ts';
import { type edgeSettings, PLUGINS_FOLDER } from './settings.ts';
import type { EdgeStorage, EdgeTables } from './tables.ts';
import { addressPolicyOf, webClient } from './web/web-client.ts';
import { webFetchTool } from './web/web-fetch.ts';
import { WebSearch } from './web/web-search.ts';
import { writeRoute } from './write-route.ts';

/** The interface for modules of higher tiers that have tools run. */
export interface EdgeApi {
  readonly executor: Pick<ToolExecutor, 'execute'>;
  readonly runs: ToolRuns;
}

/** A tool may think for long; what it says then comes. */
const MCP_LIMITS = { connectMs: 10_000, firstByteMs: 150_000, idleMs: 150_000 };
const HOUR_MS = 60 * 60 * 1000;
/** Approvals that are over are shown for so long. */
const KEEP_MS = 30 * 24 * HOUR_MS;

export function createEdge(context: ModuleContext<typeof edgeSettings>): Module<EdgeApi> {
  const { settings, log, node, uses, events, metrics } = context;
  const { recordAct, sealingKey, publicUrl, protectedResource, delegations } = context.use(identity);
  const { artifacts, prompts } = context.use(conversations);
  const storage = context.storage.access<EdgeTables>();
  const now = (): number => Date.now();
  const client = webClient(
    allowedHostsOf('tools.allowed_hosts', settings['tools.allowed_hosts'], 'search.lan:8443 or http://10.0.0.5'),
  );
  const userAgent = `svc/${node.version} (tools)`;
  const search = new WebSearch({ storage, client, userAgent, sealingKey, now });
  const reading = context.useOptional(files);
  const fetchTool = webFetchTool({ client, userAgent, reader: () => reading.api.reader });
  let confinementMissing: DomainError | undefined;
  const runner = new CodeRunner({ nAtOnce: settings['tools.code_at_once'], nKept: settings['tools.python_kept'] });
  const codeTool = codeRunTool({
    runner,
    artifacts,
    files: () => reading.api,
    pythonFolder: () => findPython(settings['tools.python_dir']),
    now,
  });
  const plugins = new Plugins({
    folder: join(node.dataDir, PLUGINS_FOLDER),
    store: new PluginStore(storage),
    client,
    userAgent: `svc/${node.version} (plugin)`,
    log,
    confinementMissing: () => confinementMissing,
    now,
  });
  const ownTools = (rows: TenantRows): ListedTool[] => {
    const isChosen = rows.hasSearch;
    const refusal = confinementMissing;
    return [
      { tool: codeTool, module: 'edge', isRunning: refusal === undefined, ...(refusal !== undefined && { refusal }) },
      ...plugins.tools(rows.plugins),
      { tool: fetchTool, module: 'edge', isRunning: true },
      { tool: search.tool, module: 'edge', isRunning: isChosen, ...(!isChosen && { reason: 'No search provider is chosen.' }) },
    ];
  };
  const hosts = allowedHostsOf('mcp.allowed_hosts', settings['mcp.allowed_hosts'], 'mcp.lan:8443 or http://10.0.0.5');
  const mcpPolicy = addressPolicyOf(hosts);
  const mcpClient = new HttpClient({ policy: mcpPolicy, ...MCP_LIMITS });
  const mcpServers = new McpServers({
    storage,
    client: mcpClient,
    policy: mcpPolicy,
    version: node.version,
    publicUrl,
    dataDir: node.dataDir,
    log,
    sealingKey,
    now,
  });
  const mcpTools = new McpTools(mcpServers);
  const registry = new ToolRegistry(async (caller) => {
    const [ofModules, rows] = await Promise.all([context.tools(caller), readTenantRows(storage, scopeOf(caller))]);
    const ofServers = await mcpTools.list(caller, rows.mcpServers);
    return { tools: [...ofModules, ...ownTools(rows), ...ofServers], policy: rows.policy };
  }, uses);
  const policies = new PolicyStore(storage);
  const store = new ApprovalStore(storage, events);
  const approvals = new Approvals({
    store,
    lifetimeMs: settings['tools.approval_hours'] * HOUR_MS,
    nodeId: () => node.id,
    now,
    delegations,
    checkArguments: async (caller, name, value) =>
      registry.checkArguments(registry.find(await registry.read(caller), name).tool, value),
    completeAnswer: (question, given) => mcpTools.completeAnswer(question, given),
  });
  const executor = new ToolExecutor({
    registry,
    security: context.use(security),
    approvals,
    slots: new CallSlots(settings['tools.calls_at_once']),
    metering: context.use(metering),
    artifacts,
    recordAct,
    metrics: new CallMetrics(metrics),
    log,
  });
  const runs = new ToolRuns({
    registry,
    executor,
    policies,
    approvals,
    taints: new TaintStore(storage),
    mcpServers,
    recordAct,
    limits: {
      rounds: settings['tools.run_rounds'],
      calls: settings['tools.run_calls'],
      tokens: settings['tools.run_tokens'],
      seconds: settings['tools.run_seconds'],
      costMicros: settings['tools.run_cost_micros'],
    },
    now,
  });
  const knowledge = context.useOptional(data);
  const mcp = new McpEndpoint({
    newServer: nodeServer({
      version: node.version,
      registry,
      executor,
      approvals,
      recordAct,
      documents: () => (knowledge.isRunning ? knowledge.api.documents : undefined),
      prompts,
      approvalAddress: (id) => `${publicUrl}${APPROVALS_PATH}/${id}`,
    }),
    now,
    onError: (error) => log.debug('a message of MCP was refused', { error: error.message }),
  });
  const upkeep = new Repeater({
    intervalMs: HOUR_MS,
    run: () => store.removeBefore(everyTenant(), now() - KEEP_MS),
    onError: (error) => log.warn('approvals that are over could not be removed', { error: String(error) }),
  });
  return {
    api: { executor, runs },
    routes: [
      ...edgeRoutes({
        registry,
        plugins,
        executor,
        policies,
        security: context.use(security),
        recordAct,
        search,
        now,
      }),
      ...approvalRoutes({ approvals, executor, delegations, recordAct, now }),
      writeRoute(executor),
      ...commToolRoutes(executor),
      ...mcpRoutes(mcp, protectedResource),
      ...mcpServerRoutes({ servers: mcpServers, recordAct, publicUrl }),
    ],
    corsHeaders: MCP_CORS_HEADERS,
    belongings: new EdgeBelongings(storage),
    start: async () => {
      const missing = await findMissingConfinement();
      confinementMissing = missing === undefined ? undefined : edgeError('confinement_missing', `No program runs: ${missing}.`);
      await approvals.expireWaiting();
      mcpServers.start();
      upkeep.start();
    },
    stop: async () => {
      runner.close();
      plugins.close();
      await Promise.all([upkeep.stop(), client.close(), mcp.close(), mcpServers.close(), mcpTools.close()]);
      await mcpClient.close();
    },
    health: () => ({ state: {}, reasons: [] }),
    ready: () => undefined,
  };
}

/** Approvals, permissions and policies of tenants that are deleted, and of accounts what they asked for and let pass. */
class EdgeBelongings implements Belongings {
  readonly #storage: EdgeStorage;

  constructor(storage: EdgeStorage) {
    this.#storage = storage;
  }

  async eraseTenant(scope: TenantScope): Promise<void> {
    await this.#storage.writeUnit(scope, (db) =>
      (
        [
          'edge_approvals',
          'edge_permissions',
          'edge_policies',
          'edge_taints',
          'edge_search',
          'edge_plugins',
          'edge_plugin_values',
          'edge_mcp_servers',
          'edge_mcp_tokens',
        ] as const
      ).map((table) => db.deleteFrom(table).where('tenant', '=', scope.tenant)),
    );
  }

  async eraseAccount(everyone: SystemScope, accountId: string): Promise<void> {
    await this.#storage.writeUnit(everyone, (db) =>
      (['edge_approvals', 'edge_permissions', 'edge_taints', 'edge_mcp_tokens'] as const).map((table) =>
        db.deleteFrom(table).where('owner', '=', `user:${accountId}`),
      ),
    );
  }
}
