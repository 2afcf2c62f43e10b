/** What the commands of accounts share: how an account is named, and where a password comes from. */
import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { Answer, Body, Client } from '../../client/client.ts';
import { Refusal } from '../../client/refusal.ts';
import { CliError, usageError } from '../cli-error.ts';
import type { Options } from '../command.ts';
import type { Columns } from '../format.ts';
import type { Served } from '../server-command.ts';

export const ROLE_NAMES = ['viewer', 'developer', 'admin', 'superadmin'] as const;

export type User = Answer<'GET /api/v1/identity/users/{id}'>;

export const passwordOptions = {
  'password-stdin': { kind: 'flag', help: 'read the password from standard input, one line (else one is made and shown once)' },
  email: { kind: 'text', value: 'ADDRESS', help: 'address of the account' },
} as const satisfies Options;

export const userColumns = {
  NAME: ({ username }) => username,
  TENANT: ({ tenant }) => tenant,
  ROLE: ({ role }) => role,
  STATE: ({ disabled }) => (disabled ? 'disabled' : 'active'),
  'SIGNED IN': ({ service, signed_in_at: at }) => (service ? 'never: service' : at),
  ID: ({ id }) => id,
} satisfies Columns<User>;

/** Takes a name or an id. Throws CliError not_found. */
export async function findUser(client: Client, name = ''): Promise<User> {
  if (/^usr_\w{16}$/.test(name)) return await client.call('GET /api/v1/identity/users/{id}', { params: { id: name } });
  // An empty name in a query asks for all.
  const { data } = name === '' ? { data: [] } : await client.call('GET /api/v1/identity/users', { query: { username: name } });
  const [user] = data;
  if (user !== undefined) return user;
  throw new CliError('not_found', 'user_not_found', `there is no account ${name}`, 'run `svc user list` for all of them');
}

/** The id of the account that an option names, where it is given. */
export async function userId(client: Client, name: string | undefined): Promise<string | undefined> {
  return name === undefined ? undefined : (await findUser(client, name)).id;
}

/** Scopes as they were typed; the server says which there are. */
export function scopesOf(typed: string[] | undefined): Body<'POST /api/v1/identity/capabilities/derive'>['scopes'] {
  return typed as ReturnType<typeof scopesOf>;
}

/** An account that was made, and what is shown of it. */
interface MadeAccount {
  user: User;
  /** What `--json` prints. */
  shown: User & { password?: string };
  /** What people read; empty where the password is known. */
  passwordLines: string[];
}

/** Nobody else knows a password that is made here: where it is uncertain whether the account has it, it is shown before the error. */
export async function makeAccount(
  { terminal, client }: Pick<Served, 'terminal' | 'client'>,
  body: Body<'POST /api/v1/identity/users'>,
  chosen: ChosenPassword | undefined,
): Promise<MadeAccount> {
  const made = chosen?.isMade ? { password: chosen.password } : {};
  const passwordLines = chosen?.isMade ? [`password (shown once): ${chosen.password}`] : [];
  try {
    const user = await client.call('POST /api/v1/identity/users', { body: { ...body, password: chosen?.password } });
    return { user, shown: { ...user, ...made }, passwordLines };
  } catch (error) {
    if (chosen?.isMade && !isRefused(error)) {
      const { username } = body;
      const doubt = `whether ${username} was made is not known: \`svc user list\` tells; if so, this is its`;
      terminal.result({ username, ...made, is_made: null }, [doubt, ...passwordLines].join('\n'));
    }
    throw error;
  }
}

/** The server said no, or there is none. */
function isRefused(error: unknown): boolean {
  if (!(error instanceof Refusal)) return false;
  const { cause } = error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return (error.status >= 400 && error.status < 500) || code === 'ECONNREFUSED' || code === 'ENOTFOUND';
}

interface ChosenPassword {
  password: string;
  /** Nobody knows it yet: it has to be shown. */
  isMade: boolean;
}

export async function choosePassword(fromStdin: boolean | undefined): Promise<ChosenPassword> {
  if (!fromStdin) return { password: randomBytes(15).toString('base64url'), isMade: true };
  const password = (await text(process.stdin)).split(/\r?\n/)[0] ?? '';
  if (password !== '') return { password, isMade: false };
  throw usageError('standard input holds no password', 'write it there: `printf %s "$PASSWORD" | svc ... --password-stdin`');
}
