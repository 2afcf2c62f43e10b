/** A stock server in a process of its own with two tenants: one that is hostile, with something of everything, and one that only asks. */
import { join } from 'node:path';
import type { ChildServer } from '../child-server.ts';
import { type Ids, makeBelongings } from '../matrix/belongings.ts';
import { Client } from '../matrix/client.ts';
import type { Headers } from '../matrix/credentials.ts';
import type { Document } from '../matrix/documented.ts';
import { runServer } from '../server.ts';
import { HOSTILE, openTenants } from './tenants.ts';

export const ATTACKER_ROLES = ['viewer', 'admin'] as const;
type AttackerRole = (typeof ATTACKER_ROLES)[number];

export interface HostileServer {
  readonly server: ChildServer;
  readonly client: Client;
  readonly openapi: Document;
  /** Of the hostile tenant, and who may do everything. */
  readonly attacker: Headers;
  readonly root: Headers;
  /** Of the other tenant. */
  readonly neighbour: Headers;
  /** What the hostile tenant has. */
  readonly ids: Ids;
  stop(): Promise<void>;
}

/** @param role of the attacker in the hostile tenant. */
export async function openHostileServer(folder: string, role: AttackerRole = 'viewer'): Promise<HostileServer> {
  const server = await runServer({
    folder: join(folder, 'server'),
    models: { m: { arch: 'llama' }, e: { arch: 'bert' } },
    // Belongings have a webhook at a port where nothing listens.
    env: { SVC_DATA_EMBEDDING_MODEL: 'e', SVC_INFERENCE_CTX: '1024', SVC_WEBHOOKS_ALLOWED_HOSTS: 'http://127.0.0.1:9' },
  });
  const client = new Client(Number(new URL(server.url).port));
  const { root, admin, viewer, neighbour } = await openTenants(client);
  const { ids } = await makeBelongings(client, HOSTILE, admin, viewer);
  const openapi = (await client.json('GET', '/openapi.json', {})) as Document;
  const stop = async (): Promise<void> => {
    client.close();
    await server.stop();
  };
  const attacker = role === 'admin' ? admin : viewer;
  return { server, client, openapi, attacker, root, neighbour, ids, stop };
}
