/** `svc user`: accounts of a running node. */
import type { Body } from '../../client/client.ts';
import { usageError } from '../cli-error.ts';
import { tableOf } from '../format.ts';
import { listCommand, requestCommand, type Served, serverCommand } from '../server-command.ts';
import { choosePassword, findUser, makeAccount, passwordOptions, ROLE_NAMES, type User, userColumns } from './accounts.ts';

const name = { name: 'NAME', help: 'name or id of the account' };

export const userList = listCommand({
  words: ['user', 'list'],
  summary: 'List the accounts',
  examples: ['svc user list'],
  route: 'GET /api/v1/identity/users',
  isWhole: true,
  columns: userColumns,
});

export const userCreate = serverCommand({
  words: ['user', 'create'],
  summary: 'Make an account',
  positionals: [{ name: 'NAME', help: 'name to sign in with' }],
  options: {
    ...passwordOptions,
    role: { kind: 'choice', choices: ROLE_NAMES, help: 'what the account may do (default viewer)' },
    tenant: { kind: 'text', value: 'ID', help: 'its tenant (default: that of the caller)' },
    'no-password': { kind: 'flag', help: 'without a password, until one is set with a reset token' },
    service: { kind: 'flag', help: 'a program’s account, which uses API keys and can never have a password' },
  },
  examples: ['svc user create bob --role developer --tenant acme', 'svc user create ci --service --tenant acme'],
  async run(invocation) {
    const { positionals, options, terminal } = invocation;
    const { email, tenant, role = 'viewer', service } = options;
    const [username = ''] = positionals;
    const chosen = options['no-password'] || service ? undefined : await choosePassword(options['password-stdin']);
    const { user, shown, passwordLines } = await makeAccount(invocation, { username, role, email, tenant, service }, chosen);
    terminal.result(shown, [`${user.username} is ${user.role} in ${user.tenant}`, ...passwordLines].join('\n'));
    return 'ok';
  },
});

const patched = {
  route: 'PATCH /api/v1/identity/users/{id}',
  text: (user: User) => tableOf(userColumns, [user]),
} as const;

async function patch({ positionals: [given], client }: Served, body: Body<typeof patched.route>) {
  return { params: { id: (await findUser(client, given)).id }, body };
}

export const userRole = requestCommand({
  words: ['user', 'role'],
  summary: 'Change the role of an account',
  positionals: [name, { name: 'ROLE', help: `one of ${ROLE_NAMES.join(', ')}` }],
  examples: ['svc user role bob admin'],
  ...patched,
  given: (invocation) => {
    const [, given = ''] = invocation.positionals;
    const role = ROLE_NAMES.find((each) => each === given);
    if (role !== undefined) return patch(invocation, { role });
    throw usageError(`"${given}" is no role`, `give one of ${ROLE_NAMES.join(', ')}`);
  },
});

export const userDisable = requestCommand({
  words: ['user', 'disable'],
  summary: 'Disable an account: its sessions end and its keys are refused',
  positionals: [name],
  examples: ['svc user disable bob'],
  ...patched,
  given: (invocation) => patch(invocation, { disabled: true }),
});

export const userEnable = requestCommand({
  words: ['user', 'enable'],
  summary: 'Enable an account again',
  positionals: [name],
  examples: ['svc user enable bob'],
  ...patched,
  given: (invocation) => patch(invocation, { disabled: false }),
});

export const userReset = serverCommand({
  words: ['user', 'reset'],
  summary: 'Issue a token with which an account sets a new password once, within an hour',
  positionals: [name],
  examples: ['svc user reset bob'],
  async run({ positionals: [given], client, terminal }) {
    const { id, username } = await findUser(client, given);
    const { token, expires_at } = await client.call('POST /api/v1/identity/users/{id}/password-reset', { params: { id } });
    const lines = [
      `token (shown once, until ${expires_at}): ${token}`,
      'POST /api/v1/auth/reset-password {"token", "password"} takes it',
    ];
    terminal.result({ user: username, token, expires_at }, lines.join('\n'));
    return 'ok';
  },
});
