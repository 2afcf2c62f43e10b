/** How nodes come to a cluster that is not their database: a controller makes tokens, a node shows one and works for the cluster from then on. */
import { X509Certificate } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Log } from '../../../platform/log/log.ts';
import type { Role } from '../../../platform/module/module-names.ts';
import type { Node } from '../../../platform/node/node.ts';
import { openNodeFile, writeNodeFile } from '../../../platform/node/node-file.ts';
import { clusterErrors, controllerNeedsDatabase } from '../errors.ts';
import type { ClusterLink } from '../link/link.ts';
import { openNodeCertificate } from '../link/node-certificate.ts';
import type { MemberSide } from '../member-side.ts';
import type { NodeStore } from '../node-store.ts';
import { hashOfSecret, newJoinSecret, writeJoinToken } from './join-token.ts';
import { askToJoin, readMembership, writeMembership } from './membership.ts';

interface JoiningParts {
  readonly node: Node;
  readonly log: Log;
  readonly link: ClusterLink | undefined;
  /** Undefined where other nodes read the database of this one by themselves. */
  readonly store: NodeStore | undefined;
  readonly isShared: boolean;
  /** Undefined where the node is no member. */
  member(): Pick<MemberSide, 'leave'> | undefined;
}

interface JoinOptions {
  /** By which the others reach it, where that is not the address that it listens at. */
  readonly address?: string | undefined;
  readonly force?: boolean | undefined;
}

export class Joining {
  readonly #parts: JoiningParts;

  constructor(parts: JoiningParts) {
    this.#parts = parts;
  }

  /** Throws `not_listening`, `ask_a_controller`, `controller_needs_database`. */
  async newToken(roles: readonly Role[], lastsMs: number): Promise<{ token: string; expires_at: string }> {
    const { link, store, member } = this.#parts;
    if (member() !== undefined) throw clusterErrors.error('ask_a_controller', 'This node works for a cluster itself.');
    if (link === undefined || store === undefined) throw notListening();
    if (roles.includes('controller')) throw controllerNeedsDatabase();
    const secret = newJoinSecret();
    await store.addJoinToken(hashOfSecret(secret), roles, lastsMs);
    const token = writeJoinToken({
      address: link.address,
      fingerprint: link.fingerprint,
      secret,
      others: otherControllers(link),
    });
    return { token, expires_at: new Date(Date.now() + lastsMs).toISOString() };
  }

  /** The node restarts, and works for the cluster then. Throws what keeps it from that. */
  async join(token: string, { address, force = false }: JoinOptions = {}): Promise<{ controllers: string[] }> {
    const { node, log, link, isShared, member } = this.#parts;
    if (member() !== undefined) throw alreadyMember();
    if (isShared) throw databaseIsShared();
    if (link === undefined) throw notListening();
    if (!force && (await this.#parts.node.holdsDocuments())) throw holdsData();
    const certificate = await openNodeCertificate(join(node.dataDir, 'cluster'), node.id);
    const { controllers, roles } = await askToJoin(token, { ...certificate, id: node.id, name: node.name });
    await writeMembership(node.dataDir, { controllers, address });
    for (const { role, enabled } of node.roles())
      if (enabled !== roles.includes(role))
        await node.setRole(role, roles.includes(role)).catch((error: unknown) => {
          log.warn('a role was not switched; `svc node roles` does it', { role, error: String(error) });
        });
    log.info('this node has joined a cluster', { controllers: controllers.map(({ address }) => address) });
    node.restart('it has joined a cluster');
    return { controllers: controllers.map(({ address }) => address) };
  }

  /** The node restarts, and is one of its own then. Throws `not_a_member`, and unless forced `node_unreachable` where no controller could be told. */
  async leave(isForced: boolean): Promise<void> {
    const { node, log } = this.#parts;
    const member = this.#parts.member();
    if (member === undefined)
      throw clusterErrors.error(
        'not_a_member',
        'This node did not join by a token: it is in the cluster by its database, and leaves it with that.',
      );
    await member.leave(isForced);
    log.info('this node has left its cluster');
    node.restart('it has left its cluster');
  }
}

interface StoppedNode extends JoinOptions {
  /** Empty: that of the machine. */
  readonly name: string;
  readonly dataDir: string;
  readonly isListening: boolean;
  readonly isShared: boolean;
  holdsDocuments(): Promise<boolean>;
}

/** The same for a node that does not run, whose data folder the caller has locked. Throws what join() does. */
export async function joinStopped(token: string, node: StoppedNode): Promise<{ controllers: string[] }> {
  const { name, dataDir, isListening, isShared, address, force = false } = node;
  if ((await readMembership(dataDir)) !== undefined) throw alreadyMember();
  if (isShared) throw databaseIsShared();
  if (!isListening) throw notListening();
  if (!force && (await node.holdsDocuments())) throw holdsData();
  const file = join(dataDir, 'node.json');
  const { id } = await openNodeFile(file);
  const certificate = await openNodeCertificate(join(dataDir, 'cluster'), id);
  const { controllers, roles } = await askToJoin(token, { ...certificate, id, name: name || hostname() });
  await writeMembership(dataDir, { controllers, address });
  await writeNodeFile(file, { id, roles: [...roles] });
  return { controllers: controllers.map(({ address: at }) => at) };
}

/** Each shows the newest of its certificates, or the one before until that is known everywhere. */
function otherControllers({ peers }: ClusterLink) {
  const controllers = peers.filter(({ facts, isAnswering }) => isAnswering && !facts.isMember);
  return controllers.flatMap(({ facts: { address, certificates } }) =>
    certificates.map((pem) => ({ address, fingerprint: new X509Certificate(pem).fingerprint256 })),
  );
}

function alreadyMember() {
  return clusterErrors.error('already_member', 'This node belongs to a cluster already.');
}

function databaseIsShared() {
  return clusterErrors.error(
    'database_is_shared',
    'This node has a PostgreSQL database, which nodes of a cluster share without a token.',
  );
}

function holdsData() {
  return clusterErrors.error(
    'data_role_holds_data',
    'This node has knowledge bases, which nobody would find on a member of a cluster.',
  );
}

function notListening() {
  return clusterErrors.error('not_listening', 'This node has no cluster.listen, so no other node can reach it.');
}
