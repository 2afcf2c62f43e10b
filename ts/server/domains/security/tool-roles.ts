/**
 * The least role for each tool, by the longest name that the tool's begins with. What concerns every tenant of a node needs a superadmin, also where
 * the route itself lets the administrators of a tenant in.
 */
import type { Role } from '../../platform/http/principal.ts';

const ROLES_BY_NAME: readonly (readonly [prefix: string, least: Role])[] = [
  ['models.', 'superadmin'],
  ['backup.', 'superadmin'],
  ['memory.delete_all', 'admin'],
  ['memory.', 'viewer'],
  ['knowledge.search', 'viewer'],
  ['science.query', 'viewer'],
  ['iot.read', 'viewer'],
];

/** Of tools that the table does not name: they may change something. */
const DEFAULT_ROLE: Role = 'developer';

export function leastRoleOf(tool: string): Role {
  let found: readonly [prefix: string, least: Role] | undefined;
  for (const row of ROLES_BY_NAME) {
    if (tool.startsWith(row[0]) && row[0].length > (found?.[0].length ?? 0)) found = row;
  }
  return found?.[1] ?? DEFAULT_ROLE;
}
