import { ROLES } from '../../server/platform/module/module-names.ts';
import { usageError } from '../cli-error.ts';
import { tableOf } from '../format.ts';
import { serverCommand } from '../server-command.ts';

export const forceRole = {
  force: { kind: 'flag', help: 'also the role data of a node that alone has knowledge bases; they stay on its disk' },
} as const;

export const roles = serverCommand({
  words: ['roles'],
  summary: 'Show the roles of a running node, or switch one on or off',
  positionals: [
    { name: 'ROLE', help: `one of ${ROLES.join(', ')}`, optional: true },
    { name: 'on|off', help: 'the new state; it holds at once and after a restart', optional: true },
  ],
  options: forceRole,
  examples: ['svc roles', 'svc roles inference off'],
  async run({ positionals, options: { force }, client, terminal }) {
    const answer =
      positionals.length === 0
        ? await client.call('GET /api/v1/system/roles')
        : await client.call('PUT /api/v1/system/roles/{role}', {
            params: { role: readRole(positionals[0]) },
            body: { enabled: readState(positionals[1]), ...(force && { force }) },
          });
    const columns = {
      ROLE: ({ role }: Role) => role,
      STATE: ({ enabled }: Role) => (enabled ? 'on' : 'off'),
      MODULES: ({ modules }: Role) => modules.join(' ') || null,
    };
    terminal.result(answer.roles, tableOf(columns, answer.roles));
    return 'ok';
  },
});

type Role = { role: string; enabled: boolean; modules: string[] };

/** Throws for what is no role. */
export function readRole(given = ''): (typeof ROLES)[number] {
  const role = ROLES.find((each) => each === given.trim());
  if (role !== undefined) return role;
  throw usageError(`"${given}" is no role`, `give one of ${ROLES.join(', ')}`);
}

/** Throws for what is neither on nor off. */
export function readState(state: string | undefined): boolean {
  if (state === 'on' || state === 'off') return state === 'on';
  throw usageError('the new state of the role is missing', 'give on or off behind its name');
}
