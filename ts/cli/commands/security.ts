/** `svc security`: role enforcement of a running node. */
import { usageError } from '../cli-error.ts';
import { command } from '../command.ts';
import { formatTable, printable } from '../format.ts';
import { clientOptions, ServerClient } from '../server-client.ts';

interface EnforcementRecord {
  mode: string;
  tenants: { tenant: string; mode: string }[];
}

interface DecisionRecord {
  at: string;
  tenant: string;
  actor: string;
  role: string;
  tool: string;
  needed_role: string;
  outcome: string;
}

const MODES = ['stub_allow', 'audit', 'enforce'];
const path = '/api/v1/security/enforcement';

export const securityEnforcement = command({
  words: ['security', 'enforcement'],
  summary: 'Show how roles are enforced where tools are called, or switch it',
  positionals: [{ name: 'MODE', help: `${MODES.join(', ')}; for a tenant also node: as its node`, optional: true }],
  options: { ...clientOptions, tenant: { kind: 'text', value: 'ID', help: 'of this tenant, on every node' } },
  examples: ['svc security enforcement', 'svc security enforcement audit', 'svc security enforcement enforce --tenant acme'],
  async run(invocation) {
    const { positionals, options, terminal, signal } = invocation;
    const [mode] = positionals;
    const client = ServerClient.from(invocation);
    const answer =
      mode === undefined
        ? await client.send('GET', path, undefined, signal)
        : await client.send('PUT', path, bodyOf(mode, options.tenant), signal);
    const shown = answer as EnforcementRecord;
    const rows = [['(node)', shown.mode], ...shown.tenants.map(({ tenant, mode }) => [tenant, mode])];
    terminal.result(shown, formatTable(['TENANT', 'MODE'], rows));
    return 'ok';
  },
});

export const securityDecisions = command({
  words: ['security', 'decisions'],
  summary: 'Show tool calls that role enforcement denied, or would deny, newest first',
  options: { ...clientOptions, limit: { kind: 'integer', value: 'N', min: 1, max: 1000, help: 'lines (default 50)' } },
  examples: ['svc security decisions --limit 20'],
  async run(invocation) {
    const { options, terminal, signal } = invocation;
    const at = `/api/v1/security/decisions?limit=${options.limit ?? 50}`;
    const { data } = (await ServerClient.from(invocation).send('GET', at, undefined, signal)) as { data: DecisionRecord[] };
    const rows = data.map((row) => [
      ...[row.at, row.tenant, printable(row.actor), row.role, printable(row.tool), row.needed_role, row.outcome],
    ]);
    terminal.result(data, formatTable(['AT', 'TENANT', 'ACTOR', 'ROLE', 'TOOL', 'NEEDS', 'OUTCOME'], rows));
    return 'ok';
  },
});

function bodyOf(mode: string, tenant: string | undefined): object {
  if (mode === 'node' && tenant !== undefined) return { mode: null, tenant };
  if (MODES.includes(mode)) return { mode, ...(tenant !== undefined && { tenant }) };
  throw usageError(`"${mode}" is no mode`, `give one of ${MODES.join(', ')}`);
}
