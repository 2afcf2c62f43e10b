/**
 * A number that tells a document from others: databases that were restored from a backup give the same numbers to other documents, and an
 * index that was kept meanwhile must not take one for the other.
 */
import { createHash } from 'node:crypto';

const DIGITS = 12;

export function documentMark(id: string): number {
  return Number.parseInt(createHash('sha256').update(id).digest('hex').slice(0, DIGITS), 16);
}
