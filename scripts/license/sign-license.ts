/** Signs the terms of a license. Only whoever has the private key can; the program has the public one. */
import { type KeyObject, sign } from 'node:crypto';
import { LICENSE_FORMAT, type SignedLicense, signedBytes } from '../../ts/server/domains/license/signed-license.ts';

export function signLicense(terms: object, key: { id: string; privateKey: KeyObject }): SignedLicense {
  const text = Buffer.from(JSON.stringify(terms)).toString('base64url');
  const signature = sign(null, signedBytes(text), key.privateKey).toString('base64url');
  return { format: LICENSE_FORMAT, key: key.id, terms: text, signature };
}
