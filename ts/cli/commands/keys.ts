/** `svc key`: API keys of accounts of a running node. */
import { command } from '../command.ts';
import { formatTable, printable } from '../format.ts';
import { clientOptions, ServerClient } from '../server-client.ts';
import { findUser } from './accounts.ts';

interface KeyRecord {
  id: string;
  name: string;
  start: string;
  scopes: string[] | null;
  expires_at: string | null;
  used_at: string | null;
}

const path = '/api/v1/identity/keys';
const userOption = { kind: 'text', value: 'NAME', help: 'account (default: that of the key in SVC_API_KEY)' } as const;

export const keyList = command({
  words: ['key', 'list'],
  summary: 'List API keys',
  options: { ...clientOptions, user: userOption },
  examples: ['svc key list --user ann'],
  async run(invocation) {
    const { options, terminal, signal } = invocation;
    const client = ServerClient.from(invocation);
    const owner = options.user === undefined ? undefined : await findUser(client, options.user, signal);
    const query = `?limit=1000${owner === undefined ? '' : `&user=${owner.id}`}`;
    const { data } = (await client.send('GET', path + query, undefined, signal)) as { data: KeyRecord[] };
    const rows = data.map(({ id, name, start, scopes, expires_at, used_at }) => [
      ...[
        printable(name),
        `${start}...`,
        scopes === null ? 'all of the role' : scopes.join(' '),
        expires_at ?? 'never',
        used_at ?? 'never',
        id,
      ],
    ]);
    terminal.result(data, formatTable(['NAME', 'KEY', 'SCOPES', 'EXPIRES', 'USED', 'ID'], rows));
    return 'ok';
  },
});

export const keyCreate = command({
  words: ['key', 'create'],
  summary: 'Make an API key, which is shown this once',
  positionals: [{ name: 'NAME', help: 'what the key is for' }],
  options: {
    ...clientOptions,
    user: userOption,
    scope: {
      kind: 'texts',
      value: 'SCOPE',
      help: 'limits the key, for example chat:use; may be repeated (default: all of the role)',
    },
    'expires-in': { kind: 'integer', value: 'SECONDS', min: 1, help: 'how long the key works (default: until it is revoked)' },
  },
  examples: ['svc key create ci --user ann --scope chat:use'],
  async run(invocation) {
    const { positionals, options, terminal, signal } = invocation;
    const client = ServerClient.from(invocation);
    const { user, scope } = options;
    const seconds = options['expires-in'];
    const body = {
      name: positionals[0] ?? '',
      ...(user !== undefined && { user: (await findUser(client, user, signal)).id }),
      ...(scope !== undefined && { scopes: scope }),
      ...(seconds !== undefined && { expires_in_seconds: seconds }),
    };
    const key = (await client.send('POST', path, body, signal)) as { api_key: string };
    terminal.result(key, key.api_key);
    return 'ok';
  },
});

export const keyRevoke = command({
  words: ['key', 'revoke'],
  summary: 'Revoke an API key; it stops at once',
  positionals: [{ name: 'ID', help: 'id of the key, as `svc key list` shows it' }],
  options: clientOptions,
  examples: ['svc key revoke key_0123456789abcdef'],
  async run(invocation) {
    const { positionals, terminal, signal } = invocation;
    const [id = ''] = positionals;
    await ServerClient.from(invocation).send('DELETE', `${path}/${encodeURIComponent(id)}`, undefined, signal);
    terminal.result({ id, revoked: true }, `${id} is revoked`);
    return 'ok';
  },
});
