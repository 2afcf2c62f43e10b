import { termsOf, wordsOf } from '../../../platform/text/words.ts';

/** Of one message. What lies beyond is kept and shown, but not found: indexing it would hold up other writes. */
const MAX_TERMS = 5_000;
/** Characters of a message that are searched. */
export const MAX_SEARCHED_LENGTH = 64 * 1024;

/** The distinct terms of a text. */
export function listTerms(text: string): string[] {
  const terms = new Set<string>();
  for (const word of wordsOf(text.slice(0, MAX_SEARCHED_LENGTH))) {
    for (const term of termsOf(word)) terms.add(term);
    if (terms.size >= MAX_TERMS) break;
  }
  return [...terms].slice(0, MAX_TERMS);
}
