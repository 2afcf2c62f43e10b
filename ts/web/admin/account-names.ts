/** Names of accounts and keys by their ids, which stay when one of them is renamed. */
import { allRows } from '../../client/list-pages.ts';
import { call } from '../api/call.ts';

export interface KeyName {
  name: string;
  /** The name of its account; the id of one that is deleted. */
  owner: string;
}

export async function userNames(): Promise<ReadonlyMap<string, string>> {
  const users = await allRows((query) => call('GET /api/v1/identity/users', { query }));
  return new Map(users.map(({ id, username }) => [id, username]));
}

/** Revoked keys are among them. */
export async function keyNames(): Promise<ReadonlyMap<string, KeyName>> {
  const [keys, users] = await Promise.all([allRows((query) => call('GET /api/v1/identity/key-names', { query })), userNames()]);
  return new Map(keys.map(({ id, name, user }) => [id, { name, owner: users.get(user) ?? user }]));
}

/** The account's name in the place of `user:usr_1 key:key_2`, where it is known. */
export function actorName(actor: string, names: ReadonlyMap<string, string> | undefined): string {
  const [account = ''] = actor.split(' ');
  return names?.get(account.replace(/^user:/, '')) ?? actor;
}
