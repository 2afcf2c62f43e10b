/**
 * A copy of a data folder is the same node to the others, so one of the two must not run. The one that started later ends: at its start where the other answers
 * on its link, else when both have told of the node for some heartbeats.
 */
import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../../platform/files/atomic-file.ts';
import { StartError } from '../../../platform/module/start-error.ts';
import type { NodeCertificate } from '../link/node-certificate.ts';
import { Peer } from '../link/peers.ts';
import type { NodeEntry } from '../node-store.ts';

const ASK_MS = 2_000;
const fileOf = (dataDir: string): string => join(dataDir, 'cluster', 'copied.json');

/** Throws StartError `node_cloned` for a folder that was found to be a copy. */
export async function requireOriginal(dataDir: string): Promise<void> {
  const isCopy = await access(fileOf(dataDir)).then(
    () => true,
    () => false,
  );
  if (isCopy) throw isCloned();
}

/** The next start is refused. */
export async function markCopy(dataDir: string): Promise<void> {
  await mkdir(join(dataDir, 'cluster'), { recursive: true, mode: 0o700 });
  await writeFileAtomically(fileOf(dataDir), '{}\n', 0o600);
}

/** Throws StartError `node_cloned` where this very node answers at the address that it told last, which is not its own. */
export async function requireSilence(entry: NodeEntry | undefined, address: string, certificate: NodeCertificate): Promise<void> {
  if (entry === undefined || entry.ended === 1 || entry.address === address) return;
  const facts = { id: entry.id, name: '', address: entry.address, isReady: true, isMember: false, modules: [] };
  const twin = new Peer({ ...facts, certificates: [certificate.cert] }, certificate, ASK_MS);
  const answers = await twin.refresh(AbortSignal.timeout(ASK_MS)).then(
    () => true,
    () => false,
  );
  await twin.close();
  if (answers) throw isCloned();
}

function isCloned(): StartError {
  return new StartError(
    'node_cloned',
    'this data folder is a copy of that of a node of the cluster, and the other one runs',
    'stop the other one, or delete node.json and the folder cluster in the copy: it is a node of its own then',
  );
}
