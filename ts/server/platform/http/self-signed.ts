/** A certificate that the machine signs itself, for trials and for closed networks whose clients are told to trust it. */
import { generateKeyPair, randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CertificateFiles } from './listen/certificate.ts';

export interface SelfSignedOptions {
  /** Gets `cert.pem` and `key.pem`; it is created when it is not there. */
  folder: string;
  /** Names and addresses beside localhost, the host name, 127.0.0.1 and ::1. */
  names?: readonly string[];
  /** It may be shown by a client, which is called by the last of the names. */
  isForClients?: boolean;
  /** 825 by default, which is the most that Apple's systems accept. */
  days?: number;
  /** Unix milliseconds: it is made then. */
  now?: number;
}

/** Names as DNS, addresses as IP (RFC 5280 section 4.2.1.6). */
const DNS = 2;
const IP = 7;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Rejects when a file is there already: a key that is in use is never replaced. The key can be read by its owner alone. */
export async function createSelfSigned({
  folder,
  names = [],
  isForClients = false,
  days = 825,
  now = Date.now(),
}: SelfSignedOptions): Promise<CertificateFiles> {
  const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
  const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const all = [...new Set(['localhost', hostname(), '127.0.0.1', '::1', ...names].map((name) => name.toLowerCase()))];
  const cert = await signedCertificate(publicKey, privateKey, { names: all, isForClients, days, now });
  await mkdir(folder, { recursive: true });
  await writeNew(files.keyFile, privateKey, 0o600);
  await writeNew(files.certFile, cert, 0o644);
  return files;
}

async function signedCertificate(
  publicKey: string,
  privateKey: string,
  { names, isForClients, days, now }: Required<Omit<SelfSignedOptions, 'folder'>>,
): Promise<string> {
  // Few starts make a certificate.
  const { default: forge } = await import('node-forge');
  const cert = forge.pki.createCertificate();
  cert.publicKey = forge.pki.publicKeyFromPem(publicKey);
  // Positive, and unique without a register of numbers (RFC 5280 section 4.1.2.2).
  cert.serialNumber = `01${randomBytes(15).toString('hex')}`;
  // Clocks of clients differ.
  cert.validity.notBefore = new Date(now - DAY_MS);
  cert.validity.notAfter = new Date(now + (days - 1) * DAY_MS);
  const subject = [{ name: 'commonName', value: ((isForClients ? names.at(-1) : names[1]) ?? 'localhost').slice(0, 64) }];
  cert.setSubject(subject);
  cert.setIssuer(subject);
  cert.setExtensions([
    { name: 'basicConstraints', cA: false, critical: true },
    { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, critical: true },
    { name: 'extKeyUsage', serverAuth: true, clientAuth: isForClients },
    { name: 'subjectKeyIdentifier' },
    {
      name: 'subjectAltName',
      altNames: names.map((name) => (isIP(name) > 0 ? { type: IP, ip: name } : { type: DNS, value: name })),
    },
  ]);
  cert.sign(forge.pki.privateKeyFromPem(privateKey), forge.md.sha256.create());
  return forge.pki.certificateToPem(cert);
}

async function writeNew(path: string, text: string, mode: number): Promise<void> {
  try {
    await writeFile(path, text, { mode, flag: 'wx' });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    throw new Error(`${path} exists; remove it first if it is no longer used, or choose another folder`, { cause });
  }
}
