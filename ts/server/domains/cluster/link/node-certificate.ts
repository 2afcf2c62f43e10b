/**
 * The certificate by which this node is known to the others, in `data_dir/cluster`. The node signs it itself, and its key never leaves the node:
 * the others trust exactly the certificates that are registered, so no key anywhere opens the whole cluster.
 */
import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { moveIntoPlace } from '../../../platform/files/atomic-file.ts';
import { readCertificate } from '../../../platform/http/listen/certificate.ts';
import { createSelfSigned } from '../../../platform/http/self-signed.ts';

export interface NodeCertificate {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly expiresAt: number;
}

/** A certificate that a node has registered. */
export interface KnownCertificate {
  readonly node: string;
  readonly fingerprint: string;
  readonly pem: string;
}

const DAYS = 30;
/** A new one is made so long before the end. */
const RENEW_MS = 10 * 24 * 3_600_000;

/** Makes one where there is none that can be used, where it ends soon, or where it is another node's. */
export async function openNodeCertificate(folder: string, nodeId: string): Promise<NodeCertificate> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const files = { certFile: join(folder, 'node.pem'), keyFile: join(folder, 'node.key') };
  const found = await readCertificate(files).catch(() => undefined);
  const isOwn = found?.names.split(', ').includes(`DNS:${nodeId.toLowerCase()}`);
  if (found === undefined || !isOwn || isDue(found.expires.getTime())) await make(folder, nodeId, files);
  const [cert, key] = await Promise.all([readFile(files.certFile, 'utf8'), readFile(files.keyFile, 'utf8')]);
  const { fingerprint256, validTo } = new X509Certificate(cert);
  return { cert, key, fingerprint: fingerprint256, expiresAt: new Date(validTo).getTime() };
}

/** A certificate as it is registered. */
export function certificateRow(node: string, certificate: X509Certificate) {
  return {
    node,
    fingerprint: certificate.fingerprint256,
    pem: certificate.toString(),
    expires_at: new Date(certificate.validTo).getTime(),
  };
}

export function isDue(expiresAt: number, now = Date.now()): boolean {
  return expiresAt - now < RENEW_MS;
}

/** A crash between the two moves leaves a pair that does not fit, which the next start replaces. */
async function make(folder: string, nodeId: string, files: { certFile: string; keyFile: string }): Promise<void> {
  const temporary = await mkdtemp(join(folder, 'new-'));
  try {
    const made = await createSelfSigned({ folder: temporary, names: [nodeId], isForClients: true, days: DAYS });
    await moveIntoPlace(made.keyFile, files.keyFile);
    await moveIntoPlace(made.certFile, files.certFile);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
