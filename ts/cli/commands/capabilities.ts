/** `svc capability`: capability tokens of a running node. */
import { text } from 'node:stream/consumers';
import type { Answer } from '../../client/client.ts';
import { usageError } from '../cli-error.ts';
import type { Values } from '../command.ts';
import { columnsByKind, memberOf, optionsByKind, valuesByKind } from '../members-by-kind.ts';
import { listCommand, requestCommand } from '../server-command.ts';
import { scopesOf, userId } from './accounts.ts';

type Capability = Answer<'GET /api/v1/identity/capabilities'>['data'][number];

const limits = {
  scope: { kind: 'texts', value: 'SCOPE', help: 'what it may be used for, for example chat:use; may be repeated' },
  'expires-in': { kind: 'integer', value: 'SECONDS', min: 1, help: 'how long it works' },
  ...optionsByKind(
    ({ one }) => one,
    ({ labels: [label] }) => ({
      kind: 'texts',
      value: 'NAME',
      help: `a ${label} that it may use; may be repeated (default: any)`,
    }),
  ),
} as const;

export const capabilityList = listCommand({
  words: ['capability', 'list'],
  summary: 'List capability tokens',
  options: { user: { kind: 'text', value: 'NAME', help: 'account (default: that of the key in SVC_API_KEY)' } },
  examples: ['svc capability list --user ann'],
  route: 'GET /api/v1/identity/capabilities',
  given: async ({ options, client }) => ({ query: { limit: 1000, user: await userId(client, options.user) } }),
  columns: {
    SCOPES: ({ scopes }) => scopes.join(' '),
    ...columnsByKind<Capability>(
      ({ name }) => name,
      (row, { name }) => memberOf<string[] | null>(row, name)?.join(' ') ?? 'any',
    ),
    EXPIRES: ({ expires_at: at }) => at,
    PARENT: ({ parent }) => parent,
    ID: ({ id }) => id,
  },
});

export const capabilityCreate = requestCommand({
  words: ['capability', 'create'],
  summary: 'Issue a capability token of the account in SVC_API_KEY, which is shown this once',
  options: limits,
  examples: ['svc capability create --scope chat:use --model svc-chat-tiny --expires-in 3600'],
  route: 'POST /api/v1/identity/capabilities',
  given: ({ options }) => {
    const { scopes, expires_in_seconds, ...rest } = limitsOf(options);
    if (scopes === undefined) throw usageError('no scope is given', 'give --scope, for example --scope chat:use');
    if (expires_in_seconds === undefined) throw usageError('no end is given', 'give --expires-in with seconds');
    return { body: { scopes, expires_in_seconds, ...rest } };
  },
  text: ({ token }) => token,
});

export const capabilityDerive = requestCommand({
  words: ['capability', 'derive'],
  summary: 'Derive a narrower token from one that is read from standard input',
  options: limits,
  examples: ['printf %s "$TOKEN" | svc capability derive --model svc-chat-tiny --expires-in 600'],
  route: 'POST /api/v1/identity/capabilities/derive',
  given: async ({ options }) => ({ body: { token: await tokenFromStdin(), ...limitsOf(options) } }),
  text: ({ token }) => token,
});

export const capabilityRevoke = requestCommand({
  words: ['capability', 'revoke'],
  summary: 'Revoke a capability token and all that were derived from it',
  positionals: [
    { name: 'ID', help: 'id of the token, as `svc capability list` shows it; - reads the token itself from standard input' },
  ],
  examples: ['svc capability revoke cap_0123456789abcdef', 'printf %s "$TOKEN" | svc capability revoke -'],
  route: 'POST /api/v1/identity/capabilities/revoke',
  given: async ({ positionals: [id = ''] }) => ({ body: id === '-' ? { token: await tokenFromStdin() } : { id } }),
  text: (_, { positionals: [id] }) => `${id === '-' ? 'the token' : id} is revoked, with all that were derived from it`,
  record: (_, { positionals: [id] }) => ({ id, revoked: true }),
});

/** Other accounts of the machine can read the arguments of a program, so a token is none of them. */
async function tokenFromStdin(): Promise<string> {
  const token = (await text(process.stdin)).trim();
  if (token !== '') return token;
  throw usageError('standard input holds no token', 'write it there: `printf %s "$TOKEN" | svc capability ...`');
}

function limitsOf({ scope, 'expires-in': seconds, ...options }: Values<typeof limits>) {
  const uses = valuesByKind(
    ({ one }) => one,
    ({ name }) => name,
    options,
  );
  return { scopes: scopesOf(scope), expires_in_seconds: seconds, ...uses };
}
