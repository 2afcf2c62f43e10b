/** Names of accounts by id, as far as one page of them goes; what is kept about people names them by ids, which stay when an account is renamed. */
import { call } from '../api/call.ts';

export async function userNames(): Promise<ReadonlyMap<string, string>> {
  const { data } = await call('GET /api/v1/identity/users', { query: { limit: 1000 } });
  return new Map(data.map(({ id, username }) => [id, username]));
}
