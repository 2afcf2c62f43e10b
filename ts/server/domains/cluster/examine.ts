/** The cluster as a node has it on its disk and in its database, for `svc doctor`: nothing of it needs the node to run. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readCertificate } from '../../platform/http/listen/certificate.ts';
import type { Role } from '../../platform/module/module-names.ts';
import type { StorageAccess } from '../../platform/storage/index.ts';
import { readMembership } from './join/membership.ts';
import { RegistryClient } from './join/registry-client.ts';
import { type NodeEntry, NodeStore } from './node-store.ts';
import { nodesToUpdate } from './protocol/update-order.ts';
import type { ClusterTables } from './tables.ts';

interface ClusterFacts {
  /** The end of this node's certificate; undefined: it has none. */
  readonly certificateEnd: Date | undefined;
  readonly nodes: readonly { readonly name: string; readonly version: string; readonly wire: number }[];
  /** Names of those that are older than the newest, in the order in which they are updated. */
  readonly toUpdate: readonly string[];
  /** The clock of the database, or of a controller, is so much ahead of this machine's. */
  readonly clockOffsetMs: number | undefined;
  /** Standbys that PostgreSQL waits for; undefined: none. */
  readonly synchronous: string | undefined;
}

/** A node that told nothing for a day is no longer asked for its version. */
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
    const [entries, { now, synchronous }] = await Promise.all([store.nodes(), store.examine()]);
    const nodes = entries.filter(isThere);
    return { certificateEnd, nodes, toUpdate: namesToUpdate(nodes), clockOffsetMs: now - Date.now(), synchronous };
  }
  if (membership === undefined) return undefined;
  const [cert, key] = await Promise.all([readFile(files.certFile, 'utf8'), readFile(files.keyFile, 'utf8')]);
  const client = new RegistryClient(membership.controllers, { cert, key, fingerprint: '', expiresAt: 0 });
  try {
    const nodes = (await client.nodes()).filter(isThere);
    return { certificateEnd, nodes, toUpdate: namesToUpdate(nodes), clockOffsetMs: client.clockOffsetMs, synchronous: undefined };
  } finally {
    await client.close();
  }
}

function isThere({ ended, seenMsAgo }: NodeEntry): boolean {
  return ended === 0 && seenMsAgo < OLD_MS;
}

function namesToUpdate(nodes: readonly NodeEntry[]): string[] {
  return nodesToUpdate(nodes.map((node) => ({ ...node, roles: JSON.parse(node.roles) as Role[] }))).map(({ name }) => name);
}
