import { command } from '../command.ts';
import { ServerClient } from '../server-client.ts';
import { choosePassword, passwordOptions, USERS_PATH, type UserRecord } from './accounts.ts';

export const adminCreate = command({
  words: ['admin', 'create'],
  summary: 'Make a superadmin; the first account switches authentication on for good',
  positionals: [{ name: 'NAME', help: 'name to sign in with' }],
  options: { ...passwordOptions, key: { kind: 'flag', help: 'also make an API key, which is shown this once' } },
  examples: ['svc admin create ann', 'svc admin create ann --key --json'],
  async run(invocation) {
    const { positionals, options, terminal, signal } = invocation;
    const client = ServerClient.from(invocation);
    const [username = ''] = positionals;
    const { password, isMade } = await choosePassword(options['password-stdin']);
    const body = { username, password, role: 'superadmin', tenant: 'default', ...(options.email && { email: options.email }) };
    const user = (await client.send('POST', USERS_PATH, body, signal)) as UserRecord;
    const key = options.key ? await client.send('POST', `${USERS_PATH}/${user.id}/api-key`, undefined, signal) : undefined;
    const { api_key: apiKey } = (key ?? {}) as { api_key?: string };
    const lines = [
      `${username} is superadmin; every caller needs a key or a session from now on`,
      ...(isMade ? [`password (shown once): ${password}`] : []),
      ...(apiKey === undefined ? [] : [`API key (shown once): ${apiKey}`]),
    ];
    terminal.result({ ...user, ...(isMade && { password }), ...(apiKey !== undefined && { api_key: apiKey }) }, lines.join('\n'));
    return 'ok';
  },
});
