/** Shapes of tools and approvals. */
import Type, { type Static } from 'typebox';
import { ROLES } from '../../platform/http/principal.ts';
import { named } from '../../platform/schema/named.ts';
import { TOOL_EFFECTS } from '../../platform/tools/tool.ts';
import type { ToolOutcome } from './calls/tool-executor.ts';
import { PLUGIN_ID_PATTERN } from './plugins/plugin-folder.ts';
import type { ListedPlugin } from './plugins/plugins.ts';
import { DECISIONS } from './policies/policy.ts';
import type { ApprovalRow, SearchRow } from './tables.ts';
import { SEARCH_PROVIDER_NAMES, type SearchProviderName } from './web/search-providers.ts';

const Effect = Type.Enum([...TOOL_EFFECTS], {
  description:
    'read changes nothing, write changes what the node has, external reaches other servers, destructive cannot be undone.',
});
const Time = Type.String({ format: 'date-time' });
const Nullable = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const Arguments = Type.Unknown({ description: 'A JSON object.' });
const ToolName = Type.String({ minLength: 1, maxLength: 200 });
const TimeoutSeconds = Type.Integer({
  minimum: 1,
  maximum: 3_600,
  description: 'At most the tool’s own limit, which is the default.',
});

const ToolShape = named(
  'Tool',
  Type.Object({
    name: Type.String({ description: 'area.action' }),
    description: Type.String(),
    source: Type.String({ description: 'built_in, or what brought it: plugin.ID.' }),
    effect: Effect,
    input_schema: Type.Unknown({ description: 'JSON schema of the arguments.' }),
    approval: Type.Enum([...DECISIONS], { description: 'What becomes of a call that a model makes for the caller.' }),
    least_role: Type.Enum([...ROLES], { description: 'That enforcement of roles asks for.' }),
    scope: Type.String({ description: 'Which a credential needs beside tools:use.' }),
    definition: Type.String({ description: 'A hash, which is another one when name, description, schema or effect change.' }),
    state: Type.Enum(['ready', 'changed', 'unavailable', 'disabled', 'name_collision']),
    reason: Type.Optional(Type.String()),
  }),
);
export const ToolList = named('ToolList', Type.Object({ data: Type.Array(ToolShape) }));

export const ExecuteTool = named(
  'ExecuteTool',
  Type.Object({
    tool: ToolName,
    arguments: Type.Optional(Arguments),
    args: Type.Optional(Type.Unknown({ description: 'Another name of `arguments`.' })),
    approval_id: Type.Optional(Type.String({ maxLength: 100, pattern: '^[A-Za-z0-9_-]*$' })),
    timeout_seconds: Type.Optional(TimeoutSeconds),
  }),
);

export const ToolOutcomeShape = named(
  'ToolOutcome',
  Type.Object({
    id: Type.String(),
    ok: Type.Boolean(),
    result: Type.Optional(
      Type.Unknown({ description: 'Of more than 64 KiB, the beginning: `{is_cut, size_bytes, beginning, artifact}`.' }),
    ),
    error: Type.Optional(Type.Object({ error: Type.String(), detail: Type.String() })),
    artifacts: Type.Array(Type.String(), {
      description: 'Ids of what the call made, and of what was kept of a longer result, up to a million characters.',
    }),
    took_ms: Type.Number(),
  }),
);

export const ApprovalShape = named(
  'ToolApproval',
  Type.Object({
    id: Type.String(),
    owner: Type.String({ description: 'Whose call it is.' }),
    tool: Type.String(),
    effect: Effect,
    arguments: Type.Unknown({ description: 'With which the call is made, whole.' }),
    asked_by: Type.Enum(['rule', 'default', 'untrusted', 'address', 'client', 'plan', 'own', 'second_person', 'server'], {
      description:
        'A rule of the tenant; no rule allows it; text of others came before it; it reaches an address that nobody named; the client wants to be asked; the plan of the goal does not list it; or what it is about asks: `second_person` is decided by another person than the owner. `server`: the MCP server asks while it runs the call; `arguments` is `{message, schema}` until it is answered, then the answer.',
    }),
    conversation: Nullable(Type.String()),
    state: Type.Enum(['pending', 'approved', 'denied', 'used', 'expired']),
    created_at: Time,
    expires_at: Time,
    decided_at: Nullable(Time),
    decided_by: Nullable(Type.String()),
    reason: Nullable(Type.String()),
    outcome: Nullable(
      Type.Unknown({
        description: 'Of a call that was made when it was approved: `{ok, result}`, or `{ok: false, error, detail}`.',
      }),
    ),
  }),
);

export const ApprovalId = Type.Object({ id: Type.String() });

