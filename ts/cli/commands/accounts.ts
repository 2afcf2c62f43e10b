/** What the commands of accounts share: how an account is named, and where a password comes from. */
import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { CliError, usageError } from '../cli-error.ts';
import type { Options } from '../command.ts';
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
