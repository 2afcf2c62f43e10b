/** The rows of the edge module. Times are milliseconds since 1970. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { column, isSystemScope, type Migration, type StorageAccess, type StorageScope } from '../../platform/storage/index.ts';
import type { ToolEffect } from '../../platform/tools/tool.ts';

export type ApprovalState = 'pending' | 'approved' | 'denied' | 'used';
export type Remember = 'once' | 'conversation' | 'always';
/**
 * `rule`: a rule of the tenant asks. `default`: no rule allows the call. `untrusted`: text of others came before it. `address`: it reaches an address
 * that nobody named. `own`: what the call is about asks. `second_person`: it wants another person to decide. `server`: the MCP server that runs the
 * call asks something.
 */
export type AskedBy = 'rule' | 'default' | 'untrusted' | 'address' | 'client' | 'plan' | 'own' | 'second_person' | 'server';

/** A call that asks, what was decided, and whether it was made. */
export interface ApprovalRow {
  tenant: string;
  id: string;
  /** The account that makes the call, or a key without one. */
  owner: string;
  tool: string;
  effect: ToolEffect;
  /** The hash of the tool as it was shown. */
  definition: string;
  /** The hash of tool, definition, arguments, owner and run: what is approved is that call and no other. */
  binding: string;
  /** JSON. */
  arguments: string;
  asked_by: AskedBy;
  /** Empty: no conversation. */
  conversation: string;
  state: ApprovalState;
  created_at: number;
  expires_at: number;
  decided_at: number | null;
  /** The name of the caller in the audit log. */
  decided_by: string | null;
  /** JSON that takes the place of the arguments; null: they stay. */
  decided_arguments: string | null;
  reason: string | null;
  /** JSON: in whose name the call is made as soon as it is approved; null: its caller makes it again. */
  delegation: string | null;
  /** A run on that node waits for the decision; null: whoever asked makes the call again. */
  waiting_node: string | null;
  /** JSON: what became of such a call; null: it was not made, or nobody knows. */
  outcome: string | null;
}

/** A tool that a person lets pass without being asked again: in one conversation, or always. */
export interface PermissionRow {
  tenant: string;
  owner: string;
  tool: string;
  definition: string;
  /** Empty: in all of them. */
  conversation: string;
  created_at: number;
}

interface PolicyRow {
  tenant: string;
  /** JSON. */
  policy: string;
  updated_at: number;
}

/** A conversation into which text of others has come. */
interface TaintRow {
  tenant: string;
  owner: string;
  conversation: string;
  created_at: number;
}

/** The search provider of a tenant. The key is sealed by the node that it was given to, and works there alone. */
export interface SearchRow {
  tenant: string;
  provider: string;
  /** Null: the provider's own. */
  url: string | null;
  sealed_key: string | null;
  sealed_by: string | null;
  updated_at: number;
}

/** A plugin that a tenant enabled. */
export interface PluginRow {
  tenant: string;
  id: string;
  /** The hash of all its files when it was enabled: others do not run. */
  hash: string;
  enabled_at: number;
  /** The name of the caller in the audit log. */
  enabled_by: string;
}

/** A value that a plugin keeps for a tenant. */
interface PluginValueRow {
  tenant: string;
  plugin: string;
  key: string;
  value: string;
  /** The size of key and value together. */
  bytes: number;
}

/** An MCP server that an administrator registered. Its credential is sealed by the node that it was given to, and works there alone. */
export interface McpServerRow {
  tenant: string;
  label: string;
  url: string;
  auth: 'none' | 'bearer' | 'oauth';
  sealed: string | null;
  sealed_by: string | null;
  /** A JSON list of names; null: all. */
  tools: string | null;
  enabled: number;
  /** JSON: the definitions that it offered last, and their hash; empty: it was never seen. */
  seen: string;
  seen_hash: string;
  seen_at: number | null;
  /** JSON: those that an administrator approved. */
  approved: string;
  approved_hash: string;
  created_at: number;
  updated_at: number;
}

/** The sealed JSON that a person is signed in to an MCP server with. */
export interface McpTokenRow {
  tenant: string;
  label: string;
  owner: string;
  sealed: string;
  sealed_by: string;
  updated_at: number;
}

export interface EdgeTables {
  edge_approvals: ApprovalRow;
  edge_permissions: PermissionRow;
  edge_policies: PolicyRow;
  edge_taints: TaintRow;
  edge_search: SearchRow;
  edge_plugins: PluginRow;
  edge_plugin_values: PluginValueRow;
  edge_mcp_servers: McpServerRow;
  edge_mcp_tokens: McpTokenRow;
}

export type EdgeStorage = StorageAccess<EdgeTables>;

