import { command } from '../command.ts';
import { ServerClient } from '../server-client.ts';
import { choosePassword, makeAccount, passwordOptions, USERS_PATH } from './accounts.ts';

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
    const chosen = await choosePassword(options['password-stdin']);
    const body = { username, role: 'superadmin', tenant: 'default', ...(options.email && { email: options.email }) };
    const { user, shown, passwordLines } = await makeAccount(invocation, client, body, chosen);
    const lines = [`${username} is superadmin; every caller needs a key or a session from now on`, ...passwordLines];
    const makeKey = async (): Promise<{ api_key?: string }> => {
      if (!options.key) return {};
      return (await client.send('POST', `${USERS_PATH}/${user.id}/api-key`, undefined, signal)) as { api_key: string };
    };
    // The account is there, whatever becomes of its key.
    const { api_key: apiKey } = await makeKey().catch((error: unknown) => {
      terminal.result(shown, [...lines, `its key was not made: \`svc key create NAME --user ${username}\` makes one`].join('\n'));
      throw error;
    });
    const keyLines = apiKey === undefined ? [] : [`API key (shown once): ${apiKey}`];
    terminal.result({ ...shown, ...(apiKey !== undefined && { api_key: apiKey }) }, [...lines, ...keyLines].join('\n'));
    return 'ok';
  },
});
