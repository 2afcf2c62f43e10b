/** What the commands of accounts share: how an account is named, and where a password comes from. */
import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { CliError, usageError } from '../cli-error.ts';
import type { Invocation, Options } from '../command.ts';
import { clientOptions, type ServerClient } from '../server-client.ts';

export const USERS_PATH = '/api/v1/identity/users';
export const ROLE_NAMES = ['viewer', 'developer', 'admin', 'superadmin'] as const;

export interface UserRecord {
  id: string;
  username: string;
  email: string | null;
  tenant: string;
  role: string;
  disabled: boolean;
  has_password: boolean;
  service: boolean;
  created_at: string;
  signed_in_at: string | null;
}

export const passwordOptions = {
  ...clientOptions,
  'password-stdin': { kind: 'flag', help: 'read the password from standard input, one line (else one is made and shown once)' },
  email: { kind: 'text', value: 'ADDRESS', help: 'address of the account' },
} as const satisfies Options;

/** By name or id. Throws CliError not_found. */
export async function findUser(client: ServerClient, name: string, signal: AbortSignal): Promise<UserRecord> {
  if (/^usr_\w{16}$/.test(name)) return (await client.send('GET', `${USERS_PATH}/${name}`, undefined, signal)) as UserRecord;
  const path = `${USERS_PATH}?username=${encodeURIComponent(name)}`;
  const { data } = (await client.send('GET', path, undefined, signal)) as { data: UserRecord[] };
  const [user] = data;
  if (user !== undefined) return user;
  throw new CliError('not_found', 'user_not_found', `there is no account ${name}`, 'run `svc user list` for all of them');
}

/** An account that was made, and what is shown of it. */
export interface MadeAccount {
  user: UserRecord;
  /** For JSON. */
  shown: UserRecord & { password?: string };
  /** For people; empty where the password is known. */
  passwordLines: string[];
}

/** Nobody else knows a password that is made here: where it is uncertain whether the account has it, it is shown before the error. */
export async function makeAccount(
  { terminal, signal }: Pick<Invocation, 'terminal' | 'signal'>,
  client: ServerClient,
  body: { readonly username: string },
  chosen: ChosenPassword | undefined,
): Promise<MadeAccount> {
  const made = chosen?.isMade ? { password: chosen.password } : {};
  const passwordLines = chosen?.isMade ? [`password (shown once): ${chosen.password}`] : [];
  try {
    const user = (await client.send(
      'POST',
      USERS_PATH,
      { ...body, ...(chosen && { password: chosen.password }) },
      signal,
    )) as UserRecord;
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
  if (!(error instanceof CliError)) return false;
  const { code } = ((error.cause as Error | undefined)?.cause ?? {}) as { code?: unknown };
  return /^http_4/.test(error.code) || code === 'ECONNREFUSED' || code === 'ENOTFOUND';
}

export interface ChosenPassword {
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
