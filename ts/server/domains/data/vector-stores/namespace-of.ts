/** A vector store's name as the name of a knowledge base, which has no slashes, ends in no space and is shorter. */
import { normalized } from '../../../platform/text/normalized.ts';
import { NAMESPACE_PATTERN } from '../ingest/ingest-body.ts';

const MAX_LENGTH = 100;
/** Of a name, what is looked at: much of it may be left out. */
const MOST_READ = 1_000;
const NAMESPACE = new RegExp(NAMESPACE_PATTERN, 'u');

/** Undefined: nothing of it can be one. */
export function namespaceOf(name: string | undefined): string | undefined {
  const cleaned = normalized((name ?? '').slice(0, MOST_READ).toWellFormed(), 'NFC')
    .replace(/[/\\]/g, '-')
    .replace(/\p{C}/gu, '')
    .trim()
    .slice(0, MAX_LENGTH)
    .toWellFormed()
    .replace(/\p{C}/gu, '')
    .trim();
  return NAMESPACE.test(cleaned) ? cleaned : undefined;
}
