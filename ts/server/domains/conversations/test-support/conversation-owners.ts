import { type Owner, ownerOf } from '../owner.ts';

export function owner(tenant: string, subject: string): Owner {
  return ownerOf({ tenant, subject, keyId: undefined });
}

export const ann = owner('red', 'ann');
