/** Keys of X25519 as their 32 bytes. */
import { createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from 'node:crypto';

/** What stands before the bytes of a key in PKCS #8 (RFC 8410). */
const PKCS8_BEFORE = Buffer.from('302e020100300506032b656e04220420', 'hex');

export function newPrivateKey(): KeyObject {
  return generateKeyPairSync('x25519').privateKey;
}

export function privateKeyOf(bytes: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_BEFORE, bytes]), format: 'der', type: 'pkcs8' });
}

export function publicBytesOf(key: KeyObject): Buffer {
  return Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url');
}

/** Throws where the public key is one with which every secret comes to nothing. */
export function sharedSecret(privateKey: KeyObject, publicBytes: Uint8Array): Buffer {
  const x = Buffer.from(publicBytes).toString('base64url');
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' });
  return diffieHellman({ privateKey, publicKey });
}
