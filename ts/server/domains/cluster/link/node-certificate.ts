/**
 * The certificate by which this node is known to the others, in `data_dir/cluster`. The node signs it itself, and its key never leaves the node:
 * the others trust exactly the certificates that are registered, so no key anywhere opens the whole cluster.
 */
import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { moveIntoPlace } from '../../../platform/files/atomic-file.ts';
import { type CertificateFiles, readCertificate } from '../../../platform/http/listen/certificate.ts';
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
type Name = 'node' | 'next';

/** Makes one where there is none that can be used, or where it is another node's. `now`: Unix milliseconds. */
export async function openNodeCertificate(folder: string, nodeId: string, now = Date.now()): Promise<NodeCertificate> {
  await finishMove(folder);
  return await openNamed(folder, 'node', nodeId, now);
}

/** The one that follows, which lies beside the one in use until `takeNextCertificate`: others may not know it yet. */
export function openNextCertificate(folder: string, nodeId: string, now: number): Promise<NodeCertificate> {
  return openNamed(folder, 'next', nodeId, now);
}

export async function takeNextCertificate(folder: string): Promise<void> {
  await moveIntoPlace(filesOf(folder, 'next').keyFile, filesOf(folder, 'node').keyFile);
  await finishMove(folder);
}

/** A crash between the two moves leaves the certificate behind its key. */
async function finishMove(folder: string): Promise<void> {
  const [next, own] = [filesOf(folder, 'next'), filesOf(folder, 'node')];
  const hasMoved = await readCertificate({ certFile: next.certFile, keyFile: own.keyFile }).then(
    () => true,
    () => false,
  );
  if (hasMoved) await moveIntoPlace(next.certFile, own.certFile);
}

async function openNamed(folder: string, name: Name, nodeId: string, now: number): Promise<NodeCertificate> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const files = filesOf(folder, name);
  const found = await readCertificate(files).catch((error: Error) => {
    const { code, syscall } = (error.cause ?? {}) as NodeJS.ErrnoException;
    // A disk that fails for a moment is no reason for another one, by which the others know nobody.
    if (syscall !== undefined && code !== 'ENOENT') throw error;
    return undefined;
  });
  const isOwn = found?.names.split(', ').includes(`DNS:${nodeId.toLowerCase()}`);
  if (found === undefined || !isOwn || found.expires.getTime() <= now) await make(folder, nodeId, files, now);
  const [cert, key] = await Promise.all([readFile(files.certFile, 'utf8'), readFile(files.keyFile, 'utf8')]);
  const { fingerprint256, validTo } = new X509Certificate(cert);
  return { cert, key, fingerprint: fingerprint256, expiresAt: new Date(validTo).getTime() };
}

function filesOf(folder: string, name: Name): CertificateFiles {
  return { certFile: join(folder, `${name}.pem`), keyFile: join(folder, `${name}.key`) };
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

/** A crash between the two moves leaves a pair that does not fit, which the next start replaces. */
async function make(folder: string, nodeId: string, files: CertificateFiles, now: number): Promise<void> {
  const temporary = await mkdtemp(join(folder, 'new-'));
  try {
    const made = await createSelfSigned({ folder: temporary, names: [nodeId], isForClients: true, days: DAYS, now });
    await moveIntoPlace(made.keyFile, files.keyFile);
    await moveIntoPlace(made.certFile, files.certFile);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
