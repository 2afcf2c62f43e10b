/** Certificate authorities of the operator's own. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { StartError } from '../module/start-error.ts';

/**
 * Trusts the authorities in a PEM file for every TLS connection that the process opens from now on, beside those that Node trusts. Throws
 * StartError for a file that has none. Without a name nothing changes.
 */
export function trustCertificatesOf(file: string): void {
  if (file === '') return;
  try {
    const found = readFileSync(file, 'utf8').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    if (found.length === 0) throw new Error('it has no certificate');
    const own = found.map((text) => new X509Certificate(text).toString());
    setDefaultCACertificates([...getCACertificates('default'), ...own]);
  } catch (cause) {
    const remedy = 'name a PEM file of certificates that this user may read, or none';
    throw new StartError('invalid_setting', `network.ca_file: ${file}: ${(cause as Error).message}`, remedy, cause);
  }
}
