/** `svc security`: role enforcement of a running node. */
import type { Body } from '../../client/client.ts';
import { usageError } from '../cli-error.ts';
import { formatTable } from '../format.ts';
import { listCommand, serverCommand } from '../server-command.ts';

const MODES = ['stub_allow', 'audit', 'enforce'] as const;

export const securityEnforcement = serverCommand({
  words: ['security', 'enforcement'],
  summary: 'Show how roles are enforced where tools are called, or switch it',
  positionals: [{ name: 'MODE', help: `${MODES.join(', ')}; for a tenant also node: as its node`, optional: true }],
  options: { tenant: { kind: 'text', value: 'ID', help: 'of this tenant, on every node' } },
  examples: ['svc security enforcement', 'svc security enforcement audit', 'svc security enforcement enforce --tenant acme'],
  async run({ positionals: [mode], options, client, terminal }) {
    const shown =
      mode === undefined
        ? await client.call('GET /api/v1/security/enforcement')
        : await client.call('PUT /api/v1/security/enforcement', { body: bodyOf(mode, options.tenant) });
    const rows = [['(node)', shown.mode], ...shown.tenants.map(({ tenant, mode }) => [tenant, mode])];
    terminal.result(shown, formatTable(['TENANT', 'MODE'], rows));
    return 'ok';
  },
});

export const securityDecisions = listCommand({
  words: ['security', 'decisions'],
  summary: 'Show tool calls that role enforcement denied, or would deny, newest first',
  options: { limit: { kind: 'integer', value: 'N', min: 1, max: 1000, help: 'lines (default 50)' } },
  examples: ['svc security decisions --limit 20'],
  route: 'GET /api/v1/security/decisions',
  given: ({ options }) => ({ query: { limit: options.limit ?? 50 } }),
  columns: {
    AT: ({ at }) => at,
    TENANT: ({ tenant }) => tenant,
    ACTOR: ({ actor }) => actor,
    ROLE: ({ role }) => role,
    TOOL: ({ tool }) => tool,
    NEEDS: ({ needed_role: role }) => role,
    OUTCOME: ({ outcome }) => outcome,
  },
});

function bodyOf(given: string, tenant: string | undefined): Body<'PUT /api/v1/security/enforcement'> {
  if (given === 'node' && tenant !== undefined) return { mode: null, tenant };
  const mode = MODES.find((each) => each === given);
  if (mode !== undefined) return { mode, tenant };
  throw usageError(`"${given}" is no mode`, `give one of ${MODES.join(', ')}`);
}
