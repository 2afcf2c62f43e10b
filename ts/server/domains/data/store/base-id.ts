/** What OpenAI's routes call a knowledge base. Nobody can guess it, and it says nothing of other tenants' bases. */
import { randomBytes } from 'node:crypto';

export function newBaseId(): string {
  return `vs_${randomBytes(16).toString('hex')}`;
}
