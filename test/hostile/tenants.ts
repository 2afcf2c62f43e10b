/** Two tenants of a server that has no account yet: one that is hostile, and one that only asks. */
import type { Client } from '../matrix/client.ts';
import { type Headers, password, signIn } from '../matrix/credentials.ts';

export const HOSTILE = 'amber';
const OTHER = 'birch';

export interface Tenants {
  /** Who may do everything. */
  readonly root: Headers;
  /** Of the hostile tenant. */
  readonly admin: Headers;
  readonly viewer: Headers;
  /** Of the other tenant. */
  readonly neighbour: Headers;
}

export async function openTenants(client: Client): Promise<Tenants> {
  const { token } = await client.json('POST', '/api/v1/auth/register', {}, { username: 'root', password });
  const root = asBearer(token);
  for (const id of [HOSTILE, OTHER]) await client.json('POST', '/api/v1/identity/tenants', root, { id });
  const account = async (tenant: string, role: string): Promise<Headers> => {
    const username = `${tenant}-${role}`;
    await client.json('POST', '/api/v1/identity/users', root, { username, tenant, role, password });
    await signIn(client, username);
    return asBearer((await signIn(client, username)).token);
  };
  const [admin, viewer] = [await account(HOSTILE, 'admin'), await account(HOSTILE, 'viewer')];
  return { root, admin, viewer, neighbour: await account(OTHER, 'developer') };
}

function asBearer(token: string): Headers {
  return { authorization: `Bearer ${token}` };
}
