/** The certificate and the private key of a TLS listener, as PEM files. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';

export interface CertificateFiles {
  /** The certificate, followed by those between it and the root. */
  certFile: string;
  /** Its private key, without a passphrase. */
  keyFile: string;
}

export interface CertificateFacts {
  /** Names and addresses that it is for, as OpenSSL writes them. */
  names: string;
  expires: Date;
}

/** Rejects with an Error that names the file and says why the pair cannot be used. */
export async function readCertificate({ certFile, keyFile }: CertificateFiles): Promise<CertificateFacts> {
  const cert = await read(certFile, 'certificate');
  const key = await read(keyFile, 'private key');
  const parsed = attempt(() => new X509Certificate(cert), `${certFile} holds no certificate in PEM`);
  const secret = attempt(() => createPrivateKey(key), `${keyFile} holds no private key in PEM without a passphrase`);
  if (!parsed.checkPrivateKey(secret)) throw new Error(`the key in ${keyFile} does not belong to the certificate in ${certFile}`);
  attempt(() => createSecureContext({ cert, key }), `the certificate in ${certFile} cannot be used`);
  return { names: parsed.subjectAltName ?? parsed.subject, expires: new Date(parsed.validTo) };
}

async function read(path: string, what: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    throw new Error(`the ${what} ${path} cannot be read (${code}); see that it is there and readable for the server`, { cause });
  }
}

function attempt<T>(action: () => T, failure: string): T {
  try {
    return action();
  } catch (cause) {
    throw new Error(`${failure} (${cause instanceof Error ? cause.message : String(cause)})`, { cause });
  }
}
