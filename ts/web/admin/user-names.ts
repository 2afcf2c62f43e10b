/** Names of accounts by id; what is kept about people names them by ids, which stay when an account is renamed. */

import { allRows } from '../../client/list-pages.ts';
import { call } from '../api/call.ts';

export async function userNames(): Promise<ReadonlyMap<string, string>> {
  const users = await allRows((query) => call('GET /api/v1/identity/users', { query }));
  return new Map(users.map(({ id, username }) => [id, username]));
}
