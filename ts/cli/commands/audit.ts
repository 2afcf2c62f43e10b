/** `svc audit`: the audit log of a running node. */
import { command } from '../command.ts';
import { formatTable, printable } from '../format.ts';
import { clientOptions, ServerClient } from '../server-client.ts';

interface AuditRecord {
  seq: number;
  at: string;
  tenant: string;
  actor: string;
  action: string;
  target: string;
  outcome: string;
  remote_address: string;
}

const path = '/api/v1/security/audit';

export const audit = command({
  words: ['audit'],
  summary: 'Show what was done by whom, newest first',
  options: { ...clientOptions, limit: { kind: 'integer', value: 'N', min: 1, max: 1000, help: 'lines (default 50)' } },
  examples: ['svc audit --limit 20'],
  async run(invocation) {
    const { options, terminal, signal } = invocation;
    const query = `?limit=${options.limit ?? 50}`;
    const { data } = (await ServerClient.from(invocation).send('GET', path + query, undefined, signal)) as {
      data: AuditRecord[];
    };
    const rows = data.map(({ seq, at, tenant, actor, action, target, outcome, remote_address: remote }) => [
      ...[String(seq), at, tenant, printable(actor), printable(action), printable(target) || '-', outcome, remote || '-'],
    ]);
    terminal.result(data, formatTable(['NO', 'AT', 'TENANT', 'ACTOR', 'ACTION', 'TARGET', 'OUTCOME', 'FROM'], rows));
    return 'ok';
  },
});

export const auditVerify = command({
  words: ['audit', 'verify'],
  summary: 'Prove that no line of the audit log was changed, removed or put in by hand',
  options: clientOptions,
  examples: ['svc audit verify'],
  async run(invocation) {
    const { terminal, signal } = invocation;
    const answer = await ServerClient.from(invocation).send('GET', `${path}/verify`, undefined, signal);
    const { entries, broken_at: brokenAt } = answer as { entries: number; broken_at: number | null };
    const text =
      brokenAt === null
        ? `the chain holds: ${entries} lines are what was written`
        : `the chain is broken at line ${brokenAt}: it, or a line before or behind it, was changed, removed or put in by hand`;
    terminal.result({ entries, broken_at: brokenAt }, text);
    return brokenAt === null ? 'ok' : 'verification_failed';
  },
});
