import { serverCommand } from '../server-command.ts';
import { choosePassword, makeAccount, passwordOptions } from './accounts.ts';

export const adminCreate = serverCommand({
  words: ['admin', 'create'],
  summary: 'Make a superadmin; the first account switches authentication on for good',
  positionals: [{ name: 'NAME', help: 'name to sign in with' }],
  options: { ...passwordOptions, key: { kind: 'flag', help: 'also make an API key, which is shown this once' } },
  examples: ['svc admin create ann', 'svc admin create ann --key --json'],
  async run(invocation) {
    const { positionals, options, terminal, client } = invocation;
    const [username = ''] = positionals;
    const chosen = await choosePassword(options['password-stdin']);
    const body = { username, role: 'superadmin', tenant: 'default', email: options.email } as const;
    const { user, shown, passwordLines } = await makeAccount(invocation, body, chosen);
    const lines = [`${username} is superadmin; every caller needs a key or a session from now on`, ...passwordLines];
    if (!options.key) {
      terminal.result(shown, lines.join('\n'));
      return 'ok';
    }
    // The account is there, whatever becomes of its key.
    const { api_key: apiKey } = await client
      .call('POST /api/v1/identity/users/{id}/api-key', { params: { id: user.id } })
      .catch((error: unknown) => {
        const remedy = `its key was not made: \`svc key create NAME --user ${username}\` makes one`;
        terminal.result(shown, [...lines, remedy].join('\n'));
        throw error;
      });
    terminal.result({ ...shown, api_key: apiKey }, [...lines, `API key (shown once): ${apiKey}`].join('\n'));
    return 'ok';
  },
});
