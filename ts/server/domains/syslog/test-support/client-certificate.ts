/** A certificate for tests that a client shows; the server trusts it by itself. */
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import forge from 'node-forge';
import type { CertificateFiles } from '../../../platform/http/listen/certificate.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The folder gets `NAME.cert.pem` and `NAME.key.pem`. */
export function createClientCertificate(folder: string, name: string): CertificateFiles {
  const files = { certFile: join(folder, `${name}.cert.pem`), keyFile: join(folder, `${name}.key.pem`) };
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(publicKey);
  certificate.serialNumber = '01';
  certificate.validity.notBefore = new Date(Date.now() - DAY_MS);
  certificate.validity.notAfter = new Date(Date.now() + DAY_MS);
  const subject = [{ name: 'commonName', value: name }];
  certificate.setSubject(subject);
  certificate.setIssuer(subject);
  certificate.setExtensions([{ name: 'extKeyUsage', clientAuth: true }]);
  certificate.sign(forge.pki.privateKeyFromPem(privateKey), forge.md.sha256.create());
  writeFileSync(files.certFile, forge.pki.certificateToPem(certificate));
  writeFileSync(files.keyFile, privateKey, { mode: 0o600 });
  return files;
}
