/** The cluster as a node has it on its disk and in its database, for `svc doctor`: nothing of it needs the node to run. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readCertificate } from '../../platform/http/listen/certificate.ts';
import type { Role } from '../../platform/module/module-names.ts';
import type { StorageAccess } from '../../platform/storage/index.ts';
import { readMembership } from './join/membership.ts';
import { RegistryClient } from './join/registry-client.ts';
import { NodeStore, type Registry } from './node-store.ts';
import { isLate } from './protocol/node-state.ts';
import { nodesToUpdate } from './protocol/update-order.ts';
import { sharesVersion } from './protocol/wire-version.ts';
import type { DatabaseCopies } from './replica/database-copies.ts';
import type { ClusterTables } from './tables.ts';

export interface ClusterFacts {
  /** The end of this node's certificate; undefined: it has none. */
  readonly certificateEnd: Date | undefined;
  readonly nodes: readonly NodeFacts[];
  /** Names of those that are older than the newest, in the order in which they are updated. */
  readonly toUpdate: readonly string[];
  /** The clock of the database, or of a controller, is so much ahead of this machine's. */
  readonly clockOffsetMs: number | undefined;
  /** Undefined: the database is SQLite, or this node does not reach it. */
  readonly copies: DatabaseCopies | undefined;
}

interface NodeFacts {
  readonly name: string;
  readonly version: string;
  readonly wire: number;
  /** It speaks no wire version that this program speaks. */
  readonly isForeign: boolean;
  /** It has told nothing for longer than it should, and did not end in order. */
  readonly silentMs: number | undefined;
  /** The end of its newest certificate; undefined: none of its is valid. */
  readonly certificateEnd: Date | undefined;
}

/** A node that told nothing for a day is asked for nothing more. */
const OLD_MS = 24 * 3_600_000;

/** Undefined: the node is one of its own. `storage`: the database of a node that may be a controller; of a member it is not read. */
export async function examineCluster(
  dataDir: string,
  storage: StorageAccess<ClusterTables> | undefined,
): Promise<ClusterFacts | undefined> {
  const folder = join(dataDir, 'cluster');
  const files = { certFile: join(folder, 'node.pem'), keyFile: join(folder, 'node.key') };
  const certificate = await readCertificate(files).catch(() => undefined);
  const certificateEnd = certificate?.expires;
  const membership = await readMembership(dataDir);
  if (membership === undefined && storage !== undefined) {
    const store = new NodeStore(storage);
    const [facts, { now, copies }] = await Promise.all([examineNodes(store), store.examine()]);
    return { certificateEnd, ...facts, clockOffsetMs: now - Date.now(), copies };
  }
  if (membership === undefined) return undefined;
  const [cert, key] = await Promise.all([readFile(files.certFile, 'utf8'), readFile(files.keyFile, 'utf8')]);
  const client = new RegistryClient(membership.controllers, { cert, key, fingerprint: '', expiresAt: 0 });
  try {
    return { certificateEnd, ...(await examineNodes(client)), clockOffsetMs: client.clockOffsetMs, copies: undefined };
  } finally {
    await client.close();
  }
}

async function examineNodes(
  registry: Pick<Registry, 'nodes' | 'certificates'>,
): Promise<Pick<ClusterFacts, 'nodes' | 'toUpdate'>> {
  const [entries, certificates] = [await registry.nodes(), await registry.certificates()];
  const known = entries.filter(({ ended, seenMsAgo }) => ended === 0 && seenMsAgo < OLD_MS);
  const nodes = known.map((entry) => {
    const ends = certificates.flatMap(({ node, expires_at: at }) => (node === entry.id ? [at] : []));
    return {
      name: entry.name,
      version: entry.version,
      wire: entry.wire,
      isForeign: !sharesVersion(entry.wire),
      silentMs: isLate(entry) ? entry.seenMsAgo : undefined,
      certificateEnd: ends.length === 0 ? undefined : new Date(Math.max(...ends)),
    };
  });
  const inOrder = nodesToUpdate(known.map((node) => ({ ...node, roles: JSON.parse(node.roles) as Role[] })));
  return { nodes, toUpdate: inOrder.map(({ name }) => name) };
}
