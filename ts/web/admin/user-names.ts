/** Names of accounts by id; what is kept about people names them by ids, which stay when an account is renamed. */
import { call } from '../api/call.ts';
import { allRows } from './list-pages.ts';

export async function userNames(): Promise<ReadonlyMap<string, string>> {
  const users = await allRows((query) => call('GET /api/v1/identity/users', { query }));
  return new Map(users.map(({ id, username }) => [id, username]));
}
