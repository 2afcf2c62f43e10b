/** `svc invite`: links with which people make themselves an account. */
import { command } from '../command.ts';
import { formatTable, printable } from '../format.ts';
import { clientOptions, ServerClient } from '../server-client.ts';
import { ROLE_NAMES } from './accounts.ts';

interface InvitationRecord {
  id: string;
  tenant: string;
  role: string;
  note: string;
  max_uses: number;
  uses: number;
  expires_at: string;
  state: string;
}

type IssuedInvitation = InvitationRecord & { token: string; link: string };

const path = '/api/v1/identity/invitations';

export const invite = command({
  words: ['invite'],
  summary: 'Make an invitation, whose link is shown this once',
  options: {
    ...clientOptions,
    role: { kind: 'choice', choices: ROLE_NAMES, help: 'role of the account (default viewer)' },
    tenant: { kind: 'text', value: 'ID', help: 'tenant of the account (default: that of the caller)' },
    group: { kind: 'texts', value: 'ID', help: 'id of a group that the account gets into; may be repeated' },
    uses: { kind: 'integer', value: 'N', min: 1, max: 1000, help: 'accounts that can be made with it (default 1)' },
    'expires-in': { kind: 'integer', value: 'SECONDS', min: 60, help: 'how long it works (default seven days)' },
    note: { kind: 'text', value: 'TEXT', help: 'for whom it is' },
  },
  examples: ['svc invite --role developer --note "the new colleague"'],
  async run(invocation) {
    const { options, terminal, signal } = invocation;
    const { role, tenant, group, uses, note } = options;
    const seconds = options['expires-in'];
    const body = {
      ...(role !== undefined && { role }),
      ...(tenant !== undefined && { tenant }),
      ...(group !== undefined && { groups: group }),
      ...(uses !== undefined && { max_uses: uses }),
      ...(seconds !== undefined && { expires_in_seconds: seconds }),
      ...(note !== undefined && { note }),
    };
    const client = ServerClient.from(invocation);
    const made = (await client.send('POST', path, body, signal)) as IssuedInvitation;
    const lines = [
      `${made.id} makes ${made.max_uses === 1 ? 'an account' : `${made.max_uses} accounts`} with the role ${made.role} in ${made.tenant}, until ${made.expires_at}`,
      `link (shown once): ${new URL(made.link, client.base).href}`,
      'put the address by which people reach the server in front, where it is another one',
    ];
    terminal.result(made, lines.join('\n'));
    return 'ok';
  },
});

export const inviteList = command({
  words: ['invite', 'list'],
  summary: 'List the invitations',
  options: clientOptions,
  examples: ['svc invite list'],
  async run(invocation) {
    const { terminal, signal } = invocation;
    const answer = await ServerClient.from(invocation).send('GET', `${path}?limit=1000`, undefined, signal);
    const { data } = answer as { data: InvitationRecord[] };
    const rows = data.map(({ id, tenant, role, state, uses, max_uses: maxUses, expires_at: expiresAt, note }) => [
      ...[state, tenant, role, `${uses}/${maxUses}`, expiresAt, printable(note), id],
    ]);
    terminal.result(data, formatTable(['STATE', 'TENANT', 'ROLE', 'USES', 'EXPIRES', 'NOTE', 'ID'], rows));
    return 'ok';
  },
});

export const inviteRevoke = command({
  words: ['invite', 'revoke'],
  summary: 'Withdraw an invitation; accounts that were made with it stay',
  positionals: [{ name: 'ID', help: 'id of the invitation, as `svc invite list` shows it' }],
  options: clientOptions,
  examples: ['svc invite revoke inv_0123456789abcdef'],
  async run(invocation) {
    const { positionals, terminal, signal } = invocation;
    const [id = ''] = positionals;
    await ServerClient.from(invocation).send('DELETE', `${path}/${encodeURIComponent(id)}`, undefined, signal);
    terminal.result({ id, revoked: true }, `${id} is withdrawn`);
    return 'ok';
  },
});
