/** What keys are called and whose they are, by id, revoked ones included. */

import { allRows } from '../../client/list-pages.ts';
import { call } from '../api/call.ts';
import { userNames } from './user-names.ts';

export interface KeyName {
  name: string;
  /** The name of its account; the id of one that is deleted. */
  owner: string;
}

export async function keyNames(): Promise<ReadonlyMap<string, KeyName>> {
  const [keys, users] = await Promise.all([allRows((query) => call('GET /api/v1/identity/key-names', { query })), userNames()]);
  return new Map(keys.map(({ id, name, user }) => [id, { name, owner: users.get(user) ?? user }]));
}
