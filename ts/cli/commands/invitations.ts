/** `svc invite`: links with which people make themselves an account. */
import { listCommand, requestCommand } from '../server-command.ts';
import { ROLE_NAMES } from './accounts.ts';

export const invite = requestCommand({
  words: ['invite'],
  summary: 'Make an invitation, whose link is shown this once',
  options: {
    role: { kind: 'choice', choices: ROLE_NAMES, help: 'role of the account (default viewer)' },
    tenant: { kind: 'text', value: 'ID', help: 'tenant of the account (default: that of the caller)' },
    group: { kind: 'texts', value: 'ID', help: 'id of a group that the account gets into; may be repeated' },
    uses: { kind: 'integer', value: 'N', min: 1, max: 1000, help: 'accounts that can be made with it (default 1)' },
    'expires-in': { kind: 'integer', value: 'SECONDS', min: 60, help: 'how long it works (default seven days)' },
    note: { kind: 'text', value: 'TEXT', help: 'for whom it is' },
  },
  examples: ['svc invite --role developer --note "the new colleague"'],
  route: 'POST /api/v1/identity/invitations',
  given: ({ options: { role, tenant, group: groups, uses, note, 'expires-in': seconds } }) => ({
    body: { role, tenant, groups, max_uses: uses, expires_in_seconds: seconds, note },
  }),
  text: ({ id, max_uses: uses, role, tenant, expires_at: at, link }, { client }) =>
    [
      `${id} makes ${uses === 1 ? 'an account' : `${uses} accounts`} with the role ${role} in ${tenant}, until ${at}`,
      `link (shown once): ${new URL(link, client.base).href}`,
      'put the address by which people reach the server in front, where it is another one',
    ].join('\n'),
});

export const inviteList = listCommand({
  words: ['invite', 'list'],
  summary: 'List the invitations',
  examples: ['svc invite list'],
  route: 'GET /api/v1/identity/invitations',
  given: () => ({ query: { limit: 1000 } }),
  columns: {
    STATE: ({ state }) => state,
    TENANT: ({ tenant }) => tenant,
    ROLE: ({ role }) => role,
    USES: ({ uses, max_uses: most }) => `${uses}/${most}`,
    EXPIRES: ({ expires_at: at }) => at,
    NOTE: ({ note }) => note,
    ID: ({ id }) => id,
  },
});

export const inviteRevoke = requestCommand({
  words: ['invite', 'revoke'],
  summary: 'Withdraw an invitation; accounts that were made with it stay',
  positionals: [{ name: 'ID', help: 'id of the invitation, as `svc invite list` shows it' }],
  examples: ['svc invite revoke inv_0123456789abcdef'],
  route: 'DELETE /api/v1/identity/invitations/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: (_, { positionals: [id] }) => `${id} is withdrawn`,
  record: (_, { positionals: [id] }) => ({ id, revoked: true }),
});
