/** Tools, the calls that a caller makes itself, and the tenant's policy. */
import { isDeepStrictEqual } from 'node:util';
import type { Static } from 'typebox';
import { type Principal, scopeOf } from '../../platform/http/principal.ts';
import type { RequestContext, Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import type { ListedTool } from '../../platform/tools/tool.ts';
import { auditEntry, auditSource, type IdentityApi } from '../identity/index.ts';
import { quotaErrors } from '../metering/index.ts';
import { type SecurityApi, toolCallErrors } from '../security/index.ts';
import { DIRECT_RUN, type ToolExecutor } from './calls/tool-executor.ts';
import type { ToolRegistry } from './calls/tool-registry.ts';
import { edgeError, edgeErrors } from './errors.ts';
import type { Plugins } from './plugins/plugins.ts';
import { judgeCall, Policy } from './policies/policy.ts';
import type { PolicyStore } from './policies/policy-store.ts';
import {
  ChooseSearch,
  EnablePlugin,
  ExecuteTool,
  outcomeBody,
  PluginId,
  PluginList,
  PluginSwitched,
  pluginBody,
  SearchShape,
  searchBody,
  ToolList,
  ToolOutcomeShape,
} from './schemas.ts';
import type { WebSearch } from './web/web-search.ts';

interface EdgeRouteDeps {
  readonly registry: ToolRegistry;
  readonly executor: ToolExecutor;
  readonly policies: PolicyStore;
  readonly security: Pick<SecurityApi, 'leastRoleOf'>;
  readonly recordAct: IdentityApi['recordAct'];
  readonly search: WebSearch;
  readonly plugins: Plugins;
  readonly now: () => number;
}

/** Arguments may hold a program or a page. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
const POLICY = '/api/v1/tools/policies';
const SEARCH = '/api/v1/tools/search';
const PLUGINS = '/api/v1/edge/plugins';

const EXECUTION = {
  body: ExecuteTool,
  bodyTexts: 'free',
  answer: ToolOutcomeShape,
  errors: [
    'invalid_request',
    'insufficient_scope',
    'tool_not_found',
    'approval_required',
    'tool_changed',
    'budget_exceeded',
    'client_closed',
    'tool_unavailable',
    'tool_timeout',
    'confinement_missing',
    'plugin_changed',
    'tool_failed',
    ...toolCallErrors,
    ...quotaErrors,
  ],
} as const;

const { get, post } = routes({ tag: 'Tools', auth: 'viewer', scope: 'tools:use', maxBody: MAX_BODY_BYTES, errors: edgeErrors });
const managed = routes({ tag: 'Tools', auth: 'admin', scope: 'tools:manage', maxBody: 256 * 1024, errors: edgeErrors });

export function edgeRoutes(deps: EdgeRouteDeps): Route[] {
  return [
    listRoute(deps),
    executeRoute(deps),
    executeScienceRoute(deps),
    ...policyRoutes(deps),
    ...searchRoutes(deps),
    ...pluginRoutes(deps),
  ];
}

function listRoute({ registry, security }: EdgeRouteDeps): Route {
  const shown = (
    { tool, isRunning, module, refusal, reason = refusal?.message, source, state }: ListedTool,
    caller: Principal,
    policy: Policy,
  ) => ({
    name: tool.name,
    description: tool.description,
    source: source ?? /^plugin\.[^.]+/.exec(tool.name)?.[0] ?? 'built_in',
    effect: tool.effect,
    input_schema: tool.input,
    approval: judgeCall(policy, { tool, caller, isDirect: false, isTainted: false, isToStrangers: false, isPermitted: false })
      .decision,
    least_role: security.leastRoleOf(tool.name),
    scope: tool.scope,
    definition: tool.definitionHash,
    ...(isRunning
      ? { state: 'ready' as const }
      : { state: state ?? ('unavailable' as const), reason: reason ?? `The module ${module} does not run on this node.` }),
  });
  return get('/api/v1/agent/tools', {
    summary: 'Tools of the node that the caller may use',
    answer: ToolList,
    handle: async ({ caller }) => {
      const { tools, policy } = await registry.read(caller);
      return { data: tools.map((listed) => shown(listed, caller, policy)) };
    },
  });
}

function executeRoute({ executor }: EdgeRouteDeps): Route {
  return post('/api/v1/tools/execute', {
    summary: 'Call a tool',
    description:
      'The call runs with the rights of the caller. What the tool itself fails with is 200 with `ok: false`. Where the tenant’s policy asks, the answer ' +
      'is 409 `approval_required` with `approval_id`: after the decision, the same call is sent again with `approval_id`, and runs once, with the ' +
      'arguments that were approved.',
    ...EXECUTION,
    handle: (context) => execute(executor, context, context.body.tool),
  });
}

/** The operations of scientific sources are tools, and nothing else is run there. */
function executeScienceRoute({ executor }: EdgeRouteDeps): Route {
  return post('/api/v1/science/tools/execute', {
    summary: 'Ask one scientific source by one of its operations',
    description: 'As POST /api/v1/tools/execute, for the tools whose names begin with `science.`.',
    ...EXECUTION,
    handle: async (context) => {
      const { tool } = context.body;
      if (tool.startsWith('science.')) return await execute(executor, context, tool);
      throw edgeError('tool_not_found', `${JSON.stringify(tool.slice(0, 100))} is no operation of a scientific source.`);
    },
  });
}

async function execute(
  executor: ToolExecutor,
  context: RequestContext<unknown, unknown, Static<typeof ExecuteTool>>,
  tool: string,
): Promise<Static<typeof ToolOutcomeShape>> {
  const { body, signal } = context;
  const { approval_id: approvalId, timeout_seconds: timeoutSeconds } = body;
  const outcome = await executor.execute({
    tool,
    arguments: argumentsOf(body),
    source: auditSource(context as RequestContext),
    isDirect: true,
    isTainted: false,
    run: DIRECT_RUN,
    approvalId,
    timeoutSeconds,
    signal,
  });
  return outcomeBody(outcome);
}

/** `arguments`, or `args`; a call without either has none. */
function argumentsOf({ arguments: named, args }: { arguments?: unknown; args?: unknown }): unknown {
  if (named !== undefined && args !== undefined && !isDeepStrictEqual(named, args))
    throw edgeError('invalid_request', '`arguments` and `args` are two names of one member, and differ.', { param: 'args' });
  return named ?? args ?? {};
}

function policyRoutes({ policies, now }: EdgeRouteDeps): Route[] {
  return [
    managed.get(POLICY, {
      summary: 'What becomes of calls of tools in the tenant',
      answer: Policy,
      handle: ({ caller }) => policies.get(scopeOf(caller)),
    }),
    managed.put(POLICY, {
      summary: 'Set what becomes of calls of tools in the tenant',
      description:
        'Deny goes before ask, and ask before allow. Without a rule, calls that change nothing are made, and all others ask. A call that a caller makes ' +
        'itself is refused or asks by a rule alone. In a run that text of others has come into, calls that do not only read ask again, whatever was ' +
        'allowed, but for `taint_exempt`.',
      body: Policy,
      answer: Policy,
      handle: async ({ caller, body }) => {
        await policies.set(scopeOf(caller), body, now());
        return body;
      },
    }),
  ];
}

function searchRoutes({ search }: EdgeRouteDeps): Route[] {
  return [
    managed.get(SEARCH, {
      summary: 'The search provider of the tenant',
      answer: SearchShape,
      handle: async ({ caller }) => searchBody(await search.find(scopeOf(caller))),
    }),
    managed.put(SEARCH, {
      summary: 'Choose the search provider of the tenant, which web.search asks',
      description: 'The key is sealed, lies on the node that it was given to, and works there alone.',
      body: ChooseSearch,
      answer: SearchShape,
      errors: ['invalid_request'],
      handle: async ({ caller, body: { provider, url, key } }) =>
        searchBody(await search.choose(scopeOf(caller), { provider, url, key })),
    }),
    managed.del(SEARCH, {
      summary: 'Have no search provider',
      handle: async ({ caller }) => {
        await search.forget(scopeOf(caller));
      },
    }),
  ];
}

function pluginRoutes({ plugins, recordAct }: EdgeRouteDeps): Route[] {
  return [
    managed.get(PLUGINS, {
      summary: 'The plugins of the node, as they stand in the tenant',
      answer: PluginList,
      handle: async ({ caller }) => ({ data: (await plugins.list(scopeOf(caller))).map(pluginBody) }),
    }),
    managed.post(`${PLUGINS}/{id}/enable`, {
      summary: 'Let a plugin run in the tenant',
      description:
        'The hash of all its files is pinned: with other files its tools are refused (`plugin_changed`) until it is enabled again. `hash` is the one that ' +
        'the list shows; where the files are others by then, nothing is enabled.',
      params: PluginId,
      body: EnablePlugin,
      answer: PluginSwitched,
      errors: ['plugin_not_found', 'plugin_invalid', 'plugin_changed', 'confinement_missing'],
      handle: async (context) => {
        const { caller, params, body } = context;
        const { hash } = await plugins.enable(caller, params.id, body.hash);
        await recordAct(auditEntry(auditSource(context), { action: 'plugin.enable', target: params.id, detail: { hash } }));
        return { id: params.id, enabled: true, hash };
      },
    }),
    managed.post(`${PLUGINS}/{id}/disable`, {
      summary: 'Let a plugin run in the tenant no more',
      description: 'What it keeps stays, for when it is enabled again.',
      params: PluginId,
      answer: PluginSwitched,
      errors: ['plugin_not_found'],
      handle: async (context) => {
        const { caller, params } = context;
        const hash = (await plugins.disable(scopeOf(caller), params.id)) ?? null;
        await recordAct(auditEntry(auditSource(context), { action: 'plugin.disable', target: params.id }));
        return { id: params.id, enabled: false, hash };
      },
    }),
  ];
}
