/** The keys whose licenses the program accepts. A key that is replaced stays here while licenses signed with it are in use. */
import { createPublicKey, type KeyObject } from 'node:crypto';

export type PublicKeys = ReadonlyMap<string, KeyObject>;

/** By the id that a license names; SPKI in base64. */
const PRODUCT_KEYS: Readonly<Record<string, string>> = {
  'svc-2026': 'MCowBQYDK2VwAyEApVlRDSF0Nbn3ibIZfMq0kscEEJuAoKXTsny2K1OBnrU=',
};

export const productKeys: PublicKeys = publicKeysOf(PRODUCT_KEYS);

export function publicKeysOf(keys: Readonly<Record<string, string>>): PublicKeys {
  const read = (spki: string): KeyObject => createPublicKey({ key: Buffer.from(spki, 'base64'), format: 'der', type: 'spki' });
  return new Map(Object.entries(keys).map(([id, spki]) => [id, read(spki)]));
}
