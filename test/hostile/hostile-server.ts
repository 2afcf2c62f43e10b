/** A stock server in a process of its own with two tenants: one that is hostile, with something of everything, and one that only asks. */
import { join } from 'node:path';
import type { ChildServer } from '../child-server.ts';
import { type Ids, makeBelongings } from '../matrix/belongings.ts';
import { Client } from '../matrix/client.ts';
import { type Headers, password, signIn } from '../matrix/credentials.ts';
import type { Document } from '../matrix/documented.ts';
import { runServer } from '../server.ts';

export interface HostileServer {
  readonly server: ChildServer;
  readonly client: Client;
  readonly openapi: Document;
  /** Of the hostile tenant, and who may do everything. */
  readonly viewer: Headers;
  readonly root: Headers;
  /** Of the other tenant. */
  readonly neighbour: Headers;
  /** What the hostile tenant has. */
  readonly ids: Ids;
  stop(): Promise<void>;
}

const HOSTILE = 'amber';
const OTHER = 'birch';

export async function openHostileServer(folder: string): Promise<HostileServer> {
  const server = await runServer({
    folder: join(folder, 'server'),
    models: { m: { arch: 'llama' }, e: { arch: 'bert' } },
    // Belongings have a webhook at a port where nothing listens.
    env: { SVC_DATA_EMBEDDING_MODEL: 'e', SVC_INFERENCE_CTX: '1024', SVC_WEBHOOKS_ALLOWED_HOSTS: 'http://127.0.0.1:9' },
  });
  const client = new Client(Number(new URL(server.url).port));
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
  const neighbour = await account(OTHER, 'developer');
  const { ids } = await makeBelongings(client, HOSTILE, admin, viewer);
  const openapi = (await client.json('GET', '/openapi.json', {})) as Document;
  const stop = async (): Promise<void> => {
    client.close();
    await server.stop();
  };
  return { server, client, openapi, viewer, root, neighbour, ids, stop };
}

function asBearer(token: string): Headers {
  return { authorization: `Bearer ${token}` };
}
