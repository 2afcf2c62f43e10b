import { ANONYMOUS } from '../../../platform/http/principal.ts';
import { type Owner, ownerOf } from '../owner.ts';

export function owner(tenant: string, subject: string): Owner {
  return ownerOf({ ...ANONYMOUS, tenant, subject });
}

export const ann = owner('red', 'ann');
