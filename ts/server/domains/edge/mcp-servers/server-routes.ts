/** MCP servers of a tenant: registered and approved by administrators, signed in to by each person. */
import Type, { type Static } from 'typebox';
import { scopeOf } from '../../../platform/http/principal.ts';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { named } from '../../../platform/schema/named.ts';
import { auditEntry, auditSource, type IdentityApi } from '../../identity/index.ts';
import { edgeErrors } from '../errors.ts';
import { LABEL_PATTERN, toolName } from './definitions.ts';
import type { McpServers, ShownServer } from './mcp-servers.ts';
import { clientIdOf, clientMetadataOf } from './oauth-sign-in.ts';

interface McpServerRouteDeps {
  readonly servers: McpServers;
  readonly recordAct: IdentityApi['recordAct'];
  readonly publicUrl: string;
}

const PATH = '/api/v1/tools/mcp-servers';
const Label = Type.String({ pattern: LABEL_PATTERN, description: 'Part of the names of its tools: mcp.LABEL.TOOL.' });
const Params = Type.Object({ label: Label });
const Secret = Type.String({ minLength: 1, maxLength: 4_000, pattern: '^[\\x21-\\x7e]+$' });
const Address = Type.String({ minLength: 8, maxLength: 2_000, pattern: '^https?://' });
const Auth = Type.Object(
  {
    type: Type.Enum(['none', 'bearer', 'oauth'], {
      description: 'bearer: one token for all; oauth: each person signs in (OAuth 2.1 with PKCE).',
    }),
    token: Type.Optional(Secret),
    client_id: Type.Optional(Secret),
    client_secret: Type.Optional(Secret),
  },
  { additionalProperties: false },
);
const ToolNames = Type.Array(Type.String({ minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9_.-]+$' }), {
  maxItems: 200,
  description: 'Only those of its tools are offered; absent: all.',
});
const NewServer = named(
  'NewMcpServer',
  Type.Object(
    { label: Label, url: Address, auth: Type.Optional(Auth), tools: Type.Optional(ToolNames) },
    { additionalProperties: false },
  ),
);
const ChangedServer = named(
  'McpServerChange',
  Type.Object(
    {
      url: Type.Optional(Address),
      auth: Type.Optional(Auth),
      tools: Type.Optional(Type.Union([ToolNames, Type.Null()])),
      enabled: Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false },
  ),
);
const Approve = named(
  'ApproveMcpServer',
  Type.Object({ hash: Type.String({ pattern: '^[0-9a-f]{64}$' }) }, { additionalProperties: false }),
);
const Server = named(
  'McpServer',
  Type.Object({
    label: Type.String(),
    url: Type.String(),
    auth: Type.Object({ type: Type.Enum(['none', 'bearer', 'oauth']), key_present: Type.Boolean() }),
    tools: Type.Union([ToolNames, Type.Null()]),
    enabled: Type.Boolean(),
    state: Type.Enum(['ready', 'changed', 'unavailable', 'disabled']),
    reason: Type.Union([Type.String(), Type.Null()]),
    hash: Type.Union([Type.String(), Type.Null()], { description: 'Of what it offers now: what `approve` names.' }),
    approved_hash: Type.Union([Type.String(), Type.Null()]),
    definitions: Type.Array(
      Type.Object({
        name: Type.String(),
        tool: Type.String({ description: 'As policies and calls name it.' }),
        state: Type.Enum(['ready', 'changed', 'removed'], {
          description: 'changed: new, or another one than was approved. removed: it was approved, and is not offered any more.',
        }),
        description: Type.String(),
        input_schema: Type.Unknown(),
      }),
    ),
  }),
);
const Servers = named('McpServerList', Type.Object({ data: Type.Array(Server) }));
const Callback = Type.Object({
  code: Type.Optional(Type.String({ maxLength: 4_000 })),
  state: Type.String({ maxLength: 200 }),
  iss: Type.Optional(Type.String({ maxLength: 2_000 })),
  error: Type.Optional(Type.String({ maxLength: 200 })),
  error_description: Type.Optional(Type.String({ maxLength: 2_000 })),
  scope: Type.Optional(Type.String({ maxLength: 2_000 })),
});

const { get, post, patch, del } = routes({
  tag: 'MCP',
  auth: 'admin',
  scope: 'tools:manage',
  maxBody: 64 * 1024,
  errors: edgeErrors,
});

