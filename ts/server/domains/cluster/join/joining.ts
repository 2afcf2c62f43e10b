/** How nodes come to a cluster that is not their database: a controller makes tokens, a node shows one and works for the cluster from then on. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Log } from '../../../platform/log/log.ts';
import type { Role } from '../../../platform/module/module-names.ts';
import type { Node } from '../../../platform/node/node.ts';
import { clusterErrors } from '../errors.ts';
import type { ClusterLink } from '../link/link.ts';
import { openNodeCertificate } from '../link/node-certificate.ts';
import type { NodeStore } from '../node-store.ts';
import { hashOfSecret, newJoinSecret, writeJoinToken } from './join-token.ts';
import { askToJoin, type Membership, writeMembership } from './membership.ts';

interface JoiningParts {
  readonly node: Node;
  readonly log: Log;
  readonly link: ClusterLink | undefined;
  /** Undefined where other nodes read the database of this one by themselves. */
  readonly store: NodeStore | undefined;
  readonly isShared: boolean;
  membership(): Membership | undefined;
}

export class Joining {
  readonly #parts: JoiningParts;

  constructor(parts: JoiningParts) {
    this.#parts = parts;
  }

  /** Throws `not_listening`, `ask_a_controller`. */
  async newToken(roles: readonly Role[], lastsMs: number): Promise<{ token: string; expires_at: string }> {
    const { link, store, membership } = this.#parts;
    if (membership() !== undefined) throw clusterErrors.error('ask_a_controller', 'This node works for a cluster itself.');
    if (link === undefined || store === undefined) throw notListening();
    const secret = newJoinSecret();
    await store.addJoinToken(hashOfSecret(secret), roles, lastsMs);
    const token = writeJoinToken({ address: link.address, fingerprint: link.fingerprint, secret });
    return { token, expires_at: new Date(Date.now() + lastsMs).toISOString() };
  }

  /** The node restarts, and works for the cluster then. Throws what keeps it from that. */
  async join(token: string): Promise<{ controllers: string[] }> {
    const { node, log, link, isShared, membership } = this.#parts;
    if (membership() !== undefined) throw clusterErrors.error('already_member', 'This node belongs to a cluster already.');
    if (isShared)
      throw clusterErrors.error(
        'database_is_shared',
        'This node has a PostgreSQL database, which nodes of a cluster share without a token.',
      );
    if (link === undefined) throw notListening();
    const certificate = await openNodeCertificate(join(node.dataDir, 'cluster'), node.id);
    const { controllers, roles } = await askToJoin(token, { ...certificate, id: node.id, name: hostname() });
    await writeMembership(node.dataDir, { controllers });
    for (const { role, enabled } of node.roles())
      if (enabled !== roles.includes(role))
        await node.setRole(role, roles.includes(role)).catch((error: unknown) => {
          log.warn('a role was not switched; `svc node role` does it', { role, error: String(error) });
        });
    log.info('this node has joined a cluster', { controllers: controllers.map(({ address }) => address) });
    node.restart('it has joined a cluster');
    return { controllers: controllers.map(({ address }) => address) };
  }
}

function notListening() {
  return clusterErrors.error('not_listening', 'This node has no cluster.listen, so no other node can reach it.');
}