/** The condition that a row belongs to the scope. On SQLite it is the only wall between tenants. */
export function within(scope: StorageScope): RawBuilder<SqlBool> {
  return isSystemScope(scope) ? sql<SqlBool>`1 = 1` : sql<SqlBool>`tenant = ${scope.tenant}`;
}

export const edgeMigrations: readonly Migration[] = [
  {
    id: 1,
    name: 'create approvals, permissions and policies of tools',
    up: async (schema) => {
      await schema.tenantTable('edge_approvals', {
        columns: {
          id: column.id(),
          owner: column.id(),
          tool: column.text(),
          effect: column.text(),
          definition: column.text(),
          binding: column.text(),
          arguments: column.json(),
          asked_by: column.text(),
          conversation: column.id(),
          state: column.text(),
          created_at: column.timestamp(),
          expires_at: column.timestamp(),
          decided_at: column.timestamp({ nullable: true }),
          decided_by: column.text({ nullable: true }),
          decided_arguments: column.json({ nullable: true }),
          reason: column.text({ nullable: true }),
        },
        primaryKey: ['tenant', 'id'],
      });
      await schema.index('edge_approvals_by_owner', 'edge_approvals', ['tenant', 'owner', 'id']);
      await schema.index('edge_approvals_expired', 'edge_approvals', ['expires_at']);
      await schema.tenantTable('edge_permissions', {
        columns: {
          owner: column.id(),
          tool: column.text(),
          definition: column.text(),
          conversation: column.id(),
          created_at: column.timestamp(),
        },
        primaryKey: ['tenant', 'owner', 'tool', 'definition', 'conversation'],
      });
      await schema.tenantTable('edge_policies', {
        columns: { policy: column.json(), updated_at: column.timestamp() },
        primaryKey: ['tenant'],
      });
    },
  },
  {
    id: 2,
    name: 'remember conversations that text of others has come into',
    up: async (schema) => {
      await schema.tenantTable('edge_taints', {
        columns: { owner: column.id(), conversation: column.id(), created_at: column.timestamp() },
        primaryKey: ['tenant', 'owner', 'conversation'],
      });
    },
  },
  {
    id: 3,
    name: 'create the search providers of tenants',
    up: async (schema) => {
      await schema.tenantTable('edge_search', {
        columns: {
          provider: column.text(),
          url: column.text({ nullable: true }),
          sealed_key: column.text({ nullable: true }),
          sealed_by: column.text({ nullable: true }),
          updated_at: column.timestamp(),
        },
        primaryKey: ['tenant'],
      });
    },
  },
  {
    id: 4,
    name: 'create the plugins that tenants enabled, and what they keep',
    up: async (schema) => {
      await schema.tenantTable('edge_plugins', {
        columns: { id: column.id(), hash: column.text(), enabled_at: column.timestamp(), enabled_by: column.text() },
        primaryKey: ['tenant', 'id'],
      });
      await schema.tenantTable('edge_plugin_values', {
        columns: { plugin: column.id(), key: column.id(), value: column.text(), bytes: column.integer() },
        primaryKey: ['tenant', 'plugin', 'key'],
      });
    },
  },
  {
    id: 5,
    name: 'create the MCP servers of tenants',
    up: async (schema) => {
      await schema.tenantTable('edge_mcp_servers', {
        columns: {
          label: column.id(),
          url: column.text(),
          auth: column.text(),
          sealed: column.text({ nullable: true }),
          sealed_by: column.text({ nullable: true }),
          tools: column.json({ nullable: true }),
          enabled: column.integer(),
          seen: column.json(),
          seen_hash: column.text(),
          seen_at: column.timestamp({ nullable: true }),
          approved: column.json(),
          approved_hash: column.text(),
          created_at: column.timestamp(),
          updated_at: column.timestamp(),
        },
        primaryKey: ['tenant', 'label'],
      });
      await schema.tenantTable('edge_mcp_tokens', {
        columns: {
          label: column.id(),
          owner: column.id(),
          sealed: column.text(),
          sealed_by: column.text(),
          updated_at: column.timestamp(),
        },
        primaryKey: ['tenant', 'label', 'owner'],
      });
    },
  },
  {
    id: 6,
    name: 'keep in whose name an approved call is made, and what became of it',
    up: async (schema) => {
      await schema.addColumn('edge_approvals', 'delegation', column.json({ nullable: true }));
      await schema.addColumn('edge_approvals', 'outcome', column.json({ nullable: true }));
    },
  },
  {
    id: 7,
    name: 'know on which node a call waits for its approval',
    up: async (schema) => {
      await schema.addColumn('edge_approvals', 'waiting_node', column.text({ nullable: true }));
      await schema.index('edge_approvals_waiting', 'edge_approvals', ['waiting_node', 'state']);
    },
  },
];