export const ApprovalsQuery = Type.Object({
  state: Type.Optional(Type.Enum(['pending', 'approved', 'denied', 'used'])),
  after: Type.Optional(Type.String({ maxLength: 128, description: '`next` of the page before.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
});

export const DecideApproval = named(
  'ToolApprovalDecision',
  Type.Object(
    {
      decision: Type.Enum(['approve', 'deny']),
      remember: Type.Optional(
        Type.Enum(['once', 'conversation', 'always'], {
          default: 'once',
          description:
            'For this tool as it is, and this person: not asked again in the conversation, or at all. A rule that asks still does.',
        }),
      ),
      arguments: Type.Optional(
        Type.Unknown({
          description: 'They take the place of those of the call. For `server`, the answer: an object that its schema allows.',
        }),
      ),
      reason: Type.Optional(Type.String({ maxLength: 500 })),
    },
    { additionalProperties: false },
  ),
);

export const ChooseSearch = named(
  'ChooseSearch',
  Type.Object(
    {
      provider: Type.Enum([...SEARCH_PROVIDER_NAMES]),
      url: Type.Optional(
        Type.String({ maxLength: 500, pattern: '^https?://', description: 'Of a server of your own; needed for searxng.' }),
      ),
      key: Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: 'Absent: the one that is there stays.' })),
    },
    { additionalProperties: false },
  ),
);

export const SearchShape = named(
  'SearchProvider',
  Type.Object({
    provider: Nullable(Type.Enum([...SEARCH_PROVIDER_NAMES])),
    url: Nullable(Type.String()),
    key_present: Type.Boolean({ description: 'The key itself is never shown.' }),
  }),
);

export function searchBody(row: SearchRow | undefined): Static<typeof SearchShape> {
  const { provider, url = null, sealed_key: key = null } = row ?? {};
  return { provider: (provider as SearchProviderName | undefined) ?? null, url, key_present: key !== null };
}

export const PluginId = Type.Object({ id: Type.String({ maxLength: 32, pattern: PLUGIN_ID_PATTERN }) });

export const EnablePlugin = named(
  'EnablePlugin',
  Type.Object(
    { hash: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Of the files that you looked at.' })) },
    { additionalProperties: false },
  ),
);

export const PluginSwitched = named(
  'PluginSwitched',
  Type.Object({
    id: Type.String(),
    enabled: Type.Boolean(),
    hash: Nullable(Type.String({ description: 'Of its files; null: it is no whole plugin.' })),
  }),
);

const PluginShape = named(
  'Plugin',
  Type.Object({
    id: Type.String(),
    state: Type.Enum(['disabled', 'ready', 'changed', 'invalid', 'unavailable']),
    reason: Type.Optional(Type.String()),
    enabled_hash: Nullable(Type.String()),
    hash: Nullable(Type.String({ description: 'Of its files as they are.' })),
    name: Type.Optional(Type.String()),
    version: Type.Optional(Type.String()),
    license: Type.Optional(Type.String()),
    hosts: Type.Array(Type.String(), { description: 'To which it may send requests.' }),
    tools: Type.Array(Type.Object({ name: Type.String(), description: Type.String(), effect: Effect })),
  }),
);
export const PluginList = named('PluginList', Type.Object({ data: Type.Array(PluginShape) }));

export function pluginBody({ id, state, reason, enabledHash, read }: ListedPlugin): Static<typeof PluginShape> {
  const about = {
    id,
    state,
    ...(reason !== undefined && { reason }),
    enabled_hash: enabledHash ?? null,
    hash: read?.hash ?? null,
  };
  if (read === undefined) return { ...about, hosts: [], tools: [] };
  const { name, version, license, hosts = [], tools } = read.manifest;
  const shown = tools.map((tool) => ({ name: tool.name, description: tool.description, effect: tool.effect }));
  return { ...about, name, version, license, hosts, tools: shown };
}

export function outcomeBody({ id, isDone, result, error, artifacts, tookMs }: ToolOutcome): Static<typeof ToolOutcomeShape> {
  return { id, ok: isDone, ...(error === undefined ? { result } : { error }), artifacts: [...artifacts], took_ms: tookMs };
}

export function approvalBody(row: ApprovalRow, now: number): Static<typeof ApprovalShape> {
  const { id, owner, tool, effect, asked_by: askedBy, conversation, state, reason, decided_by: decidedBy } = row;
  const isOver = row.expires_at <= now && (state === 'pending' || state === 'approved');
  return {
    id,
    owner,
    tool,
    effect,
    arguments: JSON.parse(row.decided_arguments ?? row.arguments) as unknown,
    asked_by: askedBy,
    conversation: conversation === '' ? null : conversation,
    state: isOver ? 'expired' : state,
    created_at: timeText(row.created_at),
    expires_at: timeText(row.expires_at),
    decided_at: row.decided_at === null ? null : timeText(row.decided_at),
    decided_by: decidedBy,
    reason,
    outcome: row.outcome === null ? null : (JSON.parse(row.outcome) as unknown),
  };
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
