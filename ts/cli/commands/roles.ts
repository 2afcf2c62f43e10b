import { ROLES } from '../../server/platform/module/module-names.ts';
import { usageError } from '../cli-error.ts';
import { command, type Invocation } from '../command.ts';
import { formatTable } from '../format.ts';
import { clientOptions, ServerClient } from '../server-client.ts';

interface RoleRow {
  role: string;
  enabled: boolean;
  modules: string[];
}

const path = '/api/v1/system/roles';

export const roles = command({
  words: ['roles'],
  summary: 'Show the roles of a running node, or switch one on or off',
  positionals: [
    { name: 'ROLE', help: `one of ${ROLES.join(', ')}`, optional: true },
    { name: 'on|off', help: 'the new state; it holds at once and after a restart', optional: true },
  ],
  options: clientOptions,
  examples: ['svc roles', 'svc roles inference off'],
  async run(invocation) {
    const { positionals, terminal, signal } = invocation;
    const client = ServerClient.from(invocation);
    const answer =
      positionals.length === 0
        ? await client.send('GET', path, undefined, signal)
        : await client.send('PUT', `${path}/${readRole(positionals)}`, { enabled: readState(positionals) }, signal);
    const { roles: rows } = answer as { roles: RoleRow[] };
    const table = rows.map(({ role, enabled, modules }) => [role, enabled ? 'on' : 'off', modules.join(' ') || '-']);
    terminal.result(rows, formatTable(['ROLE', 'STATE', 'MODULES'], table));
    return 'ok';
  },
});

function readRole([role = '']: Invocation['positionals']): string {
  if ((ROLES as readonly string[]).includes(role)) return role;
  throw usageError(`"${role}" is no role`, `give one of ${ROLES.join(', ')}`);
}

function readState([, state]: Invocation['positionals']): boolean {
  if (state === 'on' || state === 'off') return state === 'on';
  throw usageError('the new state of the role is missing', 'give on or off behind its name');
}
