/** The one check of tool calls: every call site asks it, and the mode that holds for the caller decides what becomes of the answer. */
import { hasRole, type Principal, type Role } from '../../platform/http/principal.ts';
import type { Decisions } from './decisions.ts';
import type { Enforcement } from './enforcement.ts';
import type { EnforcementMode } from './enforcement-mode.ts';
import { securityError } from './errors.ts';

interface ToolCallsDeps {
  enforcement: Enforcement;
  decisions: Decisions;
  nodeId(): string;
  /** Whether the role `security` is on: without it every call passes. */
  isRunning(): boolean;
}

interface ToolCallDecision {
  isAllowed: boolean;
  /** Whether the caller's role reaches the tool, whatever the mode. */
  isWithinRole: boolean;
  neededRole: Role;
  mode: EnforcementMode;
}

export class ToolCalls {
  readonly #deps: ToolCallsDeps;

  constructor(deps: ToolCallsDeps) {
    this.#deps = deps;
  }

  /** `tool` is `area.action`, for example `iot.write`. What enforcement denies, or would deny, is listed. */
  checkToolCall(caller: Principal, tool: string): ToolCallDecision {
    const { enforcement, decisions, nodeId, isRunning } = this.#deps;
    const mode = isRunning() ? enforcement.modeOf(caller.tenant) : 'stub_allow';
    const neededRole = leastRoleOf(tool);
    // On a node without accounts the caller is the operator at the machine.
    const isWithinRole = caller.kind === 'anonymous' || hasRole(caller, neededRole);
    if (mode !== 'stub_allow' && !isWithinRole) {
      const { tenant, roles } = caller;
      const who = { tenant, actor: actorOf(caller), role: roles[0] ?? '', needed_role: neededRole };
      decisions.add({ ...who, at: Date.now(), node: nodeId(), mode, tool: tool.slice(0, 100) });
    }
    return { isAllowed: mode !== 'enforce' || isWithinRole, isWithinRole, neededRole, mode };
  }

  /** The least role that enforcement asks for. */
  leastRoleOf(tool: string): Role {
    return leastRoleOf(tool);
  }

  /** Throws tool_call_denied. */
  requireToolCall(caller: Principal, tool: string): void {
    const { isAllowed, neededRole } = this.checkToolCall(caller, tool);
    if (isAllowed) return;
    const sentence = `Role enforcement is on, and ${tool} needs the role ${neededRole}: ask somebody who has it.`;
    throw securityError('tool_call_denied', sentence, { extra: { tool, needed_role: neededRole } });
  }
}

/** A key is named beside its account, since an account has several. */
function actorOf({ subject, kind, keyId }: Principal): string {
  if (subject === undefined) return keyId ?? kind;
  return keyId === undefined ? `user:${subject}` : `user:${subject} ${kind}:${keyId}`;
}

/**
 * The least role for each tool, by the longest name that the tool's begins with. What concerns every tenant of a node needs a superadmin, also where
 * the route itself lets the administrators of a tenant in.
 */
const ROLES_BY_NAME: readonly (readonly [prefix: string, least: Role])[] = [
  ['models.', 'superadmin'],
  ['backup.', 'superadmin'],
  ['memory.delete_all', 'admin'],
  ['memory.', 'viewer'],
  ['knowledge.search', 'viewer'],
  ['conversations.search', 'viewer'],
  ['artifacts.create', 'viewer'],
  ['science.', 'viewer'],
  ['iot.read', 'viewer'],
];

/** Of tools that the table does not name: they may change something. */
const DEFAULT_ROLE: Role = 'developer';

function leastRoleOf(tool: string): Role {
  let found: readonly [prefix: string, least: Role] | undefined;
  for (const row of ROLES_BY_NAME) {
    if (tool.startsWith(row[0]) && row[0].length > (found?.[0].length ?? 0)) found = row;
  }
  return found?.[1] ?? DEFAULT_ROLE;
}