export function mcpServerRoutes(deps: McpServerRouteDeps): Route[] {
  const { servers, recordAct } = deps;
  const recorded = async (
    context: Parameters<typeof auditSource>[0],
    action: string,
    target: string,
    detail = {},
  ): Promise<void> => {
    await recordAct(auditEntry(auditSource(context), { action, target, detail }));
  };
  return [
    get(PATH, {
      summary: 'MCP servers of the tenant',
      answer: Servers,
      handle: async ({ caller }) => ({ data: (await servers.list(scopeOf(caller))).map(serverBody) }),
    }),
    post(PATH, {
      summary: 'Register an MCP server',
      description:
        'The node asks it what it offers. Nothing of it can be called until `approve` names the hash of what it offers, and no tool of it that is ' +
        'new or changed later. Its tools have the effect `external`, whatever it claims. The credential is sealed, and works on this node alone.',
      body: NewServer,
      status: 201,
      answer: Server,
      errors: ['invalid_request', 'mcp_server_exists', 'unsafe_address'],
      handle: async (context) => {
        const { caller, body } = context;
        const shown = await servers.add(caller, { ...body, auth: body.auth ?? { type: 'none' } });
        await recorded(context, 'mcp.add', body.label, { url: shown.row.url });
        return serverBody(shown);
      },
    }),
    patch(`${PATH}/{label}`, {
      summary: 'Change an MCP server, and ask it what it offers',
      params: Params,
      body: ChangedServer,
      answer: Server,
      errors: ['invalid_request', 'mcp_server_not_found', 'unsafe_address'],
      handle: async (context) => {
        const { caller, params, body } = context;
        const shown = await servers.change(caller, params.label, body);
        await recorded(context, 'mcp.change', params.label, { members: Object.keys(body) });
        return serverBody(shown);
      },
    }),
    del(`${PATH}/{label}`, {
      summary: 'Remove an MCP server, with what people were signed in with',
      params: Params,
      errors: ['invalid_request', 'mcp_server_not_found'],
      handle: async (context) => {
        await servers.remove(scopeOf(context.caller), context.params.label);
        await recorded(context, 'mcp.remove', context.params.label);
      },
    }),
    post(`${PATH}/{label}/approve`, {
      summary: 'Approve the tools of an MCP server as they are shown',
      params: Params,
      body: Approve,
      answer: Server,
      errors: ['mcp_server_not_found', 'tool_changed'],
      handle: async (context) => {
        const { params, body } = context;
        const shown = await servers.approve(scopeOf(context.caller), params.label, body.hash);
        await recorded(context, 'mcp.approve', params.label, { hash: body.hash });
        return serverBody(shown);
      },
    }),
    ...signInRoutes(deps),
  ];
}

function signInRoutes({ servers, publicUrl }: McpServerRouteDeps): Route[] {
  const own = routes({ tag: 'MCP', auth: 'viewer', scope: 'tools:use', errors: edgeErrors });
  const errors = [
    'invalid_request',
    'mcp_server_not_found',
    'mcp_sign_in_failed',
    'mcp_server_failed',
    'tool_failed',
    'unsafe_address',
  ] as const;
  const label = ({ params }: { readonly params: { readonly label: string } }) => params.label;
  return [
    own.get(`${PATH}/{label}/oauth/start`, {
      summary: 'Where you sign in to an MCP server',
      description: 'The browser that goes there must be signed in here, as the same person: the provider sends it back.',
      params: Params,
      answer: Type.Object({
        authorization_url: Type.Union([Type.String(), Type.Null()], { description: 'null: you are signed in.' }),
      }),
      errors,
      handle: async (context) => ({
        authorization_url: (await servers.startSignIn(context.caller, label(context)))?.href ?? null,
      }),
    }),
    own.get(`${PATH}/{label}/oauth/client`, {
      auth: 'open',
      summary: 'Who this node is to a provider of an MCP server',
      description: 'A client ID metadata document, alike for each label.',
      params: Params,
      answer: Type.Object({
        client_id: Type.String(),
        client_name: Type.String(),
        redirect_uris: Type.Array(Type.String()),
        grant_types: Type.Array(Type.String()),
        response_types: Type.Array(Type.String()),
        token_endpoint_auth_method: Type.String(),
      }),
      handle: ({ params }) => ({
        client_id: clientIdOf(publicUrl, params.label),
        ...clientMetadataOf(publicUrl, params.label),
      }),
    }),
    own.get(`${PATH}/{label}/oauth/callback`, {
      summary: 'The way back from the provider of an MCP server',
      params: Params,
      query: Callback,
      responses: { 303: Type.Null() },
      errors,
      handle: async (context) => {
        const { code, state, iss } = context.query;
        await servers.endSignIn(context.caller, label(context), { code: code ?? '', state, iss });
        return { kind: 'bytes', status: 303, headers: { location: '/chat', 'referrer-policy': 'no-referrer' }, body: '' };
      },
    }),
  ];
}

function serverBody({ row, seen, reason }: ShownServer): Static<typeof Server> {
  const isChanged = seen.some(({ state }) => state === 'changed') || row.seen_hash !== row.approved_hash;
  const state = row.enabled === 0 ? 'disabled' : reason !== undefined ? 'unavailable' : isChanged ? 'changed' : 'ready';
  return {
    label: row.label,
    url: row.url,
    auth: { type: row.auth, key_present: row.sealed !== null },
    tools: row.tools === null ? null : (JSON.parse(row.tools) as string[]),
    enabled: row.enabled === 1,
    state,
    reason: reason ?? null,
    hash: row.seen_hash === '' ? null : row.seen_hash,
    approved_hash: row.approved_hash === '' ? null : row.approved_hash,
    definitions: seen.map(({ definition: { name, description, input_schema }, state: each }) => ({
      name,
      tool: toolName(row.label, name),
      state: each,
      description,
      input_schema,
    })),
  };
}
