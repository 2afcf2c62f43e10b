/** `svc key`: API keys of accounts of a running node. */
import { listCommand, requestCommand } from '../server-command.ts';
import { scopesOf, userId } from './accounts.ts';

const userOption = { kind: 'text', value: 'NAME', help: 'account (default: that of the key in SVC_API_KEY)' } as const;

export const keyList = listCommand({
  words: ['key', 'list'],
  summary: 'List API keys',
  options: { user: userOption },
  examples: ['svc key list --user ann'],
  route: 'GET /api/v1/identity/keys',
  given: async ({ options, client }) => ({ query: { limit: 1000, user: await userId(client, options.user) } }),
  columns: {
    NAME: ({ name }) => name,
    KEY: ({ start }) => `${start}...`,
    SCOPES: ({ scopes }) => scopes?.join(' ') ?? 'all of the role',
    EXPIRES: ({ expires_at: at }) => at ?? 'never',
    USED: ({ used_at: at }) => at ?? 'never',
    ID: ({ id }) => id,
  },
});

export const keyCreate = requestCommand({
  words: ['key', 'create'],
  summary: 'Make an API key, which is shown this once',
  positionals: [{ name: 'NAME', help: 'what the key is for' }],
  options: {
    user: userOption,
    scope: {
      kind: 'texts',
      value: 'SCOPE',
      help: 'limits the key, for example chat:use; may be repeated (default: all of the role)',
    },
    'expires-in': { kind: 'integer', value: 'SECONDS', min: 1, help: 'how long the key works (default: until it is revoked)' },
  },
  examples: ['svc key create ci --user ann --scope chat:use'],
  route: 'POST /api/v1/identity/keys',
  given: async ({ positionals: [name = ''], options: { user, scope, 'expires-in': seconds }, client }) => ({
    body: {
      name,
      user: await userId(client, user),
      scopes: scopesOf(scope),
      expires_in_seconds: seconds,
    },
  }),
  text: ({ api_key: key }) => key,
});

export const keyRevoke = requestCommand({
  words: ['key', 'revoke'],
  summary: 'Revoke an API key; it stops at once',
  positionals: [{ name: 'ID', help: 'id of the key, as `svc key list` shows it' }],
  examples: ['svc key revoke key_0123456789abcdef'],
  route: 'DELETE /api/v1/identity/keys/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: (_, { positionals: [id] }) => `${id} is revoked`,
  record: (_, { positionals: [id] }) => ({ id, revoked: true }),
});
