/** `svc audit`: the audit log of a running node. */
import { listCommand, requestCommand } from '../server-command.ts';

export const audit = listCommand({
  words: ['audit'],
  summary: 'Show what was done by whom, newest first',
  options: { limit: { kind: 'integer', value: 'N', min: 1, max: 1000, help: 'lines (default 50)' } },
  examples: ['svc audit --limit 20'],
  route: 'GET /api/v1/security/audit',
  given: ({ options }) => ({ query: { limit: options.limit ?? 50 } }),
  columns: {
    NO: ({ seq }) => seq,
    AT: ({ at }) => at,
    TENANT: ({ tenant }) => tenant,
    ACTOR: ({ actor }) => actor,
    ACTION: ({ action }) => action,
    TARGET: ({ target }) => target || null,
    OUTCOME: ({ outcome }) => outcome,
    FROM: ({ remote_address: address }) => address || null,
  },
});

export const auditVerify = requestCommand({
  words: ['audit', 'verify'],
  summary: 'Prove that no line of the audit log was changed, removed or put in by hand',
  examples: ['svc audit verify'],
  route: 'GET /api/v1/security/audit/verify',
  text: ({ entries, broken_at: brokenAt }) =>
    brokenAt === null
      ? `the chain holds: ${entries} lines are what was written`
      : `the chain is broken at line ${brokenAt}: it, or a line before or behind it, was changed, removed or put in by hand`,
  record: ({ entries, broken_at }) => ({ entries, broken_at }),
  exit: ({ broken_at: brokenAt }) => (brokenAt === null ? 'ok' : 'verification_failed'),
});
