/** `svc user`: accounts of a running node. */
import { usageError } from '../cli-error.ts';
import { command, type Invocation } from '../command.ts';
import { formatTable, printable } from '../format.ts';
import { clientOptions, ServerClient } from '../server-client.ts';
import { choosePassword, findUser, makeAccount, passwordOptions, ROLE_NAMES, USERS_PATH, type UserRecord } from './accounts.ts';

const name = { name: 'NAME', help: 'name or id of the account' };

export const userList = command({
  words: ['user', 'list'],
  summary: 'List the accounts',
  options: clientOptions,
  examples: ['svc user list'],
  async run(invocation) {
    const { terminal, signal } = invocation;
    const client = ServerClient.from(invocation);
    const users: UserRecord[] = [];
    let next: string | undefined = '';
    while (next !== undefined) {
      const page = (await client.send('GET', `${USERS_PATH}?limit=1000&after=${next}`, undefined, signal)) as {
        data: UserRecord[];
        next?: string;
      };
      users.push(...page.data);
      next = page.next;
    }
    terminal.result(users, tableOf(users));
    return 'ok';
  },
});

export const userCreate = command({
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
    const { email, tenant, role = 'viewer' } = options;
    const { service = false } = options;
    const chosen = options['no-password'] || service ? undefined : await choosePassword(options['password-stdin']);
    const body = {
      ...{ username: positionals[0] ?? '', role },
      ...(email !== undefined && { email }),
      ...(tenant !== undefined && { tenant }),
      ...(service && { service }),
    };
    const { user, shown, passwordLines } = await makeAccount(invocation, ServerClient.from(invocation), body, chosen);
    terminal.result(shown, [`${user.username} is ${user.role} in ${user.tenant}`, ...passwordLines].join('\n'));
    return 'ok';
  },
});

export const userRole = command({
  words: ['user', 'role'],
  summary: 'Change the role of an account',
  positionals: [name, { name: 'ROLE', help: `one of ${ROLE_NAMES.join(', ')}` }],
  options: clientOptions,
  examples: ['svc user role bob admin'],
  run: (invocation) => {
    const [, role = ''] = invocation.positionals;
    if ((ROLE_NAMES as readonly string[]).includes(role)) return patch(invocation, { role });
    throw usageError(`"${role}" is no role`, `give one of ${ROLE_NAMES.join(', ')}`);
  },
});

export const userDisable = command({
  words: ['user', 'disable'],
  summary: 'Disable an account: its sessions end and its keys are refused',
  positionals: [name],
  options: clientOptions,
  examples: ['svc user disable bob'],
  run: (invocation) => patch(invocation, { disabled: true }),
});

export const userEnable = command({
  words: ['user', 'enable'],
  summary: 'Enable an account again',
  positionals: [name],
  options: clientOptions,
  examples: ['svc user enable bob'],
  run: (invocation) => patch(invocation, { disabled: false }),
});

export const userReset = command({
  words: ['user', 'reset'],
  summary: 'Issue a token with which an account sets a new password once, within an hour',
  positionals: [name],
  options: clientOptions,
  examples: ['svc user reset bob'],
  async run(invocation) {
    const { positionals, terminal, signal } = invocation;
    const client = ServerClient.from(invocation);
    const user = await findUser(client, positionals[0] ?? '', signal);
    const reset = await client.send('POST', `${USERS_PATH}/${user.id}/password-reset`, undefined, signal);
    const { token, expires_at: expiresAt } = reset as { token: string; expires_at: string };
    const lines = [
      `token (shown once, until ${expiresAt}): ${token}`,
      'POST /api/v1/auth/reset-password {"token", "password"} takes it',
    ];
    terminal.result({ user: user.username, token, expires_at: expiresAt }, lines.join('\n'));
    return 'ok';
  },
});

async function patch(invocation: Invocation<typeof clientOptions>, changes: object): Promise<'ok'> {
  const { positionals, terminal, signal } = invocation;
  const client = ServerClient.from(invocation);
  const { id } = await findUser(client, positionals[0] ?? '', signal);
  const user = (await client.send('PATCH', `${USERS_PATH}/${id}`, changes, signal)) as UserRecord;
  terminal.result(user, tableOf([user]));
  return 'ok';
}

function tableOf(users: readonly UserRecord[]): string {
  const rows = users.map(({ id, username, tenant, role, disabled, signed_in_at, service }) => [
    ...[
      printable(username),
      tenant,
      role,
      disabled ? 'disabled' : 'active',
      service ? 'never: service' : (signed_in_at ?? '-'),
      id,
    ],
  ]);
  return formatTable(['NAME', 'TENANT', 'ROLE', 'STATE', 'SIGNED IN', 'ID'], rows);
}
