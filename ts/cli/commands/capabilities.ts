/** `svc capability`: capability tokens of a running node. */
import { text } from 'node:stream/consumers';
import { usageError } from '../cli-error.ts';
import { command, type Values } from '../command.ts';
import { formatTable, printable } from '../format.ts';
import { clientOptions, ServerClient } from '../server-client.ts';
import { findUser } from './accounts.ts';

interface CapabilityRecord {
  id: string;
  scopes: string[];
  models: string[] | null;
  namespaces: string[] | null;
  parent: string | null;
  expires_at: string;
}

const path = '/api/v1/identity/capabilities';
const limits = {
  scope: { kind: 'texts', value: 'SCOPE', help: 'what it may be used for, for example chat:use; may be repeated' },
  'expires-in': { kind: 'integer', value: 'SECONDS', min: 1, help: 'how long it works' },
  model: { kind: 'texts', value: 'ID', help: 'a model that it may use; may be repeated (default: any)' },
  namespace: { kind: 'texts', value: 'NAME', help: 'a knowledge base that it may use; may be repeated (default: any)' },
} as const;

export const capabilityList = command({
  words: ['capability', 'list'],
  summary: 'List capability tokens',
  options: { ...clientOptions, user: { kind: 'text', value: 'NAME', help: 'account (default: that of the key in SVC_API_KEY)' } },
  examples: ['svc capability list --user ann'],
  async run(invocation) {
    const { options, terminal, signal } = invocation;
    const client = ServerClient.from(invocation);
    const owner = options.user === undefined ? undefined : await findUser(client, options.user, signal);
    const query = `?limit=1000${owner === undefined ? '' : `&user=${owner.id}`}`;
    const { data } = (await client.send('GET', path + query, undefined, signal)) as { data: CapabilityRecord[] };
    const rows = data.map(({ id, scopes, models, namespaces, parent, expires_at }) => [
      ...[scopes.join(' '), namesOf(models), namesOf(namespaces), expires_at, parent ?? '-', id],
    ]);
    terminal.result(data, formatTable(['SCOPES', 'MODELS', 'NAMESPACES', 'EXPIRES', 'PARENT', 'ID'], rows));
    return 'ok';
  },
});

export const capabilityCreate = command({
  words: ['capability', 'create'],
  summary: 'Issue a capability token of the account in SVC_API_KEY, which is shown this once',
  options: { ...clientOptions, ...limits },
  examples: ['svc capability create --scope chat:use --model svc-chat-tiny --expires-in 3600'],
  async run(invocation) {
    const { options, terminal, signal } = invocation;
    if (options.scope === undefined) throw usageError('no scope is given', 'give --scope, for example --scope chat:use');
    if (options['expires-in'] === undefined) throw usageError('no end is given', 'give --expires-in with seconds');
    const made = (await ServerClient.from(invocation).send('POST', path, limitsOf(options), signal)) as { token: string };
    terminal.result(made, made.token);
    return 'ok';
  },
});

export const capabilityDerive = command({
  words: ['capability', 'derive'],
  summary: 'Derive a narrower token from one that is read from standard input',
  options: { ...clientOptions, ...limits },
  examples: ['printf %s "$TOKEN" | svc capability derive --model svc-chat-tiny --expires-in 600'],
  async run(invocation) {
    const { options, terminal, signal } = invocation;
    const body = { token: await tokenFromStdin(), ...limitsOf(options) };
    const made = (await ServerClient.from(invocation).send('POST', `${path}/derive`, body, signal)) as { token: string };
    terminal.result(made, made.token);
    return 'ok';
  },
});

export const capabilityRevoke = command({
  words: ['capability', 'revoke'],
  summary: 'Revoke a capability token and all that were derived from it',
  positionals: [
    { name: 'ID', help: 'id of the token, as `svc capability list` shows it; - reads the token itself from standard input' },
  ],
  options: clientOptions,
  examples: ['svc capability revoke cap_0123456789abcdef', 'printf %s "$TOKEN" | svc capability revoke -'],
  async run(invocation) {
    const { positionals, terminal, signal } = invocation;
    const [id = ''] = positionals;
    const body = id === '-' ? { token: await tokenFromStdin() } : { id };
    await ServerClient.from(invocation).send('POST', `${path}/revoke`, body, signal);
    terminal.result({ id, revoked: true }, `${id === '-' ? 'the token' : id} is revoked, with all that were derived from it`);
    return 'ok';
  },
});

/** Other accounts of the machine can read the arguments of a program, so a token is none of them. */
async function tokenFromStdin(): Promise<string> {
  const token = (await text(process.stdin)).trim();
  if (token !== '') return token;
  throw usageError('standard input holds no token', 'write it there: `printf %s "$TOKEN" | svc capability ...`');
}

function limitsOf({ scope, model, namespace, 'expires-in': seconds }: Values<typeof limits>) {
  return {
    ...(scope !== undefined && { scopes: scope }),
    ...(seconds !== undefined && { expires_in_seconds: seconds }),
    ...(model !== undefined && { models: model }),
    ...(namespace !== undefined && { namespaces: namespace }),
  };
}

function namesOf(names: string[] | null): string {
  return names === null ? 'any' : names.map(printable).join(' ');
}
